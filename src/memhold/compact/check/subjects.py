"""Who did what, and which way round: what the sources say of one is not said of another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memhold.compact.check.case import Case
from memhold.compact.check.names import participants, terms_of_names
from memhold.compact.check.terms import ROLES, clauses_of, stands_in, terms_of
from memhold.compact.clauses import swapped
from memhold.compact.relations import turned_round
from memhold.text.function_words import EVIDENCE
from memhold.text.marks import opposed

# ruff: noqa: RUF001 - punctuation and words of every script

__all__ = ["exchanged", "turned", "values_exchanged"]


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
