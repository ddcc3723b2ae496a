"""What a merge says clause by clause: nothing said is left out, denied, or said of something else. Pure.

No model and no list of what matters: a clause is told where something that it says of its topic comes back. Its topic
(its first content word: most languages put it there) does not count: of two notes about Anna, Anna always comes back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations

from memhold.text.analysis import analyse
from memhold.text.details import Detail, content_terms, details, holds
from memhold.text.function_words import EVIDENCE

# ruff: noqa: RUF001 - punctuation of every script

__all__ = ["SAME", "clauses", "left_out", "shared", "swapped", "terms_in", "terms_of"]


_STOP = r"[.!?…;:](?=\s|$)|,(?=\s)|[。！？；：，、\n()（）]|\s[-–—]\s"
_STRETCH = re.compile(_STOP)
_CLAUSE = re.compile(_STOP + r"|(?<!\w)(?:and|but|und|aber|et|mais|y|pero|e|ma|mas|и|но|а|그리고)(?!\w)", re.IGNORECASE)
_WORD = re.compile(r"\w+(?:['’\-]\w+)*")
SAME = 0.6
"""The share of a clause's words that another has which says the same, or denies it."""
ROOT, ENDING = 4, 2
"""Shortest word that counts with another ending, and the longest ending, in characters."""
MOST_VALUES = 40
"""Details of a merge that are compared two by two."""


@lru_cache(maxsize=4096)
def clauses(text: str) -> tuple[str, ...]:
    """A text in clauses: at punctuation, and at the words that set one statement beside another."""
    return _split(_CLAUSE, text)


def _split(at: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in at.split(text) if part.strip())


@lru_cache(maxsize=4096)
def _said(clause: str) -> frozenset[str]:
    """What a clause says of its topic: its terms without those of its first content word."""
    words = [word for word in _WORD.findall(clause) if terms_of(word)]
    terms = terms_of(clause)
    if not words:
        return frozenset()
    first = terms_of(words[0])
    if len(words) > 1:
        return frozenset(terms[1:]) - frozenset(first)
    # One word: in a script without spaces the whole clause; else "is diabetic" says something, "usually" does not.
    said = terms[2:] if len(first) > 1 else terms
    return frozenset(said) if len(first) > 1 or len(_WORD.findall(clause)) > 1 else frozenset()


@lru_cache(maxsize=4096)
def terms_of(text: str) -> tuple[str, ...]:
    """The content terms of a text in their order; single characters of scripts without spaces are in too many words."""
    return tuple(one for one in analyse(text).counts if one not in EVIDENCE and (len(one) > 1 or one.isascii()))


@lru_cache(maxsize=1024)
def _told(text: str) -> frozenset[str]:
    """The terms of a text, of its clauses and of its words: the language that stems them may be another for each."""
    parts = (text, *clauses(text), *_WORD.findall(text))
    return frozenset(term for part in parts for term in terms_of(part))


def _surfaces(text: str, *, said: bool = False) -> frozenset[str]:
    """The content words of a text as they stand, but for its topic where only what it says is asked for."""
    words = [word for word in _WORD.findall(text) if terms_of(word)]
    return frozenset(word.casefold() for word in (words[1:] if said else words))


def left_out(source: str, text: str, accounted: Iterable[str]) -> bool:
    """Whether a clause of the source is told nowhere in the text, nor named whole among what is accounted for."""
    there, words = _told(text), _surfaces(text)
    gone = frozenset[str]().union(*(_told(one) for one in accounted))
    return any(
        (said := _said(clause))
        and not any(terms_in(term, there) for term in said)
        and _surfaces(clause, said=True).isdisjoint(words)
        and not all(terms_in(one, gone) for one in said)
        for clause in clauses(source)
    )


def shared(terms: Iterable[str], text: str) -> int:
    """How many of these terms a text has, whatever their endings."""
    there = _told(text)
    return sum(terms_in(term, there) for term in terms)


def terms_in(term: str, terms: frozenset[str]) -> bool:
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
    said = [clause for source in sources for clause in clauses(source)]
    before = {one: _beside(said, one) for one in values}
    for parts in (clauses(text), _split(_STRETCH, text)):
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
