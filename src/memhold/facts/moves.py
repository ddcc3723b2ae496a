"""A move ends where somebody lived before, also where it was told under the other key: a city, and a residence. Pure.

"I live in Oslo" is a residence or a city, as a model words it, and "I moved to Bergen" is too. Of two keys neither
supersedes the other, or an address would end the city that it is in; what decides is the sentence of the user's own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from memhold.facts.keys import canonical
from memhold.facts.keys.key_reading import read
from memhold.fidelity.tense import open_in, parts_of
from memhold.languages.tables import heard
from memhold.text.negation import negates
from memhold.text.sentences import is_asked
from memhold.values.records import Memory

__all__ = ["Home", "home", "move"]

Home = Literal["residence", "residence_city"]
BARE = 3
"""Words up to which a value without a figure is a place's name, and no address."""


@lru_cache(maxsize=4096)
def home(subject: str, attribute: str) -> Home | None:
    """Whether an attribute tells where somebody lives: as a residence, or as a city."""
    key = canonical(subject, attribute)
    for language in key.languages:
        match read(attribute, language).ids:
            case ("residence",):
                return "residence"
            case ("residence_city",):
                return "residence_city"
            case _:
                pass
    return None


def move(sentence: str, new: Memory, old: Memory) -> Literal["ends", "suspects"] | None:
    """What a fact, said in this sentence, does to one under the other key: None where it is no move, or one place.

    Another city ends a residence. A residence by its name alone only suspects a city: it may be a district of it.
    """
    if is_asked(sentence) or negates(sentence) or not _moved(sentence, new):
        return None
    held, told = (" ".join((one.value or "").casefold().split()) for one in (old, new))
    if not held or not told or held in told or told in held or old.valid_from >= new.valid_from:
        return None
    if home(new.subject or "", new.attribute or "") == "residence_city":
        return "ends"
    return "suspects" if len(told.split()) <= BARE and not any(char.isdigit() for char in told) else None


def _moved(sentence: str, new: Memory) -> bool:
    """Whether a sentence reports a move that came about, or says where somebody lives now."""
    parts, own, low = parts_of(sentence), heard(sentence), sentence.lower()
    told = [place for place, one in enumerate(parts) if own.has("tense", "moved", one.lower())]
    if any(open_in(parts, place, new.event_time.date()) is None for place in told):
        return True
    return own.has("asks", "now", low) and own.has("tense", "lives", low)
