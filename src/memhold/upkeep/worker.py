"""The one loop that does due work, in every run mode.

Work is level-triggered: an item of due work says only that state implies something; the step looks at the state and
does what it finds. So a step may run twice, and a crash between any two lines repeats or completes it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Literal, NamedTuple

from memhold.ports.stores import Clock, Lease, Store
from memhold.upkeep.leases import claimed, give_back, to_the_end
from memhold.values.errors import ChainFailed, MemholdError, ModelError
from memhold.values.records import Scope
from memhold.values.rests import Resting

__all__ = ["Pace", "Step", "Worker", "backoff", "ending", "park"]

log = logging.getLogger("memhold.upkeep")

LEASE_SECONDS = 60.0
BEATS = 3
"""How often a lease is renewed while its step runs, per length of the lease."""
HELD_POLL_SECONDS = 0.02
BATCH = 16
SLOTS = 4
"""Steps that call models and run at the same time, in one process."""
FIRST_DELAY = 1.0
LONGEST_DELAY = 300.0
LONGEST_PARK = 900.0
MAX_ERROR = 500
AGAIN = ("redo",)
"""Kinds of due work that wait for nothing but a model."""
SWEEP_EVERY = timedelta(hours=6)
SWEEP_AGAIN = timedelta(minutes=1)
DATED = ("expire",)
"""Kinds of work whose time somebody named, which may be any."""
PROMPT = ("mirror", "scrub")
"""Kinds of work that are due when they are put: what is due later waits for something."""
PROMPT_TRIES = 20
LONGEST_PUT_OFF = timedelta(days=400)
"""No other work is put off for longer."""
TURNED = timedelta(minutes=1)
"""A clock that is set back by no more than that was corrected."""
LONGEST_WAIT = 60.0
"""An idle lane looks again after this, however long it may poll: what is due later than that wakes nobody."""

Outcome = Literal["done", "put_off", "waits", "failed"]


class Pace(float):
    """Seconds until the next look at work that goes on: kept to in the background, not while settling."""


Step = Callable[[Lease], Awaitable[float | None]]
"""Does one item: returns None when nothing is left to do, or the seconds after which to look again."""


def backoff(attempts: int, random: Random) -> float:
    """Seconds to wait after that many failed attempts: doubling from 1 s to 5 minutes, with jitter.

    Jitter as in Brooker, "Exponential Backoff and Jitter" (2015): waiters that failed together do not meet again.
    """
    share: float = random.uniform(0.5, 1.0)
    return share * min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** min(attempts, 20))


def park(attempts: int, retry_after: float | None, random: Random) -> float:
    """Seconds until a parked item is probed: doubling from 30 s to 15 minutes, never before what was asked for."""
    wait = min(LONGEST_PARK, 30.0 * 2.0 ** min(attempts, 20))
    return max(random.uniform(0.5, 1.0) * wait, retry_after or 0.0)


def ending(error: Exception) -> bool:
    """Whether the process ends, and its threads with it: there is no more work then, and nobody to tell."""
    return isinstance(error, RuntimeError) and "cannot schedule new futures" in str(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one round did."""

    done: int = 0
    put_off: int = 0
    failed: int = 0


class _Told(NamedTuple):
    """The failure to look for work that was told of, and the lane that met it."""

    error: type[Exception]
    lane: asyncio.Event


@dataclass(eq=False)
class Worker:
    """Claims due work and does it until it is stopped.

    `steps` maps a kind of due work to what does it; kinds in `apart` may hang (an embedding), and run one at a time
    beside everything else; kinds in `slow` call models: up to four of them run at once, their
    leases are renewed while they run, and they never keep other work waiting. An item that fails is put off with
    backoff; its error is kept as text without content. While idle it looks again at the soonest due time, at most every
    `poll_seconds`, or when woken. Scopes take turns.
    """

    store: Store
    steps: Mapping[str, Step]
    _: KW_ONLY
    clock: Clock
    owner: str
    random: Random
    poll_seconds: float = 30.0
    slow: Sequence[str] = ()
    apart: Sequence[str] = ()
    fresh: Callable[[], None] | None = None
    sweep: Callable[[], Awaitable[None]] | None = None

    def __post_init__(self) -> None:
        steps, slow, apart = self.steps, self.slow, self.apart
        self._slow = tuple(sorted(kind for kind in steps if kind in slow))
        self._apart = tuple(sorted(kind for kind in steps if kind in apart))
        self._quick = tuple(sorted(kind for kind in steps if kind not in {*slow, *apart}))
        self._kinds = (*self._quick, *self._apart, *self._slow)
        self._again = tuple(kind for kind in self._slow if kind in AGAIN)
        self._put_off = tuple(kind for kind in self._kinds if kind not in DATED)
        self._prompt = tuple(kind for kind in self._kinds if kind in PROMPT)
        self._longest = min(self.poll_seconds, LONGEST_WAIT)
        self._swept: Resting | None = None
        self._looked: datetime | None = None
        self._woken = {lane: asyncio.Event() for lane in (self._quick, self._apart, self._slow)}
        self._loop = asyncio.get_running_loop()
        self._tasks: list[asyncio.Task[None]] = []
        self._running: set[asyncio.Task[Outcome]] = set()
        self._stopping = False
        self._listens = False
        self._told: _Told | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of due work that it does."""
        return self._kinds

    def wake(self) -> None:
        """Look for work now; callable from any thread."""
        if all(woken.is_set() for woken in self._woken.values()):
            return  # every lane looks again anyway, and a wake-up of the loop costs more than a small write
        with contextlib.suppress(RuntimeError):  # the loop has closed: nobody is left to wake
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for woken in self._woken.values():
            woken.set()

    async def compare(self) -> None:
        """Make due what state implies and nobody made due, at the start and every few hours.

        So is what was put off by a clock that was ahead: everything that waits, where it was turned back before our
        eyes, else what is put off for longer than anything is.
        """
        now = self.clock.now()
        turned = self._looked is not None and now < self._looked - TURNED
        self._looked = now
        if self._swept is not None and self._swept.lasts(now) and not turned:
            return
        self._swept = Resting(since=now, length=SWEEP_EVERY)
        try:
            after = now if turned else now + LONGEST_PUT_OFF
            if await self.store.upkeep.pending(self._put_off, later=True):
                await self.store.upkeep.hasten(self._put_off, failed=False, after=after)
            if self.sweep is not None:
                await self.sweep()
        except BaseException:
            # What was not compared is compared again soon, not hours later.
            self._swept = Resting(since=now, length=SWEEP_AGAIN)
            raise

    # ------------------------------------------------------------------------------------------------ background

    def start(self) -> None:
        """Begin to work in the background."""
        self._stopping = False
        if not self._listens:
            self._listens = True
            self.store.on_due(self.wake)
        lanes = ((self._quick, 1), (self._apart, 1), (self._slow, SLOTS))
        self._tasks = [
            asyncio.create_task(self._run(kinds, slots), name="memhold-worker") for kinds, slots in lanes if kinds
        ]

    async def stop(self, drain: float = 0.0) -> None:
        """Claim nothing more, let running steps end for up to `drain` seconds, then give back what is left."""
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        if self._running and drain > 0:
            await asyncio.wait(self._running, timeout=drain)
        for step in self._running:
            step.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run(self, kinds: Sequence[str], slots: int) -> None:
        woken = self._woken[tuple(kinds)]
        mine: set[asyncio.Task[Outcome]] = set()
        failures = 0
        while not self._stopping:
            woken.clear()
            # After the clear and before the claim: whatever ends from here on wakes, whatever ended has left its slot.
            mine = {task for task in mine if not task.done()}
            wait = self._longest
            try:
                if kinds == (self._slow or self._apart or self._quick):
                    await self.compare()
                free = slots - len(mine)
                leases = await self._claim(kinds, free)
                mine.update(self._begin(lease, woken) for lease in leases)
                failures = 0
                if free and self._told is not None and self._told.lane is woken:
                    self._told = None
                if len(mine) < slots and leases:
                    continue
                if len(mine) < slots:
                    wait = await self._until_due(kinds)
            except Exception as error:  # noqa: BLE001 - the worker's edge: a lane that ended would leave its work for ever
                if ending(error):
                    return
                # Once, not at every look: where the store is gone nothing but an end of the process helps. It is over
                # when the lane that told of it finds work again: a look of another one may have begun before it.
                if self._told is None or self._told.error is not type(error):
                    log.warning("upkeep: looking for work failed with %s", type(error).__name__)
                    self._told = _Told(type(error), woken)
                wait = min(wait, backoff(failures, self.random))
                failures += 1
            # Not wait_for: in Python 3.11 it may swallow a cancellation that comes with a wake.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await woken.wait()

    async def _until_due(self, kinds: Sequence[str]) -> float:
        """Seconds until something can be claimed, or until the next look."""
        soonest = await self.store.upkeep.next_due(kinds)
        if soonest is None:
            return self._longest
        return min(self._longest, max(0.05, (soonest - self.clock.now()).total_seconds()))

    def _begin(self, lease: Lease, woken: asyncio.Event) -> asyncio.Task[Outcome]:
        task = asyncio.create_task(self._do(lease))
        self._running.add(task)

        def ended(one: asyncio.Task[Outcome]) -> None:
            self._running.discard(one)
            woken.set()

        task.add_done_callback(ended)
        return task

    # ------------------------------------------------------------------------------------------------ on request

    async def settle(self, scope: Scope | None = None) -> bool:
        """Do due work until none is due, also none that others hold; False when something failed or still waits.

        What failed before and was put off, and what waits for a model, is tried now, once; a scrub that waits for a
        reader a few times. What is left is named in the log. With a `scope`, only the work of its user.
        """
        if self.fresh is not None:
            self.fresh()
        await self.compare()
        if self._slow or self._apart:
            await self.store.upkeep.hasten((*self._slow, *self._apart), scope=scope)
        if self._slow:
            await self.store.upkeep.hasten(self._again, scope=scope, failed=False)
        clean, tries, left = True, PROMPT_TRIES, list[str]()
        while True:
            outcome = await self.round(scope=scope, settling=True)
            clean = clean and not (outcome.failed or outcome.put_off)
            if not outcome.done and await self.store.upkeep.pending(self._kinds, scope=scope) == 0:
                left = await self._put_off_of(self._prompt, scope)
                if not left or not tries:
                    break
                tries -= 1
                await self.store.upkeep.hasten(left, scope=scope, failed=False)
            if not outcome.done:
                await self.clock.sleep(HELD_POLL_SECONDS)
        if left:
            log.warning("settle: not done, and tried again by an open store: %s", ", ".join(left))
        return clean and not left and not await self._waits(scope)

    async def _put_off_of(self, kinds: Sequence[str], scope: Scope | None) -> list[str]:
        """Those of the kinds of which something is left."""
        if not await self.store.upkeep.pending(kinds, scope=scope, later=True):
            return []
        return [one for one in kinds if await self.store.upkeep.pending([one], scope=scope, later=True)]

    async def _waits(self, scope: Scope | None) -> bool:
        """Whether work is left for which a model is awaited."""
        if not self._again:
            return False
        if scope is None:
            return await self.store.upkeep.next_due(self._again) is not None
        return await self.store.read(scope, lambda tx: any(due.kind in self._again for due in tx.due()))

    async def finish(self, kind: str, seconds: float) -> None:
        """Do what is due of one quick kind, for at most that long: before `stop`, where it should not wait."""
        if kind not in self._quick or seconds <= 0:
            return
        with contextlib.suppress(TimeoutError, MemholdError):
            async with asyncio.timeout(seconds):
                while leases := await self._claim((kind,), BATCH):
                    await self._each(leases)

    async def round(self, *, scope: Scope | None = None, settling: bool = False) -> Round:
        """Claim what is due and do it once: quick work first, one after the other, then what calls models."""
        outcomes = await self._each(await self._claim(self._quick, BATCH, scope), settling=settling)
        # One claim at a time: a lease that waits behind a slow embedding runs out, and its work is done twice.
        while len(outcomes) < 2 * BATCH and (mine := await self._claim(self._apart, 1, scope)):
            outcomes += await self._each(mine, settling=settling)
        slow = await self._claim(self._slow, SLOTS, scope)
        tasks = [asyncio.create_task(self._do(lease, settling=settling)) for lease in slow]
        try:
            outcomes += await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            # A task that was cancelled before it began gave nothing back.
            await give_back(self.store, slow, self.clock)
            raise
        return Round(done=outcomes.count("done"), put_off=outcomes.count("put_off"), failed=outcomes.count("failed"))

    async def _claim(self, kinds: Sequence[str], limit: int, scope: Scope | None = None) -> list[Lease]:
        if not kinds or limit <= 0 or self._stopping:
            return []
        return await claimed(
            self.store,
            owner=self.owner,
            kinds=kinds,
            limit=limit,
            seconds=LEASE_SECONDS,
            scope=scope,
            clock=self.clock,
        )

    async def _each(self, leases: Sequence[Lease], *, settling: bool = False) -> list[Outcome]:
        """Do one after the other; where that ends early, what nobody will do is given back."""
        try:
            return [await self._do(lease, settling=settling) for lease in leases]
        except BaseException:
            await give_back(self.store, leases, self.clock)
            raise

    async def _do(self, lease: Lease, *, settling: bool = False) -> Outcome:
        try:
            again = await self._held(lease)
        except asyncio.CancelledError:
            await give_back(self.store, [lease], self.clock)
            raise
        except Exception as error:  # noqa: BLE001 - the worker's edge: one item's failure is that item's alone
            await self._failed(lease, error)
            return "failed"
        if again is None:
            await to_the_end(self.store.upkeep.finish(lease))
            return "done"
        paced = isinstance(again, Pace)
        at = self.clock.now() + timedelta(seconds=0.0 if paced and settling else again)
        await to_the_end(self.store.upkeep.put_off(lease, at=at, error=None, attempt=False))
        if lease.due.kind in PROMPT:
            return "waits"
        return "done" if paced else "put_off"

    async def _held(self, lease: Lease) -> float | None:
        """Run a step; a slow one's lease is renewed meanwhile, and the step ends where the lease is lost."""
        step = self.steps[lease.due.kind]
        if lease.due.kind not in self._slow and lease.due.kind not in self._apart:
            return await step(lease)
        work = asyncio.ensure_future(step(lease))
        beat = asyncio.ensure_future(self._beat(lease))
        try:
            await asyncio.wait({work, beat}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            log.warning("upkeep: %s lost its lease; somebody else does it", lease.due.kind)
            return 0.0
        finally:
            for task in (work, beat):
                task.cancel()
            await asyncio.gather(work, beat, return_exceptions=True)

    async def _beat(self, lease: Lease) -> None:
        """Renew the lease while it can be renewed."""
        while True:
            await self.clock.sleep(LEASE_SECONDS / BEATS)
            with contextlib.suppress(MemholdError):
                if not await self.store.upkeep.renew(lease, LEASE_SECONDS):
                    return

    async def _failed(self, lease: Lease, error: Exception) -> None:
        attempts = lease.due.attempts
        if isinstance(error, ChainFailed) and error.advice == "park":
            delay = park(attempts, error.retry_after, self.random)
        else:
            asked = error.retry_after if isinstance(error, ChainFailed) else None
            delay = max(backoff(attempts, self.random), min(asked or 0.0, LONGEST_DELAY))
        named = "" if isinstance(error, ModelError) else f"{type(error).__name__}: "  # a model's error is a sentence
        text = f"{named}{error}" if isinstance(error, MemholdError) else type(error).__name__
        log.warning("upkeep: %s failed with %s, again in %.0f s", lease.due.kind, type(error).__name__, delay)
        at = self.clock.now() + timedelta(seconds=delay)
        with contextlib.suppress(MemholdError):
            await to_the_end(self.store.upkeep.put_off(lease, at=at, error=text[:MAX_ERROR]))
