"""The table of PostgreSQL beside SQLite."""

from __future__ import annotations

import psycopg

from holdfast.bench.stores import run


def test_the_table_is_made_and_nothing_stays_behind(database: str) -> None:
    rows = run(database, quick=True)
    assert len(rows) == 13
    assert all(row.ratio and row.ratio > 0 for row in rows)
    [words] = [row for row in rows if row.name.startswith("recall by words")]
    assert "same order and scores" in words.value
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'holdfast%'").fetchall() == []
