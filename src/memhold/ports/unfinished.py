"""Files that are being written beside their target: noted in one place beside the store until they are done.

A process that is killed in the middle of a backup, an export or a restore leaves what it was writing behind, and with
it what may have been forgotten since. A note in the folder `STORE.unfinished` names it. Whoever writes holds a lock on
the note, which goes with the process: a note without one is of something that nobody will finish.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memhold.ports.durable_files import make_folder, sync_folder
from memhold.ports.file_locks import lock, try_lock

__all__ = ["left_behind", "noted", "sweep", "unfinished_files"]

_MARKS = (".part-", ".restore-", ".before-")
"""What stands in the name of every file that is not done: nothing else is ever removed."""
_BESIDE = ("", "-wal", "-shm", "-journal")


def _folder(store: Path) -> Path:
    return store.with_name(f"{store.name}.unfinished")


@contextmanager
def noted(store: Path | None, *parts: Path) -> Iterator[None]:
    """Note beside the store that these are being written; nothing is noted where there is no store with files.

    Raises:
        OSError: the note cannot be written.
    """
    if store is None:
        yield
        return
    folder = _folder(store)
    try:
        note, handle = _locked_note(folder)
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        yield  # nothing is forgotten in a file that can only be read, so that nothing need be swept
        return
    try:
        os.write(handle, "\0".join(str(part.absolute()) for part in parts).encode("utf-8", "surrogateescape"))
        os.fsync(handle)
        sync_folder(folder)
        yield
    finally:
        with contextlib.suppress(OSError):
            note.unlink()
        os.close(handle)
        with contextlib.suppress(OSError):
            note.unlink(missing_ok=True)  # Windows lets nobody remove what is open
        with contextlib.suppress(OSError):
            folder.rmdir()


def _locked_note(folder: Path) -> tuple[Path, int]:
    """A new note that nobody sweeps, and the handle that holds its lock.

    Who sweeps may take away the folder before the note is in it, or the note before it is locked: then again.
    """
    while True:
        make_folder(folder, mode=0o700)
        note = folder / secrets.token_hex(8)
        try:
            handle = os.open(note, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileNotFoundError:
            continue
        try:
            lock(handle)
            if note.exists():
                return note, handle
        except OSError:
            os.close(handle)
            raise
        os.close(handle)


def left_behind(store: Path) -> list[Path]:
    """What a process that is no more was writing, as far as it is there."""
    return [part for note in _notes(store) for part in _unlocked(note) if part.exists()]


def unfinished_files(store: Path) -> list[Path]:
    """Every file that is being written or was left behind, those in folders among them."""
    found = []
    for note in _notes(store):
        for part in _named(note):
            found += [file for file in (part.rglob("*") if part.is_dir() else _with(part)) if file.is_file()]
    return found


def sweep(store: Path) -> list[Path]:
    """Remove what was left behind, with its notes; returns what was removed. What cannot be removed stays noted."""
    removed = []
    for note in _notes(store):
        try:
            handle = os.open(note, os.O_RDONLY)
        except OSError:
            continue
        try:
            if not try_lock(handle):
                continue
            there = [part for part in _named(note) if part.exists()]
            for part in there:
                _remove(part)
            with contextlib.suppress(PermissionError):
                note.unlink(missing_ok=True)
            removed += there
        except OSError:
            continue
        finally:
            os.close(handle)
        with contextlib.suppress(OSError):
            note.unlink(missing_ok=True)  # Windows lets nobody remove what is open
    with contextlib.suppress(OSError):
        _folder(store).rmdir()
    return removed


def _remove(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part)
    else:
        for file in _with(part):
            file.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        sync_folder(part.parent)


def _with(part: Path) -> list[Path]:
    """A file, and what SQLite may have put beside it."""
    return [part.with_name(part.name + end) for end in _BESIDE]


def _notes(store: Path) -> list[Path]:
    try:
        return sorted(_folder(store).iterdir())
    except OSError:
        return []


def _unlocked(note: Path) -> list[Path]:
    try:
        handle = os.open(note, os.O_RDONLY)
    except OSError:
        return []
    try:
        return _named(note) if try_lock(handle) else []
    except OSError:
        return []
    finally:
        os.close(handle)


def _named(note: Path) -> list[Path]:
    try:
        text = note.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return []
    paths = [Path(line) for line in text.split("\0") if line]
    return [path for path in paths if path.is_absolute() and any(mark in path.name for mark in _MARKS)]
