"""Revisions of a memory: how each is written, and how the one before is written again."""

from __future__ import annotations

import hmac
import json
from dataclasses import replace
from typing import Any

from memhold.ports.idempotency import keyed_digest
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.text.compare import canonical_text
from memhold.upkeep.periods import DUE_ROLLUP, rolled_up_at
from memhold.values.errors import Forgotten
from memhold.values.records import OWN_KEYS, Change, Effect, Memory

__all__ = ["as_before", "memory_digest", "mind_expiry", "path_digest", "restore", "revise", "said_digest"]


def as_before(tx: ReadTx, effect: Effect, change: Change) -> Memory:
    """The memory as it was before the change; what did not exist then becomes "never true"."""
    current = tx.find_memories([effect.memory_id])[0]
    if effect.rev_before == effect.rev_after:
        return current
    if effect.rev_before == 0:
        return replace(current, state="retracted")
    past = {memory.rev: memory for memory in tx.revisions(effect.memory_id)}
    before = past.get(effect.rev_before)
    if before is None:
        raise Forgotten(
            f"what {effect.memory_id} was before {change.id} was forgotten; tell it anew", id=effect.memory_id
        )
    return before


def restore(tx: WriteTx, effect: Effect, change: Change) -> Effect:
    """Write the revision before as the newest one; where there is no other, what is there is looked at anew."""
    current = tx.find_memories([effect.memory_id])[0]
    if effect.rev_before == effect.rev_after:
        return revise(tx, current)
    before = as_before(tx, effect, change)
    after = replace(before, rev=current.rev + 1, recorded_at=tx.now, unrecorded_at=None)
    tx.put_memory(after)
    mind_expiry(tx, after)
    if after.shown != current.shown:
        tx.flag({current.number: after.shown})
    return Effect(memory_id=current.id, rev_before=current.rev, rev_after=after.rev)


def memory_digest(secret: bytes, memory: Memory) -> bytes:
    """The keyed hash by which the same content is recognised: of a note its text and its caller's metadata.

    Two notes of one text under other keys of an application are two memories.
    """
    given = {name: value for name, value in memory.metadata.items() if name not in OWN_KEYS}
    if memory.kind != "note" or not given:
        return said_digest(secret, memory)
    return keyed_digest(
        secret,
        "memory",
        memory.kind,
        canonical_text(memory.text),
        json.dumps(given, sort_keys=True, separators=(",", ":")),
    )


def said_digest(secret: bytes, memory: Memory) -> bytes:
    """The keyed hash of what a memory says, whatever its metadata: by it what was forgotten is not learnt again."""
    if memory.kind == "document":
        return path_digest(secret, memory.key or "")
    if memory.kind == "fact":
        parts = (memory.subject or "", memory.key or "", canonical_text(memory.value or "").casefold())
        return keyed_digest(secret, "memory", memory.kind, *parts)
    return keyed_digest(secret, "memory", memory.kind, canonical_text(memory.text))


def path_digest(secret: bytes, key: str) -> bytes:
    """The keyed hash by which what stands at a path is found in one look: it is one thing, whatever it says.

    No other hash of a store begins so: theirs are of JSON.
    """
    return hmac.digest(secret, f"document {key}".encode(), "sha256")


def revise(tx: WriteTx, memory: Memory, *, digest: bytes | None = None, **changed: Any) -> Effect:
    """Write the next revision of a memory with some fields changed; returns what that did to it.

    A `digest` is given where its key changes.
    """
    after = replace(memory, **changed, rev=memory.rev + 1, recorded_at=tx.now, unrecorded_at=None)
    tx.put_memory(after, digest=digest)
    mind_expiry(tx, after)
    if memory.kind == "fact" and memory.state == "active" and after.state in {"superseded", "retracted"}:
        # Summaries that say it are told anew when the day is rolled up, for all changes of the day together.
        tx.put_due(*DUE_ROLLUP, rolled_up_at(tx.now))
    if after.shown != memory.shown:
        tx.flag({memory.number: after.shown})
    return Effect(memory_id=memory.id, rev_before=memory.rev, rev_after=after.rev)


def mind_expiry(tx: WriteTx, memory: Memory) -> None:
    """Make the expiry of a memory due work, where it stands and will come."""
    if memory.expires_at is not None and memory.state == "active" and not memory.pinned:
        tx.put_due("expire", memory.id, memory.expires_at)
