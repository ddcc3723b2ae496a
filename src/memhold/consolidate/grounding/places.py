"""Whether a name stands in a sentence where the lines have another: by whom, in which place, of which case. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.names import own_names
from memhold.consolidate.grounding.subjects import NEAR
from memhold.consolidate.grounding.words import terms_of
from memhold.consolidate.told_of import names_in, told_of
from memhold.text.function_words import FUNCTION_WORDS

# ruff: noqa: RUF001 - apostrophes of every kind

__all__ = ["named_in_place_of_another"]


@dataclass(frozen=True, slots=True)
class _Name:
    """A name with the function word before it and the noun behind it, where there is one."""

    name: str
    before: str
    behind: str = ""


def named_in_place_of_another(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether a name of a claim stands in clauses that share nothing else with it, and another has its place.

    "First night in Bordeaux, second in Burgos": the first is not in Burgos. "Dana has the Ibsen files": no others. In
    German every noun looks like a name.
    """
    names = own_names(window)
    known = names_in(line.text for line in window) - names
    if claim.language == "german" or not known:
        return False
    mine = list(_names(claim.core, known, claim.language))
    held = _clauses(lines, claim.language, names, known) if mine else []
    around = terms_of(claim.told, claim.language)
    return any(_displaced(one, around, held, known, claim.language) for one in mine)


def _displaced(mine: _Name, around: frozenset[str], held: Sequence[str], known: frozenset[str], language: str) -> bool:
    rest = around - terms_of(mine.name, language)
    having = [text for text in held if terms_of(mine.name, language) & terms_of(text, language)]
    if not having or not rest:
        return False
    if mine.behind and not any(terms_of(mine.behind, language) & terms_of(text, language) for text in having):
        return any(
            other.behind and terms_of(other.behind, language) == terms_of(mine.behind, language)
            for text in held
            for other in _names(text, known, language)
        )
    if any(rest & terms_of(text, language) for text in having):
        return False
    return any(
        other.before == mine.before
        for text in held
        if len(rest & terms_of(text, language)) >= NEAR * len(rest)
        for other in _names(text, known, language)
    )


def _names(text: str, known: frozenset[str], language: str) -> Iterator[_Name]:
    function = FUNCTION_WORDS.get(language, frozenset())
    words = [re.split("['’]", word)[0] for word in re.findall(r"[^\W\d_]+(?:['’]\w+)?|[^\w\s]", text)]
    for place, word in enumerate(words):
        before = words[place - 1].casefold() if place else ""
        if not word[:1].isupper() or word.casefold() not in known or before not in function:
            continue
        behind = words[place + 1] if place + 1 < len(words) else ""
        yield _Name(word, before, behind if behind.islower() and len(behind) > 3 and behind not in function else "")


def _clauses(lines: Sequence[Line], language: str, names: frozenset[str], known: frozenset[str]) -> list[str]:
    """The clauses of the user's lines; one that begins with a preposition is part of the one before."""
    found: list[str] = []
    for line in lines:
        begun = len(found)
        for one in told_of(line.text, language, names, known) if line.own else ():
            if _BESIDE.match(one.text) and len(found) > begun:
                found[-1] = f"{found[-1]} {one.text}"
            else:
                found.append(one.text)
    return found


_BESIDE = re.compile(
    r"(?i)\W*(?:to|from|in|at|of|for|with|on|by|near|de|por|para|con|en|par|pour|avec|chez|à|da|per|di|met|van|voor|av)\b"
)
