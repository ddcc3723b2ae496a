"""Long texts are analysed beside the event loop: on a thread, and where the opener wants it in processes of their own.

A thread shares the interpreter with the loop, so a long analysis on one still holds the loop up between its steps;
another process does not. Nothing is written while a text is analysed: a process that dies costs its
work, never a write.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextvars import ContextVar
from time import process_time
from typing import Final

from memhold.journal.append import Analysed, Prepared, Written, analyse_said, analysed, prepare, ready_to_analyse
from memhold.messages.ingest import Draft
from memhold.ports.stores import Redactor

__all__ = ["CHARGED", "AnalysisPool", "prepared"]

log = logging.getLogger("memhold.analysis")

CHARGED: ContextVar[Callable[[float], None] | None] = ContextVar("memhold_charged", default=None)
"""Whoever accounts for the processor time of a call: it gets the seconds that were spent in another process."""

INLINE_MESSAGES: Final = 64
INLINE_BYTES: Final = 16 * 1024
"""Up to so much is analysed on the event loop: about 2 microseconds a byte, where every word is a new one."""
ELSEWHERE_BYTES: Final = 64 * 1024
"""From so much on a process is asked: handing the texts over and the terms back costs a tenth of the analysis."""
_END_SECONDS: Final = 5.0


class AnalysisPool:
    """At most so many processes that analyse texts; the first long text starts them. Belongs to one event loop.

    They are started anew, not forked: a store that is open here is not open there. One that dies, or cannot be
    started, costs a moment: its texts are analysed on a thread, and the next ones by fresh processes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._pool: ProcessPoolExecutor | None = None
        self._closed = False

    async def analysed(self, texts: Sequence[Written]) -> tuple[Analysed, ...]:
        """What `analyse_said` gives for each writer and text, in their order."""
        pool = self._running()
        if pool is not None:
            try:
                found, seconds = await asyncio.get_running_loop().run_in_executor(pool, _measured, tuple(texts))
            except (BrokenExecutor, OSError) as error:
                log.warning("a process that analyses texts is gone (%s); a thread does its work", type(error).__name__)
                self._let_go(pool)
            else:
                if (charge := CHARGED.get()) is not None:
                    charge(seconds)
                return found
        return await asyncio.to_thread(_every, tuple(texts))

    def _running(self) -> ProcessPoolExecutor | None:
        if self._pool is None and not self._closed:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._most, mp_context=context, initializer=_begin)
        return self._pool

    def _let_go(self, pool: ProcessPoolExecutor) -> None:
        pool.shutdown(wait=False, cancel_futures=True)
        if self._pool is pool:
            self._pool = None

    async def close(self) -> None:
        """End the processes; what they are at is given up. Idempotent, and bounded."""
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None:
            ending = asyncio.to_thread(pool.shutdown, cancel_futures=True)
            try:
                await asyncio.wait_for(ending, _END_SECONDS)
            except TimeoutError:
                log.warning("processes that analyse texts did not end within %s seconds", _END_SECONDS)


async def prepared(
    drafts: Sequence[Draft], redactor: Redactor | None, *, secret: bytes, pool: AnalysisPool | None
) -> Prepared:
    """Messages redacted and analysed, wherever that holds up nobody."""
    size = sum(draft.size for draft in drafts)
    if len(drafts) <= INLINE_MESSAGES and size <= INLINE_BYTES:
        return prepare(drafts, redactor, secret=secret)
    if pool is None or size < ELSEWHERE_BYTES:
        return await asyncio.to_thread(prepare, drafts, redactor, secret=secret)
    ready = await asyncio.to_thread(ready_to_analyse, drafts, redactor, secret=secret)
    return analysed(ready, await pool.analysed(ready.texts))


def _every(texts: tuple[Written, ...]) -> tuple[Analysed, ...]:
    return tuple(analyse_said(*written) for written in texts)


def _measured(texts: tuple[Written, ...]) -> tuple[tuple[Analysed, ...], float]:
    begun = process_time()
    return _every(texts), process_time() - begun


def _begin() -> None:
    """The first thing that a process of the pool does."""
    # Ctrl-C reaches the whole group; whoever started this process ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        # A parent that was killed cannot say so, and a queue's other end stays open in every child.
        parent.join()
        os._exit(1)
