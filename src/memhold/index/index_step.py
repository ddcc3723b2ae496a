"""The due work of the meaning index: embeds what has no vector, and switches to a generation once it is complete."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from memhold.index.embedding import Embedding
from memhold.index.pending_vectors import (
    DUE_INDEX,
    Batch,
    begin,
    complete,
    convert,
    drop_retired,
    due_index,
    next_batch,
    of_before,
    put_vectors,
    switch,
    targets,
)
from memhold.ports.stores import Lease, Priority, Store
from memhold.ports.transaction import WriteTx
from memhold.ports.vector_blocks import Generation
from memhold.values.records import Scope

__all__ = ["fill", "index_step", "start_generation"]

log = logging.getLogger("memhold.upkeep")

LEASE_SECONDS = 60.0
RENEW_AFTER = 8
"""Batches between two renewals of the lease; one takes tens of milliseconds, a remote model a few seconds."""
OTHERS_SECONDS = 30.0
"""A process with another embedding leaves the work to those that have the right one, and looks again after this."""


def index_step(store: Store, embedding: Embedding | None) -> Callable[[Lease], Awaitable[float | None]]:
    """The step for due work of kind `index`; without an embedding there is nothing to do."""

    async def step(lease: Lease) -> float | None:
        scope = lease.scope
        generations, before = await store.read(scope, lambda tx: (tx.generations(), of_before(tx)))
        for generation in before:
            await _convert(store, generation, lease)
        if embedding is None:
            return None
        fingerprint = await embedding.fingerprint()
        if not generations:
            await start_generation(store, embedding, scope)
            generations = await store.read(scope, lambda tx: tx.generations())
        mine = targets(generations, fingerprint)
        for generation in mine:
            await fill(store, embedding, scope, generation, lease)
        again = [await _near(store, scope, generation, lease) for generation in mine]
        await store.write(scope, drop_retired, priority=Priority.WORKER)
        building = next((one for one in generations if one.state == "building"), None)
        if building is not None and building in mine:
            await _switch_when_complete(store, building)
        if not mine or (building is not None and building not in mine):
            return OTHERS_SECONDS
        return max((seconds for seconds in again if seconds is not None), default=None)

    return step


async def _convert(store: Store, generation: Generation, lease: Lease) -> None:
    """Bring the scope's vectors of before into the form of now, until the lease is lost; the next step goes on."""
    turn = 0
    while await store.write(lease.scope, lambda tx: convert(tx, generation), priority=Priority.WORKER):
        turn += 1
        if turn % RENEW_AFTER == 0 and not await store.upkeep.renew(lease, LEASE_SECONDS):
            return


async def _near(store: Store, scope: Scope, generation: Generation, lease: Lease) -> float | None:
    """Bring the store's index of nearest neighbours up to date; after how many seconds to look again, or None."""
    while (seconds := await store.upkeep.index_near(scope, generation)) == 0:
        if not await store.upkeep.renew(lease, LEASE_SECONDS):
            return None
    return seconds


async def start_generation(store: Store, embedding: Embedding, scope: Scope) -> Generation | None:
    """Begin the embedding's generation and make every scope due for it; None where another one is building."""
    fingerprint, dimension = await embedding.fingerprint(), await embedding.dimension()

    def work(tx: WriteTx) -> Generation | None:
        return begin(tx, fingerprint=fingerprint, dimension=dimension)

    made = await store.write(scope, work, priority=Priority.WORKER)
    if made is not None:
        await _all_due(store)
    return made


async def _all_due(store: Store) -> None:
    for scope in await store.upkeep.scopes():
        await store.write(scope, due_index, priority=Priority.WORKER)


async def fill(
    store: Store, embedding: Embedding, scope: Scope, generation: Generation, lease: Lease | None = None
) -> None:
    """Embed what a scope has without a vector of the generation, batch after batch; ends where the lease is lost.

    Raises:
        ModelError: the embedding failed; what was embedded before is kept.
    """
    turn = 0
    while True:
        batch: Batch = await store.read(scope, lambda tx: next_batch(tx, generation))
        if not batch.size:
            return
        found = await embedding.documents(batch.pieces) if batch.texts else []
        vectors = batch.by_document(found)
        if refused := found.count(None):
            log.warning("upkeep: the embedding does not take %d texts; words still find them", refused)
        work = lambda tx, b=batch, v=vectors: put_vectors(tx, generation, b, v)  # noqa: E731 - bound to this batch
        if not await store.write(scope, work, priority=Priority.WORKER):
            return
        turn += 1
        if lease is not None and turn % RENEW_AFTER == 0 and not await store.upkeep.renew(lease, LEASE_SECONDS):
            return


async def _switch_when_complete(store: Store, building: Generation) -> None:
    """Make the building generation current once no scope lacks a vector.

    Looked at where no other scope is left to claim. Those that are at work now do not count: of several that end
    together each would leave it to the others.
    """
    scopes = await store.upkeep.scopes()
    soonest = await store.upkeep.next_due(DUE_INDEX[:1])
    if soonest is not None and soonest <= await store.read(scopes[0], lambda tx: tx.now):
        return
    for scope in scopes:
        if not await store.read(scope, lambda tx: complete(tx, building)):
            return

    def work(tx: WriteTx) -> bool:
        builds = any(one.number == building.number and one.state == "building" for one in tx.generations())
        if builds:
            switch(tx, building)
        return builds

    if await store.write(scopes[0], work, priority=Priority.WORKER):
        await _all_due(store)
