"""A Memhold that runs for the hooks of one store: where it is met, and how it is asked.

Opening a store takes longer than a hook may; so one process keeps it open, and hooks ask it over a socket that only
this account can reach. Whoever asks waits a moment and no longer.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import stat
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from memhold._version import __version__
from memhold.ports.data_home import file_of

TYPE_CHECKING = False  # type checkers take it for true; what a hook loads holds its client up
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = [
    "AGAIN_SECONDS",
    "ANSWER_SECONDS",
    "END",
    "MOST_BYTES",
    "OFF",
    "START_SECONDS",
    "NotRunning",
    "ask",
    "end",
    "meeting_place",
    "why_off",
]

ANSWER_SECONDS = 0.3
"""How long an answer is waited for: what comes later comes too late for the prompt."""
START_SECONDS = 1.5
"""How long a prompt waits where the one that answers is being started."""
AGAIN_SECONDS = 10.0
"""How long after a store could not be opened no prompt has it tried again: each try is a process of its own."""
MOST_BYTES = 256 * 1024
"""Longest request and longest answer."""
_LONGEST_FOLDER = 60
END = "end"
"""The event by which a running Memhold is told to end."""


OFF = ".off"
"""What stands instead of `.sock` in the name of the file that says why a store could not be opened."""


class NotRunning(Exception):
    """Nobody listens for this store."""


def meeting_place(location: str) -> Path:
    """The socket for a store, in a folder of this account alone; another version of Memhold has another one.

    Raises:
        OSError: the folder is not ours alone, or cannot be made; or the system (Windows) has no such sockets, and
            hooks take note for whoever opens the store next.
    """
    if not (hasattr(socket, "AF_UNIX") and hasattr(os, "getuid")):
        raise OSError(errno.ENOTSUP, "this system has no sockets that one account alone can reach")
    file = file_of(location)
    place = location if file is None else os.path.realpath(file)
    name = sha256(f"{__version__}\0{place}".encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return _own_folder() / f"{name}.sock"


def _own_folder() -> Path:
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    # The name of a socket is short on every system; a folder that leaves no room for it is passed over.
    fit = 0 < len(os.fsencode(given)) <= _LONGEST_FOLDER and _is_our_own(given)
    folder = Path(given) / "memhold" if fit else Path("/tmp") / f"memhold-{os.getuid()}"  # noqa: S108 - checked below
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    # In a folder that all accounts share, another one may have been first.
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} is not a folder of this account alone; remove it")
    return folder


def _is_our_own(folder: str) -> bool:
    """Whether this account can make files in a folder of its own; `su` and `sudo` leave another's name standing."""
    try:
        return os.stat(folder).st_uid == os.getuid() and os.access(folder, os.W_OK | os.X_OK)  # noqa: PTH116 - fast
    except OSError:
        return False


def ask(location: str, request: Mapping[str, Any], *, seconds: float = ANSWER_SECONDS) -> dict[str, Any] | None:
    """What the running Memhold says; None where it says nothing in time.

    Raises:
        NotRunning: there is none.
        OSError: the place where it is met cannot be reached.
    """
    place = meeting_place(location)
    ends = time.monotonic() + seconds
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        try:
            line.settimeout(_left(ends))
            line.connect(str(place))
            line.sendall(json.dumps(request).encode() + b"\n")
            said = b""
            while not said.endswith(b"\n") and len(said) < MOST_BYTES:
                line.settimeout(_left(ends))
                piece = line.recv(65_536)
                if not piece:
                    # It ended while it was asked.
                    raise NotRunning
                said += piece
        except (FileNotFoundError, ConnectionError) as error:
            raise NotRunning from error
        except (TimeoutError, BlockingIOError):
            return None
    try:
        found = json.loads(said)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def why_off(location: str, *, within: float | None = None) -> str | None:
    """Why the last Memhold that was started for this store's hooks could not open it; None where it could.

    With `within`, where that is not more than so many seconds ago.
    """
    try:
        place = meeting_place(location).with_suffix(OFF)
        if within is not None and not 0 <= time.time() - place.stat().st_mtime <= within:
            return None
        return place.read_text(encoding="utf-8")
    except OSError:
        return None


def end(location: str) -> None:
    """Tell the Memhold that runs for a store's hooks to end, after what it is at; where none runs, nothing."""
    with suppress(NotRunning, OSError):
        ask(location, {"event": END})


def _left(ends: float) -> float:
    # Zero would mean not to wait at all, and fail with another error.
    return max(0.001, ends - time.monotonic())
