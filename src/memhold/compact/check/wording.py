"""What words can show: something several sources say is told nowhere, a clause went whole, a word was exchanged."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from typing import Final

from memhold.compact.check.case import Case
from memhold.compact.check.marks import have_in_common
from memhold.compact.check.names import participants, terms_of_names
from memhold.compact.check.terms import (
    HANGUL,
    LIGHT,
    NAMING,
    ROLES,
    alike,
    clauses_of,
    in_line,
    is_function,
    met,
    neighbours,
    plain_words,
    terms_of,
    whole_words,
)
from memhold.text.analysis import unspaced
from memhold.text.figures import figures
from memhold.text.marks import marks

# ruff: noqa: RUF001 - words of every script

__all__ = [
    "AGREED",
    "agreed",
    "clause_lost",
    "exchanged_between",
    "exchanged_modifier",
    "exchanged_word",
    "listed",
    "substituted",
    "word_lost",
]

AGREED = 2
"""Sources that use a word from which on it is what they agree on."""


def agreed(case: Case) -> str | None:
    """Of the words on which several kept sources agree, a third or more is told nowhere."""
    kept = case.kept
    if len(kept) < AGREED:
        return None
    there = whole_words(case.text, case.language)
    each = [whole_words(source.text, case.language) for source in kept]
    shared = [
        one
        for one in sorted(frozenset[str]().union(*(first & second for first, second in combinations(each, 2))))
        if (len(one) > 2 or not one.isascii()) and not is_function(one)
    ]
    lost = [one for one in shared if one not in there and not alike(one, there)]
    if lost and len(lost) * 3 >= len(shared):
        return f"{lost[0]!r} is what several memories say, and the text does not"
    return None


def clause_lost(case: Case) -> str | None:
    """A clause of which nothing came back, and no new words that could say it."""
    if case.gone or len(case.kept) < len(case.sources):
        return None
    known, there = terms_of(case.within, case.language), terms_of(case.text, case.language)
    if any(not met(frozenset({one}), known | LIGHT) for one in there):
        return None
    names = terms_of_names(participants(case), case.language)
    for place, source in enumerate(case.kept, 1):
        for clause in clauses_of(source.text):
            line = in_line(clause, case.language)
            if len(plain_words(clause)) == 1 and not unspaced(clause):
                continue
            # Its topic comes back anyway: of two notes about Anna, Anna is told.
            topic = line[0] if len(line) > 1 else frozenset[str]()
            own = [
                one
                for one in terms_of(clause, case.language) - names - topic
                if one not in LIGHT | ROLES and not is_function(one)
            ]
            if own and not any(met(frozenset({one}), there) for one in own) and not have_in_common(clause, case.text):
                return f"{clause!r} of s{place} is not in the text"
    return None


def word_lost(case: Case) -> str | None:
    """A word that went without a trace: what stood around it stands side by side, and nothing new is said."""
    if case.gone or unspaced(case.text):
        return None
    known, there = terms_of(case.within, case.language), terms_of(case.text, case.language)
    if any(not met(frozenset({one}), known) for one in there):
        return None
    told = [word for clause in clauses_of(case.text) for word in (*plain_words(clause), "")]
    beside = set(pairwise(told))
    for source in case.kept:
        for clause in clauses_of(source.text):
            words = plain_words(clause)
            for at in range(1, len(words) - 1):
                terms = terms_of(words[at], case.language) - ROLES - LIGHT
                if words[at] in NAMING or figures(words[at]) or marks(words[at]) & marks(case.text):
                    continue
                if terms and not met(terms, there) and (words[at - 1], words[at + 1]) in beside:
                    return f"{words[at]!r} of {clause!r} is not in the text"
    return None


def exchanged_word(case: Case) -> str | None:
    """A word that no source has stands between the same two words as one of a source that the text lost."""
    if unspaced(case.within):
        return None
    known, there = terms_of(case.within, case.language), terms_of(case.text, case.language)
    lost = {
        place: terms
        for source in case.kept
        for terms, places in _placed(source.text, case.language)
        if not met(terms, there)
        for place in places
    }
    for terms, places in _placed(case.text, case.language):
        # What was replaced leaves more ways to say it: there only what stands behind the same two words counts.
        told = [place for place in places if not case.gone or place[0] == "before"]
        if not met(terms, known | LIGHT) and any(place in lost for place in told):
            return "a word that no memory has stands in the place of another"
    return None


def exchanged_between(case: Case) -> str | None:
    """Where a change is told: a word that no source has stands between two words as one of a kept source does."""
    if not case.gone or unspaced(case.within):
        return None
    known, there = terms_of(case.within, case.language), terms_of(case.text, case.language)
    lost = {
        place for source in case.kept for terms, place in _between(source.text, case.language) if not met(terms, there)
    }
    for terms, place in _between(case.text, case.language):
        if place in lost and not met(terms, known | LIGHT):
            return "a word that no memory has stands in the place of another"
    return None


def _between(text: str, language: str) -> list[tuple[frozenset[str], tuple[str, str]]]:
    """Each content word of a text with the word before it and the one behind it, of which one has content too."""
    found = []
    for clause in clauses_of(text):
        words = plain_words(clause)
        for before, word, behind in zip(words, words[1:], words[2:], strict=False):
            terms = terms_of(word, language) - ROLES - LIGHT
            if terms and not figures(word) and any(terms_of(one, language) - ROLES for one in (before, behind)):
                found.append((terms, (before, behind)))
    return found


def exchanged_modifier(case: Case) -> str | None:
    """Of Korean: a word that no source has stands in front of the same word as one of a source that the text lost.

    What stands in front of a word there says which one it is: "in Busan a cafe" for "in Jeju a cafe".
    """
    if HANGUL.search(case.text) is None:
        return None
    known, there = whole_words(case.within, case.language), whole_words(case.text, case.language)
    lost = {
        behind
        for source in case.kept
        for word, behind in _before(source.text)
        if word not in there and not alike(word, there)
    }
    for word, behind in _before(case.text):
        if behind in lost and word not in known and not alike(word, known):
            return "a word that no memory has stands in the place of another"
    return None


def _before(text: str) -> set[tuple[str, str]]:
    """The words of a Korean text, each with the one behind it, both without what may be a particle."""
    found = set()
    for clause in clauses_of(text):
        words = [word[: max(2, len(word) - 2)] for word in HANGUL.findall(clause)]
        known = whole_words(clause, "korean")
        found |= {(word, behind) for word, behind in pairwise(words) if word in known and not figures(word)}
    return found


def _placed(text: str, language: str) -> list[tuple[frozenset[str], list[tuple[str, str, str]]]]:
    """Each content word of a text, with the two words before it and the two behind: places that say what it is."""
    found = []
    for clause in clauses_of(text):
        words = plain_words(clause)
        for at, word in enumerate(words):
            terms = terms_of(word, language) - ROLES - LIGHT
            sides = (("before", words[max(0, at - 2) : at]), ("behind", words[at + 1 : at + 3]))
            places = [
                (side, two[0], two[1])
                for side, two in sides
                if len(two) == 2 and any(terms_of(one, language) - LIGHT - ROLES for one in two)
            ]
            if terms and places and not figures(word):
                found.append((terms, places))
    return found


def listed(case: Case) -> str | None:
    """A list of the sources comes back with a member that no source has, and without one that it had."""
    known, there = terms_of(case.within, case.language), terms_of(case.text, case.language)
    for told in _lists(case.text, case.language):
        strange = [one for one in told if not met(one, known | LIGHT)]
        for source in case.kept if strange else ():
            for said in _lists(source.text, case.language):
                back = [one for one in said if any(met(one, other) for other in told)]
                if back and any(not met(one, there) for one in said):
                    return "a member of a list is another than the memories say"
    return None


def _lists(text: str, language: str) -> list[list[frozenset[str]]]:
    """The lists of a text, each as the terms of its members' last words."""
    found = []
    for match in _LIST.finditer(text):
        members = [in_line(part, language) for part in _MEMBERS.split(match[0])]
        found.append([line[-1] for line in members if line])
    pairs = [[frozenset({part}) for part in match.groups()] for match in _PAIR.finditer(text)]
    return [*(one for one in found if len(one) > 2), *pairs]


_AND = r"(?:,?\s(?:and|or|und|oder|et|ou|y|o|e|en|of|и|или)\s)"
_LIST: Final = re.compile(
    rf"(?<![\w'’-])[\w'’-]++(?:,\s(?:[\w'’-]+\s){{0,2}}[\w'’-]+){{1,8}}?{_AND}(?:[\w'’-]+\s){{0,3}}[\w'’-]+",
    re.IGNORECASE,
)
_PAIR: Final = re.compile(
    r"(?<![\uac00-\ud7a3])([\uac00-\ud7a3]{2,12}?)(?:와|과|하고|랑)"
    r" ([\uac00-\ud7a3]{2,}?)(?:을|를|이|가|은|는|도|만)?(?![\uac00-\ud7a3])"
)
"""Two things that Korean sets side by side."""
_MEMBERS: Final = re.compile(rf"{_AND}|,\s", re.IGNORECASE)


def substituted(case: Case) -> str | None:
    """A word that no source has stands where a source has another that the text lost: beside the same word."""
    unread = unspaced(case.within) or HANGUL.search(case.within) is not None
    if case.gone or case.language != "english" or unread:
        return None
    known, there = terms_of(case.within, case.language), terms_of(case.text, case.language)
    lost = [
        beside
        for source in case.kept
        for clause in clauses_of(source.text)
        for terms, beside in neighbours(clause, case.language)
        if not met(terms, there)
    ]
    for clause in clauses_of(case.text):
        for terms, beside in neighbours(clause, case.language):
            if met(terms, known | LIGHT) or not beside:
                continue
            if any(met(beside, other) for other in lost if other):
                return "a word that no memory has stands in the place of another"
    return None
