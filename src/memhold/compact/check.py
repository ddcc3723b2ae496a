"""The check of a text that is to stand for several: its hard details are those of its sources. Pure.

Hard details decide, not words: figures with their units, names, code and paths, days and parts of the day, what is
denied, conditions, who did what. What a newer source replaced may go, and comes back only as what was. Order, joined
sentences, pronouns and synonyms are free: all content words of good merges stood in their sources in a quarter of the
cases, of bad ones in half of them (docs/decisions/0042-merges.md, with what each rule wins).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Final

from memhold.compact.clauses import shared, swapped
from memhold.compact.relations import turned_round
from memhold.consolidate.entry import other_script, untimed
from memhold.text.analysis import analyse, language_of, unspaced
from memhold.text.change import changes
from memhold.text.details import Detail, capitalises_nouns, content_terms, details, holds
from memhold.text.figures import Figure, figures
from memhold.text.function_words import EVIDENCE
from memhold.text.marks import marks, opposed
from memhold.text.negation import negates

# ruff: noqa: RUF001 - punctuation and words of every script

__all__ = ["MAX_MERGED_CHARS", "RULES", "Refusal", "Source", "covers", "refused", "unfounded", "unsaid"]

MAX_MERGED_CHARS = 4_000
"""Longest merged text: it fits the windows of small embedders (5,881 characters passed in the field), with room."""
SLACK = 1.1
"""How much longer than its sources together a text may be."""
ROOM = 20
"""The same of short ones, in characters: the words that join two sentences."""
MOST = 40
"""Details of a text that are compared two by two."""
QUOTED = 40
"""Quoted words up to that length are told as they stand; of longer ones what they say."""
NEARLY = 0.75
"""The share of their words that two clauses have in common from which on one is the other, told again."""
FEW = 3
"""Words of its own from which on something must be told by its share of them."""
AGREED = 2
"""Sources that use a word from which on it is what they agree on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One memory that a text is to stand for. `replaced`: a newer one of them says otherwise, and what it says may go.

    `labels` are entities that count as names where they stand in the text.
    """

    text: str
    at: datetime
    labels: tuple[str, ...] = ()
    replaced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a text may not stand: `rule` is a shape without content, `shown` says it to the model that wrote it.

    `wording` is false where no other words would help.
    """

    rule: str
    shown: str
    wording: bool = True


@dataclass(frozen=True, slots=True)
class _Case:
    """A text and its sources, with what is read once."""

    sources: tuple[Source, ...]
    text: str
    language: str

    @property
    def kept(self) -> tuple[Source, ...]:
        return tuple(source for source in self.sources if not source.replaced)

    @property
    def gone(self) -> tuple[Source, ...]:
        return tuple(source for source in self.sources if source.replaced)

    @property
    def nouns(self) -> bool:
        """Whether a capital says no more than that a word is a noun."""
        return self.language == "german" or capitalises_nouns(self.within)

    @property
    def within(self) -> str:
        return " ".join(source.text for source in self.sources)


Rule = Callable[[_Case], "str | None"]


def refused(sources: Sequence[Source], text: str, *, but: frozenset[str] = frozenset()) -> Refusal | None:
    """Why a text may not take the place of its sources; None where it may. `but` leaves rules out, to measure them."""
    language = language_of(" ".join(source.text for source in sources))
    case = _Case(tuple(sources), text, language)
    if _form(case) is None and not case.gone and _joined(case):
        return None
    for name, rule in RULES.items():
        if name not in but and (found := rule(case)) is not None:
            return Refusal(rule=name, shown=found)
    return None


def covers(survivor: Source, other: Source, *, whole: bool = False) -> bool:
    """Whether a memory may stand for another that is said to say the same: it has every hard detail of that one.

    And it speaks of the same thing: neither says no to what the other says, nor do they differ in one word of the
    same phrase ("the window seat", "the aisle seat"). `whole`: it has every content word of the other, too.
    """
    language = language_of(f"{survivor.text} {other.text}")
    case, back = _Case((other,), survivor.text, language), _Case((survivor,), other.text, language)
    if any(rule(case) is not None for rule in (_lost_figures, _lost_names, _lost_marks, _denial_lost, _turned)):
        return False
    if (
        _denial_invented(case) is not None
        or _denial_lost(back) is not None
        or _another(survivor.text, other.text, language)
    ):
        return False
    kin = [{one for kind, one in marks(text) if kind == "relative"} for text in (survivor.text, other.text)]
    if all(kin) and not kin[0] & kin[1]:
        return False
    own, there = _terms(other.text, language), _terms(survivor.text, language)
    if whole and not all(_met(frozenset({one}), there) for one in own - _LIGHT):
        return False
    return not own or bool(own & there) or bool(_common(survivor.text, other.text))


def _another(one: str, other: str, language: str) -> bool:
    """Whether two texts differ in a word of the same phrase: each has one that the other lacks, beside a shared one."""
    mine, theirs = _terms(one, language), _terms(other, language)
    fresh = [
        beside
        for clause in _clauses(one)
        for terms, beside in _neighbours(clause, language)
        if not _met(terms, theirs | _LIGHT)
    ]
    gone = [
        beside
        for clause in _clauses(other)
        for terms, beside in _neighbours(clause, language)
        if not _met(terms, mine | _LIGHT)
    ]
    return any(first & second for first in fresh for second in gone)


# ------------------------------------------------------------------------------------------------ form

_MARKUP: Final = (
    re.compile(r"^\s{0,3}#{1,6}\s", re.MULTILINE),
    re.compile(r"^[^\S\n]*[-*+•]\s", re.MULTILINE),
    re.compile(r"^[^\S\n]*\d+[.)]\s", re.MULTILINE),
    re.compile(r"\*\*|__(?=\w)|(?<!\w)\*(?=\w)"),
    re.compile(r"`"),
    re.compile(r"\]\("),
    re.compile(r"^[^\S\n]*\|", re.MULTILINE),
    re.compile(r"^[^\S\n]*>", re.MULTILINE),
    re.compile(r"</?[a-z][^<>]*>"),
)


def _form(case: _Case) -> str | None:
    if not case.text.strip():
        return "the text is empty"
    together = sum(len(source.text) for source in case.sources) + 2 * (len(case.sources) - 1)
    most = min(MAX_MERGED_CHARS, max(int(together * SLACK), together + ROOM))
    if len(case.text) > most:
        return f"the text has {len(case.text)} characters, over {most}"
    for pattern in _MARKUP:
        if pattern.search(case.text) and not any(pattern.search(source.text) for source in case.sources):
            return "the text has markup that no memory has"
    return None


LEAST_OF_NEWEST = 0.4
"""The share of the words of what holds now that a text must have, beside what it replaced."""
BARE = 3
"""Content words up to which a clause goes on about what the one before it says."""
JOINT = 5
"""Letters that may stand between two memories that are told word for word: "and", "also"."""


def _joined(case: _Case) -> bool:
    """Whether the text is its sources word for word, in any order and joined by whatever."""
    rest = f" {' '.join(case.text.split())} "
    for source in sorted(case.sources, key=lambda one: -len(one.text)):
        whole = " ".join(source.text.split()).rstrip(".。!?")
        place = rest.find(whole)
        if place < 0:
            return False
        rest = f"{rest[:place]}\ufffc{rest[place + len(whole) :]}"
    return all(sum(char.isalnum() for char in joint) <= JOINT for joint in rest.split("\ufffc"))


# ------------------------------------------------------------------------------------------------ figures

_BOTH: Final = re.compile(
    r"(?<!\w)(?:both|two|pair|couple|twice|double|those|these|beide\w*|zwei\w*|paar|les deux|deux|ambos|ambas"
    r"|los dos|dos"
    r"|entrambi|tutti e due|due|dois|duas|оба|обе|два|две)(?!\w)|둘|두 |两|二|双",
    re.IGNORECASE,
)
_TWO: Final = frozenset(one.values for one in figures("2"))


def _lost_figures(case: _Case) -> str | None:
    there = figures(case.text)
    for source in case.kept:
        for one in figures(source.text):
            if one.loose or any(_agree(one, other) for other in there):
                continue
            if _left(source.text[one.start : one.end], source, case):
                continue
            if one.values in _TWO and _BOTH.search(case.text) and _BOTH.search(source.text):
                continue
            return f"{source.text[one.start : one.end]!r} is not in the text"
    return None


def _invented_figures(case: _Case) -> str | None:
    there = [(one, source) for source in case.sources for one in figures(source.text)]
    for one in figures(case.text):
        if one.loose or any(_agree(one, other) for other, _ in there):
            continue
        if one.values in _TWO and _BOTH.search(case.within):
            continue
        return f"{case.text[one.start : one.end]!r} is in no memory"
    return None


def _agree(one: Figure, other: Figure) -> bool:
    """Whether two figures say the same: a value of both, with units that do not differ; one may leave its unit out."""
    if not one.values & other.values:
        return False
    if "clock" in {one.unit, other.unit}:
        halves = {one.half, other.half} - {None}
        if len(halves) > 1:
            # 3 pm and "three at night": half a day apart, unless nobody says which.
            return False
        units = {one.unit, other.unit} - {"clock", None, "hour"}
        return not units
    return one.unit == other.unit or one.unit is None or other.unit is None


# ------------------------------------------------------------------------------------------------ names

_TO_THE_LETTER: Final = frozenset({"code", "path", "address"})
_TITLES: Final = frozenset(
    ["dr", "prof", "mr", "mrs", "ms", "mme", "herr", "frau", "sr", "sra", "dott", "user", "users"]
)


@lru_cache(maxsize=4096)
def _named(text: str) -> tuple[Detail, ...]:
    """Names, code, paths and addresses of a text; numbers only where letters stand in them (versions, hashes)."""
    return tuple(
        one
        for one in details(text)
        if (one.kind in _TO_THE_LETTER and not _DIGITS.fullmatch(one.text))
        or (one.kind == "quoted" and len(one.text) < QUOTED)
        or (one.kind == "name" and one.text.casefold() not in _TITLES and not marks(one.text))
        or (one.kind == "number" and _mixed(one.text))
    )


_DIGITS: Final = re.compile(r"[\d/.:\-]+")


def _mixed(token: str) -> bool:
    return token[:1] == "+" or (not figures(token) and any(char.isdigit() for char in token))


def _lost_names(case: _Case) -> str | None:
    for source in case.kept:
        for one in (*_named(source.text), *_labels(source)):
            if one.kind == "name" and (not one.sure or case.nouns) and not _name_elsewhere(one, case):
                continue
            if holds(case.text, one) or _spelled_alike(one, case.text) or _left(one.text, source, case):
                continue
            return f"{one.text!r} is not in the text"
    return None


def _left(detail: str, source: Source, case: _Case) -> bool:
    """Whether a detail is what a kept source says was left: a replaced one has it, and its clause tells of the past."""
    if not any(_has(other.text, detail) for other in case.gone):
        return False
    return all(_past(clause, case.within) for clause in _clauses(source.text) if _has(clause, detail))


def _labels(source: Source) -> Iterator[Detail]:
    for label in source.labels:
        named = Detail(kind="name", text=label)
        if holds(source.text, named):
            yield named


def _name_elsewhere(one: Detail, case: _Case) -> bool:
    """Whether a capital that a sentence or a language may have given is a name in another of the texts, or a label."""
    if case.nouns:
        return one.text.casefold() in {label.casefold() for source in case.sources for label in source.labels}
    every = (case.text, *(source.text for source in case.sources))
    return any(
        other.sure and other.kind == "name" and other.key == one.key for text in every for other in details(text)
    )


def _spelled_alike(one: Detail, text: str) -> bool:
    """Whether a name stands there in another form of its word: a genitive, a plural, joined by a hyphen."""
    wanted = one.text.casefold()
    if one.kind != "name" or len(wanted) < 3:
        return False
    return any(
        word.startswith(wanted[: max(3, len(wanted) - 2)]) and abs(len(word) - len(wanted)) <= 3
        for word in re.findall(r"[^\W\d_]+", text.casefold())
    )


def _invented_names(case: _Case) -> str | None:
    held = case.within
    for one in _named(case.text):
        if (
            holds(held, one)
            or _spelled_alike(one, held)
            or any(one.key in map(str.casefold, s.labels) for s in case.sources)
        ):
            continue
        if one.kind == "name" and (not one.sure or case.nouns):
            continue
        if one.kind == "name" and content_terms(one.text) <= content_terms(held):
            continue
        return f"{one.text!r} is in no memory"
    return None


# ------------------------------------------------------------------------------------------------ marks


def _lost_marks(case: _Case) -> str | None:
    there = marks(case.text)
    for source in case.kept:
        for kind, one in sorted(marks(source.text) - there):
            if kind == "relative":
                continue
            if kind == "part of the day" and any(figure.unit in {"clock", "hour"} for figure in figures(case.text)):
                continue
            return f"a {kind} is not in the text ({_words_of(kind, one, source.text)})"
    return None


def _words_of(kind: str, one: str, text: str) -> str:
    return next((word for word in re.findall(r"\w+", text) if (kind, one) in marks(word)), kind)


def _invented_marks(case: _Case) -> str | None:
    held = marks(case.within)
    for kind, one in sorted(marks(case.text) - held):
        if kind == "part of the day" and any(figure.half or figure.unit == "clock" for figure in figures(case.within)):
            continue
        if kind == "relative":
            continue
        return f"a {kind} is in no memory ({_words_of(kind, one, case.text)})"
    return None


# ------------------------------------------------------------------------------------------------ yes and no

_CLAUSE: Final = re.compile(
    r"(?<![DdPMSN]r\.)(?<!Mrs\.)(?<!Prof\.)(?<!St\.)(?<=[.!?;:…])\s+|[。！？；：、，()（）]|,(?!\d)|\s[-–—]\s|\n+"
    r"|\s(?:and|but|although|though|whereas|because|since|as|when|while|which|who|und|aber|sondern|obwohl|weil|wenn"
    r"|dass"
    r"|et|mais|parce|quand|y|pero|aunque|sino|porque|cuando|e|però|ma|perché|mas|и|но|а|потому|когда)\s",
    re.IGNORECASE,
)
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

_OFF: Final = re.compile(r"(?i)\A\W*(?:\w+ )?(?:off|avoids?|stopped|quit)\b")
"""A clause that begins with an end."""
_AVERSE: Final = re.compile(
    r"(?i)\b(?:dislike\w*|hates?|hated|allerg\w*|intoleran\w*|fears?|afraid|scared|abneig\w*|hass(?:t|en)?|angst"
    r"|déteste\w*|peur|odia\w*"
    r"|miedo|paura|medo|боится|ненавид\w*)\b|싫|알레르기|무서|嫌|苦手|アレルギー|怖|讨厌|過敏|过敏|怕"
)
"""Words of what somebody does not take or like: a "not" beside one of them turns it round."""


@lru_cache(maxsize=4096)
def _clauses(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in _CLAUSE.split(text[:20_000]) if part and part.strip())


@lru_cache(maxsize=8192)
def _terms(text: str, language: str) -> frozenset[str]:
    return frozenset(term for term in analyse(text, language).counts if term not in EVIDENCE)


_BOUND: Final = re.compile(
    r"(?<!\w)(?:no|not|never|nicht|pas|no|non|não|не)\s+(?:give\s+)?(?:more|less|fewer|later|earlier|sooner|mehr"
    r"|weniger|später|früher|más|menos|più|mais|более|позже)\s+"
    r"(?:than|als|de|que|di|do que|чем)|not only|nicht nur|non seulement|no sólo|not so|if not",
    re.IGNORECASE,
)
"""A bound, or more than was said: no denial."""


def _no(clause: str, within: str) -> bool:
    return negates(_BOUND.sub(" ", clause), within)


def _broad(clause: str, within: str) -> bool:
    return (
        negates(clause, within)
        or _AGAINST.search(clause) is not None
        or changes(clause)
        or bool(_AVERSE.search(clause))
    )


def _denied(clause: str, within: str, language: str) -> frozenset[str]:
    """The terms of what a clause says no to: those behind the word that denies, else those before it."""
    if unspaced(clause) and " " not in clause.strip():
        return frozenset(term for term in _terms(clause, language) if not negates(term))
    words = re.findall(r"\w+(?:['’]\w+)?", clause)
    at = next((place for place, word in enumerate(words) if negates(word, within)), None)
    if at is None:
        return _terms(clause, language)
    behind = _terms(" ".join(words[at + 1 :]), language)
    return behind or _terms(" ".join(words[:at]), language)


def _denial_lost(case: _Case) -> str | None:
    """A statement of a source that says no is told, and no clause that tells it says no."""
    within = case.within
    told = _clauses(case.text)
    broad = [clause for clause in told if _broad(clause, within)]
    held = frozenset[str]().union(*(_terms(clause, case.language) for clause in broad))
    plain = frozenset[str]().union(*(_terms(one, case.language) for one in told if one not in broad))
    for source in case.kept:
        for clause in _clauses(source.text):
            if not _no(clause, within) and not _AVERSE.search(clause) and not _OFF.search(clause):
                continue
            if not broad:
                return f"{clause!r} says no, and the text does not"
            denied = _denied(clause, within, case.language)
            if denied and len((denied & plain) - held) * 2 >= len(denied):
                return f"{clause!r} says no, and the text says it without"
    return None


def _denial_moved(case: _Case) -> str | None:
    """A clause comes back nearly word for word, but for its no."""
    if case.gone:
        return None
    said = [clause for source in case.kept for clause in _clauses(source.text)]
    for clause in _clauses(case.text):
        own = _terms(clause, case.language)
        near = [
            (len(own & other) / len(own | other), one) for one in said if (other := _terms(one, case.language)) and own
        ]
        best = max((share for share, _ in near), default=0.0)
        if best < NEARLY:
            continue
        no = _no(clause, case.within)
        if all(_no(one, case.within) != no for share, one in near if share == best):
            return f"{clause!r} says no where the memories do not, or the other way round"
    return None


def _denial_invented(case: _Case) -> str | None:
    within = case.within
    said = [clause for source in case.sources for clause in _clauses(source.text)]
    broad = [clause for clause in said if _broad(clause, within)]
    held = frozenset[str]().union(*(_terms(clause, case.language) for clause in broad))
    plain = frozenset[str]().union(*(_terms(one, case.language) for one in said if one not in broad))
    ended = frozenset[str]().union(*(_terms(source.text, case.language) for source in case.gone))
    for clause in _clauses(case.text):
        if not _no(clause, within):
            continue
        if not broad and not case.gone:
            return f"{clause!r} says no, and no memory does"
        denied = _denied(clause, within, case.language)
        if denied and denied & plain and not denied & (held | ended):
            return f"{clause!r} says no to what the memories say"
        words = {word.casefold() for word in _AVERSE.findall(clause)}
        averse = [one for one in said if words & {word.casefold() for word in _AVERSE.findall(one)}]
        if words and not any(_no(one, within) for one in averse):
            return f"{clause!r} says no to what the memories say"
    return None


# ------------------------------------------------------------------------------------------------ relations, roles


def _turned(case: _Case) -> str | None:
    """One side of a pair of opposites in the place of the other: at least for at most, left for right."""
    kept = " ".join(source.text for source in case.kept)
    if opposed(case.text, kept) and opposed(case.text, case.within):
        return "something is turned round (at least and at most, begin and end, left and right, likes and hates)"
    if turned_round(case.text, [source.text for source in case.sources], EVIDENCE):
        return "a relation is turned round (before and after, more and less, must and may)"
    return None


def _exchanged(case: _Case) -> str | None:
    """A clause of the text gives to one name what a clause of a source says of another, and not of it."""
    names = _participants(case)
    said = [one for source in case.kept for one in _with_subjects(source.text, names)]
    if not said:
        return None
    own = _name_terms(names, case.language)
    for clause in _clauses(case.text):
        mine = [one for one in names if _has(clause, one)]
        terms = _terms(clause, case.language) - own - _ROLES
        user = _USER.search(clause) is not None and not mine
        if not terms or not (mine or user):
            continue
        best = max(len(terms & _terms(one, case.language)) for one, _ in said)
        if best * 2 < len(terms) or not best:
            continue
        near = [(one, subjects) for one, subjects in said if len(terms & _terms(one, case.language)) == best]
        shared = terms & frozenset[str]().union(*(_terms(one, case.language) for one, _ in near))
        theirs = frozenset[str]().union(*(subjects for _, subjects in near))
        if user:
            if "" not in theirs and all(subjects for _, subjects in near):
                return "the user is given what the memories say of another"
            continue
        for one in mine:
            beside = frozenset[str]().union(*(_terms(other, case.language) for other, whom in said if one in whom))
            if one not in theirs and any(other not in mine for other in theirs if other) and not shared & beside:
                return f"{one!r} is given what the memories say of another"
    return None


def _swapped(case: _Case) -> str | None:
    if swapped([source.text for source in case.kept], case.text):
        return "the text says of one thing what the memories say of another"
    return None


def _with_subjects(text: str, names: Sequence[str]) -> list[tuple[str, frozenset[str]]]:
    """The clauses of a text with the names in each ("" for the user); one without a name goes on about those before."""
    found: list[tuple[str, frozenset[str]]] = []
    before: frozenset[str] = frozenset()
    for clause in _clauses(text):
        here = frozenset(one for one in names if _has(clause, one))
        here |= frozenset({""}) if _USER.search(clause) else frozenset()
        before = here or before
        found.append((clause, before))
    return found


_ROLES: Final = frozenset({"user", "assistant"})
_USER: Final = re.compile(
    r"(?i)(?<!\w)(?:user|nutzer(?:in)?|utilisat\w+|usuari[oa]|utente|utilizador|gebruiker|пользовател\w+)(?!['’\w])"
    r"|사용자[는가]|用户|ユーザーは"
)


def _participants(case: _Case) -> list[str]:
    """The names of the sources, as they stand there."""
    found: dict[str, None] = {}
    for source in case.kept:
        for one in _named(source.text):
            if one.kind == "name" and not case.nouns and (one.sure or _name_elsewhere(one, case)):
                found.setdefault(one.text)
    return list(found)[:MOST]


def _name_terms(names: Sequence[str], language: str) -> frozenset[str]:
    return frozenset[str]().union(*(_terms(one, language) for one in names))


def _has(text: str, detail: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(detail)}(?!\w)", text, re.IGNORECASE) is not None


# ------------------------------------------------------------------------------------------------ what was replaced

_FROM_TO: Final = re.compile(
    r"(?<!\w)(?:from|von|de|da|du|с|из)\s++(?P<old>[^\s,.;()][^,.;()]{1,59}?)(?<!\s)\s++(?:to|into|nach|zu[rm]?|auf|à|au|vers|a|al"
    r"|para|per"
    r"|на|в|к)\s++(?P<new>[^,.;()]{2,60})",
    re.IGNORECASE,
)


def _old_as_new(case: _Case) -> str | None:
    """A value that was replaced stands in the text as if it held: in a clause that does not say that it is past."""
    if not case.gone:
        return None
    newest = " ".join(source.text for source in case.kept)
    told = _clauses(case.text)
    olds, news = _details_of(case.gone), _details_of(case.kept)
    for match in _FROM_TO.finditer(case.text):
        older = [one for one in olds if _has(match["new"], one) and not _has(match["old"], one)]
        newer = [one for one in news if _has(match["old"], one) and one not in olds]
        if older and newer:
            return "the change is told the wrong way round"
    gone = case.gone[:1] if len(case.gone) > 1 else case.gone  # of those between, some may hold still
    others = " ".join(source.text for source in case.sources if source not in gone)
    old_marks = frozenset[tuple[str, str]]().union(*(marks(source.text) for source in gone)) - marks(others)
    before = frozenset[str]().union(*(_terms(source.text, case.language) for source in case.gone))
    fresh = _terms(newest, case.language) - before
    values = _details_of(gone)
    for clause in told:
        if _past(clause, case.within) or _past_around(clause, told, case):
            continue
        for one in values:
            if not _has(clause, one) or _said_so(clause, one, case):
                continue
            if figures(one) or not fresh & _terms(clause, case.language):
                return f"{one!r} holds no longer, and the text does not say so"
        for kind, one in sorted(marks(clause) & old_marks):
            if kind != "relative" and not fresh & _terms(clause, case.language):
                return f"a {kind} holds no longer ({_words_of(kind, one, clause)})"
    return None


def _change_invented(case: _Case) -> str | None:
    """The text says that something changed, and no source does."""
    if case.gone or not changes(case.text) or any(changes(source.text) for source in case.sources):
        return None
    return "the text says that something changed, and no memory does"


def _two_values(case: _Case) -> str | None:
    """Two sources give different figures of one unit, and neither has the other's: they do not say the same."""
    if case.gone:
        return None
    for one, other in combinations(case.sources, 2):
        mine, theirs = (_figures_but(first, second) for first, second in ((one, other), (other, one)))
        for first in mine:
            for second in theirs:
                if first.unit is not None and first.unit == second.unit:
                    return "the memories give two values of one kind"
    return None


def _figures_but(one: Source, other: Source) -> list[Figure]:
    """The figures of a source that another one lacks."""
    there = figures(other.text)
    return [
        figure for figure in figures(one.text) if not figure.loose and not any(_agree(figure, two) for two in there)
    ]


def _newest_told(case: _Case) -> str | None:
    """Of what replaced the others too few words came back."""
    if not case.gone:
        return None
    there = _terms(case.text, case.language)
    before = frozenset[str]().union(*(_terms(source.text, case.language) for source in case.gone))
    for source in case.kept:
        own = _terms(source.text, case.language) - _ROLES - _LIGHT - before
        if len(own) < FEW:
            continue
        told = sum(one in there or _alike(one, there) for one in own)
        if told < len(own) * LEAST_OF_NEWEST:
            return "what holds now is not told"
    return None


def _details_of(sources: Sequence[Source]) -> list[str]:
    found: dict[str, None] = {}
    for source in sources:
        for one in _named(source.text):
            if one.sure or one.kind != "name":
                found.setdefault(one.text)
        for figure in figures(source.text):
            if not figure.loose:
                found.setdefault(source.text[figure.start : figure.end])
    return list(found)


_PAST: Final = re.compile(
    r"(?i)\b(?:was|were|had|been|before|until|up to|earlier|from|out(?:grew|grown|growing)|left|over|without"
    r"|burn\w*|broke\w*"
    r"|dropp\w*|than|passed|off|war|hatte|zuvor|vorher|bis|von|vom|schluss|fiel|weg|war(?:en)?|était|avait|depuis"
    r"|avant|panne"
    r"|era|estaba|tenía|hasta|antes|descart\w*|eram?|estava|deixou|largou|dejó|fue|был\w*|до|раньше|prior|ex|old\w*)\b"
    r"|전에|떠나|에서|原来|卖|之前|以前|前は|元"
)
_ARRIVING: Final = re.compile(
    r"(?i)(?<!\w)(?:now|new|latest|currently|moving|moved|became|become|jetzt|neue[nrms]?|maintenant|ahora|agora"
    r"|nuev[oa]|ora"
    r"|теперь)(?!\w)|지금은|现在|今は"
)
"""Words of change for what comes, not for what goes."""


def _past(clause: str, within: str) -> bool:
    return negates(clause, within) or changes(_ARRIVING.sub(" ", clause)) or _PAST.search(clause) is not None


def _past_around(clause: str, told: Sequence[str], case: _Case) -> bool:
    """Whether a bare clause, as in brackets, stands beside one that says that something is past."""
    at = told.index(clause)
    while at > 0 and len(_terms(told[at], case.language)) <= BARE:
        at -= 1
        if _past(told[at], case.within):
            return True
    return False


def _said_so(clause: str, one: str, case: _Case) -> bool:
    """Whether a kept source says it of that detail in the same words: it is what holds now."""
    terms = _terms(clause, case.language) - _terms(one, case.language)
    for source in case.kept:
        for other in _clauses(source.text):
            if (
                _has(other, one)
                and not _past(other, case.within)
                and len(terms & _terms(other, case.language)) * 2 >= max(1, len(terms))
            ):
                return True
    return False


# ------------------------------------------------------------------------------------------------ words


def _agreed(case: _Case) -> str | None:
    """Of the words on which several kept sources agree, a third or more is told nowhere."""
    kept = case.kept
    if len(kept) < AGREED:
        return None
    there = _whole(case.text, case.language)
    each = [_whole(source.text, case.language) for source in kept]
    shared = [
        one
        for one in sorted(frozenset[str]().union(*(first & second for first, second in combinations(each, 2))))
        if (len(one) > 2 or not one.isascii()) and not _is_function(one)
    ]
    lost = [one for one in shared if one not in there and not _alike(one, there)]
    if lost and len(lost) * 3 >= len(shared):
        return f"{lost[0]!r} is what several memories say, and the text does not"
    return None


_HANGUL: Final = re.compile(r"[\uac00-\ud7a3]{2,}")


def _whole(text: str, language: str) -> frozenset[str]:
    """The terms of a text; of Korean its words without what may be a particle: its pairs of syllables are many."""
    words = _HANGUL.findall(text)
    return frozenset(word[: max(2, len(word) - 2)] for word in words) if words else _terms(text, language)


def _is_function(term: str) -> bool:
    return term in _ROLES or bool(figures(term)) or negates(term)


def _alike(term: str, terms: frozenset[str]) -> bool:
    root = max(4, len(term) - 2)
    return len(term) >= 4 and any(
        one[:root] == term[:root] or (len(one) >= 4 and term.startswith(one)) for one in terms
    )


def _common(one: str, other: str) -> bool:
    return bool(marks(one) & marks(other)) or any(
        first.values & second.values for first in figures(one) for second in figures(other) if not first.loose
    )


def _clause_lost(case: _Case) -> str | None:
    """A clause of which nothing came back, and no new words that could say it."""
    if case.gone or len(case.kept) < len(case.sources):
        return None
    known, there = _terms(case.within, case.language), _terms(case.text, case.language)
    if any(not _met(frozenset({one}), known | _LIGHT) for one in there):
        return None
    names = _name_terms(_participants(case), case.language)
    for place, source in enumerate(case.kept, 1):
        for clause in _clauses(source.text):
            line = _line(clause, case.language)
            if len(_plain(clause)) == 1 and not unspaced(clause):
                continue
            # Its topic comes back anyway: of two notes about Anna, Anna is told.
            topic = line[0] if len(line) > 1 else frozenset[str]()
            own = [
                one
                for one in _terms(clause, case.language) - names - topic
                if one not in _LIGHT | _ROLES and not _is_function(one)
            ]
            if own and not any(_met(frozenset({one}), there) for one in own) and not _common(clause, case.text):
                return f"{clause!r} of s{place} is not in the text"
    return None


def _word_lost(case: _Case) -> str | None:
    """A word that went without a trace: what stood around it stands side by side, and nothing new is said."""
    if case.gone or unspaced(case.text):
        return None
    known, there = _terms(case.within, case.language), _terms(case.text, case.language)
    if any(not _met(frozenset({one}), known) for one in there):
        return None
    told = [word for clause in _clauses(case.text) for word in (*_plain(clause), "")]
    beside = set(pairwise(told))
    for source in case.kept:
        for clause in _clauses(source.text):
            words = _plain(clause)
            for at in range(1, len(words) - 1):
                terms = _terms(words[at], case.language) - _ROLES - _LIGHT
                if words[at] in _NAMING:
                    continue
                if terms and not _met(terms, there) and (words[at - 1], words[at + 1]) in beside:
                    return f"{words[at]!r} of {clause!r} is not in the text"
    return None


_ARTICLES: Final = frozenset(
    [
        "the",
        "a",
        "an",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "des",
        "ein",
        "eine",
        "einen",
        "einem",
        "einer",
        "le",
        "la",
        "les",
        "l",
        "un",
        "une",
        "el",
        "los",
        "las",
        "una",
        "il",
        "lo",
        "gli",
        "i",
        "o",
        "os",
        "as",
        "um",
        "uma",
        "de",
        "het",
        "een",
    ]
)


def _plain(clause: str) -> list[str]:
    return [word for one in _WORD.findall(clause) if (word := one.casefold()) not in _ARTICLES]


def _line(clause: str, language: str) -> list[frozenset[str]]:
    return [terms for word in _WORD.findall(clause) if (terms := _terms(word, language) - _ROLES)]


_WORD: Final = re.compile(r"(?<!\w)[^\W\d_]+(?:['’][^\W\d_]+)*(?!\w)")


_LIGHT: Final = frozenset(
    term
    for word in [
        "use",
        "take",
        "give",
        "get",
        "keep",
        "stay",
        "hold",
        "go",
        "goes",
        "make",
        "have",
        "put",
        "set",
        "say",
        "tell",
        "call",
        "mean",
        "carry",
        "want",
        "need",
        "like",
        "prefer",
        "provide",
        "include",
        "follow",
        "expect",
        "plan",
        "happen",
        "start",
        "begin",
        "become",
        "remain",
        "live",
        "work",
        "every",
        "each",
        "now",
        "still",
        "since",
        "because",
        "instead",
        "never",
        "only",
        "always",
        "must",
        "may",
        "can",
        "should",
        "neither",
        "nor",
        "either",
        "stop",
        "end",
        "back",
        "well",
        "just",
        "also",
        "about",
        "around",
        "currently",
        "usually",
        "generally",
        "available",
        "such",
        "thing",
        "way",
        "part",
        "please",
        "other",
        "time",
    ]
    for term in analyse(word, "english").counts
)
"""Words of so little content that one more or less says nothing."""
_NAMING: Final = frozenset(
    [
        "heißt",
        "heisst",
        "heißen",
        "appelle",
        "appelé",
        "appelée",
        "llama",
        "llamado",
        "llamada",
        "chiama",
        "chiamato",
        "chama",
        "chamado",
        "chamada",
        "heet",
        "зовут",
    ]
)


def _substituted(case: _Case) -> str | None:
    """A word that no source has stands where a source has another that the text lost: beside the same word."""
    if case.gone or case.language != "english":
        return None
    known, there = _terms(case.within, case.language), _terms(case.text, case.language)
    lost = [
        beside
        for source in case.kept
        for clause in _clauses(source.text)
        for terms, beside in _neighbours(clause, case.language)
        if not _met(terms, there)
    ]
    for clause in _clauses(case.text):
        for terms, beside in _neighbours(clause, case.language):
            if _met(terms, known | _LIGHT) or not beside:
                continue
            if any(_met(beside, other) for other in lost if other):
                return "a word that no memory has stands in the place of another"
    return None


def _neighbours(clause: str, language: str) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Each content word of a clause, with those beside it."""
    line = _line(clause, language)
    return [
        (terms, frozenset[str]().union(*line[max(0, at - 1) : at], *line[at + 1 : at + 2]))
        for at, terms in enumerate(line)
    ]


def _met(terms: frozenset[str], others: frozenset[str]) -> bool:
    return bool(terms & others) or any(_alike(one, others) for one in terms)


RULES: Final[dict[str, Rule]] = {
    "form": _form,
    "a figure was lost": _lost_figures,
    "a figure was invented": _invented_figures,
    "a name was lost": _lost_names,
    "a name was invented": _invented_names,
    "a day, colour or time was lost": _lost_marks,
    "a day, colour or time was invented": _invented_marks,
    "a no was lost": _denial_lost,
    "a no was invented": _denial_invented,
    "a no was moved": _denial_moved,
    "a relation was turned round": _turned,
    "two things were exchanged": _exchanged,
    "two values were exchanged": _swapped,
    "an old value holds": _old_as_new,
    "what holds now is not told": _newest_told,
    "a change was invented": _change_invented,
    "two values of one kind": _two_values,
    "what they agree on was lost": _agreed,
    "a clause was lost": _clause_lost,
    "a word was lost": _word_lost,
    "a word was put in the place of another": _substituted,
}
"""What each rule looks at, in order; the name is what a change and an attempt say of it."""


def unsaid(older: str, newer: str, *, apart: bool) -> bool:
    """Whether a later text shows that what an earlier one says holds no longer.

    It has a word of change or of an end, or denies what the other affirms. Where time went by between them (`apart`),
    another value of the same kind in the same words is enough.
    """
    language = language_of(f"{older} {newer}")
    if changes(newer) or _ENDED.search(newer) is not None:
        return True
    within = f"{older} {newer}"
    said = _terms(older, language)
    for clause in _clauses(newer):
        if _no(clause, within) and _denied(clause, within, language) & said:
            return True
    if not apart:
        return False
    return _other_value(older, newer)


_ENDED: Final = re.compile(
    r"(?i)(?<!\w)(?:off|over|done|finished|gone|left|went over|took over|outgr\w+|since|again|for now"
    r"|for the time being|at last|finally"
    r"|from now on|seit|wieder|vorerst|endlich|weg|depuis|de nouveau|enfin|desde|de nuevo|otra vez|por fin|dal"
    r"|di nuovo|finalmente"
    r"|de novo|enfim|снова|наконец|уже)(?!\w)|부터|드디어|다시|から|ようやく|また|终于|又|了[，。]?\Z"
)
"""Words of an end and of a beginning, beside those of change."""


def _other_value(older: str, newer: str) -> bool:
    """Whether both give a value of one kind, and not the same: a figure of one unit, a day, a name."""
    if marks(older) - marks(newer) and {kind for kind, _ in marks(older)} & {
        kind for kind, _ in marks(newer) - marks(older)
    }:
        return True
    for one in figures(older):
        for other in figures(newer):
            if one.loose or other.loose or one.values & other.values:
                continue
            if one.unit == other.unit or None in {one.unit, other.unit}:
                return True
    before = {one.key for one in _named(older) if one.sure or one.kind != "name"}
    after = {one.key for one in _named(newer) if one.sure or one.kind != "name"}
    return bool(before - after) and bool(after - before)


# ------------------------------------------------------------------------------------------------ roll-ups

LEAST_TOLD = 0.05
"""The share of a part's own words that a roll-up must tell: below it, the part might as well not have been shown."""


def unfounded(sources: Sequence[Source], text: str, *, known: str = "") -> str | None:
    """What is wrong with a text that tells its sources shorter, beside which they stay; None where it may stand.

    It may leave details out. It invents none (`known` holds what may be said without standing in a source), denies
    nothing that none denies, tells something of each, in their script, and is plain where they are and no longer.
    """
    language = language_of(" ".join(source.text for source in sources))
    fault = _form(_Case(tuple(sources), text, language))
    if fault is not None:
        return fault
    case = _Case((*sources, replace(sources[0], text=known)), text, language)
    for name in ("a figure was invented", "a name was invented", "a day, colour or time was invented"):
        if RULES[name](case) is not None:
            return name
    within = " ".join(source.text for source in sources)
    if negates(text, within) and not any(negates(source.text, within) for source in sources):
        return "the text says no where no source does"
    terms = [content_terms(untimed(source.text)) for source in sources]
    for place, every in enumerate(terms):
        # What others say too is no sign that this one was told, unless it says little else.
        own = every.difference(*(other for at, other in enumerate(terms) if at != place))
        own = own if len(own) >= FEW else every
        if own and shared(own, text) < max(1, len(own) * LEAST_TOLD):
            return f"nothing of s{place + 1} is in the text"
    if swapped([source.text for source in sources], text):
        return "the text says of one thing what is said of another"
    return other_script(text, [source.text for source in sources])
