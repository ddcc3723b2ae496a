"""Which memories are past what the user chose to keep: by age, by inactivity, by count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from memhold.facts.remember import Writer
from memhold.history.forget import Target, forget, plan
from memhold.journal.visibility import seen
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.values.answers import Receipt, Retained
from memhold.values.errors import InvalidInput
from memhold.values.records import Change, Kind, Memory

__all__ = ["KEPT_KINDS", "Retention", "brought_back", "hide", "overdue", "past", "retained"]

KEPT_KINDS: tuple[Kind, ...] = ("fact", "note")
"""Summaries and RAW stand for windows of the journal: without one its window would be consolidated again."""

RULES: tuple[Literal["age", "inactivity", "count"], ...] = ("age", "inactivity", "count")
_REASON = "hidden by retention: "


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
                raise InvalidInput(f"{name} is {given!s:.40}; pass a span of time above zero")
        if self.most is not None and (type(self.most) is not int or self.most < 0):
            raise InvalidInput(f"most is {self.most!r:.40}; pass a number from 0")


def past(tx: ReadTx, retention: Retention) -> tuple[Retained, ...]:
    """The active memories of the scope that the rules do not keep, with why; pinned ones are always kept."""
    held = seen(tx, tx.list_memories(Listing(kinds=retention.kinds, session=tx.scope.session, limit=2**62)))
    return overdue(held, _used(tx, held), retention, tx.now)


def _used(tx: ReadTx, memories: Sequence[Memory]) -> dict[str, datetime]:
    """When each was used last: its making, or the last time that it was asked for."""
    used = {memory.id: memory.created_at for memory in memories}
    for one in tx.evidence(list(used)):
        # A statement may be of another time than that of its telling: only what was asked for is a use.
        if one.operation == "asked":
            used[one.memory_id] = max(used[one.memory_id], one.at)
    return used


def hide(tx: WriteTx, one: Retained, retention: Retention, *, writer: Writer) -> str | None:
    """Hide one that was listed, until undone; returns the change. None where it was pinned, used or went since."""
    held = [memory for memory in seen(tx, tx.find_memories([one.id])) if memory.state == "active"]
    # Whether it is one too many was decided over all of them; a pin holds at any time.
    rules = retention if one.rule == "count" else replace(retention, most=None)
    if one.rule == "count":
        stays = any(memory.pinned for memory in held)
    else:
        stays = not overdue(held, _used(tx, held), rules, tx.now)
    target = Target(ids=(one.id,))
    if not held or stays or any(m.pinned for m in plan(tx, target, sources="keep", hard=False, agent=None).memories):
        return None
    done = forget(
        tx,
        target,
        sources="keep",
        hard=False,
        writer=writer,
        reason=f"{_REASON}{one.rule}",
    )
    return done.change_id


def retained(tx: ReadTx, receipt: Receipt) -> tuple[Retained, ...]:
    """What a retention hid, from its receipt; what was forgotten since is left out."""
    found: list[Retained] = []
    for item, change_id in zip(receipt.ids, receipt.change_ids, strict=True):
        change = tx.find_change(change_id)
        rows = [*tx.hidden(by=change_id), *tx.find_memories([item])]
        memory = next((one for one in rows if one.id == item and isinstance(one, Memory)), None)
        if change is not None and memory is not None:
            rule = change.reason.removeprefix(_REASON)
            found += [
                Retained(id=item, kind=memory.kind, rule=name, change_id=change_id) for name in RULES if name == rule
            ]
    return tuple(found)


def brought_back(tx: ReadTx, changes: Sequence[Change]) -> set[str]:
    """What these changes show again that was hidden, and that is not hidden anew since by undoing them."""
    found: set[str] = set()
    for change in changes:
        if change.verb == "undo" and change.undoes is not None and change.undone_by is None:
            undone = tx.find_change(change.undoes)
            if undone is not None and undone.verb == "hide":
                found |= set(change.sources)
    return found


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
