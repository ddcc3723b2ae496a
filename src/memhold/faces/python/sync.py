"""The sync face: the same verbs, on one thread of its own with its own loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from memhold.faces.python.event_loop_thread import EventLoopThread
from memhold.faces.python.sync_admin import SyncAdmin
from memhold.values.errors import StoreClosed

if TYPE_CHECKING:
    from memhold.context.answer import Context
    from memhold.history.forget import Sources
    from memhold.values.answers import (
        Changes,
        Compacted,
        Consolidated,
        Erasure,
        OpenSuspicion,
        Page,
        Query,
        Recall,
        Receipt,
        Remembered,
        Residue,
        Retained,
        Status,
    )
    from memhold.values.records import Change, HitKind, Importance, Kind, Memory, Message, Scope, Shape, State, Tier
    from memhold.verbs.files import Exported, ExportFormat, Report
    from memhold.verbs.files import Progress as ImportProgress
    from memhold.verbs.memory import OpenStore
    from memhold.verbs.scope import AsyncScope

__all__ = ["EventLoopThread", "SyncAdmin", "SyncScope", "SyncStore"]


class SyncStore:
    """One open store, for code that is not async. Thread-safe; close it, or use `with`."""

    def __init__(self, core: OpenStore, portal: EventLoopThread) -> None:
        self._core = core
        self._portal = portal

    @property
    def admin(self) -> SyncAdmin:
        """See `OpenStore.admin`."""
        return SyncAdmin(self._core.admin, self._portal)

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

    def settle(self, timeout: float = 30.0, *, namespace: str | None = None) -> bool:
        """See `OpenStore.settle`."""
        return self._portal.run(self._core.settle(timeout, namespace=namespace))

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

    def __init__(self, core: AsyncScope, portal: EventLoopThread) -> None:
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
        operation: Literal["set", "add", "remove"] | None = None,
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

    def pin(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        """See `AsyncScope.pin`."""
        return self._portal.run(self._core.pin(memory_id, rev=rev, idempotency_key=idempotency_key))

    def unpin(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        """See `AsyncScope.unpin`."""
        return self._portal.run(self._core.unpin(memory_id, rev=rev, idempotency_key=idempotency_key))

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
        neighbours: int = 0,
        explain: bool = False,
        snapshot: str | None = None,
        cursor: str | None = None,
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
                neighbours=neighbours,
                explain=explain,
                snapshot=snapshot,
                cursor=cursor,
            )
        )

    def context(
        self,
        messages: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        *,
        budget: int = 8000,
        strategy: str = "adaptive",
        shape: Shape = "openai",
        reserve: int | None = None,
        query: str | None = None,
        tail: int | None = None,
        crossover_turn_threshold: int | None = None,
        model: str | None = None,
    ) -> Context:
        """See `ScopeContext.context`."""
        return self._portal.run(
            self._core.context(
                messages,
                budget=budget,
                strategy=strategy,
                shape=shape,
                reserve=reserve,
                query=query,
                tail=tail,
                crossover_turn_threshold=crossover_turn_threshold,
                model=model,
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

    def changes(self, *, after: int = 0, limit: int = 100) -> Changes:
        """See `AsyncScope.changes`."""
        return self._portal.run(self._core.changes(after=after, limit=limit))

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
        idempotency_key: str | None = None,
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
                idempotency_key=idempotency_key,
            )
        )

    def residue(self, text: str) -> Residue:
        """See `AsyncScope.residue`."""
        return self._portal.run(self._core.residue(text))

    def import_file(
        self,
        path: str | Path,
        *,
        format: str | None = None,
        zone: tzinfo = UTC,
        session_prefix: str = "",
        on_error: Literal["stop", "skip"] = "stop",
        batch: int = 128,
        progress: Callable[[ImportProgress], None] | None = None,
    ) -> Report:
        """See `AsyncScope.import_file`; `progress` is called on another thread."""
        return self._portal.run(
            self._core.import_file(
                path,
                format=format,
                zone=zone,
                session_prefix=session_prefix,
                on_error=on_error,
                batch=batch,
                progress=progress,
            )
        )

    def export(self, path: str | Path, *, format: ExportFormat = "jsonl") -> Exported:
        """See `AsyncScope.export`."""
        return self._portal.run(self._core.export(path, format=format))

    def end_session(self, *, idempotency_key: str | None = None) -> Receipt:
        """See `AsyncScope.end_session`."""
        return self._portal.run(self._core.end_session(idempotency_key=idempotency_key))

    def compact(self, *, dry_run: bool = False) -> Compacted:
        """See `AsyncScope.compact`."""
        return self._portal.run(self._core.compact(dry_run=dry_run))

    def retain(
        self,
        *,
        kinds: Sequence[Kind] = ("fact", "note"),
        older_than: timedelta | None = None,
        unused_for: timedelta | None = None,
        most: int | None = None,
        dry_run: bool = True,
        idempotency_key: str | None = None,
    ) -> tuple[Retained, ...]:
        """See `AsyncScope.retain`."""
        more: dict[str, Any] = {"most": most, "dry_run": dry_run, "idempotency_key": idempotency_key}
        return self._portal.run(self._core.retain(kinds=kinds, older_than=older_than, unused_for=unused_for, **more))

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
        level: str | None = None,
        cursor: str | None = None,
    ) -> Recall:
        """See `AsyncScope.summaries`."""
        more: dict[str, Any] = {"since": since, "until": until, "session": session, "raw": raw, "level": level}
        return self._portal.run(self._core.summaries(query, limit=limit, offset=offset, cursor=cursor, **more))

    def suspicions(self, *, settled: bool = False) -> tuple[OpenSuspicion, ...]:
        """See `AsyncScope.suspicions`."""
        return self._portal.run(self._core.suspicions(settled=settled))

    def settle_suspicion(
        self, suspicion_id: str, verdict: Literal["same", "different"], *, idempotency_key: str | None = None
    ) -> Receipt:
        """See `AsyncScope.settle_suspicion`."""
        return self._portal.run(self._core.settle_suspicion(suspicion_id, verdict, idempotency_key=idempotency_key))

    def status(self) -> Status:
        """See `AsyncScope.status`."""
        return self._portal.run(self._core.status())
