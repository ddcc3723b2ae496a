"""Processes under load on one store: nothing acknowledged is lost, sequences are dense, one value is current."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memhold import AsyncMemhold
from tests.postgres_server import Databases
from tests.proofs.ledger import check_acknowledged, check_whole

CHILD = Path(__file__).with_name("two_processes_child.py")
PROCESSES = 3
ROUNDS = 15


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_no_update_is_lost_between_processes(
    tmp_path: Path, runs: Callable[[int, int], range], databases: Databases, kind: str
) -> None:
    for seed in runs(1, 20):
        path = str(tmp_path / f"{seed}.db") if kind == "sqlite" else databases.store()
        running = [
            subprocess.Popen(  # noqa: ASYNC220 - the processes run beside each other, and are waited for
                [sys.executable, str(CHILD), path, f"p{n}", str(ROUNDS)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for n in range(PROCESSES)
        ]
        answers = [one.communicate(timeout=120) for one in running]
        assert [one.returncode for one in running] == [0] * PROCESSES, answers
        lines = [line.split() for out, _ in answers for line in out.splitlines()]
        check_acknowledged([item for line in lines for item in line[1:]], check_whole(path))
        async with AsyncMemhold.open(path, worker=False) as mem:
            alice = mem.scope(user="alice", session="shared")
            messages = await alice.messages()
            assert [message.seq for message in messages] == list(range(1, PROCESSES * ROUNDS * 2 * 2 + 1))
            order = {message.id: message.seq for message in messages}
            batches = [line[1:] for line in lines if line[0] == "message"]
            assert all(order[second] == order[first] + 1 for first, second in batches)
            told = (await alice.list(["fact"], None, limit=1000)).items
            assert len(told) == PROCESSES * ROUNDS
            [current] = [memory for memory in told if memory.state == "active"]
            assert all(memory.superseded_by for memory in told if memory is not current)
            [shared] = [memory for memory in (await alice.list(["note"])).items if memory.text.startswith("the same")]
            assert set(shared.topics) == {f"p{n} {turn}" for n in range(PROCESSES) for turn in range(5)}
            story = await alice.history(current.id)
            assert len(story) == PROCESSES * ROUNDS
            recorded = [change.at for change in story]
            assert recorded == sorted(recorded)
            assert (await alice.recall("favorite number", kinds=["fact"])).total == 1
