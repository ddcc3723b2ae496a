"""What the sources say no to is denied in the text, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memhold.compact.check.case import Case
from memhold.compact.check.terms import clauses_of, terms_of
from memhold.text.analysis import unspaced
from memhold.text.change import changes
from memhold.text.negation import negates

# ruff: noqa: RUF001 - punctuation and words of every script

__all__ = ["NEARLY", "denial_invented", "denial_lost", "denial_moved", "denied_in", "says_no"]

NEARLY = 0.75
"""The share of their words that two clauses have in common from which on one is the other, told again."""


_AGAINST: Final = re.compile(
    r"(?i)\b(?:avoid\w*|refus\w*|against|stop\w*|quit|former\w*|no longer|end(?:s|ed)?"
    r"|gave up|given up|cancel\w*|reject\w*|declin\w*|except|without|off|out|only|unless|free|left|forbid\w*|blind"
    r"|can't|"
    r"cannot|neither|nor|other than|instead|rather|retired|least|drop\w*|lost|fail\w*|empty|closed|shut|"
    r"vermeid\w*|ohne|gegen|statt|weg|nur|schluss|außer|sauf|hormis|évite\w*|refus\w*|seulement|"
    r"evita\w*|rechaz\w*|contra|salvo|excepto|solo|sólo|senza|tranne|sem|exceto|só|deixou|dejó|кроме|только|без"
    r"|забыть)\b"
    r"|못|거부|제외|만 |없|だけ|以外|避|省|只|除|免|停"
)
"""Words that say no without a word of denial: what they are said of may stand in a clause that denies."""


_ONLY: Final = re.compile(
    r"(?i)\b(?:only|nur|seulement|uniquement|solo|sólo|soltanto|solamente|só|somente|alleen|только)\b"
)


def _before_only(clause: str, within: str, language: str) -> frozenset[str]:
    """The terms in front of an "only" that is all a clause has of a no: they are affirmed ("drinks only at home")."""
    match = _ONLY.search(clause)
    if match is None or _broad(_ONLY.sub(" ", clause), within):
        return frozenset()
    return terms_of(clause[: match.start()], language)


_OFF: Final = re.compile(r"(?i)\A\W*(?:\w+ )?(?:off|avoids?|stopped|quit)\b")
"""A clause that begins with an end."""


_AVERSE: Final = re.compile(
    r"(?i)\b(?:dislike\w*|hates?|hated|allerg\w*|intoleran\w*|fears?|afraid|scared|abneig\w*|hass(?:t|en)?|angst"
    r"|déteste\w*|peur|odia\w*"
    r"|miedo|paura|medo|боится|ненавид\w*)\b|싫|알레르기|무서|嫌|苦手|アレルギー|怖|讨厌|過敏|过敏|怕"
)
"""Words of what somebody does not take or like: a "not" beside one of them turns it round."""


_BOUND: Final = re.compile(
    r"(?<!\w)(?:no|not|never|nicht|pas|no|non|não|не)\s+(?:give\s+)?(?:more|less|fewer|later|earlier|sooner|mehr"
    r"|weniger|später|früher|más|menos|più|mais|более|позже)\s+"
    r"(?:than|als|de|que|di|do que|чем)"
    r"|(?<!\w)(?:not|never|nicht|nie)\s+(?:\w+\s+){1,2}?\w+er\s+(?:than|als)\s+(?=\d)"
    r"|(?<!\w)(?:not|never|nicht|nie)\s+(?:\w+\s+){1,2}?(?:below|under|above|over|unter|über)\s+(?=\d)"
    r"|not only|nicht nur|non seulement|no sólo|not so|if not",
    re.IGNORECASE,
)
"""A bound, or more than was said: no denial."""


def says_no(clause: str, within: str) -> bool:
    """Whether a clause denies something; a bound ("no more than") is no denial."""
    return negates(_BOUND.sub(" ", clause), within)


def _broad(clause: str, within: str) -> bool:
    return (
        negates(clause, within)
        or _AGAINST.search(clause) is not None
        or changes(clause)
        or bool(_AVERSE.search(clause))
    )


def denied_in(clause: str, within: str, language: str) -> frozenset[str]:
    """The terms of what a clause says no to: those behind the word that denies, else those before it."""
    if unspaced(clause) and " " not in clause.strip():
        return frozenset(term for term in terms_of(clause, language) if not negates(term))
    words = re.findall(r"\w+(?:['’]\w+)?", clause)
    at = next((place for place, word in enumerate(words) if negates(word, within)), None)
    if at is None:
        return terms_of(clause, language)
    behind = terms_of(" ".join(words[at + 1 :]), language)
    return behind or terms_of(" ".join(words[:at]), language)


def _with_bare(clauses: Sequence[str], within: str, language: str) -> list[str]:
    """The clauses, where a bare "not" belongs to the one behind it: "but not while a release is tested"."""
    found: list[str] = []
    bare = ""
    for clause in clauses:
        if says_no(clause, within) and all(negates(term) for term in terms_of(clause, language)):
            bare = f"{bare}{clause} "
        else:
            found.append(bare + clause)
            bare = ""
    return [*found, bare.strip()] if bare else found


def denial_lost(case: Case) -> str | None:
    """A statement of a source that says no is told, and no clause that tells it says no."""
    within = case.within
    told = _with_bare(clauses_of(case.text), within, case.language)
    broad = [clause for clause in told if _broad(clause, within)]
    held = frozenset[str]().union(*(terms_of(clause, case.language) for clause in broad))
    plain = frozenset[str]().union(*(terms_of(one, case.language) for one in told if one not in broad))
    affirmed = frozenset[str]().union(*(_before_only(clause, within, case.language) for clause in broad))
    plain, held = plain | affirmed, held - affirmed
    said = [clause for source in case.kept for clause in clauses_of(source.text) if not _broad(clause, within)]
    # What a source affirms too is denied for a part of it only: "not while a release is tested".
    plain -= frozenset[str]().union(*(terms_of(clause, case.language) for clause in said))
    for source in case.kept:
        for clause in clauses_of(source.text):
            if not says_no(clause, within) and not _AVERSE.search(clause) and not _OFF.search(clause):
                continue
            if not broad:
                return f"{clause!r} says no, and the text does not"
            denied = denied_in(clause, within, case.language)
            if denied and len((denied & plain) - held) * 2 >= len(denied):
                return f"{clause!r} says no, and the text says it without"
    return None


def denial_moved(case: Case) -> str | None:
    """A clause comes back nearly word for word, but for its no."""
    if case.gone:
        return None
    said = [clause for source in case.kept for clause in clauses_of(source.text)]
    for clause in clauses_of(case.text):
        own = terms_of(clause, case.language)
        others = [(terms_of(one, case.language), one) for one in said] if own else []
        near = [(len(own & other) / len(own | other), one) for other, one in others if other]
        best = max((share for share, _ in near), default=0.0)
        if best < NEARLY:
            continue
        no = says_no(clause, case.within)
        if all(says_no(one, case.within) != no for share, one in near if share == best):
            return f"{clause!r} says no where the memories do not, or the other way round"
    return None


def denial_invented(case: Case) -> str | None:
    """Say which clause of the text denies what no source denies."""
    within = case.within
    said = [clause for source in case.sources for clause in clauses_of(source.text)]
    broad = [clause for clause in said if _broad(clause, within)]
    held = frozenset[str]().union(*(terms_of(clause, case.language) for clause in broad))
    plain = frozenset[str]().union(*(terms_of(one, case.language) for one in said if one not in broad))
    ended = frozenset[str]().union(*(terms_of(source.text, case.language) for source in case.gone))
    for clause in clauses_of(case.text):
        if not says_no(clause, within):
            continue
        if not broad and not case.gone:
            return f"{clause!r} says no, and no memory does"
        denied = denied_in(clause, within, case.language)
        if denied and denied & plain and not denied & (held | ended):
            return f"{clause!r} says no to what the memories say"
        words = {word.casefold() for word in _AVERSE.findall(clause)}
        averse = [one for one in said if words & {word.casefold() for word in _AVERSE.findall(one)}]
        if words and not any(says_no(one, within) for one in averse):
            return f"{clause!r} says no to what the memories say"
    return None
