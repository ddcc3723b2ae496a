"""Which standing instructions a later one ends: what takes it back, says it again, or says the contrary. Pure.

On the safe side: of two that may both hold both stand, the newest first; one that is ended in error is a lost word of
the user's. So a later one ends an earlier one only where the earlier one names all that it names: an exception ("not in
the rain") ends nothing. A state of health ends only with another word of the user's about that state.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from memhold.languages.tables import languages
from memhold.text import lazily
from memhold.text.analysis import analyse_query
from memhold.text.function_words import FUNCTION_WORDS
from memhold.text.instructions import ENDS, LANGUAGES, STATEMENTS, any_of, ends_only, opens_with, tells_state, words_of
from memhold.text.letter_words import WIDE
from memhold.text.negation import negates
from memhold.text.own_words import without_quotes

# ruff: noqa: RUF001 - punctuation of every script

__all__ = ["ends", "names_nothing"]

_OPENS = {language: opens_with(*STATEMENTS, *ENDS, codes=(language,)) for language in LANGUAGES}
_WEAK = {language: words_of("good", "weak", "verb", "lead", codes=(language,)) for language in LANGUAGES}
_AGAINST, _WHEN = words_of("against"), words_of("when")
_HEALTH = opens_with("well", "eats", "forget", "state")
_FORGET = opens_with("forget")
_EATS = opens_with("eats")
_CALL = opens_with("call")
_DIET, _ANIMAL = any_of("diet"), any_of("animal")
_KINDS = {name: words_of(name) for name in ("language", "length", "tone", "unit")}
"""Of what nobody wants two: another language, length or tone of the answers takes the place of the one before."""
_RUN = lazily.compile("[\u30a0-\u30ff\u3400-\u9fff\uac00-\ud7ff]+")
_DIETS = (frozenset({"animal"}),)
_PART = lazily.compile("[,;，、；]")


@dataclass(frozen=True, slots=True)
class _Read:
    """What a clause is about: each thing as the terms that stand for it."""

    things: tuple[frozenset[str], ...]
    terms: frozenset[str]
    kinds: frozenset[str]
    denies: bool
    state: bool
    back: bool
    health: bool


def ends(newer: str, older: str) -> bool:
    """Whether what the user says ends an earlier instruction of theirs."""
    new, old = _read(newer), _read(older)
    if not new.health if old.state else new.state:
        return False
    if not new.denies and not old.denies and new.kinds & old.kinds:
        return True
    if not new.things or any(old.terms.isdisjoint(thing) for thing in new.things):
        return False
    return new.back or new.denies != old.denies or not any(new.terms.isdisjoint(thing) for thing in old.things)


def names_nothing(clause: str) -> bool:
    """Whether a clause takes something back without a word on what: "scrap that rule"."""
    return _FORGET.match(without_quotes(clause).lower()) is not None and not _read(clause).things


@lru_cache(maxsize=4096)
def _read(clause: str) -> _Read:
    bare = without_quotes(clause).lower()
    language = next((one for one, opens in _OPENS.items() if opens.match(bare)), LANGUAGES[0])
    parts = [(part, _things(part, language)) for part in _PART.split(bare)]
    first, things = next((one for one in parts if one[1]), (bare, ()))
    terms = frozenset().union(*_things(bare, None), *(thing for _, found in parts for thing in found))
    return _Read(
        things=_DIETS if _EATS.match(bare) and _ANIMAL.search(bare) else things,
        terms=terms.union(*_DIETS) if _DIET.search(bare) else terms,
        kinds=_kinds(bare, language),
        denies=negates(first) or _AGAINST.search(first) is not None,
        state=tells_state(clause),
        back=ends_only(clause),
        health=_HEALTH.match(bare) is not None,
    )


def _kinds(bare: str, language: str) -> frozenset[str]:
    """Of what that nobody wants two a clause speaks, where it says nothing else: not when, nor of what."""
    if _WHEN.search(bare):
        return frozenset()
    if _CALL.match(bare):
        return frozenset({"name"})
    found = ((name, *said.subn(" ", bare)) for name, said in _KINDS.items())
    return frozenset(name for name, rest, count in found if count and not _things(rest, language))


def _things(text: str, language: str | None) -> tuple[frozenset[str], ...]:
    """The words of a text, and its runs of letters without spaces; without the weak ones of a language."""
    left = text if language is None else _WEAK[language].sub(" ", text)
    little = frozenset() if language is None else FUNCTION_WORDS.get(languages()[language]["stemmer"], frozenset())
    words = [
        frozenset(word.terms)
        for word in analyse_query(left)
        if not word.weak and len(word.word) > 1 and word.word.lower() not in little and not WIDE.search(word.word)
    ]
    runs = [frozenset(run[at : at + 2] for at in range(max(1, len(run) - 1))) for run in _RUN.findall(left)]
    return (*words, *runs)
