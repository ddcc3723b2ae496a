"""Due work and leases across scopes, and the vacuum that takes what was forgotten out of reach."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from psycopg import errors as pg

from memhold.ports.stores import Lease
from memhold.ports.vector_blocks import Generation
from memhold.storage.postgres.connection import Session
from memhold.storage.postgres.near_upkeep import NearUpkeep
from memhold.storage.postgres.statements import QUERIES
from memhold.storage.sql import rows
from memhold.storage.sql.due_rows import EVER, at_params, due_params, listed_kinds, whose_params
from memhold.storage.sql.writes import SOON
from memhold.values.answers import Due
from memhold.values.records import Scope, micros

__all__ = ["Looks", "PostgresUpkeep"]

T = TypeVar("T")


class Looks(Protocol):
    """Runs work over due work and leases in a transaction of its own, on one of the store's threads."""

    async def __call__(self, work: Callable[[Session, datetime], T]) -> T: ...


class PostgresUpkeep:
    """`Upkeep` over transactions that have entered no scope: row-level security shows them due work and scope names."""

    def __init__(
        self,
        *,
        change: Looks,
        look: Looks,
        call: Callable[[Callable[[Session], str | None]], Awaitable[str | None]],
        near: NearUpkeep,
        woke: Callable[[], None],
    ) -> None:
        self._near = near
        self._woke = woke
        self._change = change
        self._look = look
        self._call = call

    async def claim(
        self, *, owner: str, kinds: Sequence[str], limit: int, seconds: float, scope: Scope | None = None
    ) -> list[Lease]:
        wanted = {"kinds": listed_kinds(kinds), **whose_params(scope)}

        def work(connection: Session, now: datetime) -> list[Lease]:
            until = now + timedelta(seconds=seconds)
            leases: list[Lease] = []
            passed: set[tuple[Any, ...]] = set()
            # What another worker is about to lease is passed over, and more is looked at instead.
            while len(leases) < limit:
                params = {**wanted, **at_params(now), "limit": limit - len(leases) + len(passed)}
                found = connection.execute(QUERIES["find_due"], params).fetchall()
                fresh = [row for row in found if row[:4] not in passed]
                if not fresh:
                    break
                for row in fresh[: limit - len(leases)]:
                    due = _leased(connection, row, owner=owner, now=now, until=until)
                    if due is None:
                        passed.add(row[:4])
                    else:
                        leases.append(Lease(due=due, token=due.token, owner=owner, until=until))
            return leases

        if not await self._any_due(wanted):
            return []
        return await self._change(work)

    async def _any_due(self, wanted: dict[str, Any]) -> bool:
        """One small read, so that looking for work on an idle store writes nothing."""

        def look(connection: Session, now: datetime) -> bool:
            row = connection.execute(QUERIES["any_due"], {**wanted, **at_params(now)}).fetchone()
            return row is not None and bool(row[0])

        return await self._look(look)

    async def renew(self, lease: Lease, seconds: float) -> bool:
        return await self._held(
            lease, "renew_lease", lambda now: {"leased_until": micros(now + timedelta(seconds=seconds))}
        )

    async def finish(self, lease: Lease) -> bool:
        """Take the item away, or leave what was put since the claim."""
        names = ("finish_due", "start_again")

        def work(connection: Session, now: datetime) -> str | None:
            bound = {**due_params(lease.due), "token": lease.token, "now": micros(now)}
            return next((name for name in names if connection.execute(QUERIES[name], bound).rowcount == 1), None)

        ended = await self._change(work)
        if ended == "start_again":
            # Workers took it for leased when it was put.
            self._woke()
        return ended is not None

    async def put_off(self, lease: Lease, *, at: datetime, error: str | None, attempt: bool = True) -> bool:
        params = {"due_at": micros(at), "last_error": error, "attempt": int(attempt)}
        nows: list[datetime] = []

        def bound(now: datetime) -> dict[str, Any]:
            nows.append(now)
            return params

        given = await self._held(lease, "put_off_due", bound)
        if given and at <= nows[-1] + SOON:
            # Workers, also those of other processes, took it for leased.
            self._woke()
        return given

    async def _held(self, lease: Lease, name: str, params: Callable[[datetime], dict[str, Any]]) -> bool:
        def work(connection: Session, now: datetime) -> bool:
            bound = {**params(now), **due_params(lease.due), "token": lease.token, "now": micros(now)}
            return connection.execute(QUERIES[name], bound).rowcount == 1

        return await self._change(work)

    async def next_due(self, kinds: Sequence[str]) -> datetime | None:
        def look(connection: Session, _: datetime) -> int | None:
            row = connection.execute(QUERIES["soonest_due"], {"kinds": listed_kinds(kinds)}).fetchone()
            return None if row is None else row[0]

        soonest = await self._look(look)
        return rows.to_time(soonest)

    async def hasten(
        self, kinds: Sequence[str], *, scope: Scope | None = None, failed: bool = True, after: datetime | None = None
    ) -> None:
        def work(connection: Session, now: datetime) -> None:
            params = {
                **at_params(now),
                "after": micros(after or now),
                "kinds": listed_kinds(kinds),
                "least": int(failed),
            }
            connection.execute(QUERIES["hasten_due"], {**params, **whose_params(scope)})

        await self._change(work)

    async def pending(self, kinds: Sequence[str], *, scope: Scope | None = None, later: bool = False) -> int:
        def look(connection: Session, now: datetime) -> int:
            params = {"now": EVER if later else micros(now), "kinds": listed_kinds(kinds), **whose_params(scope)}
            row = connection.execute(QUERIES["count_due"], params).fetchone()
            return 0 if row is None else int(row[0])

        return await self._look(look)

    async def scopes(self) -> list[Scope]:
        def look(connection: Session, _: datetime) -> list[Scope]:
            found = connection.execute(QUERIES["read_scopes"]).fetchall()
            return [Scope(namespace=namespace, user=user or None) for namespace, user in found]

        return await self._look(look)

    async def below(self, scope: Scope) -> list[Scope]:
        given = {"namespace": scope.namespace, "user_id": scope.user or ""}

        def look(connection: Session, _: datetime) -> list[Scope]:
            found = connection.execute(QUERIES["read_below"], given).fetchall()
            return [replace(scope, namespace=namespace) for (namespace,) in found]

        return await self._look(look)

    async def users(self, namespace: str, after: str, limit: int) -> list[str]:
        given = {"namespace": namespace, "after": after, "limit": limit}

        def look(connection: Session, _: datetime) -> list[str]:
            return [user for (user,) in connection.execute(QUERIES["read_users"], given).fetchall()]

        return await self._look(look)

    async def index_near(self, scope: Scope, generation: Generation) -> float | None:
        return await self._near.index_near(scope, generation)

    async def scrub(self, *, briefly: bool = False) -> str | None:
        """Vacuum the tables that hold content: afterwards no query of any session can reach what was forgotten.

        "reader" while a transaction somewhere may still see it. What stays for longer is not the store's to remove:
        free space inside pages until it is used again, the write-ahead log, standbys, archives and backups.
        """

        def work(connection: Session) -> str | None:
            return _vacuumed(connection, briefly=briefly)

        return await self._call(work)


def _leased(connection: Session, row: Sequence[Any], *, owner: str, now: datetime, until: datetime) -> Due | None:
    """Lease one item for `owner`; None where somebody else is about to, or did since it was found."""
    token = connection.execute(QUERIES["take_lease_token"]).fetchone()
    namespace, user, kind, ref = row[:4]
    leased = connection.execute(
        QUERIES["lease_due"],
        {
            "namespace": namespace,
            "user_id": user,
            "kind": kind,
            "ref": ref,
            "token": 0 if token is None else int(token[0]),
            "holder": owner,
            "leased_until": micros(until),
            **at_params(now),
        },
    ).fetchone()
    return None if leased is None else replace(rows.to_due(leased))


CONTENT = (
    "agent",
    "change",
    "key_vector",
    "memory",
    "memory_source",
    "message",
    "message_quote",
    "near_vector",
    "session",
    "vector_block",
    "word_block",
)
"""The tables that hold what a person said or named."""
BRIEF_BYTES = 32 * 1024 * 1024
"""Tables up to this size in all are vacuumed while the caller of a forget waits."""
_KEPT = re.compile(r"(?<!\d)(\d++) are dead but not yet removable")


def _vacuumed(connection: Session, *, briefly: bool) -> str | None:
    if briefly:
        sizes = connection.execute(
            "SELECT sum(pg_total_relation_size(to_regclass(name))) FROM unnest(%s::text[]) AS name", (list(CONTENT),)
        ).fetchone()
        if sizes is not None and (sizes[0] or 0) > BRIEF_BYTES:
            return "vacuum"
    said: list[str] = []
    notice = lambda diagnostic: said.append(diagnostic.message_primary or "")  # noqa: E731 - the driver wants a function
    connection.add_notice_handler(notice)
    try:
        connection.execute("SET client_min_messages = info")
        connection.execute("SET lock_timeout = '2s'")
        connection.execute(f"VACUUM (VERBOSE, INDEX_CLEANUP ON, TRUNCATE ON) {', '.join(CONTENT)}".encode())
    except pg.LockNotAvailable:
        return "reader"
    finally:
        connection.remove_notice_handler(notice)
    return "reader" if any(int(count) for text in said for count in _KEPT.findall(text)) else None
