"""Days, weeks and months of the history, in UTC as all times of the store. Pure.

They nest: a week is seven whole days (ISO 8601, Monday first), and a month is the whole weeks whose Thursday lies in
it, as ISO 8601 gives a week to a year. So each summary is in one roll-up of each level, and none is told twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal

from memhold.ports.transaction import WriteTx
from memhold.values.records import Memory

__all__ = ["DUE_ROLLUP", "GRACE", "LATE", "LEVELS", "Level", "Period", "day_of", "due_rollup", "rolled_up_at"]

Level = Literal["day", "week", "month"]
LEVELS: tuple[Level, ...] = ("day", "week", "month")
DUE_ROLLUP: Final = ("rollup", "summaries")
"""The kind and ref of the due work."""
GRACE = timedelta(hours=2)
"""A session that is silent for half an hour is consolidated: two hours after midnight the day's summaries are there."""
LATE = timedelta(minutes=15)
"""Windows of old days come one after the other, from an import or a model that is back: they are told together."""
_THURSDAY = 3
_YEARS = range(2, 9999)
"""Years whose weeks have a beginning and an end that a date can name."""


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A day, week or month: its level, its first day, and the day after its last."""

    level: Level
    first: date
    end: date

    @property
    def name(self) -> str:
        """As people write it: 2026-11-20, 2026-W47, 2026-11."""
        match self.level:
            case "day":
                return self.first.isoformat()
            case "week":
                year, week, _ = self.first.isocalendar()
                return f"{year:04}-W{week:02}"
            case "month":
                return (self.first + timedelta(days=_THURSDAY)).isoformat()[:7]

    @property
    def settled_at(self) -> datetime:
        """When it is over, and what was said in it has its summary."""
        return datetime.combine(self.end, time(), UTC) + GRACE

    @property
    def within(self) -> Period | None:
        """The week of a day, the month of a week; None above a month."""
        match self.level:
            case "day":
                monday = self.first - timedelta(days=self.first.weekday())
                return Period("week", monday, monday + timedelta(days=7))
            case "week":
                thursday = self.first + timedelta(days=_THURSDAY)
                first = thursday.replace(day=1)
                return Period("month", _first_monday(first), _first_monday((first + timedelta(days=31)).replace(day=1)))
            case "month":
                return None


def _first_monday(first: date) -> date:
    """The Monday of the first week whose Thursday lies in a month, by the first day of it."""
    return first + timedelta(days=(_THURSDAY - first.weekday()) % 7 - _THURSDAY)


def day_of(moment: datetime) -> Period | None:
    """The day of a time; None for the ends of the calendar, whose weeks no date can name."""
    day = moment.astimezone(UTC).date()
    return Period("day", day, day + timedelta(days=1)) if day.year in _YEARS else None


def rolled_up_at(moment: datetime) -> datetime:
    """When the day of a time is rolled up."""
    day = day_of(moment)
    return moment if day is None else day.settled_at


def due_rollup(tx: WriteTx, summaries: Sequence[Memory]) -> None:
    """Have roll-ups looked at once the first of the days of these summaries is over, or soon where it is."""
    days = [day for memory in summaries if (day := day_of(memory.event_time)) is not None]
    if days:
        tx.put_due(*DUE_ROLLUP, max(tx.now + LATE, min(day.settled_at for day in days)))
