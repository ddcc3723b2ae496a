"""Leases that are not lost: taken and given back also where who asked is cancelled meanwhile, renewed while held."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import TypeVar

from memhold.ports.stores import Clock, Lease, Store
from memhold.values.errors import MemholdError
from memhold.values.records import Scope

__all__ = ["claimed", "give_back", "held_lease", "to_the_end"]

T = TypeVar("T")

LEASE_SECONDS = 60.0
BEATS = 3
HELD_POLL_SECONDS = 0.02


async def to_the_end(work: Awaitable[T]) -> T:
    """Let a short write end although its caller is cancelled meanwhile; the cancellation comes after it."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # nobody is left to hear of it
        raise


async def claimed(
    store: Store,
    *,
    owner: str,
    kinds: Sequence[str],
    limit: int,
    seconds: float,
    clock: Clock,
    scope: Scope | None = None,
) -> list[Lease]:
    """What the store leases. Where the caller is cancelled meanwhile, nothing stays leased that nobody will do."""
    claim = asyncio.ensure_future(
        store.upkeep.claim(owner=owner, kinds=kinds, limit=limit, seconds=seconds, scope=scope)
    )
    try:
        return await to_the_end(claim)
    except asyncio.CancelledError:
        if not claim.cancelled() and claim.exception() is None:
            await give_back(store, claim.result(), clock)
        raise


async def give_back(store: Store, leases: Sequence[Lease], clock: Clock) -> None:
    """Make what nobody does any more due at once, for anybody; a lease that is over is passed over."""
    for lease in leases:
        with contextlib.suppress(MemholdError, asyncio.CancelledError):
            await to_the_end(store.upkeep.put_off(lease, at=clock.now(), error=None, attempt=False))


@contextlib.asynccontextmanager
async def held_lease(
    store: Store, scope: Scope, due: tuple[str, str], *, owner: str, clock: Clock
) -> AsyncIterator[Lease]:
    """The lease on one kind of a scope's due work, which is made due; a worker that has it is waited for.

    It is given back as done, or at once due again where an error ended it.
    """
    kind, ref = due
    while True:
        await store.write(scope, lambda tx: tx.put_due(kind, ref, tx.now))
        found = await claimed(
            store, owner=owner, kinds=(kind,), limit=1, seconds=LEASE_SECONDS, clock=clock, scope=scope
        )
        if found:
            break
        await clock.sleep(HELD_POLL_SECONDS)
    lease = found[0]
    beat = asyncio.create_task(_beat(store, lease, clock))
    try:
        try:
            yield lease
        finally:
            beat.cancel()
            await to_the_end(asyncio.gather(beat, return_exceptions=True))
    except BaseException:
        await give_back(store, found, clock)
        raise
    await to_the_end(store.upkeep.finish(lease))


async def _beat(store: Store, lease: Lease, clock: Clock) -> None:
    while True:
        await clock.sleep(LEASE_SECONDS / BEATS)
        with contextlib.suppress(MemholdError):
            if not await store.upkeep.renew(lease, LEASE_SECONDS):
                return
