"""Roll-ups stand only while each of their parts does: what takes one away, and with it all above."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from memhold.facts.revisions import revise
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.upkeep.periods import DUE_ROLLUP
from memhold.values.records import Effect, Kind, Memory

__all__ = [
    "_above",
    "_active_of",
    "_of_periods",
    "_period",
    "_superseded",
    "founded",
    "joined",
    "withdraw",
    "withdrawn",
]

_PAGE = 1000


def _superseded(tx: WriteTx, old: Memory, *, by: str | None = None) -> Effect:
    # It was a telling, not a truth of the world: there is no time at which it holds.
    return revise(tx, old, state="superseded", valid_to=old.valid_from, superseded_by=by)


def withdraw(tx: WriteTx, ids: Iterable[str]) -> list[Effect]:
    """Take away every roll-up that stands on one of these, which do not stand any more, and all above it.

    What is left is looked at again: the period is rolled up anew.
    """
    return _withdrawn(tx, list(ids), [])


def withdrawn(tx: WriteTx, rollups: Sequence[Memory]) -> list[Effect]:
    """Take away these roll-ups, as far as they stand as they were read, and all above them."""
    now = tx.find_memories([one.id for one in rollups])
    effects = [_superseded(tx, one) for one in now if one.state == "active"]
    return _withdrawn(tx, [one.id for one in now], effects)


def founded(tx: WriteTx, ids: Iterable[str]) -> list[Effect]:
    """After an undo that touched these: no roll-up stands on what does not stand or is hidden, or beside its like."""
    touched = [one for one in dict.fromkeys(ids) if one.startswith("mem_")]
    there = tx.find_memories(touched)
    standing = {one.id for one in there if one.state == "active"}
    gone = [one for one in touched if one not in standing]
    if any(one.kind in {"summary", "rollup"} for one in there):
        tx.put_due(*DUE_ROLLUP, tx.now)
    back = [one for one in there if one.kind == "rollup" and one.id in standing]
    hollow = [one for one in back if len(_active(tx, one.sources)) < len(one.sources)]
    return [*withdrawn(tx, [*hollow, *_beside(tx, [one for one in back if one not in hollow])]), *withdraw(tx, gone)]


def _beside(tx: ReadTx, back: Sequence[Memory]) -> list[Memory]:
    """What tells the period of a roll-up that stands again: it was made while that one was away."""
    newest = {_period(one): one.id for one in sorted(back, key=lambda one: one.number)}
    there = _of_periods(tx, newest.keys()) if newest else []
    return [one for one in there if one.id not in newest.values()]


def _of_periods(tx: ReadTx, periods: Collection[tuple[object, ...]]) -> list[Memory]:
    """The roll-ups that stand for these periods."""
    return [one for one in _active_of(tx, "rollup") if _period(one) in periods]


def _above(tx: ReadTx, parts: Sequence[str]) -> list[Memory]:
    """The roll-ups that tell one of these, standing or not."""
    return [one for one in tx.derived(list(dict.fromkeys(parts))) if one.kind == "rollup"] if parts else []


def _period(rollup: Memory) -> tuple[object, ...]:
    return rollup.agent, rollup.metadata.get("level"), rollup.metadata.get("period")


def _active_of(tx: ReadTx, *kinds: Kind) -> list[Memory]:
    found: list[Memory] = []
    after = -1
    while page := tx.list_memories(Listing(kinds=kinds, after=after, limit=_PAGE)):
        found += page
        after = page[-1].number
    return found


def _active(tx: ReadTx, ids: Sequence[str]) -> list[Memory]:
    return [one for one in tx.find_memories(ids) if one.state == "active"]


def joined(effects: Iterable[Effect]) -> tuple[Effect, ...]:
    """The effects of one change, each memory once: from its first revision to its last."""
    found: dict[str, Effect] = {}
    for effect in effects:
        before = found.get(effect.memory_id)
        start = effect.rev_before if before is None else before.rev_before
        found[effect.memory_id] = replace(effect, rev_before=start)
    return tuple(found.values())


def _withdrawn(tx: WriteTx, frontier: list[str], effects: list[Effect]) -> list[Effect]:
    while frontier:
        above = [one for one in _above(tx, frontier) if one.state == "active"]
        effects += [_superseded(tx, one) for one in above]
        frontier = [one.id for one in above]
    if effects:
        tx.put_due(*DUE_ROLLUP, tx.now)
    return effects
