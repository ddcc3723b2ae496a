"""The transaction of a roll-up, and what takes one away: a roll-up stands only while each of its parts does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from memhold.model import Change, Effect, Kind, Memory
from memhold.pipeline.compact.apply import TRUST, Merger, Ruling, unchanged
from memhold.pipeline.compact.topics import MAX_ENTITIES, MAX_TOPICS, folded
from memhold.pipeline.consolidate.hold import Hold, Verdict
from memhold.pipeline.documents import index_memories
from memhold.pipeline.idempotency import keyed_digest
from memhold.pipeline.remember import revise
from memhold.pipeline.rollup.periods import DUE_ROLLUP
from memhold.pipeline.rollup.plan import Wanted
from memhold.transaction import Listing, ReadTx, WriteTx

__all__ = ["ROLLED_UP", "apply_rollup", "declined", "founded", "history_of", "joined", "withdraw", "withdrawn"]

ROLLED_UP = "roll_up"
"""The verb of a change that made a roll-up, or took away one that stood for nothing any more."""
_PAGE = 1000


def history_of(tx: ReadTx) -> list[Memory]:
    """The active summaries and roll-ups of the scope."""
    return _active_of(tx, "summary", "rollup")


def apply_rollup(tx: WriteTx, wanted: Wanted, ruling: Ruling, hold: Hold, merger: Merger) -> tuple[Verdict, str | None]:
    """The roll-up is written, and what stood for its period before is superseded by it, at once; returns its id.

    The parts stay as they are: the change names them at the revision that they have.
    """
    verdict = unchanged(tx, (*wanted.parts, *wanted.stale), hold)
    if verdict != "done":
        return verdict, None
    there = _of_periods(tx, {(wanted.agent, wanted.period.level, wanted.period.name)})
    if {one.id for one in there} != {one.id for one in wanted.stale}:
        return "stale", None  # an undo brought one back while the models thought
    made = _made(tx, wanted, ruling, merger)
    tx.put_memory(made, digest=keyed_digest(merger.secret, made.kind, made.id))
    index_memories(tx, [made])
    effects = [Effect(memory_id=made.id, rev_before=0, rev_after=1)]
    effects += [_superseded(tx, old, by=made.id) for old in wanted.stale]
    effects += withdraw(tx, [old.id for old in wanted.stale])
    effects += [Effect(memory_id=part.id, rev_before=part.rev, rev_after=part.rev) for part in wanted.parts]
    tx.add_change(
        Change(
            id=merger.ids.new("chg"),
            seq=0,
            verb=ROLLED_UP,
            reason=f"the {wanted.period.level} {wanted.period.name} rolled up",
            by=ruling.author,
            at=tx.now,
            sources=tuple(part.id for part in wanted.parts),
            effects=tuple(effects),
            detail=ruling.detail,
        )
    )
    if merger.mirror:
        tx.put_due("mirror", "files", tx.now)
    return "done", made.id


def _made(tx: WriteTx, wanted: Wanted, ruling: Ruling, merger: Merger) -> Memory:
    parts, judgement, period = wanted.parts, ruling.judgement, wanted.period
    told = (wanted.agent, period.level, period.name)
    before = [*wanted.stale, *(one for one in _above(tx, [part.id for part in parts]) if _period(one) == told)]
    last = max(before, key=lambda one: one.number, default=None)
    return Memory(
        id=merger.ids.new("mem"),
        number=tx.take_numbers(1),
        kind="rollup",
        text=judgement.text,
        tier="mid" if period.level == "day" else "long",
        agent=wanted.agent,
        topics=folded([*(part.topics for part in parts), judgement.topics], MAX_TOPICS),
        entities=folded([*(part.entities for part in parts), judgement.entities], MAX_ENTITIES, names=True),
        metadata={"level": period.level, "period": period.name},
        # What a person said of the one before holds of the one that takes its place.
        pinned=last is not None and last.pinned,
        importance="mid" if last is None else last.importance,
        origin=ruling.author.origin,
        trust=min((part.trust for part in parts), key=TRUST.index),
        evidence=len(parts),
        sources=tuple(part.id for part in parts),
        event_time=parts[0].event_time,
        valid_from=parts[0].event_time,
        created_at=tx.now,
        recorded_at=tx.now,
    )


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


def declined(tx: ReadTx, parts: Sequence[Memory]) -> bool:
    """Whether these parts, as they are, were kept apart: by what the models answered, or by undoing their roll-up."""
    revs = {part.id: part.rev for part in parts}
    after = 0
    while page := tx.changes(memory_id=parts[0].id, after=after):
        for change in page:
            same = {one.memory_id for one in change.effects if revs.get(one.memory_id) == one.rev_after}
            if change.undone_by is None and same == revs.keys() and _keeps_apart(tx, change):
                return True
        after = page[-1].seq
    return False


def _keeps_apart(tx: ReadTx, change: Change) -> bool:
    if change.verb == "keep_apart":
        return True
    undone = None if change.undoes is None else tx.find_change(change.undoes)
    return change.verb == "undo" and undone is not None and undone.verb == ROLLED_UP
