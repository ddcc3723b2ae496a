"""The steps of due work: the meaning index, expiry, windows that must be kept again, the scrub."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from memhold.ports.stores import Ids, Lease, Priority, Store
from memhold.upkeep.worker import Step
from memhold.values.records import Scope

if TYPE_CHECKING:
    from memhold.compact.compaction_step import Compaction
    from memhold.compact.rollup.rollup_step import RollUps
    from memhold.consolidate.consolidation_step import Consolidation
    from memhold.facts.keys_step import Likeness
    from memhold.index.embedding import Embedding
    from memhold.ports.transaction import WriteTx

__all__ = ["EMBEDDING", "SLOW", "steps"]

READER_RETRY_SECONDS = 1.0
ROOM_RETRY_SECONDS = 60.0
"""Writing a file anew on a full disk fails after all the work of it, with every write waiting meanwhile."""
SLOW = ("compact", "rollup", "consolidate", "redo")
"""Kinds of due work that call models."""
EMBEDDING = ("alike", "index")
"""Kinds of due work that call an embedding, which may hang: they keep nothing else waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doers:
    """What does the due work of a store; what is None is not configured."""

    consolidation: Consolidation | None = None
    compaction: Callable[[], Compaction] | None = None
    mirror: Callable[[Scope], Awaitable[None]] | None = None
    embedding: Embedding | None = None
    likeness: Callable[[], Likeness] | None = None
    retain: Step | None = None
    rollups: Callable[[], RollUps] | None = None


def steps(store: Store, ids: Ids, by: Doers) -> Mapping[str, Step]:
    """Every kind of due work and what does it."""
    mirror, likeness = by.mirror, by.likeness
    secret = store.facts.secret

    async def expired(lease: Lease) -> float | None:
        from memhold.facts.expiry import expire

        work = _mirroring(lambda tx: expire(tx, lease.due.ref, ids), mirror)
        await store.write(lease.scope, work, priority=Priority.WORKER)
        return None

    async def consolidate(lease: Lease) -> float | None:
        from memhold.journal.journal_step import keep_raw

        work = _mirroring(lambda tx: keep_raw(tx, lease.due.ref, ids, secret), mirror)
        await store.write(lease.scope, work, priority=Priority.WORKER)
        return None

    async def scrub(_: Lease) -> float | None:
        holding = await store.upkeep.scrub()
        return {None: None, "room": ROOM_RETRY_SECONDS}.get(holding, READER_RETRY_SECONDS)

    async def keys(lease: Lease) -> float | None:
        from memhold.journal.journal_step import drop_expired_keys

        await store.write(lease.scope, drop_expired_keys, priority=Priority.WORKER)
        return None

    async def index(lease: Lease) -> float | None:
        from memhold.index.index_step import index_step

        return await index_step(store, by.embedding)(lease)

    async def alike(lease: Lease) -> float | None:
        return None if likeness is None else await likeness().step(lease)

    found: dict[str, Step] = {"alike": alike, "consolidate": consolidate, "expire": expired}
    found |= {"index": index, "keys": keys, "retain": by.retain or _nothing, "scrub": scrub}
    found |= {"quotes": _quoting(store), "writers": _attributing(store, ids)}
    if by.consolidation is not None:
        found |= {"consolidate": by.consolidation.window, "redo": by.consolidation.redo}
    if by.compaction is not None:
        found["compact"] = _compacting(by.compaction)
    found["rollup"] = _nothing if by.rollups is None else _compacting(by.rollups)
    if mirror is not None:
        found["mirror"] = _copying(mirror)
    return MappingProxyType(found)


async def _nothing(_: Lease) -> float | None:
    """What was due by a setting that is off now."""
    return None


def _attributing(store: Store, ids: Ids) -> Step:
    async def writers(lease: Lease) -> float | None:
        from memhold.history.writers_step import writers_step

        await writers_step(store, ids, lease)
        return None

    return writers


def _quoting(store: Store) -> Step:
    async def quotes(lease: Lease) -> float | None:
        from memhold.consolidate.quotes_step import quotes_step

        await quotes_step(store, lease)
        return None

    return quotes


def _compacting(made: Callable[[], Compaction | RollUps]) -> Step:
    async def compact(lease: Lease) -> float | None:
        return await made().step(lease)

    return compact


def _copying(copy: Callable[[Scope], Awaitable[None]]) -> Step:
    async def mirrored(lease: Lease) -> float | None:
        await copy(lease.scope)
        return None

    return mirrored


def _mirroring(work: Callable[[WriteTx], None], mirror: object) -> Callable[[WriteTx], None]:
    """The same unit of work; where files mirror the scope, they are due to be written again with it."""

    def both(tx: WriteTx) -> None:
        work(tx)
        tx.put_due("mirror", "files", tx.now)

    return work if mirror is None else both
