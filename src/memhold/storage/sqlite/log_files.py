"""A file that is open, its log, and the log's index: SQLite does not notice where somebody takes one of them away."""

from __future__ import annotations

import os
from enum import Enum

from memhold.values.errors import StoreError

__all__ = ["LogFiles", "Loss", "file_at"]


class Loss(Enum):
    """What somebody did to the files of an open store, and what helps."""

    FILE = "{path} was removed or replaced while it was open; nothing was stored, open it again"
    LOG = (
        "{path}-wal was removed or replaced while the store was open; nothing was stored, close the store and open it"
        " again"
    )
    INDEX = (
        "{path}-shm was removed, replaced or cut short while the store was open; nothing was stored, close every"
        " program that has the store open, then open it again"
    )
    CUT = (
        "{path}-wal was cut short while the store was open; nothing was stored, close every program that has the store"
        " open, then open it again: what was written last may be lost, look for it or restore a backup"
    )


def file_at(path: str) -> tuple[int, int] | None:
    """Which file stands at a path now (device and inode); None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - before each group of writes, and a Path costs more than the call
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - as above
    except OSError:
        return 0


class LogFiles:
    """The files of an open store, as they were when it was opened: what is written to others is lost with them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._log, self._index = f"{path}-wal", f"{path}-shm"
        self._known = tuple(map(file_at, (path, self._log, self._index)))
        self._index_size = _size(self._index)
        self._log_size = 0
        self._lost: Loss | None = None

    def written(self) -> None:
        """Note how long the log is after a commit."""
        self._log_size = _size(self._log)

    def unknown(self) -> None:
        """Others have written or emptied the log since: how long it must be is not known."""
        self._log_size = 0

    def loss(self, *, alone: bool = False) -> Loss | None:
        """What was taken away, if anything. `alone`: nobody else writes now.

        A log or an index that was away is not trusted again; the file itself is the same where it comes back.
        """
        if self._lost in {None, Loss.FILE}:
            self._lost = None
            now = tuple(map(file_at, (self._path, self._log, self._index)))
            if now != self._known:
                places = zip((Loss.FILE, Loss.INDEX, Loss.LOG), (0, 2, 1), strict=True)
                self._lost = next(loss for loss, at in places if now[at] != self._known[at])
            elif _size(self._index) < self._index_size:
                self._lost = Loss.INDEX
            elif alone and _size(self._log) < self._log_size:
                self._lost = Loss.CUT
        return self._lost

    def refuse_loss(self) -> None:
        """Refuse to go on with files that somebody took away.

        Raises:
            StoreError: one of them was removed, replaced or cut short while the store was open.
        """
        lost = self.loss()
        if lost is not None:
            raise StoreError(lost.value.format(path=self._path))
