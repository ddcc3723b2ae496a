"""What is long is done on a thread, beside the event loop, so that whoever else is served does not wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeVar

__all__ = ["LONG_BYTES", "beside", "is_long"]

T = TypeVar("T")

LONG_BYTES: Final = 64 * 1024
"""A text of JSON that is longer is read on a thread."""
_MOST: Final = 1_000
"""Values that are walked through on the loop: one or two milliseconds of reading, checking or writing them."""
_CHARS: Final = LONG_BYTES // _MOST
"""Characters of a text that take as long as one value does."""


async def beside(work: Callable[[], T], given: object) -> T:
    """What `work` gives: on a thread where `given`, which it walks through, is long, else at once."""
    return await asyncio.to_thread(work) if is_long(given) else work()


def is_long(given: object) -> bool:
    """Whether there is much in a value: some thousand values inside of each other, or some 64 KiB of text.

    It looks at no more than it takes to know, and goes through nothing that can be gone through only once.
    """
    left, waiting = _MOST, [given]
    while waiting:
        one = waiting.pop()
        held: Any = ()
        if isinstance(one, str):
            left -= len(one) // _CHARS
        elif isinstance(one, (list, tuple)):  # half the time of a union, for each message
            held = one
        elif isinstance(one, dict) or isinstance(one, Mapping):  # noqa: SIM101 - the usual one first
            held = one.values()
        elif is_dataclass(one):
            held = [getattr(one, field.name) for field in fields(one)]
        left -= 1
        if left < len(held):
            return True
        waiting.extend(held)
    return False
