"""Who did what, and which way round: what the sources say of one is not said of another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from memhold.compact.check.case import Case
from memhold.compact.check.names import participants, terms_of_names
from memhold.compact.check.terms import LIGHT, ROLES, clauses_of, stands_in, terms_of
from memhold.compact.clauses import swapped
from memhold.compact.relations import turned_round
from memhold.text.function_words import EVIDENCE
from memhold.text.marks import opposed

# ruff: noqa: RUF001 - punctuation and words of every script

__all__ = ["doer_exchanged", "exchanged", "turned", "values_exchanged"]


def turned(case: Case) -> str | None:
    """One side of a pair of opposites in the place of the other: at least for at most, left for right."""
    kept = " ".join(source.text for source in case.kept)
    if opposed(case.text, kept) and opposed(case.text, case.within):
        return "something is turned round (at least and at most, begin and end, left and right, likes and hates)"
    if turned_round(case.text, [source.text for source in case.sources], EVIDENCE):
        return "a relation is turned round (before and after, more and less, must and may)"
    return None


def exchanged(case: Case) -> str | None:
    """A clause of the text gives to one name what a clause of a source says of another, and not of it."""
    names = participants(case)
    said = [one for source in case.kept for one in _with_subjects(source.text, names)]
    if not said:
        return None
    own = terms_of_names(names, case.language)
    for clause in clauses_of(case.text):
        mine = [one for one in names if stands_in(clause, one) and not _of_them(one, clause, case)]
        terms = terms_of(clause, case.language) - own - ROLES
        user = _USER.search(clause) is not None and not mine
        if not terms or not (mine or user):
            continue
        best = max(len(terms & terms_of(one, case.language)) for one, _ in said)
        if best * 2 < len(terms) or not best:
            continue
        near = [(one, subjects) for one, subjects in said if len(terms & terms_of(one, case.language)) == best]
        shared = terms & frozenset[str]().union(*(terms_of(one, case.language) for one, _ in near))
        theirs = frozenset[str]().union(*(subjects for _, subjects in near))
        if user:
            if "" not in theirs and all(subjects for _, subjects in near):
                return "the user is given what the memories say of another"
            continue
        for one in mine:
            beside = frozenset[str]().union(*(terms_of(other, case.language) for other, whom in said if one in whom))
            if one not in theirs and any(other not in mine for other in theirs if other) and not shared & beside:
                return f"{one!r} is given what the memories say of another"
    return None


def doer_exchanged(case: Case) -> str | None:
    """Of two who are named with a verb between them, the text lets the one do what the sources say of the other."""
    names = participants(case)
    said = [deed for source in case.sources for deed in _deeds(source.text, names, case)]
    for doer, other, verb in _deeds(case.text, names, case):
        same = {one[:2] for one in said if verb & one[2]}
        if (other, doer) in same and (doer, other) not in same:
            return f"{doer!r} does what the memories say of {other!r}"
    return None


def _deeds(text: str, names: Sequence[str], case: Case) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Who does what to whom in the clauses of a text: two names in order, with the terms between; turned by a "by"."""
    for clause in clauses_of(text):
        places = sorted(
            (match.start(), match.end(), one)
            for one in names
            for match in re.finditer(rf"(?<!\w){re.escape(one)}(?!['’]s|\w)", clause)
        )
        for (_, end, first), (start, _, second) in pairwise(places):
            between = clause[end:start]
            verb = terms_of(between, case.language) - ROLES - LIGHT
            if verb and first != second:
                by = _BY.search(between) is not None
                yield (second, first, verb) if by else (first, second, verb)


_BY: Final = re.compile(r"(?i)(?<!\w)(?:by|von|vom|par|por|pelo|pela|da|dal|door)(?:\s\w+){0,2}\s*\Z")


def _of_them(name: str, clause: str, case: Case) -> bool:
    """Whether a clause only says whose something is, of which a source says "his" or "her"."""
    whole = len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", clause))
    owns = len(re.findall(rf"(?<!\w){re.escape(name)}['’]s(?!\w)", clause))
    return 0 < owns == whole and any(_WHOSE.search(source.text) for source in case.kept)


_WHOSE: Final = re.compile(r"\b(?:his|her|their)\b", re.IGNORECASE)


def values_exchanged(case: Case) -> str | None:
    """Say that two values stand each where the sources have the other."""
    if swapped([source.text for source in case.kept], case.text):
        return "the text says of one thing what the memories say of another"
    return None


def _with_subjects(text: str, names: Sequence[str]) -> list[tuple[str, frozenset[str]]]:
    """The clauses of a text with the names in each ("" for the user); one without a name goes on about those before."""
    found: list[tuple[str, frozenset[str]]] = []
    before: frozenset[str] = frozenset()
    for clause in clauses_of(text):
        here = frozenset(one for one in names if stands_in(clause, one))
        here |= frozenset({""}) if _USER.search(clause) else frozenset()
        before = here or before
        found.append((clause, before))
    return found


_USER: Final = re.compile(
    r"(?i)(?<!\w)(?:user|nutzer(?:in)?|utilisat\w+|usuari[oa]|utente|utilizador|gebruiker|пользовател\w+)(?!['’\w])"
    r"|사용자[는가]|用户|ユーザーは"
)
