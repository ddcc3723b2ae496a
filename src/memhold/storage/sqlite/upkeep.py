"""Due work and leases across scopes, and the scrub that makes forgotten bytes disappear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from memhold.ports.processes import is_gone
from memhold.ports.stores import Lease
from memhold.storage.sql import rows
from memhold.storage.sql.due_rows import EVER, at_params, due_params, listed_kinds, whose_params
from memhold.storage.sql.writes import SOON
from memhold.storage.sqlite.raw import has_stale_cells
from memhold.storage.sqlite.reading import QUERIES
from memhold.storage.sqlite.writer import SqliteWrite
from memhold.values.records import Scope, micros

if TYPE_CHECKING:
    from memhold.ports.vector_blocks import Generation

__all__ = ["SqliteUpkeep"]

T = TypeVar("T")
_SCOPE = Scope(namespace="upkeep")
BRIEF_PAGES = 8192
"""Files up to this many pages (32 MiB) are written anew while the caller of a forget waits: about 0.3 s."""
SCRUB_PATIENCE_MS = 40
"""How long a scrub waits for a reader: every write waits behind it, on the same thread, and it is tried again."""


def _checkpointed(connection: apsw.Connection) -> bool:
    """Empty the log into the file; False while a reader still needs it."""
    try:
        log, done = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    return log <= 0 or log == done


class SqliteUpkeep:
    """`Upkeep` over a store's writer and readers; it touches due work, leases and scope names only."""

    def __init__(
        self,
        *,
        write: Callable[..., Any],
        read: Callable[..., Any],
        call: Callable[..., Any],
        note: Callable[[apsw.Connection], object],
        encrypted: bool = False,
    ) -> None:
        self._write = write
        self._read = read
        self._call = call
        self._note = note
        self._encrypted = encrypted

    async def claim(
        self, *, owner: str, kinds: Sequence[str], limit: int, seconds: float, scope: Scope | None = None
    ) -> list[Lease]:
        def work(connection: apsw.Connection, now: datetime) -> list[Lease]:
            until = now + timedelta(seconds=seconds)
            params = {**at_params(now), "kinds": listed_kinds(kinds), "limit": max(limit, 0), **whose_params(scope)}
            leases = []
            for row in connection.execute(QUERIES["find_due"], params).fetchall():
                token = int(connection.execute(QUERIES["take_lease_token"]).get)
                due = replace(rows.to_due(row), token=token)
                params = {**due_params(due), "token": token, "holder": owner, "leased_until": micros(until)}
                connection.execute(QUERIES["lease_due"], params)
                leases.append(Lease(due=due, token=token, owner=owner, until=until))
            return leases

        found = await self._claimable(kinds, scope)
        if not found:
            return []
        if isinstance(found, list):
            await self._free(found)
        return await self._transaction(work)

    async def _claimable(self, kinds: Sequence[str], scope: Scope | None) -> bool | list[str]:
        """Whether something can be claimed, else who holds leases and has ended: a file is one machine's.

        One small read, so that looking for work on an idle store never takes the write lock.
        """

        def look(connection: apsw.Connection, now: datetime) -> bool | list[str]:
            params = {**at_params(now), "kinds": listed_kinds(kinds), **whose_params(scope)}
            if connection.execute(QUERIES["any_due"], params).get:
                return True
            held = connection.execute(QUERIES["read_holders"], {"now": micros(now)})
            return [holder for (holder,) in held if is_gone(holder.partition(":")[0])]

        found: bool | list[str] = await self._read(look)
        return found

    async def _free(self, gone: Sequence[str]) -> None:
        """End the leases of processes that have ended."""

        def work(connection: apsw.Connection, now: datetime) -> None:
            for holder in gone:
                connection.execute(QUERIES["free_held"], {"holder": holder, "now": micros(now)})

        await self._transaction(work)

    async def renew(self, lease: Lease, seconds: float) -> bool:
        def work(connection: apsw.Connection, now: datetime) -> bool:
            until = micros(now + timedelta(seconds=seconds))
            bound = {"leased_until": until, **due_params(lease.due), "token": lease.token, "now": micros(now)}
            connection.execute(QUERIES["renew_lease"], bound)
            return connection.changes() == 1

        return await self._transaction(work)

    async def finish(self, lease: Lease) -> bool:
        """Take the item away, or leave what was put since the claim."""

        def unit(tx: SqliteWrite) -> bool:
            bound = {**due_params(lease.due), "token": lease.token, "now": micros(tx.clock)}
            tx.connection.execute(QUERIES["finish_due"], bound)
            if tx.connection.changes() == 0:
                tx.connection.execute(QUERIES["start_again"], bound)
                # Workers took it for leased when it was put.
                tx.woke = tx.connection.changes() == 1
            return tx.connection.changes() == 1

        return bool(await self._write(_SCOPE, unit))

    async def put_off(self, lease: Lease, *, at: datetime, error: str | None, attempt: bool = True) -> bool:
        def unit(tx: SqliteWrite) -> bool:
            params = {"due_at": micros(at), "last_error": error, "attempt": int(attempt)}
            bound = {**params, **due_params(lease.due), "token": lease.token, "now": micros(tx.clock)}
            tx.connection.execute(QUERIES["put_off_due"], bound)
            given = tx.connection.changes() == 1
            tx.woke = given and at <= tx.clock + SOON
            return given

        return bool(await self._write(_SCOPE, unit))

    async def next_due(self, kinds: Sequence[str]) -> datetime | None:
        def look(connection: apsw.Connection, _: datetime) -> int | None:
            soonest: int | None = connection.execute(QUERIES["soonest_due"], {"kinds": listed_kinds(kinds)}).get
            return soonest

        soonest = await self._read(look)
        return rows.to_time(soonest)

    async def hasten(
        self, kinds: Sequence[str], *, scope: Scope | None = None, failed: bool = True, after: datetime | None = None
    ) -> None:
        def work(connection: apsw.Connection, now: datetime) -> None:
            params = {
                **at_params(now),
                "after": micros(after or now),
                "kinds": listed_kinds(kinds),
                "least": int(failed),
            }
            connection.execute(QUERIES["hasten_due"], {**params, **whose_params(scope)})

        await self._transaction(work)

    async def pending(self, kinds: Sequence[str], *, scope: Scope | None = None, later: bool = False) -> int:
        def look(connection: apsw.Connection, now: datetime) -> int:
            params = {"now": EVER if later else micros(now), "kinds": listed_kinds(kinds), **whose_params(scope)}
            count: int = connection.execute(QUERIES["count_due"], params).get
            return count

        return int(await self._read(look))

    async def scopes(self) -> list[Scope]:
        def look(connection: apsw.Connection, _: datetime) -> list[Scope]:
            found = connection.execute(QUERIES["read_scopes"])
            return [Scope(namespace=namespace, user=user or None) for namespace, user in found]

        found: list[Scope] = await self._read(look)
        return found

    async def below(self, scope: Scope) -> list[Scope]:
        given = {"namespace": scope.namespace, "user_id": scope.user or ""}

        def look(connection: apsw.Connection, _: datetime) -> list[Scope]:
            found = connection.execute(QUERIES["read_below"], given)
            return [replace(scope, namespace=namespace) for (namespace,) in found]

        found: list[Scope] = await self._read(look)
        return found

    async def users(self, namespace: str, after: str, limit: int) -> list[str]:
        given = {"namespace": namespace, "after": after, "limit": limit}

        def look(connection: apsw.Connection, _: datetime) -> list[str]:
            return [user for (user,) in connection.execute(QUERIES["read_users"], given)]

        found: list[str] = await self._read(look)
        return found

    async def index_near(self, scope: Scope, generation: Generation) -> float | None:  # noqa: ARG002 - the port's
        """Nothing to do: it keeps no such index."""
        return None

    async def scrub(self, *, briefly: bool = False) -> str | None:
        """Copy the log into the file and empty it: freed pages are zeroed, old log frames are gone.

        Where moving cells has left copies of them in unused bytes, the file is written anew (VACUUM). That takes
        about a second for 100 MB, so a large one waits for due work when this should end `briefly`. Before all that,
        what was forgotten goes into the ledger: the scrub stays due until everything is done.
        """

        def work(connection: apsw.Connection) -> str | None:
            self._note(connection)
            path = connection.filename
            if not _checkpointed(connection):
                return "reader"
            # The pages of an encrypted file cannot be looked at: it is always written anew.
            if not self._encrypted and not has_stale_cells(connection, path):
                return None
            if briefly and connection.execute("PRAGMA page_count").get > BRIEF_PAGES:
                return "rebuild"
            try:
                connection.execute("VACUUM")
            except apsw.BusyError:
                return "reader"
            except apsw.FullError:
                return "room"
            return None if _checkpointed(connection) else "reader"

        def impatient(connection: apsw.Connection) -> str | None:
            patience = int(connection.execute("PRAGMA busy_timeout").get)
            connection.set_busy_timeout(SCRUB_PATIENCE_MS)
            try:
                return work(connection)
            finally:
                connection.set_busy_timeout(patience)

        holding: str | None = await self._call(impatient)
        return holding

    async def _transaction(self, work: Callable[[apsw.Connection, datetime], T]) -> T:
        def unit(tx: SqliteWrite) -> T:
            return work(tx.connection, tx.clock)

        result: T = await self._write(_SCOPE, unit)
        return result
