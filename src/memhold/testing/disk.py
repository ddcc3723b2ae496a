"""A disk that fails on demand, as a SQLite VFS: power cuts, torn writes, no room, I/O errors at the nth operation.

What a process writes is not on the disk until it is synced. `FaultyDisk` keeps unsynced writes in memory, shared by all
connections that go through it, and lets a test say what becomes of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal

import apsw

__all__ = ["FaultyDisk", "Operation"]

SECTOR = 512
"""What a disk writes at once, in bytes: a write is torn between sectors."""

Operation = Literal["write", "truncate", "sync", "open", "delete"]
_NAMES = itertools.count()


@dataclass(slots=True)
class _Unsynced:
    """Writes and truncations of one file since its last sync, oldest first; (None, size) truncates."""

    changes: list[tuple[int | None, bytes | int]] = field(default_factory=list)


class FaultyDisk(apsw.VFS):
    """A VFS over the system's; pass `disk.name` as a store's `vfs`.

    `on` is called before each operation with its kind and how many there were before; it may raise `apsw.IOError` or
    `apsw.FullError` to fail it, or end the process. `room` is how many bytes may still be written before the disk is
    full. With `volatile=False` writes reach the system at once: what a killed process leaves behind.
    """

    def __init__(
        self, *, on: Callable[[Operation, int], None] | None = None, room: int | None = None, volatile: bool = True
    ) -> None:
        self.name = f"faulty-{next(_NAMES)}"
        self.on = on
        self.room = room
        self.volatile = volatile
        self.operations = 0
        self.dead = False
        self._unsynced: dict[str, _Unsynced] = {}
        super().__init__(self.name, "")

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> _File:  # noqa: N802 - SQLite's name
        """Open a file of this disk."""
        self.before("open")
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802, FBT001 - SQLite's
        """Remove a file; what was not synced of it is gone too."""
        self.before("delete")
        self._unsynced.pop(filename, None)
        super().xDelete(filename, syncdir)

    def before(self, operation: Operation) -> None:
        """Count an operation; fail it if the power is off or the test says so."""
        if self.dead:
            raise apsw.IOError("the power is off")
        count, self.operations = self.operations, self.operations + 1
        if self.on is not None:
            self.on(operation, count)

    def take_room(self, size: int) -> None:
        """Use up room on the disk."""
        if self.room is not None:
            if size > self.room:
                raise apsw.FullError("no room on the faulty disk")
            self.room -= size

    def unsynced(self, path: str) -> _Unsynced:
        """What was written to a file and not synced."""
        return self._unsynced.setdefault(path, _Unsynced())

    def cut_power(self, random: Random) -> None:
        """Switch off: of each unsynced write, all, some sectors or nothing reaches the disk, in any combination."""
        self.dead = True
        for path, held in self._unsynced.items():
            target = Path(path)
            if not target.exists():
                continue
            with target.open("r+b") as file:
                for offset, data in held.changes:
                    _half_apply(file, offset, data, random)
            held.changes.clear()


def _half_apply(file: object, offset: int | None, data: bytes | int, random: Random) -> None:
    fate = random.choice(("lost", "torn", "whole"))
    if fate == "lost":
        return
    if offset is None or isinstance(data, int):
        file.truncate(data)  # type: ignore[attr-defined]
        return
    sectors = range(0, len(data), SECTOR)
    for start in sectors:
        if fate == "whole" or random.random() < 0.5:
            file.seek(offset + start)  # type: ignore[attr-defined]
            file.write(data[start : start + SECTOR])  # type: ignore[attr-defined]


class _File(apsw.VFSFile):
    """A file whose writes stay in memory until they are synced."""

    def __init__(self, disk: FaultyDisk, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        super().__init__("", name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._disk = disk
        self._unsynced = _Unsynced() if path is None else disk.unsynced(path)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        self._disk.before("write")
        self._disk.take_room(len(data))
        if not self._disk.volatile:
            super().xWrite(data, offset)
            return
        self._unsynced.changes.append((offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        self._disk.before("truncate")
        if not self._disk.volatile:
            super().xTruncate(newsize)
            return
        self._unsynced.changes.append((None, newsize))

    def xSync(self, flags: int) -> None:  # noqa: ARG002, N802 - SQLite's; the test's disk needs no barrier below it
        self._disk.before("sync")
        for offset, data in self._unsynced.changes:
            if isinstance(data, int):
                super().xTruncate(data)
            else:
                super().xWrite(data, offset or 0)
        self._unsynced.changes.clear()

    def xFileSize(self) -> int:  # noqa: N802 - SQLite's name
        size = int(super().xFileSize())
        for offset, data in self._unsynced.changes:
            size = data if isinstance(data, int) else max(size, (offset or 0) + len(data))
        return size

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - SQLite's name
        found = bytearray(super().xRead(amount, offset))
        if not self._unsynced.changes:
            return bytes(found)
        end = len(found)
        page = found.ljust(amount, b"\0")
        for start, data in self._unsynced.changes:
            if isinstance(data, int):
                kept = max(0, min(end, data - offset))
                page[kept:end] = bytes(end - kept)
                end = kept
                continue
            first, last = max(start or 0, offset), min((start or 0) + len(data), offset + amount)
            if first < last:
                page[first - offset : last - offset] = data[first - (start or 0) : last - (start or 0)]
                end = max(end, last - offset)
        return bytes(page[:end])
