"""The write side of a transaction on the writer's connection."""

from __future__ import annotations

from datetime import datetime

import apsw

from memhold.storage.sql.row_batches import RowBatch
from memhold.storage.sql.writes import SqlWrite
from memhold.storage.store_time import StoreTime
from memhold.values.records import Scope

__all__ = ["SqliteWrite"]


class SqliteWrite(SqlWrite):
    """`WriteTx` over the writer's connection."""

    def __init__(self, gathered: RowBatch, scope: Scope, time: StoreTime, *, connection: apsw.Connection) -> None:
        super().__init__(gathered, scope, time)
        self._connection = connection

    @property
    def clock(self) -> datetime:
        """What the machine's clock says."""
        return self._time.clock

    @property
    def connection(self) -> apsw.Connection:
        """The connection, for upkeep alone; everything that waits is written before."""
        self._mark()
        self._write_out()
        return self._connection
