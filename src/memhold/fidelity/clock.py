"""Times of the clock that a text names, as minutes of the day: "7 pm", "halb vier", "15h30", "下午三点". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memhold.fidelity.amounts import number_pattern, value_of
from memhold.languages.tables import any_of, speech

__all__ = ["Clock", "clocks"]

_HALF_DAY: Final = 720
_DAY: Final = 1440


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A time of the day as it stands: every minute that it may mean; `sure` where it is surely a time."""

    values: frozenset[int]
    start: int
    end: int
    sure: bool = True


@lru_cache(maxsize=128)
def _pattern(codes: tuple[str, ...]) -> re.Pattern[str]:
    own = speech(codes)
    named = any_of(own.table("clock", "named"))
    number = number_pattern(codes)
    hours, minutes = any_of(own.words("clock", "hours")), any_of(own.words("clock", "minutes"))
    am, pm = any_of(own.words("clock", "am")), any_of(own.words("clock", "pm"))
    before, after = any_of(own.table("clock", "before")), any_of(own.table("clock", "after"))
    at = any_of(own.words("clock", "at"))
    return re.compile(
        rf"(?:(?:(?P<am>{am})|(?P<pm>{pm}))\s?)?(?:(?P<at>{at})\s)?(?:(?P<before>{before})\s)?"
        rf"(?:(?P<named>{named})|(?<![a-z\d/-])(?<!\d[.,:])(?P<hour>(?:[01]?\d|2[0-4])(?=[:h.]\s?\d)|{number}))"
        rf"(?:(?:(?P<sign>:)|\s?[h.]\s?)(?P<digits>[0-5]\d)(?!\d|[/.]\d)(?::\d\d)?)?"
        rf"(?:\s?(?P<mark>{hours})(?:\s?(?!{after})(?P<minute>{number})(?:\s?{minutes})?(?![a-z\d]))?)?"
        rf"(?:\s?(?P<after>{after}))?(?:,?\s?(?:(?P<am2>{am})|(?P<pm2>{pm}))(?!\s?{number}))?"
    )


@lru_cache(maxsize=4096)
def clocks(text: str, codes: tuple[str, ...]) -> tuple[Clock, ...]:
    """Every time of the clock in a plain text; a bare number behind "at" is one that is not sure."""
    return tuple(_read(text, codes))


def _read(text: str, codes: tuple[str, ...]) -> Iterator[Clock]:
    own = speech(codes)
    shifts = own.table("clock", "before"), own.table("clock", "after")
    units = any_of([word for word, unit in own.units.items() if unit == "hour"])
    for match in _pattern(codes).finditer(text):
        hour = own.table("clock", "named")[match["named"]] // 60 if match["named"] else _hour(match["hour"], codes)
        part = match["am"] or match["am2"] or match["pm"] or match["pm2"]
        exact = match["digits"] is not None and (match["sign"] is not None or "h" in match[0] or match["mark"])
        told = part or match["mark"] or match["before"] or match["after"] or match["named"] or exact
        if hour is None or not 0 <= hour <= 24 or not (told or match["at"]):
            continue
        if not exact and match["digits"] is not None and not told:
            continue
        lasting = match["mark"] is not None and re.match(units, text[match.start("mark") :]) is not None
        if lasting and _longer(units, text, match):
            continue
        minute = match["digits"] or match["minute"]
        minutes = hour * 60 + int(value_of(minute, codes) or 0 if minute else 0)
        minutes += shifts[0].get(_one_blank(match["before"]), 0) + shifts[1].get(_one_blank(match["after"]), 0)
        sure = bool(told) and not (lasting and not (match["at"] or part or match["after"] or match["minute"]))
        yield Clock(
            values=frozenset({minutes % _DAY})
            if match["named"]
            else _halves(minutes, am=bool(match["am"] or match["am2"]), pm=bool(match["pm"] or match["pm2"])),
            start=match.start(),
            end=match.end(),
            sure=sure,
        )


def _longer(units: str, text: str, match: re.Match[str]) -> bool:
    """Whether the mark of the hour is only the beginning of a longer word for a length of time."""
    found = re.match(units, text[match.start("mark") :])
    return found is not None and found.end() > len(match["mark"])


def _hour(word: str, codes: tuple[str, ...]) -> int | None:
    value = value_of(word, codes)
    return int(value) if value is not None and value == int(value) else None


def _one_blank(phrase: str | None) -> str:
    return " ".join((phrase or "").split())


def _halves(minutes: int, *, am: bool, pm: bool) -> frozenset[int]:
    """Both halves of the day where nothing says which; twelve in the evening is midnight or noon."""
    minutes %= _DAY
    if minutes >= _HALF_DAY:
        return frozenset({minutes} if minutes >= 780 or pm else {minutes, minutes - _HALF_DAY})
    if pm:
        return frozenset({minutes % _HALF_DAY + _HALF_DAY})
    return frozenset({minutes % _HALF_DAY} if am else {minutes, (minutes + _HALF_DAY) % _DAY})
