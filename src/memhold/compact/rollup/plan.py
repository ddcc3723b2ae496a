"""Which periods are to be rolled up, and what a reader is shown of the roll-ups there are. Pure.

Level-triggered: what is wanted follows from the summaries that stand, whatever happened in between. A period that is
over and has two parts or more gets a roll-up; one that has a single part is told by that part in the level above.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memhold.upkeep.periods import LEVELS, Period, day_of
from memhold.values.records import Memory

__all__ = ["Plan", "Wanted", "planned"]

Declines = Callable[[Sequence[Memory]], bool]
EVERY = 2**62
"""No limit, as a count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A roll-up to be made: its parts, oldest first, and the roll-ups of that period that it takes the place of."""

    agent: str | None
    period: Period
    parts: tuple[Memory, ...]
    stale: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be made now, what stays apart, what stands for nothing any more, and when the next period is over."""

    wanted: tuple[Wanted, ...] = ()
    declined: tuple[Wanted, ...] = ()
    orphans: tuple[Memory, ...] = ()
    next_at: datetime | None = None


def planned(memories: Iterable[Memory], now: datetime, declines: Declines, *, most: int = EVERY) -> Plan:
    """What the active summaries and roll-ups of a scope ask for, lowest level first, `most` for each agent.

    A period waits while one below it is wanted. `declines` says of parts that they are not to be rolled up as they now
    are: then they stand for themselves in the level above. It is asked about no more than it takes to find `most`.
    """
    by_agent: dict[str | None, list[Memory]] = defaultdict(list)
    for memory in memories:
        by_agent[memory.agent].append(memory)
    plans = [_of_agent(agent, held, now, declines, most) for agent, held in by_agent.items()]
    wanted = [one for plan in plans for one in plan.wanted]
    return Plan(
        wanted=tuple(sorted(wanted, key=lambda one: (LEVELS.index(one.period.level), one.period.first))),
        declined=tuple(one for plan in plans for one in plan.declined),
        orphans=tuple(one for plan in plans for one in plan.orphans),
        next_at=min((plan.next_at for plan in plans if plan.next_at is not None), default=None),
    )


def _of_agent(agent: str | None, held: Sequence[Memory], now: datetime, declines: Declines, most: int) -> Plan:
    standing: dict[tuple[object, object], list[Memory]] = defaultdict(list)
    groups: dict[Period, list[Memory]] = defaultdict(list)
    for memory in sorted(held, key=lambda memory: (memory.event_time, memory.number)):
        if memory.kind == "rollup":
            standing[memory.metadata.get("level"), memory.metadata.get("period")].append(memory)
        elif (day := day_of(memory.event_time)) is not None:
            groups[day].append(memory)
    wanted, declined, orphans, times = list[Wanted](), list[Wanted](), list[Memory](), list[datetime]()
    waiting: set[Period] = set()
    # Of a day its windows are counted, of a week its days: a week of one day is told by that day.
    inside = Counter({day: len(parts) for day, parts in groups.items()})
    while groups:
        above: dict[Period, list[Memory]] = defaultdict(list)
        parts_of, inside = inside, Counter[Period]()
        blocked: set[Period] = set()
        for period, parts in sorted(groups.items()):
            there = standing.pop((period.level, period.name), [])
            outer = set() if period.within is None else {period.within}
            one = Wanted(agent=agent, period=period, parts=tuple(parts), stale=tuple(there))
            if period.settled_at > now:
                times.append(period.settled_at)
                continue
            if period in waiting:
                blocked |= outer
                continue
            same = [other for other in there if set(other.sources) == {part.id for part in parts}]
            if parts_of[period] > 1 and not same:
                if len(wanted) >= most or not declines(parts):
                    wanted += [one] if len(wanted) < most else []
                    blocked |= outer
                    continue
                # What stood for a part of them still does, beside the rest.
                declined.append(one)
                same = there[-1:]
            orphans += [other for other in there if parts_of[period] == 1 or other not in same[-1:]]
            for over in outer:
                above[over] += _standing_for(parts, same[-1:] if parts_of[period] > 1 else [])
                inside[over] += 1
        for over in blocked:
            above.setdefault(over, [])
        groups, waiting = above, blocked
    orphans += [one for left in standing.values() for one in left]
    return Plan(
        wanted=tuple(wanted),
        declined=tuple(declined),
        orphans=tuple(orphans),
        next_at=min(times, default=None),
    )


def _standing_for(parts: Sequence[Memory], rollup: Sequence[Memory]) -> list[Memory]:
    """What tells a period in the level above: its roll-up, and those of its parts that are not in it."""
    told_by = {source for one in rollup for source in one.sources}
    return [*rollup, *(part for part in parts if part.id not in told_by)]
