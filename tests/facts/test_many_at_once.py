"""Many tellers on one key: everything else goes on, one value is current, and nothing is compared under a lock."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from memhold import AsyncMemhold, Memhold
from memhold.facts import matching as keying
from memhold.values.records import FactKey

WORDINGS = ("favorite food", "favourite food", "most favorite food")
BOUND = 60.0
"""Seconds after which a test is stuck; it takes a few."""


@pytest.mark.asyncio
async def test_two_hundred_tasks_on_one_key(memhold: AsyncMemhold) -> None:
    alice = memhold.scope(user="alice")

    async def tell(number: int) -> None:
        await alice.remember(attribute=WORDINGS[number % 3], value=f"dish {number}")

    async def others(number: int) -> None:
        bob = memhold.scope(user=f"bob {number}", session="s")
        await bob.add({"role": "user", "content": "hello"})
        await bob.remember(attribute="city", value="Porto")
        assert (await bob.recall("city")).total == 1
        assert (await alice.recall("food")).degraded == ()

    async with asyncio.timeout(BOUND):
        await asyncio.gather(*(tell(n) for n in range(200)), *(others(n) for n in range(20)))
    facts = (await alice.list(kinds=("fact",), states=None, limit=1000)).items
    assert len({memory.key for memory in facts}) == 1
    assert [memory.state for memory in facts].count("active") == 1
    assert {memory.value for memory in facts} == {f"dish {n}" for n in range(200)}


@pytest.mark.asyncio
async def test_a_comparison_that_hangs_holds_up_nobody_else(
    memhold: AsyncMemhold, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is compared ahead may take for ever: other keys, other users and reads go on, and so does the key at last."""
    let_go = asyncio.Event()

    warm_keys = keying.warm

    async def warm(subject: str, attribute: str, stored: Sequence[FactKey]) -> None:
        if attribute == "stuck":
            await let_go.wait()
        await warm_keys(subject, attribute, stored)

    monkeypatch.setattr(keying, "warm", warm)
    alice = memhold.scope(user="alice")
    waiting = [asyncio.create_task(alice.remember(attribute="stuck", value=f"v{n}")) for n in range(200)]
    try:
        async with asyncio.timeout(BOUND):
            for _ in range(20):
                await asyncio.sleep(0)
            assert (await alice.remember("a note")).memory is not None
            await alice.add({"role": "user", "content": "still there?"})
            assert (await alice.recall("still")).total == 1
            assert (await alice.remember(attribute="city", value="Porto")).memory.state == "active"
            assert not any(task.done() for task in waiting)
            let_go.set()
            await asyncio.gather(*waiting)
    finally:
        let_go.set()
    stuck = [m for m in (await alice.list(kinds=("fact",), limit=1000)).items if m.attribute == "stuck"]
    assert len(stuck) == 1


def test_threads_on_one_key(location: str) -> None:
    with Memhold.open(location, worker=False) as memhold, ThreadPoolExecutor(20) as pool:
        alice = memhold.scope(user="alice")
        told = [pool.submit(alice.remember, attribute=WORDINGS[n % 3], value=f"dish {n}") for n in range(200)]
        for one in told:
            one.result(BOUND)
        assert len(alice.list(kinds=("fact",)).items) == 1
