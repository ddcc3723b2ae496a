"""The timeline of a memory: its values over the time when they held, what was known when, who changed it and why."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from starlette.responses import RedirectResponse, Response

from memhold.faces.ui.known_times import Span, held_then, known_by_changes, known_by_records, stands_at
from memhold.faces.ui.rendering import HEADERS
from memhold.faces.ui.rows import Row, row_of
from memhold.faces.ui.visit import Visit
from memhold.values.bounds import MAX_PAGE
from memhold.values.errors import InvalidInput, MemholdError, StoreCorrupt
from memhold.values.jsonable import parse_time
from memhold.values.records import Change, Effect, Memory, Message, State
from memhold.values.repr_parts import one_of
from memhold.verbs.scope import AsyncScope

__all__ = [
    "TOLD",
    "Bar",
    "Moments",
    "Stretch",
    "axis",
    "bars",
    "moment_of",
    "moment_part",
    "moments_asked",
    "steps_of",
    "timeline_page",
    "undo_here",
]

TOLD: Final[tuple[State, ...]] = ("active", "superseded", "retracted", "expired")
"""The states of what was told of somebody, once or still."""
_LINES: Final = 20
"""How many source lines are shown."""
_PARTS: Final = 1000
"""How finely the slider moves."""
_WIDTH: Final = 1000.0
"""The width of the drawing, in its own units."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the drawing: where it begins, and how long it is."""

    left: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A value over two times: when it held, as a bar, and when it was taken to be so, as the line below it."""

    row: Row
    left: float
    width: float
    known: tuple[Stretch, ...] = ()
    known_since: datetime | None = None
    known_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Moments:
    """What a form asks for: what held at `at`, as it was known at `known`."""

    at: datetime
    known: datetime


async def timeline_page(visit: Visit) -> Response:
    """The whole page."""
    scope, item_id = visit.scope(), visit.request.path_params["id"]
    item = await scope.get(item_id)
    told = await _told(scope, item)
    versions, spans, story = told.versions, told.spans, told.story or ()
    lines, more = await _lines(scope, item)
    return visit.part(
        "timeline.html",
        item=row_of(item),
        is_memory=isinstance(item, Memory),
        bars=bars([row_of(one) for one in versions], visit.now, spans),
        axis=axis(versions, visit.now, spans),
        lines=lines,
        more_lines=more,
        steps=[(change, steps_of(change, {one.id for one in versions} or None)) for change in reversed(story)],
        damaged=told.story is None,
    )


async def moment_part(visit: Visit) -> Response:
    """What held at a time of the first slider or field, as it is known today and as it was known at the second."""
    scope, item_id = visit.scope(), visit.request.path_params["id"]
    item = await scope.get(item_id)
    told = await _told(scope, item)
    versions, spans = told.versions, told.spans
    asked = moments_asked(visit, axis(versions, visit.now, spans))
    return visit.part(
        "moment.html",
        moment=asked.at,
        known_at=asked.known,
        held=[row_of(one) for one in stands_at(versions, asked.at)],
        known=[row_of(one) for one in held_then(versions, spans, asked.at, asked.known)],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """The values of a memory and when each was known, with its changes: None where one is damaged on the disk.

    Then the values are those that stand, and when they were known follows from their records.
    """

    versions: Sequence[Memory]
    spans: Mapping[str, Sequence[Span]]
    story: Sequence[Change] | None


async def _told(scope: AsyncScope, item: Memory | Message) -> _Told:
    try:
        story = await scope.history(item.id)
    except StoreCorrupt:
        versions = await _standing(scope, item)
        return _Told(versions=versions, spans=known_by_records(versions), story=None)
    return _Told(versions=_versions(story, item), spans=known_by_changes(story), story=story)


async def _standing(scope: AsyncScope, item: Memory | Message) -> list[Memory]:
    """What `_versions` gives, as far as it can be known without the changes."""
    if not isinstance(item, Memory):
        return []
    if item.kind != "fact" or item.subject is None:
        return [item]
    page = await scope.list(["fact"], TOLD, subject=item.subject, limit=MAX_PAGE)
    own = {one.id: one for one in page.items if (one.key, one.agent) == (item.key, item.agent)} | {item.id: item}
    return sorted(own.values(), key=_since)


def moments_asked(visit: Visit, axis: Sequence[datetime]) -> Moments:
    """The times that a form asks for: those it names, or how far its sliders are between the first time and the last.

    Where it says nothing of when it was known, that is the time itself: what would have been answered then.
    """
    first, _, last = axis

    def slid(name: str) -> datetime:
        return first + (last - first) * (min(visit.number(name, _PARTS), _PARTS) / _PARTS)

    at = moment_of(visit, "at") or slid("part")
    known = moment_of(visit, "known") or (slid("known_part") if visit.said("known_part") else at)
    return Moments(at, known)


async def undo_here(visit: Visit) -> Response:
    """Undo a change, and come back to the page that shows what stands now."""
    await visit.scope().undo(visit.said("change"), idempotency_key=visit.said("key") or None)
    return RedirectResponse(f"/ui/memories/{visit.request.path_params['id']}", 303, headers=dict(HEADERS))


def moment_of(visit: Visit, name: str) -> datetime | None:
    """A time of a form, in UTC where it names no zone; None where it is left out.

    Raises:
        InvalidInput: it is no time, or none of the years 1 to 9999.
    """
    text = visit.said(name).strip()
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput("that is no time; write it as 2026-05-01 or 2026-05-01T10:00") from None
    return parse_time(at if at.tzinfo else at.replace(tzinfo=UTC))


def _versions(story: Sequence[Change], item: Memory | Message) -> list[Memory]:
    """What stood in the place of a memory over time, each as it last stood, in the order since when it holds.

    A change may have made other memories too, as one that consolidates does: those are no versions of this one.
    """
    if not isinstance(item, Memory):
        return []
    last: dict[str, Memory] = {item.id: item}
    for change in story:
        for effect in change.effects:
            after = effect.after
            if after is not None and (after.id not in last or last[after.id].rev < after.rev):
                last[after.id] = after
    own = _of_one_line(item, last)
    return sorted((last[one] for one in own), key=_since)


def _since(one: Memory) -> tuple[datetime, datetime, str]:
    return one.valid_from, one.recorded_at, one.id


def _of_one_line(item: Memory, every: Mapping[str, Memory]) -> set[str]:
    """Which of these memories stood in the place of one: of its key where it is a fact, and what took whose place."""
    found = {item.id}
    if item.kind == "fact":
        same = (item.subject, item.key)
        found |= {one.id for one in every.values() if one.kind == "fact" and (one.subject, one.key) == same}
    grown = True
    while grown:
        followed = {every[one].superseded_by for one in found}
        linked = {one.id for one in every.values() if one.id in followed or one.superseded_by in found}
        grown = not linked <= found
        found |= linked
    return found


_LEAST: Final = 0.012
"""The least part of the axis that is drawn, seven pixels of a wide page: shorter could not be seen."""
_NONE: Final[Mapping[str, Sequence[Span]]] = {}


def bars(rows: Sequence[Row], now: datetime, spans: Mapping[str, Sequence[Span]] = _NONE) -> list[Bar]:
    """Values over one axis, from the first time that is told of to now; pure."""
    if not rows:
        return []
    first, last = _extent([(row.since, row.until) for row in rows], [row.id for row in rows], now, spans)
    whole = max((last - first).total_seconds(), 1.0)

    def drawn(since: datetime, until: datetime | None) -> Stretch:
        left = (since - first).total_seconds() / whole
        width = max(((until or last) - first).total_seconds() / whole - left, _LEAST)
        return Stretch(round(min(left, 1 - _LEAST) * _WIDTH, 1), round(width * _WIDTH, 1))

    made = []
    for row in rows:
        own, told = drawn(row.since, row.until), spans.get(row.id, ())
        made.append(
            Bar(
                row=row,
                left=own.left,
                width=own.width,
                known=tuple(drawn(one.since, one.until) for one in told),
                known_since=told[0].since if told else None,
                known_until=told[-1].until if told else None,
            )
        )
    return made


def _extent(
    held: Sequence[tuple[datetime, datetime | None]],
    ids: Sequence[str],
    now: datetime,
    spans: Mapping[str, Sequence[Span]],
) -> tuple[datetime, datetime]:
    """The first and the last time that a drawing of values tells of."""
    told = [one.since for memory_id in ids for one in spans.get(memory_id, ())]
    first = min([*(since for since, _ in held), *told], default=now - timedelta(days=1))
    return first, max([now, *(until for _, until in held if until is not None)])


def axis(
    versions: Sequence[Memory], now: datetime, spans: Mapping[str, Sequence[Span]] = _NONE
) -> tuple[datetime, datetime, datetime]:
    """Where a drawing of values begins, its middle, and where it ends."""
    held = [(one.valid_from, one.valid_to) for one in versions]
    first, last = _extent(held, [one.id for one in versions], now, spans)
    return first, first + (last - first) / 2, last


async def _lines(scope: AsyncScope, item: Memory | Message) -> tuple[list[Row], int]:
    """The lines that it names as its sources, as far as they are still there, and how many are not shown."""
    if isinstance(item, Message):
        return [row_of(item)], 0
    found = []
    for source in item.sources[:_LINES]:
        try:
            found.append(row_of(await scope.get(source)))
        except MemholdError:
            continue
    return found, max(len(item.sources) - _LINES, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a change did to one memory, in words; without the memory where that was forgotten since."""

    row: Row | None
    told: str


def steps_of(change: Change, of: Collection[str] | None = None) -> list[Step]:
    """What a change did to these memories (None: to any), and to how many others; pure."""
    own = [effect for effect in change.effects if of is None or effect.memory_id in of]
    others = len(change.effects) - len(own)
    told = [Step(row=None, told=f"and {one_of(others, 'other memory', 'other memories')} in the same change")]
    return [*(_step(effect) for effect in own), *(told if others else [])]


def _step(effect: Effect) -> Step:
    before, after = effect.before, effect.after
    if after is not None and effect.rev_before == effect.rev_after:
        return Step(row=row_of(after), told="left as it is")
    if after is None:
        return Step(row=row_of(before) if before else None, told="is gone" if before else "forgotten since")
    if before is None:
        return Step(row=row_of(after), told="is known from here on")
    told = [f"{before.state} → {after.state}"] if before.state != after.state else []
    told += [f"{before.tier}-term → {after.tier}-term"] if before.tier != after.tier else []
    told += ["pinned" if after.pinned else "unpinned"] if before.pinned != after.pinned else []
    told += ["confirmed"] if before.last_confirmed_at != after.last_confirmed_at else []
    if before.valid_to != after.valid_to and after.valid_to is not None:
        told.append(f"held until {after.valid_to:%Y-%m-%d}")
    return Step(row=row_of(after), told=", ".join(told) or "changed")
