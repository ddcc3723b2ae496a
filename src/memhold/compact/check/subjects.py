"""Who did what, and which way round: what the sources say of one is not said of another."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Final

from memhold.compact.check.case import Case
from memhold.compact.check.names import participants, terms_of_names
from memhold.compact.check.terms import HANGUL, LIGHT, ROLES, clauses_of, plain_words, stands_in, terms_of
from memhold.compact.clauses import swapped as details_swapped
from memhold.compact.relations import turned_round
from memhold.text.analysis import unspaced
from memhold.text.contrasts import swapped
from memhold.text.figures import figures
from memhold.text.function_words import EVIDENCE
from memhold.text.kin import kin_in, strangers
from memhold.text.marks import opposed

# ruff: noqa: RUF001 - punctuation and words of every script

__all__ = ["exchanged", "places_exchanged", "relative_lost", "turned", "values_exchanged"]

MOST_WORDS = 60
"""Words of a merge that are compared two by two, and of a clause whose words count as told together."""


def turned(case: Case) -> str | None:
    """One side of a pair of opposites in the place of the other: at least for at most, left for right."""
    kept = " ".join(source.text for source in case.kept)
    if swapped(case.text, kept):
        return "a word stands in the place of another of its kind (a side, a season, a way to travel)"
    if opposed(case.text, kept) and opposed(case.text, case.within):
        return "something is turned round (at least and at most, begin and end, left and right, likes and hates)"
    if turned_round(case.text, [source.text for source in case.sources], EVIDENCE):
        return "a relation is turned round (before and after, more and less, must and may)"
    return None


def exchanged(case: Case) -> str | None:
    """A clause of the text gives to one name what a clause of a source says of another, and not of it."""
    if (found := _user_for_relative(case)) is not None:
        return found
    names = participants(case)
    said = [one for source in case.kept for one in _with_subjects(source.text, names)]
    own = terms_of_names(names, case.language)
    for clause in clauses_of(case.text):
        mine = [one for one in names if stands_in(clause, one) and not _of_them(one, clause, case)]
        terms = terms_of(clause, case.language) - own - ROLES
        user = _USER.search(clause) is not None and not mine
        if not terms or not (mine or user):
            continue
        best = max(len(terms & terms_of(one, case.language)) for one, _ in said)
        if best * 2 < len(terms) or not best:
            continue
        near = [(one, subjects) for one, subjects in said if len(terms & terms_of(one, case.language)) == best]
        shared = terms & frozenset[str]().union(*(terms_of(one, case.language) for one, _ in near))
        theirs = frozenset[str]().union(*(subjects for _, subjects in near))
        if user:
            if "" not in theirs and all(subjects for _, subjects in near):
                return "the user is given what the memories say of another"
            continue
        for one in mine:
            beside = frozenset[str]().union(*(terms_of(other, case.language) for other, whom in said if one in whom))
            if one not in theirs and any(other not in mine for other in theirs if other) and not shared & beside:
                return f"{one!r} is given what the memories say of another"
    return None


def _user_for_relative(case: Case) -> str | None:
    """A clause of the text gives to the user what the sources say of a relative alone: "the user's son is allergic"."""
    said = [
        (clause, whom)
        for source in case.kept
        for clause, whom in _with_kin(source.text, case.language)
        if terms_of(clause, case.language) - ROLES
    ]
    if not any(kin_in(clause, case.language) for clause, _ in said):
        return None
    for clause in clauses_of(case.text):
        terms = terms_of(clause, case.language) - ROLES
        if not terms or _USER.search(clause) is None or kin_in(clause, case.language):
            continue
        shares = [(len(terms & terms_of(one, case.language)), whom) for one, whom in said]
        best = max(share for share, _ in shares)
        near = [whom for share, whom in shares if share == best]
        if best * 2 >= len(terms) and best and all(whom and "" not in whom for whom in near):
            return "the user is given what the memories say of a relative"
    return None


def _with_kin(text: str, language: str) -> list[tuple[str, frozenset[str]]]:
    """The clauses of a text with the relatives in each ("" for the user); one without goes on about those before."""
    found: list[tuple[str, frozenset[str]]] = []
    before: frozenset[str] = frozenset()
    for clause in clauses_of(text):
        here = kin_in(clause, language) | (frozenset({""}) if _USER.search(clause) else frozenset())
        before = here or before
        found.append((clause, before))
    return found


def _of_them(name: str, clause: str, case: Case) -> bool:
    """Whether a clause only says whose something is, of which a source says "his" or "her"."""
    whole = len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", clause))
    owns = len(re.findall(rf"(?<!\w){re.escape(name)}['’]s(?!\w)", clause))
    return 0 < owns == whole and any(_WHOSE.search(source.text) for source in case.kept)


_WHOSE: Final = re.compile(r"\b(?:his|her|their)\b", re.IGNORECASE)


def relative_lost(case: Case) -> str | None:
    """A source tells of a relative, and the text of no kin and by no name; or the text of a relative of its own."""
    told = kin_in(case.text, case.language)
    if strangers(case.text, case.within, case.language):
        return "the text tells of a relative of whom no memory tells"
    names = participants(case)
    for source in case.kept:
        for clause in clauses_of(source.text):
            here = kin_in(clause, case.language)
            if not here or told or any(stands_in(clause, one) and stands_in(case.text, one) for one in names):
                continue
            return f"of whom {clause!r} tells is not in the text"
    return None


def places_exchanged(case: Case) -> str | None:
    """Two words of a source stand in the text each in the place of the other: who taught is who learned.

    The place of a word is the word in front of it and the one behind it in its clause.
    """
    if unspaced(case.within) or HANGUL.search(case.within):
        return None
    before, after = _places([source.text for source in case.kept], case.language), _places([case.text], case.language)
    both = sorted(after.keys() & before.keys())[:MOST_WORDS]
    for one, other in combinations(both, 2):
        if after[one] & before[one] or after[other] & before[other]:
            continue
        if other in {word for _, word in after[one]} and other in {word for _, word in before[one]}:
            continue  # "Tom's approval" is the approval of Tom
        if any(kind != "article" for kind, _ in after[one] & before[other]) and any(
            kind != "article" for kind, _ in after[other] & before[one]
        ):
            return f"{one!r} and {other!r} stand each in the place of the other"
    return None


_LINK_WORDS: Final = """
of von vom de du van di do da
is are was were be been being am 's ist sind war waren sein es son era eran fue ser está están est sont était
étaient être è sono era erano essere é são foi estava um
"""
_LINKS: Final = frozenset(_LINK_WORDS.split())
"""Words that join two others and say nothing of which is which: "Tom's approval", "the approval of Tom"."""


def clauses_exchanged(case: Case) -> str | None:
    """Two words of the sources stand in the text each among what the sources say of the other."""
    if unspaced(case.within) or HANGUL.search(case.within):
        return None
    said, told = [source.text for source in case.kept], [case.text]
    before, after = _among(said, case.language), _among(told, case.language)
    beside, near = _beside(said, case.language), _beside(told, case.language)
    both = sorted(after.keys() & before.keys())[:MOST_WORDS]
    # What stands right beside a word here and there goes with it: "Café Linde".
    fixed = {one: beside[one] & near[one] for one in both}
    for one, other in combinations(both, 2):
        own, foreign = before[one] - before[other] - fixed[one], before[other] - before[one] - fixed[other]
        crossed = after[one] & foreign and not after[one] & own and after[other] & own and not after[other] & foreign
        if crossed and not _side_by_side(case.text, one, other, case.language):
            return f"{one!r} and {other!r} stand each in the place of the other"
    return None


_AND: Final = re.compile(r"(?i)(?<!\w)([^\W\d_]+) (?:and|or|und|oder|et|ou|y|o|e|en|of|и|или) (?:\w{1,3} )?([^\W\d_]+)")


def _side_by_side(text: str, one: str, other: str, language: str) -> bool:
    """Whether two words are set side by side in a text: their order says nothing."""
    return any({one, other} <= terms_of(match[0], language) for match in _AND.finditer(text))


def _among(texts: Sequence[str], language: str) -> dict[str, frozenset[str]]:
    """The content words of these texts, each with the others of its clauses."""
    found: dict[str, frozenset[str]] = {}
    for clause in (one for text in texts for one in clauses_of(text)):
        terms = frozenset(one for one in terms_of(clause, language) if not figures(one)) - ROLES - LIGHT
        for one in terms if len(terms) <= MOST_WORDS else ():
            found[one] = found.get(one, frozenset()) | (terms - {one})
    return found


def _beside(texts: Sequence[str], language: str) -> dict[str, frozenset[str]]:
    """The terms of these texts, each with those of the words right before and right behind it."""
    found: dict[str, frozenset[str]] = defaultdict(frozenset)
    for clause in (one for text in texts for one in clauses_of(text)):
        words = [terms_of(word, language) for word in plain_words(clause)]
        for first, second in pairwise(words):
            for one in first:
                found[one] |= second
            for one in second:
                found[one] |= first
    return found


def _places(texts: Sequence[str], language: str) -> dict[str, frozenset[tuple[str, str]]]:
    """The content words of these texts by their stems, each with the words in front of it and behind it.

    German articles are told too: they show the case, and the order of words does not.
    """
    found: dict[str, set[tuple[str, str]]] = {}
    for clause in (one for text in texts for one in clauses_of(text)):
        words = [word for word in plain_words(clause) if word not in _LINKS]
        terms = [terms_of(word, language) for word in words]
        stems = ["user" if own & ROLES else min(own, default=word) for own, word in zip(terms, words, strict=True)]
        for at, own in enumerate(terms):
            here = found.setdefault(stems[at], set()) if own else set[tuple[str, str]]()
            here |= {("before", stems[at - 1])} if at else set()
            here |= {("behind", stems[at + 1])} if at + 1 < len(stems) else set()
        for match in _WITH_ARTICLE.finditer(clause):
            stem = min(terms_of(match[2], language), default="")
            found.setdefault(stem, set()).add(("article", match[1].casefold()))
    return {stem: frozenset(places) for stem, places in found.items()}


_WITH_ARTICLE: Final = re.compile(r"(?i)(?<!\w)(d(?:er|ie|as|en|em|es))\s(\w+)")


def values_exchanged(case: Case) -> str | None:
    """Say that two values stand each where the sources have the other."""
    if details_swapped([source.text for source in case.kept], case.text):
        return "the text says of one thing what the memories say of another"
    return None


def _with_subjects(text: str, names: Sequence[str]) -> list[tuple[str, frozenset[str]]]:
    """The clauses of a text with the names in each ("" for the user); one without a name goes on about those before."""
    found: list[tuple[str, frozenset[str]]] = []
    before: frozenset[str] = frozenset()
    for clause in clauses_of(text):
        here = frozenset(one for one in names if stands_in(clause, one))
        here |= frozenset({""}) if _USER.search(clause) else frozenset()
        before = here or before
        found.append((clause, before))
    return found


_USER: Final = re.compile(
    r"(?i)(?<!\w)(?:user|nutzer(?:in)?|utilisat\w+|usuari[oa]|utente|utilizador|gebruiker|пользовател\w+)(?!['’\w])"
    r"|사용자[는가]|用户|ユーザーは"
)
