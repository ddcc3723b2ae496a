"""What a sentence does not tell as so now: what is to come, wished, supposed or of before; and an end denied. Pure.

By the words of its languages, and by a day ahead of the one on which it was said. On the safe side: what is taken for
open is told beside what holds, with its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Final, Literal

from memhold.fidelity.dates import days
from memhold.fidelity.quotes import plain
from memhold.languages.tables import any_of, heard, speech, spoken
from memhold.text.negation import negates

__all__ = ["Open", "changes_later", "denies_end", "open_in", "parts_of"]

Open = Literal["coming", "wished", "before"]
LONG_AGO: Final = timedelta(days=365)
"""How long something is told as news: what was longer ago may be of before."""
FEW: Final = 4
"""Words of a part that only says when."""
_MARKS: Final = r"[;:，；、]|,(?!\d)"  # noqa: RUF001


def parts_of(sentence: str) -> list[str]:
    """The parts of a sentence that each tell one thing."""
    return [one for one in _parts(heard(sentence).codes).split(sentence) if one.strip()]


@lru_cache(maxsize=128)
def _parts(codes: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"{_MARKS}|\s(?:{any_of(speech(codes).words('words', 'clauses'))})\s", re.IGNORECASE)


def open_in(parts: Sequence[str], place: int, said: date) -> Open | None:
    """What the part at a place does not tell as so on the day on which it was said; None where it does.

    The few words in front of it or behind it say when: "Next month, we move to Bergen".
    """
    part, own = parts[place].lower(), heard(" ".join(parts))
    if own.has("tense", "wished", part):
        return "wished"
    if own.has("tense", "before", part):
        return "before"
    if own.has("tense", "coming", part) and not own.has("tense", "holds", part):
        return "coming"
    beside = [one for one in parts[max(0, place - 1) : place + 2] if len(one.split()) <= FEW]
    found = days(plain(" ".join((*beside, part))), spoken(" ".join(parts)), said)
    if found and all(end < said - LONG_AGO for one in found for _, end in one.ranges):
        return "before"
    if own.has("tense", "holds", part):
        return None
    return "coming" if found and all(start > said for one in found for start, _ in one.ranges) else None


def denies_end(part: str) -> bool:
    """Whether a part says no to an end: "I'm not leaving Acme"."""
    return heard(part).has("change", "leaving", part.lower()) and negates(part)


def changes_later(sentence: str, said: date) -> bool:
    """Whether a sentence has a word of change, and each part with one tells of what is to come."""
    parts, own = parts_of(sentence), heard(sentence)
    told = [place for place, one in enumerate(parts) if own.has("change", "words", one.lower())]
    return bool(told) and all(open_in(parts, place, said) == "coming" for place in told)
