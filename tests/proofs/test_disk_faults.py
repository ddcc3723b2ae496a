"""No room, and I/O errors at the nth operation: the error is clear, nothing acknowledged is lost, writing goes on."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable
from pathlib import Path
from random import Random
from unittest.mock import patch

import apsw
import pytest

from memhold import AsyncMemhold
from memhold.errors import Forgotten, NotFound, StoreError, StoreFull
from memhold.ports.stores import Clock
from memhold.storage.sqlite.store import SqliteStore
from memhold.storage.sqlite.upkeep import SqliteUpkeep
from memhold.testing import FakeClock
from memhold.testing.disk import FaultyDisk, Operation
from memhold.values.records import Scope
from memhold.verbs.local_scope import local_scope
from memhold.verbs.scope import AsyncScope
from memhold.wiring import Around, assemble
from memhold.wiring.settings import Settings
from memhold.wiring.system import SystemClock
from tests.proofs import test_compaction, test_consolidation
from tests.proofs.ledger import check_acknowledged, check_whole
from tests.proofs.test_residue import residue
from tests.proofs.test_scrub_kill import _never


class Consolidating(test_consolidation.Run):
    """Sessions with windows that are due."""

    async def fill(self) -> None:
        for turn in range(8):
            name = self.random.choice(test_consolidation.SESSIONS)
            added = await self.scope(name).add(test_consolidation.messages(self.random, f"t{turn}"))
            self.added[name] += added.ids
        for name in test_consolidation.SESSIONS:
            await self.scope(name).end_session()


class Compacting(test_compaction.Run):
    """Notes that are alike, and due to become fewer."""

    async def fill(self) -> None:
        for judge in self.judges:
            judge.rate = 0.0
        for _ in range(9):
            subject, says = self.random.choice(test_compaction.SUBJECTS), self.random.choice(test_compaction.SAYS)
            self.clock.advance(1)
            memory = (await self.alice.remember(f"{subject} {says} {self.random.randrange(100, 999)}")).memory
            self.told[memory.id] = memory.text


def opened(path: Path, disk: FaultyDisk, clock: Clock | None = None) -> tuple[SqliteStore, AsyncScope]:
    clock = clock or SystemClock()
    store = SqliteStore(str(path), clock=clock, vfs=disk.name)
    runtime = assemble(store, Around(clock=clock, settings=Settings(worker=False)))
    return store, local_scope(runtime, Scope(user="alice", session="s"))


async def test_a_full_disk_is_said_and_got_over(tmp_path: Path) -> None:
    path = tmp_path / "full.db"
    disk = FaultyDisk(volatile=False)
    store, scope = opened(path, disk)
    acknowledged = list((await scope.add([{"role": "user", "content": "before"}])).ids)
    disk.room = 40_000

    async def fill() -> None:
        for turn in range(30):
            acknowledged.extend((await scope.add([{"role": "user", "content": f"{turn} " + "x" * 2000}])).ids)

    with pytest.raises(StoreFull, match="make room"):
        await fill()
    disk.room = None
    acknowledged += (await scope.add([{"role": "user", "content": "there is room again"}])).ids
    assert (await scope.recall("room again")).hits[0].text == "there is room again"
    await store.close()
    check_acknowledged(acknowledged, check_whole(path))


async def test_a_disk_that_says_only_at_the_sync_that_it_is_full(tmp_path: Path) -> None:
    full: list[bool] = []

    def on(operation: Operation, _: int) -> None:
        if full and operation == "sync":
            raise apsw.IOError("no room to sync")

    class Late(FaultyDisk):
        def xGetLastError(self) -> tuple[int, str]:  # noqa: N802 - SQLite's name
            return (errno.ENOSPC if full else 0), ""

    store, scope = opened(tmp_path / "late.db", Late(on=on, volatile=False))
    full.append(True)
    with pytest.raises(StoreFull, match="make room"):
        await scope.add([{"role": "user", "content": "there is no room"}])
    full.clear()
    assert (await scope.add([{"role": "user", "content": "there is room again"}])).ids
    await store.close()


@pytest.mark.proof
async def test_an_io_error_at_the_nth_operation(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    failed = 0
    for point in runs(24, 500):
        path = tmp_path / f"{point}.db"
        first: list[int] = []

        def on(operation: Operation, count: int, point: int = point, first: list[int] = first) -> None:
            if first and operation in {"write", "sync"} and first[0] + point <= count < first[0] + point + 2:
                raise apsw.IOError("the disk says no")

        disk = FaultyDisk(on=on, volatile=False)
        store, scope = opened(path, disk)
        first.append(disk.operations)
        acknowledged: list[str] = []
        for turn in range(30):
            try:
                acknowledged += (await scope.add([{"role": "user", "content": f"turn {turn}"}])).ids
            except StoreError:
                failed += 1
        acknowledged += (await scope.add([{"role": "user", "content": "afterwards"}])).ids
        await store.close()
        check_acknowledged(acknowledged, check_whole(path))
    assert failed > 0


APPLIES = {"consolidation": Consolidating, "compaction": Compacting}
FAULTS = ("EIO", "ENOSPC")


def _arm(disk: FaultyDisk, how: str, random: Random, most: int) -> Callable[[], bool]:
    """Have the disk fail from some operation on, for a while; gives whether it has."""
    failed: list[int] = []
    first = disk.operations + random.randrange(most)
    last = first + random.choice((1, 2, 5, 1000))

    def on(operation: Operation, count: int) -> None:
        if operation in {"write", "sync", "truncate"} and first <= count < last:
            failed.append(count)
            raise apsw.IOError("the disk says no") if how == "EIO" else apsw.FullError("no room")

    disk.on = on
    return lambda: bool(failed)


@pytest.mark.proof
@pytest.mark.parametrize("how", FAULTS)
@pytest.mark.parametrize("what", APPLIES)
async def test_a_disk_that_fails_in_an_apply(
    tmp_path: Path, runs: Callable[[int, int], range], what: str, how: str
) -> None:
    """What was written stands as it was or as it became, and once the disk is well all of it is done."""
    failed = 0
    for seed in runs(3, 60):
        path, clock, disk = tmp_path / f"{seed}.db", FakeClock(), FaultyDisk(volatile=False)
        store = SqliteStore(str(path), clock=clock, vfs=disk.name)
        run = APPLIES[what](seed, store, clock)
        await run.fill()
        has_failed = _arm(disk, how, Random(seed), 40)
        for runtime in run.runtimes * 2:
            with contextlib.suppress(StoreError):
                await runtime.worker.round()
            clock.advance(70)
        failed += has_failed()
        disk.on = None
        await run.check()
        await run.recover()
        await store.close()
        check_whole(path)
    assert failed > 0


@pytest.mark.proof
@pytest.mark.parametrize("how", FAULTS)
async def test_a_disk_that_fails_in_a_scrub(tmp_path: Path, runs: Callable[[int, int], range], how: str) -> None:
    """A forget is refused or kept, and once the disk is well its scrub leaves no byte of what was forgotten."""
    failed = 0
    for seed in runs(4, 100):
        folder, random = tmp_path / str(seed), Random(seed)
        folder.mkdir()
        clock, disk = FakeClock(), FaultyDisk(volatile=False)
        store, scope = opened(folder / "memory.db", disk, clock)
        marks = [f"M{random.getrandbits(96):024x}" for _ in range(24)]
        said = [
            (
                await scope.add([{"role": "user", "content": f"{mark} {'x' * random.choice((10, 900, 3000))} {mark}"}])
            ).ids
            for mark in marks
        ]
        gone = [at for at in range(24) if random.random() < 0.5 or not at]
        worker, left = scope._tx.runtime.worker, list(gone)
        if seed % 2:  # the scrub alone meets the disk
            with patch.object(SqliteUpkeep, "scrub", _never):
                while left:
                    await scope.forget(said[left.pop()][0], wait=0)
        has_failed = _arm(disk, how, random, 20 if seed % 2 else 60)
        for at in gone:
            with contextlib.suppress(StoreError, Forgotten, NotFound):
                await scope.forget(said[at][0], wait=0)
                left = [one for one in left if one != at]
            with contextlib.suppress(StoreError):
                await worker.round()
            clock.advance(70)
        failed += has_failed()
        disk.on = None
        for at in left:
            with contextlib.suppress(Forgotten, NotFound):
                await scope.forget(said[at][0], wait=0)
        clock.advance(120)  # what was held when the disk failed falls due
        assert await worker.settle()
        assert residue(folder, [marks[at] for at in gone]) == [], f"seed {seed}"
        assert [one.text[:25] for one in await scope.messages()] == [m for at, m in enumerate(marks) if at not in gone]
        await store.close()
        async with AsyncMemhold.open(str(folder / "memory.db"), worker=False, embedding="none") as mem:
            wrong = [one for one in await mem.admin.doctor() if one.severity == "wrong" and one.check != "modes"]
            assert wrong == [], f"seed {seed}"
    assert failed > 0
