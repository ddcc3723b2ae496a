"""The verbs on the SQLite store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from memhold import AsyncMemhold
from memhold.testing import FakeClock, OpenHarness, VerbSuite


class TestVerbsOnSqlite(VerbSuite):
    @pytest_asyncio.fixture
    async def harness(self, tmp_path: Path) -> AsyncIterator[OpenHarness]:
        clock = FakeClock()
        async with AsyncMemhold.open(str(tmp_path / "memory.db"), clock=clock, worker=False) as mem:
            yield OpenHarness(mem, clock)
