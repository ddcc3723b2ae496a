"""The name of a process that tells, on the same machine, whether it is still there: a number alone is given again."""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path

__all__ = ["is_gone", "this_process"]

_PROC = Path("/proc")
_BOOT = _PROC / "sys/kernel/random/boot_id"
_PARTS = 5
_ENDED = frozenset("ZX")
"""States of a process that does nothing any more, though nobody has asked how it ended."""


def this_process() -> str:
    """A name of this process that no other has: its machine, that machine's boot, where its number counts, since when.

    Where the system does not tell these (no Linux), a name of which `is_gone` knows nothing.
    """
    number = os.getpid()
    try:
        return "/".join((socket.gethostname(), *_here(), str(number), _told(number)[1]))
    except (OSError, ValueError):
        return f"{socket.gethostname()}/{number}"


def is_gone(name: str) -> bool:
    """Whether the process of that name has ended; False also where that cannot be known, as of another machine's."""
    parts = name.split("/")
    if len(parts) != _PARTS or not parts[3].isdecimal():
        return False
    _, boot, space, number, begun = parts
    try:
        if (boot, space) != _here():
            return False
        os.kill(int(number), 0)  # asks only; where such a name is made, signal 0 is none
        state, since = _told(int(number))
    except ProcessLookupError:
        return True
    except (OSError, ValueError, OverflowError):
        return False  # another account's, or not to be looked at
    return state in _ENDED or since != begun


@cache
def _here() -> tuple[str, str]:
    """The machine's boot, and the namespace in which numbers of processes count."""
    return _BOOT.read_text().strip(), str((_PROC / "self/ns/pid").stat().st_ino)


def _told(number: int) -> tuple[str, str]:
    """A process's state, and when it began in ticks since the boot (proc(5): fields 3 and 22 of its `stat`)."""
    # The name in parentheses may hold anything.
    fields = (_PROC / str(number) / "stat").read_text().rpartition(")")[2].split()
    return fields[0], fields[19]
