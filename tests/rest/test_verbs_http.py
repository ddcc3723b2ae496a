"""The verbs over HTTP: a real server on loopback, a client with a token of its own for each scope."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import count

import pytest
import pytest_asyncio

from memhold.testing import VerbSuite
from tests.rest.serving import Live, RemoteHarness, live, remote_harness

ALONE = {
    "test_a_clock_that_jumps_never_reorders": "a store's time never goes back, so it must be new",
    "test_what_was_told_twice_is_no_work": "a store that has made vectors says which memories wait for theirs",
    "test_everything_is_also_what_stands_in_namespaces_below": "is told the names of namespaces",
}
"""The tests that need a server of their own, and why."""
_NUMBERS = count(1)


@pytest.fixture(scope="module")
def server() -> Iterator[Live]:
    """One server for all, on a loop of its own: it holds what the tests before left, each in its own namespaces."""
    started: Future[Live] = Future()
    ended = asyncio.Event()

    async def run() -> None:
        async with live() as running:
            started.set_result(running)
            await ended.wait()

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(asyncio.run, run())
        wait([started, done], return_when=FIRST_COMPLETED)
        if done.done():
            done.result()
        running = started.result()
        yield running
        running.loop.call_soon_threadsafe(ended.set)
        done.result()


class TestVerbsOverHttp(VerbSuite):
    @pytest_asyncio.fixture
    async def harness(self, request: pytest.FixtureRequest, server: Live) -> AsyncIterator[RemoteHarness]:
        if request.node.originalname in ALONE:
            async with remote_harness() as harness:
                yield harness
            return
        yield RemoteHarness(server, apart=f"test-{next(_NUMBERS)}-")
        while server.clients:
            await server.clients.pop().close()
