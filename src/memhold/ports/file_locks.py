"""Locks of files between processes: the kernel gives them back when the handle is closed, also by a kill.

POSIX locks the file (flock(2)); Windows one byte far behind its end, which bars nobody from what stands in it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

__all__ = ["ByteLocks", "lock", "try_lock"]

Locks = Callable[[int, bool], bool]
"""Takes the lock of a handle, or waits for it; whether it has it."""

_FAR = 1 << 30
_WAIT_SECONDS = 0.02
_TRY = 2  # LK_NBLCK of the C library's <sys/locking.h>: do not wait


class ByteLocks:
    """Locks of one byte far behind a file's end, given what locks bytes from a handle's position (`msvcrt.locking`)."""

    def __init__(self, locking: Callable[[int, int, int], None]) -> None:
        self._locking = locking

    def __call__(self, handle: int, wait: bool) -> bool:  # noqa: FBT001 - of `Locks`
        """Take the lock; without waiting, whether nobody had it."""
        while True:
            at = os.lseek(handle, 0, os.SEEK_CUR)
            os.lseek(handle, _FAR, os.SEEK_SET)
            try:
                self._locking(handle, _TRY, 1)
            except OSError:
                if not wait:
                    return False
            else:
                return True
            finally:
                os.lseek(handle, at, os.SEEK_SET)
            time.sleep(_WAIT_SECONDS)


def _chosen() -> Locks:
    try:
        import fcntl
    except ImportError:
        import msvcrt

        return ByteLocks(msvcrt.locking)  # type: ignore[attr-defined,unused-ignore]  # there on Windows only

    def whole_file(handle: int, wait: bool) -> bool:  # noqa: FBT001 - of `Locks`
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    return whole_file


_locks = _chosen()


def lock(handle: int) -> None:
    """Take the lock of a file that is open, once nobody else has it.

    Raises:
        OSError: its file system has no locks.
    """
    _locks(handle, True)


def try_lock(handle: int) -> bool:
    """Take the lock of a file that is open, where nobody has it; whether it was taken.

    Raises:
        OSError: its file system has no locks.
    """
    return _locks(handle, False)
