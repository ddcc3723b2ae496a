"""The verbs on the SQLite store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from holdfast import AsyncHoldfast
from holdfast.testing import FakeClock, OpenHarness, VerbSuite


class TestVerbsOnSqlite(VerbSuite):
    @pytest_asyncio.fixture
    async def harness(self, tmp_path: Path) -> AsyncIterator[OpenHarness]:
        clock = FakeClock()
        async with AsyncHoldfast.open(str(tmp_path / "memory.db"), clock=clock, worker=False) as hf:
            yield OpenHarness(hf, clock)
