"""How one claim stands in the lines of a window: said, only inferred, or nothing that stands there. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from memhold.consolidate.contract import Standing
from memhold.consolidate.grounding.changes import replaced, turned_round
from memhold.consolidate.grounding.claims import Claim, Finding, Line, with_articles
from memhold.consolidate.grounding.complements import of_another_complement, of_nothing_told
from memhold.consolidate.grounding.conclusions import only_points, says_another, standing_of, translated
from memhold.consolidate.grounding.dates import ON_DAYS, calendar_stands, day_stands, month_named
from memhold.consolidate.grounding.denials import denies, turned
from memhold.consolidate.grounding.doers import done_by_another, done_by_the_assistant
from memhold.consolidate.grounding.lines import MOST_CITED, best_lines, confirming, says_it
from memhold.consolidate.grounding.names import (
    about_stands,
    name_stands,
    names_a_thing,
    names_of,
    other_place,
    own_names,
)
from memhold.consolidate.grounding.numbers import (
    age_of_nobody,
    counts_another,
    number_of_another_line,
    number_stands,
    numbers_of,
    ordinal_stands,
    ordinals_in,
)
from memhold.consolidate.grounding.offers import refused_offer
from memhold.consolidate.grounding.owners import anothers
from memhold.consolidate.grounding.places import named_in_place_of_another, named_under_another
from memhold.consolidate.grounding.quotes import quoted
from memhold.consolidate.grounding.speakers import of_the_assistant
from memhold.consolidate.grounding.subjects import other_subject, told_about
from memhold.consolidate.grounding.supposed import only_supposed
from memhold.consolidate.grounding.swaps import taken_from_another
from memhold.consolidate.grounding.words import any_word, literally
from memhold.facts.keys import nothing
from memhold.facts.moves import home, left_place
from memhold.text.analysis import language_of
from memhold.text.contrasts import swapped
from memhold.text.kin import kin_in, other_kin, strangers
from memhold.text.normal_form import normal_form
from memhold.text.times import calendar_words
from memhold.text.when import named_days

__all__ = ["WRONG_SUBJECT", "find"]


def find(claim: Claim, lines: Sequence[Line]) -> Finding:
    """Whether lines say a claim: those it cites, else others of the window, which are then what it stands on.

    What the assistant is told to have said or done stands in lines of theirs, and no word of the user's denies that.
    """
    claim = replace(claim, language=language_of(" ".join(line.text[:500] for line in lines)))
    if not claim.value:
        claim = replace(claim, core=with_articles(claim.core))
    if not of_the_assistant(claim, lines):
        return _find(claim, lines)
    theirs = [line for line in lines if not line.own]
    told = best_lines(claim, theirs)
    if says_it(claim, told) and _missing(claim, told, theirs) is None:
        return _found(told, "said")
    found = _find(claim, lines)
    return found if found.standing is None else replace(found, standing="inferred")


def _find(claim: Claim, lines: Sequence[Line]) -> Finding:
    cited = [line for line in lines if line.place in claim.cited]
    if claim.value and nothing(claim.core, claim.frame):
        denied = [line for line in cited if denies(claim, line)] or [line for line in lines if denies(claim, line)]
        if denied:
            return _found(denied, "said")
        if not any(literally(claim.core, line.text) for line in lines):
            return Finding(standing=None, reason="no line says that there is none")
    if (line := quoted(claim, [*cited, *lines])) is not None:
        return _found([line], "said")
    if not of_the_assistant(claim, lines) and refused_offer(claim, lines):
        return Finding(standing=None, reason="the user said no to it")
    if claim.value and of_another_complement(claim, lines):
        return Finding(standing=None, reason="its line says another")
    if of_nothing_told(claim, lines):
        return Finding(standing=None, reason="no line says it")
    if claim.value and only_points(claim) and all(claim.core != line.text for line in lines):
        return Finding(standing=None, reason="it only points at something")
    chosen = best_lines(claim, cited)
    if says_it(claim, chosen):
        reason = _missing(claim, chosen, lines)
        if reason is None:
            return _found([*chosen, *confirming(chosen, cited)], standing_of(claim, chosen, lines))
    others = best_lines(claim, lines)
    if says_it(claim, others) and not number_of_another_line(claim, cited, others):
        reason = _missing(claim, others, lines)
        if reason is None:
            return _found(others, standing_of(claim, others, lines))
        if reason == _OF_ANOTHER and claim.value and not any_word(claim, cited):
            return Finding(standing=None, reason=reason)
        if reason == _OF_ANOTHER and told_about(claim, own_names(lines), lines)[0]:
            # No conclusion of a third person either, where a line says of whom it is.
            return Finding(standing=None, reason=reason)
    own = [line for line in cited if line.own]
    reason = _missing(claim, cited, lines) or (None if own else "no line says it")
    if reason is not None:
        return Finding(standing=None, reason=reason)
    if claim.value and not claim.known and names_a_thing(claim.frame) and not any_word(claim, lines):
        return Finding(standing=None, reason="a name that no line has")
    if claim.value and not claim.known and says_another(claim, own, lines):
        return Finding(standing=None, reason="its line says another")
    if claim.value and translated(claim, cited):
        return Finding(standing=None, reason="in another script than it was said in")
    return Finding(standing="inferred", places=tuple(line.place for line in cited[:MOST_CITED]))


def _found(lines: Sequence[Line], standing: Standing) -> Finding:
    return Finding(standing=standing, places=tuple(line.place for line in lines[:MOST_CITED]))


def _missing(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> str | None:
    """The first kind of hard detail that the lines do not have, in plain words; None where they have all."""
    if not lines:
        return "no line says it"
    said = [span for _, _, span in named_days(claim.core, lines[0].at)]
    if any(
        not day_stands(days, lines) and not month_named(days, normal_form("NFC", claim.core)[start:end], lines)
        for days, _, (start, end) in named_days(claim.core, lines[0].at)
    ):
        return "a date that no line has"
    if not all(calendar_stands(word, lines) for word in calendar_words(ON_DAYS.sub(r"\1", claim.core))):
        return "a date that no line has"
    if any(not number_stands(one, claim.core, lines) for one in numbers_of(claim.core, said)):
        return "a number that no line has"
    if any(not ordinal_stands(place, lines) for place in ordinals_in(claim.core)):
        return "a number that no line has"
    # A question's words are not the user's: "With your family?", "No, alone".
    if swapped(claim.core, " ".join(line.text for line in lines if line.own) or " ".join(line.text for line in lines)):
        return "the other of two that exclude each other"
    numbers = list(numbers_of(claim.core, said)) if claim.value else []
    counted = len(numbers) == 1 and counts_another(claim.frame, numbers[0], lines, claim.language)
    if counted or age_of_nobody(claim, lines):
        return "a number of something else"
    if taken_from_another(claim, lines, window):
        return "said of something else"
    if only_supposed(claim, lines, window):
        return "only supposed, wished, proposed or asked"
    if any(replaced(one, claim, lines) for one in numbers_of(claim.core, said)):
        return "a number that another took the place of"
    if not all(name_stands(detail, lines, window) for detail in names_of(claim, window)):
        return "a name that no line has"
    if claim.value and home("", claim.frame) and _left(claim, lines):
        return "a place that was left"
    if other_place(claim.core, lines, window):
        return "a place that no line has"
    every = "\n".join(line.text for line in window)
    kin = kin_in(claim.about, claim.language) and not strangers(claim.about, every, claim.language)
    if claim.about and not kin and not about_stands(claim.about, window):
        return _OF_NOBODY
    if strangers(claim.whole, every, claim.language):
        return _OF_NOBODY
    if other_subject(claim, lines, window) or other_kin(claim.core, every, claim.language) or anothers(claim, window):
        return _OF_ANOTHER
    if done_by_another(claim, lines, window) or done_by_the_assistant(claim, lines, window):
        return _OF_ANOTHER
    if named_under_another(claim, lines, window):
        return _OF_ANOTHER
    if not claim.value and named_in_place_of_another(claim, lines, window):
        return _OF_ANOTHER
    if any(turned_round(claim.core, line.text) for line in lines):
        return "the other way round"
    if turned(claim, lines, window):
        return "a yes for a no, or a no for a yes"
    return None


def _left(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether the last line with a place says that the user moved away from there."""
    naming = [line for line in lines if claim.core.casefold() in line.text.casefold()]
    return bool(naming) and left_place(max(naming, key=lambda line: line.place).text, claim.core)


_OF_ANOTHER: Final = "said of somebody else"
_OF_NOBODY: Final = "of somebody of whom no line speaks"

WRONG_SUBJECT: Final = frozenset({_OF_ANOTHER, _OF_NOBODY})
"""The reasons of what is left out since it is told of somebody or something of whom its lines do not say it."""
