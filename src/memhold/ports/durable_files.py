"""Names that outlive a power cut: a file that was made or renamed is there for good once its folder is synced."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

__all__ = ["make_folder", "replace_text", "sync_file", "sync_folder"]


def sync_folder(folder: Path) -> None:
    """Make renames and new names in a folder durable (fsync(2): syncing a file says nothing of its name).

    Raises:
        OSError: the folder cannot be opened or synced.
    """
    if not hasattr(os, "O_DIRECTORY"):
        return  # Windows opens no folder as a file; its file system keeps a journal of names
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some file systems cannot sync a folder, and say so.
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(handle)


def sync_file(path: Path) -> None:
    """Make what stands in a file durable.

    Raises:
        OSError: it cannot be opened or synced.
    """
    with path.open("rb") as file:
        os.fsync(file.fileno())


def make_folder(folder: Path, *, mode: int = 0o777) -> None:
    """Make a folder with the folders above it, each for good; what is there stays as it is."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=mode, exist_ok=True)
    sync_folder(folder.parent)


def replace_text(path: Path, text: str, *, private: bool = True) -> None:
    """Put a text into the place of a file, or make it, in one step and for good; this account alone can read it.

    Where it is not `private` it keeps the mode of what stood there, and has that of any new file where nothing did.

    Raises:
        OSError: it cannot be written; what was there stays.
    """
    made = path.with_name(f".new-{os.getpid()}-{time.monotonic_ns()}")
    try:
        mode = 0o600 if private else 0o666
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if not private and path.exists():
            made.chmod(path.stat().st_mode & 0o777)
        made.replace(path)
        sync_folder(path.parent)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
