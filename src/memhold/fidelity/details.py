"""The hard details of a text, and how each stands beside those of other lines: held, contradicted, or unknown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from memhold.fidelity.amounts import UNITS, Amount, agree, amounts, differ
from memhold.fidelity.clock import Clock, clocks
from memhold.fidelity.dates import Day, days
from memhold.fidelity.quotes import plain
from memhold.languages.tables import speech

__all__ = ["Detail", "Details", "details_of", "found", "held", "of_the_line"]

Kind = Literal["number", "date", "time", "identifier", "path", "address"]
Found = Literal["held", "contradicted", "unknown"]
_ADDRESS: Final = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://[^\s<>\"]+|www\.[^\s<>\"]+|(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+"
)
_PATH: Final = re.compile(
    r"(?<![\w/])(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]*)*|(?<![\w/.@+-])(?=[\w.@+-]*[a-z_])[\w.@+-]++(?:(?:/[\w.@+-]+){2,}|/[\w@+-]*[._\d][\w.@+-]*)|(?<![\w.-])[\w-]{2,}+\.(?!\d)[a-z][a-z0-9]{1,4}(?![\w.])"
)
_IDENTIFIER: Final = re.compile(
    r"(?<![a-z\d_.-])(?:[a-z][a-z]*[_-]?\d[a-z\d._-]*|[a-z]+(?:-[a-z]+)*-\d[a-z\d._-]*|\d[\d.]*[a-z]+\d[a-z\d._-]*"
    r"|[a-z]\w*_\w+|[0-9a-f]{7,}(?<=[a-f])|v?\d+\.\d+\.\d[\w.-]*|--[a-z][\w-]+)(?![a-z\d])"
)
_ENDS: Final = ".,;:!?)'\"-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """One hard detail: its kind, its words, and what it may mean."""

    kind: Kind
    text: str
    meant: Amount | Day | Clock | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """Those of one text, said at one time."""

    text: str
    each: tuple[Detail, ...]
    said: datetime


@lru_cache(maxsize=4096)
def details_of(text: str, codes: tuple[str, ...], said: datetime) -> Details:
    """Every hard detail of a text; each place is read once, as the most that it can be."""
    whole = plain(text)
    return Details(text=whole, each=tuple(_scan(whole, codes, said)), said=said)


def _scan(text: str, codes: tuple[str, ...], said: datetime) -> Iterator[Detail]:
    named: tuple[tuple[re.Pattern[str], Kind], ...] = (
        (_ADDRESS, "address"),
        (_PATH, "path"),
        (_IDENTIFIER, "identifier"),
    )
    timed = [one for one in clocks(text, codes) if one.sure]
    for pattern, kind in named:
        for match in pattern.finditer(text):
            if kind == "identifier" and (
                match[0] in UNITS or _is_amount(match[0], codes) or _inside(match.start(), timed)
            ):
                continue
            yield Detail(kind=kind, text=match[0].rstrip(_ENDS))
            text = text[: match.start()] + "\ufffc" * len(match[0]) + text[match.end() :]
    dated = days(text, codes, said.date())
    for day in dated:
        yield Detail(kind="date", text=text[day.start : day.end], meant=day)
    rest = _without(text, [(one.start, one.end) for one in dated if one.weekday is None and one.sure])
    timed = list(clocks(rest, codes))
    for clock in timed:
        yield Detail(kind="time", text=text[clock.start : clock.end].strip(), meant=clock)
    rest = _without(rest, [(one.start, one.end) for one in timed if one.sure])
    for amount in amounts(rest, codes):
        yield Detail(kind="number", text=text[amount.start : amount.end], meant=amount)


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + "\ufffc" * (end - start) + text[end:]
    return text


def _inside(place: int, clocks_found: Sequence[Clock]) -> bool:
    return any(one.start <= place < one.end for one in clocks_found)


def _is_amount(word: str, codes: tuple[str, ...]) -> bool:
    """Whether a word of digits and letters is a number with a unit or a mark: "20k", "4gb", "3rd"."""
    whole = amounts(word, codes)
    marks = {*speech(codes).words("numbers", "ordinal_marks")}
    behind = word.lstrip("0123456789.,")
    return (
        bool(whole)
        and word[0].isdecimal()
        and (behind in marks or any(one.unit for one in whole) or behind in speech(codes).scales)
    )


def found(detail: Detail, whole: Details, lines: Sequence[Details]) -> Found:
    """How a detail of a statement stands beside these lines: one of them has it, has another of its kind, or neither.

    What the whole statement holds elsewhere contradicts none of its other details.
    """
    if any(held(detail, line) for line in lines):
        return "held"
    free = (other for line in lines for other in line.each if not held(other, whole))
    return "contradicted" if any(_against(detail, other) for other in free) else "unknown"


def held(detail: Detail, line: Details) -> bool:
    """Whether a text has a detail, in these words or in others that mean the same."""
    if detail.meant is None:
        edge = re.escape(detail.text)
        return re.search(rf"(?<![a-z\d]){edge}(?![a-z\d])", line.text) is not None
    return any(_same(detail.meant, other.meant) for other in line.each if other.meant is not None)


def of_the_line(detail: Detail, lines: Sequence[Details]) -> bool:
    """Whether a detail may be the minute, day, month or year in which one of these lines was said."""
    match detail.meant:
        case Day() as day:
            return day.weekday is None and any(
                start <= line.said.date() < end for start, end in day.ranges for line in lines
            )
        case Clock() as clock:
            return any(line.said.hour * 60 + line.said.minute in clock.values for line in lines)
        case _:
            return False


def _same(one: Amount | Day | Clock, other: Amount | Day | Clock) -> bool:
    match one, other:
        case Amount(), Amount():
            return agree(one, other)
        case Clock(), Clock():
            return not one.values.isdisjoint(other.values)
        case Day(), Day():
            return _days_meet(one, other)
        case Clock(), Amount():
            hours = {int(value) for value in other.values if value == int(value) and not other.kind}
            return any(value % 60 == 0 and (value // 60 in hours or value // 60 % 12 in hours) for value in one.values)
        case Amount(), Clock():
            return one.sure and not one.kind and any(value * 60 in other.values for value in one.values)
        case Amount(), Day():
            parts = {part for start, _ in other.ranges for part in (start.day, start.month, start.year)}
            return not one.kind and not one.values.isdisjoint(map(Decimal, parts))
        case Day(), Amount():
            return other.ordinal and any(start.day in other.values for start, _ in one.ranges)
        case _:
            return False


def _days_meet(one: Day, other: Day) -> bool:
    if one.weekday is not None and other.weekday is not None:
        return one.weekday == other.weekday
    if one.weekday is not None:
        return any(start.weekday() == one.weekday and (end - start).days == 1 for start, end in other.ranges)
    longest = max((end - start).days for start, end in one.ranges)
    return any(
        start < stop and begin < end and (stop - begin).days <= max(93, longest + 10)
        for start, end in one.ranges
        for begin, stop in other.ranges
    )


def _against(detail: Detail, other: Detail) -> bool:
    """Whether two details are of one kind, both understood, and differ."""
    if detail.kind != other.kind:
        return False
    match detail.meant, other.meant:
        case Amount() as one, Amount() as two:
            return differ(one, two)
        case Clock() as one, Clock() as two:
            return one.sure and two.sure
        case Day() as one, Day() as two:
            return one.sure and two.sure and one.short and two.short and not _same_weekday(one, two)
        case _:
            return _alike(detail, other)


def _same_weekday(one: Day, other: Day) -> bool:
    """Whether a weekday and a day of another week are on the same one, or nothing can be said of a weekday."""
    if other.weekday is None:
        return one.weekday is not None
    return one.weekday is None and all(start.weekday() == other.weekday for start, _ in one.ranges)


def _alike(one: Detail, other: Detail) -> bool:
    """Whether two names that machines read are of one form: the same letters and digits in turn, or one folder."""
    if one.kind == "path":
        parts = one.text.split("/"), other.text.split("/")
        return (
            len(parts[0]) == len(parts[1])
            and sum(a != b for a, b in zip(*parts, strict=True)) == 1
            and len(parts[0]) > 1
        )
    shapes = [re.sub(r"[a-z]", "a", re.sub(r"\d", "0", text)) for text in (one.text, other.text)]
    return shapes[0] == shapes[1] and any(char.isdigit() for char in one.text)
