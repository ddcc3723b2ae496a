"""A thread with an event loop of its own: how code that is not async calls what is."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from memhold.values.errors import ForkedProcess, StoreClosed, WrongLoop

__all__ = ["EventLoopThread"]

T = TypeVar("T")

LAST_CALLS_SECONDS = 5.0
"""How long closing waits for calls of other threads that the closed store must end."""
_ENDING: set[threading.Thread] = set()
"""Threads whose owners were collected without closing them: the next one waits until they have given all back."""


class EventLoopThread:
    """A thread with an event loop; calls from any other thread run on it, one after the other or side by side."""

    def __init__(self) -> None:
        self._closed = True  # so that one that cannot be made is not ended
        for thread in [*_ENDING]:
            thread.join(LAST_CALLS_SECONDS)
        self._loop = asyncio.new_event_loop()
        self._pid = os.getpid()
        self._closed = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=_run, args=(self._loop,), name="memhold-loop", daemon=True)
        self._thread.start()

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and wait for it; works inside a running loop too (notebooks).

        Raises:
            StoreClosed: it was closed, perhaps while this waited.
            ForkedProcess: the thread stayed behind in the parent process.
            WrongLoop: this is that very thread, which cannot wait for itself.
        """
        future = self.submit(call)
        try:
            return future.result()
        except CancelledError:
            raise StoreClosed("the store was closed while this call waited; open it again") from None
        except BaseException:
            future.cancel()
            raise

    def submit(self, call: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin a coroutine there, and do not wait for it; raises as `run` does where it cannot begin."""
        if self.forked:
            call.close()
            raise ForkedProcess("this store was opened before a fork; open it again in the child process")
        if threading.current_thread() is self._thread:
            call.close()
            raise WrongLoop(
                "called from a callback of its own loop, this would wait for itself; use AsyncMemhold there"
            )
        # Under the lock, so that nothing is left on a loop that has stopped.
        with self._lock:
            if self._closed:
                call.close()
                raise StoreClosed("the store is closed; open it again")
            return asyncio.run_coroutine_threadsafe(call, self._loop)

    @property
    def forked(self) -> bool:
        """Whether this process is a child of the one that opened it."""
        return os.getpid() != self._pid

    def close(self) -> None:
        """Let every call end, stop the loop and end the thread. Idempotent."""
        if self.forked:
            return
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def __del__(self) -> None:
        if self._closed or self.forked or sys.is_finalizing():
            return
        _ENDING.add(self._thread)
        self._loop.call_soon_threadsafe(self._loop.stop)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped, then let what runs there end."""
    try:
        loop.run_forever()
        loop.run_until_complete(_end_all())
    finally:
        loop.close()
        _ENDING.discard(threading.current_thread())


async def _end_all() -> None:
    """Wait for the calls that are running; cancel those that a closed store does not end."""
    running = asyncio.all_tasks() - {asyncio.current_task()}
    if not running:
        return
    _, waiting = await asyncio.wait(running, timeout=LAST_CALLS_SECONDS)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await asyncio.sleep(0)
