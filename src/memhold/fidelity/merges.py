"""Whether a text can stand for notes: it holds every number, day, time, name, identifier and path of each. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memhold.fidelity.amounts import Amount
from memhold.fidelity.clock import Clock
from memhold.fidelity.dates import Day
from memhold.fidelity.details import Detail, Details, details_of, held
from memhold.fidelity.quotes import plain
from memhold.languages.tables import Speech, any_of, languages, speech, spoken
from memhold.text.analysis import analyse
from memhold.text.details import details, holds

__all__ = ["lost"]

Told = tuple[str, datetime]
"""The text of a note, and its time."""


def lost(survivor: str, at: datetime, replaced: Sequence[Told], *, newer: Sequence[Told] = ()) -> tuple[str, ...]:
    """The hard details that a text, written at a time, does not hold of the notes that it replaces.

    With none lost the notes are the same as it; else it only adds to them. Where `newer` notes say how it is now, a
    detail of an earlier one may go for another of its kind that they have and the text holds, one for one; so may what
    they say of it ("from 9:30 to 10:15").
    """
    texts = (survivor, *(text for text, _ in (*replaced, *newer)))
    codes = tuple(sorted({code for text in texts for code in spoken(text)}))
    tongue = speech(spoken(" ".join(texts))[:1])
    own = details_of(survivor, codes, at)
    found: list[str] = []
    over: list[Details] = []
    for text, said in sorted(replaced, key=lambda one: one[1]):
        note = details_of(text, codes, said)
        after = [one for one in newer if one[1] > said]
        gone = [one for one in _gone(note, own) if not any(held(one, before) for before in over)]
        left = _left(gone, [one for other, when in after for one in details_of(other, codes, when).each], note, own)
        names = [
            one
            for one in _gone_names(note, text, survivor, tongue)
            if not any(_named(one, before.text, tongue) for before in over)
        ]
        left += _left_names(names, [other for other, _ in after], text, survivor, tongue)
        left += [] if after else _gone_parts(text, survivor, own, codes)
        found += left
        over += [] if left or not after else [note]
    return tuple(dict.fromkeys(found))


def _gone(note: Details, own: Details) -> list[Detail]:
    return [one for one in note.each if (one.meant is None or one.meant.sure) and not held(one, _as_exact(own, one))]


def _left(gone: Sequence[Detail], newer: Sequence[Detail], note: Details, own: Details) -> list[str]:
    """Those of the details that are gone for which no newer one came that the text holds."""
    instead = [one for one in newer if not held(one, note) and held(one, own)]
    left: list[str] = []
    for detail in gone:
        place = next((place for place, one in enumerate(instead) if _of_one_kind(detail, one)), None)
        if place is None:
            left.append(detail.text)
        else:
            instead.pop(place)
    return left


def _of_one_kind(detail: Detail, other: Detail) -> bool:
    """Whether one detail may have come in the place of another: both a day, a path, a number of one measure."""
    if isinstance(detail.meant, Amount) and isinstance(other.meant, Amount) and detail.meant.kind and other.meant.kind:
        return detail.meant.kind == other.meant.kind
    return detail.kind == other.kind


def _as_exact(own: Details, detail: Detail) -> Details:
    """A text without the days that say less than a detail: "in June" does not hold "the 9th of June"."""
    if not isinstance(detail.meant, Day):
        return own
    most = _length(detail.meant)
    kept = tuple(one for one in own.each if not isinstance(one.meant, Day) or _length(one.meant) <= most)
    return replace(own, each=kept)


def _length(day: Day) -> int:
    """Among how many days the one is that is meant, at least."""
    return min((end - start).days for start, end in day.ranges)


def _gone_names(note: Details, text: str, survivor: str, own: Speech) -> list[str]:
    # What is a day or a number is held as that, or not.
    read = {word for one in note.each for word in one.text.split()}
    names = (name for name in _names(text, own) if not read.issuperset(plain(name).split()))
    return [name for name in names if not _named(name, survivor, own)]


def _left_names(gone: Sequence[str], newer: Sequence[str], text: str, survivor: str, own: Speech) -> Sequence[str]:
    """The names that are gone; none where as many came instead."""
    came = {name for one in newer for name in _names(one, own)}
    instead = [name for name in came if not _named(name, text, own) and _named(name, survivor, own)]
    return gone if len(gone) > len(instead) else ()


def _names(text: str, own: Speech) -> list[str]:
    """The names of a text; where every noun has a capital, those behind a bare preposition or another noun."""
    found = [one for one in details(text) if one.kind == "name" and not own.has("people", "kin", plain(one.text))]
    code = [one.text for one in details(text) if one.kind == "code"]
    if not any(languages()[code]["words"]["capital_nouns"] for code in own.codes):
        # The first word of a sentence is a name before "is" or "moved"; before a plural it may be a verb.
        verb = rf"\s(?:{'|'.join(own.words('words', 'behind_names'))}|[a-z]+ed)(?!\w)"
        return code + [one.text for one in found if one.sure or re.search(re.escape(one.text) + verb, text)]
    before = "|".join(own.words("words", "before_names"))
    behind = rf"(?:\b(?:{before})|[A-ZÄÖÜ]\w+(?<!s))\s(?:%s)(?!\w)"
    return code + [one.text for one in found if re.search(behind % re.escape(one.text), text)]


def _gone_parts(text: str, survivor: str, own: Details, codes: tuple[str, ...]) -> list[str]:
    """The parts of the day that are gone, unless a time of the clock says when."""
    parts = speech(codes).table("clock", "parts")
    told, kept = ({parts[word]: word for word in parts if _has_word(word, one)} for one in (text, survivor))
    return [] if any(isinstance(one.meant, Clock) for one in own.each) else [told[part] for part in told.keys() - kept]


def _has_word(word: str, text: str) -> bool:
    return re.search(any_of([word]), plain(text)) is not None


def _named(name: str, text: str, own: Speech) -> bool:
    """Whether a text has a name, in any form of the word."""
    if plain(name) in plain(text) or any(holds(text, one) for one in details(name)):
        return True
    language = next((languages()[code]["stemmer"] for code in own.codes), "") or None
    return analyse(name, language).counts.keys() <= analyse(text, language).counts.keys()
