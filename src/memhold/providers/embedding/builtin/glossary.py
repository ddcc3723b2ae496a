"""Words of other languages, as the English words that the built-in embedding has rows for.

The table was distilled from an English model: a word of another language has no row that means anything. A glossary
names everyday words of one language and an English word for each, so that what is said in it is near what means the
same, in that language and in English. `glossary/README.md` says how the files are written.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from memhold.text.function_words import FUNCTION_WORDS

__all__ = ["ENDINGS", "NEAR", "NOTHING", "Glossary", "Rows", "entries", "glossaries_digest", "glossary_texts"]

NOTHING: Final = "-"
"""In place of English words: particles and endings, which mean nothing by themselves."""
ENDINGS: Final = "+"
"""In place of English words: what may stand behind a form of one syllable, and may be a word where it stands alone."""
NEAR: Final = "~"
"""Before English words that are near what a form means, each counting half: the line was learnt, not written."""
_DIRECTORY: Final = Path(__file__).with_name("glossary")
_MOST_ENDING: Final = 4
"""Letters that an ending adds to a stem at most: "gearbeitetes", "trabajamos"."""
_LEAST_PART: Final = 3
"""Letters of a stem, and of a part of a compound, at least: shorter ones begin too many words."""
_LINKS: Final = ("", "s", "n", "en", "es", "e")
"""What stands between the parts of a compound in German."""
_MOST_SYLLABLES: Final = 3
"""Syllables of endings and particles behind a Korean form of two syllables or more."""

Rows = tuple[int, ...]


@cache
def glossary_texts() -> Mapping[str, str]:
    """The glossaries of the package, by language."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(_DIRECTORY.glob("*.txt"))}


@cache
def glossaries_digest() -> str:
    """Names the glossaries of the package: vectors made with others are of another generation."""
    told = "".join(f"{language}\n{text}" for language, text in glossary_texts().items())
    return sha256(told.encode()).hexdigest()


def entries(text: str) -> Iterator[tuple[str, Sequence[str]]]:
    """The lines of a glossary: the English words, and the forms that mean them; `*` ends a form that takes endings."""
    for line in text.splitlines():
        english, colon, forms = line.partition(":")
        if colon and not line.startswith("#"):
            yield english.strip(), forms.split()


class Glossary:
    """Finds what the words of one language mean, as rows of English ones. Pure; safe to use from several threads.

    Where a form stands in several lines, the first counts. A function word that no line has means nothing.

    Args:
        language: Its English name, as in `memhold.text.function_words`.
        text: The lines of the glossary.
        fold: How words are folded before they are looked up.
        rows: The rows of an English word.
        half: What is added to a row that counts half.
    """

    def __init__(
        self,
        language: str,
        text: str,
        *,
        fold: Callable[[str], str],
        rows: Callable[[str], Sequence[int]],
        half: int,
    ) -> None:
        self._whole: dict[str, Rows] = {}
        self._stems: dict[str, Rows] = {}
        self._endings: set[str] = set()
        for english, forms in entries(text):
            if english == ENDINGS:
                self._endings.update(map(fold, forms))
                continue
            words = [] if english == NOTHING else english.removeprefix(NEAR).split()
            less = half if english.startswith(NEAR) else 0
            meant = tuple(row + less for word in words for row in rows(word))
            for form in forms:
                held = self._stems if form.endswith("*") else self._whole
                held.setdefault(fold(form.rstrip("*")), meant)
        for word in FUNCTION_WORDS.get(language, ()):
            self._whole.setdefault(word, ())
        self._longest = max(map(len, self._whole), default=0)
        self._function_words = FUNCTION_WORDS.get(language, frozenset())

    def speaks_for(self, words: Sequence[str], english: Container[str]) -> int:
        """How much the words of a text speak for this language rather than for English; 0 where they do not.

        A word that looks English and means nothing here speaks against it. A function word alone shows nothing ("hat"
        is a word of both): two do, or one word that is known here and not English.
        """
        said = sum(word in self._function_words for word in words)
        known = [word for word in words if word not in self._function_words and self._simple(word)]
        foreign = sum(word not in english for word in known)
        against = sum(word in english and word not in self._function_words for word in words)
        against -= len(known) - foreign
        shown = foreign > 0 or said > 1
        return max(0, said + foreign - against) if shown else 0

    def _simple(self, word: str) -> Rows | None:
        return self._whole.get(word) or self._inflected(word)

    def word(self, word: str) -> Rows | None:
        """What a word means: a form, a stem with an ending, or a compound of them; None where it is none of these."""
        found = self._whole.get(word)
        if found is None:
            found = self._inflected(word)
        return self._compound(word) if found is None else found

    def _inflected(self, word: str) -> Rows | None:
        for end in range(len(word), max(len(word) - _MOST_ENDING, _LEAST_PART) - 1, -1):
            if (found := self._stems.get(word[:end])) is not None:
                return found
        return None

    def _compound(self, word: str) -> Rows | None:
        for end in range(len(word) - _LEAST_PART, _LEAST_PART - 1, -1):
            first = self._whole.get(word[:end]) or self._stems.get(word[:end])
            if first is None:
                continue
            for link in _LINKS:
                rest = word[end + len(link) :]
                if word.startswith(link, end) and len(rest) >= _LEAST_PART and (second := self.word(rest)):
                    return first + second
        return None

    def agglutinated(self, word: str) -> Rows | None:
        """What a Korean word means: the longest form that it begins with; endings and particles follow, or more forms.

        One syllable begins too many words: nothing but a particle or a listed ending may follow it.
        """
        for end in range(min(len(word), self._longest), 0, -1):
            first = self._whole.get(word[:end])
            if first is None:
                continue
            rest = word[end:]
            if not rest or self._follows(rest) or (end > 1 and len(rest) <= _MOST_SYLLABLES):
                return first
            if end > 1 and (second := self.agglutinated(rest)) is not None:
                return first + second
        return None

    def _follows(self, rest: str) -> bool:
        return rest in self._endings or self._whole.get(rest) == ()

    def unspaced(self, run: str) -> tuple[Rows, Sequence[str]]:
        """What a run of a script without spaces means, and the stretches of it that no form covers.

        It is read from the left, the longest form first.
        """
        rows: list[int] = []
        unknown = [""]
        start = 0
        while start < len(run):
            ends = range(min(len(run), start + self._longest), start, -1)
            end = next((end for end in ends if run[start:end] in self._whole), None)
            if end is None:
                unknown[-1] += run[start]
                start += 1
            else:
                rows += self._whole[run[start:end]]
                unknown.append("")
                start = end
        return tuple(rows), [stretch for stretch in unknown if stretch]
