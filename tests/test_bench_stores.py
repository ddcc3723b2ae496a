"""The table of PostgreSQL beside SQLite."""

from __future__ import annotations

import psycopg

from benchmarks import large
from benchmarks.stores import run
from tests.postgres_server import Databases


def test_the_table_is_made_and_nothing_stays_behind(database: str) -> None:
    rows = run(database, quick=True)
    assert len(rows) == 12
    assert all(row.ratio and row.ratio > 0 for row in rows)
    recalls = [row for row in rows if row.name.startswith("recall ")]
    assert len(recalls) == 2
    assert all("same order and scores" in row.value for row in recalls)
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'memhold%'").fetchall() == []


def test_the_table_of_a_large_scope_is_made(database: str, databases: Databases) -> None:
    databases.server.sql("CREATE EXTENSION vector", database.partition("@/")[2].partition("?")[0])
    whole, _, exact, near, *_ = large.run(database, quick=True)
    assert "100% of the first" in whole.value
    assert "0.0% of the nearest ten lost" in exact.value
    assert "0.0% of the nearest ten lost" in near.value
