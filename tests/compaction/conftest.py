"""All stores, with the judge and the vectors that a test chose."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio

from memhold import AsyncMemhold
from memhold.testing import FakeClock
from tests import constants

Opened = Callable[..., Any]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest_asyncio.fixture
async def opened(location: str, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Opened]:
    async with contextlib.AsyncExitStack() as stack:

        async def open_one(
            judge: Any = None, vectors: Any = "none", bounds: dict[str, Any] | None = None, **settings: Any
        ) -> Any:
            constants.bounds(monkeypatch, **(bounds or {}))
            given: dict[str, Any] = {"clock": clock, "worker": False, "embedding": vectors, **settings}
            if judge is not None:
                given["compaction"] = judge
            return await stack.enter_async_context(AsyncMemhold.open(location, **given))

        yield open_one
