"""Whether this process may open a further file: SQLite says only that it could not open one."""

from __future__ import annotations

import errno
import os

from memhold.values.errors import StoreError

__all__ = ["refuse_crowd"]

_AT_ONCE = 8
"""More than a connection opens (file, log, the log's index, folder) and gives back where one of them fails."""
_CROWDED = frozenset({errno.EMFILE, errno.ENFILE})


def refuse_crowd(path: str, error: Exception | None = None) -> None:
    """Say so where a store could not be opened for want of descriptors.

    Raises:
        StoreError: this process, or the machine, has as many files open as it may.
    """
    probes: list[int] = []
    try:
        while len(probes) < _AT_ONCE:
            probes.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as now:
        error = now
    finally:
        for probe in probes:
            os.close(probe)
    if isinstance(error, OSError) and error.errno in _CROWDED:
        raise StoreError(
            f"{path} cannot be opened: too many files are open; close stores that are open, or allow more (ulimit -n)"
        ) from error
