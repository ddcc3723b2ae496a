"""Opening a store in a process that is to die: at its nth disk operation, or at its nth statement to PostgreSQL."""

from __future__ import annotations

import atexit
import functools
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import psycopg

from memhold.ports.stores import Clock, Store
from memhold.storage.postgres.connection import parsed
from memhold.storage.postgres.store import PostgresStore
from memhold.storage.sqlite.store import SqliteStore
from memhold.testing.disk import FaultyDisk
from tests.proofs.children import ROOT, environment

DISKS: list[FaultyDisk] = []
"""Kept for as long as the process lives: a store names its disk, and does not hold it."""


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def open_dying(place: str, clock: Clock, *, dies_at: int) -> Store:
    """Open a store; the process ends itself at the operation of that number, from the first one of opening."""
    if place.startswith("postgresql:"):
        _count_statements(dies_at)
        return await PostgresStore.open(parsed(place), clock=clock)

    def on(operation: str, count: int) -> None:
        if operation in {"write", "sync"} and count >= dies_at:
            _die()

    DISKS.append(FaultyDisk(on=on, volatile=False))
    return SqliteStore(place, clock=clock, vfs=DISKS[-1].name)


def _count_statements(dies_at: int) -> None:
    """Die before the statement of an even number is sent, or when one of an odd number was and before its caller goes on."""
    sent, execute = itertools.count(), psycopg.Connection.execute

    def counted(connection: Any, *args: Any, **options: Any) -> Any:
        number = next(sent)
        if number >= dies_at and dies_at % 2 == 0:
            _die()
        answer = execute(connection, *args, **options)
        if number >= dies_at:
            _die()
        return answer

    psycopg.Connection.execute = counted  # type: ignore[method-assign]


def run_dying(child: Path, place: str, dies_at: int, seed: int, *more: str) -> tuple[int, str]:
    """Run a child until it ends or dies: how it ended, and the whole lines that it printed."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        code = _nursery(child).run(arguments=[place, str(dies_at), str(seed), *more], out=str(out), err=str(err))
        assert code in {0, -9}, err.read_text("utf-8")
        printed = out.read_text("utf-8")
    # A line that was cut in the middle was not acknowledged.
    return code, printed[: printed.rfind("\n") + 1]


class _Nursery:
    """A process that forks the children of one kind; it ends with this one."""

    def __init__(self, child: Path) -> None:
        self._one_at_a_time = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("nursery.py")), str(child)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment(),
        )  # fmt: skip
        atexit.register(self._end)

    def run(self, **asked: object) -> int:
        """Have one child run; how it ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._one_at_a_time:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline())

    def _end(self) -> None:
        self._process.communicate()


_nursery = functools.cache(_Nursery)
