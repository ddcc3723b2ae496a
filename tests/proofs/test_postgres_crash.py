"""SIGKILL of a process, and of the database server, under load: acknowledged is a subset of present, nothing is twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from tests.postgres_server import Databases, Server
from tests.proofs.ledger import check_acknowledged, check_whole

CHILD = Path(__file__).with_name("postgres_child.py")
ROUNDS = 10


class Child:
    """A running child and what it acknowledged."""

    def __init__(self, url: str, seed: int, rounds: int = ROUNDS) -> None:
        self.lines: list[list[str]] = []
        self.changed = threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, str(CHILD), url, str(rounds), str(seed)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            # A line that was cut in the middle was not acknowledged.
            if line.endswith("\n"):
                with self.changed:
                    self.lines.append(line.split())
                    self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    def wait_for(self, count: int) -> None:
        with self.changed:
            self.changed.wait_for(lambda: len(self.lines) >= count or self.process.poll() is not None, timeout=60)

    def end(self) -> int:
        code = self.process.wait(120)
        self._reader.join(60)
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()
        assert code in {0, -9}, said
        return code

    @property
    def acknowledged(self) -> dict[str, list[str]]:
        return {line[1]: line[2:] for line in self.lines if line != ["done"]}


@pytest.mark.proof
def test_acknowledged_writes_survive_a_kill_of_the_process(
    runs: Callable[[int, int], range], databases: Databases
) -> None:
    killed = 0
    for seed in runs(2, 100):
        url = databases.store()
        child = Child(url, seed)
        child.wait_for(Random(seed).randrange(1, 4 * ROUNDS - 5))
        os.kill(child.process.pid, signal.SIGKILL)
        killed += child.end() == -9
        first = child.acknowledged
        check_acknowledged([item for ids in first.values() for item in ids], check_whole(url))
        # Going on where it stopped: the same keys write nothing twice.
        again = Child(url, seed)
        assert again.end() == 0
        second = again.acknowledged
        check_acknowledged([item for ids in second.values() for item in ids], check_whole(url))
        assert all(second[mark] == ids for mark, ids in first.items())
    assert killed > 0


@pytest.fixture
def durable() -> Iterator[Databases]:
    """A server that syncs, as one must that is to be killed."""
    server = Server(settings={"fsync": "on", "full_page_writes": "on"})
    try:
        yield Databases(server)
    finally:
        server.stop()


@pytest.mark.proof
def test_a_server_that_crashes_under_load_loses_nothing_that_was_acknowledged(
    runs: Callable[[int, int], range], durable: Databases
) -> None:
    for seed in runs(1, 50):
        url = durable.take()
        child = Child(url, seed, rounds=2 * ROUNDS)
        child.wait_for(Random(seed).randrange(5, 4 * ROUNDS))
        durable.server.kill()
        before = len(child.lines)
        durable.server.start()
        assert child.end() == 0, "the crash was ridden out"
        assert child.lines[-1] == ["done"]
        assert len(child.lines) > before
        check_acknowledged([item for ids in child.acknowledged.values() for item in ids], check_whole(url))
