"""No room, and I/O errors at the nth operation: the error is clear, nothing acknowledged is lost, writing goes on."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from memhold.errors import StoreError, StoreFull
from memhold.storage.sqlite.store import SqliteStore
from memhold.testing.disk import FaultyDisk, Operation
from memhold.values.records import Scope
from memhold.verbs.local_scope import LocalScope
from memhold.verbs.scope import AsyncScope
from memhold.wiring import assemble
from memhold.wiring.settings import Settings
from memhold.wiring.system import SystemClock
from tests.proofs.ledger import check_acknowledged, check_whole


def opened(path: Path, disk: FaultyDisk) -> tuple[SqliteStore, AsyncScope]:
    clock = SystemClock()
    store = SqliteStore(str(path), clock=clock, vfs=disk.name)
    runtime = assemble(store, clock=clock, settings=Settings(worker=False))
    return store, LocalScope(runtime, Scope(user="alice", session="s"))


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
