"""A clock that stands still until the test moves it."""

from __future__ import annotations

import asyncio
import heapq
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock

from memhold.values.records import from_micros, micros

__all__ = ["FakeClock"]

_START = datetime(2026, 1, 1, tzinfo=UTC)
_TURNS = 25


@dataclass(order=True, slots=True)
class _Sleeper:
    until: int
    order: int
    loop: asyncio.AbstractEventLoop = field(compare=False)
    woken: asyncio.Future[None] = field(compare=False)


class FakeClock:
    """A `Clock` for tests: `now` is what the test made it, and `sleep` returns when the test has moved it far enough.

    Sleepers wake in the order of their times, those of one time in the order in which they went to sleep. It may be
    moved from another thread than the one that sleeps.
    """

    def __init__(self, start: datetime = _START) -> None:
        self._now = micros(start)
        self._order = 0
        self._sleepers: list[_Sleeper] = []
        self._lock = Lock()

    def now(self) -> datetime:
        """The time that the test last set, aware UTC."""
        return from_micros(self._now)

    @property
    def sleepers(self) -> int:
        """How many are asleep on this clock."""
        with self._lock:
            return sum(not sleeper.woken.done() for sleeper in self._sleepers)

    async def sleep(self, seconds: float) -> None:
        """Return once the clock was moved by that many seconds; at once (after one turn) for zero or less."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        loop = asyncio.get_running_loop()
        with self._lock:
            self._order += 1
            sleeper = _Sleeper(self._now + _length(seconds), self._order, loop, loop.create_future())
            heapq.heappush(self._sleepers, sleeper)
        await sleeper.woken

    def advance(self, seconds: float | timedelta) -> None:
        """Move the time and wake everybody whose time has come; a negative span sets the clock back."""
        with self._lock:
            self._now += _length(seconds)
        while self._wake_one(self._now):
            pass

    def set(self, moment: datetime) -> None:
        """Set the time, forward or back, and wake everybody whose time has come."""
        self.advance(timedelta(microseconds=micros(moment) - self._now))

    async def elapse(self, seconds: float | timedelta) -> None:
        """Move the time as it passes: stop at each sleeper's time and let what it wakes run before going on.

        What a woken task does gets 25 turns of the event loop before time moves again.
        """
        end = self._now + _length(seconds)
        await _turns()
        while self._wake_one(end):
            await _turns()
        self._now = max(self._now, end)

    def _wake_one(self, end: int) -> bool:
        with self._lock:
            if not self._sleepers or self._sleepers[0].until > end:
                return False
            sleeper = heapq.heappop(self._sleepers)
            self._now = max(self._now, sleeper.until)
        if not sleeper.loop.is_closed():
            sleeper.loop.call_soon_threadsafe(_wake, sleeper.woken)
        return True


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)


def _length(seconds: float | timedelta) -> int:
    span = seconds if isinstance(seconds, timedelta) else timedelta(seconds=seconds)
    return span // timedelta(microseconds=1)


async def _turns() -> None:
    for _ in range(_TURNS):
        await asyncio.sleep(0)
