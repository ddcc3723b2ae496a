"""An open store on a clock of its own, with the built-in embedding."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from holdfast.open import AsyncHoldfast
from holdfast.testing.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    """The clock of the store, at 2026-01-01 UTC."""
    return FakeClock()


@pytest_asyncio.fixture
async def holdfast(clock: FakeClock) -> AsyncIterator[AsyncHoldfast]:
    """An empty store without a worker."""
    async with AsyncHoldfast.open("memory://", worker=False, clock=clock) as opened:
        yield opened
