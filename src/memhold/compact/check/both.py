"""Of a change, each side is told as what it is: not both as if they held, and not the one as the other."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from memhold.compact.check.case import Case, Source
from memhold.compact.check.past import is_past
from memhold.compact.check.replaced import left
from memhold.compact.check.terms import HANGUL, LIGHT, ROLES, met, terms_of
from memhold.text.analysis import unspaced

# ruff: noqa: RUF001 - words of every script

__all__ = ["instead_turned", "side_by_side"]

REACH = 2
"""Content words on either side of an "and" among which the first that only one of the memories has is looked for."""

_STRETCH: Final = re.compile(r"(?<=[.!?;:…])\s+|[。！？；：()（）]|,(?!\d)|[、，]|\s[-–—]\s|\n+")
_AND: Final = {
    language: re.compile(rf"(?i)\s(?:{words})\s|(?<=\w)/(?=\w)|(?<=[\uac00-\ud7a3]{{2}})(?:와|과|하고|이?랑|이?나)\s")
    for language, words in (
        ("english", "and|or|as well as"),
        ("german", "und|oder|sowie"),
        ("french", "et|ou"),
        ("spanish", "y|e|o|u"),
        ("italian", "ed?|od?|oppure"),
        ("portuguese", "e|ou"),
        ("dutch", "en|of"),
        ("russian", "и|или"),
    )
}
"""Words that set two things side by side, by language: "en" is "in" and "o" is "the" elsewhere."""
_OTHERWISE: Final = _AND["english"]


def side_by_side(case: Case) -> str | None:
    """An "and" or an "or" joins what only a replaced memory has to what only a newer one has, as if both held."""
    if not case.gone:
        return None
    if not _has_words(case.within):
        return _unspaced_side_by_side(case)
    before, after = _sides(case)
    for stretch in _STRETCH.split(case.text):
        if not stretch or is_past(stretch, case.within):
            continue
        line = _Stretch(stretch, case.language)
        for match in _AND.get(case.language, _OTHERWISE).finditer(stretch):
            one, other = (_first(side, before, after) for side in line.around(match))
            if {one, other} == {"old", "new"}:
                return f"{stretch!r} joins what holds no longer to what does"
    return None


_RUN: Final = r"[一-龥々ァ-ヶーA-Za-z0-9]{2,12}"
_UNSPACED_AND: Final = re.compile(rf"(?=({_RUN}?)[和与跟及或とやか](?:の)?({_RUN}))")


def _unspaced_side_by_side(case: Case) -> str | None:
    """The same of Chinese and Japanese: runs of characters that only one of the memories has."""
    before, after = (_pairs(some) for some in (case.gone, case.kept))
    for stretch in _STRETCH.split(case.text):
        if not stretch or is_past(stretch, case.within):
            continue
        for match in _UNSPACED_AND.finditer(stretch):
            one, other = match[1][-2:], match[2][:2]
            old = [part in before and part not in after for part in (one, other)]
            new = [part in after and part not in before for part in (one, other)]
            if any(old) and any(new):
                return f"{stretch!r} joins what holds no longer to what does"
    return None


def _pairs(sources: Sequence[Source]) -> frozenset[str]:
    """Every two characters that stand side by side in one of these."""
    return frozenset(source.text[at : at + 2] for source in sources for at in range(len(source.text) - 1))


_INSTEAD: Final = re.compile(
    r"(?i)(?<!\w)(?:instead of|in place of|rather than|anstelle|anstatt|statt|au lieu d[eu']|en (?:vez|lugar) de"
    r"|invece d\w+|em vez de|in plaats van|вместо)(?!\w)"
    r"|,\s(?:(?:and|und|et|y|e)\s)?(?:not|no longer|nicht(?: mehr)?|pas|plus|no|ya no|non(?: più)?|não|já não"
    r"|niet(?: meer)?|а не)\s"
)
"""Between what is and what is not: "tea instead of coffee", "tea, no longer coffee"."""
_SENTENCE: Final = re.compile(r"(?<=[.!?;:…])\s+|\n+")


def instead_turned(case: Case) -> str | None:
    """The text says that what was replaced is, instead of what holds."""
    if not case.gone or not _has_words(case.within):
        return None
    before, after = _sides(case)
    for stretch in _SENTENCE.split(case.text):
        line = _Stretch(stretch, case.language)
        for match in _INSTEAD.finditer(stretch):
            stays, goes = (_first(side, before, after) for side in line.around(match))
            if (stays, goes) == ("old", "new"):
                return f"{stretch!r} tells the change the wrong way round"
    return None


def _has_words(text: str) -> bool:
    """Whether spaces show the words of a text."""
    return HANGUL.search(text) is not None or not unspaced(text)


def _sides(case: Case) -> tuple[frozenset[str], frozenset[str]]:
    """The terms of what was replaced, and of what holds; those of what a newer memory says is over are no new ones."""
    over = frozenset[str]().union(*left(case))
    holds = _terms(case.kept, case.language)
    return _terms(case.gone, case.language), frozenset(one for one in holds if not _is_among(one, over))


def _is_among(term: str, terms: frozenset[str]) -> bool:
    """Whether a term is one of these; of Korean, whose terms are pairs of syllables, whether all of its pairs are."""
    pairs = (term[at : at + 2] for at in range(len(term) - 1))
    return term in terms or (HANGUL.fullmatch(term) is not None and all(pair in terms for pair in pairs))


def _terms(sources: Sequence[Source], language: str) -> frozenset[str]:
    return frozenset[str]().union(*(terms for source in sources for terms in _line(source.text, language)))


_TOKEN: Final = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_PARTICLE: Final = re.compile(r"(?<=..)(?:이랑|하고|에서|에게|으로|부터|까지|[와과랑나은는이가을를에로도만의])\Z")


def _line(text: str, language: str) -> list[frozenset[str]]:
    """The terms of each figure and each content word of a text in their order; of Korean words without a particle."""
    found = []
    for word in _TOKEN.findall(text):
        if word[0].isdigit():
            found.append(frozenset({word}))
        elif HANGUL.fullmatch(word):
            found.append(frozenset({_PARTICLE.sub("", word)}) - ROLES)
        else:
            found.append(terms_of(word, language) - ROLES)
    return [terms for terms in found if terms]


class _Stretch:
    """The content words of a stretch of text, read once, and which of them stand on either side of a match."""

    def __init__(self, text: str, language: str) -> None:
        self._text, self._language = text, language
        read = ((word, _line(word.group(), language)) for word in _TOKEN.finditer(text))
        self._words = [(word.start(), word.end(), terms[0]) for word, terms in read if terms]
        self._starts = [start for start, _, _ in self._words]

    def around(self, match: re.Match[str]) -> tuple[Iterator[frozenset[str]], Iterator[frozenset[str]]]:
        """The words in front of a match, the nearest first, and those behind it; of one that it cuts, what is left."""
        return self._ahead(match.start()), self._behind(match.end())

    def _ahead(self, place: int) -> Iterator[frozenset[str]]:
        for at in range(bisect_left(self._starts, place) - 1, -1, -1):
            start, end, terms = self._words[at]
            if end > place:
                yield from _line(self._text[start:place], self._language)
            else:
                yield terms

    def _behind(self, place: int) -> Iterator[frozenset[str]]:
        first = bisect_left(self._starts, place)
        if first and self._words[first - 1][1] > place:
            yield from _line(self._text[place : self._words[first - 1][1]], self._language)
        for at in range(first, len(self._words)):
            yield self._words[at][2]


def _first(line: Iterable[frozenset[str]], before: frozenset[str], after: frozenset[str]) -> str | None:
    """Of which side the nearest word is that only what was replaced ("old") or only what holds ("new") has."""
    for terms in islice(line, REACH):
        own = terms - LIGHT
        old, new = met(own, before), met(own, after)
        if old != new:
            return "old" if old else "new"
    return None
