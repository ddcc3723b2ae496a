"""A live server for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.rest.serving import Live, live


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Live]:
    async with live() as running:
        yield running
