"""A lease that is held while something is done on request: renewed meanwhile, and given back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from holdfast.errors import HoldfastError
from holdfast.model import Scope
from holdfast.ports import Clock, Lease, Store

__all__ = ["held_lease"]

LEASE_SECONDS = 60.0
BEATS = 3
HELD_POLL_SECONDS = 0.02


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
        found = await store.upkeep.claim(owner=owner, kinds=(kind,), limit=1, seconds=LEASE_SECONDS, scope=scope)
        if found:
            break
        await clock.sleep(HELD_POLL_SECONDS)
    lease = found[0]
    beat = asyncio.create_task(_beat(store, lease, clock))
    try:
        yield lease
    except BaseException:
        with contextlib.suppress(HoldfastError):
            await asyncio.shield(store.upkeep.put_off(lease, at=clock.now(), error=None, attempt=False))
        raise
    finally:
        beat.cancel()
        await asyncio.gather(beat, return_exceptions=True)
    await store.upkeep.finish(lease)


async def _beat(store: Store, lease: Lease, clock: Clock) -> None:
    while True:
        await clock.sleep(LEASE_SECONDS / BEATS)
        with contextlib.suppress(HoldfastError):
            if not await store.upkeep.renew(lease, LEASE_SECONDS):
                return
