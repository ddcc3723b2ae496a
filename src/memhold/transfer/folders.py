"""Which files of a folder are imported: a coding agent's memory, pages of Markdown, a vector store on the disk."""

from __future__ import annotations

import os
from pathlib import Path

from memhold.values.errors import UnreadableImport

__all__ = ["files_of"]

_MOST = 100_000
_BESIDE = (".lock", ".bin", ".faiss", "-wal", "-shm", "-journal")
"""What belongs to a file beside it, and is read with it or is of no use elsewhere."""


def files_of(folder: Path) -> tuple[Path, ...]:
    """The files below a folder in the order of their names; no hidden ones, and nothing behind a symbolic link.

    Raises:
        UnreadableImport: the folder cannot be read, or holds more than 100,000 files.
    """

    def unreadable(error: OSError) -> None:
        raise UnreadableImport(f"{error.filename} cannot be read: {error.strerror}", path=str(folder), line=None)

    found: list[Path] = []
    for where, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        here = (Path(where, name) for name in sorted(names) if _is_taken(name))
        found += (one for one in here if one.is_file() and not one.is_symlink())
        if len(found) > _MOST:
            said = f"{folder} holds more than {_MOST:,} files; name the folder in it that holds the memory"
            raise UnreadableImport(said, path=str(folder), line=None)
    return tuple(found)


def _is_taken(name: str) -> bool:
    return not name.startswith(".") and not name.endswith(_BESIDE)
