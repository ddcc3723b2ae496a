"""The sync face: the same verbs, on one thread of its own with its own loop.

Generated from the declarations by scripts/generate_sync.py: change those, and run it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from memhold.faces.python.event_loop_thread import EventLoopThread
from memhold.values.errors import StoreClosed
from memhold.values.hints import Hinting

if TYPE_CHECKING:
    from pathlib import Path

    from memhold.context.answer import Context
    from memhold.history.forget import Sources
    from memhold.ports.maintenance import Finding, Manifest, Readiness, Rebuilt, Usage, Vectors
    from memhold.ports.models import Tally
    from memhold.ports.vector_blocks import Generation
    from memhold.values.access_tokens import AccessToken, NewToken
    from memhold.values.access_tokens import Right as TokenRight
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
    from memhold.values.documents import Document, DocumentHits, DocumentPage, DocumentWrite, Order
    from memhold.values.records import (
        Change,
        Fill,
        HitKind,
        Importance,
        Kind,
        Memory,
        Message,
        Origin,
        Scope,
        Shape,
        State,
        Tier,
    )
    from memhold.values.sessions import SessionOrder, SessionPage
    from memhold.verbs.documents import AsyncDocuments
    from memhold.verbs.files import Exported, ExportFormat, Progress, Report
    from memhold.verbs.scope import AsyncScope
    from memhold.verbs.store_protocols import AsyncAdmin, AsyncStore, AsyncTokens

__all__ = ["SyncAdmin", "SyncDocuments", "SyncScope", "SyncStore", "SyncTokens"]


def _given(names: dict[str, Any]) -> dict[str, Any]:
    """What a method was called with, by its names."""
    del names["self"]
    return names


class SyncDocuments(Hinting):
    """Documents by name: text or JSON at a path, which is a tuple of 1 to 32 names.

    One content stands at a path. What it replaced is kept: as a revision, in the history, and for `undo`. Each content
    is a memory of kind "document" too, so that `recall`, `history`, `list`, `export` and `forget` know it by its id.

    An agent's scope reads its own document, else the one of no agent; a put replaces what a read gives.
    """

    def __init__(self, core: AsyncDocuments, loop: EventLoopThread) -> None:
        self._core = core
        self._loop = loop

    def put(
        self,
        path: Sequence[str],
        content: Any,
        *,
        if_rev: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        expires_at: datetime | str | None = None,
        index: bool = True,
        fields: Sequence[str] | None = None,
        idempotency_key: str | None = None,
    ) -> DocumentWrite:
        """Write a content at a path. The last writer wins, and what stood there is kept; the same again writes nothing.

        Of writers that give one `if_rev`, one writes and the others are told. Metadata and expiry are those of this
        write: what an earlier one gave does not stay.

        Args:
            path: The names from the outermost on, such as ("notes", "paris"); each 1 to 256 characters.
            content: Text, or JSON (an object, a list, a number, true or false), up to 8 MiB.
            if_rev: Only if what stands there is at this revision; 0: only if nothing stands there.
            metadata: JSON of the caller's; `list` and `search` can ask for it.
            expires_at: When it stands there no longer.
            index: Whether words and meaning may find it; of a very long content samples are indexed.
            fields: Of JSON: the members by which alone they find it, as ["title", "author.name", "chapters[*].text"].
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            RevisionConflict: the path is not at that revision; `actual` says at which it is (0: nothing stands there).
            InvalidInput: a name such as "..", NUL, content that is not JSON (NaN, 101 levels), an expiry that is over,
                fields of a text.
            TooLarge: more than 8 MiB, more than 32 names, or a name of more than 256 characters.
            IdempotencyConflict: the key came before with other content.
        """
        return self._loop.run(self._core.put(**_given(locals())))

    def read(
        self,
        path: Sequence[str],
        *,
        at_rev: int | None = None,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
    ) -> Document:
        """What stands at a path, or stood there in a revision or at a time. One look into an index, however many stand.

        Args:
            path: The names from the outermost on.
            at_rev: What this revision of the path held.
            as_of: What stood there at this time.
            known_at: What was known then to stand there.

        Raises:
            NotFound: nothing stands there, or that revision is none of this path.
            InvalidInput: the path cannot be one, or a revision and a time were given.
        """
        return self._loop.run(self._core.read(**_given(locals())))

    def list(
        self,
        prefix: Sequence[str] = (),
        *,
        filter: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        order: Order = "path",
        content: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> DocumentPage:
        """A page of the documents at and below a path.

        By path a page reads what it gives; other orders and filters look through everything below the path.

        Args:
            prefix: The names that a path begins with; none: all documents.
            filter: Of JSON contents: members and what they are, as {"status": "open", "score": {"$gt": 4}}. Operators
                are $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $contains (of a list) and $exists. A list is of values of
                which it is one; {"$or": [...]} holds filters of which one must pass.
            metadata: The same of the metadata.
            order: "path", "newest" or "oldest" (by the last write).
            content: With the contents; a page then ends behind 16 MiB.
            limit: Most documents of the page, up to 1,000.
            cursor: The `cursor` of the page before, all else being the same.

        Raises:
            InvalidInput: an operator that is not known (it is named), a cursor of another listing, a limit out of
                range.
        """
        return self._loop.run(self._core.list(**_given(locals())))

    def search(
        self,
        query: str,
        *,
        prefix: Sequence[str] = (),
        filter: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> DocumentHits:
        """Documents by words and meaning, the best first, as `recall` ranks them; filled up with the nearest.

        Args:
            query: What to look for; empty: the newest first.
            prefix: The names that a path begins with; none: all documents.
            filter: Of JSON contents; see `list`.
            metadata: The same of the metadata.
            limit: Most hits.
            offset: How many to pass over.

        Raises:
            InvalidInput: an operator that is not known, or a limit out of range.
        """
        return self._loop.run(self._core.search(**_given(locals())))

    def move(
        self,
        path: Sequence[str],
        to: Sequence[str],
        *,
        below: bool = False,
        if_rev: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Move a document, all or nothing, as one change; its history goes on at the other path.

        Args:
            path: Where it stands.
            to: Where it is to stand; nothing may stand there.
            below: With everything that stands below it, up to 1,000 documents.
            if_rev: Only if it is at this revision.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            NotFound: nothing stands there.
            Conflict: something stands where it is to go.
            RevisionConflict: it is not at that revision.
            InvalidInput: it would go below itself.
            TooLarge: more than 1,000 documents would move.
        """
        return self._loop.run(self._core.move(**_given(locals())))

    def delete(
        self,
        path: Sequence[str],
        *,
        below: bool = False,
        hard: bool = False,
        if_rev: int | None = None,
        wait: float = 1.0,
        idempotency_key: str | None = None,
    ) -> Erasure:
        """Hide a document with all that stood at its path before, which can be undone; or erase it for good.

        Args:
            path: Where it stands.
            below: With everything at and below the path.
            hard: Erase for good, as `forget` does, also what was hidden before.
            if_rev: Only if it is at this revision.
            wait: How many seconds a hard delete waits for a reader that holds the bytes.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            NotFound: nothing stands there; a hard delete also takes what only stood there.
            RevisionConflict: it is not at that revision.
        """
        return self._loop.run(self._core.delete(**_given(locals())))


class SyncScope(Hinting):
    """The verbs of one scope; whose memory they work on is fixed when the scope is made.

    A write is acknowledged when it is durable and can be read at once. Times must have a zone. An id of another scope
    is `NotFound`, exactly as one that never was.
    """

    def __init__(self, core: AsyncScope, loop: EventLoopThread) -> None:
        self._core = core
        self._loop = loop

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._core.scope

    @property
    def documents(self) -> SyncDocuments:
        """The verbs of documents by name: text or JSON at a path."""
        return SyncDocuments(self._core.documents, self._loop)

    def add(
        self, messages: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> Receipt:
        """Append messages to the session's journal, all or none.

        Needs no model and no network. The receipt's ids are in the order of the messages.

        Args:
            messages: One message or a list of them, in the OpenAI chat or the Anthropic shape. Beside its own fields a
                message may carry `event_time`, `metadata` and `embed` (false: found by words, never by meaning). What
                has a `type` and no `role` is an item: kept whole, as it is, in its place, and read by nobody.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            InvalidMessage, TooLarge, NaiveTime: a message cannot be taken; `index` says which, and nothing was stored.
            IdempotencyConflict: the key came before with other messages.
        """
        return self._loop.run(self._core.add(messages, idempotency_key=idempotency_key))

    def remember(
        self,
        text: str | None = None,
        *,
        attribute: str | None = None,
        value: str | None = None,
        subject: str = "user",
        operation: Literal["set", "add", "remove"] | None = None,
        event_time: datetime | str | None = None,
        importance: Importance = "mid",
        pinned: bool = False,
        expires_at: datetime | str | None = None,
        topics: Sequence[str] = (),
        entities: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Remembered:
        """Remember a note (`text`) or a fact (`attribute` and `value`).

        The same note again is the same memory. A fact supersedes what its attribute said before, stands beside it or
        ends it, as `operation` says. Attributes that are one concept in other words share their timeline. One that
        tells of an earlier time takes its place in the past. The answer's `memory` is the one that now says it; None
        when a removal found nothing, or when a replay finds it forgotten.

        Args:
            text: A note, in one or two sentences.
            attribute: What the fact is about, such as "favorite food" or "employer".
            value: What it is. Goes with `attribute`.
            subject: Of whom or what the fact is.
            operation: "set" replaces the value, "add" puts one beside it, "remove" ends it. Left out, the attribute
                decides: pets and languages add, a job or an address is replaced.
            event_time: Since when it holds; left out: from now on.
            importance: How much it matters.
            pinned: Keep it long-term: it never expires and is never merged away.
            expires_at: When it may leave.
            topics: Topics to filter by later.
            entities: People, places and things it names.
            metadata: JSON of the caller's; a recall can ask for it.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            InvalidInput: neither or both of text and attribute, empty text, an unknown operation or importance, an
                event time more than a day ahead, an expiry before it.
            IdempotencyConflict: the key came before with other content.
        """
        return self._loop.run(self._core.remember(**_given(locals())))

    def correct(
        self, memory_id: str, value: str, *, rev: int | None = None, idempotency_key: str | None = None
    ) -> Remembered:
        """Replace a fact's value or a note's text that was never true; the old one is retracted, not superseded.

        The new memory holds for the same time.

        Args:
            memory_id: The fact or note that was never true (mem_…).
            value: The right value of the fact, or text of the note.
            rev: Only if it is still at this revision.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            NotFound, WrongKind: no such fact or note in this scope.
            RevisionConflict: it has changed since that revision.
        """
        return self._loop.run(self._core.correct(**_given(locals())))

    def pin(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        """Pin a memory: it is long-term, never expires and is never merged away.

        Args:
            memory_id: The memory (mem_…).
            rev: Only if it is still at this revision.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            NotFound, WrongKind: no such memory in this scope.
            RevisionConflict: it has changed since that revision.
        """
        return self._loop.run(self._core.pin(memory_id, rev=rev, idempotency_key=idempotency_key))

    def unpin(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        """Take the pin away; the memory stays in its tier.

        Args:
            memory_id: The memory (mem_…).
            rev: Only if it is still at this revision.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            NotFound, WrongKind: no such memory in this scope.
            RevisionConflict: it has changed since that revision.
        """
        return self._loop.run(self._core.unpin(memory_id, rev=rev, idempotency_key=idempotency_key))

    def confirm(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        """A person's yes: the memory counts as the user's word from now on; who said it first stays recorded.

        `last_confirmed_at` becomes the time of the call. What was kept apart from what the user told takes its place;
        what had only left the mid tier is current again, and long-term. Can be undone.

        Args:
            memory_id: The memory (mem_…).
            rev: Only if it is still at this revision.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            ScopeDenied: the scope's actor is no person.
            NotFound, WrongKind: no such memory in this scope.
            Conflict: it holds no longer.
            RevisionConflict: it has changed since that revision.
        """
        return self._loop.run(self._core.confirm(memory_id, rev=rev, idempotency_key=idempotency_key))

    def drop(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        """A person's no: the memory was never true, and the values that it took the place of hold again.

        Nothing is erased: the history keeps it, and the drop can be undone. Of what was kept apart from what the user
        told it settles the suspicion for good.

        Args:
            memory_id: The memory (mem_…).
            rev: Only if it is still at this revision.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            ScopeDenied: the scope's actor is no person.
            NotFound, WrongKind: no such memory in this scope.
            Conflict: it holds no longer.
            RevisionConflict: it has changed since that revision.
        """
        return self._loop.run(self._core.drop(memory_id, rev=rev, idempotency_key=idempotency_key))

    def dismiss(self, change_id: str, place: int, *, idempotency_key: str | None = None) -> Receipt:
        """A person's no to a statement that was not kept, since no line says it: it need not be looked at again.

        Such statements stand in the `detail` of the change that consolidated a window, under `ungrounded`. Nothing is
        believed or erased by it; the history of the window's summary tells of it, and it can be undone. It holds for
        the same statement of every window: dismissed twice, it is dismissed once. The changes are those of the verb
        "dismiss"; `says` in their `detail` is the statement's digest. To say that one is so after all, `remember` it.

        Args:
            change_id: The change (chg_…) that left it out.
            place: Which of its statements, counted from 0.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            ScopeDenied: the scope's actor is no person.
            NotFound, WrongKind: no such change in this scope, or no such statement in it, or its window is hidden.
            InvalidInput: the place is no whole number from 0.
            StoreCorrupt: the change is damaged on the disk. Nothing happens.
        """
        return self._loop.run(self._core.dismiss(change_id, place, idempotency_key=idempotency_key))

    def forget(
        self,
        item_id: str | None = None,
        *,
        ids: Sequence[str] = (),
        session: str | None = None,
        session_prefix: str | None = None,
        kinds: Sequence[Kind] | None = None,
        topics: Sequence[str] = (),
        entities: Sequence[str] = (),
        before: datetime | str | None = None,
        after: datetime | str | None = None,
        everything: bool = False,
        origin: Origin | None = None,
        actor: str | None = None,
        written_since: datetime | str | None = None,
        written_until: datetime | str | None = None,
        hard: bool = True,
        sources: Sources = "erase",
        dry_run: bool = False,
        wait: float = 1.0,
        idempotency_key: str | None = None,
    ) -> Erasure:
        """Forget messages or memories, what passes filters, a session, or all of the scope's user.

        With it goes what was derived from it; with what an actor wrote nothing that a line of the user's says too. No
        surface returns any of it from then on, `as_of` neither; a tombstone without content stays. The `erased` of the
        answer says whether the bytes are gone from the files; where a reader still holds them, removing them is due.

        Args:
            item_id: A memory (mem_…) or message (msg_…) to forget.
            ids: Several of those instead, at most 1,000, as one change: all of them, or none.
            session: Forget this whole conversation.
            session_prefix: Forget all conversations whose names begin so.
            kinds: Memories of these kinds.
            topics: Memories with all of these topics.
            entities: Memories with all of these entities.
            before: Of before this time.
            after: Of after this time.
            everything: All that is known of this user, in namespaces below too.
            origin: What was said by these: "user", "agent", "tool", "import", "rules" or "model".
            actor: Of this name: a client's, an application's, a model's, a format's.
            written_since: What was written at this time or later, whatever time it tells of.
            written_until: What was written before this time.
            hard: Erase for good; false hides instead, which can be undone.
            sources: "erase" takes the messages that it names as its sources along, "keep" leaves them, and it is not
                learnt from them again.
            dry_run: Only list what would go.
            wait: How many seconds to wait for a reader that holds the bytes.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            NotFound, WrongKind: no such message or memory in this scope.
            InvalidInput: no target, ids and filters together, or more ids.
            IdempotencyConflict: the key came before with another target.
        """
        return self._loop.run(self._core.forget(**_given(locals())))

    def undo(
        self,
        change_id: str | None = None,
        *,
        origin: Origin | None = None,
        actor: str | None = None,
        written_since: datetime | str | None = None,
        written_until: datetime | str | None = None,
        cascade: bool = False,
        redo: bool = False,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Undo a change, as a new change; undoing an undo is redo. Or undo all that passes filters, in one transaction.

        By filters, changes are undone newest first, and the lines that an add appended are hidden, with what was
        derived from them and no line of the user's says too: a change of its own, which can be undone.

        Args:
            change_id: The change (chg_…), as `history` and every receipt name it.
            origin: Changes that were made by these: "user", "agent", "tool", "import", "rules" or "model".
            actor: Of this name: a client's, an application's, a model's, a format's.
            written_since: Made at this time or later.
            written_until: Made before this time.
            cascade: Undo first what stands on it.
            redo: What a model made of a window is due to be made again; otherwise the window stays as raw text.
            dry_run: Only tell: the receipt has the ids that would change, and the changes that would be undone.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            UndoConflict: later changes stand on it (`blocking`), it is undone already, or it is an add. Nothing
                happened.
            Forgotten: it is a hard forget, or what it touched was forgotten.
            NotFound: no such change in this scope.
            InvalidInput: neither a change nor a filter, or both.
            ScopeDenied: an agent would undo what the user did.
            StoreCorrupt: the change is damaged on the disk, or one that has to be read. Nothing happens.
        """
        return self._loop.run(self._core.undo(**_given(locals())))

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
        speaker: str | None = None,
        asker: str | None = None,
        session: str | None = None,
        topics: Sequence[str] = (),
        entities: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
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
        """Find messages and current memories; an empty question lists the newest.

        Looks across all sessions of the scope's user, and of the scopes that `also` names. Filters only narrow. The
        answer's `degraded` names what could not be asked. A question is evidence for the facts it returned, counted
        behind the answer, once a turn. For the next page pass the answer's cursor with the same question: what is found
        all along is shown exactly once, whatever is written, hidden or forgotten in between.

        Where several people talk, "I" and "my" are of the `asker`; where nobody is named, of the `name` of the newest
        message in `messages` that a person wrote. What another says of themselves never stands above their own words.

        Args:
            query: What to look for, in plain words; empty for the newest.
            limit: Most hits.
            offset: How many hits to pass over; `cursor` is the safer way to the next page.
            kinds: Only these kinds.
            states: Only memories in these states.
            tiers: Only memories of these tiers.
            roles: Only what these wrote.
            speaker: Only what this person said.
            asker: Who asks, by name.
            session: Only this conversation; left out: across all.
            topics: Only with all of these topics.
            entities: Only with all of these entities.
            metadata: Only with these values in their metadata: a value, a list of which it is one, or operators, as
                {"year": {"$gte": 2024}, "team": ["red", "blue"]}; see `documents.list` for all. {"$or": [...]} holds
                filters of which one must pass.
            since: Of this time or later.
            until: Of before this time.
            as_of: Answer with what held at this time.
            known_at: Answer with what was known at this time.
            include_superseded: Past values too.
            browse: Somebody only looks: the question is evidence of nothing, and no use of what it finds.
            signals: Ask only these signals, such as "words"; left out: all that are there.
            neighbours: So many turns before and after each message.
            messages: The conversation that the question is part of: its last turns say what "it" and "he" are. It is
                not stored, and only the last six turns are looked at.
            explain: With an account of how the question was read and what each signal gave.
            expect: The id of a message or memory that should be among the hits: the answer's `expected` says where it
                stands, or which signal, filter, state or replacement kept it out, and at which rank it would stand.
            snapshot: The first page's `snapshot`, which keeps later writes out; with `offset`.
            cursor: The `cursor` of the page before, all else the same.
            also: Further scopes to look into, at most eight, each an object with `namespace`, `user` or `agent`; what
                it leaves out is as here. Each is ranked alone and the best come in turn; each hit says its `scope`.
                Nothing is written there. Pages go by offset, and `expect` and `explain` are of one scope.

        Raises:
            InvalidInput, TooLarge, NaiveTime: the question cannot be asked as it is, or the cursor is not its own.
            InvalidScope: `also` has a name that cannot be used.
            ScopeDenied: a token may not read a scope that `also` names.
        """
        return self._loop.run(self._core.recall(**_given(locals())))

    def context(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
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
        """The messages to send: the session's window and memory, within a budget of tokens, valid for the provider.

        Guarantees: the estimate of all that is returned never exceeds `budget - reserve`; the newest user's message is
        there, shortened in the middle where it alone is too long; corrections are there; only current facts are; a
        slot that fails or is late is named in `degraded` and the answer comes without it. Needs no model.

        Args:
            messages: What the user says now, as text; or the caller's new messages, or the whole conversation, perhaps
                with a system prompt in front. They are not stored; what the session's end holds already is not shown
                twice, so they may be added before or after.
            budget: Tokens in all.
            strategy: What a conversation that does not fit loses. "adaptive" cuts its oldest turns and leaves memory
                half of the room, or more of a small one; "full_history" leaves memory less. "memory_first" sends only
                the last `tail` messages before the newest user's, whatever room there is.
            shape: The provider's shape, "openai" or "anthropic".
            reserve: Tokens kept back for the answer, tools and whatever else is sent; left out: a twentieth.
            query: What memory is asked for; left out: the newest user's message.
            tail: Messages that "memory_first" keeps, more where a tool pair demands it. Left out: 2.
            crossover_turn_threshold: From how many turns on "adaptive" is "memory_first". Left out, or 0: never.
            model: The model that is asked: its family's tokenizer counts, or an estimate within a tenth of it; of a
                family that is not known, one meant to be over any. Left out: the setting `context_model`.
            asker: The name of the person who asks, where several people talk: only what they told instructs, and "I"
                and "my" are theirs. Left out: the `name` of the newest message that a person wrote.
            fill: "all" tells what has room, best first; "useful" stops in the same order where what is left is not
                likely to help (docs/context.md has figures).
            documents: Paths of documents that may be told where the question finds them, with all that stands below
                them: [["handbook"]], or [[]] for every document. Left out: none.
            also: Further scopes whose memory is told beside this one's, as of `recall`. Together they get a quarter of
                the budget, and what this one leaves; each stands in fences of its own. What another user said is data
                there: none of it instructs.

        Raises:
            InvalidInput: the budget, the reserve, the strategy, the shape, the fill or a path cannot be used.
            InvalidScope: `also` has a name that cannot be used.
            ScopeDenied: a token may not read a scope that `also` names.
            InvalidMessage: one of the messages is of neither shape; `index` says which.
            TooLarge: the budget cannot hold even the instructions, the corrections and a shortened newest message.
        """
        return self._loop.run(self._core.context(**_given(locals())))

    def get(self, item_id: str) -> Message | Memory:
        """The message or memory of that id.

        Args:
            item_id: A memory (mem_…) or message (msg_…).

        Raises:
            NotFound: there is none in this scope.
            WrongKind: the id names a change or a session.
        """
        return self._loop.run(self._core.get(item_id))

    def list(
        self,
        kinds: Sequence[Kind] | None = None,
        states: Sequence[State] | None = ("active",),
        *,
        session: str | None = None,
        origin: Origin | None = None,
        actor: str | None = None,
        subject: str | None = None,
        written_since: datetime | str | None = None,
        written_until: datetime | str | None = None,
        unconfirmed_since: datetime | str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        """Memories, oldest first, a page at a time.

        Args:
            kinds: Only these kinds.
            states: Only in these states; None (as text: any) for every state.
            session: Only memories of this session.
            origin: Only what was said by these: "user", "agent", "tool", "import", "rules" or "model".
            actor: Only of this name: a client's, an application's, a model's, a format's.
            subject: Only facts about this: "user", or whom or what else they are told of.
            written_since: Only what was written at this time or later, whatever time it tells of.
            written_until: Only what was written before this time.
            unconfirmed_since: Only what no person confirmed at this time or later; what the user told counts as
                confirmed when it was told.
            limit: Most memories of the page.
            cursor: What the last page gave.

        Raises:
            InvalidInput: an unknown kind or state, a limit outside 1 to 1000, or a cursor that is not of this listing.
        """
        return self._loop.run(self._core.list(**_given(locals())))

    def last_recalled(self, ids: Sequence[str]) -> Mapping[str, datetime]:
        """When each of these memories was last asked for and returned.

        Of facts of the mid tier each use is recorded, since it decides whether they stay; of all else the last one, to
        the day. Looking (`browse`), asking about the past and what only fills a page are no use. Memories that were
        never asked for, and ids of nothing in this scope, are left out.

        Args:
            ids: At most 1,000 memories.

        Raises:
            InvalidInput: more ids.
        """
        return self._loop.run(self._core.last_recalled(ids))

    def messages(
        self, *, after: int = 0, before: int | None = None, newest: bool = False, limit: int = 1000
    ) -> Messages:
        """Messages of the scope's session (the unnamed one where none is given), oldest first.

        Items that came without a role are among them, in their place, with the role "" and as they came in `body`. What
        is damaged on the disk is left out, and named in the answer's `damaged`.

        Args:
            after: The `seq` to begin behind.
            before: The `seq` to end in front of; left out: the end.
            newest: The last `limit` of them instead of the first.
            limit: Most messages.

        Raises:
            InvalidInput: a limit outside 1 to 10,000.
        """
        return self._loop.run(self._core.messages(**_given(locals())))

    def read_message(self, message_id: str, *, offset: int = 0, limit: int = 100000) -> str:
        """Part of a message's text, from a character on: how a huge one is read whole, piece by piece.

        Args:
            message_id: The message (msg_…).
            offset: The character to begin at.
            limit: Most characters.

        Raises:
            NotFound: no such message in this scope.
            WrongKind: the id names something else.
            InvalidInput: a negative offset, or a limit below 1.
        """
        return self._loop.run(self._core.read_message(message_id, offset=offset, limit=limit))

    def history(self, item_id: str) -> tuple[Change, ...]:
        """Every change that touched it, oldest first, with before and after; of a fact, the story of its attribute.

        Args:
            item_id: A memory (mem_…) or message (msg_…).

        Raises:
            NotFound: the id was never in this scope.
            StoreCorrupt: it is damaged on the disk, or one of its changes, which the message names.
        """
        return self._loop.run(self._core.history(item_id))

    def changes(self, *, after: int = 0, limit: int = 100, verb: str | None = None) -> Changes:
        """What changed, in the order in which it was committed.

        An agent is told of changes to its own and to agentless rows. `seq` counts within the namespace: others' changes
        leave gaps. Nothing is skipped: whoever passes `cursor` back as `after` sees every change once.

        Args:
            after: The `seq` of a change to begin behind.
            limit: Most changes of the page.
            verb: Only those of this verb: "remember", "correct", "dismiss" and so on, as it stands in a change.

        Raises:
            InvalidInput: `after` is below 0, the limit not 1 to 1000, or the verb no word of small letters.
        """
        return self._loop.run(self._core.changes(after=after, limit=limit, verb=verb))

    def summaries(
        self,
        query: str | None = None,
        *,
        limit: int = 10,
        offset: int = 0,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        session: str | None = None,
        raw: bool = False,
        level: str | None = None,
        cursor: str | None = None,
    ) -> Recall:
        """The history: a summary for each consolidated window, by words, or the newest first without a query.

        Pages are those of `recall`: by `cursor`, or `offset`.

        Args:
            query: What to look for; left out: the newest first.
            limit: Most summaries.
            offset: How many to pass over.
            since: Of windows that began at this time or later.
            until: Of windows that began before this time.
            session: Only this conversation.
            raw: With windows that no model has read yet.
            level: "day", "week" or "month": the roll-ups of that level instead. Their `sources` are the ids of what
                each was made of, their `metadata` its `level` and `period`.
            cursor: The `cursor` of the page before, all else the same.

        Raises:
            InvalidInput: there is no such level, or it was given with `raw` or a session: roll-ups go across sessions;
                or the cursor is not its own.
        """
        return self._loop.run(self._core.summaries(**_given(locals())))

    def sessions(
        self, prefix: str = "", *, order: SessionOrder = "began", limit: int = 100, cursor: str | None = None
    ) -> SessionPage:
        """A page of the sessions of the scope's user: how many messages each holds, and when; the unnamed one is "".

        Args:
            prefix: Only sessions whose name begins so.
            order: "began" (as they began), "newest" or "oldest" (by the last message), or "name".
            limit: Most sessions of the page.
            cursor: The `cursor` of the page before, all else the same.

        Raises:
            InvalidInput: there is no such order, a limit out of range, or a cursor of another listing.
        """
        return self._loop.run(self._core.sessions(**_given(locals())))

    def copy_session(self, to: str, *, until: int | None = None, idempotency_key: str | None = None) -> Receipt:
        """Copy the scope's session into a new one, with its window and metadata; both go on apart.

        The receipt's ids are those of the copies, in their order. A copy shows its original, which alone is found by
        questions and learnt from: what is forgotten or hidden of the original is so of its copies.

        Args:
            to: The name of the session to make.
            until: Up to this `seq`; left out: all of it.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            NotFound: the scope's session holds nothing up to there.
            Conflict: the other session holds messages, or held some.
            TooLarge: more than 10,000 messages would be copied.
            InvalidScope: no session can have that name.
        """
        return self._loop.run(self._core.copy_session(to, until=until, idempotency_key=idempotency_key))

    def session_metadata(self) -> Mapping[str, Any]:
        """What the application keeps beside the scope's session; empty where that is nothing.

        Raises:
            StoreCorrupt: it is damaged on the disk.
        """
        return self._loop.run(self._core.session_metadata())

    def set_session_metadata(self, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep JSON beside the scope's session, in the place of what is kept there, and return it as it is kept.

        It is the application's own: no question finds it, no prompt shows it, no model reads it, and no change records
        it. Secrets in it are redacted as in a message. An empty one erases what was kept, for good. What an agent keeps
        is its own; what is kept without one takes the place of every agent's.

        Args:
            metadata: Names and JSON values, at most 256 KiB in all.

        Raises:
            InvalidInput: it is no JSON.
            TooLarge: it is longer.
            SecretFound: a secret, where these are refused.
        """
        return self._loop.run(self._core.set_session_metadata(metadata))

    def suspicions(
        self, *, settled: bool = False, limit: int | None = None, after: str | None = None
    ) -> tuple[OpenSuspicion, ...]:
        """What a person should settle, oldest first.

        Keys that may be one concept were kept apart, and so was what speaks against the user's own word.

        Args:
            settled: With those that were settled.
            limit: At most how many, from 1; None for all, of which thousands take a fifth of a second.
            after: The id of the last one that is known (sus_…), settled since or not: those behind it. Where it is
                there no more, they begin anew.

        Raises:
            InvalidInput: the limit is no whole number from 1.
        """
        return self._loop.run(self._core.suspicions(settled=settled, limit=limit, after=after))

    def settle_suspicion(
        self, suspicion_id: str, verdict: Literal["same", "different"], *, idempotency_key: str | None = None
    ) -> Receipt:
        """Settle what `suspicions` lists, as one change that can be undone.

        Args:
            suspicion_id: The suspicion (sus_…).
            verdict: Of two keys, "same" makes their facts one timeline, "different" keeps them apart for good. Of a
                contradiction, "same" takes the statement as the user's own word, "different" leaves what the user told.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            NotFound: no such suspicion in this scope.
            Conflict: it is settled already.
            ScopeDenied: the scope's actor is no person.
            InvalidInput: another verdict.
        """
        return self._loop.run(self._core.settle_suspicion(suspicion_id, verdict, idempotency_key=idempotency_key))

    def fence(self, ids: Sequence[str], lines: Sequence[str]) -> str:
        """What was recalled, as text for a prompt, in a fence that this store knows again.

        Text inside it is never learnt as something new when it comes back in a message, and forgetting reaches it.

        Args:
            ids: The memories and messages that the lines tell.
            lines: The text, line by line.
        """
        return self._loop.run(self._core.fence(ids, lines))

    def status(self) -> Status:
        """What the scope's user has here, and what is still to be done for it."""
        return self._loop.run(self._core.status())

    def residue(self, text: str) -> Residue:
        """Where a text's bytes still stand in the files of the store and of its mirror: proof that forgetting is real.

        On PostgreSQL, whose files are the server's, it looks through every value of every table, whatever its scope.

        Args:
            text: What to look for; 4 characters or more.

        Raises:
            InvalidInput: the text is shorter than 4 characters, or the store keeps no files of its own.
        """
        return self._loop.run(self._core.residue(text))

    def end_session(self, *, idempotency_key: str | None = None) -> Receipt:
        """Close the scope's session: its window is kept, whole and searchable, and the next message begins a clean one.

        Waits for no model: where one consolidates, the window is due now and worked on behind. Without one the window
        becomes raw memories at once; their ids are in the receipt. Ending an empty window does nothing. An agent ends
        it for itself: where others speak in it too, their window goes on.

        Args:
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.
        """
        return self._loop.run(self._core.end_session(idempotency_key=idempotency_key))

    def consolidate(self) -> Consolidated:
        """Consolidate now what waits in the scope's session, or, without a session, in all sessions of its user.

        Raw windows are tried again too. It waits for the models; what they could not take stays raw, with its reason in
        `last_error`. Where no model is configured nothing is changed.
        """
        return self._loop.run(self._core.consolidate())

    def compact(self, *, dry_run: bool = False) -> Compacted:
        """One run of compaction now: notes that say the same become one, and what was replaced is superseded.

        Exact copies need no model; others go to the judge (the setting `compaction`, else `consolidation`) up to twelve
        at once, and none is hidden but behind what has its details. Each merge is one change that can be undone. Call
        it again while `more` says so. Days, weeks and months of summaries that are over are rolled up (the setting
        `rollups`), by the same models. With an agent or a session only its own notes are looked at.

        Args:
            dry_run: Only show what would be looked at and why: it asks no model and changes nothing.
        """
        return self._loop.run(self._core.compact(dry_run=dry_run))

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
        """List what is past the age, the inactivity or the count of each kind; with `dry_run=False` hide it.

        Pinned memories stay. What was never used counts as used when it was made. Each is hidden by a change of its
        own, which `undo` takes back; `forget` erases for good. The same idempotency key again hides nothing and tells
        what the first call hid; one that was cut short goes on.

        Args:
            kinds: Memories of these kinds.
            older_than: Those that were made longer ago than this (over HTTP: in seconds).
            unused_for: Those that no recall returned for this long (over HTTP: in seconds).
            most: Keep this many of each kind, the newest.
            dry_run: Only list; false hides.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            InvalidInput: no rule, or one that cannot be meant.
            IdempotencyConflict: the key came before with other rules.
        """
        return self._loop.run(self._core.retain(**_given(locals())))

    def import_file(
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
        """Bring a file of messages or memories into this scope, in bounded memory.

        Every message and memory has a key that is kept for ever: a second import adds nothing, an interrupted one
        resumes where it was, and what was forgotten stays so. Writes of others go first. Secrets in transcripts of
        coding agents are replaced whatever the settings say.

        Args:
            path: The file, or a folder whose files are all read; or a session of opencode, by its database and its id:
                `opencode.db/ses_…`.
            format: Its format; left out, it is found out from its content.
            zone: The zone of times that name none.
            session_prefix: Stands before the name of each session of the file.
            on_error: "stop" at an entry that cannot be read, or "skip" and count it.
            live: The file is a conversation that this application takes down as it goes on: each line counts as said by
                its role, as with `add`, and not as imported; secrets in it are replaced whatever the settings say.
            batch: Most messages of one transaction.
            dry_run: Only tell: the report says what is in the file and what would be left out; nothing is written.
            progress: Called with how much is done; on another thread by the sync face.

        Raises:
            UnreadableImport: the file cannot be read from some line on; what stands before it was imported.
            InvalidSetting: there is no such format.
        """
        return self._loop.run(self._core.import_file(**_given(locals())))

    def export(self, path: str | Path, *, format: ExportFormat = "jsonl") -> Exported:
        """Write what this scope holds at one moment, beside readers and writers, and what stands below it.

        Files have mode 0600 and appear whole. Each namespace below (`acme//shop` below `acme`) has its own moment; of
        a session nothing below is written.

        Args:
            path: The file or folder to write.
            format: "jsonl" is one file with journal, memories with all revisions, and changes, which `import_file`
                reads back; "markdown" is a folder with `MEMORY.md` and `HISTORY.md` for people; "mem0" is one file with
                the memories that hold now, as mem0's `get_all` gives them, "mcp-memory" one with them as the graph of
                the MCP reference memory server. `left_out` counts what all but "jsonl" have no place for.

        Raises:
            InvalidInput: the store itself stands there, or a page that no export wrote.
            StoreFull, StoreReadOnly: it cannot be written; what stood there is as it was.
        """
        return self._loop.run(self._core.export(path, format=format))


class SyncTokens(Hinting):
    """Make, list, revoke and check the tokens that a server lets in: `mem.admin.tokens`."""

    def __init__(self, core: AsyncTokens, loop: EventLoopThread) -> None:
        self._core = core
        self._loop = loop

    def create(
        self,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        rights: Sequence[TokenRight] = ("read", "write"),
        label: str = "",
        actor: str = "user",
        expires_in: timedelta | None = None,
    ) -> NewToken:
        """Make a token for one scope; its `secret` is told now and kept nowhere.

        Args:
            namespace: Requests that bring it are bound to this namespace,
            user: to this user,
            agent: and to this agent.
            rights: What it may do; "admin" covers the verbs that look across users of the namespace. "act" makes it a
                service's token: bound to no user, it works for whom each request names, and all that it does is
                recorded with the name of its actor (else its label, else its id).
            label: What a person knows it by, on one line.
            actor: In whose name requests with it write: "user", "agent" or "tool", each perhaps with a name
                ("agent:cursor"). Give an agent a token of its own: what it writes is then never taken for the user's.
            expires_in: How long it counts; left out: until it is revoked.

        Raises:
            InvalidInput: no rights or unknown ones, a user beside "act", a label that is not one printable line, or a
                life that is over.
            InvalidScope: a name that cannot be used.
        """
        return self._loop.run(self._core.create(**_given(locals())))

    def list(self, *, namespace: str | None = None) -> tuple[AccessToken, ...]:
        """The tokens, the oldest first, revoked and expired ones too.

        Args:
            namespace: Those of this one; left out: of all.
        """
        return self._loop.run(self._core.list(namespace=namespace))

    def revoke(self, token_id: str, *, namespace: str | None = None) -> AccessToken:
        """Revoke a token: from now on no process lets it in. Revoking it again changes nothing.

        Args:
            token_id: Its id.
            namespace: Only if it is of this one.

        Raises:
            NotFound: there is no such token, or it is of another namespace than the one that was given.
        """
        return self._loop.run(self._core.revoke(token_id, namespace=namespace))

    def exchange(
        self,
        secret: str,
        *,
        user: str,
        rights: Sequence[TokenRight] | None = None,
        expires_in: timedelta = timedelta(minutes=15),
    ) -> NewToken:
        """A token of one user that lives minutes, for a service's token: what a browser or an agent may be given.

        It counts as long as the service's token does, writes as its actor, and leaves no row: `token` is the service's,
        with the user, the rights and the end of what was made.

        Args:
            secret: The service's token, made with the right "act".
            user: For whom.
            rights: What it may do, of "read" and "write"; left out: what of these the service may.
            expires_in: How long it counts: at most an hour.

        Raises:
            ScopeDenied: the token does not count or is no service's, or it has not these rights.
            InvalidScope: the user cannot be used as a name.
            InvalidInput: a life that is over, or longer.
        """
        return self._loop.run(self._core.exchange(**_given(locals())))

    def check(self, secret: str) -> AccessToken | None:
        """The token that a client sent, where it counts now; None where it does not, whatever the reason is.

        Reads the store each time, so a token that any process revoked is refused at once. Why one was refused is
        logged (`memhold.access`), without it. The day of its last use is noted.

        Args:
            secret: What the client sent.
        """
        return self._loop.run(self._core.check(secret))


class SyncAdmin(Hinting):
    """The verbs that act on all scopes of a store: `mem.admin`."""

    def __init__(self, core: AsyncAdmin, loop: EventLoopThread) -> None:
        self._core = core
        self._loop = loop

    @property
    def tokens(self) -> SyncTokens:
        """The verbs for the tokens that a server lets in."""
        return SyncTokens(self._core.tokens, self._loop)

    def usage(self, *, days: int | None = None) -> tuple[Usage, ...]:
        """What each namespace holds, by name: counts and bytes. Reads every row of the store.

        Args:
            days: How it grew on the last so many days too (today counts), up to 3,660.

        Raises:
            InvalidInput: the store is in memory.
        """
        return self._loop.run(self._core.usage(days=days))

    def users(self, *, namespace: str = "default", after: str | None = None, limit: int = 1000) -> tuple[str, ...]:
        """Whose memory a namespace holds or held, by name; what is of no user is not listed.

        Args:
            namespace: Of this one, and of those below it (`acme//shop` is below `acme`).
            after: Begin behind this name: the last of the page before.
            limit: At most so many, up to 10,000.

        Raises:
            InvalidScope: a name that cannot be used.
            InvalidInput: no such limit.
        """
        return self._loop.run(self._core.users(namespace=namespace, after=after, limit=limit))

    def model_usage(self, *, days: int | None = None) -> tuple[Tally, ...]:
        """What models were used for, by day, model and purpose.

        Args:
            days: Of the last so many days (today counts); left out: since ever.
        """
        return self._loop.run(self._core.model_usage(days=days))

    def backup(self, target: str | Path, *, progress: Callable[[int, int], None] | None = None) -> Manifest:
        """Copy the store as it is at one moment into a new folder, while others write.

        The folder (mode 0700) holds `memory.db` and `manifest.json`. It appears under its name only after all of it was
        written, synced, read back and compared with the manifest.

        Args:
            target: The folder to make.
            progress: Called with pages copied and pages in all.

        Raises:
            InvalidInput: there is something at the target, or the store is in memory.
            BackupDamaged: what was read back is not what was written; nothing is left at the target.
            StoreCorrupt: the store itself is damaged (pages, or rows that do not agree with their digests).
            StoreFull, StoreReadOnly: the target cannot be written; nothing is left there.
        """
        return self._loop.run(self._core.backup(target, progress=progress))

    def doctor(
        self, *, repair: Literal["clock", "rows"] | None = None, progress: Callable[[int, int], None] | None = None
    ) -> tuple[Finding, ...]:
        """Look at everything: files, pages, keys, orphans, ledger, clock, then each scope's words index and due work.

        Changes nothing, but for what it is told to repair. Empty when nothing is wrong or worth a note.

        Args:
            repair: `clock` dates as of now what a clock that was ahead dated later, and makes due now what it put off.
                Only where this machine's clock is right. `rows` builds the file's indexes anew where they do not agree
                with its rows, and erases every message and current memory that is damaged: what was derived from one
                stays. Damaged sessions stand as they are from then on, and damaged changes as changes of which only is
                known what they touched.
            progress: Called with scopes looked at and scopes in all.

        Raises:
            InvalidInput: the store is in memory.
        """
        return self._loop.run(self._core.doctor(repair=repair, progress=progress))

    def ready(self) -> Readiness:
        """Whether a write is durable now: a small one is made and taken back. Never waits for a model."""
        return self._loop.run(self._core.ready())

    def reindex(self, *, namespace: str | None = None, progress: Callable[[int, int], None] | None = None) -> Rebuilt:
        """Build the words index of every scope anew; make due what state implies and is not due.

        One transaction a scope, after interactive writes: a scope is found by its words at every moment, by the old
        index or by the new one.

        Args:
            namespace: Only in the scopes of this one, and of those below it.
            progress: Called with scopes done and scopes in all.
        """
        return self._loop.run(self._core.reindex(namespace=namespace, progress=progress))

    def reembed(self) -> Generation | None:
        """Begin vectors of the embedding that this store was opened with, beside those that are there.

        They are made in the background, or by `settle`, and may be interrupted. Recall goes on with the old ones, and
        says `degraded` where it has not their embedding; once every scope has the new ones they become current and the
        old ones are removed. Returns the generation that this embedding writes; None without an embedding, or while
        another one is being built.

        Raises:
            ModelError, InvalidSetting: the embedding cannot be opened.
        """
        return self._loop.run(self._core.reembed())

    def vectors(self) -> Vectors | None:
        """How far the vectors of the embedding are that this store was opened with; None where none were begun.

        Raises:
            ModelError, InvalidSetting: the embedding cannot be opened.
        """
        return self._loop.run(self._core.vectors())


class SyncStore(Hinting):
    """One open store, for code that is not async. Thread-safe; close it, or use `with`."""

    def __init__(self, core: AsyncStore, loop: EventLoopThread) -> None:
        self._core = core
        self._loop = loop

    @property
    def admin(self) -> SyncAdmin:
        """The verbs that look after the whole store, across scopes."""
        return SyncAdmin(self._core.admin, self._loop)

    def scope(
        self,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        actor: str = "user",
    ) -> SyncScope:
        """The verbs for one scope. There is no "all": no user means memories of no user.

        Args:
            namespace: The isolation boundary.
            user: Whose memory.
            agent: Which agent writes; a read sees its rows and those of no agent. None reads all of the user's.
            session: Where writes go, and whose window is continued.
            actor: In whose name it writes: "user" (a person, through this application), "agent" or "tool", each perhaps
                with a name ("agent:claude-code"). It is recorded with everything written, and never upgraded.

        Raises:
            InvalidScope: a name that cannot be used.
            ScopeDenied: over HTTP, a scope that the token is not bound to.
        """
        return SyncScope(self._core.scope(**_given(locals())), self._loop)

    def settle(self, timeout: float = 30.0, *, namespace: str | None = None) -> bool:
        """Do due work now until nothing is due, in every scope; False when time ran out or work was put off.

        For tests and scripts: an open store does the same in the background.

        Args:
            timeout: How many seconds to work at most.
            namespace: Only in the scopes of this one, and of those below it.
        """
        return self._loop.run(self._core.settle(timeout, namespace=namespace))

    def close(self) -> None:
        """Finish accepted writes, give leases back and let go of the store. Idempotent.

        Takes at most about 10 seconds, and where another process holds the file, `busy_timeout` for the
        write that waits for it; one that had no turn by then fails with `StoreClosed`. In a forked child it does
        nothing: the file is the parent's.
        """
        if self._loop.forked:
            return
        try:
            self._loop.run(self._core.close())
        except StoreClosed:
            return
        finally:
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._core)
