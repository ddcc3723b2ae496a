"""How long something is left alone: a length from a moment on, which a clock that is turned back never lengthens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

__all__ = ["Resting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resting:
    """A rest that began at a moment.

    Where the clock stands before that, it was turned back, and the rest is over: nobody knows how much of it was left,
    and to look once too early costs little.
    """

    since: datetime
    length: timedelta

    @property
    def until(self) -> datetime:
        """When it is over by a clock that was not turned."""
        return self.since + self.length

    def lasts(self, now: datetime) -> bool:
        """Whether it is not over yet."""
        return self.since <= now < self.until
