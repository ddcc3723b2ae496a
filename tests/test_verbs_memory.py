"""The verbs on the in-memory store."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from holdfast import AsyncHoldfast
from holdfast.testing import FakeClock, OpenHarness, VerbSuite


class TestVerbsInMemory(VerbSuite):
    @pytest_asyncio.fixture
    async def harness(self) -> AsyncIterator[OpenHarness]:
        clock = FakeClock()
        async with AsyncHoldfast.open("memory://", clock=clock, worker=False) as hf:
            yield OpenHarness(hf, clock)
