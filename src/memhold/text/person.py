"""Whose words a question is about: "where do I live" is about the user's own, "what did you suggest" the assistant's.

By pronouns and the forms in which people ask for what they were told. A language that leaves pronouns out often shows
none; then nothing is preferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from memhold.languages.tables import Speech, heard
from memhold.text.analysis import analyse

__all__ = ["Person", "first_terms", "person_of"]


@dataclass(frozen=True, slots=True)
class Person:
    """Whether a question is about the words of who asks (`first`) or of who is asked (`second`); at most one."""

    first: bool = False
    second: bool = False


def person_of(text: str) -> Person:
    """Whose words a question is about, in the language that it is taken for; neither where its grammar does not say."""
    own, low = heard(text), text.lower().replace("\u2019", "'")
    if own.has("asks", "told", low) and not own.has("asks", "i_told", low):
        return Person(second=True)
    return Person(first=own.has("people", "first", low))


def first_terms(text: str) -> frozenset[str]:
    """The terms of the words index that stand for "I" and "my" in the language that a text is taken for."""
    return _terms(heard(text))


@lru_cache(maxsize=128)
def _terms(own: Speech) -> frozenset[str]:
    return frozenset(term for word in own.words("people", "first") for term in analyse(word).counts)
