"""Text to the pieces that the built-in embedding has rows for, and grams for what it has no rows for.

The analysis is part of an embedding generation: `ANALYSIS` is its version and part of the fingerprint, so vectors made
by another one are never compared with these.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from memhold.providers.embedding.builtin.glossary import Glossary
from memhold.text import lazily
from memhold.text.analysis import votes_of_words
from memhold.text.function_words import FUNCTION_WORDS
from memhold.text.normal_form import normal_form

__all__ = ["ANALYSIS", "PieceReader", "Pieces", "readable"]

ANALYSIS: Final = 3

# Marks belong to the word they stand in; format characters, variation selectors and controls belong to nothing.
_MARKS = "\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u06ed\u0900-\u109f\u1780-\u17ff\u3099\u309a"
_IGNORED = (
    "\u0000-\u0008\u000e-\u001b\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\ufffd"
)
_WORD_ASCII: Final = lazily.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_WORD: Final = lazily.compile(rf"(?:[^\W_]|[{_MARKS}])++|[^\w\s{_IGNORED}{_MARKS}]|_")
_ACCENTS: Final = lazily.compile("[\u0300-\u036f]")
# Scripts that write no spaces, or where one syllable is one character: two characters are a word there.
_WIDE_RANGES = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUNS: Final = lazily.compile(rf"[{_WIDE_RANGES}]+|[^{_WIDE_RANGES}]+")
_WIDE: Final = lazily.compile(rf"[{_WIDE_RANGES}]")
_HANGUL: Final = lazily.compile("[\uac00-\ud7a3]")
_CYRILLIC: Final = lazily.compile("[\u0400-\u052f]")
_KANA: Final = lazily.compile("[\u3040-\u30ff]")
# Letters before this are Latin; any later letter is one that the teacher only spells.
_LATIN_END: Final = "\u0250"

_BEHIND: Final = {"japanese": "chinese", "chinese": "japanese"}

_MAX_WORD: Final = 100
_CACHE_WORDS: Final = 50_000
_CACHE_CHARS: Final = 32


class Pieces(NamedTuple):
    """The rows of a word's (or text's) known pieces, and the letter grams and symbols that have no row.

    A row beyond the last is one of the table that counts half: row 3 of a table of 10 is 13 then.
    """

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

    A word of a language that has a glossary is the pieces of the English words that it means. Which language the Latin
    letters of a text are is told by its function words, and Han by whether kana stand in it. Pure in its results; it
    remembers the pieces of words that it has seen, at most 50,000 for each language. Safe to use from several threads.

    Args:
        vocabulary: The row of each piece.
        glossaries: The lines of a glossary, by the English name of its language.
    """

    def __init__(self, vocabulary: Mapping[str, int], glossaries: Mapping[str, str] | None = None) -> None:
        self._vocabulary = vocabulary
        self._longest = max(map(len, vocabulary), default=0)
        self._texts = glossaries or {}
        self._glossaries: dict[str, Glossary] = {}
        self._seen: dict[tuple[str, str], dict[str, Pieces]] = {}

    def read(self, text: str) -> Pieces:
        """The pieces of a text in order. Never raises, whatever the string holds (lone surrogates, controls)."""
        folded = fold(text)
        words = (_WORD_ASCII if folded.isascii() else _WORD).findall(folded)
        spoken = self._latin(words), "japanese" if _KANA.search(folded) else "chinese"
        seen = self._seen.setdefault(spoken, {})
        rows: list[int] = []
        grams: list[str] = []
        symbols: list[str] = []
        for word in words:
            known, spelled, signs = seen.get(word) or self._learn(word, *spoken, seen)
            rows += known
            if spelled:
                grams += spelled
            if signs:
                symbols += signs
        return Pieces(rows, grams, symbols)

    def _latin(self, words: Sequence[str]) -> str:
        """The language of the words in Latin letters: English, or the one that they speak for most."""
        votes = votes_of_words(words)
        if votes.get("english", 0) > 0 and votes["english"] == max(votes.values()):
            return "english"
        letters = [word for word in words if word[0].isalpha() and word[0] < _LATIN_END]
        best, chosen = 0, "english"
        for language in sorted(self._texts.keys() & FUNCTION_WORDS.keys()):
            glossary = self._glossary(language)
            if glossary is not None and (score := glossary.speaks_for(letters, self._vocabulary)) > best:
                best, chosen = score, language
        return chosen

    def _learn(self, word: str, latin: str, han: str, seen: dict[str, Pieces]) -> Pieces:
        pieces = self._split(word, latin, han)
        if len(word) <= _CACHE_CHARS:
            if len(seen) >= _CACHE_WORDS:
                seen.clear()
            seen[word] = pieces
        return pieces

    def _split(self, word: str, latin: str, han: str) -> Pieces:
        rows: list[int] = []
        grams: list[str] = []
        symbols: list[str] = []
        for run in _RUNS.findall(word):
            if _WIDE.match(run) and word[0].isalnum():
                known, unknown = self._wide(run, han)
                rows += known
                for stretch in unknown:
                    grams += _bigrams(stretch)
            elif len(run) > _MAX_WORD:
                symbols.append(run)  # an encoded blob, not a word: its letters must not drown the text around it
            elif (found := self._known(run, "russian" if _CYRILLIC.match(run) else latin)) is not None:
                rows += found
            elif run[0].isalnum():
                grams += _trigrams(run)
            else:
                symbols.append(run)
        return Pieces(tuple(rows), tuple(grams), tuple(symbols))

    def _wide(self, run: str, han: str) -> tuple[Sequence[int], Sequence[str]]:
        """The rows of what a run of a script without spaces means, and the stretches that no glossary knows."""
        if _HANGUL.match(run):
            korean = self._glossary("korean")
            meant = None if korean is None else korean.agglutinated(run)
            return ((), [run]) if meant is None else (meant, [])
        glossary = self._glossary(han)
        return ((), [run]) if glossary is None else glossary.unspaced(run)

    def _known(self, word: str, language: str) -> Sequence[int] | None:
        """The rows of a word; None for one that the teacher cannot read.

        Parts of a word mean something in English alone: of another language's words only whole pieces are taken, which
        most often are names.
        """
        glossary = self._glossary(language)
        if glossary is None:
            return self._match(word) or None
        meant = glossary.word(word)
        return (self._vocabulary[word],) if meant is None and word in self._vocabulary else meant

    def _glossary(self, language: str) -> Glossary | None:
        """The glossary of a language, read when it is first needed."""
        found = self._glossaries.get(language)
        if found is None and language in self._texts:
            # A name alone is Han in both languages: what one does not know is looked up in the other.
            text = self._texts[language] + self._texts.get(_BEHIND.get(language, ""), "")
            found = self._glossaries[language] = Glossary(
                language, text, fold=fold, rows=self._match, half=len(self._vocabulary)
            )
        return found

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
