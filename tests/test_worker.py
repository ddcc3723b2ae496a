"""The background worker leaves no lease behind: what it claimed and will not do is due again at once."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memhold import AsyncMemhold
from memhold.errors import StoreError
from memhold.ports.stores import Lease
from memhold.testing import FakeClock
from memhold.upkeep.worker import SLOTS, Worker


async def test_a_claim_that_is_cancelled_leaves_no_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store claims while the worker is stopped: the answer comes when nobody waits for it any more."""
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        alice = mem.scope(user="alice", session="s")
        await alice.add({"role": "user", "content": "I moved to Lisbon."})
        upkeep = mem._store._runtime.store.upkeep
        claim, claimed, answered = upkeep.claim, asyncio.Event(), asyncio.Event()

        async def slow(**arguments: Any) -> Any:
            leases = await claim(**arguments)
            claimed.set()
            await answered.wait()
            return leases

        monkeypatch.setattr(upkeep, "claim", slow)
        worker: Worker = mem._store._runtime.worker
        worker.start()
        await claimed.wait()
        assert (await alice.status()).leased == 1
        stopped = asyncio.create_task(worker.stop())
        await asyncio.sleep(0)  # the worker is cancelled now, and the store answers after that
        answered.set()
        await stopped
        assert (await alice.status()).leased == 0
        assert (await alice.status()).due


async def test_a_cancellation_that_comes_with_a_wake_is_not_lost() -> None:
    """A program that ends without closing cancels the worker's tasks; one that lived on would keep it for ever."""
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as mem:
        worker: Worker = mem._store._runtime.worker
        worker.start()
        woken = worker._woken[tuple(worker._quick)]
        for _ in range(100_000):  # until it is idle
            if woken._waiters:
                break
            await asyncio.sleep(0)
        assert woken._waiters
        woken.set()
        await asyncio.sleep(0)  # the wake is under way
        for task in worker._tasks:
            task.cancel()
        _, left = await asyncio.wait(worker._tasks, timeout=60)
        assert left == set()


async def test_steps_that_end_at_the_same_moment_leave_their_slots_to_the_next() -> None:
    """Models that take the same time free every slot at once, with a single wake; the rest must not wait for a poll."""
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as mem:
        store = mem._store._runtime.store
        begun, gate = asyncio.Semaphore(0), asyncio.Event()

        async def asks(_: Any) -> None:
            begun.release()
            await gate.wait()

        worker = Worker(
            store,
            {"consolidate": asks},
            clock=mem._store._runtime.clock,
            owner="w",
            random=Random(1),
            poll_seconds=3600.0,
            slow=("consolidate",),
        )
        for number in range(SLOTS + 1):
            scope = mem.scope(user=f"u{number}").scope
            await store.write(scope, lambda tx: tx.put_due("consolidate", "window", tx.now))
        worker.start()
        try:
            async with asyncio.timeout(60):
                for _ in range(SLOTS):
                    await begun.acquire()
                gate.set()
                await begun.acquire()
        finally:
            await worker.stop()


async def test_an_embedding_that_hangs_keeps_no_other_work_waiting() -> None:
    """What calls an embedding runs in a lane of its own: the quick work beside it is done."""
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as mem:
        store = mem._store._runtime.store
        hangs, done = asyncio.Event(), asyncio.Event()

        async def hang(_: Any) -> None:
            hangs.set()
            await asyncio.Event().wait()

        async def quick(_: Any) -> None:
            done.set()

        worker = Worker(
            store,
            {"index": hang, "expire": quick},
            clock=mem._store._runtime.clock,
            owner="w",
            random=Random(1),
            apart=("index",),
        )
        alice = mem.scope(user="alice")
        worker.start()
        try:
            async with asyncio.timeout(60):
                await store.write(alice.scope, lambda tx: tx.put_due("index", "vectors", tx.now))
                await hangs.wait()
                await store.write(alice.scope, lambda tx: tx.put_due("expire", "mem_x", tx.now))
                await done.wait()
        finally:
            await worker.stop()


@pytest.mark.parametrize("kind", ["index", "alike"])
async def test_a_slow_embedding_loses_no_lease_and_nothing_is_done_twice(kind: str) -> None:
    """Ten users are due and each takes 50 s: whoever looks for work meanwhile shares it and repeats none."""
    clock = FakeClock()
    async with AsyncMemhold.open("memory://", worker=False, embedding="none", clock=clock) as mem:
        store = mem._store._runtime.store
        names = [f"u{number}" for number in range(10)]
        for name in names:
            await store.write(mem.scope(user=name).scope, lambda tx: tx.put_due(kind, "vectors", tx.now))
        did: dict[str, list[str | None]] = {"one": [], "other": []}
        lost: list[bool] = []

        def worker(owner: str) -> Worker:
            async def slow(lease: Lease) -> None:
                did[owner].append(lease.due.user)
                if owner == "one":
                    await clock.elapse(50)
                    if len(did["one"]) == 2:
                        await other.round()
                lost.append(not await store.upkeep.renew(lease, 60.0))

            return Worker(store, {kind: slow}, clock=clock, owner=owner, random=Random(1), apart=(kind,))

        one, other = worker("one"), worker("other")
        await one.round()
        assert sorted(map(str, did["one"] + did["other"])) == sorted(names)
        assert did["other"], "the other one found nothing to do"
        assert not any(lost)


async def test_one_batch_that_takes_longer_than_the_lease_keeps_it() -> None:
    """The lease is renewed while the embedding is still at its first batch."""
    clock = FakeClock()
    async with AsyncMemhold.open("memory://", worker=False, embedding="none", clock=clock) as mem:
        store = mem._store._runtime.store
        await store.write(mem.scope(user="alice").scope, lambda tx: tx.put_due("index", "vectors", tx.now))
        taken: list[int] = []

        async def slow(_: Lease) -> None:
            for _ in range(5):
                await clock.elapse(50)
                claimed = await store.upkeep.claim(owner="thief", kinds=("index",), limit=16, seconds=60.0)
                taken.append(len(claimed))

        worker = Worker(store, {"index": slow}, clock=clock, owner="w", random=Random(1), apart=("index",))
        outcome = await worker.round()
        assert (outcome.done, taken) == (1, [0] * 5)


async def test_one_failure_is_told_once_whatever_the_other_lanes_find(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as mem:
        store, looks = mem._store._runtime.store, {"quick": 0, "apart": 0}
        claim, fails = store.upkeep.claim, True

        async def look(**arguments: Any) -> Any:
            (kind,) = arguments["kinds"]
            looks[kind] += 1
            if fails and kind == "quick":
                raise StoreError("gone")
            return await claim(**arguments)

        async def until_each_looked_again() -> None:
            for kind, before in tuple(looks.items()):
                while looks[kind] == before:
                    worker.wake()
                    await asyncio.sleep(0)

        monkeypatch.setattr(store.upkeep, "claim", look)
        steps = dict.fromkeys(looks, None)
        worker = Worker(store, steps, clock=FakeClock(), owner="w", random=Random(1), apart=("apart",))
        worker.start()
        for _ in range(5):
            await until_each_looked_again()
        assert caplog.text.count("looking for work failed with StoreError") == 1
        fails = False
        await until_each_looked_again()
        await until_each_looked_again()
        fails = True
        await until_each_looked_again()
        await until_each_looked_again()
        await worker.stop()
        assert caplog.text.count("looking for work failed with StoreError") == 2, "it was over, and came again"


def test_an_end_of_the_process_without_a_close_is_no_noise(tmp_path: Path) -> None:
    """The loop ends under the worker, or the file goes away: nothing is said, or it is said once."""
    code = (
        "import shutil, sys, time\n"
        "from memhold import Memhold\n"
        "mem = Memhold.open(sys.argv[1] + '/memory.db', embedding='none')\n"
        "mem.scope(user='alice').remember('a note')\n"
        "if sys.argv[2] == 'gone':\n"
        "    shutil.rmtree(sys.argv[1])\n"
        "    mem._core._store._runtime.worker._longest = 0.01\n"
        "    for _ in range(30): mem._core._store._runtime.worker.wake(); time.sleep(0.01)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for what, most in (("there", 0), ("gone", 1)):
        folder = tmp_path / what
        done = subprocess.run(
            [sys.executable, "-c", code, str(folder), what], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stderr.count("looking for work failed") <= most, done.stderr
