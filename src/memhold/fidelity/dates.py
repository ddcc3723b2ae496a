"""Days that a text names, as every range that each may mean, from the day on which it was said. Pure.

A day without a year is near the day on which it was said; "next Wednesday" is the next one or the one after it.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final

from memhold.fidelity.amounts import number_pattern, value_of
from memhold.languages.tables import Speech, any_of, speech

__all__ = ["Day", "Range", "days"]

Range = tuple[date, date]
_FAR: Final = timedelta(days=270)
_MONTH: Final = 93
"""Days up to which a range says enough to hold a day, or to contradict one."""
_UNITS: Final = ("day", "week", "month", "year")


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day, month or year as it stands; `weekday` where it is named by that alone. `sure`: it is surely that."""

    ranges: frozenset[Range]
    start: int
    end: int
    sure: bool = True
    weekday: int | None = None
    dated: bool = False

    @property
    def short(self) -> bool:
        """Whether each of its ranges is short enough to say something of a day."""
        return all((end - start).days <= _MONTH for start, end in self.ranges)


_Found = tuple[frozenset[Range], bool] | None
_Reader = Callable[[re.Match[str], Speech, date], _Found]


@lru_cache(maxsize=4096)
def days(text: str, codes: tuple[str, ...], said: date) -> tuple[Day, ...]:
    """Every day, month and year that a plain text names; of two readings of one place the longer first one."""
    own = speech(codes)
    found: list[Day] = []
    for name, pattern, read in _readers(codes):
        for match in pattern.finditer(text):
            if any(match.start() < one.end and one.start < match.end() for one in found):
                continue
            try:
                meant = read(match, own, said)
            except (ValueError, OverflowError):  # 31 February, the year 0
                continue
            if meant is not None and meant[0]:
                weekday = own.weekdays[match["weekday"]] if name == "weekday" else None
                found.append(
                    Day(
                        ranges=meant[0],
                        start=match.start(),
                        end=match.end(),
                        sure=meant[1],
                        weekday=weekday,
                        dated=name == "date" and all((end - begin).days == 1 for begin, end in meant[0]),
                    )
                )
    found = [one for one in found if one.weekday is None or not _beside_a_date(one, found)]
    return tuple(sorted((*found, *_later(text, own, found)), key=lambda one: one.start))


def _beside_a_date(weekday: Day, found: list[Day]) -> bool:
    """Whether a weekday only says which one a date is: "Friday, 22 May"."""
    return any(one.weekday is None and one.dated and 0 <= one.start - weekday.end <= 8 for one in found) or any(
        one.weekday is None and one.dated and 0 <= weekday.start - one.end <= 3 for one in found
    )


@lru_cache(maxsize=128)
def _readers(codes: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str], _Reader], ...]:
    own = speech(codes)
    number = number_pattern(codes)
    words = {name: any_of(own.words("calendar", name)) for name in _HEADINGS}
    marks = any_of(own.words("numbers", "ordinal_marks"))
    ordinals = any_of(own.ordinals)
    day = rf"(?P<day>(?<!\d)[0-3]?\d(?!\d)(?:{marks})?|{ordinals})"
    year = rf"(?P<year>(?<!\d)(?:19|20)\d\d(?!\d))(?:\s?{words['behind_year']})?"
    month = rf"(?<!\d)(?P<month>{any_of(own.months)})\.?"
    unit = rf"(?P<unit>{any_of([word for word, name in own.units.items() if name in (*_UNITS, 'fortnight')])})"
    unit_word = any_of(own.units)
    pointed = "" if "." in own.words("numbers", "ordinal_marks") else "(?!)"
    turn = rf"(?:(?P<next>{words['next']})|(?P<last>{words['last']})|(?P<this>{words['this']}))"
    of = rf"(?:\s?{words['of']})?\s?"
    wide_day = rf"(?P<day>\d{{1,2}}|{number})\s?{words['behind_day']}"
    marks_of_day = own.words("calendar", "behind_day")
    lasting = (
        "|".join(
            re.escape(word[len(mark) :])
            for word in own.units
            for mark in marks_of_day
            if word.startswith(mark) and word != mark
        )
        or "(?!)"
    )
    often = any_of([word for word, name in own.units.items() if name == "times"])
    weekday = rf"(?P<weekday>{any_of(own.weekdays)})(?!{often})"
    count = rf"(?P<count>{number})\s?-?{unit}"
    long_marks = any_of(one for one in own.words("numbers", "ordinal_marks") if len(one) > 1)
    found: tuple[tuple[str, str, _Reader], ...] = (
        (
            "date",
            r"(?<![\d./-])(?P<year>(?:19|20)\d\d)[-/.](?P<number>1[0-2]|0?[1-9])(?:[-/.](?P<day>3[01]|[12]\d|0?[1-9]))?(?!\d)",
            _date,
        ),
        (
            "date",
            pointed
            + r"(?<![\d.:,])(?P<day>[0-3]?\d)\.\s?(?P<number>1[0-2]|0?[1-9])\."
            + r"(?:\s?(?P<year>(?:19|20)?\d\d)(?![\d:.]))?(?!\d)",
            _date,
        ),
        ("date", r"(?<![\d/])(?P<day>[0-3]?\d)/(?P<number>[0-3]?\d)/(?P<year>(?:19|20)?\d\d)(?![\d/])", _slashed),
        ("date", rf"(?:{year}\s?,?\s?)?{month}\s?{wide_day}", _date),
        ("date", rf"{month}\s+{day}(?!\w|[.,:]\d|\s?{unit_word})(?:,?\s+{year})?", _date),
        ("date", rf"{day}\.?\s+(?:{words['of']}\s?)?{month}(?:,?\s+(?:{words['of']}\s?)?{year})?", _date),
        ("date", rf"{month},?\s+(?:{words['of']}\s?)?{year}", _date),
        ("date", rf"{year}\s?{month}", _date),
        ("date", rf"{day}{of}{turn}\s?{unit}", _day_of_turned),
        ("date", rf"{turn}\s?{unit}{of}{wide_day}", _day_of_turned),
        ("date", rf"{turn}\s?{unit}{of}{day}(?!\w)", _day_of_turned),
        ("weekday", rf"{turn}\s?{unit}?{of}{weekday}", _weekday),
        ("weekday", rf"{weekday}\s(?:{turn})", _weekday),
        ("turned", rf"{turn}\s?{unit}", _turned),
        ("turned", rf"{unit}\s{turn}", _turned),
        ("month", rf"{turn}\s?{month}", _turned_month),
        ("month", rf"{month}\s{turn}", _turned_month),
        (
            "season",
            rf"(?:{turn}\s)?(?P<season>{any_of(own.table('calendar', 'seasons'))})(?:\s(?:{words['of']}\s?)?{year})?",
            _season,
        ),
        ("relative", rf"(?P<name>{any_of(own.table('calendar', 'days'))})", _relative),
        ("count", rf"(?P<back>{any_of(own.words('calendar', 'back'))})\s{count}", _counted),
        ("count", rf"{count}\s?(?P<back>{any_of(own.words('calendar', 'back_behind'))})", _counted),
        ("count", rf"{any_of(own.words('calendar', 'ahead'))}\s{count}", _counted),
        ("count", rf"{count}\s?{any_of(own.words('calendar', 'ahead_behind'))}", _counted),
        (
            "day",
            rf"{words['before_day']}\s(?P<day>[0-3]?\d(?:{marks})?)(?![\w:/%]|[.,]\d|\s[a-z]?\d)(?!\s{any_of(own.units)})",
            _alone,
        ),
        (
            "day",
            rf"(?P<day>(?<![\w.,])[0-3]?\d(?:{long_marks}))(?!\w)",
            _alone,
        ),
        ("day", rf"(?<!\d){wide_day}(?!{lasting})", _alone),
        ("weekday", weekday, _weekday),
        ("date", rf"{month}(?![a-z\d])", _date),
        ("year", rf"(?<![\d.,:/-]){year}(?![\d%:/-]|[.,]\d)(?!\s?{any_of(own.units)})", _date),
    )
    return tuple((name, re.compile(pattern), read) for name, pattern, read in found)


_HEADINGS: Final = ("next", "last", "this", "of", "before_day", "behind_day", "behind_year")


def _group(match: re.Match[str], name: str) -> str | None:
    found: str | None = match.groupdict().get(name)
    return found


def _number(match: re.Match[str], name: str, own: Speech) -> int | None:
    word = _group(match, name)
    if word is None:
        return None
    digits = re.match(r"\d+", word)
    if digits is not None:
        return int(digits[0])
    value = own.ordinals.get(word) or value_of(word, own.codes)
    return int(value) if value is not None and value == int(value) else None


def _one(day: date) -> Range:
    return day, day + timedelta(days=1)


def _month(year: int, month: int, months: int = 1) -> Range:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    last = month - 1 + months
    return date(year, month, 1), date(year + last // 12, last % 12 + 1, 1)


def _date(match: re.Match[str], own: Speech, said: date) -> _Found:
    named, day = _group(match, "month"), _number(match, "day", own)
    if named in own.words("calendar", "months_and_words") and day is None and not _group(match, "year"):
        before = match.string[: match.start()].rsplit(maxsplit=1)[-1:]
        if not {*before} & {*own.words("clock", "at"), *own.words("calendar", "ahead")}:
            return None
    given = _group(match, "number")
    number = int(given) if given else own.months[named] if named else None
    year = _group(match, "year")
    if number is None:
        return frozenset({_month(int(year or 0), 1, 12)}), True
    years = [int(year) + (2000 if len(year) == 2 else 0)] if year else [said.year + step for step in (-1, 0, 1)]
    found = [_one(date(one, number, day)) if day else _month(one, number) for one in years if _is_day(one, number, day)]
    return _near(found, said) if not year else frozenset(found), True


def _is_day(year: int, month: int, day: int | None) -> bool:
    return day is None or 1 <= day <= calendar.monthrange(year, month)[1]


def _near(found: list[Range], said: date) -> frozenset[Range]:
    """Those within nine months of the day, and always the nearest."""
    nearest = min((abs(start - said) for start, _ in found), default=_FAR)
    return frozenset(one for one in found if abs(one[0] - said) <= max(_FAR, nearest))


def _slashed(match: re.Match[str], _: Speech, __: date) -> _Found:
    day, month, year = int(match["day"]), int(match["number"]), int(match["year"])
    year += 2000 if year < 100 else 0
    both = [(day, month), (month, day)]
    return frozenset(_one(date(year, b, a)) for a, b in both if b <= 12 and a and b and _is_day(year, b, a)), True


def _step(match: re.Match[str]) -> int:
    return 1 if _group(match, "next") else -1 if _group(match, "last") else 0


def _span(unit: str, step: int, said: date) -> Range:
    """The week, month or year that many behind this one."""
    if unit == "week":
        monday = said - timedelta(days=said.weekday()) + timedelta(days=7 * step)
        return monday, monday + timedelta(days=7)
    if unit == "year":
        return _month(said.year + step, 1, 12)
    return _month(said.year, said.month + step) if unit == "month" else _one(said + timedelta(days=step))


def _turned(match: re.Match[str], own: Speech, said: date) -> _Found:
    unit = own.units[match["unit"]]
    if unit not in _UNITS:
        return None
    return frozenset({_span(unit, _step(match), said)}), True


def _turned_month(match: re.Match[str], own: Speech, said: date) -> _Found:
    number, step = own.months[match["month"]], _step(match)
    found = [_month(said.year + more, number) for more in (-1, 0, 1, 2)]
    ahead = [one for one in found if one[0] > said][:2]
    behind = [one for one in found if one[1] <= said][-2:]
    return frozenset(ahead if step > 0 else behind if step < 0 else _near(found, said)), True


def _day_of_turned(match: re.Match[str], own: Speech, said: date) -> _Found:
    unit, day = own.units[match["unit"]], _number(match, "day", own)
    if day is None or unit not in {"month", "year"}:
        return None
    start, end = _span(unit, _step(match), said)
    return (frozenset({_one(start.replace(day=day))}) if unit == "month" else frozenset({(start, end)})), True


def _weekday(match: re.Match[str], own: Speech, said: date) -> _Found:
    offset = (own.weekdays[match["weekday"]] - said.weekday()) % 7
    unit, step = _group(match, "unit"), _step(match)
    if unit and own.units[unit] == "week":
        start, _ = _span("week", step, said)
        return frozenset({_one(start + timedelta(days=own.weekdays[match["weekday"]]))}), True
    ahead, back = offset or 7, offset - 7
    steps = (ahead, ahead + 7) if step > 0 else (back, back - 7) if step < 0 else (offset, ahead, back)
    return frozenset(_one(said + timedelta(days=one)) for one in steps), True


def _season(match: re.Match[str], own: Speech, said: date) -> _Found:
    month, year = own.table("calendar", "seasons")[match["season"]], _group(match, "year")
    years = [int(year)] if year else [said.year + step for step in (-1, 0, 1)]
    return frozenset(_month(one, month - 1, 5) for one in years), False


def _relative(match: re.Match[str], own: Speech, said: date) -> _Found:
    step = own.table("calendar", "days")[match["name"]]
    return frozenset({_one(said + timedelta(days=int(step)))}), True


def _counted(match: re.Match[str], own: Speech, said: date) -> _Found:
    count, unit = value_of(match["count"], own.codes), own.units[match["unit"]]
    if count is None:
        return None
    return frozenset({_away(said, -count if _group(match, "back") else count, unit)}), False


def _away(day: date, count: Decimal, unit: str) -> Range:
    """The day that far away, with as many around it as the unit leaves open."""
    length = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}[unit]
    middle = day + timedelta(days=int(count * Decimal("30.44") if unit == "month" else count * length))
    slack = timedelta(days={"day": 0, "week": 3, "fortnight": 3, "month": 16}.get(unit, 183))
    return middle - slack, middle + slack + timedelta(days=1)


def _alone(match: re.Match[str], own: Speech, said: date) -> _Found:
    day = _number(match, "day", own)
    if day is None or not 1 <= day <= 31:
        return None
    months = [_month(said.year, said.month + step)[0] for step in (-1, 0, 1)]
    for named in re.finditer(any_of(own.months), match.string):
        months += [date(said.year + step, own.months[named[0]], 1) for step in (-1, 0, 1)]
    return frozenset(_one(one.replace(day=day)) for one in months if _is_day(one.year, one.month, day)), True


def _later(text: str, own: Speech, found: list[Day]) -> Iterator[Day]:
    """Days that are told from another one: "four days later"."""
    units = any_of([word for word, unit in own.units.items() if unit in _UNITS])
    pattern = rf"(?P<count>{number_pattern(own.codes)})\s?(?P<unit>{units})\s?{any_of(own.words('calendar', 'after'))}"
    bases = [start for one in found if one.short and one.sure for start, _ in one.ranges]
    for match in re.finditer(pattern, text):
        count = value_of(match["count"], own.codes)
        if count is not None and bases:
            ranges = frozenset(_away(base, count, own.units[match["unit"]]) for base in bases)
            yield Day(ranges=ranges, start=match.start(), end=match.end(), sure=False)
