"""The in-memory store: units of work one after the other, each whole or not at all."""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from threading import RLock
from typing import Any, Final, TypeVar, cast

from memhold.ports.stores import Clock, Ids, Priority, StoreFacts, Upkeep
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.storage.inmemory.links import InMemoryLinkBook
from memhold.storage.inmemory.reading import InMemoryReadTx
from memhold.storage.inmemory.rows import Rows
from memhold.storage.inmemory.tokens import InMemoryTokens
from memhold.storage.inmemory.upkeep import InMemoryUpkeep
from memhold.storage.inmemory.usage import InMemoryUsageBook
from memhold.storage.inmemory.writing import InMemoryWriteTx
from memhold.storage.open_state import StoreTime, store_time
from memhold.values.errors import StoreClosed
from memhold.values.records import Scope, from_micros, micros

__all__ = ["InMemoryStore"]

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_SCHEMA: Final = 1


@dataclass(order=True, slots=True)
class _Waiting:
    priority: Priority
    order: int
    scope: Scope = field(compare=False)
    work: Callable[[WriteTx], Any] = field(compare=False)
    done: asyncio.Future[Any] = field(compare=False)


class InMemoryStore:
    """A `Store` without a file: for tests, and for memories that need not outlive the process.

    It keeps what the port promises but durability: writes that wait together run by priority, then in order, each
    undone whole when it fails, also when its caller was cancelled meanwhile. Every verb lets the event loop turn at
    least once, so that tasks interleave as they do on a store with a file. It belongs to one event loop at a time.
    """

    def __init__(self, clock: Clock, ids: Ids) -> None:
        self._clock = clock
        self._rows = Rows()
        self._lock = RLock()
        self._waiting: list[_Waiting] = []
        self._order = 0
        self._wakes: list[Callable[[], None]] = []
        self._closed = False
        self._upkeep = InMemoryUpkeep(self._rows, self._unit, woke=self._wake)
        self._usage = InMemoryUsageBook()
        self._links = InMemoryLinkBook()
        self._tokens = InMemoryTokens(self._refuse_closed)
        secret = sha256(ids.new("ses").encode()).digest()
        self._facts = StoreFacts(backend="memory", location=":memory:", schema=_SCHEMA, secret=secret)

    @property
    def facts(self) -> StoreFacts:
        """What the store says of itself; the secret comes from the first of its ids."""
        return self._facts

    @property
    def upkeep(self) -> Upkeep:
        """The cross-scope verbs."""
        return self._upkeep

    @property
    def usage(self) -> InMemoryUsageBook:
        """What models were used for, over all scopes."""
        return self._usage

    @property
    def links(self) -> InMemoryLinkBook:
        """How the links of model chains fare, over all scopes."""
        return self._links

    @property
    def tokens(self) -> InMemoryTokens:
        """Who may ask a server, over all scopes."""
        return self._tokens

    async def write(
        self, scope: Scope, work: Callable[[WriteTx], T], *, priority: Priority = Priority.INTERACTIVE
    ) -> T:
        """Run a unit of work and return its result; what it raises is raised here, and nothing of it stays.

        Raises:
            StoreClosed: the store was closed before the call.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            self._refuse_closed()
            self._order += 1
            waiting = _Waiting(priority, self._order, scope, work, loop.create_future())
            heapq.heappush(self._waiting, waiting)
        loop.call_soon(self._drain)
        return cast("T", await waiting.done)

    async def read(self, scope: Scope, work: Callable[[ReadTx], T]) -> T:
        """Run a unit of work on what was committed last.

        Raises:
            StoreClosed: the store was closed.
        """
        self._refuse_closed()
        await asyncio.sleep(0)
        with self._lock:
            self._refuse_closed()
            tx = InMemoryReadTx(self._rows, scope, self._now())
            try:
                return work(tx)
            finally:
                tx.end()

    def on_due(self, wake: Callable[[], None]) -> None:
        """Call `wake` after a write that made work due was committed."""
        self._wakes.append(wake)

    async def close(self) -> None:
        """Run the writes that were accepted, then refuse every other verb. Idempotent."""
        self._drain()
        await asyncio.sleep(0)
        self._closed = True

    def _drain(self) -> None:
        made_due = False
        with self._lock:
            while self._waiting:
                made_due |= self._run(heapq.heappop(self._waiting))
        if made_due:
            self._wake()

    def _wake(self) -> None:
        for wake in self._wakes:
            try:
                wake()
            except Exception:  # noqa: BLE001 - the edge to a caller's function
                # The writes are acknowledged; a worker whose loop is gone must not turn them into failures.
                _LOG.exception("a wake for due work failed")

    def _run(self, waiting: _Waiting) -> bool:
        tx = InMemoryWriteTx(self._rows, waiting.scope, self._now())
        try:
            result = waiting.work(tx)
        except BaseException as error:  # noqa: BLE001 - it belongs to the caller that waits, whatever it is
            self._rows.log.undo()
            if not waiting.done.done():
                waiting.done.set_exception(_raisable(error))
            return False
        finally:
            tx.end()
        self._rows.log.keep()
        self._rows.last_at = micros(tx.now)
        if not waiting.done.done():
            waiting.done.set_result(result)
        return tx.made_due

    @contextmanager
    def _unit(self) -> Iterator[int]:
        with self._lock:
            self._refuse_closed()
            try:
                yield micros(self._clock.now())
            except BaseException:
                self._rows.log.undo()
                raise
            self._rows.log.keep()

    def _now(self) -> StoreTime:
        return store_time(self._clock.now(), from_micros(self._rows.last_at))

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreClosed("the store was closed; open it again")


def _raisable(error: BaseException) -> BaseException:
    """A future cannot carry a StopIteration; a coroutine would turn it into a RuntimeError too (PEP 479)."""
    if isinstance(error, StopIteration):
        wrapped = RuntimeError("the unit of work raised StopIteration")
        wrapped.__cause__ = error
        return wrapped
    return error
