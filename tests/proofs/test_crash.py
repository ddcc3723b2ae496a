"""SIGKILL at the nth disk operation of a process with concurrent writers: acknowledged is a subset of present."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.proofs.dying import run_dying
from tests.proofs.ledger import check_acknowledged, check_whole

CHILD = Path(__file__).with_name("crash_child.py")
LAST_POINT = 330
"""A run without a kill makes about this many disk operations after the file is there."""


def run_child(path: Path, dies_at: int, seed: int) -> tuple[int, list[list[str]]]:
    code, out = run_dying(CHILD, str(path), dies_at, seed)
    return code, [line.split() for line in out.splitlines()]


@pytest.mark.proof
def test_acknowledged_writes_survive_a_kill(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    killed = 0
    for seed in runs(6, 1000):
        path = tmp_path / f"{seed}.db"
        code, lines = run_child(path, Random(seed).randrange(1, LAST_POINT), seed)
        killed += code == -9
        if not path.exists() or path.stat().st_size == 0:
            assert not lines
            continue
        acknowledged = [item for line in lines for item in line[3:]]
        # A file whose tables were not yet committed holds nothing, and nothing was acknowledged.
        if lines:
            check_acknowledged(acknowledged, check_whole(path))
        # Going on where it stopped: the same keys write nothing twice.
        code, again = run_child(path, 10**9, seed)
        assert code == 0
        present = check_whole(path)
        check_acknowledged([*acknowledged, *(item for line in again for item in line[3:])], present)
        first = {line[2]: line[3:] for line in lines if line[0] == "add"}
        assert all(line[3:] == first.get(line[2], line[3:]) for line in again if line[0] == "add")
    assert killed > 0
