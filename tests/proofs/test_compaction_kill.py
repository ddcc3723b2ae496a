"""SIGKILL at the nth disk operation, or statement, of a process that compacts: the sources are there, or what they became is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from memhold.compact.rollup.apply import declined, history_of
from memhold.compact.rollup.plan import planned
from memhold.errors import MemholdError, NotFound
from memhold.ports.stores import Store
from memhold.storage.inmemory.store import InMemoryStore
from memhold.storage.postgres.connection import parsed
from memhold.storage.postgres.store import PostgresStore
from memhold.storage.sqlite.store import SqliteStore
from memhold.testing import FakeClock
from memhold.wiring.system import TimeOrderedIds
from tests.compaction.test_rollups import rollups, sound, summary
from tests.postgres_server import Databases
from tests.proofs.dying import run_dying
from tests.proofs.ledger import check_whole
from tests.proofs.test_compaction import SAYS, SUBJECTS, Run
from tests.proofs.test_consolidation_kill import later

CHILD = Path(__file__).with_name("compaction_child.py")
LAST_POINT = 700
LAST_STATEMENT = 4000
"""A run on PostgreSQL without a kill sends about this many."""


async def killed_runs(tmp_path: Path, seeds: range, what: str) -> AsyncIterator[tuple[int, Store, FakeClock, str]]:
    """For each seed a file whose process died somewhere, reopened and whole: the seed, the store, its clock, what was said.

    Raises:
        AssertionError: no process was killed, or a file is not whole.
    """
    killed = 0
    for seed in seeds:
        path = tmp_path / f"{seed}.db"
        dies_at = Random(seed).randrange(20, LAST_POINT)
        code, out = await asyncio.to_thread(run_dying, CHILD, str(path), dies_at, seed, what)
        killed += code == -9
        if not out:
            continue  # it died while the file was made
        check_whole(path)
        clock = later()
        store = SqliteStore(str(path), clock=clock)
        yield seed, store, clock, out
        await store.close()
    assert killed > 0


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
    return await run.alice._tx.read(lambda tx: sum(change.verb == "compact" for change in tx.changes()))


@pytest.mark.proof
async def test_a_kill_at_any_step_of_a_merge(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    merges = 0
    async for seed, store, clock, out in killed_runs(tmp_path, runs(2, 100), "notes"):
        merges += await resumes(seed, store, clock, out)
    assert merges > 0


@pytest.mark.proof
async def test_a_kill_at_any_statement_of_a_merge(databases: Databases, runs: Callable[[int, int], range]) -> None:
    killed = merges = 0
    for seed in runs(2, 100):
        url = databases.store()
        dies_at = Random(seed).randrange(1, LAST_STATEMENT)
        code, out = await asyncio.to_thread(run_dying, CHILD, url, dies_at, seed, "notes")
        killed += code == -9
        clock = later()
        store = await PostgresStore.open(parsed(url), clock=clock)
        check_whole(url)
        merges += await resumes(seed, store, clock, out)
        await store.close()
        databases.give_back(url)
    assert killed > 0
    assert merges > 0


@pytest.mark.proof
async def test_a_kill_at_any_step_of_a_rollup(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    made = 0
    async for seed, store, clock, out in killed_runs(tmp_path, runs(2, 60), "summaries"):
        run = Run(seed, store, clock)
        there = {one.id for one in (await run.alice.list(kinds=["summary"], limit=1000)).items}
        assert {line.split("\t")[0] for line in out.splitlines()} <= there, "no summary goes for its roll-up"
        await sound(run.alice)
        made += await settled_rollups(run)
    assert made > 0


async def settled_rollups(run: Run) -> int:
    """With models that answer nothing is left to be made, and what is made is made once; how many there are."""
    for judge in run.judges:
        judge.rate = 0.0
    for _ in range(40):
        run.clock.advance(1000)
        await run.runtimes[0].worker.round()
    await sound(run.alice)
    plan = await run.runtimes[0].store.read(
        run.alice.scope, lambda tx: planned(history_of(tx), tx.now, lambda parts: declined(tx, parts))
    )
    assert not plan.wanted
    assert not plan.orphans
    return len(await rollups(run.alice))


@pytest.mark.proof
async def test_seeded_runs_of_rollups(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    """Late windows, forgets, hides and undos while two workers roll up and are killed: never one that is stale or twice."""
    made = kills = 0
    for seed in runs(10, 300):
        clock = FakeClock(datetime(2026, 3, 30, tzinfo=UTC))
        store = (
            InMemoryStore(clock=clock, ids=TimeOrderedIds())
            if seed % 2
            else SqliteStore(str(tmp_path / f"r{seed}.db"), clock=clock)
        )
        run = Run(seed, store, clock)
        told: list[str] = []
        changes: list[str] = []
        for _ in range(12):
            for _ in range(run.random.randrange(4)):
                at = clock.now() - timedelta(days=3 + run.random.randrange(12), hours=run.random.randrange(9))
                text = f"{run.random.choice(SUBJECTS)} {run.random.choice(SAYS)} {run.random.randrange(100, 999)}"
                told += (await summary(run.alice, text, at)).sources
            what = run.random.choice(("forget", "hide", "undo", "wait"))
            if what in {"forget", "hide"} and told:
                with contextlib.suppress(NotFound):
                    gone = await run.alice.forget(
                        told.pop(run.random.randrange(len(told))), hard=what == "forget", wait=0
                    )
                    changes += [gone.change_id] if what == "hide" else []
            elif what == "undo":
                every = await run.alice._tx.read(
                    lambda tx: [c.id for c in tx.changes() if c.verb in {"roll_up", "consolidate"}]
                )
                with contextlib.suppress(MemholdError):
                    changes += (await run.alice.undo(run.random.choice([*every, *changes]))).change_ids if every else ()
            clock.advance(run.random.choice((1, 70, 2000)))
            await sound(run.alice)
            await work(run)
            await sound(run.alice)
        kills += run.kills
        made += await settled_rollups(run)
        await store.close()
    print(f"{made} roll-ups stand, {kills} kills")
    assert made > 0
    assert kills > 0


async def work(run: Run) -> None:
    """Both workers at once, one of which may be killed between any two awaits."""
    tasks = [asyncio.create_task(runtime.worker.round()) for runtime in run.runtimes]
    for _ in range(run.random.randrange(60)):
        await asyncio.sleep(0)
    if run.random.random() < 0.5:
        tasks[0].cancel()
        run.kills += 1
    for task in tasks:
        with contextlib.suppress(asyncio.CancelledError):
            await task
