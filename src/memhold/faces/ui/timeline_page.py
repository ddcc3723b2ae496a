"""The timeline of a memory: its values over the time when they held, what was known when, who changed it and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from starlette.responses import RedirectResponse, Response

from memhold.faces.ui.rendering import HEADERS
from memhold.faces.ui.rows import Row, row_of
from memhold.faces.ui.visit import Visit
from memhold.values.errors import InvalidInput, MemholdError
from memhold.values.jsonable import parse_time
from memhold.values.records import Change, Effect, Memory, Message
from memhold.verbs.scope import AsyncScope

__all__ = [
    "Bar",
    "axis",
    "bars",
    "known_at",
    "moment_asked",
    "moment_of",
    "moment_part",
    "stands_at",
    "timeline_page",
    "undo_here",
]

_LINES: Final = 20
"""How many source lines are shown."""
_PARTS: Final = 1000
"""How finely the slider moves."""
_WIDTH: Final = 1000.0
"""The width of the drawing, in its own units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A value as a bar over the time when it held: where it begins, how long it is, and whether it goes on."""

    row: Row
    left: float
    width: float
    open: bool


async def timeline_page(visit: Visit) -> Response:
    """The whole page."""
    scope, item_id = visit.scope(), visit.request.path_params["id"]
    item = await scope.get(item_id)
    story = await scope.history(item_id)
    versions = _versions(story, item)
    return visit.part(
        "timeline.html",
        item=row_of(item),
        is_memory=isinstance(item, Memory),
        bars=bars([row_of(one) for one in versions], visit.now),
        axis=axis(versions, visit.now),
        lines=await _lines(scope, item),
        steps=[(change, _steps(change)) for change in reversed(story)],
    )


async def moment_part(visit: Visit) -> Response:
    """What held at a time of the slider or the field, and what was known by then."""
    scope, item_id = visit.scope(), visit.request.path_params["id"]
    item = await scope.get(item_id)
    story = await scope.history(item_id)
    versions = _versions(story, item)
    moment = moment_asked(visit, versions)
    held = [row_of(one) for one in stands_at(versions, moment)]
    return visit.part("moment.html", moment=moment, held=held, known=_known(item, story, moment))


def moment_asked(visit: Visit, versions: Sequence[Memory]) -> datetime:
    """The time that a form asks for: the one it names, or how far its slider is between the first value and now."""
    first, _, last = axis(versions, visit.now)
    return moment_of(visit, "at") or first + (last - first) * (min(visit.number("part", _PARTS), _PARTS) / _PARTS)


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
    """Each memory of the story as it last stood, in the order of the time since when it holds."""
    last: dict[str, Memory] = {item.id: item} if isinstance(item, Memory) else {}
    for change in story:
        for effect in change.effects:
            after = effect.after
            if after is not None and (after.id not in last or last[after.id].rev < after.rev):
                last[after.id] = after
    return sorted(last.values(), key=lambda one: (one.valid_from, one.recorded_at, one.id))


def bars(rows: Sequence[Row], now: datetime) -> list[Bar]:
    """Values as bars over one axis, from the first beginning to now; pure."""
    if not rows:
        return []
    first = min(row.since for row in rows)
    last = max([now, *(row.until for row in rows if row.until is not None)])
    whole = max((last - first).total_seconds(), 1.0)
    made = []
    for row in rows:
        left = (row.since - first).total_seconds() / whole
        end = ((row.until or last) - first).total_seconds() / whole
        made.append(
            Bar(
                row=row,
                left=round(left * _WIDTH, 1),
                width=round(max(end - left, 0.006) * _WIDTH, 1),
                open=row.until is None,
            )
        )
    return made


def axis(versions: Sequence[Memory], now: datetime) -> tuple[datetime, datetime, datetime]:
    """Where a drawing of values begins, its middle, and now."""
    first = min((one.valid_from for one in versions), default=now - timedelta(days=1))
    return first, first + (now - first) / 2, now


def stands_at(versions: Sequence[Memory], moment: datetime) -> list[Memory]:
    """Which values held at a time, as it is known today: what was never true held at none."""
    return [
        one
        for one in versions
        if one.state not in {"retracted", "merged"}
        and one.valid_from <= moment
        and (one.valid_to is None or moment < one.valid_to)
    ]


def _known(item: Memory | Message, story: Sequence[Change], moment: datetime) -> list[Row] | None:
    if not isinstance(item, Memory) or item.kind != "fact":
        return None
    return [row_of(one) for one in known_at(story, moment)]


def known_at(story: Sequence[Change], moment: datetime) -> list[Memory]:
    """What was taken to hold at a time by what had been told by then: the changes up to it, one after another; pure."""
    last: dict[str, Memory] = {}
    for change in story:
        for effect in change.effects if change.at <= moment else ():
            if effect.after is None:
                last.pop(effect.memory_id, None)
            else:
                last[effect.memory_id] = effect.after
    return [one for one in stands_at([*last.values()], moment) if one.state == "active"]


async def _lines(scope: AsyncScope, item: Memory | Message) -> list[Row]:
    """The lines that it names as its sources, as far as they are still there."""
    if isinstance(item, Message):
        return [row_of(item)]
    found = []
    for source in item.sources[:_LINES]:
        try:
            found.append(row_of(await scope.get(source)))
        except MemholdError:
            continue
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a change did to one memory, in words; without the memory where that was forgotten since."""

    row: Row | None
    told: str


def _steps(change: Change) -> list[Step]:
    return [_step(effect) for effect in change.effects]


def _step(effect: Effect) -> Step:
    before, after = effect.before, effect.after
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
