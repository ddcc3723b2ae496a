"""Maintenance of one PostgreSQL database: connections of its own, in threads, so that nothing waits for a long look."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TypeVar

from memhold.ports.maintenance import Finding, Manifest, Usage
from memhold.ports.stores import Clock
from memhold.ports.transaction import ReadTx
from memhold.storage.growth import days_of, first_moment
from memhold.storage.postgres.connection import Location, Session, connect, translated
from memhold.storage.postgres.doctor import KEEPING, examine, examine_scope
from memhold.storage.postgres.statements import QUERIES
from memhold.storage.postgres.store import snapshot
from memhold.values.errors import InvalidInput
from memhold.values.records import Scope

__all__ = ["PostgresMaintenance"]

T = TypeVar("T")


class PostgresMaintenance:
    """Check-ups and long looks at one database; its backups are PostgreSQL's own."""

    def __init__(self, location: Location, *, clock: Clock, busy_timeout: float = 10.0) -> None:
        self._location = location
        self._clock = clock
        self._busy_timeout = busy_timeout

    async def usage(self, since: date | None = None) -> tuple[Usage, ...]:
        return await asyncio.to_thread(self._with_connection, lambda connection: self._usage(connection, since))

    def _usage(self, connection: Session, since: date | None) -> tuple[Usage, ...]:
        found: dict[str, Usage] = {}
        days: dict[str, list[tuple[str, int, int, int | None]]] = {}
        for scope in _scopes(connection):
            held = found.get(scope.namespace, Usage(namespace=scope.namespace))
            held = replace(held, users=held.users + 1)
            rows = _entered(connection, scope, lambda: connection.execute(KEEPING["usage"], _bound(scope)).fetchall())  # noqa: B023
            for what, count, size in rows:
                counted = {} if what == "words" else {what: getattr(held, what) + count}
                held = replace(held, bytes=held.bytes + int(size or 0), **counted)
            found[scope.namespace] = held
            if since is not None:
                days.setdefault(scope.namespace, []).extend(_written(connection, scope, since))
        return tuple(replace(found[name], days=days_of(days.get(name, ()))) for name in sorted(found))

    async def backup(self, target: Path, *, progress: Callable[[int, int], None] | None = None) -> Manifest:
        del progress
        raise InvalidInput(
            f"a store on PostgreSQL is backed up with PostgreSQL's tools: pg_dump -Fc -U postgres -f {target} …, or a"
            " base backup and its archived log; as the store's own role pg_dump sees no row (docs/scaling.md)"
        )

    async def examine(self) -> tuple[Finding, ...]:
        return await asyncio.to_thread(self._with_connection, self._examine)

    def _examine(self, connection: Session) -> tuple[Finding, ...]:
        found = list(examine(connection, self._location, now=self._clock.now()))
        for scope in _scopes(connection):
            whose = f"namespace {scope.namespace!r}, " + (f"user {scope.user!r}" if scope.user else "no user")
            now = self._clock.now()
            found += _entered(connection, scope, lambda: list(examine_scope(connection, scope, whose, now)))  # noqa: B023
        return tuple(found)

    async def examine_trees(self) -> tuple[Finding, ...]:
        """Nothing: pages and keys are the server's to check (`data_checksums`, `amcheck`)."""
        return ()

    async def mend_indexes(self) -> int:
        """None: an index of PostgreSQL that lacks a row stops no row from being erased, and REINDEX is its owner's."""
        return 0

    async def survey(self, scope: Scope, work: Callable[[ReadTx], T]) -> T:
        def look(connection: Session) -> T:
            return snapshot(connection, scope, work, clock=self._clock, seconds=None)

        return await asyncio.to_thread(self._with_connection, look)

    def _with_connection(self, work: Callable[[Session], T]) -> T:
        with (
            translated(self._location.shown),
            closing(connect(self._location, lock_timeout=self._busy_timeout)) as connection,
        ):
            return work(connection)


def _written(connection: Session, scope: Scope, since: date) -> list[tuple[str, int, int, int | None]]:
    params = {**_bound(scope), "since": first_moment(since)}
    return _entered(connection, scope, lambda: connection.execute(KEEPING["written_by_day"], params).fetchall())


def _bound(scope: Scope) -> dict[str, str]:
    return {"namespace": scope.namespace, "user_id": scope.user or ""}


def _scopes(connection: Session) -> list[Scope]:
    with connection.transaction():
        connection.execute(QUERIES["enter_upkeep"])
        found = connection.execute(QUERIES["read_scopes"]).fetchall()
    return [Scope(namespace=namespace, user=user or None) for namespace, user in found]


def _entered(connection: Session, scope: Scope, work: Callable[[], T]) -> T:
    with connection.transaction():
        connection.execute(QUERIES["enter"], _bound(scope))
        return work()
