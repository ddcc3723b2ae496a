"""What somebody wrote, as a filter: by origin, by name, and by when it was written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memhold.values.errors import InvalidInput
from memhold.values.records import ORIGINS, Origin, micros

__all__ = ["Written"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What of a kind of author, of one name, and of a stretch of time; what is absent filters nothing.

    The times are those of the writing, which nobody chooses, from `since` until before `until`; what is told as an
    event's time plays no part.

    Raises:
        InvalidInput: there is no such origin, or the name is empty.
        NaiveTime: a time has no zone.
    """

    origin: Origin | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        if self.origin is not None and self.origin not in ORIGINS:
            raise InvalidInput(f"origin is {self.origin!r:.40}; pass one of {', '.join(ORIGINS)}")
        if self.actor == "":
            raise InvalidInput(f"actor is {self.actor!r:.40}; pass the name of a client, an application or a model")
        for moment in (self.since, self.until):
            if moment is not None:
                micros(moment)

    @property
    def given(self) -> bool:
        """Whether it filters at all."""
        return any(one is not None for one in (self.origin, self.actor, self.since, self.until))

    @property
    def by(self) -> bool:
        """Whether it says who."""
        return self.origin is not None or self.actor is not None

    def names(self, origin: Origin, actor: str | None, at: datetime) -> bool:
        """Whether it takes what somebody wrote at a time."""
        if (self.origin is not None and origin != self.origin) or (self.actor is not None and actor != self.actor):
            return False
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)
