"""What looks across scopes for the maintenance reads counts, sizes and ids, and writes nothing."""

from __future__ import annotations

import re

import pytest

from memhold.storage.sql.blocks import load

STATEMENTS = load("memhold.storage.sqlite", "keeping.sql")
CONTENT = {"body", "text", "value", "attribute", "subject", "topics", "entities", "metadata", "detail", "receipt"}


def content_read(sql: str) -> set[str]:
    """Columns with content that a statement reads otherwise than for their size."""
    sized = re.sub(r"octet_length\((?:ifnull\()?\w+(?:, '')?\)*", "0", sql)
    return CONTENT & set(re.findall(r"\w+", re.sub(r"'[^']*'", "''", sized)))


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_of_the_keeper_reads_no_content(name: str) -> None:
    sql = STATEMENTS[name]
    assert sql.upkeep
    assert sql.startswith("SELECT")
    assert not re.search(r"\b(INSERT|UPDATE|DELETE|REPLACE|DROP|ALTER|PRAGMA)\b", sql)
    # `value` is also the name of the store's own facts.
    assert content_read(sql) <= ({"value"} if name == "store_facts" else set())


def test_content_would_be_noticed() -> None:
    assert content_read("SELECT text FROM message") == {"text"}
    assert content_read("SELECT sum(octet_length(body)), value FROM memory") == {"value"}
