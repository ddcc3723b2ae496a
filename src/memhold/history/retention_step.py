"""Retention in the background: once a day, and only where the settings say what is kept."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

from memhold.facts.remember import Writer
from memhold.history.retention import Retention, brought_back, hide, past
from memhold.ports.stores import Ids, Lease, Priority, Store
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.upkeep.worker import Pace
from memhold.values.answers import Retained
from memhold.values.records import Author, Scope

__all__ = ["DUE_RETENTION", "Retaining"]

log = logging.getLogger("memhold.retention")

DUE_RETENTION = ("retain", "memories")
EVERY = timedelta(days=1)
BATCH = 1000
"""Memories hidden in one turn of the worker, each in a transaction of its own: well within a lease."""
BY = Author(origin="rules", name="retention")


class Retaining:
    """The step `retain`: hides what the rules do not keep. What a person brought back with `undo` stays."""

    def __init__(self, store: Store, rules: Retention, *, ids: Ids, mirror: bool) -> None:
        self._store = store
        self._rules = rules
        self._ids = ids
        self._mirror = mirror

    async def step(self, lease: Lease) -> float | None:
        """Hide what is past the rules now, a batch at a time; then it is due again a day on."""
        scope = lease.scope

        found = await self._store.read(scope, lambda tx: past(tx, self._rules))
        wanted = await self._wanted(scope) if found else set()
        going = [one for one in found if one.id not in wanted][:BATCH]
        hidden = [await self._store.write(scope, self._hiding(one), priority=Priority.WORKER) for one in going]
        if going:
            log.info("Hid %d memories that retention does not keep", sum(hidden))
        if len(going) == BATCH and any(hidden):
            return Pace(0.0)
        await self._store.write(scope, self._again, priority=Priority.WORKER)
        return None

    async def sweep_all(self) -> None:
        """Make it due in every scope that holds something of these kinds and where it is not."""
        for scope in await self._store.upkeep.scopes():
            if await self._store.read(scope, lambda tx: self._holds(tx) and tx.due_item(*DUE_RETENTION) is None):
                await self._store.write(scope, lambda tx: tx.put_due(*DUE_RETENTION, tx.now), priority=Priority.WORKER)

    async def _wanted(self, scope: Scope) -> set[str]:
        """What was hidden once and brought back: a page of changes at a time, so that no read is long."""
        found: set[str] = set()
        after = 0

        def look(tx: ReadTx) -> tuple[set[str], int]:
            page = tx.changes(after=after)
            return brought_back(tx, page), page[-1].seq if page else 0

        while (looked := await self._store.read(scope, look))[1]:
            after = looked[1]
            found |= looked[0]
        return found

    def _hiding(self, one: Retained) -> Callable[[WriteTx], bool]:
        def work(tx: WriteTx) -> bool:
            writer = Writer(ids=self._ids, secret=self._store.facts.secret, author=BY)
            change = hide(tx, one, self._rules, writer=writer)
            if change is not None and self._mirror:
                tx.put_due("mirror", "files", tx.now)
            return change is not None

        return work

    def _again(self, tx: WriteTx) -> None:
        if self._holds(tx):
            tx.put_due(*DUE_RETENTION, tx.now + EVERY)

    def _holds(self, tx: ReadTx) -> bool:
        return bool(tx.list_memories(Listing(kinds=self._rules.kinds, limit=1)))
