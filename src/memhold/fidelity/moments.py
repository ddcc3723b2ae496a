"""A time as a person gives it to a program: a date, a clock time of their own zone, "yesterday", "7d"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, tzinfo

from memhold.fidelity.times import TimeRange, times
from memhold.values.errors import InvalidInput
from memhold.values.jsonable import parse_time

__all__ = ["local_times", "on_clock", "read_moment", "utc_of"]

_SPAN = re.compile(r"(\d{1,6}) ?(m|h|d|w)")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_BEHIND = frozenset({"until", "written_until", "after"})
"""A day that is given for one of these counts to its end: "until" takes it in, "after" begins behind it."""
_WITHIN = frozenset({"as_of", "known_at"})
"""Points: a day that is given for one stands for its last moment."""
_AHEAD = frozenset({"expires_at"})


def on_clock(moment: datetime, zone: tzinfo | None) -> datetime:
    """A moment as a clock in a zone shows it, without a zone; None is this machine's."""
    return moment.astimezone(zone).replace(tzinfo=None)


def utc_of(shown: datetime, zone: tzinfo | None) -> datetime:
    """The moment at which a clock in a zone shows this."""
    return (shown.astimezone() if zone is None else shown.replace(tzinfo=zone)).astimezone(UTC)


def local_times(text: str, now: datetime, zone: tzinfo | None) -> Sequence[TimeRange]:
    """The ranges that a text names, by the days of a zone."""
    found = times(text, on_clock(now, zone).replace(tzinfo=UTC))
    return [
        replace(one, start=utc_of(one.start.replace(tzinfo=None), zone), end=utc_of(one.end.replace(tzinfo=None), zone))
        for one in found
    ]


def read_moment(name: str, given: datetime | str, now: datetime, zone: tzinfo | None) -> datetime:
    """The moment that an argument of this name means, aware UTC.

    A day, or a longer time, stands for where it begins; for where it ends as `until`, and for its last moment as
    `as_of`. A span such as "7d" is so long ago; so far ahead as `expires_at`.

    Raises:
        InvalidInput: it is no time that is understood, or not within the years 1 to 9999.
        NaiveTime: a datetime has no zone.
    """
    try:
        if isinstance(given, datetime):
            return parse_time(given)
        return _read(name, given.strip(), now, zone)
    except InvalidInput as error:
        raise type(error)(f"{name}: {error}") from None
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{name} is {given!r:.60}, no time that is understood; pass 2026-11-01, 2026-11-01T09:00,"
            " 2026-11-01T09:00:00Z, yesterday, or 7d (also m, h, w)"
        ) from None


def _read(name: str, text: str, now: datetime, zone: tzinfo | None) -> datetime:
    if text.lower() == "now":
        return now
    if span := _SPAN.fullmatch(text.lower()):
        length = timedelta(**{_UNITS[span[2]]: int(span[1])})
        return now + length if name in _AHEAD else now - length
    if text.lower() == "tomorrow":
        day = on_clock(now, zone).date() + timedelta(days=1)
        return _of_days(name, day, day + timedelta(days=1), zone)
    if (found := local_times(text, now, zone)) and len(found) == 1 and found[0].text == text:
        return _of_range(name, found[0].start, found[0].end)
    shown = datetime.fromisoformat(text)
    return parse_time(text) if shown.tzinfo is not None else utc_of(shown, zone)


def _of_days(name: str, first: date, behind: date, zone: tzinfo | None) -> datetime:
    start, end = (datetime(day.year, day.month, day.day) for day in (first, behind))  # noqa: DTZ001 - as a clock shows
    return _of_range(name, utc_of(start, zone), utc_of(end, zone))


def _of_range(name: str, start: datetime, end: datetime) -> datetime:
    if name in _BEHIND:
        return end
    return end - timedelta(microseconds=1) if name in _WITHIN else start
