"""What models were used for, over all scopes: counts without content."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, get_args

from memhold.ports.models import Tally
from memhold.storage.postgres.connection import Session
from memhold.storage.postgres.statements import QUERIES
from memhold.storage.postgres.upkeep import Looks
from memhold.storage.sql.rows import readable
from memhold.values.errors import FailureClass

__all__ = ["PostgresUsageBook"]

_COUNTS = ("calls", "answered", "retries", "input_tokens", "output_tokens", "milliseconds", "nanousd", "unpriced")
_CLASSES: tuple[str, ...] = get_args(FailureClass)


class PostgresUsageBook:
    """`UsageBook` over transactions that have entered no scope."""

    def __init__(self, *, change: Looks, look: Looks) -> None:
        self._change = change
        self._look = look

    async def add(self, tallies: Sequence[Tally]) -> None:
        # In one order everywhere, so that two processes never wait for each other's rows.
        params = sorted(
            (_params(tally) for tally in tallies), key=lambda one: (one["day"], one["model"], one["purpose"])
        )

        def work(connection: Session, _: datetime) -> None:
            for one in params:
                connection.execute(QUERIES["add_usage"], one)

        if params:
            await self._change(work)

    async def read(self, since: date | None = None) -> list[Tally]:
        def look(connection: Session, _: datetime) -> list[Tally]:
            found = connection.execute(QUERIES["read_usage"], {"since": since.isoformat() if since else ""})
            return [_to_tally(row) for row in found.fetchall()]

        return await self._look(look)


def _params(tally: Tally) -> dict[str, Any]:
    counts = {name: getattr(tally, name) for name in _COUNTS}
    failures = {f"f_{cls}": tally.failures.get(cls, 0) for cls in _CLASSES}
    return {"day": tally.day.isoformat(), "model": tally.model, "purpose": tally.purpose, **counts, **failures}


@readable
def _to_tally(row: Sequence[Any]) -> Tally:
    failures = {cls: count for cls, count in zip(_CLASSES, row[3 + len(_COUNTS) :], strict=True) if count}
    counts = dict(zip(_COUNTS, row[3:], strict=False))
    return Tally(day=date.fromisoformat(row[0]), model=row[1], purpose=row[2], failures=failures, **counts)
