"""Due work and leases across the scopes of the in-memory store."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta

from memhold.ports.stores import LONGEST_LEASE, Lease
from memhold.ports.vector_blocks import Generation
from memhold.storage.inmemory.rows import Claim, DueKey, Owner, Rows
from memhold.values.answers import Due
from memhold.values.names import is_within
from memhold.values.records import Scope, from_micros, micros

__all__ = ["InMemoryUpkeep"]


class InMemoryUpkeep:
    """The `Upkeep` of an in-memory store. `unit` opens the store for one change and gives the time of its clock.

    `woke` is called when something that was leased is not any more, and still due.
    """

    def __init__(
        self, rows: Rows, unit: Callable[[], AbstractContextManager[int]], *, woke: Callable[[], None]
    ) -> None:
        self._rows = rows
        self._unit = unit
        self._woke = woke

    async def claim(
        self, *, owner: str, kinds: Sequence[str], limit: int, seconds: float, scope: Scope | None = None
    ) -> list[Lease]:
        """Lease up to `limit` due items that nobody holds: the soonest of each scope, then the second, and so on."""
        await asyncio.sleep(0)
        with self._unit() as now:
            return [self._lease(key, owner, now, seconds) for key in self._fair(kinds, now, scope)[: max(limit, 0)]]

    async def renew(self, lease: Lease, seconds: float) -> bool:
        """ApplyGuard a lease longer; False when it was lost."""
        await asyncio.sleep(0)
        with self._unit() as now:
            claim = self._held(lease, now)
            if claim is not None:
                self._rows.due.put(_key(lease), replace(claim, until=now + _length(seconds)))
            return claim is not None

    async def finish(self, lease: Lease) -> bool:
        """Take the due item away, or leave it for what was put since the claim; False when the lease was lost."""
        await asyncio.sleep(0)
        with self._unit() as now:
            claim = self._held(lease, now)
            if claim is None:
                return False
            if claim.again_at is None:
                self._rows.due.drop(_key(lease))
            else:
                due = replace(claim.due, due_at=from_micros(claim.again_at), attempts=0, last_error=None)
                self._rows.due.put(_key(lease), Claim(due))
        if claim.again_at is not None:
            self._woke()
        return True

    async def put_off(self, lease: Lease, *, at: datetime, error: str | None, attempt: bool = True) -> bool:
        """Give a due item back until a later time, with the last error as plain text; False when the lease was lost."""
        await asyncio.sleep(0)
        with self._unit() as now:
            claim = self._held(lease, now)
            if claim is None:
                return False
            attempts = claim.due.attempts + attempt
            moment = micros(at)
            if not attempt and claim.again_at is not None:
                moment = min(moment, claim.again_at)
            due = replace(claim.due, due_at=from_micros(moment), attempts=attempts, last_error=error)
            self._rows.due.put(_key(lease), Claim(due))
        self._woke()
        return True

    async def next_due(self, kinds: Sequence[str]) -> datetime | None:
        """When the soonest item can be claimed: its time, or the end of the lease on it; None when there is none."""
        await asyncio.sleep(0)
        with self._unit():
            times = [
                max(micros(claim.due.due_at), claim.until)
                for claim in self._rows.due.values()
                if claim.due.kind in kinds
            ]
        return from_micros(min(times)) if times else None

    async def hasten(
        self, kinds: Sequence[str], *, scope: Scope | None = None, failed: bool = True, after: datetime | None = None
    ) -> None:
        """Make due now what failed and was put off, or all that waits; leases stay."""
        await asyncio.sleep(0)
        with self._unit() as now:
            for key, claim in self._rows.due.items():
                due = claim.due
                meant = due.kind in kinds and due.attempts >= failed and _of(due, scope)
                if meant and _free(claim, now) and micros(due.due_at) > (now if after is None else micros(after)):
                    self._rows.due.put(key, replace(claim, due=replace(due, due_at=from_micros(now))))

    async def pending(self, kinds: Sequence[str], *, scope: Scope | None = None, later: bool = False) -> int:
        """How many items are due now, leased or not; with `later` also those whose time is still to come."""
        await asyncio.sleep(0)
        with self._unit() as now:
            dues = [claim.due for claim in self._rows.due.values()]
            return sum(d.kind in kinds and (later or micros(d.due_at) <= now) and _of(d, scope) for d in dues)

    async def scopes(self) -> list[Scope]:
        """Every (namespace, user) that the store holds anything of."""
        await asyncio.sleep(0)
        with self._unit():
            return [Scope(namespace=namespace, user=user) for namespace, user in self._rows.owners()]

    async def below(self, scope: Scope) -> list[Scope]:
        """The scope in the namespaces below its own, in order."""
        await asyncio.sleep(0)
        with self._unit():
            known = [where for where, user in self._rows.owners() if user == scope.user and where != scope.namespace]
            return [replace(scope, namespace=where) for where in sorted(known) if is_within(where, scope.namespace)]

    async def users(self, namespace: str, after: str, limit: int) -> list[str]:
        """The users of a namespace and of those below it, in order, behind a name."""
        await asyncio.sleep(0)
        with self._unit():
            known = {user for where, user in self._rows.owners() if is_within(where, namespace) and user is not None}
            return sorted(user for user in known if user > after)[:limit]

    async def index_near(self, scope: Scope, generation: Generation) -> float | None:  # noqa: ARG002 - the port's
        """Nothing to do: it keeps no such index."""
        return None

    async def scrub(self, *, briefly: bool = False) -> str | None:  # noqa: ARG002 - the port's
        """Nothing to do: what was forgotten is in no file."""
        await asyncio.sleep(0)
        with self._unit():
            return None

    def _fair(self, kinds: Sequence[str], now: int, scope: Scope | None) -> list[DueKey]:
        free: defaultdict[Owner, list[Claim]] = defaultdict(list)
        for claim in self._rows.due.values():
            due = claim.due
            if due.kind in kinds and micros(due.due_at) <= now and _free(claim, now) and _of(due, scope):
                free[due.namespace, due.user].append(claim)
        ranked = [
            (rank, claim.due.due_at, claim.due.namespace, claim.due.user or "", claim.due.kind, claim.due.ref, claim)
            for claims in free.values()
            for rank, claim in enumerate(sorted(claims, key=lambda c: (c.due.due_at, c.due.kind, c.due.ref)))
        ]
        ranked.sort(key=lambda row: row[:6])
        return [(row[-1].due.namespace, row[-1].due.user, row[-1].due.kind, row[-1].due.ref) for row in ranked]

    def _lease(self, key: DueKey, owner: str, now: int, seconds: float) -> Lease:
        self._rows.token += 1
        claim = self._rows.due.get(key)
        assert claim is not None  # noqa: S101
        due = replace(claim.due, token=self._rows.token)
        until = now + _length(seconds)
        self._rows.due.put(key, Claim(due, owner, until))
        return Lease(due=due, token=due.token, owner=owner, until=from_micros(until))

    def _held(self, lease: Lease, now: int) -> Claim | None:
        claim = self._rows.due.get(_key(lease))
        lost = claim is None or claim.owner is None or claim.due.token != lease.token or claim.until <= now
        return None if lost else claim


def _free(claim: Claim, now: int) -> bool:
    """Whether nobody holds it; a lease that runs for longer than any is of a clock that was ahead."""
    return not now < claim.until <= now + LONGEST_LEASE // timedelta(microseconds=1)


def _of(due: Due, scope: Scope | None) -> bool:
    return scope is None or (due.namespace, due.user) == (scope.namespace, scope.user)


def _key(lease: Lease) -> DueKey:
    return (lease.due.namespace, lease.due.user, lease.due.kind, lease.due.ref)


def _length(seconds: float) -> int:
    return round(seconds * 1_000_000)
