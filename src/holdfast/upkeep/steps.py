"""The steps of due work: the meaning index, expiry, windows that must be kept again, the scrub."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

from holdfast.model import Author, Change, Scope
from holdfast.pipeline.archive import RAW_CHARS, archive, uncovered
from holdfast.pipeline.embedding import Embedding
from holdfast.pipeline.remember import revise
from holdfast.pipeline.tiers import temporary
from holdfast.ports import Ids, Lease, Priority, Store
from holdfast.transaction import WriteTx
from holdfast.upkeep.compaction import Compaction
from holdfast.upkeep.consolidation import Consolidation
from holdfast.upkeep.embedding import index_step
from holdfast.upkeep.worker import Step

__all__ = ["SLOW", "steps"]

READER_RETRY_SECONDS = 1.0
RULES = Author(origin="rules", name="upkeep")


SLOW = ("compact", "consolidate", "redo")
"""Kinds of due work that call models."""


def steps(
    store: Store,
    ids: Ids,
    *,
    raw_chars: int = RAW_CHARS,
    consolidation: Consolidation | None = None,
    compaction: Compaction | None = None,
    mirror: Callable[[Scope], Awaitable[None]] | None = None,
    embedding: Embedding | None = None,
) -> Mapping[str, Step]:
    """Every kind of due work and what does it; a RAW memory holds at most `raw_chars` characters."""
    secret = store.facts.secret

    async def expire(lease: Lease) -> float | None:
        await store.write(_scope(lease), lambda tx: _expire(tx, lease.due.ref, ids), priority=Priority.WORKER)
        return None

    async def consolidate(lease: Lease) -> float | None:
        work = lambda tx: _keep_raw(tx, lease.due.ref, ids, secret, raw_chars)  # noqa: E731 - bound to this lease
        await store.write(_scope(lease), work, priority=Priority.WORKER)
        return None

    async def scrub(_: Lease) -> float | None:
        return None if await store.upkeep.scrub() is None else READER_RETRY_SECONDS

    async def keys(lease: Lease) -> float | None:
        await store.write(_scope(lease), _drop_expired_keys, priority=Priority.WORKER)
        return None

    found: dict[str, Step] = {"consolidate": consolidate, "expire": expire, "keys": keys, "scrub": scrub}
    found["index"] = index_step(store, embedding)
    if consolidation is not None:
        found |= {"consolidate": consolidation.window, "redo": consolidation.redo}
    if compaction is not None:
        found["compact"] = compaction.step
    if mirror is not None:
        copy = mirror

        async def mirrored(lease: Lease) -> float | None:
            await copy(_scope(lease))
            return None

        found["mirror"] = mirrored
    return MappingProxyType(found)


def _scope(lease: Lease) -> Scope:
    return Scope(namespace=lease.due.namespace, user=lease.due.user)


def _drop_expired_keys(tx: WriteTx) -> None:
    """Keys that nobody may send again any more; the next look is a day on, so that keys go in lots."""
    soonest = tx.drop_expired_keys()
    if soonest is not None:
        tx.put_due("keys", "expired", max(soonest, tx.now + timedelta(days=1)))


def _expire(tx: WriteTx, memory_id: str, ids: Ids) -> None:
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
    # Told until when: it holds no longer. At the end of its life in the mid tier it still holds, and is recallable.
    lives = memory.kind == "fact" and not temporary(tx.evidence([memory.id]))
    effect = revise(tx, memory, state="expired", valid_to=None if lives else memory.expires_at)
    change = Change(
        id=ids.new("chg"),
        seq=0,
        verb="expire",
        reason="its time has come",
        by=RULES,
        at=tx.now,
        effects=(effect,),
    )
    tx.add_change(change)


def _keep_raw(tx: WriteTx, session_id: str, ids: Ids, secret: bytes, raw_chars: int) -> None:
    """Messages behind the cursor that nothing holds any more (their summary was forgotten) are kept raw again."""
    session = tx.find_session(session_id)
    if session is None:
        return
    messages = uncovered(tx, session)
    if session.torn:
        tx.put_session(replace(session, torn=False))
    if not messages:
        return
    _, effects = archive(tx, messages, secret=secret, ids=ids, author=RULES, raw_chars=raw_chars)
    change = Change(
        id=ids.new("chg"),
        seq=0,
        verb="archive",
        reason="kept raw again: what held these messages was forgotten",
        by=RULES,
        at=tx.now,
        effects=tuple(effects),
    )
    tx.add_change(change)
