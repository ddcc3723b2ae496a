"""Korean verbs as nouns: how a value is written down ("끊음"), and how it was said ("끊었어"). Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

__all__ = ["nominalised_in"]

_FIRST, _LAST = 0xAC00, 0xD7A3
_M = "\u11b7"
"""The final consonant that makes a noun of a verb: 마시다, 마심."""
_LEAST = 3
"""Letters that a stem has at least: fewer begin too many words."""


def nominalised_in(value: str, texts: Iterable[str]) -> bool:
    """Whether each word of a value is a word of the texts, or a noun made of a verb of which the texts have a form.

    At least one is such a noun. The last vowel of a stem may have become one with its ending (마시어, 마셔).
    """
    words = [word.strip(".,!?~\u2026") for text in texts for word in text.split()]
    stems = {word: _stem(word) for word in value.split()}
    spelled = [_letters(word) for word in words]

    def stands(word: str, stem: str) -> bool:
        if any(one.startswith(word) for one in words):
            return True
        return len(stem) >= _LEAST and any(one.startswith(stem) or _contracted(stem, one) for one in spelled)

    return any(stems.values()) and all(stands(word, stem) for word, stem in stems.items())


def _stem(word: str) -> str:
    """The letters of the verb that a noun is made of; empty where it is none."""
    if not word or not all(_FIRST <= ord(char) <= _LAST for char in word):
        return ""
    if word[-1] == "음" and len(word) > 1:
        return _letters(word[:-1])
    spelled = _letters(word)
    return spelled[:-1] if spelled.endswith(_M) and len(word) > 1 else ""


def _contracted(stem: str, word: str) -> bool:
    return (
        len(stem) > _LEAST
        and _vowel(stem[-1])
        and word.startswith(stem[:-1])
        and _vowel(word[len(stem) - 1 : len(stem)])
    )


def _vowel(letter: str) -> bool:
    return "\u1161" <= letter <= "\u1175" if letter else False


def _letters(word: str) -> str:
    return unicodedata.normalize("NFD", word)
