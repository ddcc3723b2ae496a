"""The verbs over HTTP: a real server on loopback, a client with a token of its own for each scope."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from memhold.testing import VerbSuite
from tests.rest.serving import RemoteHarness, remote_harness


class TestVerbsOverHttp(VerbSuite):
    @pytest_asyncio.fixture
    async def harness(self) -> AsyncIterator[RemoteHarness]:
        async with remote_harness() as harness:
            yield harness
