"""How a namespace grew: rows of counts by day, as the days of its usage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from memhold.ports.maintenance import DayWritten
from memhold.values.records import micros

__all__ = ["days_of", "first_moment"]

_FIRST = date(1970, 1, 1)


def first_moment(day: date) -> int:
    """The beginning of a day (UTC), in microseconds since 1970."""
    return micros(datetime(day.year, day.month, day.day, tzinfo=UTC))


def days_of(rows: Iterable[tuple[str, int, int, int | None]]) -> tuple[DayWritten, ...]:
    """Rows of (messages or memories, days since 1970, count, bytes) as days, oldest first; of one day they add up."""
    found: dict[str, DayWritten] = {}
    for what, number, count, size in rows:
        day = (_FIRST + timedelta(days=number)).isoformat()
        held = found.get(day, DayWritten(day=day))
        counted = {what: getattr(held, what) + count}
        found[day] = replace(held, bytes=held.bytes + int(size or 0), **counted)
    return tuple(found[day] for day in sorted(found))
