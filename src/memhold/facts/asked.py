"""Which concepts of a profile a question asks for: by the words of the key lexicons, and by the way people ask.

"Where do I live?" names no key, and "어디 살아?" shares no word with `address`; both ask for the same concept.
"""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache

from memhold.facts.keys import LANGUAGES
from memhold.facts.keys.key_reading import read
from memhold.facts.keys.lexicon import lexicon
from memhold.facts.keys.text import read_text
from memhold.facts.matching import key_of
from memhold.languages.tables import heard, languages, spoken, unspaced
from memhold.text import lazily
from memhold.text.analysis import analyse_query
from memhold.values.records import Memory

__all__ = ["asked_concepts", "asks_for", "attribute_terms", "concepts_of", "says_what_is_asked"]

_BLANK = lazily.compile(r"[^\w'-]+")
_POSSESSIVE = lazily.compile(r"(?<=\w)'s\b")
_NAMES = frozenset({"attribute", "entity", "person"})
_SAID = _NAMES | {"qualifier"}
_BEINGS = frozenset({"entity", "person"})
_ELSEWHERE = frozenset({"bicycle", "car", "contact", "family_doctor"})
"""Beings and things in some languages that others have as what somebody has. Asking each lexicon takes all of them."""
_CALLED_SO = frozenset({"name", "first_name", "full_name", "nickname"})
_OWNER = lazily.compile(r"\b([A-Z]\w+)['\u2019]s\b")
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
    for name in _read_in(question):
        found.update(concept for phrase, concept in _words(name) if phrase in plain)
    return frozenset(found)


def asks_for(question: str, fact: Memory) -> bool:
    """Whether what a question asks for can be this fact: my wife's job is not mine, and not who she is either.

    Where a question speaks of people, animals or things and its subject is not who asks, a fact must be about them, and
    of what is asked of them. A fact about somebody else than the user must be named.
    """
    beings, of_them = _parts(question)
    held = concepts_of(fact)
    if fact.subject not in {None, "user"}:
        asked = {term for word in analyse_query(question) for term in word.terms}
        named = any(not asked.isdisjoint(word.terms) for word in analyse_query(fact.subject) if not word.weak)
        return named or not beings.isdisjoint(_concepts(fact.subject, tuple(key_of(fact).languages)))
    if not beings:
        return not _owners(question)
    return not held.isdisjoint(beings) and (not of_them or not held.isdisjoint(of_them))


def says_what_is_asked(question: str, text: str) -> bool | None:
    """Whether a text says something of what a question asks for, and of whom; None where it asks for nothing known."""
    parts = [part for part in _parts(question) if part]
    owners = _owners(question)
    if owners and owners[0].casefold() not in text.casefold():
        return False
    return all(_names_one_of(part, text) for part in parts) if parts else None


def _owners(question: str) -> list[str]:
    """Those by name whose something is asked for: "Anna's job"."""
    return [name for name in _OWNER.findall(question) if name.lower() not in heard(question).words("words", "function")]


def _parts(question: str) -> tuple[frozenset[str], frozenset[str]]:
    """Whom or which things a question asks about, and what it asks for."""
    beings = _asked_about(question)
    wanted = asked_concepts(question) - beings
    return beings, wanted - _CALLED_SO if beings else wanted


@lru_cache(maxsize=256)
def _asked_about(question: str) -> frozenset[str]:
    """The people, animals and things of which a question asks; none where its subject is who asks."""
    plain = _plain(question)
    if heard(question).has("people", "subject", question.lower().replace(chr(0x2019), "'")):
        return frozenset()
    found: set[str] = set()
    for heading, one in _asks().items():
        told = [name for name in languages() if any(form in plain for form in _spelled(heading, name))]
        if any(languages()[name]["questions"]["first_person"] for name in told):
            return frozenset()
        if told and one["ids"][0] in _kinds_of_beings("en"):
            found |= set(one["ids"])
    for name in _read_in(question):
        there = [(phrase, concept) for phrase, concept in _words(name) if phrase in plain]
        # "phone number" is no phone.
        whole = [one for one in there if not any(one[0].strip() in other and one[0] != other for other, _ in there)]
        found |= {concept for _, concept in whole if concept in _kinds_of_beings(name)}
    return frozenset(found)


def _read_in(text: str) -> tuple[str, ...]:
    """The language in which the words of a text are looked for: the likeliest that has a lexicon, else the first."""
    return tuple(code for code in spoken(text) if code in LANGUAGES)[:1] or LANGUAGES[:1]


@cache
def _kinds_of_beings(name: str) -> frozenset[str]:
    """The concepts of beings and things among those that a language has words for."""
    return _ELSEWHERE | {sense.id for sense in lexicon(name).phrases.values() if sense.kind in _BEINGS}


def _names_one_of(concepts: frozenset[str], text: str) -> bool:
    """Whether a text says something of one of these concepts, in a word for it or the way people tell of it."""
    if not concepts:
        return False
    plain = _plain(text)
    return any(phrase in plain for name in _read_in(text) for phrase in _forms(concepts, name))


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
    told = _POSSESSIVE.sub("", text.casefold().replace(chr(0x2019), chr(39)))
    return f" {_BLANK.sub(' ', told).strip()} "


@cache
def _words(name: str) -> tuple[tuple[str, str], ...]:
    """The listed words of what people have and know, as they stand in a question, with their concepts."""
    made: dict[str, str] = {}
    for form, sense in lexicon(name).phrases.items():
        text = " ".join(form)
        if sense.kind in _NAMES and len(text) >= (SHORT_UNSPACED if unspaced(name) else SHORT):
            made.setdefault(text if unspaced(name) else f" {text} ", sense.id)
    return tuple(made.items())


@cache
def _phrases() -> tuple[tuple[frozenset[str], tuple[str, ...]], ...]:
    return tuple(
        (frozenset(one["ids"]), tuple(form for name in languages() for form in _spelled(heading, name)))
        for heading, one in _asks().items()
    )


def _spelled(heading: str, name: str) -> list[str]:
    """The ways of asking under a heading of a language, as they stand in a plain text."""
    told: list[str] = languages()[name]["questions"][heading]
    return told if unspaced(name) else [f" {phrase}" for phrase in told]


@cache
def _asks() -> dict[str, dict[str, list[str]]]:
    """What is asked for under each heading of the ways of asking."""
    found: dict[str, dict[str, list[str]]] = tomllib.loads(read_text("questions.toml"))
    return found


@cache
def _called() -> dict[str, frozenset[str]]:
    """By a name of an attribute that the key lexicons do not hold, the concepts that it is one of."""
    return {name: frozenset(one["ids"]) for one in _asks().values() for name in one["called"]}


def concepts_of(fact: Memory) -> frozenset[str]:
    """The concepts that a fact's attribute names, in the languages that it may be read in."""
    return _concepts(fact.attribute or "", tuple(key_of(fact).languages))


@lru_cache(maxsize=16384)
def _concepts(attribute: str, languages: tuple[str, ...]) -> frozenset[str]:
    named = frozenset(token.id for name in languages for token in read(attribute, name).tokens if token.kind in _SAID)
    return named | _called().get(_plain(attribute).strip(), frozenset())
