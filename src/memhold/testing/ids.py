"""Ids that are the same in every run."""

from __future__ import annotations

from random import Random
from threading import Lock
from typing import Literal

__all__ = ["SeededIds"]


class SeededIds:
    """An `Ids` for tests: the nth id of a seed is the same in every run, unique, and sorts after the ones before it.

    Two instances of one seed give the same ids, which is what a test of isolation needs: equal ids in two scopes.
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = Random(seed)
        self._count = 0
        self._lock = Lock()

    def new(self, prefix: Literal["msg", "mem", "chg", "ses", "sus"]) -> str:
        """The next id: the prefix, 12 hex digits that count, and 20 that the seed decides."""
        with self._lock:
            self._count += 1
            return f"{prefix}_{self._count:012x}{self._random.getrandbits(80):020x}"
