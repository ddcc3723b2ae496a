"""Whether a sentence tells of one of two what the lines tell of the other, be they people or things. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Final

from memhold.consolidate.clause_subjects import THIRD, Clause, names_in, whose_clauses
from memhold.consolidate.grounding.claims import ROLES, THE_USER, Claim, Line
from memhold.consolidate.grounding.names import own_names
from memhold.consolidate.grounding.subjects import ANYBODY, NEAR, NEAR_GRAMS, SOMEBODY
from memhold.consolidate.grounding.words import TAKEN_UP, UNSPACED, has_numbers_of, overlap, terms_of
from memhold.text.kin import kin_in, names_of_kin

# ruff: noqa: RUF001 - signs and letters of every script

__all__ = ["done_by_another", "done_by_the_assistant"]


def done_by_another(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether each clause that says the most of a sentence has another subject than it, and the lines know its own.

    The sentence is read as the lines are, by the same grammar. Its subject may stand nowhere in such a clause ("the
    boiler was serviced": not the dishwasher), or be what the same verb is done to ("Anna gave Ben the keys").
    """
    core = _THE_USERS.sub("My ", claim.core)
    if claim.value or _OF_THE_USERS.search(core):
        return False
    names = own_names(window)
    known = names_in(line.text for line in window)
    # "Anna gave the keys away": a name, where the sentence has it within ("to Anna").
    known |= {
        name
        for name in names_in([core]) - known
        if any(re.search(rf"(?i:\b{re.escape(name)})\s[a-z]", line.text) for line in lines)
    }
    every = [one for line in lines if line.own for one in whose_clauses(line.text, claim.language, names, known)]
    if _HAN.search(core):
        return _of_another_in_chinese(core, [one.text for one in every])
    for told in whose_clauses(core, claim.language, names, known):
        subject = _who(told, every, window, known, claim.language)
        who = terms_of(" ".join(subject), claim.language)
        if (
            told.first
            or subject & ROLES
            or not who & terms_of(told.text, claim.language)
            or not _spoken_of(who, window, claim.language)
        ):
            continue
        rest = " ".join(word for word in told.text.split() if not terms_of(word, claim.language) & who)
        counted = [one for one in every if has_numbers_of(rest, one.text)]
        shares = [
            (overlap(rest, one.text, claim.language), one, before)
            for before, one in pairwise([Clause(""), *every])
            if not counted or one in counted
        ]
        nearest = max((share for share, _, _ in shares), default=0.0)
        if nearest < (NEAR_GRAMS if UNSPACED.search(rest) else NEAR):
            continue
        near = [(one, before) for share, one, before in shares if share >= nearest]
        person = bool(kin_in(" ".join(subject), claim.language))
        person = person or (claim.language != "german" and bool(subject & known))
        if all(_of_another(subject, who, told, one, before, claim.language, person=person) for one, before in near):
            return True
    return False


def done_by_the_assistant(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether what the user does stands only where whoever answers says "I": "I will stop suggesting it"."""
    if claim.value or THE_USER.match(claim.core) is None:
        return False
    names = own_names(window)
    every = [(line.own, one) for line in lines for one in whose_clauses(line.text, claim.language, names)]
    if all(own for own, _ in every):
        return False
    for told in whose_clauses(claim.told, claim.language, names):
        shares = [(overlap(told.text, one.text, claim.language), own, one) for own, one in every]
        nearest = max((share for share, _, _ in shares), default=0.0)
        near = [(own, one) for share, own, one in shares if share >= nearest]
        if nearest >= NEAR and all(not own and _I_DO.match(one.text) for own, one in near):
            return True
    return False


def _of_another_in_chinese(core: str, clauses: Sequence[str]) -> bool:
    """Whether a sentence says of one word for word what a clause says of another: no sign shows a Chinese subject.

    What both end with is what is said; of the rest, which differs, the sentence's stands in another clause.
    """
    text = core.strip(" 。！!.")
    for clause in clauses:
        said = clause.strip()
        end = sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(text[::-1], said[::-1], strict=False)))
        mine, theirs = text[: len(text) - end], said[: len(said) - end]
        short = 0 < len(mine) <= _LONGEST_NAME and 0 < len(theirs) <= _LONGEST_NAME
        if end < _LEAST_SAID or not short or mine in theirs or theirs in mine:
            continue
        if any(mine in one for one in clauses) and not any(text in one for one in clauses):
            return True
    return False


_HAN = re.compile("\\A[\u4e00-\u9fff]+[。！!.]?\\Z")
_LONGEST_NAME: Final = 4
_LEAST_SAID: Final = 2

_I_DO = re.compile(r"(?i)\W*(?:i|ich|je|j['’]|yo|ik|eu|jag|я)\b")


def _who(
    told: Clause, every: Sequence[Clause], window: Sequence[Line], known: frozenset[str], language: str
) -> frozenset[str]:
    """The words for whom a clause is of: of a name and its noun the name alone, with what else is called by it."""
    nouns = language == "german"  # there every noun looks like a name
    who = told.who if nouns else told.who & known or told.who
    whole = "\n".join(line.text for line in window if line.own)
    called = frozenset[str]().union(
        *(
            one.who
            for one in every
            if any(re.search(rf"(?i)(?:{_CALLED})\s(?:\w+\.?\s)?{re.escape(word)}\b", one.text) for word in who)
        )
    )
    return who | names_of_kin(who, whole, language) | called


def _spoken_of(who: frozenset[str], window: Sequence[Line], language: str) -> bool:
    return any(who & terms_of(line.text, language) for line in window if line.own)


def _of_another(
    subject: frozenset[str],
    who: frozenset[str],
    told: Clause,
    one: Clause,
    before: Clause,
    language: str,
    *,
    person: bool,
) -> bool:
    if subject & one.who or (one.who and one.who <= ANYBODY | SOMEBODY):
        return False
    if who & terms_of(one.text, language):
        return (one.first or (bool(one.who) and _says_who(one, language))) and _is_object(who, told, one, language)
    noun = told.text.split()[:_NOUN] if told.text.startswith("My ") else []
    if terms_of(" ".join(one.who), language) & terms_of(" ".join(noun), language):
        return False  # "My green Gazelle bike" names the bike
    if one.first and not one.who:
        return person and not TAKEN_UP.search(one.text)
    if who & terms_of(before.text, language) and (TAKEN_UP.search(one.text) or not _says_who(one, language)):
        return False
    return bool(one.who)


_NOUN: Final = 4
"""Words at the beginning of a sentence in which its subject stands with all that describes it."""


def _says_who(one: Clause, language: str) -> bool:
    """Whether a clause says itself of whom it is, and does not only go on."""
    return THIRD.match(one.text) is not None or bool(
        terms_of(" ".join(one.who), language) & terms_of(one.text, language)
    )


def _is_object(who: frozenset[str], told: Clause, one: Clause, language: str) -> bool:
    """Whether a clause does to somebody what a sentence says that they do: the same verb, and they stand behind it."""
    words = told.text.split()
    behind = [
        place
        for place, word in enumerate(words)
        if place and terms_of(words[place - 1], language) & who and terms_of(word, language) - who
    ]
    if not behind:
        return False
    verb = terms_of(words[behind[0]], language)
    held = one.text.split()
    at = next((place for place, word in enumerate(held) if terms_of(word, language) & verb), None)
    if at is None:
        return False
    return any(
        terms_of(word, language) & who and not _TOGETHER.fullmatch(held[place - 1])
        for place, word in enumerate(held)
        if place > at
    )


_TOGETHER = re.compile(r"(?i)(?:with|by|mit|von|avec|par|con|por|da|met|door|med|av|af|and|or|than)")
"""Behind it stands who does it too, or does it in truth: "plays with Ben", "painted by Ben"."""

_THE_USERS = re.compile(r"\A\W*[Tt]he user['’]s\s(?=[a-z])")
"""A sentence about what the user has, which they say with a pronoun: "my knee"."""

_OF_THE_USERS = re.compile(
    r"(?i)\b(?:the user|de[nmrs]? (?:nutzer|benutzer)s?|der nutzerin|l['’]utilisat\w+|(?:el|al|del|de la) usuari[oa]"
    r"|usuario|utente)\b|用户|用戶|ユーザー|사용자|['’]s?\s[a-z]"
)
"""A sentence that speaks of the user, or of what is somebody's: whose it is is read elsewhere."""

_CALLED: Final = r"\b(?:is|was|called|named|ist|hei(?:ß|ss)t|est|s['’]appelle|es|se llama|è|si chiama)"
"""What stands between somebody and their name."""
