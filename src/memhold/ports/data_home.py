"""Where a user's data is, by default and as a location says it, and where a process that others start stands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["absolute_location", "data_home", "default_db", "file_of", "home", "is_served", "leave_folder"]


def home() -> Path:
    """This account's folder. An empty `HOME` counts for nothing, as one that is not set: it is not `/`."""
    if os.environ.get("HOME") == "" and hasattr(os, "getuid"):
        from pwd import getpwuid

        try:
            return Path(getpwuid(os.getuid()).pw_dir)
        except KeyError:  # an account without a name has no other folder
            return Path.home()
    return Path.home()


def data_home() -> Path:
    """`$XDG_DATA_HOME/memhold`, `~/.local/share/memhold`, or macOS's own folder."""
    if sys.platform == "darwin":
        base = home() / "Library" / "Application Support"
    else:
        given = Path(os.environ.get("XDG_DATA_HOME", ""))
        # One that is relative is to be ignored (XDG Base Directory, 0.8): each folder would have its own memory.
        base = given if given.is_absolute() else home() / ".local" / "share"
    return base / "memhold"


def default_db() -> str:
    """The store of this user: `memory.db` in `data_home`."""
    return str(data_home() / "memory.db")


def absolute_location(location: str) -> str:
    """The same store, wherever a process stands: a path becomes absolute, what names no file stays as it is."""
    file = file_of(location)
    return location if file is None else str(file)


def file_of(location: str) -> Path | None:
    """The file that a location names, absolute; None for a URL, and for a `~` of nobody's, which opening refuses."""
    place = location.removeprefix("sqlite:///")
    if "://" in place:
        return None
    try:
        return Path(place).expanduser().absolute()
    except RuntimeError:
        return None


def is_served(location: str) -> bool:
    """Whether a location is the address of a server that keeps the store."""
    return location.lower().startswith(("http://", "https://"))


def leave_folder() -> None:
    """Go to the user's own folder, or to the root where that cannot be entered.

    A coding agent starts its servers in whatever repository was cloned: the folder may go away, and the settings that
    stand there are not the user's.
    """
    try:
        os.chdir(home())
    except (OSError, RuntimeError):
        os.chdir(os.sep)
