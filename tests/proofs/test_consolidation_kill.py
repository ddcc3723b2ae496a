"""SIGKILL at the nth disk operation of a process that consolidates: exactly one effect or none, and it goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import pytest

from holdfast.chains import ChainParts
from holdfast.providers.chain import Chain, Link
from holdfast.settings import Settings
from holdfast.storage.sqlite.store import SqliteStore
from holdfast.system import SystemClock
from holdfast.testing import FakeClock
from holdfast.testing.scripted import ScriptedChat
from tests.proofs.ledger import check_acknowledged, check_whole
from tests.proofs.test_consolidation import Run

CHILD = Path(__file__).with_name("consolidation_child.py")
ROOT = Path(__file__).parents[2]
LAST_POINT = 500
OPENED = 80
"""By this disk operation the tables are there."""


def has_tables(path: Path) -> bool:
    """Whether the first migration was committed before the process died."""
    connection = apsw.Connection(str(path))
    try:
        return bool(connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'message'").get)
    finally:
        connection.close()


class Resumed(Run):
    """The checks of a run, over a store that a killed process left."""

    def __init__(self, store, clock, added) -> None:
        from holdfast.wiring import assemble

        self.clock = clock
        self.models = []
        chain = Chain([Link(model=ScriptedChat(name="after"))], clock=clock, dice=Random(0))
        settings = Settings(worker=False)
        self.runtimes = [
            assemble(store, clock=clock, settings=settings, parts=ChainParts(chain=chain)) for _ in range(2)
        ]
        self.added = added


@pytest.mark.proof
async def test_a_killed_process_leaves_one_effect_or_none(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    killed = 0
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
        lines = [line.split() for line in done.stdout[: done.stdout.rfind("\n") + 1].splitlines()]
        if dies_at < OPENED and not has_tables(path):
            assert not lines, "killed while the file was made: nothing was acknowledged"
            continue
        present = check_whole(path)
        check_acknowledged([one for line in lines for one in line[1:]], present)
        clock = FakeClock(SystemClock().now())
        clock.advance(120)
        store = SqliteStore(str(path), clock=clock)
        run = Resumed(store, clock, {})
        # What was committed and not acknowledged may be there too: the journal itself is the list.
        for name in ("s1", "s2"):
            run.added[name] = [message.id for message in await run.scope(name).messages()]
        await run.check()
        await run.recover_in(("s1", "s2"))
        await store.close()
    assert killed > 0
