"""A store from before origins were recorded: what was said by whom follows from roles and changes, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from memhold import Memhold
from memhold.storage.postgres.connection import connect, parsed
from memhold.storage.postgres.schema import create_or_migrate as create_database
from memhold.storage.postgres.schema import migrations as database_steps
from memhold.storage.sqlite import connection as files

ROLES = (("user", 1), ("assistant", 1), ("tool", 1), ("system", 1), ("user", 2), ("assistant", 2))
"""The role of each message, and the change that appended it: the second was an import."""
BEFORE = 6
"""The number of the migration."""


def rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of the first schema, table by table."""
    whose = {"namespace": "default", "user_id": "alice"}
    yield "namespace", {"namespace": "default", "change_seq": 3}
    yield "owner", {**whose, "documents": 9, "sessions": 1, "index_rev": 1}
    times = {"created_at": 1, "last_at": 1}
    yield (
        "session",
        {**whose, "session_id": "s", "id": "ses_1", "number": 1, "last_seq": 6, "cursor": 0, "rev": 0, **times},
    )
    for seq, origin in ((1, "user"), (2, "import"), (3, "model")):
        by = f'{{"origin":"{origin}","name":null,"version":null}}'
        about = {"verb": "add", "reason": "x", "by": by, "at": 1, "sources": "[]", "spans": "[]", "detail": "{}"}
        yield "change", {**whose, "seq": seq, "id": f"chg_{seq}", **about}
    for seq, (role, change) in enumerate(ROLES, start=1):
        said = {"role": role, "shape": "openai", "body": f'{{"role":"{role}","content":"x"}}', "text": "x", "embed": 0}
        place = {"number": seq, "id": f"msg_{seq}", "session_id": "s", "agent_id": "", "seq": seq}
        dated = {"metadata": "{}", "event_time": seq, "recorded_at": seq, "change_id": f"chg_{change}"}
        yield "message", {**whose, **place, **said, **dated}
    for number, (origin, until) in enumerate((("user", 5), ("user", None), ("model", None)), start=1):
        kept = {"id": f"mem_{max(1, number - 1)}", "rev": 2 if number == 2 else 1, "number": 6 + max(1, number - 1)}
        content = {"kind": "note", "state": "active", "tier": "mid", "operation": "set", "text": f"note {number}"}
        labels = {"topics": "[]", "entities": "[]", "metadata": "{}", "importance": "mid", "pinned": 0}
        held = {
            "origin": origin,
            "trust": "user",
            "evidence": 0,
            "event_time": 1,
            "valid_from": 1,
            "unrecorded_at": until,
        }
        yield (
            "memory",
            {**whose, **kept, "agent_id": "", **content, **labels, **held, "created_at": 1, "recorded_at": 1},
        )
    token = {"namespace": "default", "user_id": "alice", "agent_id": "", "rights": "read", "label": "", "created_at": 1}
    yield "token", {"id": "b2xk7qd3mzn4afwe", **token, "digest": b"x"}


def check(location: str) -> None:
    with Memhold.open(location, worker=False) as mem:
        alice = mem.scope(user="alice", session="s")
        assert [one.origin for one in alice.messages()] == ["user", "agent", "tool", "user", "import", "import"]
        assert all(one.actor is None for one in alice.messages())
        held = alice.list(limit=10).items
        assert [(one.id, one.rev, one.text, one.origin, one.actor, one.last_confirmed_at) for one in held] == [
            ("mem_1", 2, "note 2", "user", None, None),
            ("mem_2", 1, "note 3", "model", None, None),
        ]
        assert [token.actor for token in mem.admin.tokens.list()] == ["user"]
        told = mem.scope(user="alice", actor="agent:cursor").remember("later")
        assert (told.memory.origin, told.memory.actor) == ("agent", "cursor")
        assert [one.text for one in alice.list(origin="agent").items] == ["later"]


def test_a_file_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, known = str(tmp_path / "memory.db"), files.migrations()
    with monkeypatch.context() as patched:
        patched.setattr(files, "migrations", lambda: tuple(one for one in known if one.number < BEFORE))
        files.create_or_migrate(path, busy_timeout=1.0, now=1)
    with closing(apsw.Connection(path)) as connection, connection:
        for table, row in rows():
            marks = ", ".join(f":{name}" for name in row)
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", row)  # noqa: S608 - names of ours
    check(path)
    with closing(apsw.Connection(path)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE tbl_name = 'memory'")}
        assert {"memory_number", "memory_newest", "memory_fact", "memory_digest", "memory_hidden"} <= names
        with pytest.raises(apsw.ConstraintError):
            connection.execute("UPDATE memory SET origin = 'nobody'")


@pytest.mark.parametrize("partitions", [0, 2])
def test_a_database_of_before(bare_database: str, partitions: int) -> None:
    known = tuple(step for step in database_steps() if step.number < BEFORE)
    location = parsed(bare_database)
    with closing(connect(location, lock_timeout=5)) as connection:
        create_database(connection, location, partitions=partitions, now=0, known=known)
    with psycopg.connect(bare_database, autocommit=True) as connection:
        settings = {"memhold.namespace": "default", "memhold.user_id": "alice", "memhold.upkeep": "on"}
        for name, value in settings.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        for table, row in rows():
            marks = ", ".join(f"%({name})s" for name in row)
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", row)  # noqa: S608 - names of ours
    check(bare_database)
