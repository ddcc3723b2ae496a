"""Whether a number, a place in a row, a weekday or a month is taken from a clause about something else. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from memhold.consolidate.clause_subjects import names_in, whose_clauses
from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.names import own_names
from memhold.consolidate.grounding.numbers import half_of_the_day, numbers_of, ordinals_in, with_its_unit
from memhold.consolidate.grounding.subjects import NEAR, NEAR_GRAMS
from memhold.consolidate.grounding.words import TAKEN_UP, UNSPACED, clauses_of, terms_of
from memhold.text.figures import Figure, figures
from memhold.text.mood import supposed_in
from memhold.text.normal_form import normal_form
from memhold.text.times import calendar_words
from memhold.text.when import days_of, spans_of, weekday_names

__all__ = ["put_together", "taken_from_another"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Detail:
    """A hard detail: its kind, what is the same in every form of it, its unit, and the words that it stands in."""

    kind: str
    forms: frozenset[object]
    words: str
    unit: str | None = None
    half: str | None = None
    """Of a time of the clock: before noon (`a`) or after it (`p`), where it says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clause:
    text: str
    details: Sequence[_Detail]
    language: str
    who: frozenset[str] = frozenset()

    def beside(self, kind: str) -> frozenset[str]:
        """Its content words, without its details of a kind."""
        rest = self.text
        for one in self.details:
            if one.kind == kind and one.words:
                rest = re.sub(rf"{re.escape(one.words)}s?", " ", rest, flags=re.IGNORECASE)
        rest = _FIGURES.sub(" ", rest) if kind == "day" else rest
        terms = terms_of(_STANDS_FOR_IT.sub(" ", rest) if self.language == "english" else rest, self.language)
        # A syllable alone is of too many words: 월급 (pay) and 월세 (rent) share one.
        return frozenset(term for term in terms if len(term) > 1 or not "\uac00" <= term <= "\ud7a3") or terms


def taken_from_another(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether the clauses that have a detail of a claim share nothing else with it, and one with another detail does.

    "I put 250 aside, and 80 goes into the jar": what is put aside is not 80. Each clause of a claim is looked at alone.
    """
    told = _told(claim, lines)
    every = [detail for clause in told for detail in clause.details]
    held = _clauses(lines, window, claim.language, every) if every else []
    return any(
        (_stands_apart(detail, clause, held) and _has_a_rival(detail, clause, every, held))
        or _told_whole_elsewhere(detail, clause, every, held)
        for clause in told
        for detail in clause.details
    )


def put_together(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether a detail of a claim stands only in clauses that share nothing else with it, nor are of whom it is of."""
    told = _told(claim, lines)
    every = [detail for clause in told for detail in clause.details]
    held = _clauses(lines, window, claim.language, every) if every else []
    return any(
        _stands_apart(detail, clause, held)
        and not any(_has(one, detail) and terms_of(" ".join(one.who), one.language) & clause.beside("") for one in held)
        for clause in told
        for detail in clause.details
    )


def _told(claim: Claim, lines: Sequence[Line]) -> list[_Clause]:
    told = Line(place=0, text=claim.core, at=lines[0].at)
    return [
        _Clause(
            text=f"{claim.frame} {text}".strip(),
            details=(*_details(text, told.at), *_days(text, told.at)),
            language=claim.language,
        )
        for _, text in clauses_of([told])
    ]


def _clauses(lines: Sequence[Line], window: Sequence[Line], language: str, every: Sequence[_Detail]) -> list[_Clause]:
    """The clauses of lines; one of nothing but its details is part of the one before: "on the 15th, at four"."""
    names, known = own_names(window), names_in(line.text for line in window)
    dated = any(one.kind == "day" for one in every)
    found: list[_Clause] = []
    for line in lines:
        begun = len(found)
        for one in whose_clauses(line.text, language, names, known):
            days = _days(one.text, line.at) if dated else ()
            clause = _Clause(
                text=one.text, details=(*_details(one.text, line.at), *days), language=language, who=one.who
            )
            kinds = {each.kind for each in clause.details}
            bare = kinds and not any(clause.beside(kind) for kind in kinds)
            if bare and len(found) > begun:
                clause = _Clause(
                    text=f"{found[-1].text} {clause.text}",
                    details=(*found[-1].details, *clause.details),
                    language=language,
                    who=found[-1].who | clause.who,
                )
                found.pop()
            found.append(clause)
    return found


def _has(clause: _Clause, detail: _Detail) -> bool:
    return any(_same(detail, one) for one in clause.details)


def _stands_apart(detail: _Detail, told: _Clause, held: Sequence[_Clause]) -> bool:
    """Whether each clause that has a detail is about something else than what is told with it.

    A clause of nothing but its detail, and one that takes up what was said before, are of the clause before them.
    """
    around = told.beside(detail.kind)
    having = [one for one in held if _has(one, detail)]
    return (
        bool(having)
        and bool(around)
        and not any(
            not (rest := one.beside(detail.kind))
            or rest & around
            or TAKEN_UP.search(one.text)
            or sum(_has(told, other) for other in one.details) > 1
            for one in having
        )
    )


def _has_a_rival(detail: _Detail, told: _Clause, every: Sequence[_Detail], held: Sequence[_Clause]) -> bool:
    """Whether a clause that says most of what is told has another detail, of which the claim tells nothing."""
    around = told.beside(detail.kind)
    near = NEAR_GRAMS if UNSPACED.search(told.text) else NEAR
    return any(
        _rivals(detail, other) and not any(_same(other, one) for one in every)
        for clause in held
        if not _has(clause, detail)
        and supposed_in(clause.text, clause.language) is None
        and len(clause.beside(detail.kind) & around) >= near * len(around)
        for other in clause.details
    )


def _told_whole_elsewhere(detail: _Detail, told: _Clause, every: Sequence[_Detail], held: Sequence[_Clause]) -> bool:
    """Whether a clause of nothing but the claim's words has another detail, and those that have this one say more.

    "The photos are 2.3 TB, the films 9": the films are not 2.3. They share no more with the claim than that clause.
    """
    around = told.beside(detail.kind)
    having = [one.beside(detail.kind) for one in held if _has(one, detail)]
    shared = (frozenset[str]().union(*having) & around) - _counted(detail, told)

    def tells(clause: _Clause) -> bool:
        rest = clause.beside(detail.kind)
        return rest <= around and len(rest) >= len(shared) and bool(rest - shared)

    return (
        bool(having)
        and all(rest - around for rest in having)
        and any(
            _rivals(detail, other) and not any(_same(other, one) for one in every)
            for clause in held
            if not _has(clause, detail) and tells(clause)
            for other in clause.details
        )
    )


def _counted(detail: _Detail, told: _Clause) -> frozenset[str]:
    """The words right behind a number: what it counts, "9 square metres"."""
    if detail.kind != "number" or not detail.words:
        return frozenset()
    _, _, behind = told.text.partition(detail.words)
    found = _TWO_WORDS.match(behind)
    return terms_of(found[0], told.language) if found is not None else frozenset()


_TWO_WORDS = re.compile(r"(?:\s[^\W\d_]{2,}){1,2}")


def _same(one: _Detail, other: _Detail) -> bool:
    return one.kind == other.kind and bool(one.forms & other.forms) and len({one.half, other.half} - {None}) <= 1


def _rivals(one: _Detail, other: _Detail) -> bool:
    """Whether one stands where the other might: of a kind, and not of two units."""
    return one.kind == other.kind and (one.unit == other.unit or None in {one.unit, other.unit})


@lru_cache(maxsize=8192)  # each claim of a reply asks for the clauses of its lines
def _details(text: str, at: datetime) -> tuple[_Detail, ...]:
    plain = normal_form("NFC", text)
    times = [one for one in figures(plain) if one.unit == "clock"]
    found = [
        _Detail(kind="number", forms=frozenset(one.values), unit=one.unit, words=with_its_unit(plain, one))
        for one in numbers_of(plain, spans_of(plain, at))
        if not any(time.start <= one.start < time.end for time in times)
    ]
    found += [_time(plain[one.start : one.end], one) for one in times]
    found += [_Detail(kind="ordinal", forms=frozenset({place}), words=one) for place, one in ordinals_in(plain).items()]
    names = calendar_words(plain) | calendar_words(_PLURAL.sub("", plain))
    found += [
        _Detail(kind="weekday" if name in weekday_names() else "month", forms=frozenset({name}), words=name)
        for name in names
    ]
    return tuple(found)


def _time(words: str, time: Figure) -> _Detail:
    """A time of the clock, whose hour and minutes are one detail: "6:10"; a full hour is that number too."""
    afternoon = {value + 12 for value in time.values if value == int(value)}
    return _Detail(
        kind="number", forms=frozenset(time.values | afternoon), words=words, half=half_of_the_day(words, time)
    )


@lru_cache(maxsize=8192)
def _days(text: str, at: datetime) -> tuple[_Detail, ...]:
    """The day that a clause names, in each way that it can be meant."""
    days = frozenset(start for start, end in days_of(text, at)[1:] if (end - start).days == 1)
    plain = normal_form("NFC", text)
    words = max((plain[start:end].strip() for start, end in spans_of(plain, at)), key=len, default="") if days else ""
    return (_Detail(kind="day", forms=frozenset(days), words=words),) if days else ()


_STANDS_FOR_IT = re.compile(r"(?i)\bones?\b")
"""English says "the one in law" of whatever it was that was spoken of."""

_FIGURES = re.compile(r"\d\S*")

_PLURAL = re.compile(r"(?<=\w{4})s\b")
"""What "Thursdays" and "dienstags" have more than the day."""
