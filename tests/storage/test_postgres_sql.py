"""Both dialects say the same: the same names, the same parameters; what differs is listed with its reason.

What both say in the same words stands once, in the file that they share.
"""

from __future__ import annotations

import re

import pytest

from memhold.storage.postgres.statements import QUERIES, driver_text
from memhold.storage.sql.blocks import load, load_dialect, parse

SHARED = load("memhold.storage.sql")
SQLITE = load_dialect("memhold.storage.sqlite")
POSTGRES = load_dialect("memhold.storage.postgres")

ONLY_POSTGRES = {
    "lock_namespace": "SQLite's one lock is the file's",
    "add_namespace": "what is locked has to be there",
    "lock_with_mark": "a commit without an answer is settled by its mark; a file's commit always answers",
    "lock_due_item": "a lease that was looked at stays; with one writer to a file it does by itself",
    "put_timeline": "a file has no standbys",
    "read_likely": "what is asked first travels together; a file has no way to travel",
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
ONLY_SQLITE = dict.fromkeys(
    ("read_holders", "free_held"), "who holds a lease is on the machine that the file is on, and can be seen to be gone"
)
OTHER_PARAMETERS = {
    "lease_due": {"now", "longest"},  # the item is looked at again when it is locked
    "read_clock": {"until"},  # a row for each of 64 writers at once: those of a wrong clock are left out
    "write_clock": {"until"},
}


def parameters(sql: str) -> set[str]:
    return set(re.findall(r"(?<![:\w]):([a-z_]\w*)", re.sub(r"'[^']*'", "''", sql)))


def test_names_are_the_same() -> None:
    assert set(POSTGRES) - set(SQLITE) == set(ONLY_POSTGRES)
    assert set(SQLITE) - set(POSTGRES) == set(ONLY_SQLITE)


def test_parameters_are_the_same() -> None:
    for name in SQLITE.keys() & POSTGRES.keys():
        sql = SQLITE[name]
        assert parameters(POSTGRES[name]) ^ parameters(sql) == OTHER_PARAMETERS.get(name, set()), name


def test_each_statement_may_look_across_scopes_in_both_or_in_none() -> None:
    assert {name for name in SQLITE.keys() & POSTGRES.keys() if SQLITE[name].upkeep != POSTGRES[name].upkeep} == set()


def words(sql: str) -> str:
    return " ".join(re.sub(r"--[^\n]*", "", sql).split())


def test_what_both_say_alike_stands_once() -> None:
    own = [load(f"memhold.storage.{dialect}") for dialect in ("sqlite", "postgres")]
    assert [name for name in own[0].keys() & own[1].keys() if words(own[0][name]) == words(own[1][name])] == []
    assert len(load("memhold.storage.sql")) > len(own[0])


def test_a_dialect_does_not_repeat_a_shared_name(monkeypatch: pytest.MonkeyPatch) -> None:
    repeated = parse("-- name: read_session\nSELECT 1")
    monkeypatch.setattr("memhold.storage.sql.blocks.load", lambda package: repeated if "sqlite" in package else SHARED)
    with pytest.raises(ValueError, match="read_session"):
        load_dialect("memhold.storage.sqlite")


def test_parameters_reach_the_driver_and_casts_stay() -> None:
    assert driver_text("SELECT :a::text, '50%', b FROM c WHERE d = :d_1") == (
        b"SELECT %(a)s::text, '50%%', b FROM c WHERE d = %(d_1)s"
    )
    assert set(QUERIES) == set(POSTGRES)
