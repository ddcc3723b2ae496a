"""Which roll-ups are shown beside what is shown already: nothing is told twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memhold.upkeep.periods import Period, day_of
from memhold.values.records import Memory

__all__ = ["chosen_rollups"]


def chosen_rollups(candidates: Sequence[Memory], shown: Iterable[Memory], *, most: int) -> list[Memory]:
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
