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
from memhold.text import lazily
from memhold.text.analysis import analyse_query, language_of
from memhold.values.records import Memory

__all__ = ["asked_concepts", "asks_for", "attribute_terms", "concepts_of", "says_what_is_asked"]

_BLANK = lazily.compile(r"[^\w'-]+")
_POSSESSIVE = lazily.compile(r"(?<=\w)'s\b")
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
_BEINGS = frozenset({"entity", "person"})
_ELSEWHERE = frozenset({"bicycle", "car", "contact", "family_doctor"})
"""Beings and things in some languages that others have as what somebody has. Asking each lexicon takes all of them."""
_CALLED_SO = frozenset({"name", "first_name", "full_name", "nickname"})
_SPEAKER = lazily.compile(r" (?:i|i'm|i've|i'd|i'll|im|ive|we|ich|wir|je|j'\w+|nous|yo|eu|io|я|мы) ")
_SPEAKER_UNSPACED = lazily.compile(r"(?<![가-힣])(?:내가|나는|난 |저는|제가|전 )|[私僕俺]は|[私僕俺]が|わたしは")
_INFLECTED = ("de", "fr", "es", "pt", "it", "ru")
"""Languages whose ways of asking are all told in the first person ("wo wohne ich", "dónde vivo")."""
_OWNER = lazily.compile(
    r"\b(?!(?:What|Who|Where|When|Why|How|It|That|There|He|She|Here|Let|Which)'s)[A-Z]\w+['\u2019]s\b"
)
"""Somebody by name whose something it is: "Anna's job"."""
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
        return _OWNER.search(question) is None
    return not held.isdisjoint(beings) and (not of_them or not held.isdisjoint(of_them))


def says_what_is_asked(question: str, text: str) -> bool | None:
    """Whether a text says something of what a question asks for, and of whom; None where it asks for nothing known."""
    parts = [part for part in _parts(question) if part]
    owner = _OWNER.search(question)
    if owner is not None and owner[0][:-2].casefold() not in text.casefold():
        return False
    return all(_names_one_of(part, text) for part in parts) if parts else None


def _parts(question: str) -> tuple[frozenset[str], frozenset[str]]:
    """Whom or which things a question asks about, and what it asks for."""
    beings = _asked_about(question)
    wanted = asked_concepts(question) - beings
    return beings, wanted - _CALLED_SO if beings else wanted


@lru_cache(maxsize=256)
def _asked_about(question: str) -> frozenset[str]:
    """The people, animals and things of which a question asks; none where its subject is who asks."""
    plain = _plain(question)
    if _SPEAKER.search(plain) or _SPEAKER_UNSPACED.search(question):
        return frozenset()
    found: set[str] = set()
    for one in _asks():
        told = [name for name in one.keys() - {"ids", "called"} if any(form in plain for form in _spelled(one, name))]
        if any(name in _INFLECTED for name in told):
            return frozenset()
        if told and one["ids"][0] in _kinds_of_beings("en"):
            found |= set(one["ids"])
    spoken = _LANGUAGES.get(language_of(question), "en")
    for name in (*_UNSPACED, spoken) if not question.isascii() else (spoken,):
        there = [(phrase, concept) for phrase, concept in _words(name) if phrase in plain]
        # "phone number" is no phone.
        whole = [one for one in there if not any(one[0].strip() in other and one[0] != other for other, _ in there)]
        found |= {concept for _, concept in whole if concept in _kinds_of_beings(name)}
    return frozenset(found)


@cache
def _kinds_of_beings(name: str) -> frozenset[str]:
    """The concepts of beings and things among those that a language has words for."""
    return _ELSEWHERE | {sense.id for sense in lexicon(name).phrases.values() if sense.kind in _BEINGS}


def _names_one_of(concepts: frozenset[str], text: str) -> bool:
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
    told = _POSSESSIVE.sub("", text.casefold().replace(chr(0x2019), chr(39)))
    return f" {_BLANK.sub(' ', told).strip()} "


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
    return tuple(
        (
            frozenset(one["ids"]),
            tuple(form for name in sorted(one.keys() - {"ids", "called"}) for form in _spelled(one, name)),
        )
        for one in _asks()
    )


def _spelled(one: dict[str, list[str]], name: str) -> list[str]:
    """The ways of asking of one entry in a language, as they stand in a plain text."""
    return one[name] if name in _UNSPACED else [f" {phrase}" for phrase in one[name]]


@cache
def _asks() -> list[dict[str, list[str]]]:
    text = read_text("questions.toml")
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
