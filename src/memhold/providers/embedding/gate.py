"""Who may call a model next: interactive calls before batch work, in the order they came."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

from memhold.ports.stores import Priority
from memhold.values.errors import InvalidInput

__all__ = ["PriorityGate"]


class PriorityGate:
    """At most `limit` calls at a time; when one ends, the most urgent that waits goes next. For one event loop."""

    def __init__(self, limit: int = 1) -> None:
        if limit < 1:
            raise InvalidInput(f"a gate lets at least one call through, not {limit}")
        self._free = limit
        self._order = count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def __call__(self, priority: Priority) -> AsyncIterator[None]:
        """Wait for a place and hold it inside the block. A cancelled wait takes none."""
        await self._enter(priority)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, priority: Priority) -> None:
        if self._free and not self._waiting:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (int(priority), next(self._order), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()  # the place was given in the moment of the cancellation
            raise

    def _leave(self) -> None:
        while self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
