"""Times that a question names, as ranges: "in May 2023", "vor zwei Wochen", "지난주". Pure.

Of what a time may mean it is the last one that began before now: a question asks for what was said. Times are UTC. A
general parser was measured and left: dateparser reads "Can she", "who sat" and a woman called Jan as times
(docs/recall.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

from memhold.fidelity.dates import Day, Range, days
from memhold.languages.tables import heard
from memhold.text.normal_form import normal_form

__all__ = ["TimeRange", "times"]


_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_LEAP: Final = (2, 29)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRange:
    """From `start` until before `end`, aware UTC; `text` is what was read and stands at `span` of the question."""

    start: datetime
    end: datetime
    text: str
    span: tuple[int, int]


def times(text: str, now: datetime) -> Iterator[TimeRange]:
    """The ranges that a question names, in its order."""
    told, today = normal_form("NFC", text), now.astimezone(UTC).date()
    low = "".join(char.lower() if len(char.lower()) == 1 else char for char in told)
    for day in days(low, heard(text).codes, today):
        span = day.start, day.end
        meant = _begun(day, today, named=_YEAR.search(low, *span) is not None)
        if meant is not None and not _any_month_or_year(day, low):
            start, end = map(_midnight, meant)
            yield TimeRange(start=start, end=end, text=told[slice(*span)], span=span)


def _any_month_or_year(day: Day, text: str) -> bool:
    """Whether a time is of no month or year of its own: "the 15th", "in winter"."""
    return day.form == "day" or (day.form == "season" and " " not in text[day.start : day.end])


def _begun(day: Day, today: date, *, named: bool) -> Range | None:
    """The last of what a time may mean that began before a day, which may be that of the year before."""
    begun = [one for one in day.ranges if one[0] <= today or named]
    if begun:
        return max(begun)
    start, end = min(day.ranges)
    again = start.year > 1 and (start.month, start.day) != _LEAP != (end.month, end.day)
    back = start.replace(year=start.year - 1) if again else start
    return (back, end.replace(year=end.year - 1)) if again and day.form == "date" and back <= today else None


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
