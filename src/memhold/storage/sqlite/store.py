"""The SQLite store: one writer thread, a few reading threads, one file."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import apsw

from memhold.ports.stores import CLOSE_SECONDS, Clock, Priority, StoreFacts
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.ports.unfinished import sweep
from memhold.storage.open_state import Opened, kept_time, store_time
from memhold.storage.sqlite.connection import (
    check_readable,
    connect,
    connect_to_read,
    create_or_migrate,
    roll_back,
    translated,
)
from memhold.storage.sqlite.ledger import identity, reconcile
from memhold.storage.sqlite.links import SqliteLinkBook
from memhold.storage.sqlite.log_files import LogFiles
from memhold.storage.sqlite.reading import QUERIES, SqliteRead
from memhold.storage.sqlite.tokens import SqliteTokens
from memhold.storage.sqlite.upkeep import SqliteUpkeep
from memhold.storage.sqlite.usage import SqliteUsageBook
from memhold.storage.sqlite.writer import NoWriter, Writer
from memhold.values.errors import NotAStore, StoreBusy, StoreError
from memhold.values.records import Scope, micros

__all__ = ["SqliteStore"]

T = TypeVar("T")
log = logging.getLogger("memhold.storage")

_READERS = 4
_PROGRESS_STEPS = 50_000


class SqliteStore(Opened):
    """`Store` over one SQLite file.

    Opening a path that is not there makes the file (mode 0600; its folder 0700). Several processes may hold the same
    file open; each write takes SQLite's lock, and waits up to `busy_timeout` seconds for it. With `read_only` the
    file is never changed, and one on a mount that is only read can be opened while nobody writes to it.
    """

    def __init__(
        self,
        path: str,
        *,
        clock: Clock,
        busy_timeout: float = 10.0,
        read_timeout: float = 5.0,
        vfs: str | None = None,
        key: str = "",
        read_only: bool = False,
    ) -> None:
        super().__init__()
        self._path = path
        self._clock = clock
        self._busy_timeout = busy_timeout
        self._read_timeout = read_timeout
        self._vfs = vfs
        self._key = key
        self._local = threading.local()
        self._open_readers: list[apsw.Connection] = []
        self._glances: apsw.Connection | None = None
        self._read_only = read_only
        self._files: LogFiles | None = None
        schema = 0
        if not read_only:
            schema = create_or_migrate(path, busy_timeout=busy_timeout, now=micros(clock.now()), vfs=vfs, key=key)
        elif not Path(path).is_file():
            raise NotAStore(f"there is no store at {path} to read", path=path)
        with translated(path):
            self._writer: Writer | NoWriter = (
                NoWriter(path) if read_only else Writer(self._connect, path=path, clock=clock, woke=self._wake)
            )
            try:
                with contextlib.closing(self._connect()) as reader:
                    if read_only:
                        schema = check_readable(reader, path)
                    secret = identity(reader).secret
                    if isinstance(self._writer, Writer) and vfs is None:
                        # Only now do the log and its index stand there.
                        self._writer.files = self._files = LogFiles(path)
                    if not read_only:
                        self._note_at_open(reader)
            except BaseException:
                # Nobody gets a store to close: the thread would stay, and hold the file.
                self._writer.close(CLOSE_SECONDS)
                raise
        self._facts = StoreFacts(backend="sqlite", location=path, schema=schema, secret=secret)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="memhold-reader")
        self._upkeep = SqliteUpkeep(
            write=self.write, read=self._look, call=self._writer.call, note=self._note, encrypted=bool(key)
        )
        self._usage = SqliteUsageBook(write=self.write, read=self._look)
        self._links = SqliteLinkBook(write=self.write, read=self._look)
        self._tokens = SqliteTokens(write=self.write, read=self._look, glance=self._glance)

    @property
    def facts(self) -> StoreFacts:
        return self._facts

    @property
    def upkeep(self) -> SqliteUpkeep:
        return self._upkeep

    @property
    def usage(self) -> SqliteUsageBook:
        return self._usage

    @property
    def links(self) -> SqliteLinkBook:
        return self._links

    @property
    def tokens(self) -> SqliteTokens:
        return self._tokens

    def on_due(self, wake: Callable[[], None]) -> None:
        super().on_due(wake)
        self._writer.watch()

    async def write(
        self, scope: Scope, work: Callable[[WriteTx], T], *, priority: Priority = Priority.INTERACTIVE
    ) -> T:
        self._guard()
        return await self._writer.submit(scope, work, priority)

    async def read(self, scope: Scope, work: Callable[[ReadTx], T]) -> T:
        def unit(connection: apsw.Connection, clock: datetime) -> T:
            last = kept_time(connection.execute(QUERIES["read_clock"]).get)
            tx = SqliteRead(connection, scope, store_time(clock, last))
            try:
                return work(tx)
            finally:
                tx.end()
                self._tell_damaged(tx.damaged)

        return await self._look(unit)

    async def _look(self, work: Callable[[apsw.Connection, datetime], T]) -> T:
        self._guard()
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._snapshot, work)

    def _snapshot(self, work: Callable[[apsw.Connection, datetime], T]) -> T:
        self._refuse_loss()
        with translated(self._path):
            connection = self._reader()
        with translated(self._path, connection):
            until = time.monotonic() + self._read_timeout
            connection.set_progress_handler(lambda: time.monotonic() > until, _PROGRESS_STEPS)
            connection.execute("BEGIN")
            try:
                return work(connection, self._clock.now())
            except StopIteration as error:
                # A future cannot carry it: asyncio would wait for ever.
                raise RuntimeError("a unit of work raised StopIteration") from error
            finally:
                connection.set_progress_handler(None)
                roll_back(connection)

    async def _glance(self, work: Callable[[apsw.Connection, datetime], T]) -> T:
        """One statement that finds a row by its key, read on the loop: to hand it to a thread costs ten times as much.

        Where anything would keep it waiting it is read on a thread after all.
        """
        self._guard()
        if self._glances is None:
            self._glances = await asyncio.get_running_loop().run_in_executor(self._readers, self._unwaiting)
        self._refuse_loss()
        try:
            with translated(self._path):
                return work(self._glances, self._clock.now())
        except StoreBusy:
            return await self._look(work)

    def _unwaiting(self) -> apsw.Connection:
        connection = self._connect()
        connection.set_busy_timeout(0)
        connection.execute("PRAGMA query_only = ON")
        self._open_readers.append(connection)
        return connection

    def _reader(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._connect()
            connection.execute("PRAGMA query_only = ON")
            self._local.connection = connection
            self._open_readers.append(connection)
        return connection

    def _connect(self) -> apsw.Connection:
        if self._read_only:
            return connect_to_read(self._path, busy_timeout=self._busy_timeout, key=self._key)
        return connect(self._path, busy_timeout=self._busy_timeout, vfs=self._vfs, key=self._key)

    def _refuse_loss(self) -> None:
        if self._files is not None:
            self._files.refuse_loss()

    def _note(self, connection: apsw.Connection) -> None:
        """Bring the ledger of what was forgotten up to date; a file system of a test has none."""
        if self._vfs is None:
            reconcile(connection, self._path)
            self._sweep()

    def _sweep(self) -> None:
        """Remove what killed processes left of backups, exports and restores of this store."""
        for part in sweep(Path(self._path)) if self._vfs is None else ():
            log.warning("%s was left by a process that was stopped; it is removed", part)

    def _note_at_open(self, reader: apsw.Connection) -> None:
        try:
            self._note(reader)
        except StoreError as error:
            # The store itself is fine: the next forget tries again, and doctor tells.
            log.warning("the ledger of what was forgotten lags: %s", error)

    def _close(self) -> None:
        self._readers.shutdown(wait=True)
        for connection in self._open_readers:
            with contextlib.suppress(apsw.Error):
                connection.close()
        self._writer.close(CLOSE_SECONDS)
