"""What is measured, as shapes of an SVG drawing: columns in layers, and a line that grows. All pure.

Drawn by the server: a policy without inline styles allows an SVG's attributes, and ninety days need no script.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from memhold.ports.maintenance import Usage
from memhold.ports.models import Tally

__all__ = ["LAYERS", "Column", "Growth", "Layer", "Piece", "cost_columns", "growth_of", "last_days", "layers_of"]

LAYERS: Final = 5
"""How many models with their purposes have a colour of their own; the rest share one."""
_HEIGHT: Final = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What one model was used for, over all days: `number` is its colour, from 0 the dearest."""

    number: int
    model: str
    purpose: str
    usd: float
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The part of a column that is one layer's."""

    layer: int
    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One day: its pieces from the bottom up, in a drawing of 100 by 100."""

    day: date
    usd: float
    calls: int
    left: float
    width: float
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How many messages and memories there were on each day: a line and the area below it, in a drawing of 100 by 100.

    What was forgotten since is in no day: the line tells what is kept today, by when it was written.
    """

    first: date
    last: date
    before: int
    now: int
    line: str
    area: str
    days: tuple[tuple[date, int, int, float], ...]


def last_days(today: date, count: int) -> list[date]:
    """The last so many days, the oldest first; today is the last."""
    return [today - timedelta(days=ago) for ago in reversed(range(count))]


def layers_of(tallies: Sequence[Tally]) -> list[Layer]:
    """Models with what they were used for, the dearest first, then those that were called most."""
    usd: dict[tuple[str, str], float] = defaultdict(float)
    calls: dict[tuple[str, str], int] = defaultdict(int)
    for one in tallies:
        usd[one.model, one.purpose] += one.usd
        calls[one.model, one.purpose] += one.calls
    ordered = sorted(calls, key=lambda name: (-usd[name], -calls[name], name))
    return [
        Layer(number=min(place, LAYERS), model=name[0], purpose=name[1], usd=usd[name], calls=calls[name])
        for place, name in enumerate(ordered)
    ]


def cost_columns(tallies: Sequence[Tally], days: Sequence[date]) -> list[Column]:
    """A column a day, in layers by model and purpose; days without a call too.

    Where nothing has a price the plot is of calls: a model of one's own costs nothing, and is not unused.
    """
    colours = {(layer.model, layer.purpose): layer.number for layer in layers_of(tallies)}
    priced = any(one.usd for one in tallies)
    sums: dict[date, dict[int, float]] = {day: defaultdict(float) for day in days}
    for one in tallies:
        if one.day in sums:
            sums[one.day][colours[one.model, one.purpose]] += one.usd if priced else one.calls
    most = max((sum(layers.values()) for layers in sums.values()), default=0.0) or 1.0
    width = _HEIGHT / max(len(days), 1)
    return [
        Column(
            day=day,
            usd=sum(one.usd for one in tallies if one.day == day),
            calls=sum(one.calls for one in tallies if one.day == day),
            left=round(place * width, 2),
            width=round(width, 2),
            pieces=_stacked(sums[day], most),
        )
        for place, day in enumerate(days)
    ]


def _stacked(layers: Mapping[int, float], most: float) -> tuple[Piece, ...]:
    pieces, top = [], _HEIGHT
    for number in sorted(layers):
        height = layers[number] / most * _HEIGHT
        top -= height
        pieces.append(Piece(layer=number, y=round(top, 2), height=round(height, 2)))
    return tuple(pieces)


def growth_of(usage: Usage, days: Sequence[date]) -> Growth:
    """How a namespace grew over these days, by what it holds now and what was written on each of them."""
    written = {one.day: one for one in usage.days}
    counts = [0 if one is None else one.messages + one.memories for one in (written.get(f"{day}") for day in days)]
    sizes = [0 if one is None else one.bytes for one in (written.get(f"{day}") for day in days)]
    now = usage.messages + usage.memories
    before = held = max(now - sum(counts), 0)
    heights = []
    for count in counts:
        held += count
        heights.append(held)
    scale, step = max(held, 1), _HEIGHT / max(len(days) - 1, 1)
    points = [(round(place * step, 2), round(_HEIGHT - height / scale * 96, 2)) for place, height in enumerate(heights)]
    line = " ".join(f"{x:g},{y:g}" for x, y in points)
    return Growth(
        first=days[0], last=days[-1], before=before, now=now, line=line, area=f"0,100 {line} 100,100",
        days=tuple(
            (day, height, size, round(max(x - step / 2, 0), 2))
            for day, height, size, (x, _) in zip(days, heights, sizes, points, strict=True)
        ),
    )  # fmt: skip
