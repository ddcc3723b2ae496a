"""An open store on a clock of its own, with the built-in embedding."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from memhold.faces.python.open import AsyncMemhold
from memhold.testing.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    """The clock of the store, at 2026-01-01 UTC."""
    return FakeClock()


@pytest_asyncio.fixture
async def memhold(clock: FakeClock) -> AsyncIterator[AsyncMemhold]:
    """An empty store without a worker."""
    async with AsyncMemhold.open("memory://", worker=False, clock=clock) as opened:
        yield opened
