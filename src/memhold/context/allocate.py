"""In what order entries are told, and how much of each: one order for every budget, of which a budget takes a prefix.

Entries stand in lanes, best first. The lanes take turns as in fair queueing: next comes the step after which its lane
would have spent the least for its share. So each lane has its part of any room, a lane with nothing left leaves its
part to the others, and what a smaller room holds a larger one holds too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from memhold.context.render import BRIEF_TOKENS, Entry, Line, short_day

__all__ = ["Lane", "Step", "steps"]

GROWN = 2
"""An entry is told in brief first, and whole after as many further ones are brief as its place times this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Entries of one kind, best first, and their share of the room."""

    share: float
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """An entry as it is told from here on, and what that costs beside what was told before."""

    entry: Entry
    line: Line
    cost: int


def steps(lanes: Sequence[Lane], count: Callable[[str], int]) -> Iterator[Step]:
    """The order in which what the lanes hold is told; entries are rendered as they come up.

    A memory whose messages are all told by then waits until everything else is.
    """
    spent = [0.0] * len(lanes)
    rows = [_rows(lane.entries) for lane in lanes]
    told: set[str] = set()
    later: list[Step] = []
    heads: list[tuple[float, int, Step]] = []

    def come_up(at: int) -> None:
        step = next(rows[at], None)
        if step is not None:
            heappush(heads, ((spent[at] + step.cost) / lanes[at].share, at, step))

    def tell(step: Step) -> Step:
        headings = {step.line.heading, f"{step.line.heading}{step.line.day}"} - told
        beside = sum(count(short_day(step.line.day) if one != step.line.heading else one) for one in headings)
        told.update((step.entry.id, *headings))
        return replace(step, cost=step.cost + beside)

    for at, lane in enumerate(lanes):
        if lane.share > 0:
            come_up(at)
    while heads:
        _, at, step = heappop(heads)
        if step.entry.rests_on and told.issuperset(step.entry.rests_on):
            later.append(step)
        else:
            yield tell(step)
            spent[at] += step.cost
        come_up(at)
    yield from map(tell, later)


def _rows(entries: Sequence[Entry]) -> Iterator[Step]:
    """The entries of one lane: each in brief, and whole when others have had their turn."""
    briefs: list[Line] = []
    grown = 0
    for at, entry in enumerate(entries):
        line = entry.cut(BRIEF_TOKENS)
        briefs.append(line)
        yield Step(entry=entry, line=line, cost=line.cost)
        while grown * GROWN <= at - grown and grown <= at:
            yield from _growth(entries[grown], briefs[grown])
            grown += 1
    for place in range(grown, len(entries)):
        yield from _growth(entries[place], briefs[place])


def _growth(entry: Entry, brief: Line) -> Iterator[Step]:
    if not brief.whole and (line := entry.whole).cost > brief.cost:
        yield Step(entry=entry, line=line, cost=line.cost - brief.cost)
