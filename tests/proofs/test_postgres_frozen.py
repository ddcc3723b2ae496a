"""A process that is stopped (SIGSTOP) past its lease, or inside a transaction, and wakes: one effect, no lost update."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memhold.storage.postgres.connection import parsed
from memhold.storage.postgres.store import PostgresStore
from memhold.values.records import Scope
from memhold.wiring.system import SystemClock
from tests.postgres_server import Databases

CHILD = Path(__file__).with_name("frozen_child.py")
ALICE = Scope(user="alice")


class Frozen:
    """A child that holds something and is stopped, until it is woken."""

    def __init__(self, url: str, what: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(CHILD), url, what],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        held = self.process.stdout.readline().split()
        assert held[:1] == ["held"], self.process.stderr.read()
        self.token = int(held[1])
        os.kill(self.process.pid, signal.SIGSTOP)

    def wake(self) -> list[str]:
        os.kill(self.process.pid, signal.SIGCONT)
        out, err = self.process.communicate("go\n", timeout=60)
        assert self.process.returncode == 0, err
        return out.split()

    def kill(self) -> None:
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.communicate()


@pytest.mark.proof
async def test_a_holder_that_was_frozen_past_its_lease_changes_nothing(
    runs: Callable[[int, int], range], databases: Databases
) -> None:
    for _ in runs(1, 10):
        url = databases.store()
        await _frozen_holder(url)
        databases.give_back(url)


async def _frozen_holder(database: str) -> None:
    store = await PostgresStore.open(parsed(database), clock=SystemClock())
    await store.write(ALICE, lambda tx: tx.put_due("work", "one", tx.now))
    child = await asyncio.to_thread(Frozen, database, "lease")
    try:
        until = time.monotonic() + 120
        leases = []
        while not leases and time.monotonic() < until:
            leases = await store.upkeep.claim(owner="other", kinds=("work",), limit=1, seconds=60)
        [lease] = leases
        assert lease.token > child.token
        await store.write(ALICE, lambda tx: tx.put_due("effect", "other", tx.now))
        assert await asyncio.to_thread(child.wake) == ["woke", "False", "False", "False"]
        assert await store.upkeep.finish(lease)
        effects = [due.ref for due in await store.read(ALICE, lambda tx: tx.due())]
        assert effects == ["other"], "exactly one effect"
    finally:
        child.kill()
        await store.close()


@pytest.mark.proof
async def test_a_writer_that_was_frozen_holds_nobody_up_for_long(
    runs: Callable[[int, int], range], databases: Databases
) -> None:
    for _ in runs(1, 10):
        url = databases.store()
        await _frozen_writer(url)
        databases.give_back(url)


async def _frozen_writer(database: str) -> None:
    store = await PostgresStore.open(parsed(database), clock=SystemClock(), busy_timeout=120.0)
    child = await asyncio.to_thread(Frozen, database, "transaction")
    try:
        # Its transaction is ended for it after its own four seconds; were it not, this would be refused as busy.
        await store.write(ALICE, lambda tx: tx.put_due("effect", "other", tx.now))
        assert [due.ref for due in await store.read(ALICE, lambda tx: tx.due())] == ["other"]
        assert await asyncio.to_thread(child.wake) == ["woke", "2"], "its unit ran again, in a transaction of its own"
        refs = sorted(due.ref for due in await store.read(ALICE, lambda tx: tx.due()))
        assert refs == ["frozen", "other"]
    finally:
        child.kill()
        await store.close()
