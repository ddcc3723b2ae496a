"""An explicit recall that returned a fact is evidence for it: noted behind the answer, once a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from memhold.facts.revisions import revise
from memhold.facts.tiers import lives_until, promotes, temporary
from memhold.journal.change import note_change
from memhold.journal.visibility import seen
from memhold.ports.stores import Ids
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.values.answers import Hit, Query, Recall
from memhold.values.records import Author, Effect, Evidence, Memory

__all__ = ["EVIDENCE", "USE_DAY", "asked_for", "last_asked", "note_asked", "note_use", "used"]

EVIDENCE = "evidence"
"""The verb of changes that only evidence made; undoing what stands below them undoes them too."""
USE_DAY = timedelta(days=1)
"""How exactly the last use of a memory is kept: what is asked for all day is written once."""
_NO_TURN = ""
"""The turn of the one row that tells a last use: it is of no question, counts for nothing, and is moved on."""
_COUNTED: Final = frozenset({"fact", "note", "instruction", "summary", "rollup"})
_BY = Author(origin="rules", name="tiers")


def asked_for(query: Query, answer: Recall) -> tuple[str, ...]:
    """The facts of an answer that the question is evidence for: those in the mid tier, current or expired.

    A listing without a question, a question about the past, somebody who only looks, and what only fills the first page
    are evidence of nothing.
    """
    hits = (hit for hit in _found(query, answer) if hit.kind == "fact" and hit.tier == "mid")
    return tuple(hit.id for hit in hits if hit.state in {"active", "expired"} and hit.valid_to is None)


def used(query: Query, answer: Recall) -> tuple[str, ...]:
    """The memories of an answer that the question is a use of, whatever their kind and tier."""
    return tuple(hit.id for hit in _found(query, answer) if hit.kind in _COUNTED and hit.state == "active")


def _found(query: Query, answer: Recall) -> Sequence[Hit]:
    if query.browse or not query.text.strip() or query.as_of is not None or query.known_at is not None:
        return ()
    return answer.hits if query.cursor is not None else answer.hits[: max(0, answer.total - query.offset)]


def note_use(tx: WriteTx, memory_ids: Sequence[str], *, at: datetime) -> None:
    """Keep when memories were last asked for, to the day; it makes no revision and no change. Safe to repeat."""
    for memory in tx.find_memories(memory_ids):
        asked = [one for one in tx.evidence([memory.id]) if one.operation == "asked"]
        if memory.state != "active" or any(at - one.at < USE_DAY for one in asked):
            continue
        if any(one.turn == _NO_TURN for one in asked):
            tx.move_use(memory.id, at)
        else:
            tx.add_evidence(Evidence(memory_id=memory.id, turn=_NO_TURN, at=at, operation="asked"))


def last_asked(tx: ReadTx, memory_ids: Sequence[str]) -> Mapping[str, datetime]:
    """When each memory was last asked for and returned, as far as that is recorded and the scope sees it."""
    own = [memory.id for memory in seen(tx, tx.find_memories(memory_ids))]
    found: dict[str, datetime] = {}
    for row in tx.evidence(own):
        if row.operation == "asked":
            found[row.memory_id] = max(row.at, found.get(row.memory_id, row.at))
    return found


def note_asked(tx: WriteTx, memory_ids: Sequence[str], turn: str, *, at: datetime, ids: Ids) -> None:
    """Count a recall for the facts it returned; the second piece moves a fact to the long tier, as one change for all.

    A fact counts it once a turn. Safe to repeat.
    """
    change_id = ids.new("chg")
    effects = []
    for memory in tx.find_memories(memory_ids):
        effect = _count(tx, memory, Evidence(memory_id=memory.id, turn=turn, at=at, operation="asked"), change_id)
        if effect is not None:
            effects.append(effect)
    if effects:
        note_change(tx, change_id, EVIDENCE, "asked for and returned", by=_BY, effects=effects)


def _count(tx: WriteTx, memory: Memory, row: Evidence, change_id: str) -> Effect | None:
    living = memory.kind == "fact" and memory.shown and memory.valid_to is None and memory.tier == "mid"
    rows = tx.evidence([memory.id]) if living else []
    if not living or temporary(rows) or any(one.turn == row.turn for one in rows):
        return None
    pieces = memory.evidence + 1
    changed: dict[str, Any] = {}
    if promotes(memory, pieces, rows):
        changed["tier"] = "long"
    if memory.state == "expired":
        changed["state"] = "active"
    if not changed:
        until = lives_until("mid", given=None, now=row.at)
        tx.add_evidence(row)
        tx.count_evidence(memory.id, evidence=pieces, expires_at=until)
        if until is not None:
            tx.put_due("expire", memory.id, until)
        return None
    tx.add_evidence(replace(row, change_id=change_id))
    until = lives_until(changed.get("tier", "mid"), given=None, now=row.at)
    if until is not None:
        tx.put_due("expire", memory.id, until)
    return revise(tx, memory, **changed, evidence=pieces, expires_at=until)
