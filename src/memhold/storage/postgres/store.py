"""The PostgreSQL store: writers by namespace, readers on snapshots, one database for any number of processes."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from random import Random
from typing import Any, TypeVar

import psycopg

from memhold.ports.stores import CLOSE_SECONDS, Clock, Priority, StoreFacts
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.storage.open_state import STEADY, Opened, store_time
from memhold.storage.postgres.connection import Location, Session, connect, is_lost, is_race, translated, unwaited
from memhold.storage.postgres.links import PostgresLinkBook
from memhold.storage.postgres.listening import Bell
from memhold.storage.postgres.near_upkeep import NearUpkeep
from memhold.storage.postgres.pool import Pool
from memhold.storage.postgres.reading import PostgresRead
from memhold.storage.postgres.schema import Facts, create_or_migrate
from memhold.storage.postgres.standbys import Positions, Standbys
from memhold.storage.postgres.statements import numbered
from memhold.storage.postgres.tokens import PostgresTokens
from memhold.storage.postgres.upkeep import PostgresUpkeep
from memhold.storage.postgres.usage import PostgresUsageBook
from memhold.storage.postgres.writer import Writer
from memhold.storage.sql.blocks import Row
from memhold.values.errors import MemholdError, StoreUnreachable
from memhold.values.records import Scope, from_micros, micros

__all__ = ["PostgresStore"]

T = TypeVar("T")
log = logging.getLogger("memhold.storage")

_RACES = 8
_BEGIN = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_BOUNDS = (
    b"SELECT set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true)"
)
_WHOLE = b"SELECT set_config('transaction_timeout', $1, true)"
_WHOLE_FROM = 170_000
"""PostgreSQL 17 can end a transaction by its age; before, one that is frozen right after it began stays."""


class PostgresStore(Opened):
    """`Store` over one PostgreSQL database; open it with `PostgresStore.open`.

    Any number of processes on any number of machines may hold the same database open. A namespace has one writer at a
    time; what waits for it waits up to `busy_timeout` seconds. A lost connection is ridden out for `failover_timeout`
    seconds, reads and writes alike. Reads go to standbys where there are any that are as new as what this process wrote
    to the scope and has read of it, else to the primary.
    """

    def __init__(
        self,
        location: Location,
        facts: Facts,
        *,
        clock: Clock,
        busy_timeout: float,
        read_timeout: float,
        failover_timeout: float,
        threads: int,
        listen: bool,
        hnsw_from: int,
        standbys: Sequence[Location],
        positions: Positions,
    ) -> None:
        super().__init__()
        self._location = location
        self._clock = clock
        self._busy_timeout = busy_timeout
        self._read_timeout = read_timeout
        self._failover_timeout = failover_timeout
        self._random = Random()
        self._facts = StoreFacts(
            backend="postgresql", location=location.shown, schema=facts.schema, secret=facts.secret
        )
        self._pool = Pool(self._connect)
        self._readers = ThreadPoolExecutor(threads, thread_name_prefix="memhold-reader")
        self._writer = Writer(
            self._pool,
            shown=location.shown,
            clock=clock,
            woke=self._woke,
            threads=threads,
            ride_out=failover_timeout,
            wrote=self._wrote if standbys else lambda *_: None,
        )
        self._positions = positions
        self._standbys = (
            Standbys(standbys, lock_timeout=busy_timeout, store_id=facts.id, positions=positions) if standbys else None
        )
        self._near = NearUpkeep(read=self.read, write=self.write, call=self._call, least=hnsw_from)
        self._upkeep = PostgresUpkeep(
            change=self._change, look=self._look, call=self._call, near=self._near, woke=self._woke
        )
        self._usage = PostgresUsageBook(change=self._change, look=self._look)
        self._links = PostgresLinkBook(change=self._change, look=self._look)
        self._tokens = PostgresTokens(change=self._change, ask=self._ask)
        self._bell = Bell(self._connect, heard=self._wake) if listen else None

    @classmethod
    async def open(
        cls,
        location: Location,
        *,
        clock: Clock,
        busy_timeout: float = 10.0,
        read_timeout: float = 5.0,
        failover_timeout: float = 30.0,
        threads: int = 4,
        partitions: int = 0,
        listen: bool = False,
        hnsw_from: int = 0,
        standbys: Sequence[Location] = (),
    ) -> PostgresStore:
        """Connect, and make the database a store or bring its schema up to date.

        `threads` bounds the connections for reading, and those for writing; with `listen` one more hears what other
        processes make due. `partitions` counts only where the store is made. A scope gets an index of nearest
        neighbours once it has `hnsw_from` documents; 0 for never. Nothing waits for `standbys`: they are read from once
        they answer.

        Raises:
            StoreUnreachable, NotAStore, NewerStore: it cannot be used; it was left untouched.
        """
        positions = Positions()

        def first() -> Facts:
            with translated(location.shown):
                connection = connect(location, lock_timeout=busy_timeout)
                try:
                    if unwaited(connection):
                        log.warning("synchronous_commit is local: a failover loses writes that were acknowledged")
                    made = create_or_migrate(connection, location, partitions=partitions, now=micros(clock.now()))
                    if standbys:
                        positions.ask(connection, ())
                    return made
                finally:
                    connection.close()

        facts = await asyncio.to_thread(first)
        return cls(
            location,
            facts,
            clock=clock,
            busy_timeout=busy_timeout,
            read_timeout=read_timeout,
            failover_timeout=failover_timeout,
            threads=threads,
            listen=listen,
            hnsw_from=hnsw_from,
            standbys=standbys,
            positions=positions,
        )

    @property
    def standbys(self) -> Standbys | None:
        """The standbys that it reads from."""
        return self._standbys

    @property
    def facts(self) -> StoreFacts:
        return self._facts

    @property
    def upkeep(self) -> PostgresUpkeep:
        return self._upkeep

    @property
    def usage(self) -> PostgresUsageBook:
        return self._usage

    @property
    def links(self) -> PostgresLinkBook:
        return self._links

    @property
    def tokens(self) -> PostgresTokens:
        return self._tokens

    async def write(
        self, scope: Scope, work: Callable[[WriteTx], T], *, priority: Priority = Priority.INTERACTIVE
    ) -> T:
        self._guard()
        return await self._writer.submit(scope, work, priority)

    async def read(self, scope: Scope, work: Callable[[ReadTx], T]) -> T:
        def unit(connection: Session) -> T:
            return snapshot(connection, scope, work, clock=self._clock, seconds=self._read_timeout)

        if self._standbys is None:
            return await self._in_thread(unit)
        standbys = self._standbys

        def from_primary(connection: Session) -> T:
            result = unit(connection)
            self._positions.ask(connection, [scope])
            return result

        def read() -> T:
            with translated(self._location.shown):
                found = standbys.read(scope, unit)
            return self._ridden_out(from_primary) if found is None else found[0]

        self._guard()
        return await asyncio.get_running_loop().run_in_executor(self._readers, read)

    def _wrote(self, connection: Session | None, scopes: Sequence[Scope]) -> None:
        """Note where the log stands after a commit; without a connection nobody knows whether there was one."""
        try:
            if connection is not None:
                self._positions.ask(connection, scopes)
                return
        except psycopg.Error:
            pass
        self._positions.lost()

    async def _look(self, work: Callable[[Session, datetime], T]) -> T:
        return await self._in_thread(lambda connection: self._upkeep_unit(connection, work, "READ ONLY"))

    async def _ask(self, name: str, params: Mapping[str, Any]) -> Sequence[Row]:
        """What one statement of upkeep finds, on one way to the server and back.

        It is asked from the loop; where no connection is idle or that fails, on a thread, which rides out what passes.
        """
        # What travels together is one transaction to the server, without BEGIN and COMMIT.
        asked = [numbered("enter_upkeep", {}), numbered(name, params)]
        self._guard()
        if sys.platform != "win32":
            with self._pool.glance() as connection, suppress(psycopg.Error):
                if connection is not None:
                    return (await connection.glance(asked))[1].fetchall()
        return await self._in_thread(lambda connection: connection.travel(asked)[1].fetchall())

    async def _change(self, work: Callable[[Session, datetime], T]) -> T:
        return await self._in_thread(lambda connection: self._upkeep_unit(connection, work, "READ WRITE"))

    def _upkeep_unit(self, connection: Session, work: Callable[[Session, datetime], T], mode: str) -> T:
        connection.travel([(f"BEGIN {mode}".encode(), ()), numbered("enter_upkeep", {})])
        result = work(connection, self._clock.now())
        connection.execute("COMMIT")
        if self._standbys is not None and mode == "READ WRITE":
            # What a lease is on was written before it: what is then read of it must hold that.
            self._wrote(connection, ())
        return result

    async def _call(self, work: Callable[[Session], T]) -> T:
        """Run something on a connection of its own, outside any transaction."""

        def alone() -> T:
            with translated(self._location.shown):
                connection = self._connect()
                try:
                    return work(connection)
                finally:
                    connection.close()

        self._guard()
        return await asyncio.to_thread(alone)

    async def _in_thread(self, unit: Callable[[Session], T]) -> T:
        self._guard()
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._ridden_out, unit)

    def _ridden_out(self, unit: Callable[[Session], T]) -> T:
        """Run a unit that may run again: it reads, or its effect is the same when it is repeated."""
        until = time.monotonic() + self._failover_timeout
        wait, races = 0.02, 0
        with translated(self._location.shown):
            while True:
                try:
                    with self._pool.lend() as connection:
                        return unit(connection)
                except (psycopg.Error, MemholdError) as error:
                    races += is_race(error)
                    passes = is_race(error) or is_lost(error) or isinstance(error, StoreUnreachable)
                    if not passes or races > _RACES or time.monotonic() > until or self._closed:
                        raise
                    if not is_race(error):
                        self._pool.forget_idle()
                except StopIteration as error:
                    # A future cannot carry it: asyncio would wait for ever.
                    raise RuntimeError("a unit of work raised StopIteration") from error
                time.sleep(wait * self._random.uniform(0.5, 1.0))
                wait = min(1.0, wait * 2)

    def _connect(self) -> Session:
        return connect(self._location, lock_timeout=self._busy_timeout)

    def _woke(self) -> None:
        self._wake()
        if self._bell is not None:
            self._bell.ring()

    def _close(self) -> None:
        self._near.close()
        self._readers.shutdown(wait=True)
        self._writer.close(CLOSE_SECONDS)
        if self._bell is not None:
            self._bell.close()
        if self._standbys is not None:
            self._standbys.close()
        self._pool.close()


def snapshot(
    connection: Session, scope: Scope, work: Callable[[ReadTx], T], *, clock: Clock, seconds: float | None
) -> T:
    """Run a unit of work on a consistent snapshot of its scope, for at most so many seconds."""
    until = None if seconds is None else time.monotonic() + seconds
    limit = "0" if seconds is None else f"{max(1, int(seconds * 1000))}ms"
    # The last statement may begin when the time is nearly over: only one that is frozen lives longer than twice that.
    whole = "0" if seconds is None else f"{1000 + int(seconds * 2000)}ms"
    now = clock.now()
    # A reader holds nobody up: between two statements it may decode for as long as it may read.
    bounds = [(_BOUNDS, (limit,))]
    if connection.info.server_version >= _WHOLE_FROM:
        bounds.append((_WHOLE, (whole,)))
    enter = numbered("enter", {"namespace": scope.namespace, "user_id": scope.user or ""})
    clocks = numbered("read_clock", {"until": micros(now + STEADY)})
    last = connection.travel([(_BEGIN, ()), *bounds, enter, clocks])[-1].fetchone()
    time_ = store_time(now, from_micros(int(last[0]) if last is not None else 0))
    tx = PostgresRead(connection, scope, time_, until=until)
    try:
        return work(tx)
    finally:
        tx.end()
        # What was read stands, also where the server ended the transaction since; the pool lets go of what broke.
        with suppress(psycopg.Error):
            connection.roll_back()
