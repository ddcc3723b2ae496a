"""The figures of a text as values: quantities, times of the clock and ordinals, however they are written. Pure.

"half past six" is 6:30, "the third" and "3rd" are 3, "18/9" holds 18 and 9, "3 am" is not "3 pm".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from memhold.text import lazily
from memhold.text.analysis import language_of
from memhold.text.normal_form import normal_form
from memhold.text.quantities import quantities

# ruff: noqa: RUF001 - numbers and signs of every script

__all__ = ["Figure", "figures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number as it stands from `start` to `end`: the values that it may mean, its unit, and for a clock its half.

    `loose` says that it may be no number at all ("one", "a second one").
    """

    values: frozenset[Decimal]
    unit: str | None
    start: int
    end: int
    half: str | None = None
    loose: bool = False


_ORDINALS: Final = {
    name: value
    for names in (
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
        "erst- zweit- dritt- viert- fünft- sechst- siebt- acht- neunt- zehnt- elft- zwölft-",
        "premier- deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième onzième douzième",
        "primer- segund- tercer- cuart- quint- sext- séptim- octav- noven- décim- - -",
        "prim- second- terz- quart- quint- sest- settim- ottav- non- decim- - -",
        "primeir- segund- terceir- quart- quint- sext- sétim- oitav- non- décim- - -",
        "перв- втор- трет- четв[её]рт- пят- шест- седьм- восьм- девят- десят- - -",
    )
    for value, name in enumerate(names.split(), 1)
    if name != "-"
}
_ORDINAL: Final = lazily.compile(
    r"(?<!\w)(?:(?P<digits>\d{1,3})(?:st|nd|rd|th|ème|er|º|ª)"
    rf"|(?P<word>{'|'.join(name.replace('-', r'[a-zа-яё]{1,3}') for name in _ORDINALS)}))(?!\w)"
    r"|第(?P<cjk>\d{1,3}|[一二三四五六七八九十])"
    r"|(?<![\uac00-\ud7a3])(?P<hangul>첫|둘|셋|넷|다섯|여섯|일곱|여덟|아홉|열)(?:째| 번째)",
    re.IGNORECASE,
)
_WORDS: Final = tuple(
    (lazily.compile(name.replace("-", r"[a-zа-яё]{1,3}"), re.IGNORECASE), value) for name, value in _ORDINALS.items()
)
_CLOCK: Final = lazily.compile(
    r"(?<![\d.,:])(?P<hour>[01]?\d|2[0-4])(?::(?P<minute>[0-5]\d)|\s?h\s?(?P<minute2>[0-5]\d)"
    r"|\s?[시時点點]\s?(?:(?P<minute3>[0-5]?\d)\s?[분分])?"
    r"(?P<halved>\s?반|半)?|(?=\s?[ap]\.?m\b))(?:\s?(?P<half>[ap])\.?m\b\.?)?",
    re.IGNORECASE,
)
_SPOKEN: Final = lazily.compile(
    r"(?<!\w)(?P<part>half past|quarter past|quarter to|halb|viertel nach|viertel vor)\s+(?P<hour>\w+)"
    r"|(?<!\w)(?P<hour2>\w+)\s+(?:et|y|e)\s+(?P<part2>demie?|media|mezza|meia|quart|cuarto)(?!\w)",
    re.IGNORECASE,
)
_PARTS: Final = {
    "half past": 30, "quarter past": 15, "quarter to": -15, "halb": -30, "viertel nach": 15, "viertel vor": -15,
    "demi": 30, "demie": 30, "media": 30, "mezza": 30, "meia": 30, "quart": 15, "cuarto": 15,
}  # fmt: skip
_IDENTIFIER: Final = lazily.compile(
    r"(?<![\w.])(?:[A-Za-z\u00c0-\u024f\u0400-\u052f][\w.\-]{0,80}\d[\w.\-]*"
    r"|\d[0-9a-z]{0,80}[a-f][0-9a-f]{0,80}\d\w*"
    r"|\d+(?:\.\d+){2,}[\w.\-]*)"
)
"""Versions, hashes and names with digits: they are details to the letter, and hold no figure."""
_MONTH: Final = lazily.compile(
    r"(?<=\d/)(?:1[0-2]|0?[1-9])(?![\d/])|(?<=\d\d-)(?:1[0-2]|0?[1-9])(?=-\d\d(?!\d))|(?:1[0-2]|[1-9]|十[一二]?|(?<!十)[一二三四五六七八九])(?=\s?[월月])"
)
"""The month of a date in digits: `marks` tells which one it is."""
_POINTED: Final = lazily.compile(
    r"(?:these|those|the|both|all|his|her|their|diese|die|beide|ces|les|estos|los|questi|i|os|эти)\s\Z", re.IGNORECASE
)
"""What stands before a number in words that only points at what was named."""
_MINUS: Final = lazily.compile(r"(?:\A|(?<=[\s(]))[-−]\Z")
_ONES: Final = frozenset({Decimal(0), Decimal(1)})


@lru_cache(maxsize=4096)
def figures(text: str) -> tuple[Figure, ...]:
    """Every figure of a text; digits of one place are read once, as the most that they can mean."""
    plain = normal_form("NFKC", text)
    for pattern in (_IDENTIFIER, _MONTH):
        plain = pattern.sub(lambda match: "\ufffc" * len(match[0]), plain)
    found = [*_clock(plain), *_ordinals(plain)]
    taken = [(one.start, one.end) for one in found]
    for one in quantities(plain):
        end = one.start + len(one.text)
        if any(start < end and one.start < stop for start, stop in taken):
            continue
        loose = one.spelled and (
            one.values <= _ONES
            or _other_word(one.text, text)
            or _POINTED.search(plain, max(0, one.start - 8), one.start) is not None
        )
        values = one.values
        if not one.spelled and _MINUS.search(plain, max(0, one.start - 2), one.start) is not None:
            values = frozenset(-value for value in values)
        found.append(Figure(values=values, unit=one.unit, start=one.start, end=end, loose=loose))
    return tuple(sorted(found, key=lambda one: (one.start, one.end)))


_SHARED: Final = {"due": "italian", "once": "spanish", "sei": "italian", "nove": "italian", "tres": "spanish"}
"""Cardinals that are another word elsewhere ("due in May", "once"), and whose they are."""


def _other_word(word: str, text: str) -> bool:
    owner = _SHARED.get(word.casefold())
    return owner is not None and language_of(text) not in {owner, "portuguese"}


def _clock(text: str) -> Iterator[Figure]:
    for match in _CLOCK.finditer(text):
        minute = int(match["minute"] or match["minute2"] or match["minute3"] or (30 if match["halved"] else 0))
        yield _at(int(match["hour"]), minute, match["half"], match)
    for match in _SPOKEN.finditer(text):
        hour = quantities(match["hour"] or match["hour2"])
        if len(hour) == 1 and len(hour[0].values) == 1:
            shift = _PARTS[(match["part"] or match["part2"]).lower()]
            minutes = int(next(iter(hour[0].values))) * 60 + shift
            yield _at(minutes // 60, minutes % 60, None, match)


def _at(hour: int, minute: int, half: str | None, match: re.Match[str]) -> Figure:
    """A time as hours and hundredths of minutes; 18:30 is also 6:30 pm."""
    if hour > 12 and half is None:
        hour, half = hour - 12, "p"
    value = Decimal(hour) + Decimal(minute) / 100
    values = frozenset({value.normalize()})
    return Figure(values=values, unit="clock", start=match.start(), end=match.end(), half=half and half.lower())


_HANGUL: Final = ["첫", "둘", "셋", "넷", "다섯", "여섯", "일곱", "여덟", "아홉", "열"]
_KANJI: Final = "一二三四五六七八九十"


def _ordinal(match: re.Match[str], digits: str | None) -> int:
    if digits is not None:
        return int(digits) if digits.isdecimal() else _KANJI.index(digits) + 1
    if match["hangul"]:
        return _HANGUL.index(match["hangul"]) + 1
    return next(at for word, at in _WORDS if word.fullmatch(match["word"]))


def _ordinals(text: str) -> Iterator[Figure]:
    for match in _ORDINAL.finditer(text):
        digits = match["digits"] or match["cjk"]
        value = _ordinal(match, digits)
        values = frozenset({Decimal(value).normalize()})
        loose = digits is None and not match["hangul"] and value <= 2
        yield Figure(values=values, unit=None, start=match.start(), end=match.end(), loose=loose)
