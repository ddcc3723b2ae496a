"""Leases of processes that have ended: on one machine they are let go at once, and those of the living never are."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from memhold import AsyncMemhold
from memhold.ports.processes import is_gone, this_process
from memhold.storage.sqlite.store import SqliteStore
from memhold.testing.clock import FakeClock
from memhold.values.records import Scope
from memhold.wiring.system import SystemClock

ALICE = Scope(user="alice")
NAMED = "from memhold.ports.processes import this_process; print(this_process(), flush=True)"
linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process has no name that tells it")


def ended() -> str:
    """The name of a process that has ended."""
    return subprocess.run([sys.executable, "-c", NAMED], capture_output=True, text=True, check=True).stdout.strip()


@linux
def test_who_has_ended_is_known_and_nobody_else_is_said_to_have() -> None:
    own = this_process()
    assert not is_gone(own)
    assert is_gone(ended())
    host, boot, space, number, begun = own.split("/")
    assert is_gone("/".join((host, boot, space, number, f"{begun}1"))), "the number was given again"
    for other in (
        f"{host}/another-boot/{space}/4194305/{begun}",
        f"{host}/{boot}/1/4194305/{begun}",
        f"{host}/4194305",
        f"{host}:1:2",
        f"{host}/{boot}/{space}/-1/{begun}",
        f"{host}/{boot}/{space}/0/x",
        "",
    ):
        assert not is_gone(other), other


@linux
def test_a_process_that_nobody_has_asked_for_its_end_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", f"{NAMED}; input()"], stdin=-1, stdout=-1, text=True)
    assert child.stdout is not None
    try:
        name = child.stdout.readline().strip()
        assert not is_gone(name)
        child.kill()
        while not is_gone(name):
            pass
    finally:
        child.communicate()


@linux
async def test_the_lease_of_a_killed_process_is_not_waited_for(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "memory.db"), clock=FakeClock())
    try:
        await store.write(ALICE, lambda tx: tx.put_due("index", "a", tx.now))
        gone, here = f"{ended()}:0:compact", f"{this_process()}:0"
        (lost,) = await store.upkeep.claim(owner=gone, kinds=["index"], limit=9, seconds=60)
        (taken,) = await store.upkeep.claim(owner=here, kinds=["index"], limit=9, seconds=60)
        assert taken.due.ref == "a"
        assert not await store.upkeep.finish(lost), "who had it before has it no more"
        assert not await store.upkeep.claim(owner=f"{this_process()}:1", kinds=["index"], limit=9, seconds=60)
        assert await store.upkeep.finish(taken)
    finally:
        await store.close()


@linux
async def test_settle_goes_on_where_a_killed_process_was(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with AsyncMemhold.open(path, worker=False) as mem:
        await mem.scope(user="alice").add([{"role": "user", "content": "I live in Porto"}])
    store = SqliteStore(str(path), clock=SystemClock())
    try:
        assert await store.upkeep.claim(owner=f"{ended()}:0", kinds=["index"], limit=9, seconds=10**7)
    finally:
        await store.close()
    async with AsyncMemhold.open(path, worker=False) as mem:
        async with asyncio.timeout(60):  # the lease lasts for months
            assert await mem.settle(timeout=50)
