"""What the processes of one server keep together: limits, streams that are open, whether the door is still open.

It lies in a file of a folder that is only theirs, mapped into each of them; a server of one process has it in memory.
Whom it is about stands in it as keyed digests. It ends with the server.
"""

from __future__ import annotations

import mmap
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final

from memhold.faces.rest.changes import OpenCount
from memhold.ports.file_locks import try_lock
from memhold.server.expiry_table import NO_LOCKS, ExpiryTable, Locks, RangeLocks

__all__ = ["MOST_PROCESSES", "Lease", "ServerFiles", "SharedState"]

_ENTRIES: Final = 32 * 1024
"""Of each table: three for each of 10,000 callers, so that hardly one is put out for another."""
_TABLES: Final = ("requests", "bytes", "work", "failures", "good")
_HEAD: Final = 8192
"""Bytes before the tables: whether the door is shut, then open streams and beats of each process."""
MOST_PROCESSES: Final = 256
"""Processes of a server that may be there at once, those that are still ending included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFiles:
    """Where the processes of a server find what they share, and what keeps it from others.

    Attributes:
        folder: a folder that this account alone can open.
        secret: what digests are keyed with, and what is kept of browsers is sealed with; 32 bytes.
    """

    folder: Path
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def prepare(self) -> None:
        """Make what is in the folder, once, before any process opens it."""
        for name in (self.metrics, self.browsers):
            name.mkdir(mode=0o700)
        for name in (self.state, self.lease):
            name.touch(0o600)
        os.truncate(self.state, _size())

    @property
    def state(self) -> Path:
        """The file of `SharedState`."""
        return self.folder / "state"

    @property
    def lease(self) -> Path:
        """The file whose lock says which process does due work."""
        return self.folder / "upkeep"

    @property
    def metrics(self) -> Path:
        """Where each process counts."""
        return self.folder / "metrics"

    @property
    def browsers(self) -> Path:
        """Where it stands what a browser's cookie is for."""
        return self.folder / "browsers"


class SharedState:
    """The tables of limits by name, the streams that this process has open among those of all, and the door."""

    def __init__(
        self, memory: memoryview, clock: Callable[[], float] = monotonic, *, secret: bytes = b"",
        locks: Locks = NO_LOCKS, place: int = 0,
    ) -> None:  # fmt: skip
        self._memory = memory
        self._place = place
        self._cells = memory[_HEAD // 4 : _HEAD // 2].cast("Q")
        self._beats = memory[_HEAD // 2 : _HEAD * 3 // 4].cast("Q")
        self._beats[place] = 0
        self.streams: OpenCount = _Streams(self._cells, place)
        size = ExpiryTable.size(_ENTRIES)
        self._tables = {
            name: ExpiryTable(
                memory[_HEAD + number * size : _HEAD + (number + 1) * size], clock, secret=secret, locks=locks,
                first_lock=_HEAD + number * size,
            )
            for number, name in enumerate(_TABLES)
        }  # fmt: skip

    @classmethod
    def alone(cls, clock: Callable[[], float] = monotonic) -> SharedState:
        """For a server of one process."""
        return cls(memoryview(mmap.mmap(-1, _size())), clock)

    @classmethod
    def of(cls, files: ServerFiles, place: int) -> SharedState:
        """For one process of a server: `place` is its number among those that are there, from 0."""
        with files.state.open("r+b") as file:
            memory = mmap.mmap(file.fileno(), _size())
            locks = RangeLocks(os.dup(file.fileno()))
        return cls(memoryview(memory), secret=files.secret, locks=locks, place=place)

    def table(self, name: str) -> ExpiryTable:
        """One of the tables: `requests`, `bytes`, `work`, `failures` or `good`."""
        return self._tables[name]

    @property
    def shut(self) -> bool:
        """Whether some process saw that tokens are asked for: the door stays shut then."""
        return bool(self._memory[0])

    def shut_the_door(self) -> None:
        """From now on every process asks for tokens."""
        self._memory[0] = 1

    def beat(self) -> None:
        """This process gives a sign of life."""
        self._beats[self._place] += 1

    def beats(self, place: int) -> int:
        """How many signs of life that process gave so far."""
        return self._beats[place]

    def gone(self, place: int) -> None:
        """A process has ended, in whatever way: nothing of it is open any more, and it gives no sign."""
        self._cells[place] = 0
        self._beats[place] = 0


class _Streams(OpenCount):
    """Open streams of one process, counted where the others see them."""

    def __init__(self, cells: memoryview[int], place: int) -> None:
        self._cells = cells
        self._place = place
        cells[place] = 0

    @property
    def mine(self) -> int:
        return self._cells[self._place]

    @property
    def total(self) -> int:
        return sum(self._cells.tolist())

    def add(self, more: int) -> None:
        self._cells[self._place] += more


class Lease:
    """The lock of a file: one process has it, and loses it when it ends, in whatever way."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("r+b")

    def take(self) -> bool:
        """Whether this process has it now."""
        try:
            return try_lock(self._file.fileno())
        except OSError:
            return False

    def give(self) -> None:
        """Let another process have it. Idempotent."""
        self._file.close()


def _size() -> int:
    return _HEAD + len(_TABLES) * ExpiryTable.size(_ENTRIES)
