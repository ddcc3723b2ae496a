"""Days, colours and parts of the day of the sources are in the text, and no others."""

from __future__ import annotations

import re
from typing import Final

from memhold.compact.check.case import Case
from memhold.text.figures import figures
from memhold.text.marks import marks

__all__ = ["have_in_common", "invented_marks", "lost_marks", "word_of"]


_LOOSE: Final = frozenset({"relative", "frequency"})
"""Classes that are told in other ways too: one that is lost, or new, says nothing; one for another does."""


_PEERS: Final = (
    {"mother", "father"}, {"sister", "brother"}, {"daughter", "son", "grandson"}, {"wife", "husband"},
    {"aunt", "uncle", "cousin"},
)  # fmt: skip
"""Relatives of one kind: a mother of daughters is no exchange, a mother for a father is."""


def _in_place(kind: str, one: str, lost: tuple[str, str]) -> bool:
    """Whether a member of a loose class may stand in the place of one that was lost."""
    return lost[0] == kind and (kind != "relative" or any({one, lost[1]} <= peers for peers in _PEERS))


def lost_marks(case: Case) -> str | None:
    """Say which day, colour or time of what holds the text lacks."""
    there = marks(case.text)
    for source in case.kept:
        for kind, one in sorted(marks(source.text) - there):
            if kind in _LOOSE:
                continue
            if kind == "part of the day" and any(figure.unit in {"clock", "hour"} for figure in figures(case.text)):
                continue
            return f"a {kind} is not in the text ({word_of(kind, one, source.text)})"
    return None


def word_of(kind: str, one: str, text: str) -> str:
    """The word of a text that carries a mark, else the mark's kind."""
    return next((word for word in re.findall(r"\w+", text) if (kind, one) in marks(word)), kind)


def invented_marks(case: Case) -> str | None:
    """Say which day, colour or time of the text no source has."""
    held, there = marks(case.within), marks(case.text)
    timed = any(figure.half or figure.unit == "clock" for figure in figures(case.within))
    parts = {one for one in held if one[0] == "part of the day"}
    for kind, one in sorted(there - held):
        # "18:00" is the evening; where the memories name a part of the day, another one is another claim.
        if kind == "part of the day" and timed and parts <= there:
            continue
        if kind in _LOOSE and not any(_in_place(kind, one, lost) for lost in held - there):
            continue
        if kind == "frequency" and case.gone:
            continue
        return f"a {kind} is in no memory ({word_of(kind, one, case.text)})"
    return None


def have_in_common(one: str, other: str) -> bool:
    """Whether two texts share a mark or a figure."""
    return bool(marks(one) & marks(other)) or any(
        first.values & second.values for first in figures(one) for second in figures(other) if not first.loose
    )
