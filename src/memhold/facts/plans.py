"""A plan is told as one: "I'm moving to Bergen next month" says where somebody will live, and not where they do. Pure.

What holds goes on until it is told that it ended: a plan's day that has passed without another word is no move either.
Read for what somebody is for a time (where they live, their work, whom they are married to), since a date of a plan, a
trip or an appointment says itself that it is to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Final, Literal

from memhold.facts.keys import canonical
from memhold.facts.keys.key_reading import read
from memhold.facts.quotes import says
from memhold.fidelity.tense import Open, denies_end, open_in, parts_of
from memhold.text.sentences import is_asked

__all__ = ["OPEN", "Untold", "of_a_time", "untold"]

_OF_A_TIME: Final = frozenset(
    {"residence", "residence_city", "country_of_residence", "job", "employer", "workplace", "school", "university"}
) | {*("marital_status", "wife", "husband", "spouse")}
"""Concepts of the lexicons of keys: what somebody is for a time, and tells of before it is so."""
Untold = Open | Literal["denied"]
OPEN: Final = {
    "wished": "the line only wishes or supposes it",
    "before": "the line tells of before",
    "denied": "the line says no to its end",
}
"""Why a statement is in doubt that its line does not tell as so."""


@lru_cache(maxsize=4096)
def of_a_time(subject: str, attribute: str) -> bool:
    """Whether an attribute is of what somebody is for a time: a home, work or a school, a marriage."""
    key = canonical(subject, attribute)
    return any(one in _OF_A_TIME for language in key.languages for one in read(attribute, language).ids)


def untold(sentences: Sequence[str], value: str, said: date, *, ends: bool = False) -> Untold | None:
    """What a person says of a value instead of that it is so, or has ended, wherever they say it; None where they do.

    Questions say nothing. Where no sentence has the value ("I quit next month"), each of them counts.
    """
    told = [one for one in sentences if not is_asked(one)]
    naming = [one for one in told if says(value, one)]
    found = [_untold(one, value, said, ends=ends) for one in naming or told]
    return found[0] if found and all(found) else None


def _untold(sentence: str, value: str, said: date, *, ends: bool) -> Untold | None:
    parts = parts_of(sentence)
    naming = [place for place, one in enumerate(parts) if says(value, one)]
    each: list[Untold | None] = [
        "denied" if ends and denies_end(parts[place]) else open_in(parts, place, said)
        for place in naming or range(len(parts))
    ]
    told = [one for one in each if one]
    return told[0] if told and (len(told) == len(each) or not naming) else None
