"""Starting the Memhold that runs for the hooks of one store."""

from __future__ import annotations

import errno
import os
import sys

from memhold.ports.data_home import absolute_location

__all__ = ["start"]

_MODULE = "memhold.faces.agents.answering"


def start(location: str) -> None:
    """Start one for a store, of its own: it outlives whoever starts it. Where one runs already, it ends at once.

    Raises:
        OSError: it cannot be started.
    """
    if not hasattr(os, "posix_spawn"):
        raise OSError(errno.ENOTSUP, "this system starts no process of its own that way")
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    # -P, and -E where the hook has it: what is called `json.py` in the folder of a project is no module of ours.
    alone = ["-E", "-P"] if sys.flags.ignore_environment else ["-P"]
    command = [sys.executable, *alone, "-m", _MODULE, "--db", absolute_location(location)]
    os.posix_spawn(sys.executable, command, os.environ, file_actions=nowhere, setsid=True)
