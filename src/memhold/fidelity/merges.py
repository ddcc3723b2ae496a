"""Whether a text can stand for notes: it holds every number, day, time, name, identifier and path of each. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from memhold.fidelity.amounts import Amount
from memhold.fidelity.dates import Day
from memhold.fidelity.details import Detail, Details, details_of, held
from memhold.fidelity.quotes import plain
from memhold.languages.tables import languages, spoken
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
    main = spoken(" ".join(texts))[:1]
    # Where every noun has a capital, none shows a name.
    named = not any(languages()[code]["words"]["capital_nouns"] for code in main)
    own = details_of(survivor, codes, at)
    found: list[str] = []
    over: list[Details] = []
    for text, said in sorted(replaced, key=lambda one: one[1]):
        note = details_of(text, codes, said)
        after = [one for one in newer if one[1] > said]
        gone = [one for one in _gone(note, own) if not any(held(one, before) for before in over)]
        left = _left(gone, [one for other, when in after for one in details_of(other, codes, when).each], note, own)
        names = [
            one for one in _gone_names(note, text, survivor) if not any(_named(one, before.text) for before in over)
        ]
        left += _left_names(names, [other for other, _ in after], text, survivor) if named else []
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


def _gone_names(note: Details, text: str, survivor: str) -> list[str]:
    # What is a day or a number is held as that, or not.
    read = {word for one in note.each for word in one.text.split()}
    return [name for name in _names(text) if not read.issuperset(plain(name).split()) and not _named(name, survivor)]


def _left_names(gone: Sequence[str], newer: Sequence[str], text: str, survivor: str) -> Sequence[str]:
    """The names that are gone; none where as many came instead."""
    instead = {name for one in newer for name in _names(one) if not _named(name, text) and _named(name, survivor)}
    return gone if len(gone) > len(instead) else ()


def _names(text: str) -> list[str]:
    return [one.text for one in details(text) if one.kind in _NAMES and one.sure]


def _named(name: str, text: str) -> bool:
    """Whether a text has a name, in any form of the word."""
    return plain(name) in plain(text) or any(holds(text, one) for one in details(name) if one.kind in _NAMES)


_NAMES: Final = frozenset({"name", "code"})
"""What is held to the letter beside what the resolver reads."""
