"""What an open Memhold is made of: the store, time, ids, settings, and who may use it."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from memhold.ports.processes import this_process
from memhold.values.answers import DAMAGED
from memhold.values.errors import ForkedProcess, StoreReadOnly, WrongLoop

if TYPE_CHECKING:
    from memhold.compact.compaction_step import Compaction
    from memhold.compact.rollup.rollup_step import RollUps
    from memhold.index.embedding import Embedding
    from memhold.journal.windows import When
    from memhold.messages.limits import Limits
    from memhold.ports.maintenance import Maintenance
    from memhold.ports.models import Reranker
    from memhold.ports.stores import Clock, Ids, Redactor, Store
    from memhold.ports.transaction import WriteTx
    from memhold.recall.recall import Caches
    from memhold.upkeep.file_watch import FileWatch
    from memhold.upkeep.worker import Worker
    from memhold.values.answers import ModelHealth, Residue
    from memhold.values.records import Scope
    from memhold.verbs.after_answer import AfterAnswer
    from memhold.verbs.analysis_pool import AnalysisPool

__all__ = ["Runtime", "RuntimeSettings", "abandoned"]

T = TypeVar("T")
log = logging.getLogger("memhold")

SCRUB_POLL_SECONDS = 0.05
SCRUB_LEASE = 60.0
_CLOSING: set[asyncio.Task[None]] = set()
"""The closing of those that were collected without being closed: nobody else holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings:
    """The settings that verbs read."""

    idempotency_days: int
    drain_seconds: float = 5.0
    when: When | None = None
    """When windows are due; None where no model consolidates."""
    recall_timeout: float = 2.0
    context_consolidate_share: float = 0.0
    context_model: str = ""
    zone: tzinfo | None = None
    """Whose days a time without a zone is of; None: this machine's."""


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """The parts of one open Memhold; belongs to the event loop that made it."""

    store: Store
    clock: Clock
    ids: Ids
    settings: RuntimeSettings
    worker: Worker
    after_answer: AfterAnswer
    limits: Limits
    residue: Callable[[str], Residue]
    redactor: Redactor | None = None
    analysis_pool: AnalysisPool | None = None
    health: Callable[[], Awaitable[Mapping[str, ModelHealth]]]
    """How the models that are configured fare, by name."""
    links: tuple[str, ...] = ()
    """The models that consolidate, in the order in which they are asked; empty where they are objects of the caller."""
    mirror: Callable[[Scope], Awaitable[None]] | None = None
    close_models: Callable[[], Awaitable[None]] | None = None
    embedding: Embedding | None = None
    reranker: Reranker | None = None
    maintenance: Maintenance | None = None
    watch: FileWatch | None = None
    """What is known of the file where no reader of rows looks; None where there is no file."""
    tokenizer: Callable[[str | None], tuple[str, Callable[[str], int]] | None] | None = None
    counts: dict[str, Callable[[str], int]] = field(default_factory=dict)
    """How tokens are counted, by the name of the tokenizer, with what texts were found to cost."""
    redactions: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    """How many secrets were replaced since the store was opened, by namespace and user."""
    compaction: Callable[[], Compaction] | None = None
    rollups: Callable[[], RollUps] | None = None
    new_caches: Callable[[], Caches] | None = None
    pid: int = field(default_factory=os.getpid)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    owned: bool = False
    """Whether the store was opened for this, and is closed when this is collected."""
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    @cached_property
    def caches(self) -> Caches:
        """What recall keeps between questions; made at the first one."""
        if self.new_caches is not None:
            return self.new_caches()
        from memhold.recall.recall import Caches

        return Caches()

    @property
    def cached_bytes(self) -> int:
        """Bytes that indexes and vectors of scopes hold between questions, by estimate; 0 before the first one."""
        if "caches" not in self.__dict__:
            return 0
        return self.caches.nbytes

    def degraded(self, known: tuple[str, ...]) -> tuple[str, ...]:
        """What an answer lacks: what it knows, and "damaged" where the file is known to be."""
        damaged = self.watch is not None and self.watch.damage is not None
        return (*known, DAMAGED) if damaged and DAMAGED not in known else known

    @property
    def forked(self) -> bool:
        """Whether this process is a child of the one that opened it."""
        return os.getpid() != self.pid

    def guard(self) -> None:
        """Refuse another event loop than the one that opened this, and a forked child.

        Raises:
            WrongLoop: the running loop is another one.
            ForkedProcess: this is a child of the process that opened it.
        """
        if self.forked:
            raise ForkedProcess("this store was opened before a fork; open it again in the child process")
        if asyncio.get_running_loop() is not self.loop:
            raise WrongLoop("this AsyncMemhold belongs to another event loop; open one in this loop, or use Memhold")

    async def close(self) -> None:
        """End the work in the background, finish accepted writes, and let go of the models and of the store."""
        if self.forked:
            return
        self.guard()
        self.closed.set()
        await self.after_answer.written()
        drain = self.settings.drain_seconds
        with suppress(StoreReadOnly):
            await self.worker.finish("mirror", drain)
        await self._let_go(drain)

    async def _let_go(self, drain: float) -> None:
        await self.worker.stop(drain)
        if self.watch is not None:
            await self.watch.stop()
        try:
            if self.close_models is not None:
                await self.close_models()
        finally:
            if self.analysis_pool is not None:
                await self.analysis_pool.close()
            await self.store.close()

    def __del__(self) -> None:
        if not self.owned or self.closed.is_set() or self.forked or sys.is_finalizing():
            return
        self.closed.set()
        where = self.store.facts.location
        told = f"{where} was never closed; open it by 'with', or call close()"
        warnings.warn(told, ResourceWarning, stacklevel=2, source=self)
        if self.loop.is_running():
            self.loop.call_soon_threadsafe(self._let_go_soon)
        else:  # its loop is over, and its tasks with it: only the store is left
            threading.Thread(target=asyncio.run, args=(self.store.close(),), name="memhold-closing").start()

    def _let_go_soon(self) -> None:
        task = self.loop.create_task(self._let_go(0.0), name="memhold-closing")
        _CLOSING.add(task)
        task.add_done_callback(_CLOSING.discard)

    def mirroring(self, work: Callable[[WriteTx], T]) -> Callable[[WriteTx], T]:
        """The same unit of work; where files mirror the scope, they are due to be written again with it."""
        if self.mirror is None:
            return work

        def both(tx: WriteTx) -> T:
            done = work(tx)
            tx.put_due("mirror", "files", tx.now)
            return done

        return both

    async def mirrored(self, scope: Scope) -> bool:
        """Write the files that mirror a scope now; False where they cannot be written and stay due work."""
        try:
            if self.mirror is not None:
                await self.mirror(scope)
        except Exception as error:  # noqa: BLE001 - what it follows on is committed: it is no refusal of that
            log.warning("the mirror could not be written now: %s", type(error).__name__)
            return False
        return True

    async def scrub(self, scope: Scope, wait: float) -> str | None:
        """Make forgotten bytes disappear now, waiting up to that many seconds for readers; what still holds them.

        Where nothing does, the scope's scrub is due no more, but for what was forgotten since this one began. Where the
        store fails ("store") it stays due: what was forgotten is committed.
        """
        try:
            return await self._scrubbed_as_due(scope, wait)
        except Exception as error:  # noqa: BLE001 - what it follows on is committed: it is no refusal of that
            log.warning("forgotten bytes could not be erased now, and are later: %s", type(error).__name__)
            return "store"

    async def _scrubbed_as_due(self, scope: Scope, wait: float) -> str | None:
        from memhold.upkeep.leases import claimed, give_back, to_the_end

        held = await claimed(
            self.store,
            owner=f"{this_process()}:forget",
            kinds=("scrub",),
            limit=1,
            seconds=SCRUB_LEASE,
            clock=self.clock,
            scope=scope,
        )
        holding: str | None = "nobody looked"
        try:
            holding = await self._scrubbed(wait)
        finally:
            if holding is not None:
                await give_back(self.store, held, self.clock)
        for lease in held:
            await to_the_end(self.store.upkeep.finish(lease))
        return holding

    async def _scrubbed(self, wait: float) -> str | None:
        holding = await self.store.upkeep.scrub(briefly=True)
        waited = 0.0
        while holding == "reader" and waited < wait:
            await self.clock.sleep(SCRUB_POLL_SECONDS)
            waited += SCRUB_POLL_SECONDS
            holding = await self.store.upkeep.scrub(briefly=True)
        return holding


async def abandoned() -> None:
    """Wait until those that were collected on this loop without being closed have let go of what they held."""
    loop = asyncio.get_running_loop()
    await asyncio.gather(*(task for task in _CLOSING if task.get_loop() is loop), return_exceptions=True)
