"""Memories whose time has come: they leave their tier, by due work or before anything else looks at them."""

from __future__ import annotations

from datetime import datetime

from memhold.facts.revisions import revise
from memhold.facts.tiers import temporary
from memhold.journal.change import UPKEEP, note_change
from memhold.ports.stores import Ids
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.values.records import Memory

__all__ = ["expire", "expire_overdue", "told_until"]


def expire_overdue(tx: WriteTx, ids: Ids) -> None:
    """Do what is due of the scope's expiries: a store without a worker serves nothing past its time either."""
    for memory_id in tx.overdue("expire"):
        tx.clear_due("expire", memory_id)
        expire(tx, memory_id, ids)


def expire(tx: WriteTx, memory_id: str, ids: Ids) -> None:
    """A memory whose time has come leaves its tier; it stays recallable, marked."""
    found = tx.find_memories([memory_id])
    if not found or found[0].state != "active" or found[0].pinned:
        return
    memory = found[0]
    if memory.expires_at is None:
        return
    if memory.expires_at > tx.now:
        # Evidence has prolonged its life since this was made due.
        tx.put_due("expire", memory.id, memory.expires_at)
        return
    effect = revise(tx, memory, state="expired", valid_to=told_until(tx, memory))
    note_change(tx, ids.new("chg"), "expire", "its time has come", by=UPKEEP, effects=[effect])


def told_until(tx: ReadTx, memory: Memory) -> datetime | None:
    """When a memory holds no longer, where that was told; None where only its life in the mid tier ends."""
    if memory.expires_at is None or memory.pinned:
        return None
    lives = memory.kind == "fact" and not temporary(tx.evidence([memory.id]))
    return None if lives else memory.expires_at
