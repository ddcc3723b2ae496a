"""Progress of a call that takes long: that it goes on is said every second, to clients that want to know."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Final, Protocol, TypeVar

__all__ = ["TELL_EVERY", "Tell", "told_while"]

T = TypeVar("T")

TELL_EVERY: Final = 1.0
"""Seconds after which a client hears of a call, and from then on between what it hears."""


class Tell(Protocol):
    """Sends one notification of progress."""

    def __call__(self, progress: float, message: str) -> Awaitable[None]:
        """Say how far it is: `progress` grows with each."""
        ...


async def told_while(work: Awaitable[T], tell: Tell, what: str) -> T:
    """What `work` gives; while it takes, `tell` says how many seconds it has taken, as there is no end to count to.

    A client that goes by it waits longer instead of giving up.
    """
    telling = asyncio.ensure_future(_told(tell, what))
    try:
        # Here and not in a task of its own: its processor time is charged to whoever asked.
        return await work
    finally:
        telling.cancel()


async def _told(tell: Tell, what: str) -> None:
    passed = 0.0
    while True:
        await asyncio.sleep(TELL_EVERY)
        passed += TELL_EVERY
        await tell(passed, f"{what} goes on, for {passed:g} seconds so far")
