"""Times that a question names, as ranges: "in May 2023", "vor zwei Wochen", "지난주", "before I moved".

A small own grammar for English, German, French, Spanish, Korean, Japanese and Chinese: forms that cannot mean another:
a month needs a day, a year or a preposition, so that "may" and "march" stay verbs. Times are UTC. A general parser was
measured and left: dateparser reads "Can she", "who sat" and a woman called Jan as times (docs/recall.md).
"""

from __future__ import annotations

import calendar
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from memhold.text import lazily
from memhold.text.normal_form import normal_form

__all__ = ["Anchor", "TimeRange", "anchors", "calendar_words", "times"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRange:
    """From `start` until before `end`, aware UTC; `text` is what was read and stands at `span` of the question."""

    start: datetime
    end: datetime
    text: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A time that hangs on an event: before or after what `clause` tells of."""

    before: bool
    clause: str


_MONTHS: Final = {
    name: number
    for names in (
        "january february march april may june july august september october november december",
        "jan feb mar apr - jun jul aug sep oct nov dec",
        "januar februar märz - mai juni juli - - oktober - dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "januari februari maart april mei juni juli augustus - - - -",
        "- - mars april maj juni juli augusti - - - -",
        "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
        "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    )
    for number, name in enumerate(names.split(), start=1)
    if name != "-"
}
_VERBS: Final = {"may", "march", "mar"}
_SEASONS: Final = {
    name: month
    for month, names in (
        (3, "spring frühling frühjahr printemps primavera"),
        (6, "summer sommer été verano"),
        (9, "autumn fall herbst automne otoño"),
        (12, "winter hiver invierno"),
    )
    for name in names.split()
}
_NUMBERS: Final = {
    name: number
    for names in (
        "one two three four five six seven eight nine ten eleven twelve",
        "a couple-of",
        "an",
        "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "einem",
        "einer",
        "un deux trois quatre cinq six sept huit neuf dix onze douze",
        "une",
        "un dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "una",
        "한 두 세 네 다섯 여섯 일곱 여덟 아홉 열",
        "一 二 三 四 五 六 七 八 九 十",
        "- 两",
    )
    for number, name in enumerate(names.split(), start=1)
    if name != "-"
}
_UNITS: Final = {
    name: unit
    for unit, names in (
        ("day", "day days tag tage tagen jour jours día días 일 日 天"),
        ("week", "week weeks woche wochen semaine semaines semana semanas 주 주일 週間 周 星期"),
        ("month", "month months monat monate monaten mois mes meses 달 개월 か月 ヶ月 个月 個月"),
        ("year", "year years jahr jahre jahren an ans année années año años 년 年"),
    )
    for name in names.split()
}
_WEEKDAYS: Final = {
    name: number
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunes martes miércoles jueves viernes sábado domingo",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
        "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
        "måndag tisdag onsdag torsdag fredag lördag söndag",
        "понедельник вторник среда четверг пятница суббота воскресенье",
        "- - среду - пятницу субботу -",
        "월요일 화요일 수요일 목요일 금요일 토요일 일요일",
        "月曜 火曜 水曜 木曜 金曜 土曜 日曜",
        "周一 周二 周三 周四 周五 周六 周日",
        "星期一 星期二 星期三 星期四 星期五 星期六 星期日",
    )
    for number, name in enumerate(names.split())
    if name != "-"
}
_DAYS_BACK: Final = {
    **dict.fromkeys(("today", "tonight", "heute", "aujourd'hui", "hoy", "오늘", "今日", "今天"), 0),
    **dict.fromkeys(
        (
            "yesterday",
            "last night",
            "gestern",
            "hier",
            "ayer",
            "ieri",
            "ontem",
            "gisteren",
            "igår",
            "i går",
            "вчера",
            "어제",
            "昨日",
            "昨天",
        ),
        1,
    ),
    **dict.fromkeys(
        (
            "the day before yesterday",
            "the night before last",
            "vorgestern",
            "avant-hier",
            "anteayer",
            "l'altro ieri",
            "anteontem",
            "eergisteren",
            "i förrgår",
            "позавчера",
            "그저께",
            "그제",
            "一昨日",
            "前天",
        ),
        2,
    ),
}
_LAST_WHOLE: Final = {
    **dict.fromkeys(("지난주", "先週", "上周", "上週", "上个星期"), ("week", 1)),
    **dict.fromkeys(("이번 주", "이번주", "今週", "本周", "这周"), ("week", 0)),
    **dict.fromkeys(("지난달", "지난 달", "先月", "上个月", "上個月"), ("month", 1)),
    **dict.fromkeys(("이번 달", "이번달", "今月", "这个月"), ("month", 0)),
    **dict.fromkeys(("작년", "지난해", "去年"), ("year", 1)),
    **dict.fromkeys(("올해", "今年"), ("year", 0)),
}


def _any(names: object) -> str:
    assert isinstance(names, dict)  # noqa: S101 - the tables above
    return "|".join(
        sorted((re.escape(name).replace("couple\\-of", "couple of") for name in names), key=len, reverse=True)
    )


_MONTH, _UNIT, _NUMBER = _any(_MONTHS), _any(_UNITS), _any(_NUMBERS)
_WHEN = rf"(?P<month>{_MONTH})"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.|er)?"
_COUNT = rf"(?P<count>\d{{1,3}}|{_NUMBER})"
_PAST = r"last|past|previous|letzte[nrsm]?|vorige[nrsm]?|vergangene[nrsm]?"
_THIS = r"this|diese[nrsm]?"
_LETTER = r"[^\W\d_]"
_NO_WORD = rf"(?<!{_LETTER})(?:{{}})(?!{_LETTER})"


def _rule(pattern: str, *, bounded: bool = True) -> re.Pattern[str]:
    return lazily.compile(_NO_WORD.format(pattern) if bounded else pattern, re.IGNORECASE)


_ISO = _rule(
    # Scripts without spaces write particles beside a date.
    r"(?<![A-Za-z\u00c0-\u052f\d])(?P<year>(?:19|20)\d\d)[-/.](?P<number>1[0-2]|0?[1-9])"
    r"(?:[-/.](?P<day>3[01]|[12]\d|0?[1-9]))?(?![A-Za-z\u00c0-\u052f\d])",
    bounded=False,
)
_CJK_DATE = _rule(
    r"(?:(?P<year>(?:19|20)\d\d)\s*[년年]\s*)?(?P<number>1[0-2]|[1-9])\s*[월月](?:\s*(?P<day>[0-3]?\d)\s*[일日号])?",
    bounded=False,
)
_DAY_MONTH = _rule(rf"{_DAY}\s+(?:of\s+|de\s+)?{_WHEN}(?:,?\s+(?:de\s+|del\s+)?{_YEAR})?")
_MONTH_DAY = _rule(rf"{_WHEN}\s+{_DAY}(?!\d)(?:,?\s+{_YEAR})?")
_MONTH_YEAR = _rule(rf"{_WHEN}(?:\s+|,\s*|\s+of\s+|\s+de\s+){_YEAR}")
_IN_MONTH = _rule(rf"(?:in|during|since|im|seit|en|au mois de|last|letzten)\s+{_WHEN}")
_IN_YEAR = _rule(rf"(?:in|during|im jahr|en|since|seit|depuis|desde|of)\s+{_YEAR}")
_CJK_YEAR = _rule(r"(?P<year>(?:19|20)\d\d)\s*[년年](?!\s*\d)", bounded=False)
_SEASON = _rule(
    rf"(?:(?P<past>{_PAST}|this|diese[nrsm]?)\s+)?(?P<season>{_any(_SEASONS)})"
    rf"(?:\s+(?:of\s+|de\s+)?{_YEAR}|\s+(?P<after>derni[eè]re?|pasad[oa]))?"
)
_AGO = (
    _rule(rf"{_COUNT}\s+(?P<unit>{_UNIT})\s+ago"),
    _rule(rf"(?:vor|il y a|hace)\s+{_COUNT}\s+(?P<unit>{_UNIT})"),
    _rule(rf"{_COUNT}\s*(?P<unit>{_UNIT})\s*(?:전|前)", bounded=False),
)
_LAST_COUNT = _rule(rf"(?:{_PAST}|letzten|derni[eè]re?s|últim[oa]s)\s+{_COUNT}\s+(?P<unit>{_UNIT})")
_LAST_UNIT = _rule(rf"(?P<past>{_PAST}|{_THIS})\s+(?P<unit>{_UNIT})")
_UNIT_LAST = _rule(rf"(?:(?:la|le|el)\s+|l')(?P<unit>{_UNIT})\s+(?P<past>derni[eè]re?|pasad[oa])")
_UNIT_THIS = _rule(rf"(?P<past>)(?:cette|ce|est[ae])\s+(?P<unit>{_UNIT})")
_WEEKDAY = _rule(
    rf"(?:(?:{_PAST}|on|am)\s+)(?P<weekday>{_any(_WEEKDAYS)})|(?P<weekday2>{_any(_WEEKDAYS)})\s+(?:dernier|pasado)"
)
_BACK = _rule(_any(_DAYS_BACK))
_WHOLE = _rule(_any(_LAST_WHOLE), bounded=False)
_ANCHOR = lazily.compile(
    r"(?<!\w)(?P<word>before|after|since|bevor|nachdem|seit|avant que|avant qu'|après que|depuis que|antes de que|"
    r"después de que|desde que)\s+(?P<clause>(?:I|we|he|she|they|you|my|our|the|ich|wir|er|sie|je|j'|nous|il|elle|yo|"
    r"me|se|nos)\b[^,.;?!]{2,80})",
    re.IGNORECASE,
)
_BEFORE: Final = {"before", "bevor", "avant que", "avant qu'", "antes de que"}


_DIGIT: Final = lazily.compile(r"\d")
_WIDE: Final = "\u3040"
_NAMED = {name for name in (*_MONTHS, *_WEEKDAYS) if (name not in _VERBS and len(name) > 3) or not name.isascii()}


def _standing(names: Iterable[str], letter: str) -> re.Pattern[str]:
    """Finds any of these names where no `letter` is beside it; those of scripts without spaces anywhere.

    For texts in lower case: a pattern that ignores case would try each name at each character.
    """
    longest = sorted(names, reverse=True)
    wide = [re.escape(name) for name in longest if name[0] >= _WIDE]
    spaced = "|".join(re.escape(name) for name in longest if name[0] < _WIDE)
    return lazily.compile("|".join([*wide, rf"(?<!{letter})(?:{spaced})(?!{letter})"]))


_CALENDAR = _standing(_NAMED, r"\w")
_TIME_WORD = _standing({*_MONTHS, *_SEASONS, *_UNITS, *_WEEKDAYS, *_DAYS_BACK, *_LAST_WHOLE, "전", "前"}, _LETTER)
"""One of these stands in every time but a date or a year in figures."""


_MONTH_AFTER = lazily.compile(
    r"(?<!\w)(?:in|from|until|till|since|by|early|late|mid|de|en|depuis|début|fin|mi|im|seit|bis|von|anfang"
    r"|ende|mitte)[ -]"
    r"(?P<month>may|march|mai|mars|juin|mei)(?!\w)"
)
"""Months whose names are other words as well, where what stands before them tells."""


def calendar_words(text: str) -> frozenset[str]:
    """The names of months and weekdays that stand in a text, in lower case; not those that are verbs too."""
    plain = normal_form("NFC", text).lower()
    return frozenset(_CALENDAR.findall(plain)).union(match["month"] for match in _MONTH_AFTER.finditer(plain))


def times(text: str, now: datetime) -> list[TimeRange]:
    """The ranges that a question names, in its order; those that overlap an earlier reading are left out.

    A month or day without a year is the last one that began before now.
    """
    plain = normal_form("NFC", text)
    found: list[TimeRange] = []
    for pattern, read in _readers(plain):
        for match in pattern.finditer(plain):
            # None of those found overlaps another, so only the two beside its place can overlap this one.
            place = bisect_left(found, match.start(), key=_begin)
            beside = found[max(0, place - 1) : place + 1]
            if any(match.start() < one.span[1] and one.span[0] < match.end() for one in beside):
                continue
            try:
                period = read(match, now)
            except (ValueError, OverflowError):  # 31 February, the year 0
                continue
            if period is not None:
                found.insert(place, TimeRange(start=period[0], end=period[1], text=match[0], span=match.span()))
    return found


def _readers(text: str) -> Sequence[_Reader]:
    """Those that may find something in a text, in the order in which they count: most texts name no time at all."""
    figures = _DIGIT.search(text) is not None
    words = _TIME_WORD.search(text.lower()) is not None
    return (*(_DATES if figures else ()), *(_IN_WORDS if words else ()), *(_YEARS if figures else ()))


def _begin(found: TimeRange) -> int:
    return found.span[0]


def anchors(text: str) -> Iterator[Anchor]:
    """Events that a question's time hangs on: "before I moved" gives the clause "I moved"."""
    for match in _ANCHOR.finditer(text):
        yield Anchor(before=match["word"].lower() in _BEFORE, clause=match["clause"].strip())


Period = tuple[datetime, datetime]


def _midnight(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _day(year: int, month: int, day: int) -> Period:
    start = datetime(year, month, day, tzinfo=UTC)
    return start, start + timedelta(days=1)


def _month(year: int, month: int, months: int = 1) -> Period:
    start = datetime(year, month, 1, tzinfo=UTC)
    last = month - 1 + months
    return start, datetime(year + last // 12, last % 12 + 1, 1, tzinfo=UTC)


def _back(moment: datetime, months: int) -> datetime:
    total = moment.year * 12 + moment.month - 1 - months
    year, month = divmod(total, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, calendar.monthrange(year, month + 1)[1]))


def _date(match: re.Match[str], now: datetime) -> Period | None:
    groups = match.groupdict()
    number = int(groups["number"]) if groups.get("number") else _MONTHS[groups["month"].lower()]
    if groups.get("month") in _VERBS and not groups.get("year"):
        return None
    day = int(groups["day"]) if groups.get("day") else None
    if groups.get("year"):
        year = int(groups["year"])
    else:
        year = now.year if (number, day or 1) <= (now.month, now.day) else now.year - 1
    return _month(year, number) if day is None else _day(year, number, day)


def _year(match: re.Match[str], _: datetime) -> Period | None:
    return _month(int(match["year"]), 1, 12)


def _season(match: re.Match[str], now: datetime) -> Period | None:
    month = _SEASONS[match["season"].lower()]
    past = match["past"] or match["after"]
    if match["year"]:
        return _month(int(match["year"]), month, 3)
    if past is None:
        return None
    year = now.year
    while _month(year, month, 3)[1 if past.lower() != "this" else 0] > now:
        year -= 1
    return _month(year, month, 3)


def _count(word: str) -> int:
    return int(word) if word.isdecimal() else _NUMBERS[word.lower().replace("couple of", "couple-of")]


def _ago(match: re.Match[str], now: datetime) -> Period | None:
    count, unit = _count(match["count"]), _UNITS[match["unit"].lower()]
    today = _midnight(now)
    if unit == "day":
        start = today - timedelta(days=count)
        return start, start + timedelta(days=1)
    if unit == "week":
        return today - timedelta(days=7 * count + 3), today - timedelta(days=7 * count - 4)
    if unit == "month":
        middle = _back(today, count)
        return middle - timedelta(days=15), middle + timedelta(days=16)
    return _month(now.year - count, 1, 12)


def _last_count(match: re.Match[str], now: datetime) -> Period | None:
    count, unit = _count(match["count"]), _UNITS[match["unit"].lower()]
    end = _midnight(now) + timedelta(days=1)
    if unit in {"day", "week"}:
        return end - timedelta(days=count * (7 if unit == "week" else 1) + 1), end
    return _back(end, count * (12 if unit == "year" else 1)), end


def _whole(unit: str, back: int, now: datetime) -> Period | None:
    today = _midnight(now)
    if unit == "week":
        start = today - timedelta(days=today.weekday() + 7 * back)
        return start, start + timedelta(days=7)
    if unit == "month":
        first = _back(today.replace(day=1), back)
        return _month(first.year, first.month)
    if unit == "year":
        return _month(now.year - back, 1, 12)
    return None


def _last_unit(match: re.Match[str], now: datetime) -> Period | None:
    past = (match["past"] or "this").lower()
    back = 0 if past.startswith(("this", "diese")) else 1
    return _whole(_UNITS[match["unit"].lower()], back, now)


def _weekday(match: re.Match[str], now: datetime) -> Period | None:
    wanted = _WEEKDAYS[(match["weekday"] or match["weekday2"]).lower()]
    today = _midnight(now)
    start = today - timedelta(days=(today.weekday() - wanted - 1) % 7 + 1)
    return start, start + timedelta(days=1)


def _days_back(match: re.Match[str], now: datetime) -> Period | None:
    start = _midnight(now) - timedelta(days=_DAYS_BACK[match[0].lower()])
    return start, start + timedelta(days=1)


def _named(match: re.Match[str], now: datetime) -> Period | None:
    unit, back = _LAST_WHOLE[match[0]]
    return _whole(unit, back, now)


_Reader = tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Period | None]]
_DATES: Final[tuple[_Reader, ...]] = (
    (_ISO, _date),
    (_CJK_DATE, _date),
)
_IN_WORDS: Final[tuple[_Reader, ...]] = (
    (_DAY_MONTH, _date),
    (_MONTH_YEAR, _date),
    (_MONTH_DAY, _date),
    (_IN_MONTH, _date),
    (_SEASON, _season),
    (_AGO[0], _ago),
    (_AGO[1], _ago),
    (_AGO[2], _ago),
    (_LAST_COUNT, _last_count),
    (_LAST_UNIT, _last_unit),
    (_UNIT_LAST, _last_unit),
    (_UNIT_THIS, _last_unit),
    (_WEEKDAY, _weekday),
    (_BACK, _days_back),
    (_WHOLE, _named),
)
_YEARS: Final[tuple[_Reader, ...]] = (
    (_IN_YEAR, _year),
    (_CJK_YEAR, _year),
)
