"""The write side of a transaction that has entered its scope and holds the lock of its namespace."""

from __future__ import annotations

from datetime import datetime

from holdfast.answers import Due
from holdfast.model import Scope
from holdfast.storage import rows
from holdfast.storage.gathered import Gathered
from holdfast.storage.writing import SqlWrite

__all__ = ["PostgresWrite"]


class PostgresWrite(SqlWrite):
    """`WriteTx`; `woke` says whether work was made due."""

    def __init__(self, gathered: Gathered, scope: Scope, now: datetime) -> None:
        super().__init__(gathered, scope, now)

    def due(self) -> list[Due]:
        """The scope's due work; until this transaction ends nobody claims it, so a lease that holds goes on holding."""
        return [rows.to_due(row) for row in self._run("lock_due")]
