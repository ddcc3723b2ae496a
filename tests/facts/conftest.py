"""All stores, opened with a clock that the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from memhold import AsyncMemhold
from memhold.testing import FakeClock, SeededIds


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest_asyncio.fixture
async def memhold(location: str, clock: FakeClock) -> AsyncIterator[AsyncMemhold]:
    opened = await AsyncMemhold.open(
        location, worker=False, clock=clock, ids=SeededIds(7), read_timeout=60
    )  # hundreds at once, on any machine
    yield opened
    await opened.close()
