"""The one writer of a file: writes that wait together become durable together (group commit)."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import apsw

from memhold.ports.stores import Clock, Priority
from memhold.ports.transaction import WriteTx
from memhold.storage.open_state import StoreTime, given_up, kept_time, settle, store_time
from memhold.storage.sql.row_batches import Known, RowBatch
from memhold.storage.sql.writes import SqlWrite
from memhold.storage.sqlite.connection import roll_back, translated
from memhold.storage.sqlite.log_files import LogFiles, Loss
from memhold.storage.sqlite.reading import QUERIES, SqliteStatements
from memhold.values.errors import MemholdError, StoreClosed, StoreReadOnly
from memhold.values.records import Scope, micros

__all__ = ["NoWriter", "SqliteWrite", "Writer"]


class SqliteWrite(SqlWrite):
    """`WriteTx` over the writer's connection."""

    def __init__(self, gathered: RowBatch, scope: Scope, time: StoreTime, *, connection: apsw.Connection) -> None:
        super().__init__(gathered, scope, time)
        self._connection = connection

    @property
    def clock(self) -> datetime:
        """What the machine's clock says."""
        return self._time.clock

    @property
    def connection(self) -> apsw.Connection:
        """The connection, for upkeep alone; everything that waits is written before."""
        self._mark()
        self._write_out()
        return self._connection


T = TypeVar("T")

GROUP_SECONDS = 0.02
"""A group takes no further write after this long, so that nothing holds the write lock over 50 ms."""
LOOK_SECONDS = 1.0
"""How long another process may have written before those who wait for due work here are told."""


class _Note(Enum):
    END = "nothing arrives any more"
    WATCH = "somebody waits for due work"


@dataclass(slots=True)
class _Job:
    priority: Priority
    work: Callable[[Any], Any]
    future: asyncio.Future[Any]
    scope: Scope | None
    """The scope of a unit of work; None for work on the bare connection, outside any transaction."""


class Writer:
    """A thread that owns the write connection.

    Interactive writes go before the worker's, and those before imports. Each write of a group runs in its own
    savepoint: one that fails takes nothing with it. Where the group's commit fails, each of its writes is tried once
    more alone, so that only those that cannot be stored fail.
    """

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        *,
        path: str,
        clock: Clock,
        woke: Callable[[], None],
    ) -> None:
        self._connect = connect
        self._path = path
        self._clock = clock
        self._woke = woke
        self.files: LogFiles | None = None
        """The files that it writes to, once they are known."""
        self._arrived: SimpleQueue[_Job | _Note] = SimpleQueue()
        self._lanes: tuple[deque[_Job], ...] = tuple(deque() for _ in Priority)
        self._ended = False
        self._watches = False
        self._closed = False
        self._gives_up_at = math.inf
        self._closing = threading.Lock()
        self._known = Known()
        self._unheard = False
        self._set_back = False
        self._thread = threading.Thread(target=self._run, name="memhold-writer", daemon=True)
        self._connection = connect()
        self._version = self._connection.execute("PRAGMA data_version").get
        self._thread.start()

    def submit(self, scope: Scope, work: Callable[[WriteTx], T], priority: Priority) -> asyncio.Future[T]:
        """Queue a unit of work; the future is done once it is durable or has failed."""
        return self._queue(scope, work, priority)

    def call(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        """Run something on the write connection outside any transaction: checkpoints and scrubs."""
        return self._queue(None, work, Priority.WORKER)

    def watch(self) -> None:
        """From now on tell also of what other processes write, within a second: nothing else on a file would."""
        self._arrived.put(_Note.WATCH)

    def _queue(self, scope: Scope | None, work: Callable[[Any], T], priority: Priority) -> asyncio.Future[T]:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._closing:
            if self._closed:
                raise StoreClosed("the store is closed; open it again")
            self._arrived.put(_Job(priority, work, future, scope))
        return future

    def close(self, timeout: float) -> None:
        """Finish what was queued, then close the connection.

        What did not get its turn within `timeout` seconds fails with `StoreClosed`; the write at hand ends first,
        within the busy timeout.
        """
        with self._closing:
            self._closed = True
            self._gives_up_at = time.monotonic() + timeout
            # Nothing arrives after it.
            self._arrived.put(_Note.END)
        self._thread.join()

    def _next(self, *, wait: bool) -> _Job | None:
        """The most urgent job; None once all is done and closed, or where there is none to `wait` for."""
        while True:
            while not self._arrived.empty():
                self._sort(self._arrived.get())
            if time.monotonic() > self._gives_up_at:
                settle([(job, None, given_up()) for lane in self._lanes for job in lane])
                for lane in self._lanes:
                    lane.clear()
            for lane in self._lanes:
                if lane:
                    return lane.popleft()
            if self._ended or not wait:
                return None
            self._wait()

    def _wait(self) -> None:
        """Wait for what arrives; an idle writer looks meanwhile for what others write, where somebody wants to know."""
        try:
            self._sort(self._arrived.get(timeout=LOOK_SECONDS if self._watches else None))
        except Empty:
            with contextlib.suppress(apsw.Error):
                self._look_at_others()
            self._tell()

    def _sort(self, arrived: _Job | _Note) -> None:
        match arrived:
            case _Note.END:
                self._ended = True
            case _Note.WATCH:
                self._watches = True
            case job:
                self._lanes[job.priority].append(job)

    def _run(self) -> None:
        while (job := self._next(wait=True)) is not None:
            outside: _Job | None = job if job.scope is None else self._group(job)
            if outside is not None:
                self._outside(outside)
        self._save()
        # A disk that is gone fails the last checkpoint; what was acknowledged is in the log.
        with contextlib.suppress(apsw.Error):
            self._connection.close()

    def _save(self) -> None:
        """Bring what stands in a log without a name into the file, unless others have written to the log at its place.

        Where that cannot be told, or the log's index is not the one that others use, the file is left alone.
        """
        loss = None if self.files is None else self.files.loss()
        if loss is None or loss is Loss.FILE:
            return
        with contextlib.suppress(apsw.Error):
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            if loss is Loss.LOG:
                self._connection.execute("BEGIN IMMEDIATE")
                alone = self._connection.execute("PRAGMA data_version").get == self._version
                self._connection.execute("ROLLBACK")
                if alone:
                    self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def _outside(self, job: _Job) -> None:
        self._forget()
        try:
            with translated(self._path, self._connection):
                self._refuse_loss()
                result, error = job.work(self._connection), None
        except BaseException as failure:  # noqa: BLE001 - the thread's edge: every failure goes to its caller
            result, error = None, failure
        settle([(job, result, error)])

    def _group(self, job: _Job, *, alone: bool = False) -> _Job | None:
        """Run a write, and unless `alone` those that wait, in one transaction; returns a job that must run outside."""
        begun = [job]
        done: list[_Done] = []
        outside: _Job | None = None
        woke = False
        try:
            with translated(self._path, self._connection):
                gathered, now = self._begin()
                until = time.monotonic() + (0 if alone else GROUP_SECONDS)
                current: _Job | None = job
                while current is not None and current.scope is not None:
                    if current is not job:
                        begun.append(current)
                    if not current.future.cancelled():
                        gathered, result, error, due = self._one(current, current.scope, gathered, now)
                        woke = woke or due
                        done.append((current, result, error))
                    current = self._next(wait=False) if time.monotonic() < until else None
                    if current is not None:
                        now = store_time(self._clock.now(), now.dated)
                outside = current
                if self._set_back:
                    now = StoreTime(dated=now.clock, clock=now.clock)
                self._commit(gathered, now.dated)
        except BaseException as error:  # noqa: BLE001 - the thread's edge: every failure goes to its caller
            woke = False
            self._roll_back()
            self._regroup(begun, error)
        else:
            # Those who wait come last: a loop that wakes up while this thread goes on only waits for the interpreter.
            self._known.learn(gathered, now.dated)
            if self.files is not None:
                self.files.written()
            settle(done)
        self._tell(due=woke)
        return outside

    def _tell(self, *, due: bool = False) -> None:
        """Wake those who wait for due work, where some was made, or others have written what nobody was told of yet."""
        if due or self._unheard:
            self._unheard = False
            self._woke()

    def _one(
        self, job: _Job, scope: Scope, gathered: RowBatch, now: StoreTime
    ) -> tuple[RowBatch, Any, BaseException | None, bool]:
        """Run one write in its savepoint: what is gathered after it, its result or its error, whether it made work due.

        A write that fails leaves what was gathered before it.

        Raises:
            apsw.Error: SQLite gave up the whole transaction (no room, an I/O error); nothing of the group stands.
        """
        gathered.begin()
        tx = SqliteWrite(gathered, scope, now, connection=self._connection)
        try:
            with translated(self._path, self._connection):
                result = job.work(tx)
        except BaseException as error:
            if not self._connection.in_transaction:
                raise
            if tx.marked:
                self._connection.execute("ROLLBACK TO one")
                self._connection.execute("RELEASE one")
            return gathered.taken_back(), None, error, False
        finally:
            tx.end()
        if tx.marked:
            self._connection.execute("RELEASE one")
        gathered.end()
        self._set_back = self._set_back or tx.set_back
        return gathered, result, None, tx.woke

    def _regroup(self, jobs: list[_Job], error: BaseException) -> None:
        """The transaction failed: try its writes once more, each alone; a lone one fails."""
        if len(jobs) == 1:
            settle([(jobs[0], None, error)])
            return
        for job in jobs:
            if time.monotonic() > self._gives_up_at:
                settle([(job, None, given_up())])
            else:
                self._group(job, alone=True)

    def _look_at_others(self) -> None:
        """Notice where another connection has committed since the last look; what is known of the rows goes then."""
        version = self._connection.execute("PRAGMA data_version").get
        if version != self._version:
            self._forget()
            self._version = version
            self._unheard = True

    def _forget(self) -> None:
        """Know nothing more of rows and of the log than what stands there."""
        self._known.clear()
        if self.files is not None:
            self.files.unknown()

    def _refuse_loss(self, *, alone: bool = False) -> None:
        if self.files is not None and self.files.loss(alone=alone) is not None:
            roll_back(self._connection)
            self._save()
            self.files.refuse_loss()

    def _begin(self) -> tuple[RowBatch, StoreTime]:
        """Begin a transaction, dated after the last one, whoever wrote that."""
        self._refuse_loss()  # an index that was cut short ends the process that reads it
        self._connection.execute("BEGIN IMMEDIATE")
        self._look_at_others()
        self._refuse_loss(alone=True)
        if self._known.clock is None:
            self._known.clock = kept_time(self._connection.execute(QUERIES["read_clock"]).get)
        now = store_time(self._clock.now(), self._known.clock)
        self._set_back = False
        return RowBatch(SqliteStatements(self._connection), self._known), now

    def _commit(self, gathered: RowBatch, now: datetime) -> None:
        gathered.write()
        self._connection.execute(QUERIES["write_clock"], {"now": micros(now)})
        self._connection.execute("COMMIT")

    def _roll_back(self) -> None:
        self._known.clear()
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except apsw.Error:
            # The connection is beyond use; a new one begins clean. Where none can be made the next write tries again:
            # a thread that ended here would leave every later write waiting.
            self._connection.close(True)
            with contextlib.suppress(apsw.Error, MemholdError, OSError):
                self._connection = self._connect()


_Done = tuple[_Job, Any, BaseException | None]


class NoWriter:
    """In the place of a writer where a file is only read."""

    def __init__(self, path: str) -> None:
        self._path = path

    def submit(self, scope: Scope, work: Callable[[WriteTx], T], priority: Priority) -> asyncio.Future[T]:
        """Refuse it."""
        del scope, work, priority
        raise self._refusal()

    def call(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        """Refuse it."""
        del work
        raise self._refusal()

    def watch(self) -> None:
        """Nobody is told of anything."""

    def close(self, timeout: float) -> None:
        """There is nothing to end."""

    def _refusal(self) -> StoreReadOnly:
        return StoreReadOnly(f"{self._path} was opened with read_only; nothing was stored, open it without to write")
