"""Which memories are past what the user chose to keep: by age, by inactivity, by count. Pure decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from holdfast.answers import Retained
from holdfast.errors import InvalidInput
from holdfast.model import Kind, Memory
from holdfast.pipeline.sight import seen
from holdfast.transaction import Listing, ReadTx

__all__ = ["KEPT_KINDS", "Retention", "overdue", "past"]

KEPT_KINDS: tuple[Kind, ...] = ("fact", "note")
"""Summaries and RAW stand for windows of the journal: without one its window would be consolidated again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What is kept; an absent rule keeps everything.

    `older_than` goes by event time, `unused_for` by the last use: the last evidence of it, or its making, so that what
    was never used has as long as what was used when it was made. `most` keeps those that were used last, of each kind.
    """

    kinds: tuple[Kind, ...] = KEPT_KINDS
    older_than: timedelta | None = None
    unused_for: timedelta | None = None
    most: int | None = None

    def __post_init__(self) -> None:
        if not set(self.kinds) <= set(KEPT_KINDS) or not self.kinds:
            raise InvalidInput(f"kinds are {self.kinds!r:.80}; pass some of {', '.join(KEPT_KINDS)}")
        if self.older_than is None and self.unused_for is None and self.most is None:
            raise InvalidInput("say what to keep: pass older_than, unused_for or most")
        for name in ("older_than", "unused_for"):
            given = getattr(self, name)
            if given is not None and (not isinstance(given, timedelta) or given <= timedelta(0)):
                raise InvalidInput(f"{name} is {given!r:.40}; pass a timedelta above zero")
        if self.most is not None and (type(self.most) is not int or self.most < 0):
            raise InvalidInput(f"most is {self.most!r:.40}; pass a number from 0")


def past(tx: ReadTx, retention: Retention) -> tuple[Retained, ...]:
    """The active memories of the scope that the rules do not keep, with why; pinned ones are always kept."""
    held = seen(tx, tx.list_memories(Listing(kinds=retention.kinds, session=tx.scope.session, limit=2**62)))
    used = {memory.id: memory.created_at for memory in held}
    for one in tx.evidence(list(used)):
        # A statement may be of another time than that of its telling: only what was asked for is a use.
        if one.operation == "asked":
            used[one.memory_id] = max(used[one.memory_id], one.at)
    return overdue(held, used, retention, tx.now)


def overdue(
    memories: Sequence[Memory], used: Mapping[str, datetime], retention: Retention, now: datetime
) -> tuple[Retained, ...]:
    """Which of these go, oldest first, and by which rule."""
    found: dict[str, Retained] = {}
    for kind in retention.kinds:
        free = [memory for memory in memories if memory.kind == kind and not memory.pinned]
        for memory in free:
            if retention.older_than is not None and now - memory.event_time > retention.older_than:
                found[memory.id] = Retained(id=memory.id, kind=kind, rule="age")
            elif retention.unused_for is not None and now - used[memory.id] > retention.unused_for:
                found[memory.id] = Retained(id=memory.id, kind=kind, rule="inactivity")
        left = [memory for memory in free if memory.id not in found]
        if retention.most is not None and len(left) > retention.most:
            latest = sorted(left, key=lambda memory: (used[memory.id], memory.number))
            for memory in latest[: len(left) - retention.most]:
                found[memory.id] = Retained(id=memory.id, kind=kind, rule="count")
    return tuple(found.values())
