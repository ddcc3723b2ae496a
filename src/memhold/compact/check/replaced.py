"""What a newer source replaced may go, and comes back only as what was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import Final

from memhold.compact.check.case import Case, Source
from memhold.compact.check.denials import NEARLY
from memhold.compact.check.figures import figures_but
from memhold.compact.check.marks import have_in_common, word_of
from memhold.compact.check.names import details_of
from memhold.compact.check.past import BARE, ends_in, is_past, is_past_beside
from memhold.compact.check.terms import (
    FEW,
    LIGHT,
    ROLES,
    alike,
    clauses_of,
    met,
    plain_words,
    stands_in,
    terms_of,
    whole_words,
    words_behind,
)
from memhold.text.change import changes
from memhold.text.figures import figures
from memhold.text.marks import marks

# ruff: noqa: RUF001 - punctuation and words of every script

__all__ = ["LEAST_OF_NEWEST", "change_invented", "left", "newest_told", "old_as_new", "two_values"]

BEHIND = 6
"""Words behind an end among which the one is that it ends."""
LEAST_OF_NEWEST = 0.4
"""The share of the words of what holds now that a text must have, beside what it replaced."""


_FROM_TO: Final = re.compile(
    r"(?<!\w)(?P<by>from|vom?|von|des?|del|desde|du|d[ao]s?|dall?[aoe]?|dai|с|из)\s++(?P<old>[^\s,.;()][^,.;()]{1,59}?)(?<!\s)\s++(?:to|into|nach|zu[rm]?|auf|à|au|vers|a"
    r"|al(?:la|lo|le)?|ai|ao|para|per|на|в|к)\s++(?P<new>[^,.;()]{2,60})",
    re.IGNORECASE,
)


_INSTEAD_OF: Final = (
    r"(?<!\w)(?:instead of|in place of|rather than|anstelle|anstatt|statt|au lieu d[eu']|en (?:vez|lugar) de"
    r"|invece d\w+|em vez de|in plaats van|вместо)(?!\w)"
)
_FROM: Final = {"english": {"from"}, "german": {"von", "vom"}}
"""The only words of a language for where something comes from: "das" is an article, and "des" too."""


_OTHER_WAYS: Final = re.compile(
    r"(?P<old>[^\s.,]{1,30})에서\s+(?P<new>[^.,]{1,30}?)(?:으로|로)\s"
    r"|(?P<old2>[^、。\s]{1,30})から(?P<new2>[^、。\s]{1,30}?)[へに]"
    r"|(?P<old6>[^.,;]{2,40}?) (?:was|were|is|are|has been|have been|got|gets) "
    r"(?:replaced|superseded|succeeded) (?:by|with) (?P<new6>[^.,;]{2,40})"
    r"|(?P<new7>[^.,;]{2,40}?) (?:has |have |had )?(?:replace[sd]|supersede[sd]|succeed(?:s|ed)) "
    r"(?!by|with)(?P<old7>[^.,;]{2,40})"
    r"|(?P<old8>[^.,;]{2,40}?) (?:wurden?|wird|werden) durch (?P<new8>[^.,;]{2,40}) ersetzt"
    r"|(?P<old9>[^.,;]{2,40}?) (?:fue|fueron|ha sido|han sido|a été|ont été) "
    r"(?:reemplazad[oa]s?|sustituid[oa]s?|remplacée?s?) (?:por|par) (?P<new9>[^.,;]{2,40})"
    r"|(?P<old4>[^\s.,]{1,30}(?: [^\s.,]{1,30})?) 대신(?:에)? (?P<new4>[^.,]{1,30})"
    r"|(?P<old5>[^、。\s]{1,30})の代わりに(?P<new5>[^、。\s]{1,30})"
    r"|(?P<oldA>[^、。\s]{1,30})(?:では|じゃ)なくて?、?(?P<newA>[^、。\s]{1,30})"
    r"|不是(?P<oldB>[^，。\s]{1,30})[，,]?而是(?P<newB>[^，。\s]{1,30})"
    r"|(?P<oldC>[^\s.,]{1,30})(?:이|가) 아니라 (?P<newC>[^.,]{1,30})"
    r"|[从從由](?P<old3>[^，。\s]{1,30}?)[换換改搬变變转轉](?:成|到|为|為|至)?(?P<new3>[^，。\s]{1,30})"
)


def old_as_new(case: Case) -> str | None:
    """A value that was replaced stands in the text as if it held: in a clause that does not say that it is past."""
    if not case.gone:
        return None
    newest = " ".join(source.text for source in case.kept)
    told = clauses_of(case.text)
    olds, news = details_of(case.gone), details_of(case.kept)
    if _backwards(case, olds, news) or _ends_another(case):
        return "the change is told the wrong way round"
    gone = case.gone[:1] if len(case.gone) > 1 else case.gone  # of those between, some may hold still
    others = " ".join(source.text for source in case.sources if source not in gone)
    old_marks = frozenset[tuple[str, str]]().union(*(marks(source.text) for source in gone)) - marks(others)
    before = frozenset[str]().union(*(terms_of(source.text, case.language) for source in case.gone))
    fresh = terms_of(newest, case.language) - before
    values = details_of(gone)
    over_by_now = [group for group in left(case) if group and group <= before]
    for clause in told:
        if is_past(clause, case.within):
            continue
        again = _told_again(clause, case)
        if is_past_beside(clause, told, case) and not (again and _says_on_its_own(told, clause, case)):
            continue
        if again:
            return f"{clause!r} holds no longer, and the text does not say so"
        there = terms_of(clause, case.language)
        if len(plain_words(clause)) > 1 and any(group <= there for group in over_by_now):
            return f"{clause!r} tells of what was left as it is"
        for one in values:
            if not stands_in(clause, one) or _said_so(clause, one, case):
                continue
            if not figures(one) and stands_in(newest, one) and clause.strip(" .").casefold() == one.casefold():
                continue  # "Elio, her son, ...": whom it is about, and nothing of them yet
            if figures(one) or not fresh & terms_of(clause, case.language):
                return f"{one!r} holds no longer, and the text does not say so"
            if not stands_in(newest, one) and any(_joined(clause, one, other) for other in news if other not in olds):
                return f"{one!r} holds no longer, and the text joins it to what does"
        for kind, one in sorted(marks(clause) & old_marks):
            if kind not in {"relative", "frequency"} and not fresh & terms_of(clause, case.language):
                return f"a {kind} holds no longer ({word_of(kind, one, clause)})"
    return None


_NOW_FOR: Final = re.compile(rf"(?P<new>[^,.;()]{{2,80}})\s{_INSTEAD_OF}\s(?P<old>[^,.;()]{{2,60}})", re.IGNORECASE)


def _backwards(case: Case, olds: Sequence[str], news: Sequence[str]) -> bool:
    """Whether the text says that what holds now became what was replaced."""
    before = _grams(" ".join(source.text for source in case.gone), case)
    after = _grams(" ".join(source.text for source in case.kept), case)
    said = [way for source in case.kept for way in _ways(source.text, case.language)]
    for old, new in _ways(case.text, case.language):
        older = [one for one in olds if stands_in(new, one) and not stands_in(old, one)]
        newer = [one for one in news if stands_in(old, one) and one not in olds]
        if older and newer:
            return True
        left, reached = _grams(old, case), _grams(new, case)
        fresh, past = after - before, before - after
        if left & fresh and not left & past and reached & past and not reached & fresh:
            return True
        for start, end in ((_grams(one, case), _grams(other, case)) for one, other in said):
            if left & (end - start) and reached & (start - end):
                return True
    return False


def _ways(text: str, language: str) -> Iterator[tuple[str, str]]:
    """What a text says that something left, with what it reached: "from Monday to Friday"."""
    for match in _FROM_TO.finditer(text):
        by = match["by"].casefold()
        if by in _FROM.get(language, {by}):
            yield match["old"], match["new"]
    for pattern in (_OTHER_WAYS, _NOW_FOR):
        yield from _sides(pattern, text)


def _sides(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    """What went and what came, in each place that a pattern of ways finds."""
    for match in pattern.finditer(text):
        sides = {name[:3]: one for name, one in match.groupdict().items() if one}
        yield sides["old"], sides["new"]


def _grams(text: str, case: Case) -> frozenset[str]:
    """The terms of a text without single characters of scripts without spaces, which are in too many words."""
    return frozenset(one for one in terms_of(text, case.language) if len(one) > 1 or one.isascii())


def _ends_another(case: Case) -> bool:
    """Whether the text ends what the newer memory goes over to, and tells of what that one ends."""
    newer = " ".join(source.text for source in case.kept)
    said, kept, there = _ended(newer, case), terms_of(newer, case.language), terms_of(case.text, case.language)
    every_word = terms_of(case.within, case.language)
    return any(
        (ended & kept and all(not ended & other and other & there for other in said[word]))
        or (not met(ended, every_word) and not any(other & there for other in said[word]))
        for word, every in _ended(case.text, case).items()
        if word in said
        for ended in every
    )


_BY: Final = re.compile(r"(?i)\s(?:by|par|por|d[ao]|door|durch)\s")


def _ended(text: str, case: Case) -> dict[str, set[frozenset[str]]]:
    """The words of an end, each with the terms of the content words that stand behind it in a clause."""
    found: dict[str, set[frozenset[str]]] = {}
    for clause in clauses_of(text):
        for start, end in ends_in(clause):
            if _BY.match(clause, end):
                continue  # "was replaced by that": what is over stands before it
            behind = (terms_of(one, case.language) for one in islice(words_behind(clause, end), BEHIND))
            if (ended := next((one for one in behind if one), None)) is not None:
                found.setdefault(clause[start:end].casefold(), set()).add(ended)
    return found


def _told_again(clause: str, case: Case) -> bool:
    """Whether a clause is one of a replaced source nearly word for word, and no kept source says so too."""
    own = whole_words(clause, case.language) - ROLES
    if len(own) < 2:
        return False

    def nearest(sources: Sequence[Source]) -> float:
        every = [whole_words(one, case.language) - ROLES for source in sources for one in clauses_of(source.text)]
        return max((len(own & one) / len(own | one) for one in every if one), default=0.0)

    still = any(own <= whole_words(one, case.language) for source in case.kept for one in clauses_of(source.text))
    return not still and nearest(case.gone) >= NEARLY > nearest(case.kept)


def left(case: Case) -> list[frozenset[str]]:
    """The terms of each thing that the newer memory says is over: in a clause of an end, or behind "instead of"."""
    over: list[frozenset[str]] = []
    holds = set[str]()
    for source in case.kept:
        for clause in clauses_of(source.text):
            stays, _, instead = _INSTEAD.sub("\0", clause, count=1).partition("\0")
            over.append(_grams(instead, case))
            for old, new in _sides(_OTHER_WAYS, stays):
                over.append(_grams(old, case) - _grams(new, case))
                stays = stays.replace(old, " ")
            terms = _grams(stays, case)
            if len(terms) > BARE or not is_past(stays, case.within):
                holds |= terms
            elif _AND_GOES_ON.match(source.text, source.text.find(clause) + len(clause)) or _has_subject(stays, case):
                # "Ivo gave it up and sings": who did goes on. "Marek left the blog": the blog goes on without him.
                if not _DEPARTS.search(stays):
                    over += [_grams(stays[end:], case) for _, end in ends_in(stays)]
            else:
                ends = frozenset[str]().union(*(_grams(stays[start:end], case) for start, end in ends_in(stays)))
                over.append(terms - ends)
    return [group - holds - ROLES - LIGHT for group in over]


def _has_subject(clause: str, case: Case) -> bool:
    """Whether content stands before the words of an end and behind them: who ended something, and what."""
    ends = ends_in(clause)
    return any(_grams(clause[:start], case) - ROLES and _grams(clause[end:], case) - ROLES for start, end in ends)


_DEPARTS: Final = re.compile(
    r"(?i)(?<!\w)(?:left|leaves?|quit|resigned|retired|withdrew|verlassen|verließ|quitt\w+|dejó|deixou"
    r"|lasciat\w+|verliet)(?!\w)"
)
"""Words for somebody who goes from what goes on."""
_AND_GOES_ON: Final = re.compile(r"(?i),?\s(?:and|und|et|y|e|en|и)\s")
_INSTEAD: Final = re.compile(_INSTEAD_OF, re.IGNORECASE)


def _says_on_its_own(told: Sequence[str], clause: str, case: Case) -> bool:
    """Whether the clause before this one tells of something else: it is no mere "before that" of this one."""
    at = told.index(clause)
    return at > 0 and bool(_grams(told[at - 1], case) - _grams(clause, case) - ROLES - LIGHT)


def _joined(clause: str, one: str, other: str) -> bool:
    """Whether two details stand in a clause as if they were one: "Halcyon Petrel"."""
    first, second = re.escape(one), re.escape(other)
    return re.search(rf"(?<!\w)(?:{first}[\s/&-]{second}|{second}[\s/&-]{first})(?!\w)", clause) is not None


_RATHER: Final = re.compile(r"(?i)\b(?:rather than|instead of|plutôt que|anstatt|statt)\b")
_PREFERS: Final = re.compile(
    r"(?i)\b(?:prefer\w*|rather|lieber|bevorzug\w*|préf[èé]r\w*|plutôt|prefi[eo]r\w*|liever|предпочита\w*)\b"
)
"""What somebody prefers may be told as this rather than that: nothing changed."""


def change_invented(case: Case) -> str | None:
    """The text says that something changed, and no source does."""
    text = _RATHER.sub(" ", case.text) if _PREFERS.search(case.within) else case.text
    if case.gone or not changes(text) or any(changes(source.text) for source in case.sources):
        return None
    return "the text says that something changed, and no memory does"


def two_values(case: Case) -> str | None:
    """Two sources give different figures of one unit, and neither has the other's: they do not say the same."""
    if case.gone:
        return None
    for one, other in combinations(case.sources, 2):
        mine, theirs = (figures_but(first, second) for first, second in ((one, other), (other, one)))
        for first in mine:
            for second in theirs:
                if first.unit is not None and first.unit == second.unit:
                    return "the memories give two values of one kind"
    return None


def newest_told(case: Case) -> str | None:
    """Of what replaced the others too few words came back."""
    if not case.gone:
        return None
    there = whole_words(case.text, case.language)
    before = frozenset[str]().union(*(whole_words(source.text, case.language) for source in case.gone))
    for source in case.kept:
        own = {one for one in whole_words(source.text, case.language) - ROLES - LIGHT - before if not changes(one)}
        if len(own) < FEW:
            silent = own and not any(one in there or alike(one, there) for one in own)
            if silent and before & there and not have_in_common(source.text, case.text):
                return "what holds now is not told"
            continue
        told = sum(one in there or alike(one, there) for one in own)
        if told < len(own) * LEAST_OF_NEWEST:
            return "what holds now is not told"
    return None


def _said_so(clause: str, one: str, case: Case) -> bool:
    """Whether a kept source says it of that detail in the same words: it is what holds now."""
    terms = terms_of(clause, case.language) - terms_of(one, case.language)
    for source in case.kept:
        for other in clauses_of(source.text):
            if (
                stands_in(other, one)
                and not is_past(other, case.within)
                and len(terms & terms_of(other, case.language)) * 2 >= len(terms)
            ):
                return True
    return False
