"""The verbs on the sync face: called from threads, as code that is not async calls them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from memhold import Memhold
from memhold.faces.python.sync import SyncScope
from memhold.testing import FakeClock, VerbSuite
from memhold.verbs.scope import AsyncScope


class Threaded:
    """A sync scope, or its documents, whose verbs can be awaited."""

    def __init__(self, scope: object) -> None:
        self._scope = scope

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._scope, name)
        if not callable(verb):
            return Threaded(verb)

        async def call(*args: Any, **named: Any) -> Any:
            return await asyncio.to_thread(verb, *args, **named)

        return call


class SyncHarness:
    def __init__(self, memhold: Memhold, clock: FakeClock) -> None:
        self._memhold = memhold
        self._clock = clock

    def scope(self, **names: Any) -> Threaded:
        return Threaded(self._memhold.scope(**names))

    async def advance(self, span: timedelta) -> None:
        self._clock.advance(span)

    async def settle(self) -> None:
        await asyncio.to_thread(self._memhold.settle)


class TestVerbsSync(VerbSuite):
    @pytest.fixture
    def harness(self) -> Iterator[SyncHarness]:
        clock = FakeClock()
        with Memhold.open("memory://", clock=clock, worker=False) as mem:
            yield SyncHarness(mem, clock)


def test_both_faces_have_the_same_verbs_and_signatures() -> None:
    def verbs(face: type) -> dict[str, Any]:
        return {
            name: inspect.signature(verb)
            for name, verb in inspect.getmembers(face, inspect.isfunction)
            if not name.startswith(("_", "import_"))  # an import has its own entry point
        }

    assert verbs(SyncScope) == verbs(AsyncScope)
