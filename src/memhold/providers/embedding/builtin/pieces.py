"""Text to the pieces that the built-in embedding has rows for, and grams for what it has no rows for.

The analysis is part of an embedding generation: `ANALYSIS` is its version and part of the fingerprint, so vectors made
by another one are never compared with these.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from memhold.text.normal_form import normal_form

__all__ = ["ANALYSIS", "PieceReader", "Pieces", "readable"]

ANALYSIS: Final = 1

# Marks belong to the word they stand in; format characters, variation selectors and controls belong to nothing.
_MARKS = "\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u06ed\u0900-\u109f\u1780-\u17ff\u3099\u309a"
_IGNORED = (
    "\u0000-\u0008\u000e-\u001b\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\ufffd"
)
_WORD_ASCII: Final = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_WORD: Final = re.compile(rf"(?:[^\W_]|[{_MARKS}])++|[^\w\s{_IGNORED}{_MARKS}]|_")
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
# Scripts that write no spaces, or where one syllable is one character: two characters are a word there.
_WIDE_RANGES = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUNS: Final = re.compile(rf"[{_WIDE_RANGES}]+|[^{_WIDE_RANGES}]+")
_WIDE: Final = re.compile(rf"[{_WIDE_RANGES}]")
# Letters before this are Latin; any later letter is one that the teacher only spells.
_LATIN_END: Final = "\u0250"

_MAX_WORD: Final = 100
_CACHE_WORDS: Final = 50_000
_CACHE_CHARS: Final = 32


class Pieces(NamedTuple):
    """The rows of a word's (or text's) known pieces, and the letter grams and symbols that have no row."""

    rows: Sequence[int]
    grams: Sequence[str]
    symbols: Sequence[str]


def readable(piece: str) -> bool:
    """Whether a vocabulary piece is kept in the table: Latin letters, digits, punctuation, symbols.

    The teacher is English. Letters of other scripts are in its vocabulary one by one, so that a word would be the bag
    of its letters; such words become grams instead, and their pieces need no rows.
    """
    return all(c < _LATIN_END or not (c.isalnum() or unicodedata.category(c)[0] == "M") for c in piece)


def fold(text: str) -> str:
    """Lower case, compatibility forms unified (full-width, ligatures), Latin, Greek and Cyrillic accents dropped."""
    if text.isascii():
        return text.lower()
    return normal_form("NFC", _ACCENTS.sub("", normal_form("NFKD", text.lower()))).lower()


def _bigrams(run: str) -> tuple[str, ...]:
    return tuple(run[i : i + 2] for i in range(len(run) - 1)) or (run,)


def _trigrams(word: str) -> tuple[str, ...]:
    bounded = f"<{word}>"
    return tuple(bounded[i : i + 3] for i in range(len(bounded) - 2))


class PieceReader:
    """Splits text into pieces by the greedy longest match of WordPiece (Schuster and Nakajima 2012, as in BERT).

    Pure in its results; it remembers the pieces of words that it has seen, at most 50,000 of them. Safe to use from
    several threads.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._longest = max(map(len, vocabulary), default=0)
        self._seen: dict[str, Pieces] = {}

    def read(self, text: str) -> Pieces:
        """The pieces of a text in order. Never raises, whatever the string holds (lone surrogates, controls)."""
        folded = fold(text)
        pattern = _WORD_ASCII if folded.isascii() else _WORD
        seen = self._seen
        rows: list[int] = []
        grams: list[str] = []
        symbols: list[str] = []
        for word in pattern.findall(folded):
            known, spelled, signs = seen.get(word) or self._learn(word)
            rows += known
            if spelled:
                grams += spelled
            if signs:
                symbols += signs
        return Pieces(rows, grams, symbols)

    def _learn(self, word: str) -> Pieces:
        pieces = self._split(word)
        if len(word) <= _CACHE_CHARS:
            if len(self._seen) >= _CACHE_WORDS:
                self._seen.clear()
            self._seen[word] = pieces
        return pieces

    def _split(self, word: str) -> Pieces:
        rows: list[int] = []
        grams: list[str] = []
        symbols: list[str] = []
        for run in _RUNS.findall(word):
            if _WIDE.match(run) and word[0].isalnum():
                grams += _bigrams(run)
            elif len(run) > _MAX_WORD:
                symbols.append(run)  # an encoded blob, not a word: its letters must not drown the text around it
            elif found := self._match(run):
                rows += found
            elif run[0].isalnum():
                grams += _trigrams(run)
            else:
                symbols.append(run)
        return Pieces(tuple(rows), tuple(grams), tuple(symbols))

    def _match(self, word: str) -> list[int]:
        rows: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                row = self._vocabulary.get(prefix + word[start:end])
                if row is not None:
                    rows.append(row)
                    start = end
                    break
            else:
                return []
        return rows
