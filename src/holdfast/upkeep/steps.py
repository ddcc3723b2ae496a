"""The steps of due work: the meaning index, expiry, windows that must be kept again, the scrub."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from holdfast.model import Scope
from holdfast.ports import Ids, Lease, Priority, Store
from holdfast.upkeep.worker import Step

if TYPE_CHECKING:
    from holdfast.pipeline.embedding import Embedding
    from holdfast.upkeep.consolidation import Consolidation

__all__ = ["SLOW", "steps"]

READER_RETRY_SECONDS = 1.0
SLOW = ("consolidate", "redo")
"""Kinds of due work that call models."""


def steps(
    store: Store,
    ids: Ids,
    *,
    raw_chars: int,
    consolidation: Consolidation | None = None,
    mirror: Callable[[Scope], Awaitable[None]] | None = None,
    embedding: Embedding | None = None,
) -> Mapping[str, Step]:
    """Every kind of due work and what does it; a RAW memory holds at most `raw_chars` characters."""
    secret = store.facts.secret

    async def expired(lease: Lease) -> float | None:
        from holdfast.pipeline.expiry import expire

        await store.write(_scope(lease), lambda tx: expire(tx, lease.due.ref, ids), priority=Priority.WORKER)
        return None

    async def consolidate(lease: Lease) -> float | None:
        from holdfast.upkeep.chores import keep_raw

        work = lambda tx: keep_raw(tx, lease.due.ref, ids, secret, raw_chars)  # noqa: E731 - bound to this lease
        await store.write(_scope(lease), work, priority=Priority.WORKER)
        return None

    async def scrub(_: Lease) -> float | None:
        return None if await store.upkeep.scrub() is None else READER_RETRY_SECONDS

    async def keys(lease: Lease) -> float | None:
        from holdfast.upkeep.chores import drop_expired_keys

        await store.write(_scope(lease), drop_expired_keys, priority=Priority.WORKER)
        return None

    async def index(lease: Lease) -> float | None:
        from holdfast.upkeep.embedding import index_step

        return await index_step(store, embedding)(lease)

    found: dict[str, Step] = {
        "consolidate": consolidate,
        "expire": expired,
        "index": index,
        "keys": keys,
        "scrub": scrub,
    }
    if consolidation is not None:
        found |= {"consolidate": consolidation.window, "redo": consolidation.redo}
    if mirror is not None:
        copy = mirror

        async def mirrored(lease: Lease) -> float | None:
            await copy(_scope(lease))
            return None

        found["mirror"] = mirrored
    return MappingProxyType(found)


def _scope(lease: Lease) -> Scope:
    return Scope(namespace=lease.due.namespace, user=lease.due.user)
