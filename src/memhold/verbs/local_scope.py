"""The verbs of a scope over an open store: each write is one transaction and returns only what is durable.

What each verb promises is said where it is declared (`scope.AsyncScope`).
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from memhold.facts.evidence import asked_for, last_asked, used
from memhold.facts.matching import warm
from memhold.journal.beside import RESERVED, shown_to, with_kept
from memhold.journal.redaction import redacted_value
from memhold.journal.visibility import checked_session, sees_session
from memhold.messages.fences import fence
from memhold.messages.ingest import Draft, attribute, parse_messages
from memhold.messages.people import told_apart
from memhold.ports.idempotency import Idempotency
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.recall.conversation import asked_with, asker_of, last_turns
from memhold.recall.hits import readable
from memhold.recall.lacking import lacking
from memhold.recall.meaning import Meaning
from memhold.recall.ranking import RERANK
from memhold.recall.recall import RERANKED, checked, recall
from memhold.recall.several import alone, fused
from memhold.upkeep.periods import LEVELS
from memhold.values.also import named_scopes
from memhold.values.answers import (
    Changes,
    Compacted,
    Consolidated,
    Erasure,
    Messages,
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
from memhold.values.bounds import MAX_PAGE
from memhold.values.errors import InvalidInput, MemholdError, NotFound, TooLarge, WrongKind
from memhold.values.jsonable import body_json, json_copy
from memhold.values.origins import author_of
from memhold.values.records import (
    Change,
    FactKey,
    Fill,
    HitKind,
    Importance,
    Kind,
    Memory,
    Message,
    Origin,
    Scope,
    Session,
    Shape,
    State,
    Tier,
    micros,
)
from memhold.values.sessions import SessionOrder, SessionPage
from memhold.values.written import Written
from memhold.verbs.beside_loop import beside
from memhold.verbs.checking import judged
from memhold.verbs.declaration import verbs_of
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.runtime import Runtime
from memhold.verbs.scope import AsyncScope
from memhold.verbs.transactions import Transactions

if TYPE_CHECKING:
    from memhold.context.answer import Context
    from memhold.facts.remember import Writer
    from memhold.history.forget import Sources, Target
    from memhold.verbs.files import Exported, ExportFormat, Progress, Report

__all__ = ["LocalScope"]

T = TypeVar("T")
MAX_SESSION_METADATA = 256 * 1024
"""Bytes of JSON that an application may keep beside a session."""


class LocalScope:
    """`AsyncScope` over a store that this process has open."""

    def __init__(self, runtime: Runtime, scope: Scope) -> None:
        self._runtime = runtime
        self._scope = scope
        self._tx = Transactions(runtime, scope)
        self._author = author_of(scope.actor)

    @property
    def scope(self) -> Scope:
        return self._scope

    @cached_property
    def documents(self) -> AsyncDocuments:
        from memhold.verbs.local_documents import LocalDocuments  # late: who has none of them need not load it

        return LocalDocuments(self._runtime, self._scope)

    async def add(
        self, messages: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> Receipt:
        from memhold.facts.instructions import keep_instructions
        from memhold.journal.append import append, with_people
        from memhold.verbs.analysis_pool import prepared
        from memhold.verbs.scope_redaction import counted

        runtime, agent, session = self._runtime, self._scope.agent, self._scope.session or ""
        when, meaning = runtime.settings.when, runtime.embedding is not None

        def read() -> tuple[tuple[Draft, ...], Idempotency | None]:
            parsed = parse_messages(messages, now=runtime.clock.now(), limits=runtime.limits)
            drafts = tuple(attribute(draft, self._author.origin) for draft in parsed)
            drafts = told_apart(drafts, user=self._scope.user, agent=agent)
            return drafts, self._tx.once("add", idempotency_key, [messages, agent, session])

        drafts, once = await beside(read, messages)
        ready = await prepared(drafts, runtime.redactor, secret=runtime.store.facts.secret, pool=runtime.analysis_pool)

        # Who of several people speaks is known only beside what the session holds.
        told = any(ready.instructions) or any(draft.speaker for draft in ready.drafts)

        def work(tx: WriteTx) -> Receipt:
            heard = with_people(tx, ready, session=session, agent=agent)
            receipt = append(
                tx,
                heard,
                session=session,
                agent=agent,
                author=self._author,
                ids=runtime.ids,
                when=when,
                meaning=meaning,
            )
            said = {id_: clauses for id_, clauses in zip(receipt.ids, heard.instructions, strict=True) if clauses}
            if not said:
                return receipt
            change = keep_instructions(tx, said, writer=self._writer())
            return receipt if change is None else replace(receipt, change_ids=(*receipt.change_ids, change))

        return counted(runtime, self._scope, await self._tx.write_once(once, work, memories=told))

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
        from memhold.facts.remember import MemoryInput, remember
        from memhold.facts.tell import tell_fact
        from memhold.verbs.scope_redaction import cleaned

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
            topics=_labels("topics", topics),
            entities=_labels("entities", entities),
            metadata={} if metadata is None else metadata,
        )
        whose = [self._scope.agent, self._scope.session]
        supplied = [text, attribute, value, subject, operation, event_time, importance, pinned, expires_at]
        once = self._tx.once("remember", idempotency_key, [*supplied, [*topics], [*entities], told.metadata, *whose])
        writer = self._writer()
        told, redacted = await cleaned(self._runtime, told)
        if told.attribute is None:
            return await self._remembered(lambda tx: remember(tx, told, writer=writer), once, redacted)
        await self._warm(told.subject, told.attribute)
        return await self._remembered(lambda tx: tell_fact(tx, told, writer=writer), once, redacted)

    async def correct(
        self, memory_id: str, value: str, *, rev: int | None = None, idempotency_key: str | None = None
    ) -> Remembered:
        from memhold.facts.remember import correct
        from memhold.verbs.scope_redaction import cleaned_value

        once = self._tx.once("correct", idempotency_key, [memory_id, value, rev])
        writer = self._writer()
        said, redacted = await cleaned_value(self._runtime, self._scope, memory_id, value)
        return await self._remembered(lambda tx: correct(tx, memory_id, said, rev=rev, writer=writer), once, redacted)

    async def pin(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        from memhold.facts.remember import pin

        writer = self._writer()
        once = self._tx.once("pin", idempotency_key, [memory_id, rev])
        return await self._remembered(lambda tx: pin(tx, memory_id, pinned=True, rev=rev, writer=writer), once)

    async def unpin(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        from memhold.facts.remember import pin

        writer = self._writer()
        once = self._tx.once("unpin", idempotency_key, [memory_id, rev])
        return await self._remembered(lambda tx: pin(tx, memory_id, pinned=False, rev=rev, writer=writer), once)

    async def forget(
        self,
        item_id: str | None = None,
        *,
        ids: Sequence[str] = (),
        session: str | None = None,
        session_prefix: str | None = None,
        kinds: Sequence[Kind] | None = None,
        topics: Sequence[str] = (),
        entities: Sequence[str] = (),
        before: datetime | None = None,
        after: datetime | None = None,
        everything: bool = False,
        origin: Origin | None = None,
        actor: str | None = None,
        written_since: datetime | None = None,
        written_until: datetime | None = None,
        hard: bool = True,
        sources: Sources = "erase",
        dry_run: bool = False,
        wait: float = 1.0,
        idempotency_key: str | None = None,
    ) -> Erasure:
        from memhold.history.forget import Target
        from memhold.verbs.erasing import Forgetting, forgotten, would_forget

        if item_id is not None and ids:
            raise InvalidInput("name one item_id, or several ids")
        if len(ids) > MAX_PAGE:
            raise InvalidInput(f"{len(ids):,} ids are too many; pass at most {MAX_PAGE:,}")
        target = Target(
            ids=tuple(dict.fromkeys(_as_tuple(ids) or ())) if item_id is None else (item_id,),
            session=session,
            session_prefix=session_prefix,
            kinds=_as_tuple(kinds),
            topics=_labels("topics", topics),
            entities=_labels("entities", entities),
            before=before,
            after=after,
            everything=everything,
            written=Written(origin=origin, actor=actor, since=written_since, until=written_until),
        )
        once = self._tx.once("forget", idempotency_key, [target, sources, hard, self._scope.agent])

        async def attempt(target: Target) -> Erasure:
            forgetting = Forgetting(
                target=target,
                sources=sources,
                hard=hard,
                agent=self._scope.agent,
                author=self._author,
                ids=self._runtime.ids,
            )
            if dry_run:
                return await would_forget(self._tx, forgetting)
            return await forgotten(self._tx, forgetting, once, wait=wait)

        return await self._reached(target, attempt)

    async def _reached(self, target: Target, attempt: Callable[[Target], Awaitable[Erasure]]) -> Erasure:
        """The report of a forget, also of a row whose id rotted: that id is shown, and no index has it."""
        from memhold.history.forget import damaged_numbers

        try:
            return await attempt(target)
        except NotFound:
            numbers = await self._tx.read(lambda tx: damaged_numbers(tx, target.ids)) if target.ids else {}
            if not numbers:
                raise
            return await attempt(replace(target, numbers=numbers))

    async def undo(
        self,
        change_id: str | None = None,
        *,
        origin: Origin | None = None,
        actor: str | None = None,
        written_since: datetime | None = None,
        written_until: datetime | None = None,
        cascade: bool = False,
        redo: bool = False,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> Receipt:
        from memhold.history.undo import Undoer, reaches_below, stands, undo, undo_written, would_undo

        runtime = self._runtime
        written = Written(origin=origin, actor=actor, since=written_since, until=written_until)
        if (change_id is None) != written.given:
            raise InvalidInput("say what to undo: one change, or filters (origin, actor, written_since, written_until)")
        supplied: list[Any] = [change_id, cascade, *([redo] if redo else []), *([written] if written.given else [])]
        once = None if dry_run else self._tx.once("undo", idempotency_key, supplied)
        undoer = Undoer(ids=runtime.ids, author=self._author, secret=runtime.store.facts.secret, redo=redo)

        made_id: str | None = None

        def work(tx: WriteTx) -> Receipt:
            if change_id is None:
                return undo_written(tx, written, cascade=cascade, undoer=undoer)
            return undo(tx, change_id, cascade=cascade, undoer=undoer, made_id=made_id)

        if dry_run:
            return await self._tx.taken_back(lambda tx: would_undo(tx, work(tx)))
        # What was undone once reaches nothing that was hidden again below since.
        again = once is not None and await self._tx.read(once.seen) is not None
        if change_id is not None and not again and await self._tx.read(lambda tx: reaches_below(tx, change_id)):
            # What was hidden below with it has the same id there, and is shown again under one id too.
            every = await self._tx.below()
            below = [place for place in every if await place.read(lambda tx: stands(tx, change_id))]
            # What stands in the way anywhere is found before anything is shown.
            for place in (*below, self._tx):
                await place.taken_back(work)
            for place in below:
                made_id = (await place.write(work)).change_ids[0]
        return await self._tx.write_once(once, work)

    async def confirm(
        self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None
    ) -> Remembered:
        from memhold.facts.confirm import confirm

        writer = self._writer()
        once = self._tx.once("confirm", idempotency_key, [memory_id, rev])
        return await self._remembered(lambda tx: confirm(tx, memory_id, rev=rev, writer=writer), once)

    async def drop(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        from memhold.facts.confirm import drop

        writer = self._writer()
        once = self._tx.once("drop", idempotency_key, [memory_id, rev])
        return await self._remembered(lambda tx: drop(tx, memory_id, rev=rev, writer=writer), once)

    async def dismiss(self, change_id: str, place: int, *, idempotency_key: str | None = None) -> Receipt:
        from memhold.history.dismissal import dismiss

        writer = self._writer()
        once = self._tx.once("dismiss", idempotency_key, [change_id, place])
        return await self._tx.write_once(once, lambda tx: dismiss(tx, change_id, place, writer=writer))

    async def recall(
        self,
        query: str | Query = "",
        *,
        limit: int = 10,
        offset: int = 0,
        kinds: Sequence[HitKind] | None = None,
        states: Sequence[State] | None = None,
        tiers: Sequence[Tier] | None = None,
        roles: Sequence[str] | None = None,
        speaker: str | None = None,
        asker: str | None = None,
        session: str | None = None,
        topics: Sequence[str] = (),
        entities: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        include_superseded: bool = False,
        browse: bool = False,
        signals: Sequence[str] | None = None,
        neighbours: int = 0,
        messages: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        explain: bool = False,
        expect: str | None = None,
        snapshot: str | None = None,
        cursor: str | None = None,
        also: Sequence[Mapping[str, Any]] = (),
    ) -> Recall:
        if isinstance(query, str):
            query = Query(
                text=query,
                conversation=last_turns(messages, self._runtime.store.facts.secret),
                limit=limit,
                offset=offset,
                **_as_tuples(kinds=kinds, states=states, tiers=tiers, roles=roles, signals=signals),
                speaker=speaker,
                asker=asker_of(messages, self._runtime.store.facts.secret) if asker is None else asker,
                session=session,
                topics=_labels("topics", topics),
                entities=_labels("entities", entities),
                metadata=dict(metadata or {}),
                since=since,
                until=until,
                as_of=as_of,
                known_at=known_at,
                include_superseded=include_superseded,
                browse=browse,
                neighbours=neighbours,
                explain=explain,
                expect=expect,
                snapshot=snapshot,
                cursor=cursor,
                also=tuple(also),
            )
        return await self._asked(checked(query))

    async def context(
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
        asker: str | None = None,
        fill: Fill = "all",
        documents: Sequence[Sequence[str]] = (),
        also: Sequence[Mapping[str, Any]] = (),
    ) -> Context:
        from memhold.consolidate.requests import ask_ahead
        from memhold.context.build import built
        from memhold.context.plan import Elsewhere
        from memhold.messages.shown import keep_shown
        from memhold.verbs.context_slots import TAIL, ContextSlots, listed, request_of

        settings = self._runtime.settings
        request = request_of(
            budget=budget,
            reserve=reserve,
            strategy=strategy,
            shape=shape,
            threshold=crossover_turn_threshold or 0,
            tail=TAIL if tail is None else tail,
            fill=fill,
            documents=documents,
        )
        given = await beside(lambda: listed(messages), messages)
        self._runtime.guard()
        slots = ContextSlots(self._tx)
        request = await slots.counted(request, (settings.context_model or None) if model is None else model)
        named = named_scopes(self._scope, also)
        others = [ContextSlots(Transactions(self._runtime, one)) for one in named]
        inputs, *more = await slots.inputs(given, request, query, asker, others=others)
        name, last = self._scope.session or "", inputs.window.ahead
        if last:
            self._runtime.after_answer.soon(self._scope, lambda tx: ask_ahead(tx, name, last))
        secret, user = self._runtime.store.facts.secret, self._scope.user
        elsewhere = [
            Elsewhere(
                scope=replace(one, actor="user"), inputs=held, same_user=one.user is not None and one.user == user
            )
            for one, held in zip(named, more, strict=True)
        ]
        context, fences = await asyncio.to_thread(built, inputs, request, secret=secret, elsewhere=elsewhere)
        if fences:
            self._runtime.after_answer.soon(self._scope, lambda tx: keep_shown(tx, fences))
        return context

    async def get(self, item_id: str) -> Message | Memory:
        from memhold.history.history import get

        return await self._tx.read(lambda tx: get(tx, item_id))

    async def list(
        self,
        kinds: Sequence[Kind] | None = None,
        states: Sequence[State] | None = ("active",),
        *,
        session: str | None = None,
        origin: Origin | None = None,
        actor: str | None = None,
        subject: str | None = None,
        written_since: datetime | None = None,
        written_until: datetime | None = None,
        unconfirmed_since: datetime | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        written = Written(origin=origin, actor=actor, since=written_since, until=written_until)
        if unconfirmed_since is not None:
            micros(unconfirmed_since)
        listing = _listing(kinds, states, self._scope.agent, session, limit, cursor, written)
        listing = replace(listing, unconfirmed_since=unconfirmed_since, subject=subject)
        found, damaged = await self._tx.read(lambda tx: (tx.list_memories(listing), tuple(tx.damaged)))
        more = len(found) > limit
        page = tuple(found[:limit])
        return Page(items=page, cursor=f"n{page[-1].number}" if more else None, damaged=damaged)

    async def last_recalled(self, ids: Sequence[str]) -> Mapping[str, datetime]:
        if len(ids) > MAX_PAGE:
            raise InvalidInput(f"{len(ids):,} ids are too many; pass at most {MAX_PAGE:,}")
        await self._runtime.after_answer.written()
        return await self._tx.read(lambda tx: last_asked(tx, ids))

    async def messages(
        self, *, after: int = 0, before: int | None = None, newest: bool = False, limit: int = 1000
    ) -> Messages:
        name, until = self._scope.session or "", None if before is None else before - 1

        def work(tx: ReadTx) -> Messages:
            found = tx.messages(name, after=after, until=until, limit=limit, newest=newest)
            return Messages(found, tx.damaged)

        return await self._tx.read(work)

    async def read_message(self, message_id: str, *, offset: int = 0, limit: int = 100_000) -> str:
        from memhold.history.history import get

        found = await self._tx.read(lambda tx: get(tx, message_id))
        if not isinstance(found, Message):
            raise WrongKind(f"{message_id} is a {found.kind}; read_message takes msg_…", id=message_id)
        return found.text[offset : offset + limit]

    async def history(self, item_id: str) -> tuple[Change, ...]:
        from memhold.history.history import history

        return await self._tx.read(lambda tx: history(tx, item_id))

    async def changes(self, *, after: int = 0, limit: int = 100, verb: str | None = None) -> Changes:
        from memhold.history.changes import changes

        return await self._tx.read(lambda tx: changes(tx, after=after, limit=limit, verb=verb))

    async def summaries(
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
        if level is not None and (level not in LEVELS or raw or session is not None):
            known = ", ".join(LEVELS)
            raise InvalidInput(f"level is {level!r:.40}; pass one of {known}, without raw and without a session")
        kinds: tuple[HitKind, ...] = ("summary", "raw") if raw else ("summary",)
        labels = {} if level is None else {"level": level}
        kinds = kinds if level is None else ("rollup",)
        return await self.recall(
            query or "",
            limit=limit,
            offset=offset,
            kinds=kinds,
            since=since,
            until=until,
            session=session,
            metadata=labels,
            cursor=cursor,
        )

    async def suspicions(
        self, *, settled: bool = False, limit: int | None = None, after: str | None = None
    ) -> tuple[OpenSuspicion, ...]:
        from memhold.facts.suspicions import list_suspicions

        return await self._tx.read(lambda tx: list_suspicions(tx, settled=settled, limit=limit, after=after))

    async def settle_suspicion(
        self, suspicion_id: str, verdict: Literal["same", "different"], *, idempotency_key: str | None = None
    ) -> Receipt:
        from memhold.facts.confirm import only_a_person
        from memhold.facts.suspicions import settle_suspicion

        if verdict not in {"same", "different"}:
            raise InvalidInput(f"the verdict is {verdict!r:.40}; it must be 'same' or 'different'")
        writer = self._writer()
        only_a_person(writer, "a verdict")
        once = self._tx.once("settle_suspicion", idempotency_key, [suspicion_id, verdict])
        return await self._tx.write_once(once, lambda tx: settle_suspicion(tx, suspicion_id, verdict, writer=writer))

    async def sessions(
        self, prefix: str = "", *, order: SessionOrder = "began", limit: int = 100, cursor: str | None = None
    ) -> SessionPage:
        from memhold.journal.sessions import asked_sessions, list_sessions

        asked = asked_sessions(prefix=prefix, order=order, limit=limit, cursor=cursor)
        return await self._tx.read(lambda tx: list_sessions(tx, asked))

    async def copy_session(self, to: str, *, until: int | None = None, idempotency_key: str | None = None) -> Receipt:
        from memhold.journal.sessions import copy_session

        name, ids, author = self._scope.session or "", self._runtime.ids, self._author
        target = checked_session(to) or ""
        once = self._tx.once("copy_session", idempotency_key, [name, target, until, self._scope.agent])
        return await self._tx.write_once(
            once, lambda tx: copy_session(tx, name, target, until=until, author=author, ids=ids)
        )

    async def session_metadata(self) -> Mapping[str, Any]:
        from memhold.journal.sessions import metadata_of

        name = self._scope.session or ""
        return await self._tx.read(lambda tx: metadata_of(tx, name))

    async def set_session_metadata(self, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
        from memhold.journal.append import ensure_session

        runtime, name, agent = self._runtime, self._scope.session or "", self._scope.agent
        runtime.guard()
        kept: dict[str, Any] = json_copy(metadata)
        for taken in sorted(RESERVED & kept.keys()):
            raise InvalidInput(f"the metadata has the name {taken!r}, which is Memhold's own; use another")
        if runtime.redactor is not None:
            kept, _ = redacted_value(kept, runtime.redactor, place="the metadata of the session")
        size = len(body_json(kept).encode())
        if size > MAX_SESSION_METADATA:
            said = f"the metadata has {size:,} bytes; keep at most {MAX_SESSION_METADATA:,}"
            raise TooLarge(said, size=size, limit=MAX_SESSION_METADATA)

        def work(tx: WriteTx) -> None:
            if not kept and tx.session(name) is None:
                return
            held = ensure_session(tx, name, runtime.ids)
            now = with_kept(held, kept, agent)
            tx.put_session(now)
            if shown_to(held, None) not in ({}, shown_to(now, None)):
                tx.put_due("scrub", "bytes", tx.now)

        await self._tx.write(work, memories=False)
        return kept

    async def fence(self, ids: Sequence[str], lines: Sequence[str]) -> str:
        from memhold.messages.shown import keep_shown

        self._runtime.guard()
        made = fence(ids, lines, secret=self._runtime.store.facts.secret)
        self._runtime.after_answer.soon(self._scope, lambda tx: keep_shown(tx, [made]))
        return made.text

    async def status(self) -> Status:
        from memhold.history.status import status

        facts = self._runtime.store.facts
        models = await self._runtime.health()
        found = await self._tx.read(lambda tx: status(tx, facts, models=models))
        caches, meaning = self._runtime.caches, await self._tx.unasked()
        lacks = await self._tx.look(lambda tx: lacking(tx, caches, meaning))
        compaction = self._runtime.compaction
        if compaction is not None:  # what it takes is loaded at the first look
            await asyncio.to_thread(import_module, "memhold.compact.compaction_step")
        uncompared, left = (0, None) if compaction is None else await compaction().waiting(self._scope)
        redacted = self._runtime.redactions[self._scope.namespace, self._scope.user]
        degraded = self._runtime.degraded((*lacks, *found.degraded))
        return replace(found, redacted=redacted, uncompared=uncompared, compact_calls_left=left, degraded=degraded)

    async def residue(self, text: str) -> Residue:
        self._runtime.guard()
        return await asyncio.to_thread(self._runtime.residue, text)

    async def end_session(self, *, idempotency_key: str | None = None) -> Receipt:
        from memhold.consolidate.requests import end
        from memhold.journal.append import ensure_session
        from memhold.journal.archive import close_window

        runtime = self._runtime
        secret, name, when = runtime.store.facts.secret, self._scope.session or "", runtime.settings.when

        once = self._tx.once("end_session", idempotency_key, [name])

        def work(tx: WriteTx) -> Receipt:
            session = ensure_session(tx, name, runtime.ids)
            if session.last_seq and not sees_session(tx, session):
                return Receipt(ids=())  # it is the other agents' alone
            if when is not None:
                return end(tx, session, when)
            return close_window(tx, session, secret=secret, ids=runtime.ids, author=self._author)

        receipt = await self._tx.write_once(once, work)
        return await self._noticed(receipt)

    async def _noticed(self, receipt: Receipt) -> Receipt:
        """The receipt, with what to know where no model that consolidates works: the window waits for it."""
        from memhold.history.status import windows

        found = await self._runtime.health() if self._runtime.links else {}
        down = [found[name] for name in self._runtime.links if name in found and found[name].answers is False]
        if not down or len(down) < len(self._runtime.links):
            return receipt
        count = await self._tx.read(windows)
        if not count:
            return receipt
        waits = "1 window waits, whole and searchable" if count == 1 else f"{count} windows wait, whole and searchable"
        return replace(receipt, notice=f"{waits}: {'; '.join(one.told for one in down)}")

    async def consolidate(self) -> Consolidated:
        from memhold.consolidate.requests import ask_for, consolidated
        from memhold.journal.windows import skipped

        runtime, when, name = self._runtime, self._runtime.settings.when, self._scope.session

        def chosen(tx: ReadTx) -> list[Session]:
            if name is not None:
                return [session for session in tx.sessions() if session.name == name]
            return [session for session in tx.sessions() if when is None or not skipped(session.name, when)]

        if when is None:
            found = await self._tx.read(lambda tx: consolidated(tx, [one.name for one in chosen(tx)], 2**62))
            return replace(found, last_error="no model is configured for consolidation; set `consolidation`")
        first = await self._tx.write(lambda tx: ask_for(tx, chosen(tx), when))
        await runtime.worker.settle(self._scope)
        return await self._tx.read(lambda tx: consolidated(tx, [one.name for one in chosen(tx)], first))

    async def compact(self, *, dry_run: bool = False) -> Compacted:
        runtime = self._runtime
        runtime.guard()
        await runtime.after_answer.written()
        compaction = runtime.compaction
        if compaction is None:
            return Compacted(judged=False, dry_run=dry_run)
        run = compaction().plan if dry_run else compaction().now
        done = await run(self._scope)
        if runtime.rollups is None or self._scope.session is not None:
            return done
        rollups = runtime.rollups()
        told = await (rollups.plan if dry_run else rollups.now)(self._scope)
        return replace(
            done,
            groups=(*done.groups, *told.groups),
            more=done.more or told.more,
            last_error=done.last_error or told.last_error,
        )

    async def retain(
        self,
        *,
        kinds: Sequence[Kind] = ("fact", "note"),
        older_than: timedelta | None = None,
        unused_for: timedelta | None = None,
        most: int | None = None,
        dry_run: bool = True,
        idempotency_key: str | None = None,
    ) -> tuple[Retained, ...]:
        from memhold.history.retention import Retention, hide, past, retained

        rules = Retention(kinds=tuple(kinds), older_than=older_than, unused_for=unused_for, most=most)
        whose = [self._scope.agent, self._scope.session]
        once = None if dry_run else self._tx.once("retain", idempotency_key, [rules, *whose])
        if once is not None and (seen := await self._tx.read(once.seen)) is not None:
            return await self._tx.read(lambda tx: retained(tx, seen))
        found = await self._tx.read(lambda tx: past(tx, rules))
        if dry_run:
            return found
        runtime, hidden = self._runtime, []
        for one in found:

            def work(tx: WriteTx, one: Retained = one) -> str | None:
                secret = runtime.store.facts.secret
                return hide(tx, one, rules, secret=secret, ids=runtime.ids, author=self._author)

            change = await runtime.store.write(self._scope, runtime.mirroring(work))
            if change is not None:
                hidden.append(replace(one, change_id=change))
        if once is not None:
            ids, changes = tuple(one.id for one in hidden), tuple(one.change_id or "" for one in hidden)
            receipt = await runtime.store.write(
                self._scope, lambda tx: once.once(tx, lambda: Receipt(ids=ids, change_ids=changes))
            )
            if receipt.replayed:  # another call with this key was faster
                return await self._tx.read(lambda tx: retained(tx, receipt))
        return tuple(hidden)

    async def import_file(
        self,
        path: str | Path,
        *,
        format: str | None = None,
        zone: tzinfo = UTC,
        session_prefix: str = "",
        on_error: Literal["stop", "skip"] = "stop",
        live: bool = False,
        batch: int = 128,
        dry_run: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> Report:
        from memhold.verbs.files import import_from

        try:
            return await import_from(
                self._runtime,
                self._scope,
                path,
                format_name=format,
                zone=zone,
                session_prefix=session_prefix,
                on_error=on_error,
                live=live,
                batch=batch,
                dry_run=dry_run,
                progress=progress,
            )
        finally:
            await self._tx.write(lambda _: None)

    async def export(self, path: str | Path, *, format: ExportFormat = "jsonl") -> Exported:
        from memhold.verbs.files import export_to

        return await export_to(self._runtime, self._scope, path, format_name=format)

    def _writer(self) -> Writer:
        from memhold.facts.remember import Writer

        return Writer(
            ids=self._runtime.ids,
            secret=self._runtime.store.facts.secret,
            author=self._author,
            agent=self._scope.agent,
            session=self._scope.session,
        )

    async def _remembered(
        self, tell: Callable[[WriteTx], Receipt], once: Idempotency | None, redacted: int = 0
    ) -> Remembered:
        from memhold.facts.remember import remembered
        from memhold.verbs.scope_redaction import counted, noted

        work = self._tx.idempotent(lambda tx: noted(tell(tx), redacted), once)
        done = await self._tx.write(lambda tx: remembered(tx, work(tx)))
        counted(self._runtime, self._scope, done.receipt)
        return done

    async def _warm(self, subject: str, attribute: str) -> None:
        """Compare a new wording's key with the stored ones ahead: nothing is computed under a lock."""
        agent = self._scope.agent

        def others(tx: ReadTx) -> list[FactKey]:
            there = tx.fact_key(subject=subject, attribute=attribute, agent=agent)
            return tx.fact_keys(agent) if there is None else []

        await warm(subject, attribute, await self._runtime.store.read(self._scope, others))

    async def _asked(self, asked: Query) -> Recall:
        """The answer of this scope, and of those that the question names beside it; evidence is noted here alone."""
        others = [LocalScope(self._runtime, one) for one in named_scopes(self._scope, asked.also)]
        each = alone(asked) if others else asked
        answer = whole = await self._answer(each)
        if others:
            found = [(one.scope, await one._answer(each)) for one in others]  # noqa: SLF001 - the same work elsewhere
            whole = fused(asked, [(replace(self._scope, session=None), answer), *found])
        shown = {hit.id for hit in whole.hits}
        evidence = tuple(one for one in asked_for(each, answer) if one in shown)
        uses = tuple(one for one in used(each, answer) if one in shown)
        self._runtime.after_answer.note(self._scope, evidence, uses, at=self._runtime.clock.now())
        return whole

    async def _answer(self, asked: Query) -> Recall:
        meaning = await self._tx.meaning(asked_with(asked))
        scores = await self._reranked(asked, meaning)
        answer = await self._recalled(asked, meaning, scores)
        degraded = answer.degraded if scores is not None else (*answer.degraded, RERANK)
        return replace(answer, degraded=self._runtime.degraded(degraded))

    async def _reranked(self, asked: Query, meaning: Meaning) -> Mapping[str, float] | None:
        """What the reranker says of the best hits, by id; None where it could not be asked.

        Nothing where none is configured, and where the question names its signals or goes on behind a cursor.
        """
        reranker = self._runtime.reranker
        if reranker is None or asked.signals is not None or asked.cursor is not None or asked.offset >= RERANKED:
            return {}
        wide = replace(asked, limit=RERANKED, offset=0, neighbours=0, explain=False, expect=None)
        found = await self._recalled(wide, meaning, {})
        best = found.hits[: found.total]
        if len(best) < 2 or not asked.text.strip():
            return {}
        try:
            async with asyncio.timeout(self._runtime.settings.recall_timeout):
                scores = await reranker.scores(asked_with(asked), [readable(hit) for hit in best])
        except (MemholdError, TimeoutError):
            return None
        if len(scores) != len(best) or not all(map(math.isfinite, scores)):
            return None
        return {hit.id: score for hit, score in zip(best, scores, strict=True)}

    async def _recalled(self, asked: Query, meaning: Meaning, scores: Mapping[str, float] | None) -> Recall:
        caches, timeout = self._runtime.caches, self._runtime.settings.recall_timeout
        secret = self._runtime.store.facts.secret

        def work(tx: ReadTx) -> Recall:
            until = monotonic() + timeout
            return recall(tx, asked, caches, meaning, lambda: monotonic() < until, secret, scores)

        return await self._tx.look(work)


for _verb in verbs_of(AsyncScope).values():
    if _verb.name != "add":  # the hot path: its messages are read one by one where they enter
        setattr(LocalScope, _verb.name, judged(_verb, getattr(LocalScope, _verb.name)))


def _as_tuples(**values: Sequence[Any] | None) -> dict[str, Any]:
    """Each of these lists as a tuple, by its name."""
    return {name: _as_tuple(one) for name, one in values.items()}


def _as_tuple(values: Sequence[T] | None) -> tuple[T, ...] | None:
    """A list as a tuple."""
    return None if values is None else tuple(values)


_CURSOR = re.compile(r"n[0-9]{1,15}")
"""Behind which number a page begins: as many digits as `MAX_NUMBER` has, less one."""


def _listing(
    kinds: Sequence[Kind] | None,
    states: Sequence[State] | None,
    agent: str | None,
    session: str | None,
    limit: int,
    cursor: str | None,
    written: Written,
) -> Listing:
    if cursor is not None and not _CURSOR.fullmatch(cursor):
        raise InvalidInput(f"{cursor!r:.40} is not a cursor of this listing; pass the one that the last page gave")
    return Listing(
        kinds=_as_tuple(kinds),
        states=_as_tuple(states),
        agent=agent,
        session=checked_session(session),
        origin=written.origin,
        actor=written.actor,
        written_since=written.since,
        written_until=written.until,
        after=-1 if cursor is None else int(cursor[1:]),
        limit=limit + 1,
    )


def _labels(name: str, given: Sequence[str]) -> tuple[str, ...]:
    if given == ():
        return ()
    from memhold.facts.remember import labels

    return labels(name, given)
