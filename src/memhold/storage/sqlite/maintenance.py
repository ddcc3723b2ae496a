"""`Maintenance` over one SQLite file: connections of its own, in threads, so that nothing waits for a long look."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memhold.ports.stores import Clock
from memhold.ports.transaction import ReadTx
from memhold.storage.open_state import kept_time, store_time
from memhold.storage.sqlite.connection import connect, connect_to_read, roll_back, translated
from memhold.storage.sqlite.reading import QUERIES, SqliteRead
from memhold.values.errors import StoreCorrupt
from memhold.values.records import Scope

if TYPE_CHECKING:
    from memhold.ports.maintenance import Finding, Manifest, Usage

__all__ = ["SqliteMaintenance"]

T = TypeVar("T")


class SqliteMaintenance:
    """Backups, check-ups and long looks at one file."""

    def __init__(
        self, path: str, *, clock: Clock, schema: int, release: str, busy_timeout: float = 10.0, key: str = ""
    ) -> None:
        self._path = path
        self._clock = clock
        self._schema = schema
        self._release = release
        self._busy_timeout = busy_timeout
        self._key = key

    async def usage(self, since: date | None = None) -> tuple[Usage, ...]:
        return await asyncio.to_thread(self._usage, since)

    def _usage(self, since: date | None) -> tuple[Usage, ...]:
        from memhold.ports.maintenance import Usage
        from memhold.storage.growth import days_of, first_moment
        from memhold.storage.sqlite.ledger import KEEPING

        found: dict[str, Usage] = {}
        with translated(self._path):
            connection = connect_to_read(self._path, busy_timeout=self._busy_timeout, key=self._key)
            try:
                rows: list[Any] = connection.execute(KEEPING["usage"]).fetchall()
                days: list[Any] = []
                if since is not None:
                    days = connection.execute(KEEPING["written_by_day"], {"since": first_moment(since)}).fetchall()
            finally:
                connection.close()
        if not all(isinstance(row[0], str) for row in (*rows, *days)):
            raise StoreCorrupt("a namespace cannot be read; run 'memhold doctor', then 'memhold restore'")
        for namespace, what, count, size in rows:
            held = found.get(namespace, Usage(namespace=namespace))
            counted = {} if what == "words" else {what: count}
            found[namespace] = replace(held, bytes=held.bytes + (size or 0), **counted)
        grown = {name: days_of(row[1:] for row in days if row[0] == name) for name in {row[0] for row in days}}
        return tuple(replace(found[name], days=grown.get(name, ())) for name in sorted(found))

    async def backup(self, target: Path, *, progress: Callable[[int, int], None] | None = None) -> Manifest:
        return await asyncio.to_thread(self._backup, target, progress)

    def _backup(self, target: Path, progress: Callable[[int, int], None] | None) -> Manifest:
        from memhold.storage.sqlite.backup import write_backup
        from memhold.storage.sqlite.ledger import reconcile

        with translated(self._path):
            connection = connect(self._path, busy_timeout=self._busy_timeout, key=self._key)
            try:
                reconcile(connection, self._path)
            finally:
                connection.close()
        return write_backup(
            self._path,
            target.absolute(),
            now=self._clock.now(),
            release=(self._release, self._schema),
            busy_timeout=self._busy_timeout,
            progress=progress,
            key=self._key,
        )

    async def examine(self) -> tuple[Finding, ...]:
        from memhold.storage.sqlite.doctor import examine

        return await asyncio.to_thread(
            examine, self._path, now=self._clock.now(), busy_timeout=self._busy_timeout, key=self._key
        )

    async def examine_trees(self) -> tuple[Finding, ...]:
        from memhold.storage.sqlite.doctor import examine_trees

        stop = threading.Event()

        def work() -> tuple[Finding, ...]:
            with translated(self._path):
                return examine_trees(self._path, busy_timeout=self._busy_timeout, key=self._key, stopped=stop.is_set)

        try:
            return await asyncio.to_thread(work)
        finally:
            # A thread cannot be cancelled: one that went on would keep the process from its end.
            stop.set()

    async def mend_indexes(self) -> int:
        from memhold.storage.sqlite.rot import mend_indexes

        def work() -> int:
            with translated(self._path):
                connection = connect(self._path, busy_timeout=self._busy_timeout, key=self._key)
            with closing(connection), translated(self._path, connection):
                return mend_indexes(connection)

        return await asyncio.to_thread(work)

    async def survey(self, scope: Scope, work: Callable[[ReadTx], T]) -> T:
        return await asyncio.to_thread(self._survey, scope, work)

    def _survey(self, scope: Scope, work: Callable[[ReadTx], T]) -> T:
        with translated(self._path):
            connection = connect_to_read(self._path, busy_timeout=self._busy_timeout, key=self._key)
            try:
                connection.execute("BEGIN")
                last = kept_time(connection.execute(QUERIES["read_clock"]).get)
                tx = SqliteRead(connection, scope, store_time(self._clock.now(), last))
                try:
                    return work(tx)
                finally:
                    tx.end()
                    roll_back(connection)
            finally:
                connection.close()
