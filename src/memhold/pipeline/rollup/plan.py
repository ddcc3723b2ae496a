"""Which periods are to be rolled up, and what a reader is shown of the roll-ups there are. Pure.

Level-triggered: what is wanted follows from the summaries that stand, whatever happened in between. A period that is
over and has two parts or more gets a roll-up; one that has a single part is told by that part in the level above.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memhold.model import Memory
from memhold.pipeline.rollup.periods import LEVELS, Period, day_of

__all__ = ["Plan", "Wanted", "planned", "told"]

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


def told(candidates: Sequence[Memory], shown: Iterable[Memory], *, most: int) -> list[Memory]:
    """The roll-ups to show beside what is shown already, newest first: nothing is told twice.

    The widest one in whose period nothing is shown stands for all in it. One whose period has something shown is opened
    instead: the roll-ups in it are shown, as far as theirs have nothing shown. It goes by time, so that it holds where
    `candidates` are only some of those that there are.
    """
    days = [(one.agent, day) for one in shown if (day := day_of(one.event_time)) is not None]
    newest = {(one.agent, _period(one)): one for one in sorted(candidates, key=lambda one: one.number)}
    periods = [(one, period) for (_, period), one in newest.items() if period is not None]
    closed = [
        (one, period)
        for one, period in periods
        if not any(agent == one.agent and _holds(period, day) for agent, day in days)
    ]
    found = [
        one
        for one, period in closed
        if not any(
            other.agent == one.agent and wider.level != period.level and _holds(wider, period)
            for other, wider in closed
        )
    ]
    return sorted(found, key=lambda one: (one.event_time, one.number), reverse=True)[:most]


def _period(rollup: Memory) -> Period | None:
    """The period that a roll-up tells: that of its level in which its first part lies."""
    period = day_of(rollup.event_time)
    while period is not None and period.level != rollup.metadata.get("level"):
        period = period.within
    return period


def _holds(period: Period, other: Period) -> bool:
    return period.first <= other.first and other.end <= period.end
