"""A store of the schema before standing instructions opens, keeps its rows, and takes them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memhold import Memhold
from memhold.storage.sqlite import connection

METRIC = "Always answer in metric units."


def test_a_file_of_before_takes_instructions_and_keeps_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, known = str(tmp_path / "m.db"), connection.migrations()
    before = tuple(one for one in known if one.name != "instructions" and one.number < _number(known))
    with monkeypatch.context() as patched:
        patched.setattr(connection, "migrations", lambda: before)
        connection.create_or_migrate(place, busy_timeout=1.0, now=0)
    with closing(sqlite3.connect(place)) as raw:
        assert "'instruction'" not in _schema(raw)
    with Memhold.open(place, worker=False) as mem:
        alice = mem.scope(user="alice", session="s")
        alice.add([{"role": "user", "content": METRIC}])
        assert [one.text for one in alice.list(kinds=("instruction",)).items] == [METRIC]
    with closing(sqlite3.connect(place)) as raw:
        assert "'instruction'" in _schema(raw)
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert raw.execute("PRAGMA writable_schema").fetchone() == (0,)
        with pytest.raises(sqlite3.IntegrityError):
            raw.execute("UPDATE memory SET kind = 'other'")


def _number(known: tuple[connection.Migration, ...]) -> int:
    return next(one.number for one in known if one.name == "instructions")


def _schema(raw: sqlite3.Connection) -> str:
    return str(raw.execute("SELECT sql FROM sqlite_schema WHERE name = 'memory'").fetchone()[0])


def test_postgres_takes_instructions(database: str) -> None:
    with Memhold.open(database, worker=False) as mem:
        alice = mem.scope(user="alice", session="s")
        alice.add([{"role": "user", "content": METRIC}])
        assert [one.text for one in alice.list(kinds=("instruction",)).items] == [METRIC]
