"""Which days a text speaks of, said at a time: named dates, and relative ones, past and to come. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from memhold.text.quantities import quantities
from memhold.text.times import calendar_names, calendar_words, times

__all__ = ["Days", "days_of", "named_days", "spans_of", "weekday_names"]

Days = tuple[datetime, datetime]
"""From midnight (UTC) until before midnight."""

_AHEAD: Final = {
    **dict.fromkeys(
        (
            "tomorrow",
            "morgen",
            "demain",
            "mañana",
            "domani",
            "amanhã",
            "imorgon",
            "i morgon",
            "내일",
            "明日",
            "明天",
            "завтра",
        ),
        1,
    ),
    **dict.fromkeys(
        (
            "day after tomorrow",
            "übermorgen",
            "après-demain",
            "pasado mañana",
            "dopodomani",
            "depois de amanhã",
            "overmorgen",
            "i övermorgon",
            "послезавтра",
            "모레",
            "明後日",
            "后天",
        ),
        2,
    ),
}
_NEXT: Final = {
    **dict.fromkeys(
        ("next week", "nächste woche", "nächster woche", "semaine prochaine", "próxima semana", "semana que viene",
         "다음 주", "다음주", "来週", "下周", "下週"), "week"),
    **dict.fromkeys(
        ("next month", "nächsten monat", "mois prochain", "próximo mes", "mes que viene", "다음 달", "다음달", "来月",
         "下个月"), "month"),
    **dict.fromkeys(("next year", "nächstes jahr", "année prochaine", "l'an prochain", "próximo año", "내년", "来年",
                     "明年"), "year"),
}  # fmt: skip
_IN = re.compile(
    r"(?<!\w)(?:in|dans|en|within)\s+(?P<count>\d{1,3}|\w+)\s+(?P<unit>day|days|tag|tagen|jours?|días?|week|weeks"
    r"|wochen?|"
    r"semaines?|semanas?|months?|monaten?|mois|mes(?:es)?|years?|jahren?|ans?|años?)\b"
    r"|(?P<count2>\d{1,3})\s*(?P<unit2>일|주|달|개월|년|日|週間|か月|年|天|周|个月)\s*(?:뒤|후|後|后)",
    re.IGNORECASE,
)
_LENGTHS: Final = (("d t j 일 日 天", 1), ("w s 주 週間 周", 7), ("m 달 개월 か月 个月", 30), ("y a 년 年", 365))
_SMALL: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "zwei": 2,
    "drei": 3, "vier": 4, "einer": 1, "einem": 1, "deux": 2, "trois": 3, "dos": 2, "tres": 3, "un": 1, "una": 1,
}  # fmt: skip
_YEAR = re.compile(r"(?:19|20)\d\d")
_MOST = 20_000


def named_days(text: str, said: datetime) -> list[tuple[Days, str, tuple[int, int]]]:
    """The days that a text names so that they can be compared: each with its words and their place."""
    found = [((one.start, one.end), one.text, one.span) for one in times(text[:_MOST], said)]
    return found + [one for one in _dotted(text[:_MOST]) if not any(one[2][0] < end for _, _, (_, end) in found)]


_DOTTED = re.compile(r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?((?:19|20)\d\d)(?![\d.]*\d)")
"""A day in figures with points between them: the day stands first wherever it is written so."""


def _dotted(text: str) -> Iterator[tuple[Days, str, tuple[int, int]]]:
    for match in _DOTTED.finditer(text):
        try:
            start = datetime(int(match[3]), int(match[2]), int(match[1]), tzinfo=UTC)
        except ValueError:
            continue
        yield (start, start + timedelta(days=1)), match[0], match.span()


_ORDINALS: Final = {
    name: place
    for names in (
        (
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
            "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third "
            "twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
        ),
        "ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften zwölften",
    )
    for place, name in enumerate(names.split(), 1)
}
_ORDINAL = re.compile(
    rf"(?i)\b(?P<word>{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})(?:\s+of)?\s+(?=(?P<month>[^\W\d_]{{3,}}))"
)


def _in_figures(text: str) -> str:
    """A text with the day of a month in figures where it is spelled: "the sixth of December"."""

    def figure(match: re.Match[str]) -> str:
        return f"{_ORDINALS[match['word'].casefold()]} " if calendar_words(match["month"]) else match[0]

    return _ORDINAL.sub(figure, text)


@lru_cache(maxsize=4096)
def days_of(text: str, said: datetime) -> tuple[Days, ...]:
    """Every range of days that a text can mean, said at that time: its own day, named and relative ones, weekdays."""
    text = _in_figures(text[:_MOST])
    today = said.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    named = named_days(text, said)
    found = [(today, today + timedelta(days=1)), *(days for days, _, _ in named)]
    # A month or a day without a year may be ahead as well.
    found += [(_year_on(days[0]), _year_on(days[1])) for days, words, _ in named if not _YEAR.search(words)]
    found += _ahead(text[:_MOST].lower(), today)
    found += _weekdays(text[:_MOST].lower(), today)
    found += _in_a_month(text[:_MOST], today)
    found += _coming_month(text[:_MOST].lower(), today)
    return tuple(found)


def spans_of(text: str, said: datetime) -> list[tuple[int, int]]:
    """Where the dates that a text names stand."""
    return [span for _, _, span in named_days(text, said)]


def _year_on(moment: datetime) -> datetime:
    try:
        return moment.replace(year=moment.year + 1)
    except ValueError:  # 29 February
        return moment + timedelta(days=366)


def _ahead(text: str, today: datetime) -> Iterator[Days]:
    later = [name for name, days in _AHEAD.items() if days > 1 and name in text]
    for name, days in _AHEAD.items():
        rest = text if days > 1 else re.sub("|".join(map(re.escape, later)), " ", text) if later else text
        if name in rest:
            yield today + timedelta(days=days), today + timedelta(days=days + 1)
    for name, unit in _NEXT.items():
        if name not in text:
            continue
        if unit == "week":
            start = today + timedelta(days=7 - today.weekday())
            yield start, start + timedelta(days=7)
        elif unit == "month":
            start = (today.replace(day=1) + timedelta(days=32)).replace(day=1)
            yield start, (start + timedelta(days=32)).replace(day=1)
        else:
            yield today.replace(year=today.year + 1, month=1, day=1), today.replace(year=today.year + 2, month=1, day=1)
    for match in _IN.finditer(text):
        count = match["count"] or match["count2"]
        number = int(count) if count.isdecimal() else _SMALL.get(count) or _spelled(count)
        unit = match["unit"] or match["unit2"]
        length = next((days for names, days in _LENGTHS if any(unit.startswith(name) for name in names.split())), None)
        if number is not None and length is not None:
            middle = today + timedelta(days=number * length)
            if length == 7:
                yield middle, middle + timedelta(days=1)  # the same weekday, where it is meant to the day
            slack = timedelta(days=0 if length == 1 else length // 2)
            yield middle - slack, middle + slack + timedelta(days=1)


_OF_A_MONTH = re.compile(
    r"(?i)(?<!\w)(?:the|am|zum|vom|bis|le|au|du|el|al|il|dal|de|op|den)\s+(?P<day>[0-3]?\d)(?:st|nd|rd|th|er|\.)?(?![\w.:,]*\d|\w)"
    r"|(?<![\d月월])(?P<wide>[0-3]?\d)\s?(?:日|号|號|일)(?![間间간])"
)
"""A day that is named by its number alone: "until the 18th", "bis zum 18.", "le 18", "18日"."""


def _in_a_month(text: str, today: datetime) -> Iterator[Days]:
    """Each day of the month before, of this one and of the next that a number can mean."""
    months = [today.replace(day=1) + timedelta(days=ahead) for ahead in (-1, 0, 32)]
    for match in _OF_A_MONTH.finditer(text):
        for month in months:
            try:
                day = month.replace(day=int(match["day"] or match["wide"]))
            except ValueError:
                continue
            yield day, day + timedelta(days=1)


def _coming_month(text: str, today: datetime) -> Iterator[Days]:
    """The month to come of which "next" is said: "next June", "le juin prochain"."""
    named = calendar_words(text) - weekday_names()
    for ahead in range(1, 13):
        year, month = divmod(today.year * 12 + today.month - 1 + ahead, 12)
        start = today.replace(year=year, month=month + 1, day=1)
        if any(
            re.search(rf"(?:{_COMING.pattern})\w*\s+{name}|{name}\s+(?:{_COMING.pattern})", text)
            for name in named & calendar_names(start)
        ):
            yield start, (start + timedelta(days=32)).replace(day=1)


_COMING = re.compile(
    r"next|prochain|n[äa]chst|kommend|que viene|pr[óo]xim|prossim|volgende|nästa|следующ|다음|来週|下周|下週"
)
"""That a weekday is not the first to come, but may be the one after it."""


def _spelled(word: str) -> int | None:
    """The number that a word says, where it says a whole one."""
    found = [value for one in quantities(word) if one.text == word for value in one.values if value == int(value)]
    return int(found[0]) if len(found) == 1 else None


_WEEK_ON = re.compile(r"(?:a week (?:on|from|after)|in (?:einer|1) woche am|heute in acht tagen)\s+\Z", re.IGNORECASE)
_WEEK_BEHIND = re.compile(
    r"(?:week\b|en huit|in (?:einer|1) woche|in acht tagen|over een week|in una settimana|om en vecka)"
)
_FORTNIGHT = re.compile(r"(?:a fortnight|two weeks|2 weeks) (?:on|from|after)\s+\Z|in zwei wochen am\s+\Z")
_FORTNIGHT_BEHIND = re.compile(r"(?:fortnight\b|en quinze|in zwei wochen)")
_GONE = re.compile(
    r"(?:last|past|letzte[nrs]?|vergangene[nrs]?|vorige[nrs]?|passato|scorso|afgelopen|vorige|förra|지난|先週の?|上周"
    r"|上个)\s*\Z"
)
_GONE_BEHIND = re.compile(r"(?:dernier|passé|pasado|passad[oa]|scors[oa])\b")


def _weekdays(text: str, today: datetime) -> Iterator[Days]:
    """The days that a weekday can mean: the last or the next one, where "next" is said the one after it too.

    What is said beside its name leaves fewer: "last Friday" is gone; "Friday week" and "a fortnight from Friday" are so
    many weeks behind the first to come.
    """
    ahead = 14 if _COMING.search(text) else 8
    for offset in range(7):
        day = today + timedelta(days=offset)
        for name in calendar_names(day) & weekday_names():
            edge = "" if name[0] >= "\u3040" else r"(?<!\w)"
            for match in re.finditer(rf"{edge}{re.escape(name)}\w*", text):
                for days in _meant(text[: match.start()], text[match.end() :].lstrip(), offset, ahead):
                    moment = today + timedelta(days=days)
                    yield moment, moment + timedelta(days=1)


def _meant(before: str, behind: str, offset: int, ahead: int) -> Iterable[int]:
    """How many days from today a weekday may be that comes next in `offset` days."""
    if _FORTNIGHT.search(before) or _FORTNIGHT_BEHIND.match(behind):
        return ((offset or 7) + 14,)
    if _WEEK_ON.search(before) or _WEEK_BEHIND.match(behind):
        return ((offset or 7) + 7,)
    if _GONE.search(before) or _GONE_BEHIND.match(behind):
        return (offset - 7,)
    return (days for days in (offset - 7, offset, offset + 7) if days < ahead)


@lru_cache(maxsize=1)
def weekday_names() -> frozenset[str]:
    """The names that belong to weekdays: they come back on the same weekday of another month."""
    first, other = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 8, tzinfo=UTC)
    names: set[str] = set()
    for offset in range(7):
        step = timedelta(days=offset)
        months = calendar_names(first + step) & calendar_names(first + timedelta(days=(offset + 1) % 7))
        names |= (calendar_names(first + step) & calendar_names(other + step)) - months
    return frozenset(names)
