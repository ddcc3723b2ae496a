"""When something was known, beside when it held: the second axis of a timeline. All pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memhold.values.records import Change, Memory

__all__ = ["Span", "held_then", "known_by_changes", "known_by_records", "stands_at"]


_SO: Final = frozenset({"active", "expired"})
"""States of what is taken to be so: what nobody asked for in a while is known all the same."""
_NEVER: Final = frozenset({"retracted", "merged"})
"""States of what held at no time of its own."""


@dataclass(frozen=True, slots=True)
class Span:
    """From when until when a value was taken to be so; until None it is.

    What ended it told until when it had held (`held_until`), or that it had `never` been so.
    """

    since: datetime
    until: datetime | None = None
    held_until: datetime | None = None
    never: bool = False


def known_by_changes(story: Sequence[Change]) -> Mapping[str, tuple[Span, ...]]:
    """When each memory of a story was taken to be so, change by change: an undo may take one up again."""
    found: dict[str, list[Span]] = {}
    for change in story:
        for effect in change.effects:
            spans = found.setdefault(effect.memory_id, [])
            so = effect.after is not None and effect.after.state in _SO
            open_now = bool(spans) and spans[-1].until is None
            if so and not open_now:
                spans.append(Span(change.at))
            elif open_now and not so:
                spans[-1] = _ended(spans[-1].since, change.at, effect.after)
    return {memory_id: tuple(spans) for memory_id, spans in found.items()}


def known_by_records(facts: Iterable[Memory]) -> Mapping[str, tuple[Span, ...]]:
    """The same of many memories, by their records alone: from when each was told until what ended it was told."""
    every = {fact.id: fact for fact in facts}
    began: dict[tuple[str | None, datetime], datetime] = {}
    for fact in every.values():
        place = fact.key, fact.valid_from
        began[place] = min(fact.created_at, began.get(place, fact.created_at))
    found = {}
    for fact in every.values():
        span = Span(fact.created_at)
        if fact.state not in _SO:
            by = every.get(fact.superseded_by or "")
            told = fact.recorded_at if by is None else by.created_at
            # A correction of what took its place stands there now, and was told later than that.
            if fact.valid_to is not None and fact.valid_from < fact.valid_to:
                told = min(told, began.get((fact.key, fact.valid_to), told))
            span = _ended(fact.created_at, max(told, fact.created_at), fact)
        found[fact.id] = (span,)
    return found


def _ended(since: datetime, until: datetime, after: Memory | None) -> Span:
    never = after is None or after.state in _NEVER
    return Span(since, until, held_until=None if after is None else after.valid_to, never=never)


def stands_at(versions: Sequence[Memory], moment: datetime) -> list[Memory]:
    """Which values held at a time, as it is known today: what was never true held at none."""
    return [
        one
        for one in versions
        if one.state not in _NEVER and one.valid_from <= moment and (one.valid_to is None or moment < one.valid_to)
    ]


def held_then(
    versions: Sequence[Memory], spans: Mapping[str, Sequence[Span]], moment: datetime, known: datetime
) -> list[Memory]:
    """Which values held at a time, as it was known by another one.

    What was taken to be so by then held from its beginning on: its end was told later. What had ended by then held
    until its end, unless it was told to have never been.
    """
    found = []
    for one in versions:
        told = [span for span in spans.get(one.id, ()) if span.since <= known]
        if not told:
            continue
        last = told[-1]
        if last.until is None or known < last.until:
            over = one.state in _SO and one.valid_to is not None and one.valid_to <= moment
            if one.valid_from <= moment and not over:
                found.append(one)
        elif not last.never and one.valid_from <= moment and (last.held_until is None or moment < last.held_until):
            found.append(one)
    return found
