"""The named statements of the SQLite store, on one connection, and what reads with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import apsw

from memhold.storage.open_state import StoreTime
from memhold.storage.sql.blocks import Row, load_dialect
from memhold.storage.sql.reads import SqlRead
from memhold.storage.sql.row_batches import touching, writing
from memhold.storage.sqlite.rot import undecoded
from memhold.values.records import Scope

__all__ = ["QUERIES", "SqliteRead", "SqliteStatements"]

QUERIES = load_dialect("memhold.storage.sqlite")
_TOUCHING = touching(QUERIES)
_WRITING = writing(QUERIES)
_TOGETHER: AbstractContextManager[object] = nullcontext()


class SqliteStatements:
    """`Statements` of one connection."""

    refused = apsw.ConstraintError
    touching = _TOUCHING
    writing = _WRITING

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def mark(self) -> None:
        self.connection.execute("SAVEPOINT one")

    def run(self, name: str, params: Mapping[str, Any]) -> apsw.Cursor:
        return self.connection.execute(QUERIES[name], params)

    def each(self, name: str, params: Sequence[Mapping[str, Any]]) -> list[list[Row]]:
        sql = QUERIES[name]
        return [list(self.connection.execute(sql, one)) for one in params]

    def undecoded(self, name: str, params: Mapping[str, Any]) -> list[Row]:
        return undecoded(self.connection, QUERIES[name], params)

    def many(self, name: str, params: Sequence[Mapping[str, Any]]) -> None:
        if len(params) == 1:
            self.connection.execute(QUERIES[name], params[0])
        else:
            self.connection.executemany(QUERIES[name], params)

    def together(self) -> AbstractContextManager[object]:
        return _TOGETHER


class SqliteRead(SqlRead):
    """`ReadTx` over one connection that is inside a transaction."""

    def __init__(self, connection: apsw.Connection, scope: Scope, time: StoreTime) -> None:
        super().__init__(SqliteStatements(connection), scope, time)
