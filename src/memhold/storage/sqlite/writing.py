"""The write side of a transaction on the writer's connection."""

from __future__ import annotations

from datetime import datetime

import apsw

from memhold.model import Scope
from memhold.storage.gathered import Gathered
from memhold.storage.writing import SqlWrite

__all__ = ["SqliteWrite"]


class SqliteWrite(SqlWrite):
    """`WriteTx` over the writer's connection."""

    def __init__(self, gathered: Gathered, scope: Scope, now: datetime, *, connection: apsw.Connection) -> None:
        super().__init__(gathered, scope, now)
        self._connection = connection

    @property
    def connection(self) -> apsw.Connection:
        """The connection, for upkeep alone; everything that waits is written before."""
        self._mark()
        self._write_out()
        return self._connection
