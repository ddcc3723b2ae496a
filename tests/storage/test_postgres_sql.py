"""Both files of SQL say the same: the same names, the same parameters; what differs is listed with its reason."""

from __future__ import annotations

import re

from memhold.storage.postgres.statements import QUERIES, driver_text
from memhold.storage.sql.blocks import load

SQLITE = load("memhold.storage.sqlite")
POSTGRES = load("memhold.storage.postgres")

ONLY_POSTGRES = {
    "lock_namespace": "SQLite's one lock is the file's",
    "add_namespace": "what is locked has to be there",
    "put_mark": "a commit without an answer is settled by its mark; a file's commit always answers",
    "lock_due_item": "a lease that was looked at stays; with one writer to a file it does by itself",
    "enter": "row-level security",
    "enter_upkeep": "row-level security",
    **dict.fromkeys(
        (
            "clear_near_vectors",
            "cosines_of",
            "delete_near",
            "delete_near_vector",
            "nearest",
            "nearest_exact",
            "put_near",
            "put_near_vector",
            "read_near",
            "read_nears",
            "seek_near",
        ),
        "an index of nearest neighbours, which SQLite has not",
    ),
}
OTHER_PARAMETERS = {
    "lease_due": {"now"},  # the item is looked at again when it is locked
}


def parameters(sql: str) -> set[str]:
    return set(re.findall(r"(?<![:\w]):([a-z_]\w*)", re.sub(r"'[^']*'", "''", sql)))


def test_names_are_the_same() -> None:
    assert set(POSTGRES) - set(SQLITE) == set(ONLY_POSTGRES)
    assert set(SQLITE) - set(POSTGRES) == set()


def test_parameters_are_the_same() -> None:
    for name, sql in SQLITE.items():
        assert parameters(POSTGRES[name]) ^ parameters(sql) == OTHER_PARAMETERS.get(name, set()), name


def test_each_statement_may_look_across_scopes_in_both_or_in_none() -> None:
    assert {name for name in SQLITE if SQLITE[name].upkeep != POSTGRES[name].upkeep} == set()


def test_parameters_reach_the_driver_and_casts_stay() -> None:
    assert driver_text("SELECT :a::text, '50%', b FROM c WHERE d = :d_1") == (
        b"SELECT %(a)s::text, '50%%', b FROM c WHERE d = %(d_1)s"
    )
    assert set(QUERIES) == set(POSTGRES)
