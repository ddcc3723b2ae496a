"""The sentence of a line that a statement is most likely told from, where a model quotes none itself. Pure."""

from __future__ import annotations

from typing import Final

from memhold.fidelity.quotes import plain
from memhold.fidelity.sentences import sentences
from memhold.languages.tables import spoken

__all__ = ["nearest"]

_READ: Final = 20_000
"""Characters of a line that are looked at."""
_WIDE: Final = "\u3040"
_LENGTH: Final = 20
"""So many characters more cost a sentence as much as one stretch of letters that it shares."""


def nearest(text: str, line: str) -> str:
    """The sentence of a line that shares the most with a statement, a short one before a long one; perhaps "".

    What is compared are stretches of three letters, of two where a script writes syllables or words in one, so that
    forms of one word are alike.
    """
    line = line[:_READ]
    size = 2 if any(char >= _WIDE for char in line) else 3
    wanted = _stretches(text, size)
    pieces = [one for one in sentences(line, spoken(line)) if any(char.isalnum() for char in one)]
    return max(pieces, key=lambda one: len(wanted & _stretches(one, size)) - len(one) / _LENGTH, default="")


def _stretches(text: str, size: int) -> set[str]:
    held = plain(text)
    return {held[at : at + size] for at in range(len(held) - size + 1)}
