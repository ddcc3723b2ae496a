"""The sync face: the same verbs, on one thread of its own with its own loop."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from holdfast.answers import Consolidated, Erasure, Page, Query, Recall, Receipt, Remembered, Residue, Status
from holdfast.errors import ForkedProcess, StoreClosed
from holdfast.memory import OpenStore
from holdfast.model import Change, HitKind, Importance, Kind, Memory, Message, Scope, State, Tier
from holdfast.pipeline.forget import Sources
from holdfast.scope import AsyncScope

__all__ = ["Portal", "SyncScope", "SyncStore"]

T = TypeVar("T")

LAST_CALLS_SECONDS = 5.0
"""How long closing waits for calls of other threads that the closed store must end."""


class Portal:
    """A thread with an event loop; calls from any other thread run on it, one after the other or side by side."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._pid = os.getpid()
        self._closed = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._loop.run_forever, name="holdfast-loop", daemon=True)
        self._thread.start()

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and wait for it; works inside a running loop too (notebooks).

        Raises:
            StoreClosed: the portal was closed, perhaps while this waited.
            ForkedProcess: the thread stayed behind in the parent process.
        """
        future = self._submit(call)
        try:
            return future.result()
        except CancelledError:
            raise StoreClosed("the store was closed while this call waited; open it again") from None
        except BaseException:
            future.cancel()
            raise

    def _submit(self, call: Coroutine[Any, Any, T]) -> Future[T]:
        if self.forked:
            call.close()
            raise ForkedProcess("this store was opened before a fork; open it again in the child process")
        # Under the lock, so that nothing is left on a loop that has stopped.
        with self._lock:
            if self._closed:
                call.close()
                raise StoreClosed("the store is closed; open it again")
            return asyncio.run_coroutine_threadsafe(call, self._loop)

    @property
    def forked(self) -> bool:
        """Whether this process is a child of the one that opened it."""
        return os.getpid() != self._pid

    def close(self) -> None:
        """Let every call end, stop the loop and end the thread. Idempotent."""
        if self.forked:
            return
        with self._lock:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(_end_all(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _end_all() -> None:
    """Wait for the calls that are running; cancel those that a closed store does not end."""
    running = asyncio.all_tasks() - {asyncio.current_task()}
    if not running:
        return
    _, waiting = await asyncio.wait(running, timeout=LAST_CALLS_SECONDS)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await asyncio.sleep(0)


class SyncStore:
    """One open store, for code that is not async. Thread-safe; close it, or use `with`."""

    def __init__(self, core: OpenStore, portal: Portal) -> None:
        self._core = core
        self._portal = portal

    def scope(
        self,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        session: str | None = None,
    ) -> SyncScope:
        """See `OpenStore.scope`."""
        return SyncScope(self._core.scope(namespace=namespace, user=user, agent=agent, session=session), self._portal)

    def settle(self, timeout: float = 30.0) -> bool:
        """See `OpenStore.settle`."""
        return self._portal.run(self._core.settle(timeout))

    def close(self) -> None:
        """See `OpenStore.close`."""
        if self._portal.forked:
            return
        try:
            self._portal.run(self._core.close())
        except StoreClosed:
            return
        finally:
            self._portal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SyncScope:
    """The verbs of one scope, as `AsyncScope` has them."""

    def __init__(self, core: AsyncScope, portal: Portal) -> None:
        self._core = core
        self._portal = portal

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._core.scope

    def add(
        self, messages: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> Receipt:
        """See `AsyncScope.add`."""
        return self._portal.run(self._core.add(messages, idempotency_key=idempotency_key))

    def remember(
        self,
        text: str | None = None,
        *,
        attribute: str | None = None,
        value: str | None = None,
        subject: str = "user",
        operation: Literal["set", "add", "remove"] = "set",
        event_time: datetime | None = None,
        importance: Importance = "mid",
        pinned: bool = False,
        expires_at: datetime | None = None,
        topics: Sequence[str] = (),
        entities: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Remembered:
        """See `AsyncScope.remember`."""
        return self._portal.run(
            self._core.remember(
                text,
                attribute=attribute,
                value=value,
                subject=subject,
                operation=operation,
                event_time=event_time,
                importance=importance,
                pinned=pinned,
                expires_at=expires_at,
                topics=topics,
                entities=entities,
                metadata=metadata,
                idempotency_key=idempotency_key,
            )
        )

    def correct(
        self, memory_id: str, value: str, *, rev: int | None = None, idempotency_key: str | None = None
    ) -> Remembered:
        """See `AsyncScope.correct`."""
        return self._portal.run(self._core.correct(memory_id, value, rev=rev, idempotency_key=idempotency_key))

    def pin(self, memory_id: str, *, rev: int | None = None) -> Remembered:
        """See `AsyncScope.pin`."""
        return self._portal.run(self._core.pin(memory_id, rev=rev))

    def unpin(self, memory_id: str, *, rev: int | None = None) -> Remembered:
        """See `AsyncScope.unpin`."""
        return self._portal.run(self._core.unpin(memory_id, rev=rev))

    def recall(
        self,
        query: str | Query = "",
        *,
        limit: int = 10,
        offset: int = 0,
        kinds: Sequence[HitKind] | None = None,
        states: Sequence[State] | None = None,
        tiers: Sequence[Tier] | None = None,
        roles: Sequence[str] | None = None,
        session: str | None = None,
        topics: Sequence[str] = (),
        entities: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        include_superseded: bool = False,
    ) -> Recall:
        """See `AsyncScope.recall`."""
        return self._portal.run(
            self._core.recall(
                query,
                limit=limit,
                offset=offset,
                kinds=kinds,
                states=states,
                tiers=tiers,
                roles=roles,
                session=session,
                topics=topics,
                entities=entities,
                metadata=metadata,
                since=since,
                until=until,
                as_of=as_of,
                known_at=known_at,
                include_superseded=include_superseded,
            )
        )

    def get(self, item_id: str) -> Message | Memory:
        """See `AsyncScope.get`."""
        return self._portal.run(self._core.get(item_id))

    def list(
        self,
        kinds: Sequence[Kind] | None = None,
        states: Sequence[State] | None = ("active",),
        *,
        session: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        """See `AsyncScope.list`."""
        return self._portal.run(self._core.list(kinds, states, session=session, limit=limit, cursor=cursor))

    def messages(self, *, after: int = 0, limit: int = 1000) -> tuple[Message, ...]:
        """See `AsyncScope.messages`."""
        return self._portal.run(self._core.messages(after=after, limit=limit))

    def read_message(self, message_id: str, *, offset: int = 0, limit: int = 100000) -> str:
        """See `AsyncScope.read_message`."""
        return self._portal.run(self._core.read_message(message_id, offset=offset, limit=limit))

    def history(self, item_id: str) -> tuple[Change, ...]:
        """See `AsyncScope.history`."""
        return self._portal.run(self._core.history(item_id))

    def undo(
        self, change_id: str, *, cascade: bool = False, redo: bool = False, idempotency_key: str | None = None
    ) -> Receipt:
        """See `AsyncScope.undo`."""
        call = self._core.undo(change_id, cascade=cascade, redo=redo, idempotency_key=idempotency_key)
        return self._portal.run(call)

    def forget(
        self,
        item_id: str | None = None,
        *,
        session: str | None = None,
        kinds: Sequence[Kind] | None = None,
        topics: Sequence[str] = (),
        entities: Sequence[str] = (),
        before: datetime | None = None,
        after: datetime | None = None,
        everything: bool = False,
        hard: bool = True,
        sources: Sources = "erase",
        dry_run: bool = False,
        wait: float = 1.0,
    ) -> Erasure:
        """See `AsyncScope.forget`."""
        return self._portal.run(
            self._core.forget(
                item_id,
                session=session,
                kinds=kinds,
                topics=topics,
                entities=entities,
                before=before,
                after=after,
                everything=everything,
                hard=hard,
                sources=sources,
                dry_run=dry_run,
                wait=wait,
            )
        )

    def residue(self, text: str) -> Residue:
        """See `AsyncScope.residue`."""
        return self._portal.run(self._core.residue(text))

    def end_session(self) -> Receipt:
        """See `AsyncScope.end_session`."""
        return self._portal.run(self._core.end_session())

    def consolidate(self) -> Consolidated:
        """See `AsyncScope.consolidate`."""
        return self._portal.run(self._core.consolidate())

    def summaries(
        self,
        query: str | None = None,
        *,
        limit: int = 10,
        offset: int = 0,
        since: datetime | None = None,
        until: datetime | None = None,
        session: str | None = None,
        raw: bool = False,
    ) -> Recall:
        """See `AsyncScope.summaries`."""
        call = self._core.summaries(
            query, limit=limit, offset=offset, since=since, until=until, session=session, raw=raw
        )
        return self._portal.run(call)

    def status(self) -> Status:
        """See `AsyncScope.status`."""
        return self._portal.run(self._core.status())
