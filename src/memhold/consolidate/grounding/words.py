"""The content words of a text, and how many of them stand in another. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from memhold.consolidate.clause_subjects import CLAUSE
from memhold.consolidate.grounding.claims import ROLES, Claim, Line
from memhold.text.analysis import analyse
from memhold.text.details import content_terms
from memhold.text.function_words import EVIDENCE, FUNCTION_WORDS
from memhold.text.normal_form import normal_form
from memhold.text.quantities import quantities

# ruff: noqa: RUF001 - letters of every script

__all__ = [
    "TAKEN_UP",
    "UNSPACED",
    "any_word",
    "begun",
    "clauses_of",
    "has_numbers_of",
    "is_a_word",
    "literally",
    "overlap",
    "share_of",
    "terms_of",
]


def any_word(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a line has a word of a value, or the value itself; of a script without spaces, that to the letter."""
    if UNSPACED.search(claim.core):
        words = claim.core.split()
        return any(any(literally(word, line.text) for line in lines) for word in words)
    wanted = terms_of(claim.core, claim.language)
    return any(wanted & terms_of(line.text, claim.language) or literally(claim.core, line.text) for line in lines)


@lru_cache(maxsize=8192)
def terms_of(text: str, language: str) -> frozenset[str]:
    """Content words of a text in the window's language, without the names of the roles, which no line has of itself."""
    function = FUNCTION_WORDS.get(language, EVIDENCE)
    found = {term for term in analyse(text, language).counts if term not in function and term not in ROLES}
    # A word with hyphens is its parts: counted whole as well, one would weigh more than a verb.
    return frozenset(term for term in found if "-" not in term or not any(part in found for part in term.split("-")))


def literally(wanted: str, text: str) -> bool:
    """Whether a text stands in another to the letter, as a word of its own."""
    flat = normal_form("NFKC", " ".join(wanted.split()))
    held = normal_form("NFKC", " ".join(text.split()))
    if len(flat) > 1:
        flat, held = flat.casefold(), held.casefold()
    edges = (r"(?<![^\W_])", r"(?![^\W_])") if flat.isascii() and flat[:1].isalnum() else ("", "")
    pattern = f"{edges[0]}{re.escape(flat)}{edges[1]}"
    return bool(flat) and re.search(pattern, held) is not None


def share_of(text: str, lines: Sequence[Line], language: str) -> float:
    """The share of a text's content words that stand in lines, numbers in whatever form."""
    wanted = terms_of(text, language)
    held = frozenset(term for line in lines for term in terms_of(line.text, language))
    numbers = {value for line in lines for one in quantities(line.text) for value in one.values}
    spoken = {one.text.casefold() for one in quantities(text) if one.values & numbers}
    met = sum(term in held or term in spoken for term in wanted)
    return met / len(wanted) if wanted else 0.0


def is_a_word(word: str, window: Sequence[Line]) -> bool:
    """Whether a line has every content word of this one."""
    terms = content_terms(word)
    return any(terms <= content_terms(line.text) for line in window)


UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def begun(frame: str, clause: str) -> bool:
    """Whether a clause has a word of the claim's attribute, in any form of it: "allergic" of an allergy."""
    held = [word[:5] for word in re.findall(r"\w{4,}", clause.casefold())]
    return any(word[:5] in held for word in re.findall(r"\w{4,}", frame.casefold()))


def clauses_of(lines: Sequence[Line]) -> list[tuple[Line, str]]:
    """The clauses of lines, each with its line."""
    return [
        (line, clause) for line in lines for clause in CLAUSE.split(line.text[:20_000]) if clause and clause.strip()
    ]


def overlap(text: str, clause: str, language: str) -> float:
    """The share of a text's content words that stand in one clause."""
    wanted = terms_of(text, language)
    if not wanted:
        return float(literally(text, clause))
    held = terms_of(clause, language)
    numbers = {value for one in quantities(clause) for value in one.values}
    spoken = {one.text.casefold() for one in quantities(text) if one.values & numbers}
    return sum(term in held or term in spoken for term in wanted) / len(wanted)


def has_numbers_of(value: str, clause: str) -> bool:
    """Whether a value has numbers, and a clause all of them."""
    wanted = [one.values for one in quantities(value)]
    held = frozenset(number for one in quantities(clause) for number in one.values)
    return bool(wanted) and all(values & held for values in wanted)


TAKEN_UP = re.compile(
    r"(?i)\b(?:it|them|one|that|this|es|ihn|sie|das|davon|ça|cela|eso|esto|quello|questo|isso|isto|het|dat|det"
    r"|это|его|её|их)\b"
)
"""A pronoun by which a clause takes up what the one before spoke of."""
