"""A store while it is open: who is woken for due work, who may still use it, its time, and how results get back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from memhold.values.errors import ForkedProcess, StoreClosed
from memhold.values.records import from_micros

__all__ = ["STEADY", "Awaited", "Opened", "Settled", "StoreTime", "given_up", "kept_time", "settle", "store_time"]


class Awaited(Protocol):
    """A write that somebody waits for."""

    @property
    def future(self) -> asyncio.Future[Any]:
        """What the caller awaits."""
        ...


Settled = tuple[Awaited, Any, BaseException | None]
"""A write with its result, or its error."""


def given_up() -> StoreClosed:
    """What a job gets that had no turn before the store was closed."""
    return StoreClosed("the store was closed before this write had its turn; nothing was stored, open it again")


def settle(done: Sequence[Settled]) -> None:
    """Hand results to their callers: one wake-up a loop, however many wait on it."""
    if len(done) == 1:
        _tell(done[0][0].future.get_loop(), done)
        return
    loops: dict[asyncio.AbstractEventLoop, list[Settled]] = {}
    for entry in done:
        loops.setdefault(entry[0].future.get_loop(), []).append(entry)
    for loop, entries in loops.items():
        _tell(loop, entries)


def _tell(loop: asyncio.AbstractEventLoop, entries: Sequence[Settled]) -> None:
    # A loop that has closed has nobody left to tell.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(_resolve, entries)


def _resolve(entries: Sequence[Settled]) -> None:
    for job, result, error in entries:
        if job.future.done():
            continue
        if isinstance(error, StopIteration):
            # A future cannot carry it: asyncio would wait for ever.
            job.future.set_exception(RuntimeError("a unit of work raised StopIteration"))
        elif error is not None:
            job.future.set_exception(error)
        else:
            job.future.set_result(result)


_SHOWN = 5
log = logging.getLogger("memhold.storage")


class Opened(ABC):
    """What the stores of this process and no other have in common; `_close` is what closing one of them does."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._closed = False
        self._wakes: list[Callable[[], None]] = []
        self._damaged: set[str] = set()

    def on_due(self, wake: Callable[[], None]) -> None:
        self._wakes.append(wake)

    def _wake(self) -> None:
        for wake in self._wakes:
            try:
                wake()
            except Exception:
                log.warning("a wake for due work failed", exc_info=True)

    def _tell_damaged(self, ids: Collection[str]) -> None:
        """Log once of each row that a read left out as damaged: not every answer has a place to say so."""
        new = sorted(set(ids) - self._damaged)
        if new:
            self._damaged.update(new)
            shown = ", ".join(one.encode("ascii", "backslashreplace").decode() for one in new[:_SHOWN])
            log.warning("%d rows are damaged and left out (%s); run 'memhold doctor'", len(new), shown)

    def _guard(self) -> None:
        if self._closed:
            raise StoreClosed("the store is closed; open it again")
        if os.getpid() != self._pid:
            raise ForkedProcess("this store was opened before a fork; open it again in the child process")

    async def close(self) -> None:
        """Close it, once; what a forked child does leaves the parent's alone."""
        if self._closed or os.getpid() != self._pid:
            return
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(None, self._close)

    @abstractmethod
    def _close(self) -> None: ...


STEADY = timedelta(days=1)
"""How far back a clock may step while dates go on from the last row's: no event is told further ahead than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreTime:
    """When a transaction takes place.

    `dated` is what its rows are dated. `clock` is the machine's clock: leases and due work go by it alone, so a store
    whose newest row is of the future waits for nothing.
    """

    dated: datetime
    clock: datetime

    def by_clock(self, at: datetime) -> datetime:
        """When that is by the clock, of a time that was reckoned from `dated`."""
        return at - (self.dated - self.clock)


def store_time(clock: datetime, last: datetime) -> StoreTime:
    """The times of a transaction that comes after one whose rows are dated `last`.

    Dates follow the clock. Where it stepped back by less than `STEADY` they stand still until it has caught up, so that
    what is told later is not dated earlier; where the last row is of a time further ahead, the clock was wrong then.
    """
    behind = timedelta() < last - clock <= STEADY
    return StoreTime(dated=last if behind else clock, clock=clock)


def kept_time(value: Any) -> datetime:
    """The date of the newest row as a store keeps it; 1970 where that can no longer be read: dates follow the clock."""
    try:
        return from_micros(int(value))
    except (TypeError, ValueError, OverflowError):
        return from_micros(0)
