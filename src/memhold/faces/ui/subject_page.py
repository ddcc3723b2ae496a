"""The timeline of a person or thing: every fact about it over one axis, and what was so at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from starlette.responses import Response

from memhold.faces.ui.known_times import Span, held_then, known_by_changes, known_by_records, stands_at
from memhold.faces.ui.rows import Row, row_of
from memhold.faces.ui.timeline_page import TOLD, Bar, axis, bars, moments_asked
from memhold.faces.ui.visit import Visit
from memhold.values.bounds import MAX_PAGE
from memhold.values.errors import NotFound, StoreCorrupt
from memhold.values.records import Memory
from memhold.verbs.scope import AsyncScope

__all__ = ["Lane", "lanes", "subject_moment", "subject_page"]

_ONCE: Final = 2
"""The revision of a fact that was told and ended, once each."""
_TRAILS: Final = 50
"""Of so many facts the changes are read, those that changed most: each is a look at the trail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """What is told of one attribute: each value as a bar, and the one that is read first."""

    attribute: str
    bars: tuple[Bar, ...]
    shown: Row


async def subject_page(visit: Visit) -> Response:
    """The whole page. Its address names one of the facts: a subject's name would stand in the histories of browsers."""
    subject, facts, more = await _facts(visit.scope(), visit.request.path_params["id"])
    spans = await _known(visit.scope(), facts)
    return visit.part(
        "subject.html",
        subject=subject,
        fact_id=visit.request.path_params["id"],
        lanes=lanes([row_of(fact) for fact in facts], visit.now, spans),
        axis=axis(facts, visit.now, spans),
        count=len(facts),
        more=more,
    )


async def subject_moment(visit: Visit) -> Response:
    """What held at a time of the first slider, as it is known today and as it was known at the second."""
    _, facts, _ = await _facts(visit.scope(), visit.request.path_params["id"])
    spans = await _known(visit.scope(), facts)
    asked = moments_asked(visit, axis(facts, visit.now, spans))
    held = sorted((row_of(fact) for fact in stands_at(facts, asked.at)), key=_by_name)
    known = sorted((row_of(fact) for fact in held_then(facts, spans, asked.at, asked.known)), key=_by_name)
    return visit.part("subject_moment.html", moment=asked.at, known_at=asked.known, held=held, known=known)


async def _facts(scope: AsyncScope, fact_id: str) -> tuple[str, Sequence[Memory], bool]:
    """The subject of a fact, what is and was told of it, and whether there is more than that."""
    fact = await scope.get(fact_id)
    if not isinstance(fact, Memory) or fact.kind != "fact" or fact.subject is None:
        raise NotFound("this is no fact, and about nobody in particular")
    page = await scope.list(["fact"], TOLD, subject=fact.subject, limit=MAX_PAGE)
    return fact.subject, page.items, page.cursor is not None


async def _known(scope: AsyncScope, facts: Sequence[Memory]) -> Mapping[str, Sequence[Span]]:
    """When each fact was taken to be so: by its changes where it had more than a beginning and an end."""
    found: dict[str, Sequence[Span]] = dict(known_by_records(facts))
    several = sorted((fact for fact in facts if fact.rev > _ONCE), key=lambda fact: -fact.rev)
    for fact in several[:_TRAILS]:
        try:
            found[fact.id] = known_by_changes(await scope.history(fact.id)).get(fact.id, found[fact.id])
        except StoreCorrupt:
            continue  # a change of it is damaged: its records tell what they can, and its own page says so
    return found


def lanes(rows: Sequence[Row], now: datetime, spans: Mapping[str, Sequence[Span]] | None = None) -> list[Lane]:
    """Facts as one lane an attribute, by its name, all over the same time; pure."""
    found: dict[str, list[Bar]] = {}
    for bar in bars(rows, now, spans or {}):
        found.setdefault((bar.row.attribute or "").casefold(), []).append(bar)
    made = []
    for _, group in sorted(found.items()):
        # What holds is read first, else what held last.
        shown = max(group, key=lambda bar: (bar.row.state == "active", bar.row.until is None, bar.row.since)).row
        made.append(Lane(attribute=shown.attribute or "", bars=tuple(group), shown=shown))
    return made


def _by_name(row: Row) -> tuple[str, datetime]:
    return (row.attribute or "").casefold(), row.since
