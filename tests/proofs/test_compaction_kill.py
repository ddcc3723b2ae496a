"""SIGKILL at the nth disk operation, or statement, of a process that compacts: the sources are there, or what they became is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from holdfast.ports import Store
from holdfast.storage.postgres.connection import parsed
from holdfast.storage.postgres.store import PostgresStore
from holdfast.storage.sqlite.store import SqliteStore
from holdfast.testing import FakeClock
from tests.postgres_server import Databases
from tests.proofs.dying import run_dying
from tests.proofs.ledger import check_whole
from tests.proofs.test_compaction import Run
from tests.proofs.test_consolidation_kill import later

CHILD = Path(__file__).with_name("compaction_child.py")
LAST_POINT = 700
LAST_STATEMENT = 4000
"""A run on PostgreSQL without a kill sends about this many."""


async def resumes(seed: int, store: Store, clock: FakeClock, out: str) -> int:
    """What a killed process left is whole, and comes to rest; how many merges there are."""
    run = Run(seed, store, clock)
    run.told = dict(line.split("\t") for line in out.splitlines())
    # A note may have been committed and not acknowledged: then it stands for nothing else, and is there itself.
    known = set(run.told)
    for memory in (await run.alice.list(states=None, limit=1000)).items:
        if "merged" not in memory.metadata and memory.id not in known:
            run.told[memory.id] = memory.text
    await run.check()
    await run.recover()
    merges = await run.alice._read(lambda tx: sum(change.verb == "compact" for change in tx.changes()))
    await store.close()
    return merges


@pytest.mark.proof
async def test_a_kill_at_any_step_of_a_merge(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    killed = merges = 0
    for seed in runs(4, 100):
        path = tmp_path / f"{seed}.db"
        dies_at = Random(seed).randrange(20, LAST_POINT)
        code, out = await asyncio.to_thread(run_dying, CHILD, str(path), dies_at, seed)
        killed += code == -9
        if not out:
            continue  # it died while the file was made
        check_whole(path)
        clock = later()
        merges += await resumes(seed, SqliteStore(str(path), clock=clock), clock, out)
    assert killed > 0
    assert merges > 0


@pytest.mark.proof
async def test_a_kill_at_any_statement_of_a_merge(databases: Databases, runs: Callable[[int, int], range]) -> None:
    killed = merges = 0
    for seed in runs(4, 100):
        url = databases.take()
        dies_at = Random(seed).randrange(1, LAST_STATEMENT)
        code, out = await asyncio.to_thread(run_dying, CHILD, url, dies_at, seed)
        killed += code == -9
        clock = later()
        store = await PostgresStore.open(parsed(url), clock=clock)
        check_whole(url)
        merges += await resumes(seed, store, clock, out)
        databases.give_back(url)
    assert killed > 0
    assert merges > 0
