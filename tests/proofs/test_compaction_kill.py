"""SIGKILL at the nth disk operation of a process that compacts: the sources are there, or what they became is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from holdfast.storage.sqlite.store import SqliteStore
from holdfast.system import SystemClock
from holdfast.testing import FakeClock
from tests.proofs.ledger import check_whole
from tests.proofs.test_compaction import Run

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
            [sys.executable, str(CHILD), str(path), str(dies_at), str(seed)],
            capture_output=True, text=True, timeout=120, check=False, cwd=ROOT,
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
