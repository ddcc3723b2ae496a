"""A store while it is open: who is woken for due work, and who may still use it."""

from __future__ import annotations

import asyncio
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection

from memhold.values.errors import ForkedProcess, StoreClosed

__all__ = ["Opened"]

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
