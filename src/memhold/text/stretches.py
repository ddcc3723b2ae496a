"""Stretches of a very long text that stand for it in the indexes: as many from its beginning as from its end. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from memhold.text.json_fields import texts_at

__all__ = ["MOST_ASKED", "WHOLE", "both_ends", "document_words", "sampled_text"]

MOST_ASKED = 2_000
"""Characters of a long text that are asked for, half from each end: what is asked may stand at either."""
WHOLE = 32_000
"""Characters up to which a text is indexed whole: reading them takes some ten milliseconds."""
_STRETCHES = 16
_WORD = 100
"""Characters within which a stretch is moved to the end of a word."""


def sampled_text(text: str) -> str:
    """The text where it is short, else sixteen stretches of it at equal distances, the first and the last included.

    Each begins and ends between words, where there is a blank near, and stands on a line of its own.
    """
    if len(text) <= WHOLE:
        return text
    size = WHOLE // _STRETCHES
    step = (len(text) - size) / (_STRETCHES - 1)
    found = []
    for place in range(_STRETCHES):
        start = _between_words(text, round(place * step))
        found.append(text[start : _between_words(text, round(place * step) + size)])
    return "\n".join(found)


def document_words(path: Sequence[str], text: str, fields: Sequence[str] = ()) -> str:
    """What an index holds of a document: the names of its path, and its text or samples of it.

    With fields the text is JSON, and only what stands at them is held.
    """
    if fields:
        text = texts_at(json.loads(text), fields, most=len(text))
    return " ".join((*path, "\n", sampled_text(text)))


def _between_words(text: str, at: int) -> int:
    """The first blank at or behind a place, where one is near; the place itself where none is."""
    if at == 0 or at >= len(text):
        return min(at, len(text))
    return next((near for near in range(at, min(at + _WORD, len(text))) if text[near].isspace()), at)


def both_ends(text: str) -> str:
    """What is asked for of a text that somebody wrote without knowing that it is a question: all, or its two ends."""
    return text if len(text) <= MOST_ASKED else f"{text[: MOST_ASKED // 2]} {text[-MOST_ASKED // 2 :]}"
