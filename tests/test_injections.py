"""Texts that somebody injects, by every way in: none of them is the user's wish."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from memhold import AsyncMemhold
from memhold.testing import FakeClock, OpenHarness
from memhold.testing.injection_suite import InjectionSuite


class TestInMemory(InjectionSuite):
    @pytest_asyncio.fixture
    async def harness(self) -> AsyncIterator[OpenHarness]:
        clock = FakeClock()
        async with AsyncMemhold.open("memory://", clock=clock, worker=False, embedding="none") as mem:
            yield OpenHarness(mem, clock)
