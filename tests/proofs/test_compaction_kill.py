"""SIGKILL at the nth disk operation of a process that compacts: the sources are there, or what they became is."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from holdfast.errors import HoldfastError, NotFound
from holdfast.pipeline.rollup.apply import declined, history_of
from holdfast.pipeline.rollup.plan import planned
from holdfast.storage.inmemory.store import InMemoryStore
from holdfast.storage.sqlite.store import SqliteStore
from holdfast.system import SystemClock, TimeOrderedIds
from holdfast.testing import FakeClock
from tests.compaction.test_rollups import rollups, sound, summary
from tests.proofs.ledger import check_whole
from tests.proofs.test_compaction import SAYS, SUBJECTS, Run

CHILD = Path(__file__).with_name("compaction_child.py")
ROOT = Path(__file__).parents[2]
LAST_POINT = 700


@pytest.mark.proof
async def test_a_kill_at_any_step_of_a_merge(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    killed = merges = 0
    for seed in runs(4, 100):
        path = tmp_path / f"{seed}.db"
        dies_at = Random(seed).randrange(20, LAST_POINT)
        done = subprocess.run(  # noqa: ASYNC221 - nothing else runs on this loop
            [sys.executable, str(CHILD), str(path), str(dies_at), str(seed), "notes"],
            capture_output=True, text=True, timeout=900, check=False, cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])},
        )  # fmt: skip
        assert done.returncode in {0, -9}, done.stderr
        killed += done.returncode == -9
        if not path.exists() or path.stat().st_size == 0:
            continue
        lines = done.stdout[: done.stdout.rfind("\n") + 1].splitlines()
        if not lines:
            continue  # it died while the file was made
        check_whole(path)
        clock = FakeClock(SystemClock().now())
        clock.advance(120)
        run = Run(seed, SqliteStore(str(path), clock=clock), clock)
        run.told = dict(line.split("\t") for line in lines)
        # A note may have been committed and not acknowledged: then it stands for nothing else, and is there itself.
        known = set(run.told)
        for memory in (await run.alice.list(states=None, limit=1000)).items:
            if "merged" not in memory.metadata and memory.id not in known:
                run.told[memory.id] = memory.text
        await run.check()
        await run.recover()
        merges += await run.alice._read(lambda tx: sum(change.verb == "compact" for change in tx.changes()))
        await run.runtimes[0].store.close()
    assert killed > 0
    assert merges > 0


@pytest.mark.proof
async def test_a_kill_at_any_step_of_a_rollup(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    killed = made = 0
    for seed in runs(4, 60):
        path = tmp_path / f"{seed}.db"
        dies_at = Random(seed).randrange(20, LAST_POINT)
        done = subprocess.run(  # noqa: ASYNC221 - nothing else runs on this loop
            [sys.executable, str(CHILD), str(path), str(dies_at), str(seed), "summaries"],
            capture_output=True, text=True, timeout=900, check=False, cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])},
        )  # fmt: skip
        assert done.returncode in {0, -9}, done.stderr
        killed += done.returncode == -9
        lines = done.stdout[: done.stdout.rfind("\n") + 1].splitlines()
        if not lines:
            continue  # it died while the file was made
        check_whole(path)
        clock = FakeClock(SystemClock().now())
        clock.advance(120)
        run = Run(seed, SqliteStore(str(path), clock=clock), clock)
        there = {one.id for one in (await run.alice.list(kinds=["summary"], limit=1000)).items}
        assert {line.split("\t")[0] for line in lines} <= there, "no summary goes for its roll-up"
        await sound(run.alice)
        made += await settled_rollups(run)
        await run.runtimes[0].store.close()
    assert killed > 0
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
    for seed in runs(20, 300):
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
                every = await run.alice._read(
                    lambda tx: [c.id for c in tx.changes() if c.verb in {"roll_up", "consolidate"}]
                )
                with contextlib.suppress(HoldfastError):
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
