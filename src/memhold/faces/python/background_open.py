"""A store that is opened behind the first answers of a process, and takes in what hooks took note of."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memhold.values.errors import MemholdError

if TYPE_CHECKING:
    from memhold.verbs.store_protocols import AsyncStore

__all__ = ["BackgroundStore"]

LONG_SECONDS = 2.0
"""An opening that lasts longer is told of: it takes a part of a second, unless another program holds the store."""
_CLOSING_SECONDS = 1.0
"""How long an opening that is under way is waited for at the end."""
logger = logging.getLogger(__name__)


class BackgroundStore:
    """The store, opened once; where that failed, the next one who asks for it tries again.

    `ahead` are modules that its user will need, loaded with it on a thread.
    """

    def __init__(self, location: str, settings: Mapping[str, Any], *, ahead: tuple[str, ...] = ()) -> None:
        self.location = location
        self._settings = settings
        self._ahead = ahead
        self._task: asyncio.Task[AsyncStore] | None = None
        self._begun = 0.0
        self._failed: str | None = None
        self._taking = asyncio.Lock()

    def begin(self) -> asyncio.Task[AsyncStore]:
        """Open, unless that is done or under way; where it failed, try again."""
        if self._task is None or (self._task.done() and self._task.exception() is not None):
            self._task, self._begun = asyncio.create_task(self._open()), time.monotonic()
            self._task.add_done_callback(self._done)
        return self._task

    async def _open(self) -> AsyncStore:
        # The imports take longer than the opening; on a thread they keep no answer waiting.
        module = await asyncio.to_thread(self._load)
        opened: AsyncStore = await module.AsyncMemhold.open(self.location, **self._settings)
        return opened

    def _load(self) -> Any:
        for name in self._ahead:
            import_module(name)
        return import_module("memhold.faces.python.open")

    @property
    def failure(self) -> str | None:
        """Why it is not open: the last try failed, or this one lasts long; None where it is, or has only begun."""
        if self._failed is not None or self._task is None or self._task.done():
            return self._failed
        lasts = time.monotonic() - self._begun
        return None if lasts < LONG_SECONDS else f"the store is not open after {lasts:.0f} s: is it in use elsewhere?"

    def _done(self, task: asyncio.Task[AsyncStore]) -> None:
        if task.cancelled():
            return
        # It stands until a try succeeds: one that is under way is no better news yet.
        error = task.exception()
        self._failed = None if error is None else str(error) or type(error).__name__
        if error is not None:
            logger.error("the store cannot be opened: %s", error)

    async def store(self) -> AsyncStore:
        """The open store; a caller that is cancelled leaves the opening alone.

        Raises:
            MemholdError, OSError: it cannot be opened.
        """
        return await asyncio.shield(self.begin())

    async def take_in(self) -> int:
        """Bring in what hooks took note of; how many messages were new. It never raises.

        Where this process is at it already, that is waited for: when this returns, what was noted before is in.
        """
        from memhold.faces.agents.spool import spool_of

        if not spool_of(self.location).is_dir():
            return 0
        from memhold.faces.agents.take_in import take_in

        async with self._taking:
            with suppress(MemholdError, OSError):
                return await take_in(await self.store(), self.location)
        return 0

    async def close(self) -> bool:
        """Take in what is left, and close the store in order; one that could not be opened is not tried again.

        False where the opening is still under way (another process holds the store, say): it is left to itself, and a
        thread is at it for some seconds more.
        """
        if self._task is None:
            return True
        await asyncio.wait([self._task], timeout=_CLOSING_SECONDS)
        if not self._task.done():
            self._task.cancel()
            return False
        if not self._task.cancelled() and self._task.exception() is None:
            await self.take_in()
            with suppress(Exception):
                await self._task.result().close()
        return True
