"""Sessions inside opencode's database: read where they stand, each line once, and never written down elsewhere."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memhold import Memhold
from memhold.errors import UnreadableImport
from memhold.faces.agents.hook import noted
from memhold.faces.agents.spool import due_in, holding, look_at, spool_of
from memhold.faces.agents.take_in import take_in_now
from memhold.transfer.opencode_sessions import database_of, sessions_in

RECORDED = Path(__file__).parent / "recorded" / "opencode.json"
EXPORTED: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
SESSION = str(EXPORTED["info"]["id"])
TABLES = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, time_created integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer,
  data text);
"""
"""As opencode 1.18.33 makes them, without the columns that nobody reads here."""


class Database:
    """One of opencode's, with the session that was recorded; `says` writes as opencode does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = int(time.time() * 1000)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(TABLES)
            connection.execute("INSERT INTO session VALUES (?, NULL, '/home/u/proj', 1)", (SESSION,))
            connection.commit()

    def put(self, statement: str, *row: object) -> None:
        self.now += 1_000
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute(statement, (*row, self.now, self.now))
            connection.commit()

    def message(self, one: dict[str, Any]) -> None:
        info = {name: value for name, value in one["info"].items() if name not in {"id", "sessionID"}}
        into = (
            "INSERT OR REPLACE INTO message (id, session_id, data, time_created, time_updated) VALUES (?, ?, ?, ?, ?)"
        )
        self.put(into, one["info"]["id"], SESSION, json.dumps(info))
        into = (
            "INSERT OR REPLACE INTO part (id, message_id, session_id, data, time_created, time_updated)"
            " VALUES (?, ?, ?, ?, ?, ?)"
        )
        for part in one["parts"]:
            rest = {name: value for name, value in part.items() if name not in {"id", "sessionID", "messageID"}}
            self.put(into, part["id"], one["info"]["id"], SESSION, json.dumps(rest))

    def says(self, ident: str, role: str, text: str, *, done: bool = True) -> None:
        times = {"created": self.now, **({"completed": self.now} if done else {})}
        self.message(
            {
                "info": {"id": ident, "role": role, "time": times},
                "parts": [{"id": f"prt_{ident}", "type": "text", "text": text}],
            }
        )


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "opencode.db")


def journal(mem: Memhold) -> list[str]:
    return [one.text for one in mem.scope(user="alice", session=f"opencode:{SESSION}").messages()]


def test_a_session_is_what_opencode_exports_of_it(database: Database, tmp_path: Path) -> None:
    for one in EXPORTED["messages"]:
        database.message(one)
    (found,) = sessions_in(database.path)
    assert (found.path, found.folder, found.parent) == (database.path / SESSION, "/home/u/proj", None)
    with Memhold.open(tmp_path / "memory.db", worker=False) as mem:
        alice = mem.scope(user="alice")
        report = alice.import_file(found.path)
        assert (report.format, report.added, report.skipped) == ("opencode", 3, 0)
        assert alice.import_file(RECORDED).added == 0
        assert journal(mem) == ['"What tea do I like?"', "I look.", "It is done."]


def test_each_line_comes_once_when_it_is_whole(database: Database, tmp_path: Path) -> None:
    db = tmp_path / "store" / "memory.db"
    told = {"transcript_path": str(database.path / SESSION), "cwd": str(tmp_path), "session_id": SESSION}
    assert noted("SessionStart", told, {"db": str(db), "user": "alice"})
    with Memhold.open(db, worker=False) as mem:
        assert take_in_now(mem, str(db)) == 0
        assert due_in(spool_of(str(db))) == []  # nothing was said in it yet
        database.says("m1", "user", "we chose pomelo")
        database.says("m2", "assistant", "I am still wri", done=False)
        assert take_in_now(mem, str(db)) == 1
        assert take_in_now(mem, str(db)) == 0
        assert look_at(spool_of(str(db))).waiting == ()
        database.says("m2", "assistant", "I am still writing.")
        assert look_at(spool_of(str(db))).waiting == (told["transcript_path"],)
        assert take_in_now(mem, str(db)) == 1
        assert journal(mem) == ["we chose pomelo", "I am still writing."]
        assert holding(spool_of(str(db)), "pomelo") == (told["transcript_path"],)
        hits = mem.scope(user="alice").recall("pomelo", kinds=("message",)).hits
        assert {(hit.role, hit.origin) for hit in hits} == {("user", "user"), ("assistant", "agent")}
        assert noted("SessionEnd", told, {"db": str(db), "user": "alice"})
        assert take_in_now(mem, str(db)) == 0
    assert not [*spool_of(str(db)).glob("*.json")]
    assert b"pomelo" not in b"".join(one.read_bytes() for one in spool_of(str(db)).iterdir())


def test_a_database_of_another_make_is_told_of_and_waited_for(database: Database, tmp_path: Path) -> None:
    db = tmp_path / "store" / "memory.db"
    told = {"transcript_path": str(database.path / SESSION), "cwd": str(tmp_path), "session_id": SESSION}
    assert noted("Stop", told, {"db": str(db), "user": "alice"})
    database.says("m1", "user", "we chose pomelo")
    with closing(sqlite3.connect(database.path)) as connection:
        connection.execute("ALTER TABLE part RENAME TO piece")
    with Memhold.open(db, worker=False) as mem:
        assert take_in_now(mem, str(db)) == 0
        assert look_at(spool_of(str(db))).unread == (told["transcript_path"],)
        with closing(sqlite3.connect(database.path)) as connection:
            connection.execute("ALTER TABLE piece RENAME TO part")
        assert take_in_now(mem, str(db)) == 1
        assert look_at(spool_of(str(db))).unread == ()


def test_what_is_no_database_of_opencode_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "opencode.db"
    other.write_bytes(b"no database")
    with Memhold.open(tmp_path / "memory.db", worker=False) as mem:
        with pytest.raises(UnreadableImport, match="cannot be read as opencode's sessions"):
            mem.scope(user="alice").import_file(other / SESSION)
        with pytest.raises(UnreadableImport, match="there is no such file"):
            mem.scope(user="alice").import_file(tmp_path / "nothing.db" / SESSION)
    with pytest.raises(OSError, match="cannot be read as opencode's sessions"):
        sessions_in(other)
    assert other.read_bytes() == b"no database"


def test_where_the_database_is(tmp_path: Path) -> None:
    assert database_of({}, tmp_path) == tmp_path / ".local/share/opencode/opencode.db"
    assert database_of({"XDG_DATA_HOME": "/d", "OPENCODE_DB": "x.db"}, tmp_path) == Path("/d/opencode/x.db")
    assert database_of({"OPENCODE_DB": "/else/x.db"}, tmp_path) == Path("/else/x.db")
