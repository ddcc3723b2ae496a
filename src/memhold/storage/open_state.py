"""A store while it is open: who is woken for due work, and who may still use it."""

from __future__ import annotations

import asyncio
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Callable

from memhold.values.errors import ForkedProcess, StoreClosed

__all__ = ["Opened"]

log = logging.getLogger("memhold.storage")


class Opened(ABC):
    """What the stores of this process and no other have in common; `_close` is what closing one of them does."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._closed = False
        self._wakes: list[Callable[[], None]] = []

    def on_due(self, wake: Callable[[], None]) -> None:
        self._wakes.append(wake)

    def _wake(self) -> None:
        for wake in self._wakes:
            try:
                wake()
            except Exception:
                log.warning("a wake for due work failed", exc_info=True)

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
