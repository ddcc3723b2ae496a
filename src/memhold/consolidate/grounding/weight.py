"""How well one clause proves a claim: signs of it, weighed by a table that was learned on labelled items. Pure.

Reasons to refuse find one kind of invention each. This asks the other way round: whether a claim stands in one clause,
of the same subject, with all of its words and little else, told as so. Facts and statements have a table each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from memhold.consolidate.grounding.claims import ROLES, THE_USER, Claim, Line
from memhold.consolidate.grounding.names import own_names
from memhold.consolidate.grounding.offers import agreed_to
from memhold.consolidate.grounding.weights import FACTS, STATEMENTS
from memhold.consolidate.grounding.words import begun, has_numbers_of, literally, overlap, terms_of
from memhold.consolidate.told_of import MINE, SENTENCE, Told, names_in, told_of
from memhold.facts.keys import canonical, compare
from memhold.text.kin import kin_in
from memhold.text.mood import supposed_in
from memhold.text.negation import negates
from memhold.text.quantities import quantities

# ruff: noqa: RUF001 - apostrophes of every kind

__all__ = ["LIKELY", "SIGNS", "proof", "signs"]

SIGNS: Final = (
    "one line has every word",
    "share of the words that the nearest line has",
    "share of the words that no line of the user's has",
    "a clause of the same subject has half of the words",
    "a clause of the same subject has every word",
    "more of it stands in clauses of its subject than of another",
    "the nearest clause has the same subject",
    "the nearest clause only names its subject",
    "the nearest clause is of a thing",
    "share of the nearest clause that the claim does not tell",
    "another number in the nearest clause",
    "the nearest clause is supposed, and the claim is not",
    "the nearest clause asks",
    "the nearest clause says no, and the claim does not",
    "the nearest clause is the user's",
    "the value stands to the letter in a line of the user's",
    "share of the attribute in the nearest clause",
    "the nearest clause has the attribute in another form, or by another name",
    "its subject stands in the nearest line",
    "its subject stands there behind all of it",
    "words that only another clause of the sentence has",
    "kin of whom the nearest sentence does not speak",
    "somebody else's name in the nearest clause",
)
"""What is looked at, in the order of the tables."""


LIKELY: Final = 0.3
"""What is less likely is inferred at most: of true claims of worlds that a table did not learn, 1 in 9 is."""


def proof(claim: Claim, lines: Sequence[Line]) -> float:
    """How likely the lines say a claim, between 0 and 1, as far as its signs tell."""
    table = FACTS if claim.value else STATEMENTS
    total = sum(weight * sign for weight, sign in zip(table, (1.0, *signs(claim, lines)), strict=True))
    return 1 / (1 + math.exp(-total))


def signs(claim: Claim, lines: Sequence[Line]) -> tuple[float, ...]:
    """The signs of a claim, each between -1 and 1."""
    language = claim.language
    own, known = own_names(lines), names_in(line.text for line in lines)
    subject = _subject(claim, own, known)
    named = terms_of(" ".join(subject or ()), language)
    rest = " ".join(word for word in claim.told.split() if not terms_of(word, language) & named) or claim.told
    every = [
        (overlap(rest, one.text, language), _of(one, subject, named, line, language), line, one)
        for line in _spoken(lines)
        for one in told_of(line.text, language, own, known)
    ]
    if not every:
        return (0.0,) * len(SIGNS)
    same = max((share for share, of, _, _ in every if of in {"same", "unknown"}), default=0.0)
    names = max((share for share, of, _, _ in every if of == "named"), default=0.0)
    other = max((share for share, of, _, _ in every if of == "other"), default=0.0)
    _, of, line, one = max(
        every,
        key=lambda each: (each[0], has_numbers_of(claim.core, each[3].text), each[2].own, each[1] == "same"),
    )
    within = " ".join(each.text for each in lines)
    sentence = max(SENTENCE.split(line.text), key=lambda each: overlap(rest, each, language))
    wanted, frame = terms_of(claim.told, language), terms_of(claim.frame, language)
    beside = terms_of(one.text, language) - wanted - named - frame
    told = {value for each in quantities(claim.core) for value in each.values}
    numbers = [each for each in quantities(one.text) if not each.values & told]
    supposes = line in lines and any(supposed_in(each, language) is not None for each in (one.text, sentence))
    denied = negates(one.text, within) and not negates(claim.whole, within)
    whole, share = line.text.casefold(), overlap(rest, one.text, language)
    begins = [place for word in subject or () if (place := whole.find(word)) >= 0]
    tells = [place for word in rest.split() if terms_of(word, language) and (place := _place(word, whole)) >= 0]
    found = (
        max(overlap(rest, each.text, language) for each in lines) >= _ALL,
        overlap(rest, line.text, language),
        1 - overlap(rest, " . ".join(each.text for each in lines if each.own), language),
        same >= _HALF,
        same >= _ALL,
        max(same, names) - other,
        of == "same",
        of == "named",
        one.thing,
        len(beside) / (1 + len(beside) + len(wanted)),
        bool(told) and len(numbers) / (1 + len(numbers)),
        supposes and supposed_in(claim.core, language) is None,
        sentence.rstrip()[-1:] in "?？",
        denied,
        line.own,
        claim.value and any(each.own and literally(claim.core, each.text) for each in lines),
        len(frame & terms_of(one.text, language)) / max(1, len(frame)),
        claim.value and (begun(claim.frame, one.text) or _named_otherwise(claim.frame, one.text)),
        bool(begins),
        bool(begins and tells) and min(begins, default=0) > max(tells, default=0),
        overlap(rest, sentence, language) - share,
        bool(kin_in(claim.whole, language) - kin_in(sentence, language)),
        bool(((known - own) & _words(one.text)) - _words(claim.whole)),
    )
    return tuple(float(each) for each in found)


_HALF: Final = 0.6
_ALL: Final = 0.99


def _subject(claim: Claim, own: frozenset[str], known: frozenset[str]) -> frozenset[str] | None:
    """The words for whom or what a claim is of: none for the user, None where it does not say."""
    if claim.value:
        return frozenset(claim.about.casefold().split())
    user = THE_USER.match(claim.core)
    if user is not None and not _POSSESSED.match(claim.core, user.end()):
        return frozenset()
    core = claim.core if user is None else f"My {claim.core[user.end() :].lstrip(_POSSESSION)}"
    told = told_of(core, claim.language, own, known)
    if not told or not (told[0].who or told[0].first):
        return None
    return frozenset() if told[0].who & own or (told[0].first and not told[0].who) else told[0].who


_POSSESSED = re.compile(r"['’]s\b|[的の의]")
_POSSESSION: Final = "'’s的の의 "


def _spoken(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines, each offer to which the user says yes as one of theirs."""
    for line in lines:
        yield replace(line, own=True) if not line.own and agreed_to("", line, lines) else line


def _of(one: Told, subject: frozenset[str] | None, named: frozenset[str], line: Line, language: str) -> str:
    """Whose a clause is beside whom a claim is of."""
    if subject is None:
        return "unknown" if line.own else "other"
    if not subject:
        return "same" if line.own and (one.first or not one.who) else "other"
    if subject & ROLES:
        return "same" if not line.own and (one.first or not one.who) else "other"
    if subject & one.who or _kin(subject, language) & _kin(one.who, language):
        return "same"
    return "named" if named & terms_of(one.text, language) else "other"


@lru_cache(maxsize=4096)
def _named_otherwise(attribute: str, clause: str) -> bool:
    """Whether what the user calls theirs is what an attribute is: "our address" of a residence."""
    wanted = canonical("user", attribute)
    return any(compare(canonical("user", match[1]), wanted).same == "same" for match in _MINE.finditer(clause))


_MINE = re.compile(rf"(?i)(?<!\w)(?:{MINE})\s(?:[^\W\d_]+\s)?([^\W\d_]+)")


def _place(word: str, text: str) -> int:
    return text.find(word.casefold()[:_STEM])


_STEM: Final = 5


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", text.casefold()))


@lru_cache(maxsize=1024)
def _kin(who: frozenset[str], language: str) -> frozenset[str]:
    return frozenset(kin_in(" ".join(sorted(who)), language))
