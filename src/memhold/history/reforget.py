"""Forgetting again: what a ledger says was forgotten is taken out of a copy from before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memhold.history.checkup import documents
from memhold.history.forget import stand_again
from memhold.ports.stores import Ids
from memhold.ports.transaction import Tombstone, WriteTx
from memhold.upkeep.periods import DUE_ROLLUP
from memhold.values.records import Author, Change, Message

__all__ = ["forget_again"]


def forget_again(tx: WriteTx, tombstones: Sequence[Tombstone], *, ids: Ids) -> int:
    """Erase whatever of these is in the scope, hidden or not, in one transaction; returns how many went.

    The first forgetting named all that went with its target, derived memories too, so exactly those ids go. Windows
    that a memory held and that stay become due again; a session of which nothing stays goes with its name.
    """
    wanted = {tombstone.id: tombstone for tombstone in tombstones}
    found = [item for item, _ in documents(tx) if item.id in wanted]
    if not found:
        return 0
    messages = [item for item in found if isinstance(item, Message)]
    memories = [item for item in found if not isinstance(item, Message)]
    change = Change(
        id=ids.new("chg"),
        seq=0,
        verb="forget",
        reason="forgotten again after a restore",
        by=Author(origin="rules", name="restore"),
        at=tx.now,
        sources=tuple(item.id for item in found),
    )
    gone = {message.id for message in messages}
    due_again = {
        memory.session or ""
        for memory in memories
        if memory.kind in {"summary", "raw"} and any(m.id not in gone for m in tx.find_messages(memory.sources))
    }
    digests = {memory.id: digest for memory in memories if (digest := wanted[memory.id].digest) is not None}
    tx.unindex([item.number for item in found])
    tx.erase_memories([memory.id for memory in memories], change.id, digests=digests)
    tx.drop_sources([item.id for item in found])
    tx.erase_messages([message.id for message in messages], change.id)
    for memory in memories:
        tx.clear_due("expire", memory.id)
    lost = {memory.id for memory in memories}
    merged = (item for item, _ in documents(tx) if not isinstance(item, Message) and item.state == "merged")
    effects = stand_again(tx, [memory.id for memory in merged if memory.superseded_by in lost])
    left = {item.session for item, _ in documents(tx) if isinstance(item, Message)}
    if any(memory.kind in {"summary", "rollup"} for memory in memories):
        tx.put_due(*DUE_ROLLUP, tx.now)
    _sessions(tx, {message.session for message in messages} - left, due_again)
    tx.put_due("scrub", "bytes", tx.now)
    tx.add_change(replace(change, effects=effects))
    return len(found)


def _sessions(tx: WriteTx, emptied: set[str], due_again: set[str]) -> None:
    for session in tx.sessions():
        if session.name in emptied:
            tx.clear_due("consolidate", session.id)
            tx.erase_session(session.name)
        else:
            # The window may have been read already: what was planned from it no longer holds.
            tx.put_session(replace(session, rev=session.rev + 1))
            if session.name in due_again:
                tx.put_due("consolidate", session.id, tx.now)
