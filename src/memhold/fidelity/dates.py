"""Days that a text names, as every range that each may mean, from the day on which it was said. Pure.

A day without a year is near the day on which it was said; "next Wednesday" is the next one or the one after it.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator, Mapping
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
    """A day, month or year as it stands; `weekday` where it is named by that alone. `sure`: it is surely that.

    `form` says how it is told: "date", "day" (of any month, "the 15th"), "turned" ("next week") and the like.
    """

    ranges: frozenset[Range]
    start: int
    end: int
    sure: bool = True
    weekday: int | None = None
    dated: bool = False
    form: str = ""

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
                        form=name,
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
    """What finds days, in the order in which they count: a place that one has read is left alone by the next."""
    own = speech(codes)
    words = {name: any_of(own.words("calendar", name)) for name in _HEADINGS}
    number = number_pattern(codes)
    marks = any_of(own.words("numbers", "ordinal_marks"))
    units = any_of([word for word, name in own.units.items() if name in (*_UNITS, "fortnight")])
    often = any_of([word for word, name in own.units.items() if name == "times"])
    parts = words | {
        "number": number,
        "marks": marks,
        "any_unit": any_of(own.units),
        "seasons": any_of(own.table("calendar", "seasons")),
        "days": any_of(own.table("calendar", "days")),
        "spans": any_of(own.table("calendar", "spans")),
        "day": rf"(?P<day>(?<!\d)[0-3]?\d(?!\d)(?:{marks})?|{any_of(own.ordinals)})",
        "year": rf"(?P<year>(?<!\d)(?:19|20)\d\d(?!\d))(?:\s?{words['behind_year']})?",
        "month": rf"(?<!\d)(?P<month>{any_of(own.months)})\.?",
        "unit": rf"(?P<unit>{units})",
        "count": rf"(?P<count>{number})\s?-?(?P<unit>{units})",
        "turn": rf"(?:(?P<next>{words['next']})|(?P<last>{words['last']})|(?P<this>{words['this']}))",
        "wide_day": rf"(?P<day>\d{{1,2}}|{number})\s?{words['behind_day']}",
        "weekday": rf"(?P<weekday>{any_of(own.weekdays)})(?!{often})",
        "long_marks": any_of(one for one in own.words("numbers", "ordinal_marks") if len(one) > 1),
        "lasting": _lasting(own),
    }
    dotted = ((_DOTTED, _date),) if "." in own.words("numbers", "ordinal_marks") else ()
    exact = tuple(
        ("date", re.compile(pattern), read) for pattern, read in ((_ISO, _date), *dotted, (_SLASHES, _slashed))
    )
    return (*exact, *((name, re.compile(_filled(pattern, parts)), read) for name, pattern, read in _PATTERNS))


def _filled(pattern: str, parts: Mapping[str, str]) -> str:
    """A pattern with its parts in the place of their names in angle brackets."""
    return re.sub(r"<<(\w+)>>", lambda name: parts[name[1]], pattern)


def _lasting(own: Speech) -> str:
    """What makes of the mark of a day the unit of a length of time."""
    marks = own.words("calendar", "behind_day")
    rest = [
        re.escape(word[len(mark) :]) for word in own.units for mark in marks if word.startswith(mark) and word != mark
    ]
    return f"(?:{'|'.join(rest)})" if rest else "(?:(?!))"


_ISO: Final = (
    r"(?<![\d./-])(?P<year>(?:19|20)\d\d)[-/.](?P<number>1[0-2]|0?[1-9])(?:[-/.](?P<day>3[01]|[12]\d|0?[1-9]))?(?!\d)"
)
_DOTTED: Final = (
    r"(?<![\d.:,])(?P<day>[0-3]?\d)\.\s?(?P<number>1[0-2]|0?[1-9])\."
    r"(?:\s?(?P<year>(?:19|20)?\d\d)(?![\d:.]))?(?!\d)"
)
_SLASHES: Final = r"(?<![\d/])(?P<day>[0-3]?\d)/(?P<number>[0-3]?\d)/(?P<year>(?:19|20)?\d\d)(?![\d/])"
_HEADINGS: Final = (
    *("next", "last", "this", "of", "before_day", "behind_day", "behind_year"),
    *("back", "back_behind", "ahead", "ahead_behind"),
)


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


def _spanned(match: re.Match[str], own: Speech, said: date) -> _Found:
    unit, step = own.table("calendar", "spans")[match["name"]]
    return frozenset({_span(unit, int(step), said)}), True


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


_PATTERNS: Final[tuple[tuple[str, str, _Reader], ...]] = (
    ("date", r"(?:<<year>>\s?,?\s?)?<<month>>\s?<<wide_day>>", _date),
    ("date", r"<<month>>\s+<<day>>(?!\w|[.,:]\d|\s?<<any_unit>>)(?:,?\s+<<year>>)?", _date),
    ("date", r"<<day>>\.?\s+(?:<<of>>\s?)?<<month>>(?:,?\s+(?:<<of>>\s?)?<<year>>)?", _date),
    ("date", r"<<month>>,?\s+(?:<<of>>\s?)?<<year>>", _date),
    ("date", r"<<year>>\s?<<month>>", _date),
    ("date", r"<<day>>(?:\s?<<of>>)?\s?<<turn>>\s?<<unit>>", _day_of_turned),
    ("date", r"<<turn>>\s?<<unit>>(?:\s?<<of>>)?\s?<<wide_day>>", _day_of_turned),
    ("date", r"<<turn>>\s?<<unit>>(?:\s?<<of>>)?\s?<<day>>(?!\w)", _day_of_turned),
    ("weekday", r"<<turn>>\s?<<unit>>?(?:\s?<<of>>)?\s?<<weekday>>", _weekday),
    ("weekday", r"<<weekday>>\s<<turn>>", _weekday),
    ("turned", r"(?P<name><<spans>>)", _spanned),
    ("turned", r"<<turn>>\s?<<unit>>", _turned),
    ("turned", r"<<unit>>\s<<turn>>", _turned),
    ("month", r"<<turn>>\s?<<month>>", _turned_month),
    ("month", r"<<month>>\s<<turn>>", _turned_month),
    ("season", r"(?:<<turn>>\s)?(?P<season><<seasons>>)(?:\s(?:<<of>>\s?)?<<year>>)?", _season),
    ("relative", r"(?P<name><<days>>)", _relative),
    ("count", r"(?P<back><<back>>)\s<<count>>", _counted),
    ("count", r"<<count>>\s?(?P<back><<back_behind>>)", _counted),
    ("count", r"<<ahead>>\s<<count>>", _counted),
    ("count", r"<<count>>\s?<<ahead_behind>>", _counted),
    (
        "day",
        r"<<before_day>>\s(?P<day>[0-3]?\d(?:<<marks>>)?)(?![\w:/%]|[.,]\d|\s[a-z]?\d)(?!\s<<any_unit>>)",
        _alone,
    ),
    ("day", r"(?P<day>(?<![\w.,])[0-3]?\d<<long_marks>>)(?!\w)", _alone),
    ("day", r"(?<!\d)<<wide_day>>(?!<<lasting>>)", _alone),
    ("weekday", r"<<weekday>>", _weekday),
    ("date", r"<<month>>(?![a-z\d])", _date),
    ("year", r"(?<![\d.,:/-])<<year>>(?![\d%:/-]|[.,]\d)(?!\s?<<any_unit>>)", _date),
)
