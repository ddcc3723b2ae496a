"""Figures of the sources are in the text, and no others."""

from __future__ import annotations

import re
from typing import Final

from memhold.compact.check.case import Case, Source
from memhold.compact.check.past import left_behind
from memhold.text.figures import Figure, figures

# ruff: noqa: RUF001 - punctuation and words of every script

__all__ = ["figures_but", "invented_figures", "lost_figures"]

_BOTH: Final = re.compile(
    r"(?<!\w)(?:both|two|pair|couple|twice|double|those|these|beide\w*|zwei\w*|paar|les deux|deux|ambos|ambas"
    r"|los dos|dos"
    r"|entrambi|tutti e due|due|dois|duas|оба|обе|два|две)(?!\w)|둘|두 |两|二|双",
    re.IGNORECASE,
)


_TWO: Final = frozenset(one.values for one in figures("2"))


def lost_figures(case: Case) -> str | None:
    """Say which figure of what holds the text lacks."""
    there = figures(case.text)
    for source in case.kept:
        for one in figures(source.text):
            if one.loose or any(_agree(one, other) for other in there):
                continue
            if left_behind(source.text[one.start : one.end], source, case):
                continue
            other_unit = any(one.values & other.values for other in there)
            if one.values in _TWO and not other_unit and _BOTH.search(case.text) and _BOTH.search(source.text):
                continue
            return f"{source.text[one.start : one.end]!r} is not in the text"
    return None


def invented_figures(case: Case) -> str | None:
    """Say which figure of the text no source has."""
    there = [(one, source) for source in case.sources for one in figures(source.text)]
    for one in figures(case.text):
        if one.loose or any(_agree(one, other) for other, _ in there):
            continue
        if one.values in _TWO and _BOTH.search(case.within):
            continue
        return f"{case.text[one.start : one.end]!r} is in no memory"
    return None


def _agree(one: Figure, other: Figure) -> bool:
    """Whether two figures say the same: a value of both, with units that do not differ; one may leave its unit out."""
    if not one.values & other.values:
        return False
    if "clock" in {one.unit, other.unit}:
        halves = {one.half, other.half} - {None}
        if len(halves) > 1:
            # 3 pm and "three at night": half a day apart, unless nobody says which.
            return False
        units = {one.unit, other.unit} - {"clock", None, "hour"}
        return not units
    return one.unit == other.unit or one.unit is None or other.unit is None


def figures_but(one: Source, other: Source) -> list[Figure]:
    """The figures of a source that another one lacks."""
    there = figures(other.text)
    return [
        figure for figure in figures(one.text) if not figure.loose and not any(_agree(figure, two) for two in there)
    ]
