"""What a text tells of its sources clause by clause: how many words, and whether two things are exchanged. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations

from memhold.text.analysis import analyse
from memhold.text.details import Detail, content_terms, details, holds
from memhold.text.function_words import EVIDENCE

# ruff: noqa: RUF001 - punctuation of every script

__all__ = ["shared", "swapped"]


_STOP = r"[.!?…;:](?=\s|$)|,(?=\s)|[。！？；：，、\n()（）]|\s[-–—]\s"
_STRETCH = re.compile(_STOP)
_CLAUSE = re.compile(_STOP + r"|(?<!\w)(?:and|but|und|aber|et|mais|y|pero|e|ma|mas|и|но|а|그리고)(?!\w)", re.IGNORECASE)
_WORD = re.compile(r"\w+(?:['’\-]\w+)*")
ROOT, ENDING = 4, 2
"""Shortest word that counts with another ending, and the longest ending, in characters."""
MOST_VALUES = 40
"""Details of a merge that are compared two by two."""


@lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[str, ...]:
    """A text in clauses: at punctuation, and at the words that set one statement beside another."""
    return _split(_CLAUSE, text)


def _split(at: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in at.split(text) if part.strip())


@lru_cache(maxsize=4096)
def _terms_of(text: str) -> tuple[str, ...]:
    """The content terms of a text in their order; single characters of scripts without spaces are in too many words."""
    return tuple(one for one in analyse(text).counts if one not in EVIDENCE and (len(one) > 1 or one.isascii()))


@lru_cache(maxsize=1024)
def _told(text: str) -> frozenset[str]:
    """The terms of a text, of its clauses and of its words: the language that stems them may be another for each."""
    parts = (text, *_parts(text), *_WORD.findall(text))
    return frozenset(term for part in parts for term in _terms_of(part))


def shared(terms: Iterable[str], text: str) -> int:
    """How many of these terms a text has, whatever their endings."""
    there = _told(text)
    return sum(_among(term, there) for term in terms)


def _among(term: str, terms: frozenset[str]) -> bool:
    """Whether a term is there, with another ending too: a stemmer may have taken it off one of them only."""
    if term in terms or len(term) < ROOT:
        return term in terms
    return any(
        min(len(one), len(term)) >= ROOT
        and abs(len(one) - len(term)) <= ENDING
        and one[:ROOT] == term[:ROOT]
        and (one.startswith(term) or term.startswith(one))
        for one in terms
    )


def swapped(sources: Sequence[str], text: str) -> bool:
    """Whether two details of the sources stand in the text each with what the sources say of the other."""
    values = [one for one in details(text) if any(holds(source, one) for source in sources)][:MOST_VALUES]
    said = [clause for source in sources for clause in _parts(source)]
    before = {one: _beside(said, one) for one in values}
    for parts in (_parts(text), _split(_STRETCH, text)):
        after = {one: _beside(parts, one) for one in values}
        for one, other in combinations(values, 2):
            own, foreign = before[one] - before[other], before[other] - before[one]
            crossed = after[one] & foreign and not after[one] & own
            if own and crossed and after[other] & own and not after[other] & foreign:
                return True
    return False


def _beside(parts: Sequence[str], value: Detail) -> frozenset[str]:
    """The terms of the clauses that hold a detail, without its own."""
    held = [content_terms(part) for part in parts if holds(part, value)]
    return frozenset[str]().union(*held) - content_terms(value.text)
