"""What the SQLite writer knows from the group before is never older than the file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import pytest
import pytest_asyncio

from memhold import AsyncMemhold
from memhold.errors import StoreError
from memhold.ports.transaction import WriteTx
from memhold.storage.sql import row_batches as gathered
from memhold.storage.sqlite.store import SqliteStore
from memhold.values.records import Scope
from memhold.wiring.system import SystemClock

ALICE = Scope(user="alice")


def said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = SqliteStore(str(tmp_path / "memory.db"), clock=SystemClock())
    yield opened
    await opened.close()


def taken(tx: WriteTx) -> int:
    return tx.take_numbers(1)


async def test_a_second_add_reads_no_row(tmp_path: Path) -> None:
    ran: list[str] = []

    def trace(_: apsw.Cursor, sql: str, __: object) -> bool:
        ran.append(sql)
        return True

    def hook(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    apsw.connection_hooks.append(hook)
    try:
        async with AsyncMemhold.open(str(tmp_path / "memory.db"), worker=False) as mem:
            alice = mem.scope(user="alice", session="s")
            await alice.add(said("one"))
            ran.clear()
            await alice.add(said("two"))
            made = ran[: ran.index("COMMIT") + 1]
    finally:
        apsw.connection_hooks.remove(hook)
    assert [sql for sql in made if not sql.startswith(("INSERT", "UPDATE"))] == [
        "BEGIN IMMEDIATE",
        "PRAGMA data_version",
        "COMMIT",
    ]


async def test_two_that_take_turns_on_one_file_see_each_other(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    async with AsyncMemhold.open(path, worker=False) as one, AsyncMemhold.open(path, worker=False) as other:
        scopes = [mem.scope(user="alice", session="s") for mem in (one, other)]
        for turn in range(12):
            await scopes[turn % 3 % 2].add([said(f"banana {turn}"), said("again")])
        messages = await scopes[0].messages()
        assert [message.seq for message in messages] == list(range(1, 25))
        assert sorted(message.number for message in messages) == list(range(24))
        found = await scopes[1].recall("banana", limit=50)
        assert sum("banana" in hit.text for hit in found.hits) == 12
        changes = await one._store._runtime.store.read(ALICE, lambda tx: tx.changes())
        assert [change.seq for change in changes] == list(range(1, 13))


async def test_what_failed_is_not_known(store: SqliteStore) -> None:
    assert await store.write(ALICE, taken) == 0

    def fail(tx: WriteTx) -> None:
        taken(tx)
        raise LookupError

    with pytest.raises(LookupError):
        await store.write(ALICE, fail)
    assert await store.write(ALICE, taken) == 1


async def test_what_a_failed_commit_took_is_not_known(store: SqliteStore) -> None:
    assert await store.write(ALICE, taken) == 0

    failures = [True]
    await store._writer.call(lambda connection: connection.set_commit_hook(lambda: bool(failures and failures.pop())))
    with pytest.raises(StoreError, match="nothing of this call was stored"):
        await store.write(ALICE, taken)
    assert await store.write(ALICE, taken) == 1


async def test_what_upkeep_writes_is_read_again(store: SqliteStore) -> None:
    def raised(connection: apsw.Connection, to: int) -> None:
        connection.execute("UPDATE owner SET documents = ?", (to,))

    assert await store.write(ALICE, taken) == 0
    await store._writer.call(lambda connection: raised(connection, 100))
    assert await store.write(ALICE, taken) == 100

    def within(tx: WriteTx) -> None:
        assert taken(tx) == 101
        raised(tx.connection, 200)  # type: ignore[attr-defined]

    await store.write(ALICE, within)
    assert await store.write(ALICE, taken) == 200


async def test_what_is_known_is_bounded(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathered, "_MOST_KNOWN", 4)
    async with AsyncMemhold.open(store.facts.location, worker=False) as mem:
        writer = mem._store._runtime.store._writer  # type: ignore[attr-defined]
        for number in range(20):
            await mem.scope(user="alice", session=f"s{number}").add(said("hello"))
            assert len(writer._known.sessions) <= 6
