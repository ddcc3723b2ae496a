"""Reads from standbys, on real ones: each at least as new as what this process wrote, whatever becomes of the standby."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest

from benchmarks.standbys import run
from memhold.storage.postgres.connection import parsed, parsed_standby
from memhold.storage.postgres.store import PostgresStore
from memhold.testing.store_suite_rows import say
from memhold.values.records import Scope
from memhold.wiring.system import SystemClock, TimeOrderedIds
from tests.postgres_server import Databases, Server

SETTINGS = {"max_wal_senders": "8", "hot_standby": "on", "wal_receiver_status_interval": "1s"}
ALICE, BOB = Scope(user="alice"), Scope(user="bob")
IDS = TimeOrderedIds()


@pytest.fixture(scope="module")
def primary() -> Iterator[Databases]:
    server = Server(settings=SETTINGS)
    try:
        yield Databases(server)
    finally:
        server.stop()


@pytest.fixture(scope="module")
def standby(primary: Databases) -> Iterator[Server]:
    server = Server(settings=SETTINGS, copy_of=primary.server)
    try:
        yield server
    finally:
        server.stop()


def beside(url: str, primary: Databases, standby: Server) -> str:
    return url.replace(str(primary.server.folder), str(standby.folder))


async def opened(url: str, *standbys: str, primary: str | None = None) -> PostgresStore:
    return await PostgresStore.open(
        parsed(primary or url), clock=SystemClock(), standbys=[parsed_standby(one) for one in standbys]
    )


async def until(there: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not there():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


async def said(store: PostgresStore, scope: Scope = ALICE) -> list[str]:
    return await store.read(scope, lambda tx: [message.text for message in tx.messages("s1")])


async def tell(store: PostgresStore, text: str, scope: Scope = ALICE) -> None:
    await store.write(scope, lambda tx: say(tx, IDS, text))


async def test_a_read_is_as_new_as_what_this_process_wrote(primary: Databases, standby: Server) -> None:
    url = primary.take()
    store = await opened(url, beside(url, primary, standby))
    try:
        await until(lambda: store.standbys.serving == (True,))
        await tell(store, "first", BOB)
        for turn in range(20):
            await tell(store, f"line {turn}")
            assert len(await said(store)) == turn + 1
        # With its replay stopped it lags, and what was written is read from the primary.
        standby.sql("SELECT pg_wal_replay_pause()")
        served = store.standbys.served
        await tell(store, "while it lags")
        assert (await said(store))[-1] == "while it lags"
        assert store.standbys.served == served
        # Of another scope nothing was written since: it is asked.
        assert await said(store, BOB) == ["first"]
        assert store.standbys.served != served
        standby.sql("SELECT pg_wal_replay_resume()")
        served = store.standbys.served

        async def read() -> bool:
            assert (await said(store))[-1] == "while it lags"
            return store.standbys.served != served

        while not await read():
            pass
    finally:
        standby.sql("SELECT pg_wal_replay_resume()")
        await store.close()


def test_the_benchmark_prints_each_number_of_them(primary: Databases, standby: Server) -> None:
    url = primary.take()
    rows = run(url, [beside(url, primary, standby)], quick=True)
    assert [row.name for row in rows] == [
        *("recall, 0 standbys", "recall, 1 standbys"),
        *("recall, 0 standbys, beside a writer", "recall, 1 standbys, beside a writer"),
    ]
    assert [", 0% of the reads" in row.value for row in rows] == [True, False, True, False]


async def test_what_a_lease_is_on_is_read(primary: Databases, standby: Server) -> None:
    url = primary.take()
    other = await opened(url)
    store = await opened(url, beside(url, primary, standby))
    try:
        await until(lambda: store.standbys.serving == (True,))
        standby.sql("SELECT pg_wal_replay_pause()")
        # Another process makes work due and this one takes it: the standby has not heard of it.
        await other.write(ALICE, lambda tx: (say(tx, IDS, "of another process"), tx.put_due("index", "x", tx.now)))
        [lease] = await store.upkeep.claim(owner="me", kinds=("index",), limit=1, seconds=60)
        assert lease.due.ref == "x"
        assert await said(store) == ["of another process"]
    finally:
        standby.sql("SELECT pg_wal_replay_resume()")
        await store.close()
        await other.close()


async def test_a_read_never_goes_back_behind_another(primary: Databases, standby: Server) -> None:
    url = primary.take()
    other = await opened(url)
    store = await opened(url, beside(url, primary, standby))
    try:
        await until(lambda: store.standbys.serving == (True,))
        [one] = store.standbys._all
        await tell(store, "mine")
        standby.sql("SELECT pg_wal_replay_pause()")
        await tell(other, "another's")
        one.serves = False
        assert await said(store) == ["mine", "another's"]
        one.serves = True
        assert await said(store) == ["mine", "another's"], (
            "the standby, which has replayed what was written here, has not"
        )
    finally:
        standby.sql("SELECT pg_wal_replay_resume()")
        await store.close()
        await other.close()


async def test_one_that_is_frozen_gone_or_of_another_store_is_passed_over(
    primary: Databases, standby: Server, caplog: pytest.LogCaptureFixture
) -> None:
    url, foreign = primary.take(), primary.take()
    await (await opened(foreign)).close()
    place = beside(url, primary, standby)
    store = await opened(url, place, beside(foreign, primary, standby), "postgresql://memhold@127.0.0.1:1/none")
    try:
        await until(lambda: store.standbys.serving[0])
        await tell(store, "there")
        frozen = standby.family()
        for one in frozen:
            os.kill(one, signal.SIGSTOP)
        try:
            assert await said(store) == ["there"]
            assert not store.standbys.serving[0]
            assert "it cannot be reached; the primary answers" in caplog.text
        finally:
            for one in frozen:
                os.kill(one, signal.SIGCONT)
        await until(lambda: store.standbys.serving[0])
        standby.kill()
        assert await said(store) == ["there"]
        await until(lambda: not store.standbys.serving[0])
        standby.start()
        await until(lambda: store.standbys.serving[0])
        served = store.standbys.served
        while store.standbys.served == served:
            assert await said(store) == ["there"]
        assert store.standbys.serving[1:] == (False, False)
        assert served[1:] == (0, 0)
    finally:
        await store.close()


async def test_after_a_failover_only_what_follows_the_new_primary_is_asked(primary: Databases) -> None:
    url = primary.take()
    heir, stray = (Server(settings=SETTINGS, copy_of=primary.server) for _ in range(2))
    try:
        both = url.replace(f"host={primary.server.folder}", f"host={primary.server.folder},{heir.folder}")
        store = await opened(url, beside(url, primary, heir), beside(url, primary, stray), primary=both)
        try:
            await until(lambda: store.standbys.serving == (True, True))
            await tell(store, "before")
            # The one that is not promoted has more of the old log than the new primary has of its own.
            with psycopg.connect(url, autocommit=True) as connection:
                heir.kill()
                connection.execute(
                    "CREATE TABLE ballast AS SELECT repeat('x', 1000) AS x FROM generate_series(1, 2000)"
                )
                end = connection.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
            await until(lambda: stray.sql(f"SELECT pg_last_wal_replay_lsn() >= '{end[0]}'") == [(True,)])
            primary.server.kill()
            heir.start()
            heir.promote()
            await tell(store, "after")
            for _ in range(20):
                assert await said(store) == ["before", "after"]
            assert stray.sql("SELECT pg_is_in_recovery()") == [(True,)]
            assert store.standbys.serving == (False, False), "the one is the primary, the other follows nobody"
        finally:
            await store.close()
    finally:
        for server in (heir, stray):
            server.stop()
        primary.server.start()
