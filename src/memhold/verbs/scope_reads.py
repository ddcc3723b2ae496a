"""The reading verbs of a scope. Each reads one consistent snapshot."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from time import monotonic
from typing import Any, TypeVar

from memhold.facts.evidence import asked_for
from memhold.facts.expiry import expire_overdue, is_overdue
from memhold.facts.remember import labels
from memhold.facts.suspicions import list_suspicions
from memhold.history.changes import changes
from memhold.history.history import get, history
from memhold.history.status import status
from memhold.index.questions import TooSlow
from memhold.journal.visibility import page_of_messages
from memhold.ports.transaction import Listing, ReadTx
from memhold.recall.recall import Meaning, checked, recall
from memhold.upkeep.periods import LEVELS
from memhold.values.answers import Changes, OpenSuspicion, Page, Query, Recall, Residue, Status
from memhold.values.errors import InvalidInput, MemholdError, StoreBusy, StoreFull, StoreReadOnly, WrongKind
from memhold.values.records import KINDS, STATES, Change, HitKind, Kind, Memory, Message, Scope, State, Tier
from memhold.verbs.runtime import Runtime

__all__ = ["ScopeReads", "as_tuple", "session_names"]

T = TypeVar("T")
log = logging.getLogger("memhold")
MAX_MESSAGES = 10_000
MAX_PAGE = 1000


class ScopeReads:
    """What a scope answers, without changing anything."""

    def __init__(self, runtime: Runtime, scope: Scope) -> None:
        self._runtime = runtime
        self._scope = scope

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._scope

    async def _read(self, work: Callable[[ReadTx], T]) -> T:
        await self._runtime.after_answer.written()
        return await self._look(work)

    async def _look(self, work: Callable[[ReadTx], T]) -> T:
        """Read, after what is past its time was marked so: without a worker nobody else does it."""
        runtime = self._runtime
        runtime.guard()
        found = await runtime.store.read(self._scope, lambda tx: None if is_overdue(tx) else (work(tx),))
        if found is not None:
            return found[0]
        try:
            await runtime.store.write(self._scope, lambda tx: expire_overdue(tx, runtime.ids))
        except (StoreBusy, StoreFull, StoreReadOnly) as error:
            log.warning("memories past their time could not be marked: %s", type(error).__name__)
        return await runtime.store.read(self._scope, work)

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
        """Find messages and current memories; an empty question lists the newest.

        Looks across all sessions of the scope's user unless `session` narrows it. Filters only narrow. `as_of` answers
        with what held at that time, `known_at` with what was known then; `include_superseded` adds past values, marked
        by their state. A question is evidence for the facts it returned, counted behind the answer, once a turn.
        `neighbours` adds that many turns before and after each message, `explain` the account of the
        ranking. For the next page pass the answer's `cursor` with the same question: what is found all along is shown
        exactly once, whatever is written, hidden or forgotten in between. `offset` counts instead, and `snapshot` of
        the first page keeps later writes out.

        Raises:
            InvalidInput, TooLarge, NaiveTime: the question cannot be asked as it is, or the cursor is not its own.
        """
        if isinstance(query, str):
            query = Query(
                text=query,
                limit=limit,
                offset=offset,
                kinds=as_tuple(kinds),
                states=as_tuple(states),
                tiers=as_tuple(tiers),
                roles=as_tuple(roles),
                session=session,
                topics=labels("topics", topics),
                entities=labels("entities", entities),
                metadata=dict(metadata or {}),
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
        asked = checked(query)
        answer = await self._answer(asked)
        self._runtime.after_answer.note(self._scope, asked_for(asked, answer), at=self._runtime.clock.now())
        return answer

    async def _answer(self, asked: Query) -> Recall:
        meaning = await self._meaning(asked.text)
        caches, timeout = self._runtime.caches, self._runtime.settings.recall_timeout
        secret = self._runtime.store.facts.secret

        def work(tx: ReadTx) -> Recall:
            until = monotonic() + timeout
            return recall(tx, asked, caches, meaning, lambda: monotonic() < until, secret)

        return await self._look(work)

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
        """The history: a summary for each consolidated window, by words, or the newest first without a query.

        `since` and `until` bound when the window began. With `raw`, windows that no model has read yet are among them.
        With a `level` (`day`, `week`, `month`) it is the roll-ups of that level instead: `sources` are the ids of what
        each was made of, `metadata` its `level` and `period`. Pages are those of `recall`: by `cursor`, or `offset`.

        Raises:
            InvalidInput: there is no such level, or it was given with `raw` or a session: roll-ups go across sessions;
                or the cursor is not its own.
        """
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

    async def _meaning(self, text: str) -> Meaning:
        """The question's vector, unless there is no embedder, or it fails or takes too long."""
        embedding = self._runtime.embedding
        if embedding is None:
            return Meaning(off=True)
        if not text.strip():
            return Meaning(fingerprint=None, failed=None, off=True)
        try:
            seconds = self._runtime.settings.recall_timeout
            vector = await embedding.questions.ask(text, seconds=seconds, clock=self._runtime.clock)
            return Meaning(vector=vector, fingerprint=await embedding.fingerprint())
        except TooSlow as slow:
            return Meaning(failed=str(slow))
        except MemholdError as error:
            return Meaning(failed=type(error).__name__)

    async def get(self, item_id: str) -> Message | Memory:
        """The message or memory of that id.

        Raises:
            NotFound: there is none in this scope.
            WrongKind: the id names a change or a session.
        """
        return await self._read(lambda tx: get(tx, item_id))

    async def list(
        self,
        kinds: Sequence[Kind] | None = None,
        states: Sequence[State] | None = ("active",),
        *,
        session: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        """Memories, oldest first, a page at a time; `states=None` lists every state.

        Raises:
            InvalidInput: an unknown kind or state, a limit outside 1 to 1000, or a cursor that is not of this listing.
        """
        listing = _listing(kinds, states, self._scope.agent, session, limit, cursor)
        found = await self._read(lambda tx: tx.list_memories(listing))
        more = len(found) > limit
        page = tuple(found[:limit])
        return Page(items=page, cursor=f"n{page[-1].number}" if more else None)

    async def messages(self, *, after: int = 0, limit: int = 1000) -> tuple[Message, ...]:
        """Messages of the scope's session (the unnamed one where none is given) with `seq > after`, oldest first."""
        if not 1 <= limit <= MAX_MESSAGES:
            raise InvalidInput(f"limit is {limit}; it must be 1 to {MAX_MESSAGES}")
        name = self._scope.session or ""
        return tuple(await self._read(lambda tx: page_of_messages(tx, name, after=after, limit=limit)))

    async def read_message(self, message_id: str, *, offset: int = 0, limit: int = 100_000) -> str:
        """Part of a message's text, from a character offset: how a huge one is read whole, piece by piece.

        Raises:
            NotFound: no such message in this scope.
            WrongKind: the id names something else.
            InvalidInput: a negative offset, or a limit below 1.
        """
        if offset < 0 or limit < 1:
            raise InvalidInput(f"offset is {offset} and limit {limit}; pass an offset from 0 and a limit from 1")
        found = await self._read(lambda tx: get(tx, message_id))
        if not isinstance(found, Message):
            raise WrongKind(f"{message_id} is a {found.kind}; read_message takes msg_…", id=message_id)
        return found.text[offset : offset + limit]

    async def history(self, item_id: str) -> tuple[Change, ...]:
        """Every change that touched it, oldest first, with before and after; of a fact, the story of its attribute.

        Raises:
            NotFound: the id was never in this scope.
        """
        return await self._read(lambda tx: history(tx, item_id))

    async def changes(self, *, after: int = 0, limit: int = 100) -> Changes:
        """What changed, in the order in which it was committed, from behind the change `after` (its `seq`) on.

        An agent is told of changes to its own and to agentless rows. `seq` counts within the namespace: others' changes
        leave gaps. Nothing is skipped: whoever passes `cursor` back sees every change once.

        Raises:
            InvalidInput: `after` is below 0, or the limit not 1 to 1000.
        """
        if after < 0 or not 1 <= limit <= MAX_PAGE:
            raise InvalidInput(f"after is {after} and limit {limit}; pass after from 0 and a limit of 1 to {MAX_PAGE}")
        return await self._read(lambda tx: changes(tx, after=after, limit=limit))

    async def residue(self, text: str) -> Residue:
        """Where the bytes of a text still stand in the store's files: proof that forgetting is real.

        Raises:
            InvalidInput: the text is shorter than 4 characters, or the store keeps no files of its own.
        """
        self._runtime.guard()
        return await asyncio.to_thread(self._runtime.residue, text)

    async def suspicions(self, *, settled: bool = False) -> tuple[OpenSuspicion, ...]:
        """What a person should settle, oldest first; with `settled` also what was.

        Keys that may be one concept were kept apart, and so was what speaks against the user's own word.
        """
        return await self._read(lambda tx: list_suspicions(tx, settled=settled))

    async def status(self) -> Status:
        """What the scope's user has here, and what is still to be done for it."""
        facts = self._runtime.store.facts
        models = self._runtime.health()
        found = await self._read(lambda tx: status(tx, facts, models=models))
        return replace(found, redacted=self._runtime.redactions[self._scope.namespace, self._scope.user])


async def session_names(scope: ScopeReads) -> tuple[str, ...]:
    """The names of the sessions of a scope's user, in order of creation; the unnamed one is ""."""
    return tuple(session.name for session in await scope._read(lambda tx: tx.sessions()))  # noqa: SLF001 - its own module


def as_tuple(values: Sequence[T] | None) -> tuple[T, ...] | None:
    """A list as a tuple; a lone string is a mistake, not a list of letters."""
    if isinstance(values, str):
        raise InvalidInput(f"{values!r:.40} is one string; pass a list")
    return None if values is None else tuple(values)


def _listing(
    kinds: Sequence[Kind] | None,
    states: Sequence[State] | None,
    agent: str | None,
    session: str | None,
    limit: int,
    cursor: str | None,
) -> Listing:
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidInput(f"limit is {limit}; it must be 1 to {MAX_PAGE}")
    unknown = (set(as_tuple(kinds) or ()) - set(KINDS)) | (set(as_tuple(states) or ()) - set(STATES))
    if unknown:
        raise InvalidInput(f"unknown kinds or states: {sorted(unknown)}; known are {', '.join((*KINDS, *STATES))}")
    if cursor is not None and not (cursor[:1] == "n" and cursor[1:].isdecimal()):
        raise InvalidInput(f"{cursor!r:.40} is not a cursor of this listing; pass the one that the last page gave")
    return Listing(
        kinds=as_tuple(kinds),
        states=as_tuple(states),
        agent=agent,
        session=session,
        after=-1 if cursor is None else int(cursor[1:]),
        limit=limit + 1,
    )
