"""Processes that begin a measured thing at the same moment: each says that it is ready, and waits to be told."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence

from memhold.errors import InvalidInput

__all__ = ["told_to_begin", "waiting"]


async def told_to_begin() -> None:
    """In a child: say that it is ready, and wait for the word."""
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)


@contextlib.contextmanager
def waiting(lines: Sequence[str]) -> Iterator[Callable[[], None]]:
    """A process for each line of Python, when all are ready; called, what is given tells them to begin.

    At the end their standard input is closed, and they are waited for.

    Raises:
        InvalidInput: a process ended before it was ready.
    """
    running = [
        subprocess.Popen([sys.executable, "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for line in lines
    ]

    def begin() -> None:
        for one in running:
            if one.stdin is not None:
                one.stdin.write("go\n")
                one.stdin.flush()

    try:
        for one in running:
            if one.stdout is None or one.stdout.readline().strip() != "ready":
                raise InvalidInput("a process of the benchmark could not begin")
        yield begin
    finally:
        for one in running:
            one.communicate()
