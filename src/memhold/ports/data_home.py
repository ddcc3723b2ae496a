"""Where a user's data is by default."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["data_home", "default_db"]


def data_home() -> Path:
    """`$XDG_DATA_HOME/memhold`, `~/.local/share/memhold`, or macOS's own folder."""
    if sys.platform == "darwin":
        base = Path("~/Library/Application Support")
    else:
        given = Path(os.environ.get("XDG_DATA_HOME", ""))
        # One that is relative is to be ignored (XDG Base Directory, 0.8): each folder would have its own memory.
        base = given if given.is_absolute() else Path("~/.local/share")
    return base.expanduser() / "memhold"


def default_db() -> str:
    """The store of this user: `memory.db` in `data_home`."""
    return str(data_home() / "memory.db")
