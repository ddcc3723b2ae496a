"""The files that mirror a scope: written again behind each change, one writer at a time over all processes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from memhold.ports.stores import Clock, Priority, Store
from memhold.ports.transaction import Listing
from memhold.transfer.mirror import mirrored_rev, try_lock, write_mirror
from memhold.values.records import Scope

__all__ = ["Mirror"]

LOCK_POLL_SECONDS = 0.02
LOCK_SECONDS = 5.0
"""How long another process is waited for that writes there; one that was stopped must not stop other work with it."""


class Mirror:
    """Writes `MEMORY.md` and `HISTORY.md` of a scope from what it holds at that moment.

    What is written is read under the lock of the folder, so that no older state ever takes the place of a newer one.
    """

    def __init__(self, store: Store, folder: Path, *, clock: Clock) -> None:
        self._store = store
        self._folder = folder
        self._clock = clock
        self._turn = asyncio.Lock()

    async def __call__(self, scope: Scope) -> None:
        """Write both files of a scope's user now.

        Raises:
            OSError: they cannot be written, or another process held the folder for too long (`TimeoutError`).
        """
        async with self._turn:
            waited = 0.0
            while (lock := try_lock(self._folder)) is None:
                if waited >= LOCK_SECONDS:
                    raise TimeoutError(f"another process has held {self._folder} for {LOCK_SECONDS:g} s")
                await self._clock.sleep(LOCK_POLL_SECONDS)
                waited += LOCK_POLL_SECONDS
            try:
                held, at, rev = await self._store.read(
                    scope, lambda tx: (tx.list_memories(Listing(limit=2**62)), tx.now, tx.index_rev())
                )
                await asyncio.to_thread(write_mirror, self._folder, scope, held, now=at, rev=rev)
            finally:
                lock.close()

    async def sweep_all(self) -> None:
        """Make due what is not as the store is: another process may have changed it without this setting."""
        for scope in await self._store.upkeep.scopes():
            rev = await self._store.read(scope, lambda tx: tx.index_rev())
            if mirrored_rev(self._folder, scope) != rev:
                await self._store.write(
                    scope, lambda tx: tx.put_due("mirror", "files", tx.now), priority=Priority.WORKER
                )
