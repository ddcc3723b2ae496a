"""The in-memory store keeps the port, and finds changes without a look at those that were read before."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.ports.transaction import ReadTx
from memhold.storage.inmemory import InMemoryStore
from memhold.testing.store_suite import OpenStore, StoreSuite
from memhold.values.records import Scope


class TestInMemoryStore(StoreSuite):
    @pytest.fixture
    def open_store(self) -> OpenStore:
        async def open_store(clock, ids):
            return InMemoryStore(clock, ids)

        return open_store


def steps(work: Callable[[], object]) -> int:
    """How many instructions of Python this takes."""
    counted = 0

    def traced(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal counted
        frame.f_trace_opcodes = True
        counted += event == "opcode"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        work()
    finally:
        sys.settrace(before)
    return counted


@pytest.mark.parametrize("whose", ["of one memory", "of all"])
async def test_the_newest_change_costs_the_same_among_few_and_among_many(whose: str) -> None:
    costs: dict[int, int] = {}
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        scope = mem.scope(user="ann")
        for count in range(1, 161):
            told = await scope.remember(f"Fact number {count} stands by itself")
            if count not in {10, 160}:
                continue

            def work(tx: ReadTx, told: str = told.memory.id, count: int = count) -> None:
                every = tx.changes()
                assert [change.seq for change in every] == sorted(change.seq for change in every)
                last = every[-1]
                found = []

                def newest() -> None:
                    found.extend(
                        tx.changes(memory_id=told) if whose == "of one memory" else tx.changes(after=last.seq - 1)
                    )

                costs[count] = steps(newest)
                assert [change.id for change in found] == [last.id]

            await mem._store._runtime.store.read(Scope(namespace="default", user="ann"), work)
    assert costs[160] < 1.5 * costs[10]
