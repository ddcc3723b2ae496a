"""A disk on record: what was written and synced, in order, and what of it a power cut would have left.

The recorder is `disk.c`, loaded into the peer's processes by the dynamic linker, so that all are treated alike. What it
cannot see (memory maps, streams of the C library) counts as kept: that favours who uses them.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal

__all__ = ["OPENED", "Disk", "NoCompiler", "Operation", "cut", "recorded", "recorder"]

_HEAD = struct.Struct("<cQqI")
OPENED = b"opened\n"
"""What a child acknowledges first: that the memory is open."""
Mode = Literal["nothing", "some"]
"""What of the unsynced writes the disk had: none, or each page by a coin."""


class NoCompiler(Exception):
    """The recorder cannot be built here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A recorder over one folder: `variables` are for the process that is recorded."""

    root: Path
    log: Path
    acked: Path
    full: Path
    library: Path

    @property
    def variables(self) -> dict[str, str]:
        """The environment that loads it."""
        return {
            "LD_PRELOAD": str(self.library),
            "LOSSES_ROOT": str(self.root),
            "LOSSES_LOG": str(self.log),
            "LOSSES_ACKED": str(self.acked),
            "LOSSES_FULL": str(self.full),
        }


def recorder(root: Path, beside: Path) -> Disk:
    """A recorder for what is written below `root`; its own files stand in `beside`.

    Raises:
        NoCompiler: there is no C compiler, or it failed.
    """
    library, compiler = beside / "disk.so", shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise NoCompiler("cc is not on this machine")
    source = Path(__file__).with_suffix(".c")
    done = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-lpthread", "-ldl"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise NoCompiler(done.stderr[-300:])
    return Disk(root=root, log=beside / "disk.log", acked=beside / "acked", full=beside / "full", library=library)


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that happened to the disk: W write, T truncate, F sync, D sync of a folder, C R L U names, A told."""

    kind: str
    inode: int
    offset: int
    data: bytes


def recorded(log: Path) -> list[Operation]:
    """The record; a torn end is left out."""
    return list(_operations(log.read_bytes())) if log.exists() else []


def _operations(data: bytes) -> Iterator[Operation]:
    at = 0
    while at + _HEAD.size <= len(data):
        kind, inode, offset, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if at + length > len(data):
            return
        yield Operation(kind.decode(), inode, offset, data[at : at + length])
        at += length


@dataclass(slots=True)
class _File:
    """What a file holds now, what of it is on the disk, and the writes between."""

    now: bytearray = field(default_factory=bytearray)
    safe: bytearray = field(default_factory=bytearray)
    between: list[Operation] = field(default_factory=list)

    def change(self, one: Operation) -> None:
        _apply(self.now, one)
        self.between.append(one)

    def sync(self) -> None:
        self.safe, self.between = bytearray(self.now), []

    def left(self, mode: Mode, dice: Random) -> bytes:
        held = bytearray(self.safe)
        if mode == "some":
            for one in self.between:
                if dice.random() < 0.5:
                    _apply(held, one)
        return bytes(held)


def _apply(held: bytearray, one: Operation) -> None:
    if one.kind == "T":
        del held[one.offset :]
        held.extend(bytes(one.offset - len(held)))
        return
    held.extend(bytes(max(0, one.offset - len(held))))
    held[one.offset : one.offset + len(one.data)] = one.data


def cut(operations: Sequence[Operation], at: int, mode: Mode, dice: Random, whole: Path, root: Path) -> list[str]:
    """Leave in `root` what the disk holds when the power goes after so many operations; returns what was acknowledged.

    A name that was made, changed or removed is durable with the next sync of anything, as ext4 does it (POSIX asks for
    one of its folder). What was written up to `OPENED` counts as synced: a memory is not made in the second before the
    cut, and a system writes back within half a minute. `whole` is the folder as it stood in the end: what no record
    knows is taken from there.
    """
    files: dict[int, _File] = {}
    names: dict[str, int] = {}
    safe: dict[str, int] = {}
    acked: list[str] = []
    for one in operations[:at]:
        match one.kind:
            case "A" if one.data == OPENED:
                safe = dict(names)
                for file in files.values():
                    file.sync()
            case "A":
                acked += one.data.decode().split()
            case "W" | "T":
                files.setdefault(one.inode, _File()).change(one)
            case "F":
                files.setdefault(one.inode, _File()).sync()
                safe = dict(names)
            case "D":
                safe = dict(names)
            case "C":
                names[one.data.decode()] = one.inode
                files[one.inode] = _File()  # numbers of inodes are used again
            case _:
                _renamed(one, names)
    shutil.rmtree(root, ignore_errors=True)
    _unrecorded(operations, whole, root)
    for name, inode in safe.items():
        target = Path(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(files[inode].left(mode, dice))
    return acked


def _renamed(one: Operation, names: dict[str, int]) -> None:
    old, _, new = one.data.decode().partition("\x01")
    if one.kind == "U":
        names.pop(old, None)
    elif one.kind == "L" and old in names:
        names[new] = names[old]
    elif one.kind == "R":
        for name in [name for name in names if name == old or name.startswith(f"{old}/")]:
            names[new + name[len(old) :]] = names.pop(name)


def _unrecorded(operations: Sequence[Operation], whole: Path, root: Path) -> None:
    """Folders, and files whose making no record tells of, as they stood in the end."""
    told = {name for one in operations if one.kind in "CRLU" for name in one.data.decode().split("\x01")}
    for path in [whole, *whole.rglob("*")]:
        target = root / path.relative_to(whole)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            shutil.copymode(path, target)  # PostgreSQL starts on nothing that others may read
        elif path.is_file() and str(target) not in told and not path.name.endswith("-shm"):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
