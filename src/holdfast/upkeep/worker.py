"""The one loop that does due work, in every run mode.

Work is level-triggered: an item of due work says only that state implies something; the step looks at the state and
does what it finds. So a step may run twice, and a crash between any two lines repeats or completes it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from holdfast.errors import HoldfastError
from holdfast.ports import Clock, Lease, Store

__all__ = ["Step", "Worker", "backoff"]

log = logging.getLogger("holdfast.upkeep")

LEASE_SECONDS = 60.0
HELD_POLL_SECONDS = 0.02
BATCH = 16
FIRST_DELAY = 1.0
LONGEST_DELAY = 300.0
MAX_ERROR = 500

Step = Callable[[Lease], Awaitable[float | None]]
"""Does one item: returns None when nothing is left to do, or the seconds after which to look again."""


def backoff(attempts: int, random: Random) -> float:
    """Seconds to wait after that many failed attempts: doubling from 1 s to 5 minutes, with jitter.

    Jitter as in Brooker, "Exponential Backoff and Jitter" (2015): waiters that failed together do not meet again.
    """
    share: float = random.uniform(0.5, 1.0)
    return share * min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** min(attempts, 20))


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one round did."""

    done: int = 0
    put_off: int = 0
    failed: int = 0


class Worker:
    """Claims due work and does it, one item at a time, until it is stopped.

    `steps` maps a kind of due work to what does it. An item that fails is put off with backoff; its error is kept as
    text without content. While idle it looks again at the soonest due time, at most every `poll_seconds`, or when
    woken.
    """

    def __init__(
        self,
        store: Store,
        steps: Mapping[str, Step],
        *,
        clock: Clock,
        owner: str,
        random: Random,
        poll_seconds: float = 30.0,
    ) -> None:
        self._store = store
        self._steps = steps
        self._kinds = tuple(sorted(steps))
        self._clock = clock
        self._owner = owner
        self._random = random
        self._poll_seconds = poll_seconds
        self._woken = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        store.on_due(self.wake)

    def wake(self) -> None:
        """Look for work now; callable from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has closed: nobody is left to wake
            self._loop.call_soon_threadsafe(self._woken.set)

    def start(self) -> None:
        """Begin to work in the background."""
        self._task = asyncio.create_task(self._run(), name="holdfast-worker")

    async def stop(self) -> None:
        """Stop after the step at hand; what was claimed and not done falls due again when its lease ends."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            try:
                while (await self.round()).done:
                    pass
                soonest = await self._store.upkeep.next_due(self._kinds)
            except HoldfastError as error:
                log.warning("upkeep: looking for work failed with %s", type(error).__name__)
                soonest = None
            wait = self._poll_seconds
            if soonest is not None:
                wait = min(wait, max(0.05, (soonest - self._clock.now()).total_seconds()))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), wait)

    async def settle(self) -> bool:
        """Do due work until none is due, also none that others hold; False when something failed or was put off."""
        clean = True
        while True:
            outcome = await self.round()
            clean = clean and not (outcome.failed or outcome.put_off)
            if not outcome.done:
                if await self._store.upkeep.pending(self._kinds) == 0:
                    return clean
                await self._clock.sleep(HELD_POLL_SECONDS)

    async def round(self) -> Round:
        """Claim what is due and do it once."""
        leases = await self._store.upkeep.claim(
            owner=self._owner, kinds=self._kinds, limit=BATCH, seconds=LEASE_SECONDS
        )
        done = put_off = failed = 0
        for lease in leases:
            try:
                again = await self._steps[lease.due.kind](lease)
            except Exception as error:  # noqa: BLE001 - the worker's edge: one item's failure is that item's alone
                await self._failed(lease, error)
                failed += 1
                continue
            if again is None:
                await self._store.upkeep.finish(lease)
                done += 1
            else:
                at = self._clock.now() + timedelta(seconds=again)
                await self._store.upkeep.put_off(lease, at=at, error=None, attempt=False)
                put_off += 1
        return Round(done=done, put_off=put_off, failed=failed)

    async def _failed(self, lease: Lease, error: Exception) -> None:
        delay = backoff(lease.due.attempts, self._random)
        text = f"{type(error).__name__}: {error}" if isinstance(error, HoldfastError) else type(error).__name__
        log.warning("upkeep: %s failed with %s, again in %.0f s", lease.due.kind, type(error).__name__, delay)
        at = self._clock.now() + timedelta(seconds=delay)
        await self._store.upkeep.put_off(lease, at=at, error=text[:MAX_ERROR])
