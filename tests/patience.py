"""Waiting for what is bound to come: however busy the machine is, and never by how often it was looked at."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["until"]

T = TypeVar("T")


def until(there: Callable[[], T], *, seconds: float = 120) -> T:
    """What this gives, as soon as that is true of it; it fails where it is not within so many seconds."""
    ends = time.monotonic() + seconds
    while not (found := there()):
        assert time.monotonic() < ends, f"it did not come within {seconds} s"
        time.sleep(0.01)
    return found
