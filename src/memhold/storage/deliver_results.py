"""Handing the results of writes, made on a writer's thread, to the callers that wait on their loops."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any, Protocol

from memhold.values.errors import StoreClosed

__all__ = ["Awaited", "Settled", "given_up", "settle"]


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
