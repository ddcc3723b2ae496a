"""Who else can reach a file, where the system tells it by its mode."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["open_to_others"]


def open_to_others(path: Path, bits: int = 0o077) -> int | None:
    """The file's mode where it lets others do what `bits` say; else None, as always where modes say nothing (Windows).

    Raises:
        OSError: it is not there, or cannot be looked at.
    """
    if os.name != "posix":
        return None
    mode = stat.S_IMODE(path.stat().st_mode)
    return mode if mode & bits else None
