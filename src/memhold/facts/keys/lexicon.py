"""What is known of each language: general vocabulary, read from the languages' files.

A phrase that is listed has one meaning in its language. Two meanings are never the same concept, so a listed word is
also a guard: nothing that looks like it is taken for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from memhold.facts.keys.text import lex
from memhold.languages.tables import languages, phrases

__all__ = ["LANGUAGES", "Kind", "Lexicon", "Sense", "guard_words", "lexicon", "small_words"]

Kind = Literal[
    "attribute", "entity", "person", "qualifier", "polarity", "favorite", "preference", "not",
    "article", "mine", "now", "intensifier", "genitive", "genitive_after", "purpose", "particle", "unknown",
]  # fmt: skip

LANGUAGES: tuple[str, ...] = tuple(
    sorted((code for code, one in languages().items() if one["lexicon"]), key=lambda code: languages()[code]["lexicon"])
)
"""The languages with a lexicon. A key in another one is only ever the same as its own exact canonical form."""

_SECTIONS: tuple[Kind, ...] = ("polarity", "person", "attribute", "entity", "qualifier")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sense:
    """What a phrase means: the role it plays in a key, and the concept, which has one name in all languages."""

    kind: Kind
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """One language. `phrases` maps folded words to what they mean; `longest` is the most words in one phrase."""

    language: str
    head_first: bool
    plural: str
    possessive: bool
    elision: bool
    segment: bool
    compound: tuple[str, ...]
    phrases: Mapping[tuple[str, ...], Sense]
    joined: Mapping[str, Sense]
    longest: int
    longest_word: int
    genitive_articles: frozenset[str]
    alone: Mapping[str, str]
    final: Mapping[str, str]
    domain: frozenset[str]
    units: frozenset[str]
    no_plural: frozenset[str]
    several: frozenset[str]
    numbers: frozenset[str]
    genitive_ending: str
    contracted: Mapping[str, str]
    unit_heads: frozenset[str]


def _umlauts(phrase: str) -> list[str]:
    """A German phrase as it is written, and as it is typed without umlauts."""
    typed = phrase.replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")
    return [phrase] if typed == phrase else [phrase, typed]


def _forms(language: str, phrase: str) -> Iterator[tuple[str, ...]]:
    for spelled in _umlauts(phrase) if language == "de" else [phrase]:
        words: list[str] = []
        for lexeme in lex(spelled):
            stem, mark, tail = lexeme.text.partition("'")
            words.extend([stem, "'s"] if mark and tail == "s" and language == "en" else [lexeme.text.replace("'", "")])
        yield tuple(words)


def _senses(data: Mapping[str, Any]) -> Iterator[tuple[str, Sense]]:
    for kind, told in data["words"].items():
        if kind != "genitive_article":
            yield from ((phrase, Sense(kind=kind, id=kind)) for phrase in told)
    for kind in _SECTIONS:
        for concept, told in data[kind].items():
            for phrase in told:
                yield phrase, Sense(kind=kind, id=phrase.replace(" ", "_") if concept == "each" else concept)


@lru_cache(maxsize=len(LANGUAGES))
def lexicon(language: str) -> Lexicon:
    """The lexicon of one of `LANGUAGES`, read once a process.

    Raises:
        KeyError: no such language.
    """
    data = languages()[language]["keys"]
    senses: dict[tuple[str, ...], Sense] = {}
    for phrase, sense in _senses(data):
        for form in _forms(language, phrase):
            senses.setdefault(form, sense)
    joined = {"".join(form): sense for form, sense in senses.items()}
    units = data["units"]

    def table(name: str) -> dict[str, str]:
        pairs = ((_forms(language, phrase), concept) for concept, group in data[name].items() for phrase in group)
        return {senses[form].id if form in senses else " ".join(form): to for forms, to in pairs for form in forms}

    return Lexicon(
        language=language,
        head_first=data["order"] == "head-first",
        plural=data["plural"],
        possessive=data["possessive"],
        elision=data["elision"],
        segment=data["segment"],
        compound=tuple(data["compound"]),
        phrases=senses,
        joined=joined,
        longest=max(map(len, senses)),
        longest_word=max(map(len, joined)),
        genitive_articles=frozenset(data["words"].get("genitive_article", ())),
        alone=table("alone"),
        final=table("final"),
        domain=frozenset(data["domain"].get("ids", ())),
        units=frozenset(units.get("words", ())),
        no_plural=frozenset(phrases(data["no_plural"])),
        several=frozenset(phrases(data["several"])),
        numbers=frozenset(phrases(data["numbers"])),
        genitive_ending=data["genitive_ending"],
        contracted=data["contracted"],
        unit_heads=frozenset(units.get("after", ())),
    )


def _single_words(kinds: frozenset[Kind]) -> frozenset[str]:
    return frozenset(
        form[0]
        for language in LANGUAGES
        for form, sense in lexicon(language).phrases.items()
        if sense.kind in kinds and len(form) == 1
    )


@lru_cache(maxsize=1)
def small_words() -> frozenset[str]:
    """Articles, negations and the like of all languages: a word may not be formed or taken apart with one of them."""
    return _single_words(frozenset({"article", "not", "mine", "genitive", "purpose", "intensifier"}))


@lru_cache(maxsize=1)
def guard_words() -> frozenset[str]:
    """What changes a concept in any of the languages: people mix them, so such a word is never taken for a synonym."""
    return _single_words(frozenset({"not", "polarity", "qualifier", "person", "entity"}))
