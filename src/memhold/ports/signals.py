"""Signals that a running loop hears, on systems whose loops cannot (Windows) too."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress

__all__ = ["heard"]


@contextmanager
def heard(numbers: Iterable[signal.Signals], call: Callable[[], None]) -> Iterator[None]:
    """Have the running loop call this at these signals, until the block is over.

    Where signals cannot be heard (a thread that is not the main one) it does nothing.
    """
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        for number in numbers:
            try:
                loop.add_signal_handler(number, call)
                stack.callback(_unheard, loop, number)
            except NotImplementedError:
                _by_hand(stack, loop, number, call)
            except (RuntimeError, ValueError):
                break  # not the main thread
        yield


def _unheard(loop: asyncio.AbstractEventLoop, number: signal.Signals) -> None:
    with suppress(NotImplementedError, RuntimeError, ValueError):
        loop.remove_signal_handler(number)


def _by_hand(
    stack: ExitStack, loop: asyncio.AbstractEventLoop, number: signal.Signals, call: Callable[[], None]
) -> None:
    """As Python hears it itself: the handler runs on the main thread and wakes the loop."""
    with suppress(ValueError):
        before = signal.signal(number, lambda *_: loop.call_soon_threadsafe(call))
        stack.callback(signal.signal, number, before)
