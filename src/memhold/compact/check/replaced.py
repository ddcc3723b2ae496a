"""What a newer source replaced may go, and comes back only as what was."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Final

from memhold.compact.check.case import Case
from memhold.compact.check.figures import figures_but
from memhold.compact.check.marks import word_of
from memhold.compact.check.names import details_of
from memhold.compact.check.past import is_past, is_past_beside
from memhold.compact.check.terms import FEW, LIGHT, ROLES, alike, clauses_of, stands_in, terms_of
from memhold.text.change import changes
from memhold.text.figures import figures
from memhold.text.marks import marks

# ruff: noqa: RUF001 - punctuation and words of every script

__all__ = ["LEAST_OF_NEWEST", "change_invented", "newest_told", "old_as_new", "two_values"]

LEAST_OF_NEWEST = 0.4
"""The share of the words of what holds now that a text must have, beside what it replaced."""


_FROM_TO: Final = re.compile(
    r"(?<!\w)(?:from|von|de|da|du|с|из)\s++(?P<old>[^\s,.;()][^,.;()]{1,59}?)(?<!\s)\s++(?:to|into|nach|zu[rm]?|auf|à|au|vers|a"
    r"|al|para|per|на|в|к)\s++(?P<new>[^,.;()]{2,60})",
    re.IGNORECASE,
)


def old_as_new(case: Case) -> str | None:
    """A value that was replaced stands in the text as if it held: in a clause that does not say that it is past."""
    if not case.gone:
        return None
    newest = " ".join(source.text for source in case.kept)
    told = clauses_of(case.text)
    olds, news = details_of(case.gone), details_of(case.kept)
    for match in _FROM_TO.finditer(case.text):
        older = [one for one in olds if stands_in(match["new"], one) and not stands_in(match["old"], one)]
        newer = [one for one in news if stands_in(match["old"], one) and one not in olds]
        if older and newer:
            return "the change is told the wrong way round"
    gone = case.gone[:1] if len(case.gone) > 1 else case.gone  # of those between, some may hold still
    others = " ".join(source.text for source in case.sources if source not in gone)
    old_marks = frozenset[tuple[str, str]]().union(*(marks(source.text) for source in gone)) - marks(others)
    before = frozenset[str]().union(*(terms_of(source.text, case.language) for source in case.gone))
    fresh = terms_of(newest, case.language) - before
    values = details_of(gone)
    for clause in told:
        if is_past(clause, case.within) or is_past_beside(clause, told, case):
            continue
        for one in values:
            if not stands_in(clause, one) or _said_so(clause, one, case):
                continue
            if figures(one) or not fresh & terms_of(clause, case.language):
                return f"{one!r} holds no longer, and the text does not say so"
        for kind, one in sorted(marks(clause) & old_marks):
            if kind != "relative" and not fresh & terms_of(clause, case.language):
                return f"a {kind} holds no longer ({word_of(kind, one, clause)})"
    return None


def change_invented(case: Case) -> str | None:
    """The text says that something changed, and no source does."""
    if case.gone or not changes(case.text) or any(changes(source.text) for source in case.sources):
        return None
    return "the text says that something changed, and no memory does"


def two_values(case: Case) -> str | None:
    """Two sources give different figures of one unit, and neither has the other's: they do not say the same."""
    if case.gone:
        return None
    for one, other in combinations(case.sources, 2):
        mine, theirs = (figures_but(first, second) for first, second in ((one, other), (other, one)))
        for first in mine:
            for second in theirs:
                if first.unit is not None and first.unit == second.unit:
                    return "the memories give two values of one kind"
    return None


def newest_told(case: Case) -> str | None:
    """Of what replaced the others too few words came back."""
    if not case.gone:
        return None
    there = terms_of(case.text, case.language)
    before = frozenset[str]().union(*(terms_of(source.text, case.language) for source in case.gone))
    for source in case.kept:
        own = terms_of(source.text, case.language) - ROLES - LIGHT - before
        if len(own) < FEW:
            continue
        told = sum(one in there or alike(one, there) for one in own)
        if told < len(own) * LEAST_OF_NEWEST:
            return "what holds now is not told"
    return None


def _said_so(clause: str, one: str, case: Case) -> bool:
    """Whether a kept source says it of that detail in the same words: it is what holds now."""
    terms = terms_of(clause, case.language) - terms_of(one, case.language)
    for source in case.kept:
        for other in clauses_of(source.text):
            if (
                stands_in(other, one)
                and not is_past(other, case.within)
                and len(terms & terms_of(other, case.language)) * 2 >= max(1, len(terms))
            ):
                return True
    return False
