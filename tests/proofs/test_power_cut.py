"""A power cut that drops or tears what was not synced: every acknowledged commit survives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import pytest

from memhold.errors import StoreError
from memhold.storage.sqlite import connection as sqlite_connection
from memhold.storage.sqlite.store import SqliteStore
from memhold.testing.disk import FaultyDisk
from memhold.values.records import Scope
from memhold.verbs.local_scope import local_scope
from memhold.wiring import Around, assemble
from memhold.wiring.settings import Settings
from memhold.wiring.system import SystemClock
from tests.proofs.ledger import check_acknowledged, check_whole

WRITES = 24


async def run_until_cut(path: Path, seed: int) -> list[str]:
    """Write from four tasks, cut the power after a while; returns what was acknowledged before."""
    random = Random(seed)
    disk = FaultyDisk()
    clock = SystemClock()
    store = SqliteStore(str(path), clock=clock, vfs=disk.name)
    runtime = assemble(store, Around(clock=clock, settings=Settings(worker=False)))
    acknowledged: list[str] = []
    left = random.randrange(2, WRITES)

    async def writer(number: int) -> None:
        nonlocal left
        scope = local_scope(runtime, Scope(user=f"u{number % 2}", session=f"s{number}"))
        while not disk.dead:
            try:
                if random.random() < 0.7:
                    receipt = await scope.add([{"role": "user", "content": f"writer {number} says {left}"}])
                else:
                    receipt = (await scope.remember(f"note {number} {left}")).receipt
            except (StoreError, apsw.Error):
                return
            acknowledged.extend(receipt.ids)
            left -= 1
            if left <= 0 and not disk.dead:
                disk.cut_power(random)

    await asyncio.gather(*(writer(number) for number in range(4)))
    await store.close()
    return acknowledged


@pytest.mark.proof
async def test_acknowledged_writes_survive_a_power_cut(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    for seed in runs(8, 1000):
        path = tmp_path / f"{seed}.db"
        acknowledged = await run_until_cut(path, seed)
        check_acknowledged(acknowledged, check_whole(path))


async def test_the_same_proof_fails_with_normal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can fail: without the sync at each commit, acknowledged commits are gone."""
    weak = sqlite_connection._PRAGMAS.replace("synchronous = FULL", "synchronous = NORMAL")
    assert weak != sqlite_connection._PRAGMAS
    monkeypatch.setattr(sqlite_connection, "_PRAGMAS", weak)
    lost = 0
    for seed in range(8):
        path = tmp_path / f"{seed}.db"
        acknowledged = await run_until_cut(path, seed)
        lost += len(set(acknowledged) - check_whole(path))
    assert lost > 0
