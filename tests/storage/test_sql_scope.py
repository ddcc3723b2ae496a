"""Each statement carries the scope's predicate; the few that look across scopes are marked and touch no content."""

from __future__ import annotations

import re

import pytest

from memhold.storage.sql.blocks import Statement, load_dialect, parse

STATEMENTS = load_dialect("memhold.storage.sqlite")
EVERY = {
    f"{dialect}:{name}": sql
    for dialect in ("sqlite", "postgres")
    for name, sql in load_dialect(f"memhold.storage.{dialect}").items()
}
ONE_NAMESPACE = {"read_change_seq", "put_change_seq", "lock_namespace", "add_namespace", "lock_with_mark"}
SCOPED = {
    "owner", "agent", "session", "message", "memory", "memory_source", "change", "change_effect",
    "idempotency", "tombstone", "due", "word_block", "evidence", "suspicion", "vector_block",
    "key_vector", "message_quote", "progress", "near_scope", "near_vector",
}  # fmt: skip
OPEN_TO_UPKEEP = {"store", "clock", "due", "owner", "model_usage", "model_link", "generation", "token"}
# A function's name is followed by its parenthesis at once; a table's is not.
TABLE = re.compile(
    r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(?!SET\b|SKIP\b|LATERAL\b)(\w+)\b(?!\()(?:\s+AS\s+(\w+))?", re.IGNORECASE
)


def missing_predicates(sql: str) -> list[str]:
    """Tables of a statement that are reached without both halves of the scope."""
    missing = []
    plain = re.sub(r"'[^']*'", "''", sql)
    if plain.upper().startswith("INSERT") and "SELECT" not in plain.upper():
        columns = plain.split("VALUES")[0]
        return [] if ("namespace" in columns and ":namespace" in plain and ":user_id" in plain) else ["insert"]
    for table, alias in TABLE.findall(plain):
        if table.lower() not in SCOPED:
            continue
        prefix = rf"{alias}\." if alias else r"(?<![\w.])"
        for column in ("namespace", "user_id"):
            bound = re.search(rf"{prefix}{column} = (?::{column}|\w+\.{column})\b", plain)
            inserted = re.search(rf"INSERT INTO {table} \(namespace, user_id", plain) and f":{column}" in plain
            if not bound and not inserted:
                missing.append(f"{table}.{column}")
    return missing


def test_each_statement_carries_the_scope() -> None:
    statements = {name: sql for name, sql in EVERY.items() if not sql.upkeep}
    of_one_namespace = {name for name in statements if name.partition(":")[2] in ONE_NAMESPACE}
    assert [name for name in of_one_namespace if ":namespace" not in statements[name]] == []
    missing = {name: missing_predicates(sql) for name, sql in statements.items() if name not in of_one_namespace}
    assert {name: tables for name, tables in missing.items() if tables} == {}


def test_upkeep_touches_due_work_and_scope_keys_only() -> None:
    touched = {
        name: {table.lower() for table, _ in TABLE.findall(sql)} - OPEN_TO_UPKEEP
        for name, sql in EVERY.items()
        if sql.upkeep
    }
    assert touched
    assert {name: tables for name, tables in touched.items() if tables} == {}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT text FROM message WHERE id = :id",
        "SELECT text FROM message WHERE namespace = :namespace AND id = :id",
        "DELETE FROM memory WHERE user_id = :user_id",
        "SELECT m.id FROM memory AS m JOIN memory_source AS s ON 1 WHERE m.namespace = :namespace AND m.user_id = :user_id",
        "INSERT INTO tombstone (id) VALUES (:id)",
    ],
)
def test_a_forgotten_predicate_is_noticed(sql: str) -> None:
    assert missing_predicates(sql)


def test_blocks_are_named_once() -> None:
    assert parse("-- name: a\nSELECT 1;\n-- name: b\n-- scope: upkeep\nSELECT 2")["b"].upkeep
    assert isinstance(STATEMENTS["read_session"], Statement)
    with pytest.raises(ValueError, match="stands twice"):
        parse("-- name: a\nSELECT 1;\n-- name: a\nSELECT 2")
    with pytest.raises(ValueError, match="before the first"):
        parse("SELECT 1;\n-- name: a\nSELECT 2")
