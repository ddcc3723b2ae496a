"""The verbs on the PostgreSQL store."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from holdfast import AsyncHoldfast
from holdfast.testing import FakeClock, OpenHarness, VerbSuite


class TestVerbsOnPostgres(VerbSuite):
    @pytest_asyncio.fixture
    async def harness(self, database: str) -> AsyncIterator[OpenHarness]:
        clock = FakeClock()
        async with AsyncHoldfast.open(database, clock=clock, worker=False) as hf:
            yield OpenHarness(hf, clock)
