"""The verbs of a scope: the one async core. Each write is one transaction and returns only what is durable."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar

from memhold.consolidate.requests import ask_for, consolidated, end
from memhold.facts.matching import warm
from memhold.facts.remember import MemoryInput, Writer, correct, labels, pin, remember, remembered
from memhold.facts.suspicions import settle_suspicion
from memhold.facts.tell import tell_fact
from memhold.history.forget import Sources, Target, forget, forget_once, plan, report
from memhold.history.undo import Undoer, undo
from memhold.journal.append import append, ensure_session, prepare
from memhold.journal.archive import close_window
from memhold.journal.windows import skipped
from memhold.messages.ingest import parse_messages
from memhold.ports.idempotency import Idempotency, stated
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.values.answers import Consolidated, Erasure, Receipt, Remembered
from memhold.values.errors import InvalidInput
from memhold.values.records import Author, Importance, Kind, Session
from memhold.verbs.scope_files import ScopeFiles
from memhold.verbs.scope_reads import as_tuple
from memhold.verbs.scope_redaction import cleaned, cleaned_value, counted, noted, takes_long

__all__ = ["AsyncScope"]

T = TypeVar("T")
USER = Author(origin="user")
PREPARED_INLINE = 64
"""Batches up to this many messages are analysed on the event loop; larger ones on a thread."""


class AsyncScope(ScopeFiles):
    """The verbs of one scope; whose memory they work on is fixed when the scope is made.

    A write is acknowledged when it is durable and can be read at once. Times must have a zone. An id of another scope
    is `NotFound`, exactly as one that never was.
    """

    async def _write_once(
        self, once: Idempotency | None, run: Callable[[WriteTx], Receipt], *, memories: bool = True
    ) -> Receipt:
        """Write, or give the receipt of the first time where the idempotency key was seen."""
        return await self._write(self._stated(run, once), memories=memories)

    def _stated(self, run: Callable[[WriteTx], Receipt], once: Idempotency | None) -> Callable[[WriteTx], Receipt]:
        return stated(run, once, meaning=self._runtime.embedding is not None)

    def _writer(self) -> Writer:
        return Writer(
            ids=self._runtime.ids,
            secret=self._runtime.store.facts.secret,
            author=USER,
            agent=self._scope.agent,
            session=self._scope.session,
        )

    async def add(
        self, messages: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> Receipt:
        """Append messages (OpenAI chat or Anthropic shape) to the session's journal, all or none.

        Needs no model and no network. Beside its own fields a message may carry `event_time`, `metadata` and `embed`.
        The receipt's ids are in the order of the messages.

        Raises:
            InvalidMessage, TooLarge, NaiveTime: a message cannot be taken; `index` says which, and nothing was stored.
            IdempotencyConflict: the key came before with other messages.
        """
        runtime, agent, session = self._runtime, self._scope.agent, self._scope.session or ""
        when, meaning = runtime.settings.when, runtime.embedding is not None
        drafts = parse_messages(messages, now=runtime.clock.now(), limits=runtime.limits)
        if len(drafts) <= PREPARED_INLINE and not takes_long(runtime, drafts):
            prepared = prepare(drafts, runtime.redactor, secret=runtime.store.facts.secret)
        else:
            prepared = await asyncio.to_thread(prepare, drafts, runtime.redactor, secret=runtime.store.facts.secret)
        once = self._once("add", idempotency_key, [messages, agent, session])

        def work(tx: WriteTx) -> Receipt:
            return append(
                tx, prepared, session=session, agent=agent, author=USER, ids=runtime.ids, when=when, meaning=meaning
            )

        return counted(runtime, self._scope, await self._write_once(once, work, memories=False))

    async def remember(
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
        """Remember a note (`text`) or a fact (`attribute`, `value`, `subject`).

        The same note again is the same memory. A fact supersedes what its attribute said before (`operation="set"`),
        stands beside it (`"add"`) or ends that value (`"remove"`); without an operation the attribute decides: pets and
        languages add, a job or an address supersedes. Attributes that are one concept in other words share their
        timeline. One that tells of an earlier time takes its place in the past. `memory` is the memory that now says
        it; None when a removal found nothing, or when a replay finds it forgotten.

        Raises:
            InvalidInput: neither or both of text and attribute, empty text, an unknown operation or importance, an
                event time more than a day ahead, an expiry before it.
            IdempotencyConflict: the key came before with other content.
        """
        told = MemoryInput(
            text=text,
            subject=subject,
            attribute=attribute,
            value=value,
            operation=operation,
            event_time=event_time,
            importance=importance,
            pinned=pinned,
            expires_at=expires_at,
            topics=labels("topics", topics),
            entities=labels("entities", entities),
            metadata={} if metadata is None else metadata,
        )
        whose = [self._scope.agent, self._scope.session]
        supplied = [text, attribute, value, subject, operation, event_time, importance, pinned, expires_at]
        once = self._once("remember", idempotency_key, [*supplied, [*topics], [*entities], told.metadata, *whose])
        writer = self._writer()
        told, redacted = cleaned(self._runtime, told)
        if told.attribute is None:
            return await self._told(lambda tx: remember(tx, told, writer=writer), once, redacted)
        life = timedelta(days=self._runtime.settings.mid_tier_days)
        await self._warm(told.subject, told.attribute)
        return await self._told(lambda tx: tell_fact(tx, told, writer=writer, life=life), once, redacted)

    async def _warm(self, subject: str, attribute: str) -> None:
        """Compare the key with the stored ones ahead: nothing is computed under a lock."""
        agent = self._scope.agent
        stored = await self._runtime.store.read(self._scope, lambda tx: tx.fact_keys(agent))
        await warm(subject, attribute, stored)

    async def correct(
        self, memory_id: str, value: str, *, rev: int | None = None, idempotency_key: str | None = None
    ) -> Remembered:
        """Replace a fact's value or a note's text that was never true; the old one is retracted, not superseded.

        The new memory holds for the same time. With `rev`, only if the memory is still at that revision.

        Raises:
            NotFound, WrongKind: no such fact or note in this scope.
            RevisionConflict: it has changed since that revision.
        """
        once = self._once("correct", idempotency_key, [memory_id, value, rev])
        writer = self._writer()
        said, redacted = await cleaned_value(self._runtime, self._scope, memory_id, value)
        return await self._told(lambda tx: correct(tx, memory_id, said, rev=rev, writer=writer), once, redacted)

    async def pin(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        """Pin a memory: it is long-term, never expires and is never merged away."""
        writer = self._writer()
        once = self._once("pin", idempotency_key, [memory_id, rev])
        return await self._told(lambda tx: pin(tx, memory_id, pinned=True, rev=rev, writer=writer), once)

    async def unpin(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        """Take the pin away; the memory stays in its tier."""
        writer = self._writer()
        once = self._once("unpin", idempotency_key, [memory_id, rev])
        return await self._told(lambda tx: pin(tx, memory_id, pinned=False, rev=rev, writer=writer), once)

    async def _told(
        self, tell: Callable[[WriteTx], Receipt], once: Idempotency | None, redacted: int = 0
    ) -> Remembered:
        work = self._stated(lambda tx: noted(tell(tx), redacted), once)
        done = await self._write(lambda tx: remembered(tx, work(tx)))
        counted(self._runtime, self._scope, done.receipt)
        return done

    async def settle_suspicion(
        self, suspicion_id: str, verdict: Literal["same", "different"], *, idempotency_key: str | None = None
    ) -> Receipt:
        """Settle what `suspicions` lists, as one change that can be undone.

        Two keys: `same` makes their facts one timeline, `different` keeps them apart for good. A contradiction: `same`
        takes the statement as the user's own word, `different` leaves what the user told.

        Raises:
            NotFound: no such suspicion in this scope. Conflict: it is settled already. InvalidInput: another verdict.
        """
        if verdict not in {"same", "different"}:
            raise InvalidInput(f"the verdict is {verdict!r:.40}; it must be 'same' or 'different'")
        writer = self._writer()
        once = self._once("settle_suspicion", idempotency_key, [suspicion_id, verdict])
        return await self._write_once(once, lambda tx: settle_suspicion(tx, suspicion_id, verdict, writer=writer))

    async def undo(
        self, change_id: str, *, cascade: bool = False, redo: bool = False, idempotency_key: str | None = None
    ) -> Receipt:
        """Undo a change, as a new change; undoing an undo is redo. With `cascade`, undo first what stands on it.

        Undoing what a model made of a window leaves the window RAW; with `redo` it is due to be done again.

        Raises:
            UndoConflict: later changes stand on it (`blocking`), it is undone already, or it is an add. Nothing
            happened. Forgotten: it is a hard forget, or what it touched was forgotten. NotFound: no such change in
            this scope.
        """
        runtime = self._runtime
        once = self._once("undo", idempotency_key, [change_id, cascade, redo] if redo else [change_id, cascade])
        undoer = Undoer(ids=runtime.ids, author=USER, secret=runtime.store.facts.secret, redo=redo)

        def work(tx: WriteTx) -> Receipt:
            return undo(tx, change_id, cascade=cascade, undoer=undoer)

        return await self._write_once(once, work)

    async def forget(
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
        """Forget one message or memory, what passes filters, a session, or (`everything`) all of the scope's user.

        With it goes what was derived from it and, unless `sources="keep"`, the messages it names as sources. No
        surface returns any of it from then on, `as_of` neither; a tombstone without content stays. `erased` says
        whether the bytes are gone from the files; where a reader still holds them, `wait` is how many seconds to wait
        for it, and the scrub is due work. `hard=False` hides instead, and can be undone; `dry_run` only lists.

        Raises:
            NotFound, WrongKind: no such message or memory in this scope.
            InvalidInput: no target, or an id and filters together.
            IdempotencyConflict: the key came before with another target.
        """
        target = Target(
            id=item_id,
            session=session,
            kinds=as_tuple(kinds),
            topics=labels("topics", topics),
            entities=labels("entities", entities),
            before=before,
            after=after,
            everything=everything,
        )
        if sources not in {"erase", "keep"}:
            raise InvalidInput(f"sources is {sources!r:.40}; it must be 'erase' or 'keep'")
        given: object = wait  # callers are not all type-checked
        if not isinstance(given, int | float) or not 0 <= given < math.inf:
            raise InvalidInput(f"wait is {wait!r:.40}; pass how many seconds to wait for readers, 0 for none")
        agent, runtime = self._scope.agent, self._runtime
        if dry_run:
            return await self._read(
                lambda tx: report(plan(tx, target, sources=sources, hard=hard, agent=agent), hard=hard)
            )
        secret, ids = runtime.store.facts.secret, runtime.ids
        once = self._once("forget", idempotency_key, [target, sources, hard, agent])

        def work(tx: WriteTx) -> Erasure:
            def run() -> Erasure:
                return forget(tx, target, sources=sources, hard=hard, agent=agent, secret=secret, ids=ids, author=USER)

            return run() if once is None else forget_once(tx, once, run, hard=hard)

        done = await self._write(work)
        left = None if await runtime.mirrored(self._scope) else "mirror"
        if not hard:
            return replace(done, waiting_for=left)
        holding = await runtime.scrub(self._scope, wait)
        return replace(done, erased=holding is None and left is None, waiting_for=holding or left)

    async def end_session(self, *, idempotency_key: str | None = None) -> Receipt:
        """Close the scope's session: its window is kept, whole and searchable, and the next message begins a clean one.

        Waits for no model: where one consolidates, the window is due now and worked on behind. Without one the window
        becomes RAW memories at once; their ids are in the receipt. Ending an empty window does nothing.
        """
        runtime = self._runtime
        secret, name, when = runtime.store.facts.secret, self._scope.session or "", runtime.settings.when
        raw_chars = runtime.settings.raw_chars

        once = self._once("end_session", idempotency_key, [name])

        def work(tx: WriteTx) -> Receipt:
            session = ensure_session(tx, name, runtime.ids)
            if when is not None:
                return end(tx, session, when)
            return close_window(
                tx, session, secret=secret, ids=runtime.ids, author=USER, ended=True, raw_chars=raw_chars
            )

        return await self._write_once(once, work)

    async def consolidate(self) -> Consolidated:
        """Consolidate now what waits in the scope's session, or, without a session, in all sessions of its user.

        RAW windows are tried again too. It waits for the models; what they could not take stays RAW, with its reason in
        `last_error`. Where no model is configured nothing is changed.
        """
        runtime, when, name = self._runtime, self._runtime.settings.when, self._scope.session

        def chosen(tx: ReadTx) -> list[Session]:
            if name is not None:
                return [session for session in tx.sessions() if session.name == name]
            return [session for session in tx.sessions() if when is None or not skipped(session.name, when)]

        if when is None:
            found = await self._read(lambda tx: consolidated(tx, [one.name for one in chosen(tx)], 2**62))
            return replace(found, last_error="no model is configured for consolidation; set `consolidation`")
        first = await self._write(lambda tx: ask_for(tx, chosen(tx), when))
        await runtime.worker.settle(self._scope)
        return await self._read(lambda tx: consolidated(tx, [one.name for one in chosen(tx)], first))
