"""The read side of a transaction on one PostgreSQL connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memhold.ports.vector_blocks import Nearest
from memhold.storage.open_state import StoreTime
from memhold.storage.postgres.connection import Session
from memhold.storage.postgres.near import covered, nearest
from memhold.storage.postgres.statements import PostgresStatements
from memhold.storage.sql.reads import SqlRead
from memhold.values.records import Scope

__all__ = ["PostgresRead"]


class PostgresRead(SqlRead):
    """`ReadTx` over one connection that is inside a transaction which has entered the scope."""

    def __init__(self, connection: Session, scope: Scope, time: StoreTime, *, until: float | None = None) -> None:
        self._statements = PostgresStatements(connection, until=until)
        super().__init__(self._statements, scope, time)

    def near(self, generation: int) -> tuple[int, bool] | None:
        """Up to which document the scope's vectors stand in rows, and whether an index serves them."""
        return covered(self._first("read_near", generation=generation))

    def nearest(
        self, generation: int, vector: bytes, limit: int, also: Callable[[], Sequence[int]] = tuple
    ) -> Nearest | None:
        self._check_open()
        return nearest(self._statements, self._bound, generation, vector, limit, also)
