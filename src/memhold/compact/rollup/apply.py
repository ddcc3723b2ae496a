"""The transaction of a roll-up, and what takes one away: a roll-up stands only while each of its parts does."""

from __future__ import annotations

from collections.abc import Sequence

from memhold.compact.apply import TRUST, Merger, Ruling, unchanged
from memhold.compact.rollup.plan import Wanted
from memhold.consolidate.apply_guard import ApplyGuard, Verdict
from memhold.facts.rollups import _above, _active_of, _of_periods, _period, _superseded, withdraw
from memhold.index.documents import index_memories
from memhold.journal.change import Basis, note_change
from memhold.ports.idempotency import keyed_digest
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.text.labels import MAX_ENTITIES, MAX_TOPICS, folded
from memhold.values.records import Change, Effect, Memory

__all__ = ["ROLLED_UP", "apply_rollup", "declined", "history_of"]

ROLLED_UP = "roll_up"
"""The verb of a change that made a roll-up, or took away one that stood for nothing any more."""


def history_of(tx: ReadTx) -> list[Memory]:
    """The active summaries and roll-ups of the scope."""
    return _active_of(tx, "summary", "rollup")


def apply_rollup(
    tx: WriteTx, wanted: Wanted, ruling: Ruling, hold: ApplyGuard, merger: Merger
) -> tuple[Verdict, str | None]:
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
    reason = f"the {wanted.period.level} {wanted.period.name} rolled up"
    note_change(
        tx,
        merger.ids.new("chg"),
        ROLLED_UP,
        reason,
        by=ruling.author,
        effects=effects,
        basis=Basis(sources=(part.id for part in wanted.parts), detail=ruling.detail),
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
        actor=ruling.author.name,
        trust=min((part.trust for part in parts), key=TRUST.index),
        evidence=len(parts),
        sources=tuple(part.id for part in parts),
        event_time=parts[0].event_time,
        valid_from=parts[0].event_time,
        created_at=tx.now,
        recorded_at=tx.now,
    )


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
