"""Whether one memory may stand for another as it is, and whether a later one shows that an earlier one is over."""

from __future__ import annotations

import re
from typing import Final

from memhold.compact.check.case import Case, Source
from memhold.compact.check.denials import denial_invented, denial_lost, denied_in, says_no
from memhold.compact.check.figures import lost_figures
from memhold.compact.check.marks import have_in_common, lost_marks
from memhold.compact.check.names import lost_names, named
from memhold.compact.check.subjects import turned
from memhold.compact.check.terms import LIGHT, ROLES, clauses_of, in_line, met, neighbours, terms_of
from memhold.compact.telling import may_replace, tells_of_change
from memhold.text.analysis import language_of, unspaced
from memhold.text.contrasts import swapped
from memhold.text.details import capitalises_nouns
from memhold.text.figures import figures
from memhold.text.kin import kin_in
from memhold.text.marks import marks

# ruff: noqa: RUF001 - words of every script

__all__ = ["covers", "unsaid"]

_OWNED: Final = re.compile(
    r"(?i)\A\W*(?:(?:the|der|die|das|el|la|le|il|lo|o|a) )?(?:user['’]s|his|her|my|sein\w{0,2}|ihr\w{0,2}|su|mi|sa|son"
    r"|mon|ma|sua?|seu|mio|mia|meu|minha)\s|\A\W*사용자의"
)
"""A text that begins with whose somebody is: it is about them and not about the user."""


def covers(survivor: Source, other: Source, *, whole: bool = False) -> bool:
    """Whether a memory may stand for another that is said to say the same: it has every hard detail of that one.

    And it speaks of the same thing: neither says no to what the other says, nor do they differ in one word of the
    same phrase ("the window seat", "the aisle seat"). `whole`: it has every content word of the other, too.
    """
    language = language_of(f"{survivor.text} {other.text}")
    case, back = Case((other,), survivor.text, language), Case((survivor,), other.text, language)
    if any(rule(case) is not None for rule in (lost_figures, lost_names, lost_marks, denial_lost, turned)):
        return False
    if (
        denial_invented(case) is not None
        or denial_lost(back) is not None
        or _another(survivor.text, other.text, language)
    ):
        return False
    kin = [{one for kind, one in marks(text) if kind == "relative"} for text in (survivor.text, other.text)]
    if all(kin) and not kin[0] & kin[1]:
        return False
    if swapped(other.text, survivor.text):
        return False
    own, there = terms_of(other.text, language) - ROLES, terms_of(survivor.text, language) - ROLES
    if whole and not all(met(frozenset({one}), there) for one in own - LIGHT):
        return False
    if unspaced(other.text) and len(own & there) * 2 < len(own):
        return False  # of words that no spaces show, half must come back: else they may speak of two things
    return not own or bool(own & there) or bool(have_in_common(survivor.text, other.text))


def _another(one: str, other: str, language: str) -> bool:
    """Whether two texts differ in a word of the same phrase: each has one that the other lacks, beside a shared one."""
    mine, theirs = terms_of(one, language), terms_of(other, language)
    fresh = [
        beside
        for clause in clauses_of(one)
        for terms, beside in neighbours(clause, language)
        if not met(_whole(terms), theirs | LIGHT)
    ]
    gone = [
        beside
        for clause in clauses_of(other)
        for terms, beside in neighbours(clause, language)
        if not met(_whole(terms), mine | LIGHT)
    ]
    return any(first & second for first in fresh for second in gone)


def _whole(terms: frozenset[str]) -> frozenset[str]:
    """Terms without single letters of scripts without stems, which are in too many words."""
    return frozenset(one for one in terms if len(one) > 1 or one.isascii()) or terms


def unsaid(older: str, newer: str, *, apart: bool) -> bool:
    """Whether a later text shows that what an earlier one says holds no longer.

    It has a word of change or of an end, or denies what the other affirms. Where time went by between them (`apart`),
    another value of the same kind in the same words is enough.
    """
    language = language_of(f"{older} {newer}")
    if tells_of_change(newer):
        return True
    if _of_another(older, newer, language):
        return False
    if may_replace(newer) and not (_other_start(older, newer, language) and _another_thing(older, newer, language)):
        return True
    within = f"{older} {newer}"
    affirmed = [terms_of(clause, language) for clause in clauses_of(older) if not says_no(clause, within)]
    said = frozenset[str]().union(*affirmed) - ROLES
    excepted = _CONDITION.search(newer) is not None or _another(older, newer, language)
    for clause in () if excepted else clauses_of(newer):
        if says_no(clause, within) and denied_in(clause, within, language) & said:
            return True
    return apart and _other_value(older, newer) and not _another_thing(older, newer, language)


_CONDITION: Final = re.compile(
    r"(?i)(?<!\w)(?:if|when|whenever|while|unless|during|wenn|falls|während|solange|si|quand|lorsque|pendant|tant que"
    r"|cuando|mientras|durante|quando|mentre|enquanto|als|wanneer|terwijl|если|когда|пока)(?!\w)"
    r"|(?:[으]?면|[을ㄹ할될볼갈올일] ?때|동안)(?:에|는|에는)?(?=\s|,)|ときは?|場合|的时候|期间|如果"
)
"""A condition: "not while a release is tested" is an exception to what was told, and does not end it."""


def _of_another(older: str, newer: str, language: str) -> bool:
    """Whether a later text is about a relative of whom the earlier one does not tell."""
    before, after = kin_in(older, language), kin_in(newer, language)
    return bool(after) and not before & after and (bool(before) or _OWNED.search(newer) is not None)


def _other_start(older: str, newer: str, language: str) -> bool:
    """Whether two texts begin with another word of content: they may tell of two things."""
    first, second = in_line(older, language)[:1], in_line(newer, language)[:1]
    return bool(first and second) and not met(first[0], second[0])


def _another_thing(older: str, newer: str, language: str) -> bool:
    """Whether two texts that each give a value differ in a word of what it is a value of.

    "The gym costs 30 euros" and "the pool costs 45 euros" are two prices.
    """
    nouns = capitalises_nouns(f"{older} {newer}")
    before, after = _kinds_of_values(older, nouns=nouns), _kinds_of_values(newer, nouns=nouns)
    nothing = frozenset[object]()
    apart = {
        kind: min(len(before[kind] - after.get(kind, nothing)), len(after.get(kind, nothing) - before[kind]))
        for kind in before
    }
    # A number and a name, or a number and what is counted: that is more than another value of one thing.
    if sum(map(bool, apart.values())) > 1 or apart.get("figure", 0) > 1:
        return True
    return _another(_without_values(older, nouns=nouns), _without_values(newer, nouns=nouns), language)


_WHEN: Final = frozenset({"weekday", "month", "part of the day", "frequency"})


def _kinds_of_values(text: str, *, nouns: bool) -> dict[str, frozenset[object]]:
    """The values of a text by their kind; a time is one value, with its day, its month and its figures."""
    found: dict[str, frozenset[object]] = {}
    for kind, one in marks(text):
        found[kind] = found.get(kind, frozenset()) | {one}
    when = frozenset((kind, one) for kind in _WHEN for one in found.pop(kind, ()))
    numbers = [one for one in figures(text) if not one.loose]
    if when or any(one.unit == "clock" for one in numbers):
        found["time"] = frozenset({frozenset({*when, *(one.values for one in numbers)})})
    elif numbers:
        found["figure"] = frozenset(one.values for one in numbers)
    names = frozenset(one.key for one in named(text) if one.kind != "name" or (one.sure and not nouns))
    return {**found, "name": names} if names else found


def _without_values(text: str, *, nouns: bool) -> str:
    """A text without its figures, days, colours and names: what these are said of."""
    for one in sorted((one for one in figures(text) if not one.loose), key=lambda one: -one.start):
        text = f"{text[: one.start]} {text[one.end :]}"
    for name in named(text):
        if name.kind != "name" or (name.sure and not nouns):
            # A name at the very beginning is whom a text is about.
            text = re.sub(rf"(?<=\w\W)(?<!\w){re.escape(name.text)}(?!\w)", " ", text)
    return re.sub(r"[^\W\d_]+", _without_mark, text)


def _without_mark(word: re.Match[str]) -> str:
    return " " if any(kind != "relative" for kind, _ in marks(word[0])) else word[0]


def _other_value(older: str, newer: str) -> bool:
    """Whether both give a value of one kind, and not the same: a figure of one unit, a day, a name."""
    if marks(older) - marks(newer) and {kind for kind, _ in marks(older)} & {
        kind for kind, _ in marks(newer) - marks(older)
    }:
        return True
    for one in figures(older):
        for other in figures(newer):
            if one.loose or other.loose or one.values & other.values:
                continue
            if one.unit == other.unit or None in {one.unit, other.unit}:
                return True
    nouns = capitalises_nouns(f"{older} {newer}")
    before, after = (
        {one.key for one in named(text) if one.kind != "name" or (one.sure and not nouns)} for text in (older, newer)
    )
    return bool(before - after) and bool(after - before)
