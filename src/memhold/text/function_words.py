"""Function words by language, out of their files: the evidence by which the language of a text is guessed.

They are folded as `memhold.text.analysis` folds (no diacritics). A word that several languages share is weak evidence
for each.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Final

from memhold.languages.tables import languages, phrases

__all__ = ["EVIDENCE", "FUNCTION_WORDS", "UNIT", "UNSPACED_FUNCTION_WORDS"]

UNIT: Final = 60
"""The evidence of a word that only one language has; a word of n languages counts `UNIT // n` for each."""
_UNSPACED: Final = "\u3040"


def _folded(word: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))


FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    table["stemmer"]: frozenset(map(_folded, phrases(table["words"]["function"])))
    for table in languages().values()
    if table["stemmer"]
}
"""The function words of each language that is written in Latin letters, by the name of its Snowball stemmer."""
UNSPACED_FUNCTION_WORDS: Final = frozenset(
    word
    for table in languages().values()
    for word in phrases(table["words"]["function"])
    if not table["stemmer"] and word[0] >= _UNSPACED
)
"""Function words of scripts without spaces: Han and kana as parts of a run, Hangul as whole words."""


def _evidence() -> dict[str, tuple[tuple[str, int], ...]]:
    speakers: dict[str, list[str]] = {}
    for language, words in FUNCTION_WORDS.items():
        for word in words:
            speakers.setdefault(word, []).append(language)
    return {word: tuple((language, UNIT // len(held)) for language in held) for word, held in speakers.items()}


EVIDENCE: Final = _evidence()
"""Which languages a word speaks for, and how much."""
