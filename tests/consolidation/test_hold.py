"""A result is applied under the newest lease on its work, on every store, whatever stands beside it."""

from __future__ import annotations

import pytest

from memhold import AsyncMemhold
from memhold.consolidate.apply_guard import ApplyGuard
from memhold.ports.stores import Lease
from memhold.testing import FakeClock
from memhold.values.records import Scope

ALICE = Scope(user="alice")


@pytest.mark.asyncio
async def test_only_the_newest_lease_stands_in_a_read_and_in_a_write(location: str) -> None:
    clock = FakeClock()
    async with AsyncMemhold.open(location, worker=False, embedding="none", clock=clock) as memhold:
        store = memhold._store._runtime.store

        async def claim(kind: str = "consolidate") -> Lease:
            [lease] = await store.upkeep.claim(owner="w", kinds=(kind,), limit=1, seconds=60)
            return lease

        async def stands(lease: Lease) -> bool:
            hold = ApplyGuard.under(lease)
            read = await store.read(ALICE, hold.stands)
            assert read == await store.write(ALICE, hold.stands)
            return read

        await store.write(ALICE, lambda tx: tx.put_due("consolidate", "s", tx.now))
        await store.write(ALICE, lambda tx: tx.put_due("redo", "s", tx.now))
        frozen = await claim()
        assert await stands(frozen)
        clock.advance(61)
        newest, other = await claim(), await claim("redo")
        assert [await stands(lease) for lease in (frozen, newest, other)] == [False, True, True]
        assert await store.upkeep.finish(newest)
        assert [await stands(lease) for lease in (frozen, newest, other)] == [False, False, True]
