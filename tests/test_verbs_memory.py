"""The verbs on the in-memory store."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from memhold import AsyncMemhold
from memhold.testing import FakeClock, OpenHarness, VerbSuite


class TestVerbsInMemory(VerbSuite):
    @pytest_asyncio.fixture
    async def harness(self) -> AsyncIterator[OpenHarness]:
        clock = FakeClock()
        async with AsyncMemhold.open("memory://", clock=clock, worker=False) as mem:
            yield OpenHarness(mem, clock)
