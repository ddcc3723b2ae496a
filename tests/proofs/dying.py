"""Opening a store in a process that is to die: at its nth disk operation, or at its nth statement to PostgreSQL."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
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
    done = subprocess.run(
        [sys.executable, str(child), place, str(dies_at), str(seed), *more],
        capture_output=True, text=True, timeout=120, check=False, cwd=ROOT, env=environment(),
    )  # fmt: skip
    assert done.returncode in {0, -9}, done.stderr
    # A line that was cut in the middle was not acknowledged.
    return done.returncode, done.stdout[: done.stdout.rfind("\n") + 1]
