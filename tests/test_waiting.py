"""Work that is due waits for no poll, for no lease that somebody left behind, and for no lane that has ended."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest

from memhold import AsyncMemhold
from memhold.errors import StoreBusy, StoreError, StoreFull, WrongLoop
from memhold.faces.python.event_loop_thread import EventLoopThread
from memhold.index.embedding import Embedding
from memhold.index.index_step import index_step, start_generation
from memhold.index.pending_vectors import begin
from memhold.ports.stores import Lease, Store
from memhold.ports.transaction import WriteTx
from memhold.providers.embedding.builtin.model import BuiltinEmbedding
from memhold.storage.sqlite import writer as writer_module
from memhold.testing import FakeClock
from memhold.transfer.mirror import try_lock
from memhold.upkeep.leases import held_lease
from memhold.upkeep.worker import LONGEST_WAIT, SLOTS, Step, Worker
from memhold.values.records import Scope

NEVER = 3600.0
"""A poll that no test waits for."""
ALICE = Scope(namespace="default", user="alice")


def opened(location: str, **settings: Any) -> AsyncMemhold:
    return AsyncMemhold.open(location, **{"worker": False, "embedding": "none", **settings})


def working(mem: AsyncMemhold, steps: Mapping[str, Step], **more: Any) -> Worker:
    runtime = mem._store._runtime
    arguments = {"clock": runtime.clock, "owner": "w", "random": Random(1), "poll_seconds": NEVER, **more}
    return Worker(runtime.store, steps, **arguments)


async def put(store: Store, kind: str, ref: str, *, scope: Scope = ALICE, seconds: float = 0.0) -> None:
    await store.write(scope, lambda tx: tx.put_due(kind, ref, tx.now + timedelta(seconds=seconds)))


async def claim(store: Store, *kinds: str) -> list[Lease]:
    return await store.upkeep.claim(owner="o", kinds=kinds, limit=100, seconds=60)


# ------------------------------------------------------------------------------------------------ leases


async def test_what_is_put_while_it_is_leased_is_not_put_off_with_it(location: str) -> None:
    """A step that looks again later has not seen what came meanwhile; one that failed would fail on that too."""
    async with opened(location, clock=FakeClock()) as mem:
        store, clock = mem._store._runtime.store, mem._store._runtime.clock
        for attempt, wanted in ((False, 0), (True, 300)):
            ref = f"attempt {attempt}"
            await put(store, "index", ref)
            [lease] = await claim(store, "index")
            await put(store, "index", ref)
            at = clock.now() + timedelta(seconds=300)
            assert await store.upkeep.put_off(lease, at=at, error=None, attempt=attempt)
            [due] = await store.read(ALICE, lambda tx: tx.due())
            assert due.due_at == clock.now() + timedelta(seconds=wanted)
            await store.write(ALICE, lambda tx, ref=ref: tx.clear_due("index", ref))


async def test_what_is_not_leased_any_more_wakes(location: str) -> None:
    """Others took it for leased when they looked: only a wake tells them before the lease would have ended."""
    async with opened(location) as mem:
        store, clock = mem._store._runtime.store, mem._store._runtime.clock
        loop, woken = asyncio.get_running_loop(), asyncio.Event()
        await put(store, "index", "x")
        [lease] = await claim(store, "index")
        await put(store, "index", "x")
        store.on_due(lambda: loop.call_soon_threadsafe(woken.set))
        async with asyncio.timeout(60):
            assert await store.upkeep.finish(lease)
            await woken.wait()
            [lease] = await claim(store, "index")
            woken.clear()
            assert await store.upkeep.put_off(lease, at=clock.now(), error=None, attempt=False)
            await woken.wait()


async def test_a_settle_that_is_cancelled_leaves_no_lease(location: str) -> None:
    """It claims a batch and does it one by one: what it did not come to is not held by nobody."""
    async with opened(location) as mem:
        store = mem._store._runtime.store
        begun = asyncio.Event()

        async def hangs(_: Lease) -> None:
            begun.set()
            await asyncio.Event().wait()

        for number in range(5):
            await put(store, "expire", f"{number}")
        settling = asyncio.create_task(working(mem, {"expire": hangs}).settle())
        await begun.wait()
        settling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await settling
        assert len(await claim(store, "expire")) == 5


async def test_a_batch_that_is_cut_off_before_it_begins_leaves_no_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that is cancelled before its first line gives nothing back itself."""
    async with opened("memory://") as mem:
        store = mem._store._runtime.store

        async def never(_: Lease) -> None:
            raise AssertionError

        worker = working(mem, {"consolidate": never}, slow=("consolidate",))
        for number in range(3):
            await put(store, "consolidate", f"{number}")
        gather = asyncio.gather

        def cancels(*tasks: Any, **more: Any) -> Any:
            monkeypatch.setattr(asyncio, "gather", gather)
            current = asyncio.current_task()
            assert current is not None
            current.cancel()
            return gather(*tasks, **more)

        monkeypatch.setattr(asyncio, "gather", cancels)
        with pytest.raises(asyncio.CancelledError):
            await worker.round()
        assert len(await claim(store, "consolidate")) == 3


async def test_a_step_that_is_cancelled_while_it_is_noted_as_done_is_done(tmp_path: Path) -> None:
    async with opened(str(tmp_path / "m.db")) as mem:
        store = mem._store._runtime.store
        writing, gate = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def blocks(_: WriteTx) -> None:
            loop.call_soon_threadsafe(writing.set)
            gate.wait(60)

        async def does(_: Lease) -> None:
            blocking.append(asyncio.create_task(store.write(ALICE, blocks)))
            await writing.wait()

        blocking: list[asyncio.Task[None]] = []
        await put(store, "expire", "x")
        settling = asyncio.create_task(working(mem, {"expire": does}).settle())
        await writing.wait()
        await asyncio.sleep(0)  # the step has ended, and its end waits for the writer
        settling.cancel()
        await asyncio.sleep(0)
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await settling
        await asyncio.gather(*blocking)
        assert await store.upkeep.next_due(("expire",)) is None


async def test_a_run_on_request_that_is_cancelled_while_it_claims_leaves_no_lease(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opened("memory://") as mem:
        store, clock = mem._store._runtime.store, mem._store._runtime.clock
        real, taken, answered = store.upkeep.claim, asyncio.Event(), asyncio.Event()

        async def slow(**arguments: Any) -> list[Lease]:
            leases = await real(**arguments)
            taken.set()
            await answered.wait()
            return leases

        async def holds() -> None:
            async with held_lease(store, ALICE, ("compact", "memories"), owner="w", clock=clock):
                raise AssertionError

        monkeypatch.setattr(store.upkeep, "claim", slow)
        holding = asyncio.create_task(holds())
        await taken.wait()
        holding.cancel()
        await asyncio.sleep(0)
        answered.set()
        with pytest.raises(asyncio.CancelledError):
            await holding
        monkeypatch.undo()
        assert len(await claim(store, "compact")) == 1


# ------------------------------------------------------------------------------------------------ lanes


async def test_a_sweep_that_fails_ends_no_lane() -> None:
    """Whatever it raises: the lane that swept would leave its work for ever."""
    async with opened("memory://") as mem:
        done = asyncio.Event()

        async def does(_: Lease) -> None:
            done.set()

        async def fails() -> None:
            raise ValueError

        await put(mem._store._runtime.store, "consolidate", "x")
        worker = working(mem, {"consolidate": does}, slow=("consolidate",), sweep=fails)
        worker.start()
        try:
            await asyncio.wait_for(done.wait(), 60)
        finally:
            await worker.stop()


async def test_a_look_that_fails_is_repeated_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has used up the wake: nobody else would tell before the poll."""
    async with opened("memory://") as mem:
        store, done = mem._store._runtime.store, asyncio.Event()
        real, failed = store.upkeep.claim, asyncio.Event()

        async def once_busy(**arguments: Any) -> list[Lease]:
            if not failed.is_set():
                failed.set()
                raise StoreBusy("busy")
            return await real(**arguments)

        async def does(_: Lease) -> None:
            done.set()

        monkeypatch.setattr(store.upkeep, "claim", once_busy)
        await put(store, "expire", "x")
        worker = working(mem, {"expire": does})
        worker.start()
        try:
            await asyncio.wait_for(done.wait(), 60)
            assert failed.is_set()
        finally:
            await worker.stop()


async def test_a_failed_sweep_is_tried_again_within_minutes() -> None:
    clock = FakeClock()
    async with opened("memory://", clock=clock) as mem:
        tries: list[str] = []

        async def fails_once() -> None:
            tries.append("")
            if len(tries) == 1:
                raise StoreBusy("busy")

        worker = working(mem, {}, sweep=fails_once)
        with pytest.raises(StoreBusy):
            await worker.settle()
        await worker.settle()
        assert len(tries) == 1
        clock.advance(60)
        await worker.settle()
        await worker.settle()
        assert len(tries) == 2


async def test_work_due_later_than_wakes_tell_of_is_not_left_to_a_long_poll(tmp_path: Path) -> None:
    """A write that makes work due in ten minutes wakes nobody, so no lane may sleep for an hour."""
    async with opened(str(tmp_path / "m.db"), clock=FakeClock()) as mem:
        worker = working(mem, {})
        assert await worker._until_due(("consolidate",)) == LONGEST_WAIT
        await put(mem._store._runtime.store, "consolidate", "x", seconds=600)
        assert await worker._until_due(("consolidate",)) == LONGEST_WAIT
        await put(mem._store._runtime.store, "consolidate", "x", seconds=7)
        assert await worker._until_due(("consolidate",)) == 7


@pytest.mark.parametrize("windows", [1, SLOTS, SLOTS + 1, 3 * SLOTS])
async def test_models_that_take_the_same_time_keep_no_window_waiting(location: str, windows: int) -> None:
    async with opened(location) as mem:
        store, done = mem._store._runtime.store, asyncio.Semaphore(0)
        begun: list[str] = []
        turn = asyncio.Event()

        async def asks(lease: Lease) -> None:
            """Ends with all that run beside it: once as many as can run do."""
            nonlocal turn
            begun.append(lease.due.ref)
            mine = turn
            if len(begun) % SLOTS == 0 or len(begun) == windows:
                turn = asyncio.Event()
                mine.set()
            await mine.wait()
            done.release()

        worker = working(mem, {"consolidate": asks}, slow=("consolidate",))
        worker.start()
        try:
            async with asyncio.timeout(30):
                for number in range(windows):
                    scope = Scope(namespace="default", user=f"u{number}")
                    await put(store, "consolidate", f"w{number}", scope=scope)
                for _ in range(windows):
                    await done.acquire()
        finally:
            await worker.stop()
        assert len(begun) == windows


@pytest.mark.parametrize("writes", [False, True], ids=["idle", "writing"])
async def test_what_another_process_writes_to_a_file_wakes_a_worker(tmp_path: Path, *, writes: bool) -> None:
    """Also where the worker's own process writes right after, and so is the first to see the other's commit."""
    path = str(tmp_path / "m.db")
    done: list[str] = []
    ended = asyncio.Semaphore(0)

    async def does(lease: Lease) -> None:
        done.append(lease.due.ref)
        ended.release()

    async with opened(path) as here, opened(path) as there:
        worker = working(here, {"consolidate": does}, slow=("consolidate",))
        worker.start()
        try:
            async with asyncio.timeout(60):
                for number in range(2 * SLOTS):
                    await put(there._store._runtime.store, "consolidate", f"{number}")
                    if writes:
                        await here._store._runtime.store.write(ALICE, lambda tx: tx.clear_due("index", "x"))
                    await ended.acquire()
        finally:
            await worker.stop()
        assert done == [str(number) for number in range(2 * SLOTS)]


async def test_a_write_that_fails_takes_no_wake_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was the first to see what another process wrote; nothing looks for that a second time."""
    monkeypatch.setattr(writer_module, "LOOK_SECONDS", NEVER)
    path, woken, loop = str(tmp_path / "m.db"), asyncio.Event(), asyncio.get_running_loop()

    def fails(*_: object) -> None:
        raise apsw.FullError("no room")

    async with opened(path) as here, opened(path) as there:
        store = here._store._runtime.store
        await put(store, "index", "mine")
        store.on_due(lambda: loop.call_soon_threadsafe(woken.set))
        await put(there._store._runtime.store, "consolidate", "theirs")
        with monkeypatch.context() as patched:
            patched.setattr(writer_module.Writer, "_commit", fails)
            with pytest.raises(StoreFull):
                await store.write(ALICE, lambda tx: tx.clear_due("index", "mine"))
        async with asyncio.timeout(60):
            await woken.wait()


# ------------------------------------------------------------------------------------------------ writers


async def test_a_write_that_takes_the_whole_group_with_it_keeps_no_caller_waiting(tmp_path: Path) -> None:
    """SQLite gives up a transaction when the disk is full: also the write at hand hears of it."""
    async with opened(str(tmp_path / "m.db")) as mem:
        store, gate = mem._store._runtime.store, threading.Event()

        def fatal(tx: Any) -> None:
            tx.connection.execute("ROLLBACK")
            raise apsw.FullError("no room")

        first = asyncio.create_task(store.write(ALICE, lambda _: gate.wait(60)))
        second = asyncio.create_task(store.write(ALICE, fatal))
        third = asyncio.create_task(put(store, "index", "x"))
        await asyncio.sleep(0)
        gate.set()
        async with asyncio.timeout(60):
            found = await asyncio.gather(first, second, third, return_exceptions=True)
        assert [found[0], type(found[1]).__name__, found[2]] == [True, "StoreFull", None]
        assert len(await claim(store, "index")) == 1


async def test_a_writer_whose_connection_is_beyond_use_answers_and_recovers(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    async with opened(str(path)) as mem:
        store = mem._store._runtime.store

        def breaks(tx: Any) -> None:
            path.rename(tmp_path / "away")
            tx.connection.close(True)

        async with asyncio.timeout(60):
            for work in (breaks, lambda _: None):
                with pytest.raises(StoreError):
                    await store.write(ALICE, work)
            (tmp_path / "away").rename(path)
            with pytest.raises(StoreError):
                await store.write(ALICE, lambda _: None)
            await put(store, "index", "x")
        assert len(await claim(store, "index")) == 1


# ------------------------------------------------------------------------------------------------ what holds what up


async def test_a_reader_elsewhere_holds_up_no_write(tmp_path: Path) -> None:
    """A forget scrubs on the writer's thread: it asks for readers, and waits for them beside it."""
    path = str(tmp_path / "m.db")
    async with opened(path, busy_timeout=3600.0) as mem:
        alice = mem.scope(user="alice")
        told = await alice.remember("gone")
        reader = apsw.Connection(path)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM memory").fetchall()
        async with asyncio.timeout(30):
            report = await alice.forget(told.memory.id, wait=0)
            assert (report.erased, report.waiting_for) == (False, "reader")
            await alice.remember("kept")
        reader.close()
        assert await mem.settle(timeout=300)
        assert not (await alice.status()).due


async def test_a_forget_takes_no_scrub_from_another_that_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One has scrubbed, another forgets and meets a reader: what the first does then is no end of the second's."""
    path = str(tmp_path / "m.db")
    async with opened(path) as mem:
        alice, upkeep = mem.scope(user="alice"), mem._store._runtime.store.upkeep
        one, two = [(await alice.remember(text)).memory.id for text in ("the first", "the second")]
        reader, real = apsw.Connection(path), upkeep.scrub

        async def then_another(*, briefly: bool = False) -> str | None:
            monkeypatch.setattr(upkeep, "scrub", real)
            holding = await real(briefly=briefly)
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM memory").fetchall()
            assert (await alice.forget(two, wait=0)).waiting_for == "reader"
            return holding

        monkeypatch.setattr(upkeep, "scrub", then_another)
        assert (await alice.forget(one, wait=0)).erased
        assert await upkeep.next_due(("scrub",)) is not None
        reader.close()
        assert await mem.settle(timeout=300)
        assert await upkeep.next_due(("scrub",)) is None
        assert not (await alice.residue("the second")).found


async def test_a_generation_is_switched_to_where_the_last_two_scopes_end_together(location: str) -> None:
    """Two workers fill the last two scopes at the same time: each must not leave the switch to the other."""

    async def opens() -> BuiltinEmbedding:
        return BuiltinEmbedding()

    async with opened(location) as mem:
        store = mem._store._runtime.store
        for user in ("alice", "bob"):
            await mem.scope(user=user).remember(f"{user} likes tea")
        await store.write(ALICE, lambda tx: begin(tx, fingerprint="former", dimension=3))
        assert await start_generation(store, Embedding(opens), ALICE) is not None
        leases = await claim(store, "index")
        assert len(leases) == 2
        found = []
        for lease in leases:  # neither is finished before the other has looked
            assert await index_step(store, Embedding(opens))(lease) is None
            found.append([one.state for one in await store.read(ALICE, lambda tx: tx.generations())])
        assert found == [["current", "building"], ["retired", "current"]]


async def _elapsed(call: Coroutine[Any, Any, Any], mem: AsyncMemhold) -> Any:
    """The result of a call, while time passes."""
    task = asyncio.create_task(call)
    while not task.done():
        await mem._store._runtime.clock.elapse(0.1)
        await asyncio.sleep(0)
    return await task


async def test_a_process_that_was_stopped_while_it_mirrors_keeps_nothing_else_waiting(tmp_path: Path) -> None:
    place = tmp_path / "pages"
    async with opened("memory://", clock=FakeClock(), mirror=str(place)) as mem:
        alice = mem.scope(user="alice")
        told = await alice.remember("The code is 4711.")
        lock = try_lock(place)
        assert lock is not None
        async with asyncio.timeout(30):
            assert not await _elapsed(mem.settle(), mem)
            assert (await _elapsed(alice.forget(told.memory.id), mem)).waiting_for == "mirror"
        lock.close()
        mem._store._runtime.clock.advance(600)
        assert await mem.settle(timeout=300)
        assert "4711" not in "".join(page.read_text("utf-8") for page in place.rglob("*.md"))


def test_a_call_from_its_own_thread_is_refused_and_does_not_wait_for_itself() -> None:
    portal = EventLoopThread()
    try:

        async def inner() -> None:
            portal.run(asyncio.sleep(0))

        with pytest.raises(WrongLoop):
            portal.run(asyncio.wait_for(inner(), 60))
    finally:
        portal.close()


async def test_models_that_cannot_be_closed_keep_no_store_open(tmp_path: Path) -> None:
    mem = await opened(str(tmp_path / "m.db"))

    async def fails() -> None:
        raise OSError("the connection is gone")

    object.__setattr__(mem._store._runtime, "close_models", fails)
    with pytest.raises(OSError, match="gone"):
        await mem.close()
    assert mem._store._runtime.store._closed
