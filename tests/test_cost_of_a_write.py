"""What a write and its request do not do again: counted, since times are nobody's to assert."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from threading import Event

import apsw
import psycopg
import pytest

from memhold import AsyncMemhold
from memhold.faces.bodies import Plain
from memhold.faces.rest.app import rest_app
from memhold.server.serving import run
from memhold.storage.postgres.connection import parsed
from memhold.storage.postgres.session import Session
from memhold.storage.postgres.statements import _as_one, _of_one, driver_text
from memhold.storage.postgres.store import PostgresStore
from memhold.storage.sql.blocks import load_dialect
from memhold.storage.sqlite import connection
from memhold.storage.sqlite.store import SqliteStore
from memhold.testing import FakeClock
from memhold.values.access_tokens import StoredToken
from memhold.verbs.declaration import verbs_of
from memhold.verbs.scope import AsyncScope

WORK = {"namespace": "acme", "user_id": "alice", "kind": "index", "ref": "vectors"}


class Due:
    """The row of one piece of due work in either dialect, and whether `put_due` writes it."""

    def __init__(self, run_sql, written) -> None:
        self.run = run_sql
        self.written = written

    def put(self, *, at: int, now: int = 0) -> bool:
        return self.written("put_due", {**WORK, "due_at": at, "now": now})


@pytest.fixture(params=["sqlite", "postgresql"])
def due(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Due]:
    if request.param == "sqlite":
        place = str(tmp_path / "m.db")
        connection.create_or_migrate(place, busy_timeout=1.0, now=0)
        held = apsw.Connection(place)
        sql = load_dialect("memhold.storage.sqlite")

        def written(name, params) -> bool:
            held.execute(sql[name], params)
            return held.changes() > 0

        yield Due(lambda text: held.execute(text).fetchall(), written)
        held.close()
        return
    database = request.getfixturevalue("database")
    asyncio.run(_made(database))
    named = load_dialect("memhold.storage.postgres")
    with psycopg.connect(database, autocommit=True) as other:
        other.execute(
            "SELECT set_config('memhold.namespace', 'acme', false), set_config('memhold.user_id', 'alice', false)"
        )

        def put(name, params) -> bool:
            # A row that is only locked is not counted.
            return other.execute(driver_text(named[name]), params).rowcount > 0

        def ask(text: str):
            cursor = other.execute(text)
            return cursor.fetchall() if cursor.description else []

        yield Due(ask, put)


async def _made(database: str) -> None:
    async with AsyncMemhold.open(database, worker=False, embedding="none"):
        pass


def test_what_is_due_already_is_not_written_again(due: Due) -> None:
    assert due.put(at=10)
    assert not due.put(at=10)
    assert not due.put(at=11)
    assert due.put(at=9), "sooner is written"
    due.run("UPDATE due SET leased_until = 100")
    assert due.put(at=50, now=20), "while somebody is at it, it is due again"
    assert not due.put(at=60, now=20)
    assert due.put(at=40, now=20)
    assert [tuple(row) for row in due.run("SELECT due_at, again_at FROM due")] == [(9, 40)]
    assert due.put(at=60, now=200), "a lease that ran out leaves nothing behind"
    assert [tuple(row) for row in due.run("SELECT due_at, again_at FROM due")] == [(9, None)]


async def test_an_add_on_postgresql_goes_two_ways(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ways: list[list[bytes]] = []
    travel, execute = Session.travel, psycopg.Cursor.execute

    def travelled(self, statements):
        ways.append([text for text, _ in statements])
        return travel(self, statements)

    def executed(self, query, *args, **named):
        ways.append([query])
        return execute(self, query, *args, **named)

    async with AsyncMemhold.open(database, worker=False, embedding="none") as mem:
        scope = mem.scope(user="alice", session="s")
        await scope.add({"role": "user", "content": "one"})
        monkeypatch.setattr(Session, "travel", travelled)
        monkeypatch.setattr(psycopg.Cursor, "execute", executed)
        await scope.add({"role": "user", "content": "two"})
        # BEGIN, whose rows they are, the lock, what is there; then what is written, and COMMIT.
        assert [len(texts) for texts in ways] == [4, 2], ways
        assert [message.text for message in await scope.messages()] == ["one", "two"]


def test_statements_as_one_keep_their_parameters_apart() -> None:
    for of_one in (False, True):
        text, places = _as_one(("put_change_seq", "put_due"), of_one=of_one)
        assert text.startswith(b"WITH w0 AS (INSERT INTO namespace")
        assert [b"$%d" % (number + 1) in text for number in range(len(places) + 1)] == [True] * len(places) + [False]
        assert {name for at, name in places if at == 0} >= {"namespace", "change_seq"}
        assert [name for _, name in places].count("namespace") == 2 - of_one, "which scope it is crosses once"
        assert "due_at" in {name for at, name in places if at == 1}


def test_statements_of_several_scopes_cross_each_with_its_own() -> None:
    mine, other = {"namespace": "acme", "user_id": "alice"}, {"namespace": "acme", "user_id": "bob"}
    assert _of_one([("put_owner", mine), ("put_due", mine), ("write_clock", {"now": 1})])
    assert not _of_one([("put_owner", mine), ("put_due", other)])
    assert not _of_one([("write_clock", {"now": 1}), ("put_owner", mine)])


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_token_is_looked_up_while_every_reading_thread_is_busy(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if kind == "sqlite":
        store = SqliteStore(str(tmp_path / "m.db"), clock=FakeClock())
    else:
        store = await PostgresStore.open(parsed(request.getfixturevalue("database")), clock=FakeClock())
    assert await store.tokens.read() == []
    go_on = Event()
    readers: ThreadPoolExecutor = store._readers
    held = [asyncio.wrap_future(readers.submit(go_on.wait)) for _ in range(8)]
    try:
        assert await store.tokens.find("tok_none") is None
        assert await store.tokens.read() == []
    finally:
        go_on.set()
    await asyncio.gather(*held)
    await store.close()


async def test_a_token_that_would_be_waited_for_is_read_on_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(str(tmp_path / "m.db"), clock=FakeClock())
    await store.tokens.find("tok_none")

    class Busy:
        def execute(self, *_: object) -> None:
            raise apsw.BusyError("locked")

        def close(self) -> None:
            pass

    monkeypatch.setattr(store, "_glances", Busy())
    found: StoredToken | None = await store.tokens.find("tok_none")
    assert found is None
    await store.close()


async def test_the_routes_of_declared_verbs_are_called_without_asking_what_they_depend_on() -> None:
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        routes = {(route.path, *route.methods): route for route in rest_app(mem).routes if hasattr(route, "methods")}
        http = verbs_of(AsyncScope)["add"].http
        assert http is not None
        assert isinstance(routes[f"/v1{http.path}", http.method], Plain)


@pytest.mark.skipif(find_spec("uvloop") is None, reason="no uvloop on this system")
def test_a_server_runs_on_the_fastest_loop_that_is_installed() -> None:
    found: list[str] = []

    async def told() -> None:
        found.append(type(asyncio.get_running_loop()).__module__)

    run(told())
    assert found == ["uvloop"]
