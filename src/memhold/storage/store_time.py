"""The two times of a transaction: what its rows are dated, and what its machine's clock says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memhold.values.records import from_micros

__all__ = ["STEADY", "StoreTime", "kept_time", "store_time"]

STEADY = timedelta(days=1)
"""How far back a clock may step while dates go on from the last row's: no event is told further ahead than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreTime:
    """When a transaction takes place.

    `dated` is what its rows are dated. `clock` is the machine's clock: leases and due work go by it alone, so a store
    whose newest row is of the future waits for nothing.
    """

    dated: datetime
    clock: datetime

    def by_clock(self, at: datetime) -> datetime:
        """When that is by the clock, of a time that was reckoned from `dated`."""
        return at - (self.dated - self.clock)


def store_time(clock: datetime, last: datetime) -> StoreTime:
    """The times of a transaction that comes after one whose rows are dated `last`.

    Dates follow the clock. Where it stepped back by less than `STEADY` they stand still until it has caught up, so that
    what is told later is not dated earlier; where the last row is of a time further ahead, the clock was wrong then.
    """
    behind = timedelta() < last - clock <= STEADY
    return StoreTime(dated=last if behind else clock, clock=clock)


def kept_time(value: Any) -> datetime:
    """The date of the newest row as a store keeps it; 1970 where that can no longer be read: dates follow the clock."""
    try:
        return from_micros(int(value))
    except (TypeError, ValueError, OverflowError):
        return from_micros(0)
