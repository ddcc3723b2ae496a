"""Writing: units of work of one namespace one after the other, those that wait together in one transaction.

A namespace has one writer at a time, whatever the number of processes: a transaction first locks the namespace's row,
which the rule "commit order is the order of the change numbers" asks for anyway. So inside a namespace a unit of work
sees everything that was acknowledged before it, and namespaces do not wait for each other.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

import psycopg

from memhold.ports.stores import Clock, Priority
from memhold.ports.transaction import WriteTx
from memhold.storage.open_state import given_up, settle
from memhold.storage.postgres.connection import Session, in_our_words, is_lost, is_race
from memhold.storage.postgres.jobs import Done, Job, Queue
from memhold.storage.postgres.pool import Pool
from memhold.storage.postgres.transaction import UnansweredError, WriteTransaction, committed
from memhold.values.errors import MemholdError, OutcomeUnknown, StoreUnreachable
from memhold.values.records import Scope

__all__ = ["Writer"]

T = TypeVar("T")

GROUP_SECONDS = 0.02
"""A group takes no further write after this long: others wait for the lock of its namespace."""
RACES = 8
"""How often a transaction is run again that lost a race (deadlock, serialization)."""
FIRST_WAIT, LONGEST_WAIT = 0.02, 1.0


@dataclass(slots=True)
class _Group:
    """What one transaction did so far."""

    jobs: list[Job] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)
    woke: bool = False
    committed: bool = False
    """From then on nothing makes it undone, or done once more."""


class Writer:
    """A few threads that run the units of work that wait, each in its own savepoint.

    Interactive writes go before the worker's, and those before imports. Where the transaction fails, each of its units
    is run once more alone. `wrote` is told of each commit before its callers are, on its connection; on none where the
    answer was lost. A lost connection is ridden out for `ride_out` seconds: what was not committed is run again,
    and a COMMIT whose answer was lost is settled by the mark that it left in its namespace.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        shown: str,
        clock: Clock,
        woke: Callable[[], None],
        threads: int,
        ride_out: float,
        wrote: Callable[[Session | None, Sequence[Scope]], None],
    ) -> None:
        self._pool = pool
        self._shown = shown
        self._clock = clock
        self._woke = woke
        self._ride_out = ride_out
        self._wrote = wrote
        self._random = Random()
        self._queue = Queue()
        self._limit = threads
        self._threads: list[threading.Thread] = []
        self._gives_up_at = math.inf

    def submit(self, scope: Scope, work: Callable[[WriteTx], T], priority: Priority) -> asyncio.Future[T]:
        """Queue a unit of work; the future is done once it is durable or has failed."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        waiting = self._queue.put(scope, work, int(priority), future)
        # A thread is made when it is needed: most processes write to one namespace.
        if waiting and len(self._threads) < self._limit:
            thread = threading.Thread(target=self._run, name="memhold-writer", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def close(self, timeout: float) -> None:
        """Finish what was queued; what did not get its turn within `timeout` seconds fails with `StoreClosed`."""
        self._gives_up_at = time.monotonic() + timeout
        self._queue.close(self._gives_up_at)
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        while (job := self._queue.first()) is not None:
            try:
                self._write(job)
            finally:
                self._queue.release(job.scope.namespace)

    def _write(self, job: Job) -> None:
        group = _Group()
        try:
            self._group(job, group)
        except BaseException as error:  # noqa: BLE001 - the thread's edge: every failure goes to its caller
            if group.committed:
                self._answer(group)
                return
            again = group.jobs or [job]
            if isinstance(error, OutcomeUnknown) or (len(again) == 1 and not _passes(error)):
                settle([(one, None, in_our_words(self._shown, error)) for one in again])
                return
            for one in again:
                self._alone(one)
        else:
            self._answer(group)

    def _group(self, job: Job, group: _Group) -> None:
        """Run a unit and those that wait with it."""
        until = time.monotonic() + GROUP_SECONDS
        with self._pool.lend() as connection:
            transaction = WriteTransaction(connection, job.scope, self._clock)
            current: Job | None = job
            while current is not None:
                if not current.future.cancelled():
                    group.jobs.append(current)
                    self._one(transaction, current, group)
                current = self._queue.another(current.scope) if time.monotonic() < until else None
            self._commit(transaction)
            group.committed = True
            self._wrote(connection, [one.scope for one in group.jobs])

    def _one(self, transaction: WriteTransaction, job: Job, group: _Group) -> None:
        result, error, woke = transaction.run(job.scope, job.work, self._shown)
        group.woke = group.woke or woke
        group.done.append((job, result, error))

    def _commit(self, transaction: WriteTransaction) -> None:
        """Commit for sure, or fail for sure.

        Raises:
            OutcomeUnknown: nobody can tell.
        """
        try:
            transaction.commit()
        except UnansweredError as unanswered:
            self._wrote(None, ())
            if not self._settled(unanswered):
                raise StoreUnreachable(f"{self._shown} went away before the commit; nothing was stored") from None

    def _settled(self, unanswered: UnansweredError) -> bool:
        """Whether a commit took effect whose answer was lost.

        Raises:
            OutcomeUnknown: the database stayed away too long, or too much was written since.
        """
        until = time.monotonic() + self._ride_out
        for wait in self._waits(until):
            self._pool.forget_idle()
            try:
                with self._pool.lend() as connection:
                    found = committed(connection, unanswered)
            except (psycopg.Error, MemholdError) as error:
                if not _passes(error):
                    break
                time.sleep(wait)
                continue
            if found is None:
                break
            return found
        raise OutcomeUnknown(
            f"{self._shown} was lost while it committed, and nothing tells whether it did;"
            " send it again with the same idempotency key"
        )

    def _alone(self, job: Job) -> None:
        """Run one unit in a transaction of its own, again while what fails may pass."""
        until = time.monotonic() + self._ride_out
        races = 0
        error: BaseException = given_up()
        for wait in self._waits(until):
            if time.monotonic() > self._gives_up_at:
                break
            group = _Group()
            try:
                with self._pool.lend() as connection:
                    transaction = WriteTransaction(connection, job.scope, self._clock)
                    self._one(transaction, job, group)
                    self._commit(transaction)
                    group.committed = True
                    self._wrote(connection, [job.scope])
            except BaseException as failure:  # noqa: BLE001 - the thread's edge: every failure goes to its caller
                if group.committed:
                    self._answer(group)
                    return
                error = failure
                races += is_race(failure)
                if not _passes(failure) or races > RACES:
                    break
                if not is_race(failure):
                    self._pool.forget_idle()
                time.sleep(wait)
            else:
                self._answer(group)
                return
        settle([(job, None, in_our_words(self._shown, error))])

    def _waits(self, until: float) -> Any:
        """Pauses that double, with jitter, as long as the time is not over; the last try comes when it is."""
        wait = FIRST_WAIT
        while True:
            over = time.monotonic() > until
            yield wait * self._random.uniform(0.5, 1.0)
            if over:
                return
            wait = min(LONGEST_WAIT, wait * 2)

    def _answer(self, group: _Group) -> None:
        settle(group.done)
        if group.woke:
            self._woke()


def _passes(error: BaseException) -> bool:
    """Whether running it again may help."""
    return isinstance(error, StoreUnreachable) or is_lost(error) or is_race(error)
