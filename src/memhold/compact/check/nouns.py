"""Nouns in their places: one that no memory has for one of a memory, and two that changed roles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memhold.compact.check.case import Case
from memhold.compact.check.terms import HANGUL, LIGHT, ROLES, clauses_of, met, terms_of
from memhold.text.analysis import unspaced

# ruff: noqa: RUF001 - words of every script

__all__ = ["korean_exchanged", "noun_exchanged", "roles_exchanged", "unspaced_exchanged"]

_INTRODUCING = """
a an the his her its their my your this that in on at to from by for with into near as
der die das den dem des ein eine einen einem einer im am zum zur beim vom mit für auf in an von zu nach bei aus
le la les un une des du au aux de en dans sur pour avec par chez
el los las una unos unas del al con por para su sus
il lo gli i uno della dello del nel nella di da dal
o os as um uma do da no na dos das em ao
"""
_BEFORE_A_NOUN: Final = frozenset(_INTRODUCING.split())
"""Articles, possessives and prepositions: what stands behind one of them is a noun, or belongs to one."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def noun_exchanged(case: Case) -> str | None:
    """A word that no memory has stands behind the same article or preposition as one of a memory that is gone."""
    if unspaced(case.within):
        return None
    known, there = terms_of(case.within, case.language), terms_of(case.text, case.language)
    lost = {
        before
        for source in case.kept
        for before, terms in _introduced(source.text, case.language)
        if not met(terms, there)
    }
    for before, terms in _introduced(case.text, case.language):
        if before in lost and not met(terms, known):
            return "a word that no memory has stands in the place of another"
    return None


def _introduced(text: str, language: str) -> Iterator[tuple[str, frozenset[str]]]:
    """The content words of a text that stand right behind an article or a preposition, with that one."""
    for clause in clauses_of(text):
        words = _WORD.findall(clause)
        for before, word in zip(words, words[1:], strict=False):
            terms = terms_of(word, language) - ROLES - LIGHT
            if before.casefold() in _BEFORE_A_NOUN and word.casefold() not in _BEFORE_A_NOUN and terms:
                yield before.casefold(), terms


_NAME: Final = r"[一-龥々ァ-ヶー]"
_LONGEST: Final = 4
_SMALL: Final = re.compile(r"[的地得了着过是有在和与及或也都还就才很太最更被把给让向从到对为不没未无别]")
"""Characters of Chinese grammar: where one stands, more than a noun may have been exchanged."""


def unspaced_exchanged(case: Case) -> str | None:
    """Of Chinese and Japanese: characters that no memory has stand between the same ones as others that are gone."""
    if not unspaced(case.within) or HANGUL.search(case.within) is not None:
        return None
    text = f"^{case.text.strip('。.')}$"
    for start in range(1, len(text) - 1):
        for end in range(start + 1, min(start + _LONGEST, len(text) - 1) + 1):
            new = text[start:end]
            if not re.fullmatch(f"{_NAME}+", new) or any(char in case.within for char in (new[0], new[-1])):
                continue
            for before, behind in ((1, 2), (2, 1)):
                left, right = text[max(0, start - before) : start], text[end : end + behind]
                if len(left) < before or len(right) < behind or not re.search(r"[^\W]", left + right):
                    continue
                pattern = re.compile(f"{re.escape(left)}({_NAME}{{1,{_LONGEST}}}?){re.escape(right)}")
                for source in case.kept:
                    for match in pattern.finditer(f"^{source.text.strip('。.')}$"):
                        if match[1] not in case.text and not _SMALL.search(match[1]) and abs(len(match[1]) - len(new)) <= 1:
                            return f"{new!r} is in no memory, and stands in the place of {match[1]!r}"
    return None


_GOVERNED: Final = re.compile(
    r"([\uac00-\ud7a3]{1,8}?)(을|를|에서|으로|로|에게|에)\s(?:안 |못 |잘 )?([\uac00-\ud7a3]{1,2})(?=[\uac00-\ud7a3])"
)
_ONE_PARTICLE: Final = {"를": "을", "로": "으로"}


def korean_exchanged(case: Case) -> str | None:
    """Of Korean: a word that no memory has, with the particle and the verb of one of a memory that is gone."""
    if HANGUL.search(case.within) is None:
        return None
    lost = {place for source in case.kept for word, place in _governed(source.text) if word not in case.text}
    for word, place in _governed(case.text):
        if place in lost and word not in case.within:
            return f"{word!r} is in no memory, and stands in the place of another"
    return None


def _governed(text: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The words of a Korean text that a particle ties to the verb behind them, with both."""
    for match in _GOVERNED.finditer(text):
        yield match[1], (_ONE_PARTICLE.get(match[2], match[2]), match[3])


_SUBJECT: Final = re.compile(
    r"(?P<ko>[\uac00-\ud7a3]{2,8}?)(?:은|는|이|가)(?=\s)|(?P<ja>[一-龥々ァ-ヶー]{1,8}(?:さん|くん|ちゃん)?)(?:は|が)"
)
_OTHER: Final = re.compile(
    r"(?P<ko>[\uac00-\ud7a3]{2,8}?)(?:을|를|에게|한테|께)(?=\s)|(?P<ja>[一-龥々ァ-ヶー]{1,8}(?:さん|くん|ちゃん)?)(?:を|に)"
)
_DOES: Final = re.compile(r"(?=([一-龥]{2,4})([一-龥]{1,2})([一-龥]{2,4}))")


def roles_exchanged(case: Case) -> str | None:
    """Of Korean, Japanese and Chinese: who does it and to whom it is done have changed places."""
    if HANGUL.search(case.within) is None and not unspaced(case.within):
        return None
    kept = [source.text for source in case.kept]
    who = frozenset(one for text in kept for one in _found(_SUBJECT, text))
    whom = frozenset(one for text in kept for one in _found(_OTHER, text))
    for one in _found(_SUBJECT, case.text) & (whom - who):
        if any(other != one for other in _found(_OTHER, case.text) & (who - whom)):
            return f"{one!r} does what the memories say is done to it"
    within = " ".join(kept)
    if re.search(r"[\u3040-\u30ff\uac00-\ud7a3]", within) is None:
        for match in _chinese(case.text):
            one, does, other = match
            if f"{other}{does}{one}" in within and f"{other}{does}{one}" not in case.text and f"{one}{does}{other}" not in within:
                return f"{one!r} does what the memories say is done to it"
    return None


def _chinese(text: str) -> Iterator[tuple[str, str, str]]:
    for start in range(len(text)):
        for first in range(2, 5):
            for verb in range(1, 3):
                for last in range(2, 5):
                    end = start + first + verb + last
                    part = text[start:end]
                    if len(part) == first + verb + last and re.fullmatch(r"[一-龥]+", part):
                        yield part[:first], part[first : first + verb], part[first + verb :]


def _found(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(match["ko"] or match["ja"] for match in pattern.finditer(text))
