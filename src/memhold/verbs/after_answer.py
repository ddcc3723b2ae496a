"""What follows from an answer, written behind it: evidence of a recall, consolidation that a context asks for.

No answer is slower for it, and none fails for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime

from memhold.ports.stores import Ids, Priority, Store
from memhold.ports.transaction import WriteTx
from memhold.values.errors import MemholdError, StoreReadOnly
from memhold.values.records import Scope

__all__ = ["AfterAnswer"]

log = logging.getLogger("memhold.upkeep")

WAIT_SECONDS = 1.0
MOST = 1000
NOTED = 10_000
"""Of how many memories it is remembered that their use was written."""


class AfterAnswer:
    """Notes of what was asked for, written in the background in small batches.

    They are written at once, one task at a time; a note that cannot be written is dropped, and so is what comes while a
    thousand wait. Other verbs than recall wait for them up to a second, so that they see what a recall before them did.
    """

    def __init__(self, store: Store, *, ids: Ids) -> None:
        self._store = store
        self._ids = ids
        self._waiting: list[tuple[Scope, Callable[[WriteTx], None]]] = []
        self._task: asyncio.Task[None] | None = None
        self._noted: dict[tuple[str, str | None, str], datetime] = {}

    def note(self, scope: Scope, memory_ids: Sequence[str], used: Sequence[str] = (), *, at: datetime) -> None:
        """Count these facts as asked for in a scope at a time, soon, and keep when those were used."""
        fresh = self._fresh(scope, used, at)
        if memory_ids or fresh:
            self.soon(scope, self._unit(scope, tuple(memory_ids), fresh, at))

    def _fresh(self, scope: Scope, used: Sequence[str], at: datetime) -> tuple[str, ...]:
        """Those whose use this process has not noted within a day: asked for again, they cost no write."""
        from memhold.facts.evidence import USE_DAY

        if len(self._noted) > NOTED:
            self._noted.clear()
        keys = {one: (scope.namespace, scope.user, one) for one in used}
        fresh = tuple(one for one, key in keys.items() if key not in self._noted or at - self._noted[key] >= USE_DAY)
        self._noted.update((keys[one], at) for one in fresh)
        return fresh

    def soon(self, scope: Scope, work: Callable[[WriteTx], None]) -> None:
        """Write this in a scope, soon; where it cannot be written it is dropped."""
        if len(self._waiting) >= MOST:
            return
        self._waiting.append((scope, work))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write(), name="memhold-asked")

    @property
    def writes(self) -> bool:
        """Whether something that was noted is not written yet."""
        return self._task is not None and not self._task.done()

    async def written(self) -> None:
        """Wait until what was noted is written, for at most a second."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=WAIT_SECONDS)

    async def _write(self) -> None:
        while self._waiting:
            scope, work = self._waiting.pop(0)
            try:
                await self._store.write(scope, work, priority=Priority.WORKER)
            except StoreReadOnly:
                pass  # whoever only reads knows it
            except MemholdError as error:
                log.warning("what follows from an answer was not written: %s", type(error).__name__)

    def _unit(
        self, scope: Scope, memory_ids: tuple[str, ...], used: tuple[str, ...], at: datetime
    ) -> Callable[[WriteTx], None]:
        from memhold.facts.evidence import note_asked, note_use
        from memhold.facts.tiers import asked_turn

        def work(tx: WriteTx) -> None:
            session = None if scope.session is None else tx.session(scope.session)
            if memory_ids:
                note_asked(tx, memory_ids, asked_turn(session, at), at=at, ids=self._ids)
            note_use(tx, used, at=at)

        return work
