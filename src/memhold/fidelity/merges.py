"""Whether a text can stand for notes: it holds every number, day, time, name, identifier and path of each. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from memhold.fidelity.details import details_of, held
from memhold.fidelity.quotes import plain
from memhold.languages.tables import languages, spoken
from memhold.text.details import details, holds

__all__ = ["lost"]


def lost(survivor: str, at: datetime, replaced: Sequence[tuple[str, datetime]]) -> tuple[str, ...]:
    """The hard details that a text, written at a time, does not hold of the notes that it replaces, each with its time.

    With none lost the notes are the same as it; else it only adds to them.
    """
    codes = tuple(sorted({code for text in (survivor, *(text for text, _ in replaced)) for code in spoken(text)}))
    own = details_of(survivor, codes, at)
    found = (
        one
        for text, said in replaced
        for one in (
            *(
                detail.text
                for detail in details_of(text, codes, said).each
                if (detail.meant is None or detail.meant.sure) and not held(detail, own)
            ),
            *_names(text, survivor, codes),
        )
    )
    return tuple(dict.fromkeys(found))


def _names(text: str, survivor: str, codes: Sequence[str]) -> Iterator[str]:
    """The names of a text that another has not, in no form of the word; none where every noun has a capital."""
    if any(languages()[code]["words"]["capital_nouns"] for code in codes):
        return
    for detail in details(text):
        if (
            detail.kind == "name"
            and detail.sure
            and not holds(survivor, detail)
            and plain(detail.text) not in plain(survivor)
        ):
            yield detail.text
