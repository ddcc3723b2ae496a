"""What only this store can get wrong: lost answers, races, wakes between processes, threads, locks."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing

import psycopg
import pytest

from memhold import AsyncMemhold
from memhold.errors import (
    InvalidInput,
    OutcomeUnknown,
    ReadTimeout,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)
from memhold.ports.stores import Priority
from memhold.ports.transaction import ReadTx
from memhold.storage.postgres import upkeep
from memhold.storage.postgres.connection import connect, parsed, translated
from memhold.storage.postgres.connection import is_lost as connection_is_lost
from memhold.storage.postgres.schema import create_or_migrate
from memhold.storage.postgres.store import PostgresStore
from memhold.storage.postgres.transaction import MARK_BYTES, MARKS_BYTES, UnansweredError, WriteTransaction, committed
from memhold.testing import FakeClock
from memhold.values.answers import Due
from memhold.values.records import Scope
from tests.postgres_server import Databases

ALICE = Scope(namespace="acme", user="alice")
BOB = Scope(namespace="acme", user="bob")


class Line:
    """A connection whose COMMIT meets a fault, once; otherwise the connection itself."""

    def __init__(self, connection: psycopg.Connection, faults: list[Callable[[psycopg.Connection], None]]) -> None:
        self._connection = connection
        self._faults = faults

    def __getattr__(self, name: str):
        return getattr(self._connection, name)

    def travel(self, statements):
        if statements[-1][0] == b"COMMIT" and self._faults:
            self._connection.travel(statements[:-1])
            self._faults.pop()(self._connection)
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return self._connection.travel(statements)


def commits_and_is_lost(connection: psycopg.Connection) -> None:
    connection.execute("COMMIT")
    connection.close()


def is_lost(connection: psycopg.Connection) -> None:
    connection.close()


@asynccontextmanager
async def faulty(database: str, *faults: Callable[[psycopg.Connection], None]) -> AsyncIterator[PostgresStore]:
    store = await PostgresStore.open(parsed(database), clock=FakeClock(), failover_timeout=5)
    made = store._pool._connect
    store._pool._connect = lambda: Line(made(), waiting)
    waiting = list(faults)
    try:
        yield store
        assert not waiting, "the fault was met"
    finally:
        await store.close()


@pytest.mark.parametrize("fault", [commits_and_is_lost, is_lost])
async def test_a_commit_whose_answer_was_lost_takes_effect_once(database: str, fault) -> None:
    async with faulty(database, fault) as store:
        runs: list[int] = []

        def work(tx) -> int:
            runs.append(1)
            return tx.take_numbers(1)

        assert await store.write(ALICE, work) == 0
        assert len(runs) == (1 if fault is commits_and_is_lost else 2)
        assert await store.write(ALICE, lambda tx: tx.take_numbers(1)) == 1


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
@pytest.mark.parametrize("known", [True, False])
async def test_a_commit_that_still_goes_on_is_waited_for(database: str, end: str, *, known: bool) -> None:
    """The connection is lost and the server is not there yet; where the namespace is new, its row cannot be seen."""
    store = await PostgresStore.open(parsed(database), clock=FakeClock())
    if known:
        await store.write(ALICE, lambda tx: tx.take_numbers(1))
    await store.close()
    first, second = (connect(parsed(database), lock_timeout=10) for _ in range(2))
    with closing(first), closing(second):
        transaction = WriteTransaction(Line(first, [lambda _: None]), ALICE, FakeClock())
        transaction.run(ALICE, lambda tx: tx.take_numbers(1), "here")
        with pytest.raises(UnansweredError) as unanswered:
            transaction.commit()
        found = asyncio.create_task(asyncio.to_thread(committed, second, unanswered.value))
        waits = "SELECT 1 FROM pg_locks WHERE pid = %s AND NOT granted"
        while not found.done() and not first.execute(waits, (second.info.backend_pid,)).fetchone():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        first.execute(end.encode())
        assert await found is (end == "COMMIT")


async def test_a_group_whose_answer_was_lost_takes_effect_once(database: str) -> None:
    async with faulty(database, commits_and_is_lost) as store:
        numbers = await asyncio.gather(*(store.write(ALICE, lambda tx: tx.take_numbers(1)) for _ in range(20)))
        assert sorted(numbers) == list(range(20))
        assert await store.write(ALICE, lambda tx: tx.take_numbers(1)) == 20


@pytest.mark.parametrize("fault", [commits_and_is_lost, is_lost])
async def test_what_nothing_tells_any_more_is_said_and_not_tried_again(database: str, fault) -> None:
    def and_much_is_written(connection: psycopg.Connection) -> None:
        fault(connection)
        with psycopg.connect(database) as other:
            other.execute("SELECT set_config('memhold.namespace', 'acme', true)")
            other.execute("UPDATE namespace SET marks = %s", (bytes(MARKS_BYTES),))

    before = await PostgresStore.open(parsed(database), clock=FakeClock())
    await before.write(ALICE, lambda tx: tx.take_numbers(1))
    await before.close()
    async with faulty(database, and_much_is_written) as store:
        store_runs: list[int] = []
        with pytest.raises(OutcomeUnknown, match="same idempotency key"):
            await store.write(ALICE, lambda tx: store_runs.append(tx.take_numbers(1)))
        assert len(store_runs) == 1


async def test_the_marks_of_a_namespace_stay_few(database: str) -> None:
    store = await PostgresStore.open(parsed(database), clock=FakeClock())
    for _ in range(MARKS_BYTES // MARK_BYTES + 5):
        await store.write(ALICE, lambda tx: tx.take_numbers(1))
    await store.close()
    with psycopg.connect(database) as connection:
        connection.execute("SELECT set_config('memhold.namespace', 'acme', true)")
        assert connection.execute("SELECT octet_length(marks) FROM namespace").fetchone() == (MARKS_BYTES,)


async def test_a_connection_that_is_lost_inside_a_unit_costs_nothing(database: str, databases) -> None:
    store = await PostgresStore.open(parsed(database), clock=FakeClock())
    runs: list[int] = []

    def cut() -> None:
        databases.server.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'memhold' AND state LIKE 'idle%'"
        )

    def work(tx) -> int:
        runs.append(1)
        number = tx.take_numbers(1)
        if len(runs) == 1:
            cut()
        tx.sessions()
        return number

    assert await store.write(ALICE, work) == 0
    assert len(runs) == 2
    cut()
    assert await store.read(ALICE, lambda tx: tx.document_count()) == 1
    cut()
    assert await store.upkeep.scopes() == [ALICE]
    cut()
    assert await store.write(ALICE, lambda tx: tx.take_numbers(1)) == 1
    await store.close()


async def test_a_deadlock_is_run_again(database: str) -> None:
    stores = [await PostgresStore.open(parsed(database), clock=FakeClock()) for _ in range(2)]
    scopes = [Scope(namespace="a", user="x"), Scope(namespace="b", user="x")]
    began = [asyncio.Event(), asyncio.Event()]
    loop = asyncio.get_running_loop()
    runs = [0, 0]

    def work(mine: int) -> Callable:
        def unit(tx) -> None:
            runs[mine] += 1
            connection = tx._sql.connection
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (mine,))
            if runs[mine] == 1:
                loop.call_soon_threadsafe(began[mine].set)
                asyncio.run_coroutine_threadsafe(asyncio.wait_for(began[1 - mine].wait(), 60), loop).result()
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (1 - mine,))
            tx.put_due("effect", "one", tx.now)

        return unit

    await asyncio.gather(
        *(store.write(scope, work(n)) for n, (store, scope) in enumerate(zip(stores, scopes, strict=True)))
    )
    assert sum(runs) == 3, "one of them lost the race and ran again"
    for store, scope in zip(stores, scopes, strict=True):
        assert len(await store.read(scope, lambda tx: tx.due())) == 1
        await store.close()


async def test_other_namespaces_do_not_wait(database: str) -> None:
    store = await PostgresStore.open(parsed(database), clock=FakeClock())
    loop, held, let = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def hold(tx) -> int:
        loop.call_soon_threadsafe(held.set)
        asyncio.run_coroutine_threadsafe(asyncio.wait_for(let.wait(), 60), loop).result()
        return tx.take_numbers(1)

    first = asyncio.create_task(store.write(ALICE, hold))
    await held.wait()
    assert await store.write(Scope(namespace="other"), lambda tx: tx.take_numbers(1)) == 0
    same = asyncio.create_task(store.write(BOB, lambda tx: tx.take_numbers(1), priority=Priority.WORKER))
    assert not first.done()
    let.set()
    assert await first == 0
    assert await same == 0
    await store.close()


async def test_the_work_that_a_write_looked_at_is_claimed_by_nobody_and_the_rest_of_it_is(database: str) -> None:
    """A lease that stands when its holder applies stands until it has; the scope's other sessions are taken meanwhile."""
    clock = FakeClock()
    store = await PostgresStore.open(parsed(database), clock=clock)
    other = await PostgresStore.open(parsed(database), clock=clock)
    loop, held, let = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def work(tx) -> None:
        tx.put_due("consolidate", "mine", clock.now())
        tx.put_due("consolidate", "another", clock.now())

    def apply(tx) -> None:
        assert tx.due_item("consolidate", "mine") is not None
        loop.call_soon_threadsafe(held.set)
        asyncio.run_coroutine_threadsafe(asyncio.wait_for(let.wait(), 60), loop).result()

    await store.write(ALICE, work)
    applying = asyncio.create_task(store.write(ALICE, apply))
    await held.wait()

    async def claim() -> list[str]:
        taken = await other.upkeep.claim(owner="w", kinds=("consolidate",), limit=1, seconds=60)
        return [lease.due.ref for lease in taken]

    assert [*await claim(), *await claim()] == ["another"]
    let.set()
    await applying
    assert await claim() == ["mine"]
    await other.close()
    await store.close()


async def test_a_lock_that_somebody_holds_for_too_long_is_said(database: str) -> None:
    store = await PostgresStore.open(parsed(database), clock=FakeClock(), busy_timeout=0.2)
    await store.write(ALICE, lambda tx: tx.take_numbers(1))
    with psycopg.connect(database) as other:
        other.execute("SELECT set_config('memhold.namespace', 'acme', true)")
        other.execute("SELECT 1 FROM namespace FOR UPDATE")
        with pytest.raises(StoreBusy):
            await store.write(ALICE, lambda tx: tx.take_numbers(1))
    assert await store.write(ALICE, lambda tx: tx.take_numbers(1)) == 1
    await store.close()


async def test_a_read_that_takes_too_long_is_stopped(database: str) -> None:
    store = await PostgresStore.open(parsed(database), clock=FakeClock(), read_timeout=1.5)
    with pytest.raises(ReadTimeout):
        await store.read(ALICE, lambda tx: tx._sql.connection.execute("SELECT pg_sleep(20)"))
    assert await store.read(ALICE, lambda tx: tx.sessions()) == []
    await store.close()


async def test_work_that_another_process_makes_due_wakes_at_once(database: str) -> None:
    heard = asyncio.Event()
    loop = asyncio.get_running_loop()
    here = await PostgresStore.open(parsed(database), clock=FakeClock(), listen=True)
    there = await PostgresStore.open(parsed(database), clock=FakeClock(), listen=True)
    # Listening begins with a look; only what is heard after that counts.
    first = asyncio.Event()
    here.on_due(lambda: loop.call_soon_threadsafe((heard if first.is_set() else first).set))
    await asyncio.wait_for(_until(lambda: _listeners(database) == 2), 60)
    first.set()
    for number in range(5):  # the later ones while it rests: it tells others at most ten times a second
        heard.clear()
        await there.write(ALICE, lambda tx, ref=f"{number}": tx.put_due("work", ref, tx.now))
        await asyncio.wait_for(heard.wait(), 60)
    [lease] = await there.upkeep.claim(owner="there", kinds=("work",), limit=1, seconds=60)
    heard.clear()
    assert await there.upkeep.put_off(lease, at=FakeClock().now(), error=None, attempt=False)
    await asyncio.wait_for(heard.wait(), 60)
    await asyncio.gather(here.close(), there.close())
    assert _listeners(database) == 0


def _listeners(database: str) -> int:
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()"
        )
        return found.fetchone()[0]


async def _until(condition: Callable[[], bool]) -> None:
    while not await asyncio.to_thread(condition):  # noqa: ASYNC110 - what changes is in the database
        await asyncio.sleep(0)


async def test_what_a_reader_still_sees_is_not_called_erased(database: str) -> None:
    async with AsyncMemhold.open(database, worker=False, clock=FakeClock()) as mem:
        alice = mem.scope(user="alice")
        await alice.add([{"role": "user", "content": "the canary sings"}])
        told = await alice.remember("gone")
        with psycopg.connect(database) as reader:
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reader.execute("SELECT 1 FROM message")
            report = await alice.forget(told.memory.id, wait=0)
            assert (report.erased, report.waiting_for) == (False, "reader")
        assert await mem.settle(timeout=300)
        assert (await alice.forget((await alice.remember("gone too")).memory.id)).erased


async def test_a_dump_holds_every_row_for_a_role_that_row_level_security_does_not_bind(
    database: str, databases: Databases
) -> None:
    async with AsyncMemhold.open(database, worker=False) as mem:
        await mem.scope(user="alice").add([{"role": "user", "content": "the canary sings"}])
    name = database.partition("?")[0].rpartition("/")[2]

    def dumped(role: str, *flags: str) -> tuple[int, str]:
        made = subprocess.run(
            [databases.server.bin / "pg_dump", *flags, "-U", role, "-h", str(databases.server.folder), name],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return made.returncode, made.stdout

    code, text = await asyncio.to_thread(dumped, "postgres")
    assert code == 0
    assert "the canary sings" in text
    assert (await asyncio.to_thread(dumped, "memhold"))[0] != 0
    code, text = await asyncio.to_thread(dumped, "memhold", "--enable-row-security")
    assert (code, "the canary sings" in text) == (0, False)  # why the docs warn of it


async def test_a_role_with_another_encoding_writes_every_text(database: str, databases: Databases) -> None:
    databases.server.sql("ALTER ROLE memhold SET client_encoding = 'LATIN1'")
    try:
        async with AsyncMemhold.open(database, worker=False, embedding="none") as mem:
            alice = mem.scope(user="alice")
            said = (await alice.add([{"role": "user", "content": "ñ 漢字"}])).ids[0]
            assert (await alice.get(said)).text == "ñ 漢字"
    finally:
        databases.server.sql("ALTER ROLE memhold RESET client_encoding")


async def test_keeping_files_is_refused_with_what_to_do_instead(database: str, tmp_path) -> None:
    async with AsyncMemhold.open(database, worker=False) as mem:
        with pytest.raises(InvalidInput, match="pg_dump"):
            await mem.admin.backup(tmp_path / "b")
    with pytest.raises(InvalidInput, match="pg_restore"):
        await AsyncMemhold.restore(tmp_path, database)


def test_a_missing_driver_is_said(database: str) -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from memhold import Memhold\n"
        "try: Memhold.open(sys.argv[1])\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code, database], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("InvalidInput")
    assert "memhold[postgres]" in done.stdout


def test_settings_of_a_connection(database: str) -> None:
    with connect(parsed(database + "&options=-csynchronous_commit%3Doff"), lock_timeout=4) as connection:
        shown = {name: connection.execute(f"SHOW {name}".encode()).fetchone()[0] for name in (
            "synchronous_commit", "lock_timeout", "idle_in_transaction_session_timeout", "application_name",
        )}  # fmt: skip
    assert shown == {
        "synchronous_commit": "on",
        "lock_timeout": "4s",
        "idle_in_transaction_session_timeout": "2s",
        "application_name": "memhold",
    }


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (psycopg.OperationalError("server closed the connection unexpectedly"), True),
        (psycopg.InterfaceError("the connection is closed"), True),
        (psycopg.errors.AdminShutdown(), True),
        (psycopg.errors.IdleInTransactionSessionTimeout(), True),
        (psycopg.errors.ReadOnlySqlTransaction(), True),
        (psycopg.errors.PipelineAborted(), False),
        (psycopg.errors.UniqueViolation(), False),
        (psycopg.errors.LockNotAvailable(), False),
        (psycopg.errors.QueryCanceled(), False),
        (psycopg.errors.DiskFull(), False),
        (ValueError(), False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_only_a_lost_connection_is_ridden_out(error: Exception, *, lost: bool) -> None:
    assert connection_is_lost(error) is lost


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (psycopg.errors.DiskFull("could not extend file: canary"), StoreFull),
        (psycopg.errors.TooManyConnections("canary"), StoreBusy),
        (psycopg.errors.InsufficientPrivilege("canary"), StoreReadOnly),
        (psycopg.errors.NotNullViolation("Failing row contains (canary)"), StoreError),
        (psycopg.OperationalError("canary"), StoreUnreachable),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value.__name__,
)
def test_an_error_says_what_to_do_and_nothing_of_the_row(error: Exception, wanted: type[StoreError]) -> None:
    with pytest.raises(wanted) as caught, translated("postgresql://db/memory"):
        raise error
    assert "canary" not in f"{caught.value} {caught.value.__cause__}"
    assert "postgresql://db/memory" in str(caught.value)


@pytest.mark.parametrize("then", ["asks on", "has all"])
async def test_a_read_that_decodes_for_long_is_not_cut_off(database: str, databases: Databases, then: str) -> None:
    """A cold index of a large scope is read, then decoded: for longer than a frozen writer may hold its namespace."""
    store = await PostgresStore.open(parsed(database), clock=FakeClock(), busy_timeout=1.0, failover_timeout=2.5)
    await store.write(ALICE, lambda tx: tx.put_due("work", "one", tx.now))
    runs = 0

    def work(tx: ReadTx) -> int:
        nonlocal runs
        runs += 1
        tx.due()
        databases.wait_open(database, 1.3)
        return len(tx.due()) if then == "asks on" else 1

    try:
        assert (await store.read(ALICE, work), runs) == (1, 1)
    finally:
        await store.close()


async def test_a_read_that_outlasts_its_time_is_answered_if_it_asks_no_more(
    database: str, databases: Databases
) -> None:
    """The server ends the transaction meanwhile: what asks on is refused, and neither is run again."""
    store = await PostgresStore.open(parsed(database), clock=FakeClock(), read_timeout=1.5, failover_timeout=30.0)
    runs = 0

    def work(tx: ReadTx, *, on: bool) -> int:
        nonlocal runs
        runs += 1
        tx.due()
        databases.wait_open(database, 30)
        return len(tx.due()) if on else 7

    try:
        assert (await store.read(ALICE, lambda tx: work(tx, on=False)), runs) == (7, 1)
        with pytest.raises(ReadTimeout):
            await store.read(ALICE, lambda tx: work(tx, on=True))
        assert runs == 2
        assert await store.read(ALICE, lambda tx: tx.due()) == []
    finally:
        await store.close()


def test_every_table_whose_bytes_a_forget_takes_is_vacuumed(database: str) -> None:
    """Bytes and text of its own: what names only ids, keyed hashes, counts and times stays as it is."""
    with psycopg.connect(database) as connection:
        with connect(parsed(database), lock_timeout=5) as ours:
            create_or_migrate(ours, parsed(database), partitions=0, now=0)
        found = connection.execute(
            "SELECT DISTINCT table_name FROM information_schema.columns WHERE table_schema = 'public'"
            " AND column_name IN ('text', 'value', 'vector', 'vectors', 'records', 'entries', 'before', 'name', 'quote')"
            " AND table_name IN (SELECT table_name FROM information_schema.columns WHERE column_name = 'user_id')"
        ).fetchall()
    assert {name for (name,) in found} - {"progress"} <= set(upkeep.CONTENT)


async def test_a_reader_that_is_frozen_is_ended_for_it(database: str) -> None:
    """Else what was forgotten stays in its sight, and in the tables, for as long as it sleeps."""
    store = await PostgresStore.open(parsed(database), clock=FakeClock(), read_timeout=1.0)
    seen: list[int] = []
    open_ = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND pid <> pg_backend_pid()"

    def work(tx: ReadTx) -> list[Due]:
        # Its first statements went together, and the driver's end of those stops the server's clock of idleness.
        until = time.monotonic() + 30
        while time.monotonic() < until and (not seen or seen[-1]):
            seen.append(other.execute(open_).fetchone()[0])
        return tx.due()

    try:
        # Connected before: the server's time for the reader runs from its first statement.
        with psycopg.connect(database, autocommit=True) as other, pytest.raises(ReadTimeout):
            await store.read(ALICE, work)
        assert (seen[0], seen[-1]) == (1, 0)
    finally:
        await store.close()
