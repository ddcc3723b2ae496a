"""What changed, and which way: a number that another took the place of, "from A to B". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memhold.consolidate.clause_subjects import CLAUSE
from memhold.consolidate.contract import Learned
from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.words import terms_of
from memhold.facts.keys import canonical, compare, wording
from memhold.facts.quotes import MAX_SENTENCE
from memhold.text.mood import speaks_of_it
from memhold.text.quantities import Quantity, quantities
from memhold.values.records import Memory

# ruff: noqa: RUF001 - signs and letters of every script

__all__ = ["known_before", "replaced", "told_as_a_change", "turned_round"]


def told_as_a_change(fact: Learned, lines: Sequence[Line]) -> bool:
    """Whether a line of the user's that a fact cites speaks of a change or a correction."""
    cited = [line.text for line in lines if line.own and line.place in fact.sources]
    return any(wording(text[:MAX_SENTENCE]) in {"replace", "correct", "end"} for text in cited)


def known_before(fact: Learned, known: Sequence[Memory]) -> frozenset[str]:
    """The words of the values that are known under the attribute of a fact."""
    key = canonical(fact.subject, fact.attribute)
    same = [one for one in known if compare(key, canonical(one.subject, one.attribute or "")).same == "same"]
    return frozenset(word for one in same for word in (one.value or "").casefold().split())


_WENT = re.compile(
    r"(?i)\b(?:from|von|de|da|desde)\s+[€$£]?(?P<old>\d[\d.,]*)[^.;!?\d]{0,20}?\s(?:to|auf|à|a|ad|para"
    r"|naar)\s+[€$£]?(?P<new>\d[\d.,]*)"
)
"""A number that changed: "raised from 35 to 45"."""

_CHANGED = re.compile(
    r"(?i)\b(?:rais|increas|went|rose|cut|lower|drop|reduc|fell|erhöh|gesenkt|gestiegen|augment|baiss"
    r"|sub[ieí]|baj|aument|alza|ridott)"
)

_PAST = re.compile(
    r"(?i)\b(?:was|were|used to|from|before|previously|formerly|war|von|früher|était|de|avant|era|antes|desde"
    r"|prima|da)\b"
)


def replaced(number: Quantity, claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a number is what was before a change, or what somebody wants instead, and the claim does not say so."""
    having = [line.text for line in lines if any(one.values & number.values for one in quantities(line.text))]
    if not having or _PAST.search(claim.told) or speaks_of_it(claim.whole, claim.language):
        return False
    return all(_only_before(number, text) or _only_wished(number, claim, text) for text in having)


def _only_before(number: Quantity, text: str) -> bool:
    if _CHANGED.search(text) is None:
        return False
    found = [one for one in _WENT.finditer(text) if any(q.values & number.values for q in quantities(one["old"]))]
    return bool(found) and sum(bool(one.values & number.values) for one in quantities(text)) == len(found)


def _only_wished(number: Quantity, claim: Claim, text: str) -> bool:
    """Whether only a clause of what somebody wants has a number, where another clause of the attribute has its own."""
    if not claim.value:
        return False
    named = terms_of(claim.frame, claim.language)
    clauses = [one for one in CLAUSE.split(text) if one]
    mine = [one for one in clauses if any(q.values & number.values for q in quantities(one))]
    rest = [one for one in clauses if one not in mine and named & terms_of(one, claim.language) and quantities(one)]
    return (
        bool(mine)
        and bool(rest)
        and all(speaks_of_it(one, claim.language) and not named & terms_of(one, claim.language) for one in mine)
    )


_WAY = re.compile(
    r"(?<!\w)(?:from|von|aus|de|desde|depuis|da|van|från|fra|из|с)\s+(?P<start>\w+)\s+(?:to|into|nach|ins|à|a"
    r"|hacia|vers"
    r"|naar|till|til|в)\s+(?P<end>\w+)"
)


def turned_round(claim: str, text: str) -> bool:
    """Whether a claim goes where a line comes from, or the other way round: "from Passau to Görlitz"."""
    for way in _WAY.finditer(text):
        if not (way["start"][:1].isupper() and way["end"][:1].isupper()):
            continue
        said = re.search(
            rf"(?<!\w)(?:to|into|nach|ins|à|a|hacia|vers|naar|till|til|в)\s+{re.escape(way['start'])}\b"
            rf"|(?<!\w)(?:from|desde|depuis|van|från|fra|из)\s+{re.escape(way['end'])}\b",
            claim,
        )
        if said is not None:
            return True
    for way in _WIDE_WAY.finditer(text):
        start, end = map(re.escape, filter(None, way.groups()))
        if re.search(rf"{end}(?:から|에서|부터)|从{end}|{start}(?:へ|に|으로|로)|[到去往]了?{start}", claim):
            return True
    return False


_WIDE_WAY = re.compile(
    r"([^\W\d_]{1,8}?)(?:から|에서|부터)\s?([^\W\d_]{1,8}?)(?:へ|に|으로|로)|从([^\W\d_]{2,4}?)[^\W\d_]?[到去往]了?([^\W\d_]{2})"
)
"""The same where words are not set apart: "仙台から札幌に"."""
