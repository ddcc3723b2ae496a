"""A text as the check reads it: its clauses, their terms and words, and when two terms are one word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from memhold.text.analysis import analyse
from memhold.text.figures import figures
from memhold.text.function_words import EVIDENCE
from memhold.text.negation import negates

# ruff: noqa: RUF001 - punctuation and words of every script

__all__ = [
    "FEW",
    "HANGUL",
    "LIGHT",
    "NAMING",
    "ROLES",
    "alike",
    "clauses_of",
    "in_line",
    "is_function",
    "met",
    "neighbours",
    "plain_words",
    "stands_in",
    "terms_of",
    "whole_words",
    "words_behind",
]

FEW = 3
"""Words of its own from which on something must be told by its share of them."""


_CLAUSE: Final = re.compile(
    r"(?<![DdPMSN]r\.)(?<!Mrs\.)(?<!Prof\.)(?<!St\.)(?<=[.!?;:…])\s+|[。！？；：、，()（）]|,(?!\d)|\s[-–—]\s|\n+"
    r"|\s(?:and|but|although|though|whereas|because|since|as(?!\san?\s)|when|while|which|who|und|aber|sondern|obwohl|weil|wenn"
    r"|dass"
    r"|et|mais|parce|quand|y|pero|aunque|sino|porque|cuando|e|però|ma|perché|mas|и|но|а|потому|когда)\s",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def clauses_of(text: str) -> tuple[str, ...]:
    """The clauses of a text: parted at punctuation and at the words that join statements."""
    return tuple(part.strip() for part in _CLAUSE.split(text[:20_000]) if part and part.strip())


@lru_cache(maxsize=8192)
def terms_of(text: str, language: str) -> frozenset[str]:
    """The content terms of a text."""
    return frozenset(term for term in analyse(text, language).counts if term not in EVIDENCE)


_ROLE_WORDS = """
user assistant nutzer nutzerin benutzer benutzerin utilisateur utilisatrice usuario usuaria utente utenti
utilizador utilizadora usuário usuária gebruiker пользователь пользователя 사용자 用户 用戶
"""
ROLES: Final = frozenset(
    term
    for word in _ROLE_WORDS.split()
    for form in (word, f"l'{word}")
    for language in ("english", "german", "french", "spanish", "italian", "portuguese", "dutch", "russian")
    for term in analyse(form, language).counts
    if len(term) > 1
)
"""What the one who speaks is called in notes: told or not, it is the same person."""


def stands_in(text: str, detail: str) -> bool:
    """Whether a detail stands in a text as a word."""
    return re.search(rf"(?<!\w){re.escape(detail)}(?!\w)", text, re.IGNORECASE) is not None


HANGUL: Final = re.compile(r"[\uac00-\ud7a3]{2,}")


def whole_words(text: str, language: str) -> frozenset[str]:
    """The terms of a text; of Korean its words without what may be a particle: its pairs of syllables are many."""
    # Two syllables of which one is the object's particle are a word of one, as short as a particle.
    words = [word for word in HANGUL.findall(text) if len(word) > 2 or word[-1] not in "을를"]
    return frozenset(word[: max(2, len(word) - 2)] for word in words) if words else terms_of(text, language)


def is_function(term: str) -> bool:
    """Whether a term is a role, a figure or a no, which other rules look at."""
    return term in ROLES or bool(figures(term)) or negates(term)


def alike(term: str, terms: frozenset[str]) -> bool:
    """Whether a term is among others with another ending; of Korean with another particle."""
    if HANGUL.fullmatch(term):
        return any(one.startswith(term) or (len(one) > 1 and term.startswith(one)) for one in terms)
    root = max(4, len(term) - 2)
    return len(term) >= 4 and any(
        one[:root] == term[:root] or (len(one) >= 4 and term.startswith(one)) for one in terms
    )


_ARTICLE_WORDS = """
the a an der die das den dem des ein eine einen einem einer le la les l un une el los las una il lo gli i o os
as um uma de het een
"""
_ARTICLES: Final = frozenset(_ARTICLE_WORDS.split())


def plain_words(clause: str) -> list[str]:
    """The words of a clause in their order, without articles."""
    return [word for one in _WORD.findall(clause) if (word := one.casefold()) not in _ARTICLES]


def words_behind(clause: str, at: int) -> Iterator[str]:
    """The words of a clause from a place on, one after the other."""
    return (one[0] for one in _WORD.finditer(clause, at))


def in_line(clause: str, language: str) -> list[frozenset[str]]:
    """The terms of each content word of a clause, in their order."""
    return [terms for word in _WORD.findall(clause) if (terms := terms_of(word, language) - ROLES)]


_WORD: Final = re.compile(r"(?<!\w)[^\W\d_]+(?:['’][^\W\d_]+)*(?!\w)")


_LIGHT_WORDS = """
use take give get keep stay hold go goes make have put set say tell call mean carry want need like prefer
provide include follow expect plan happen start begin become remain live work every each now still since
because instead never only always must may can should neither nor either stop end back well just also about
around currently usually generally available such thing way part please other time
"""
LIGHT: Final = frozenset(term for word in _LIGHT_WORDS.split() for term in analyse(word, "english").counts)
"""Words of so little content that one more or less says nothing."""


_NAMING_WORDS = """
heißt heisst heißen appelle appelé appelée llama llamado llamada chiama chiamato chama chamado chamada heet
зовут
"""
NAMING: Final = frozenset(_NAMING_WORDS.split())


def neighbours(clause: str, language: str) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Each content word of a clause, with those beside it."""
    line = in_line(clause, language)
    return [
        (terms, frozenset[str]().union(*line[max(0, at - 1) : at], *line[at + 1 : at + 2]))
        for at, terms in enumerate(line)
    ]


def met(terms: frozenset[str], others: frozenset[str]) -> bool:
    """Whether one of these terms is among others, with another ending too."""
    return bool(terms & others) or any(alike(one, others) for one in terms)
