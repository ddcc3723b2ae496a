"""The verbs on the PostgreSQL store."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from memhold import AsyncMemhold
from memhold.testing import FakeClock, OpenHarness, VerbSuite


class TestVerbsOnPostgres(VerbSuite):
    @pytest_asyncio.fixture
    async def harness(self, database: str) -> AsyncIterator[OpenHarness]:
        clock = FakeClock()
        async with AsyncMemhold.open(database, clock=clock, worker=False) as mem:
            yield OpenHarness(mem, clock)
