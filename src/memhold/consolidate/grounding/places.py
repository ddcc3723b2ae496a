"""Whether a name stands in a sentence where the lines have another: by whom, in which place, of which case. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from memhold.consolidate.clause_subjects import names_in, whose_clauses
from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.names import own_names
from memhold.consolidate.grounding.subjects import NEAR
from memhold.consolidate.grounding.words import TAKEN_UP, terms_of
from memhold.text.function_words import FUNCTION_WORDS
from memhold.text.kin import kin_in
from memhold.text.mood import supposed_in
from memhold.text.negation import negates

# ruff: noqa: RUF001 - apostrophes of every kind

__all__ = ["named_in_place_of_another", "named_under_another"]


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


def named_under_another(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether a value is a name that lines give to something else than its attribute, which has its own there.

    "The plumber is Mr. Osei, the electrician Ms. Varga": the plumber is not Ms. Varga.
    """
    names = own_names(window)
    known = names_in(line.text for line in window) - names
    if not claim.value or claim.known or claim.language == "german" or kin_in(claim.frame, claim.language):
        return False  # of kin there are several: "my other sister"
    mine = frozenset(re.findall(r"\w+", claim.core.casefold())) & known
    role = terms_of(claim.frame, claim.language)
    if not mine or not role or len(claim.core.split()) > _LONGEST_NAME:
        return False
    every = [one.text for line in lines if line.own for one in whose_clauses(line.text, claim.language, names, known)]
    # A name alone between commas is of the noun before it: "the electrician, Ms. Varga, a week later".
    held = [
        f"{before} {text}" if before and not terms_of(text, claim.language) - _terms(known, claim.language) else text
        for before, text in pairwise(["", *every])
    ]
    having = [text for text in held if mine & frozenset(re.findall(r"\w+", text.casefold()))]
    named = [text for text in held if role & terms_of(text, claim.language)]
    return (
        bool(having)
        and bool(named)
        and not any(text in named or TAKEN_UP.search(text) for text in having)
        and all(terms_of(text, claim.language) - _terms(known, claim.language) for text in having)
        and any(
            frozenset(re.findall(r"\w+", text.casefold())) & known - mine
            and not negates(text)
            and supposed_in(text, claim.language) is None
            for text in named
        )
    )


_LONGEST_NAME: Final = 3


def _terms(words: frozenset[str], language: str) -> frozenset[str]:
    return terms_of(" ".join(sorted(words)), language)


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
        for one in whose_clauses(line.text, language, names, known) if line.own else ():
            if _BESIDE.match(one.text) and len(found) > begun:
                found[-1] = f"{found[-1]} {one.text}"
            else:
                found.append(one.text)
    return found


_BESIDE = re.compile(
    r"(?i)\W*(?:to|from|in|at|of|for|with|on|by|near|de|por|para|con|en|par|pour|avec|chez|à|da|per|di|met|van|voor|av)\b"
)
