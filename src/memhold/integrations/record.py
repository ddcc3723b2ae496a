"""What an adapter records and reads without anybody asking: it never ends the agent's turn."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import uuid4

from memhold.integrations.reach import Call, Reach
from memhold.values.bounds import MAX_MESSAGES
from memhold.values.errors import InvalidInput, MemholdError
from memhold.values.records import Message
from memhold.verbs.scope import AsyncScope

__all__ = ["MOST_WAITING", "PATIENCE", "REST", "Recorder", "newest_messages"]

T = TypeVar("T")
_log = logging.getLogger("memhold.integrations")

PATIENCE = 5.0
"""Seconds that a turn of the agent's waits for a store that does not answer."""
REST = 30.0
"""Seconds for which a store that did not answer in time is let alone, so that no turn waits for it again and again."""
MOST_WAITING = 10_000
"""Messages that wait in the process for a store that is gone; beyond that the oldest go, and the log says how many."""


Waiting = tuple[str, Sequence[Mapping[str, Any]]]
"""Messages that are written together, and the key that writes them once."""


class Recorder:
    """Records messages of one session in their order, and reads, for an agent that nobody told of a store.

    What the store cannot take waits in this process and is written with the next call, each message once: a batch keeps
    its idempotency key. What waits is lost with the process. A message that Memhold refuses is left out, and logged.
    """

    def __init__(
        self,
        reach: Reach,
        *,
        patience: float = PATIENCE,
        most: int = MOST_WAITING,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reach = reach
        self._patience = patience
        self._most = most
        self._waiting: deque[Waiting] = deque()
        self._sending = asyncio.Lock()
        self._gone = False
        self._seconds = seconds
        self._rests_until = -math.inf

    @property
    def waiting(self) -> tuple[Mapping[str, Any], ...]:
        """The messages that are not durable yet, oldest first."""
        return tuple(message for _, batch in tuple(self._waiting) for message in batch)

    async def record(self, messages: Sequence[Mapping[str, Any]]) -> bool:
        """Append messages behind what waits; whether all of it is durable now. Raises nothing of Memhold's."""
        self._take(messages)
        return await self.look(self._sent, otherwise=False)

    def record_now(self, messages: Sequence[Mapping[str, Any]]) -> bool:
        """`record`, for code that is not async."""
        self._take(messages)
        return self.look_now(self._sent, otherwise=False)

    async def look(self, call: Call[T], *, otherwise: T) -> T:
        """What the call answers; `otherwise` where the store is gone or too slow, which the log says once."""
        if self._seconds() < self._rests_until:
            return otherwise
        try:
            found = await self._reach.ask(self._in_time(call))
        except (MemholdError, TimeoutError) as error:
            return self._without(error, otherwise)
        return self._found(found)

    def look_now(self, call: Call[T], *, otherwise: T) -> T:
        """`look`, for code that is not async."""
        if self._seconds() < self._rests_until:
            return otherwise
        try:
            found = self._reach.run(self._in_time(call))
        except (MemholdError, TimeoutError) as error:
            return self._without(error, otherwise)
        return self._found(found)

    def _take(self, messages: Sequence[Mapping[str, Any]]) -> None:
        if messages:
            self._waiting.append((uuid4().hex, tuple(messages)))
        left_out = 0
        while len(self._waiting) > 1 and sum(len(batch) for _, batch in self._waiting) > self._most:
            left_out += len(self._waiting.popleft()[1])
        if left_out:
            _log.error("the store is gone for so long that %d messages were left out", left_out)

    async def _sent(self, scope: AsyncScope) -> bool:
        async with self._sending:
            while self._waiting:
                key, batch = self._waiting[0]
                rest: Sequence[Waiting] = ()
                try:
                    await scope.add(batch, idempotency_key=key)
                except InvalidInput as error:
                    rest = _without_refused(key, batch, error)
                if self._waiting and self._waiting[0][0] == key:  # not given up meanwhile, for there were too many
                    self._waiting.popleft()
                    self._waiting.extendleft(reversed(rest))
        return True

    def _in_time(self, call: Call[T]) -> Call[T]:
        async def bounded(scope: AsyncScope) -> T:
            async with asyncio.timeout(self._patience):
                return await call(scope)

        return bounded

    def _without(self, error: Exception, otherwise: T) -> T:
        if not self._gone:
            _log.warning("memory is not there, and the agent goes on without it: %s", type(error).__name__)
        self._gone = True
        if isinstance(error, TimeoutError):
            self._rests_until = self._seconds() + REST
        return otherwise

    def _found(self, found: T) -> T:
        if self._gone and not self._waiting:  # a full disk is read from, and takes nothing
            _log.warning("memory is there again")
            self._gone = False
        return found


def _without_refused(key: str, batch: Sequence[Mapping[str, Any]], error: InvalidInput) -> Sequence[Waiting]:
    """What is left of a batch that was refused: all but the message that the error names, else its halves."""
    at = 0 if len(batch) == 1 else error.values.get("index")
    if not isinstance(at, int):
        middle = len(batch) // 2
        return [(f"{key}/1", batch[:middle]), (f"{key}/2", batch[middle:])]
    _log.error("a message was refused and left out: %s", type(error).__name__)
    left = (*batch[:at], *batch[at + 1 :])
    return [(f"{key}/0", left)] if left else []


async def newest_messages(scope: AsyncScope, most: int | None) -> Sequence[Message]:
    """The newest messages of a session, so many at most, in their order; all of them without a number."""
    found: list[Message] = []
    while most is None or len(found) < most:
        size = MAX_MESSAGES if most is None else min(most - len(found), MAX_MESSAGES)
        page = await scope.messages(newest=True, before=found[0].seq if found else None, limit=size)
        found = [*page, *found]
        if len(page) < size:
            break
    return found
