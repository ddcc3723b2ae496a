"""A plan is told as one: "I'm moving to Bergen next month" says where somebody will live, and not where they do. Pure.

What holds goes on until it is told that it ended: a plan's day that has passed without another word is no move either.
Read for what somebody is for a time (where they live, their work, whom they are married to), since a date of a plan, a
trip or an appointment says itself that it is to come.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from memhold.facts.keys import canonical
from memhold.facts.keys.key_reading import read
from memhold.facts.quotes import says
from memhold.text.coming import Kind, coming, parts_of, with_beside
from memhold.text.mood import is_asked

__all__ = ["Kind", "of_a_time", "planned"]

_KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("residence", "residence_city", "country_of_residence"), "home"),
    **dict.fromkeys(("job", "employer", "workplace", "school", "university"), "work"),
    **dict.fromkeys(("marital_status", "wife", "husband", "spouse"), "marriage"),
}
"""What concepts of the lexicons of keys are of: what somebody is for a time, and tells of before it is so."""


@lru_cache(maxsize=4096)
def of_a_time(subject: str, attribute: str) -> Kind | None:
    """What an attribute is of that somebody is for a time: a home, work or a school, a marriage; None for any other."""
    key = canonical(subject, attribute)
    named = (one for language in key.languages for one in read(attribute, language).ids)
    return next((_KINDS[one] for one in named if one in _KINDS), None)


def planned(sentences: Sequence[str], value: str, kind: Kind | None = None) -> bool:
    """Whether what a person says of a value is only that it will be so, wherever they say it.

    With a kind, what is to come must be of that kind: "we move to Bergen for my job at Acme" says nothing new of Acme.
    Questions say nothing. Where no sentence has the value ("I quit next month"), each of them must tell of a plan.
    """
    told = [one for one in sentences if not is_asked(one)]
    naming = [one for one in told if says(value, one)]
    return bool(told) and all(_plans(one, value, kind) for one in naming or told)


def _plans(sentence: str, value: str, kind: Kind | None) -> bool:
    parts = parts_of(sentence)
    naming = [place for place, one in enumerate(parts) if says(value, one)]
    told = [(parts[place], with_beside(parts, place)) for place in naming] or [(sentence, sentence)]
    return all(coming(part, around, kind) and (kind is None or not _other(part, value)) for part, around in told)


def _other(part: str, value: str) -> bool:
    """Whether a part says of a value that it does something, or that somebody leaves it or moves inside of it."""
    return re.search(rf"(?i){re.escape(value)}{_DOES}|{_LEFT}{re.escape(value)}(?!\w)", part) is not None


_DOES: Final = r"\s+(?:is|are|will|has|wird|ist|va|vai|está|est)(?!\w)"
"""What makes a value that it stands behind the one who does something: "my company Acme is moving"."""
_LEFT: Final = (
    r"(?<!\w)(?:(?:from|out of|within)\s(?:(?:my|our|the)\s)?|(?:leav(?:e|ing)|quit(?:ting)?|divorc(?:e|ing)"
    r"|verlasse[nt]?|verlässt|kündige[nt]?|quitt(?:e|ons|er)|dej(?:o|amos|ar)|deix(?:o|amos|ar)|lasci(?:o|amo|are))\s"
    r"(?:(?!(?:for|to|into|für|zur?|nach|pour|para|por|per|a|à)\s)\w+\s){0,3}?)"
)
"""What makes a value that it stands in front of one that is left and holds until then: "I'm leaving Acme in May"."""
