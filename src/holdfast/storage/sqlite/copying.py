"""A SQLite file as the source or the target of a move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import batched
from typing import Any

import apsw

from holdfast.storage.copying import BATCH_ROWS, VOLATILE, Globals, Scoped, Table, Whose
from holdfast.storage.sql import Row
from holdfast.storage.sqlite.connection import connect, translated

__all__ = ["SqliteSide"]


class SqliteSide:
    """`Side` over one file that a store made or migrated before."""

    def __init__(self, path: str, *, busy_timeout: float) -> None:
        self._path = path
        self._connection = connect(path, busy_timeout=busy_timeout)
