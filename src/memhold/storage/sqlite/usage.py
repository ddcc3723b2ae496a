"""What models were used for, over all scopes: counts without content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, get_args

import apsw

from memhold.storage.sql.rows import readable
from memhold.storage.sqlite.reading import QUERIES
from memhold.storage.sqlite.writer import SqliteWrite
from memhold.values.errors import FailureClass
from memhold.values.records import Scope

if TYPE_CHECKING:
    from memhold.ports.models import Tally

__all__ = ["SqliteUsageBook"]

_COUNTS = ("calls", "answered", "retries", "input_tokens", "output_tokens", "milliseconds", "nanousd", "unpriced")
_CLASSES: tuple[str, ...] = get_args(FailureClass)
_SCOPE = Scope(namespace="upkeep")


class SqliteUsageBook:
    """`UsageBook` over a store's writer and readers."""

    def __init__(self, *, write: Callable[..., Any], read: Callable[..., Any]) -> None:
        self._write = write
        self._read = read

    async def add(self, tallies: Sequence[Tally]) -> None:
        def work(tx: SqliteWrite) -> None:
            tx.connection.executemany(QUERIES["add_usage"], [_params(tally) for tally in tallies])

        if tallies:
            await self._write(_SCOPE, work)

    async def read(self, since: date | None = None) -> list[Tally]:
        def look(connection: apsw.Connection, _: datetime) -> list[Tally]:
            rows = connection.execute(QUERIES["read_usage"], {"since": since.isoformat() if since else ""})
            return [_to_tally(row) for row in rows]

        found: list[Tally] = await self._read(look)
        return found


def _params(tally: Tally) -> dict[str, Any]:
    counts = {name: getattr(tally, name) for name in _COUNTS}
    failures = {f"f_{cls}": tally.failures.get(cls, 0) for cls in _CLASSES}
    return {"day": tally.day.isoformat(), "model": tally.model, "purpose": tally.purpose, **counts, **failures}


@readable
def _to_tally(row: Sequence[Any]) -> Tally:
    from memhold.ports.models import Tally

    failures = {cls: count for cls, count in zip(_CLASSES, row[3 + len(_COUNTS) :], strict=True) if count}
    counts = dict(zip(_COUNTS, row[3:], strict=False))
    return Tally(day=date.fromisoformat(row[0]), model=row[1], purpose=row[2], failures=failures, **counts)
