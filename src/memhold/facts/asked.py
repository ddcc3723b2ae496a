"""Which concepts of a profile a question asks for: by the words of the key lexicons, and by the way people ask.

"Where do I live?" names no key, and "어디 살아?" shares no word with `address`; both ask for the same concept.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files

from memhold.facts.keys import LANGUAGES
from memhold.facts.keys.key_reading import read
from memhold.facts.keys.lexicon import lexicon
from memhold.facts.matching import key_of
from memhold.text.analysis import analyse_query, language_of
from memhold.values.records import Memory

__all__ = ["asked_concepts", "attribute_terms", "concepts_of", "names_one_of"]

_BLANK = re.compile(r"[^\w'-]+")
_UNSPACED = ("ko", "ja", "zh")
_LANGUAGES = {
    "english": "en",
    "french": "fr",
    "german": "de",
    "spanish": "es",
    "portuguese": "pt",
    "italian": "it",
}
_NAMES = frozenset({"attribute", "entity", "person"})
_SAID = _NAMES | {"qualifier"}
SHORT, SHORT_UNSPACED = 3, 2
"""Shortest listed words, in characters, that are looked for in a question: shorter ones are parts of others."""


@lru_cache(maxsize=256)
def asked_concepts(question: str) -> frozenset[str]:
    """The concepts that a question asks for; none where neither its words nor its form tell."""
    plain = _plain(question)
    found: set[str] = set()
    for ids, phrases in _phrases():
        if any(phrase in plain for phrase in phrases):
            found |= ids
    spoken = _LANGUAGES.get(language_of(question), "en")
    for name in (*_UNSPACED, spoken) if not question.isascii() else (spoken,):
        found.update(concept for phrase, concept in _words(name) if phrase in plain)
    return frozenset(found)


def names_one_of(concepts: frozenset[str], text: str) -> bool:
    """Whether a text says something of one of these concepts, in a word for it or the way people tell of it."""
    if not concepts:
        return False
    plain, spoken = _plain(text), _LANGUAGES.get(language_of(text), "en")
    names = (*_UNSPACED, spoken) if not text.isascii() else (spoken,)
    return any(phrase in plain for name in names for phrase in _forms(concepts, name))


@lru_cache(maxsize=256)
def attribute_terms(concepts: frozenset[str]) -> frozenset[str]:
    """The index terms of the words for these concepts in every language: a fact about one has one of them."""
    words = {phrase for name in LANGUAGES for phrase, concept in _words(name) if concept in concepts}
    return frozenset(term for text in words for word in analyse_query(text) if not word.weak for term in word.terms)


@lru_cache(maxsize=256)
def _forms(concepts: frozenset[str], name: str) -> tuple[str, ...]:
    """The words and phrases of a language that tell of one of these concepts, as they stand in a plain text."""
    told = [phrase for ids, phrases in _phrases() if not ids.isdisjoint(concepts) for phrase in phrases]
    return (*told, *(phrase for phrase, concept in _words(name) if concept in concepts))


def _plain(text: str) -> str:
    """A text in lower case between blanks, without marks."""
    return f" {_BLANK.sub(' ', text.casefold().replace(chr(0x2019), chr(39))).strip()} "


@cache
def _words(name: str) -> tuple[tuple[str, str], ...]:
    """The listed words of what people have and know, as they stand in a question, with their concepts."""
    made: dict[str, str] = {}
    for form, sense in lexicon(name).phrases.items():
        text = " ".join(form)
        if sense.kind in _NAMES and len(text) >= (SHORT_UNSPACED if name in _UNSPACED else SHORT):
            made.setdefault(text if name in _UNSPACED else f" {text} ", sense.id)
    return tuple(made.items())


@cache
def _phrases() -> tuple[tuple[frozenset[str], tuple[str, ...]], ...]:
    made = []
    for one in _asks():
        spoken = one.keys() - {"ids", "called", *_UNSPACED}
        spaced = [f" {phrase}" for name in sorted(spoken) for phrase in one[name]]
        unspaced = [phrase for name in _UNSPACED for phrase in one.get(name, ())]
        made.append((frozenset(one["ids"]), (*spaced, *unspaced)))
    return tuple(made)


@cache
def _asks() -> list[dict[str, list[str]]]:
    text = (files("memhold.facts.keys") / "data" / "questions.toml").read_text(encoding="utf-8")
    found: list[dict[str, list[str]]] = tomllib.loads(text)["asks"]
    return found


@cache
def _called() -> dict[str, frozenset[str]]:
    """By a name of an attribute that the key lexicons do not hold, the concepts that it is one of."""
    return {name: frozenset(one["ids"]) for one in _asks() for name in one.get("called", ())}


def concepts_of(fact: Memory) -> frozenset[str]:
    """The concepts that a fact's attribute names, in the languages that it may be read in."""
    return _concepts(fact.attribute or "", tuple(key_of(fact).languages))


@lru_cache(maxsize=16384)
def _concepts(attribute: str, languages: tuple[str, ...]) -> frozenset[str]:
    named = frozenset(token.id for name in languages for token in read(attribute, name).tokens if token.kind in _SAID)
    return named | _called().get(_plain(attribute).strip(), frozenset())
