"""A moment for each of many keys, in a piece of memory of a fixed size that several processes may share.

An entry counts until its moment has come and is room for another afterwards. So nothing has to be swept, and whoever
floods the table with keys can put out only entries whose moment is near.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import blake2b
from time import monotonic
from typing import Final, Protocol

__all__ = ["NO_LOCKS", "ExpiryTable", "Locks", "RangeLocks"]

_WAYS: Final = 16
"""Places that a key may stand in: so many keys of one group before one is put out."""
_ENTRY: Final = 16
_PATIENCE: Final = 0.02
"""Seconds: whoever was put to sleep with a lock is usually back by then."""


class Locks(Protocol):
    """Keeps two processes from changing one group of entries at the same time."""

    def take(self, place: int) -> bool:
        """Whether the lock of that place was taken."""
        ...

    def give(self, place: int) -> None:
        """Give it back."""
        ...


class _NoLocks:
    """For a table that one thread has for itself."""

    def take(self, place: int) -> bool:
        del place
        return False

    def give(self, place: int) -> None:
        pass


NO_LOCKS: Final = _NoLocks()


class RangeLocks:
    """Locks on single bytes of an open file: the system gives back those of a process that dies.

    They are held for microseconds. A process that was stopped while it held one must not stop the others: they go on
    without it after a while, and at worst one change is lost. Several may hold one that is `shared` at a time.
    """

    def __init__(self, file: int, *, shared: bool = False) -> None:
        import fcntl  # several processes serve on POSIX systems only

        self._file = file
        self._try, self._give = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB, fcntl.LOCK_UN
        self._lock = fcntl.lockf

    def take(self, place: int) -> bool:
        """Whether the lock was taken in time."""
        until = monotonic() + _PATIENCE
        while True:
            try:
                self._lock(self._file, self._try, 1, place)
            except OSError:
                if monotonic() > until:
                    return False
                os.sched_yield()
            else:
                return True

    def give(self, place: int) -> None:
        """Give it back."""
        self._lock(self._file, self._give, 1, place)


class ExpiryTable:
    """Moments by key over a writable buffer that begins as zeros, of a multiple of 256 bytes.

    `clock` is the same for all who share the buffer (`time.monotonic` is, on one machine), and so is `secret`, without
    which nobody can choose keys that meet in one group. `first_lock` is the place of the first of its locks.
    """

    def __init__(
        self, memory: memoryview, clock: Callable[[], float], *, secret: bytes = b"", locks: Locks = NO_LOCKS,
        first_lock: int = 0,
    ) -> None:  # fmt: skip
        half = len(memory) // 2
        self._keys = memory[:half].cast("Q")
        self._moments = memory[half:].cast("d")
        self._groups = len(self._keys) // _WAYS
        self._clock = clock
        self._secret = secret
        self._locks = locks
        self._first_lock = first_lock

    @staticmethod
    def size(entries: int) -> int:
        """Bytes of a buffer for at least so many entries."""
        return -(-entries // _WAYS) * _WAYS * _ENTRY

    @property
    def used(self) -> int:
        """How many entries count now."""
        now = self._clock()
        return sum(moment > now for moment in self._moments.tolist())

    def get(self, key: bytes) -> float:
        """The moment of a key; the present one where it has none, or where it has passed."""
        name, group = self._place(key)
        now = self._clock()
        found = self._find(name, group)
        return now if found is None else max(now, self._moments[found])

    def change(self, key: bytes, to: Callable[[float], float]) -> None:
        """Give a key another moment, from the one that `get` gives; no other process changes it meanwhile."""
        name, group = self._place(key)
        held = self._locks.take(self._first_lock + group)
        try:
            now = self._clock()
            found = self._find(name, group)
            first = group * _WAYS
            moment = to(now if found is None else max(now, self._moments[found]))
            if found is None:
                moments = self._moments[first : first + _WAYS].tolist()
                found = first + moments.index(min(moments))
            self._keys[found] = name
            self._moments[found] = moment
        finally:
            if held:
                self._locks.give(self._first_lock + group)

    def drop(self, key: bytes) -> None:
        """Let a key's moment have come."""
        self.change(key, lambda _: 0.0)

    def _place(self, key: bytes) -> tuple[int, int]:
        name = int.from_bytes(blake2b(key, digest_size=8, key=self._secret).digest(), "big") or 1
        return name, name % self._groups

    def _find(self, name: int, group: int) -> int | None:
        first = group * _WAYS
        try:
            return first + self._keys[first : first + _WAYS].tolist().index(name)
        except ValueError:
            return None
