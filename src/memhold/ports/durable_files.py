"""Names that outlive a power cut: a file that was made or renamed is there for good once its folder is synced."""

from __future__ import annotations

import errno
import os
from pathlib import Path

__all__ = ["make_folder", "sync_folder"]


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


def make_folder(folder: Path, *, mode: int = 0o777) -> None:
    """Make a folder with the folders above it, each for good; what is there stays as it is."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=mode, exist_ok=True)
    sync_folder(folder.parent)
