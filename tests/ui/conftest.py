"""A server whose pages are looked at, and a person who came in at it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.ui.person import Person, Served, person, served


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Served]:
    async with served() as running:
        yield running


@pytest_asyncio.fixture
async def alice(server: Served) -> AsyncIterator[Person]:
    async with person(server, await server.token(user="alice")) as made:
        yield made
