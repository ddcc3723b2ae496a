"""All stores, opened with a clock that the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from holdfast import AsyncHoldfast
from holdfast.testing import FakeClock, SeededIds


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest_asyncio.fixture(params=["memory", "sqlite", "postgresql"])
async def holdfast(request: pytest.FixtureRequest, clock: FakeClock, tmp_path: Path) -> AsyncIterator[AsyncHoldfast]:
    match request.param:
        case "memory":
            location = "memory://"
        case "sqlite":
            location = str(tmp_path / "facts.db")
        case _:
            location = request.getfixturevalue("database")
    opened = await AsyncHoldfast.open(location, worker=False, clock=clock, ids=SeededIds(7))
    yield opened
    await opened.close()
