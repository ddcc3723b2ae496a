"""The verbs of a scope, declared: what each takes, answers and raises, and on which faces it is reached.

The signature and the docstring of a method here are the one declaration of a verb. The sync face, REST, the MCP tools,
the commands and the reference follow from it (see `declaration`); `local_scope` does it over an open store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Literal, Protocol

from memhold.values.bounds import MAX_BUDGET, MAX_HITS, MAX_MESSAGES, MAX_NEIGHBOURS, MAX_NUMBER, MAX_PAGE, MAX_WAIT
from memhold.verbs.declaration import Command, Http, Tool, verb

if TYPE_CHECKING:
    from pathlib import Path

    from memhold.context.answer import Context
    from memhold.history.forget import Sources
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

__all__ = ["AsyncScope"]

MEMORY, FACTS, MOVING, STORE = "Memory", "Facts", "Moving data", "Looking after the store"


class AsyncScope(Protocol):
    """The verbs of one scope; whose memory they work on is fixed when the scope is made.

    A write is acknowledged when it is durable and can be read at once. Times must have a zone. An id of another scope
    is `NotFound`, exactly as one that never was.
    """

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        ...

    @property
    def documents(self) -> AsyncDocuments:
        """The verbs of documents by name: text or JSON at a path."""
        ...

    # ------------------------------------------------------------------------------------------------ writing

    @verb(
        "write",
        http=Http(
            method="POST", path="/messages", tag="messages", status=201, in_session=True, operation="add_messages",
            examples={
                "one_turn": {
                    "messages": [
                        {"role": "user", "content": "I moved to Lisbon last week."},
                        {"role": "assistant", "content": "Noted. How do you like it?"},
                    ]
                },
                "an_earlier_message": {
                    "messages": {"role": "user", "content": "We met in Porto.", "event_time": "2024-05-01T10:00:00Z"}
                },
            },
        ),
        command=Command(
            name="add", section=MEMORY, line="Append messages to a session's journal.", create=True,
            example='memhold add "I moved to Lisbon." --user alice --session s1',
            by_hand="takes one text, or messages as JSON on standard input",
        ),
    )  # fmt: skip
    async def add(
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
        ...

    @verb(
        "write",
        http=Http(
            method="POST", path="/memories", tag="memories", status=201, in_session=True,
            examples={
                "a_note": {"text": "Prefers window seats", "topics": ["travel"]},
                "a_fact": {"attribute": "favorite food", "value": "sushi"},
                "one_more_of_several": {"attribute": "pets", "value": "a cat", "operation": "add"},
            },
        ),
        tool=Tool(
            name="remember", title="Remember", idempotent=True,
            use="Save one thing worth knowing later: a fact (attribute and value) or a note (text). Use it when the"
            " user states a preference, a decision or something about themselves, or asks you to remember. A fact"
            " replaces the older value of its attribute, which the history keeps.",
            shows=("text", "attribute", "value", "subject", "operation", "event_time", "importance", "pinned",
                   "expires_at", "topics", "entities", "session", "idempotency_key"),
        ),
        command=Command(
            name="remember", section=MEMORY, line="Remember a note or a fact.", words=("text",), create=True,
            example='memhold remember --attribute "favorite food" --value sushi --user alice',
            options={"event_time": "time", "expires_at": "expires"},
        ),
    )  # fmt: skip
    async def remember(
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
        ...

    @verb(
        "write",
        bounds={"rev": (1, MAX_NUMBER)},
        http=Http(
            method="POST", path="/memories/{memory_id}/correct", tag="memories", in_session=True,
            examples={"a_value": {"value": "Lisbon"}},
        ),
        tool=Tool(
            name="correct", title="Correct",
            use="Replace a fact or note that was never true. Use it when the user says that something you recalled is"
            " wrong. For what was true and has changed, use remember.",
            shows=("memory_id", "value", "rev", "session", "idempotency_key"),
        ),
        command=Command(
            name="correct", section=MEMORY, line="Replace what was never true.", words=("memory_id", "value"),
            example='memhold correct mem_0198c2f0 "kimchi jjigae" --user alice',
        ),
    )  # fmt: skip
    async def correct(
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
        ...

    @verb(
        "write",
        bounds={"rev": (1, MAX_NUMBER)},
        http=Http(method="POST", path="/memories/{memory_id}/pin", tag="memories", in_session=True),
        command=Command(
            name="pin", section=MEMORY, line="Keep a memory long-term.", words=("memory_id",),
            example="memhold pin mem_0198c2f0 --user alice",
        ),
    )  # fmt: skip
    async def pin(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        """Pin a memory: it is long-term, never expires and is never merged away.

        Args:
            memory_id: The memory (mem_…).
            rev: Only if it is still at this revision.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            NotFound, WrongKind: no such memory in this scope.
            RevisionConflict: it has changed since that revision.
        """
        ...

    @verb(
        "write",
        bounds={"rev": (1, MAX_NUMBER)},
        http=Http(method="POST", path="/memories/{memory_id}/unpin", tag="memories", in_session=True),
        command=Command(
            name="unpin", section=MEMORY, line="Take a pin away.", words=("memory_id",),
            example="memhold unpin mem_0198c2f0 --user alice",
        ),
    )  # fmt: skip
    async def unpin(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
        """Take the pin away; the memory stays in its tier.

        Args:
            memory_id: The memory (mem_…).
            rev: Only if it is still at this revision.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            NotFound, WrongKind: no such memory in this scope.
            RevisionConflict: it has changed since that revision.
        """
        ...

    @verb(
        "write",
        bounds={"rev": (1, MAX_NUMBER)},
        http=Http(method="POST", path="/memories/{memory_id}/confirm", tag="memories", in_session=True),
        command=Command(
            name="confirm", section=MEMORY, line="Say yes to a memory that others noted.", words=("memory_id",),
            example="memhold confirm mem_0198c2f0 --user alice",
        ),
    )  # fmt: skip
    async def confirm(
        self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None
    ) -> Remembered:
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
        ...

    @verb(
        "write",
        bounds={"rev": (1, MAX_NUMBER)},
        http=Http(method="POST", path="/memories/{memory_id}/drop", tag="memories", in_session=True),
        command=Command(
            name="drop", section=MEMORY, line="Say no to a memory: it was never so.", words=("memory_id",),
            example="memhold drop mem_0198c2f0 --user alice",
        ),
    )  # fmt: skip
    async def drop(self, memory_id: str, *, rev: int | None = None, idempotency_key: str | None = None) -> Remembered:
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
        ...

    @verb(
        "write",
        bounds={"place": (0, MAX_NUMBER)},
        http=Http(
            method="POST", path="/changes/{change_id}/dismiss", tag="changes",
            examples={"the_first": {"place": 0}},
        ),
        command=Command(
            name="dismiss", section=MEMORY, line="Say no to what a model said and no line does.",
            words=("change_id", "place"), example="memhold dismiss chg_0198c2f0 0 --user alice",
        ),
    )  # fmt: skip
    async def dismiss(self, change_id: str, place: int, *, idempotency_key: str | None = None) -> Receipt:
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
        ...

    @verb(
        "write",
        bounds={"wait": (0, MAX_WAIT)},
        http=Http(
            method="POST", path="/forget", tag="memories",
            examples={
                "one": {"item_id": "mem_01980000000070008000000000000000"},
                "by_topic": {"topics": ["travel"], "dry_run": True},
                "everything": {"everything": True},
            },
        ),
        tool=Tool(
            name="forget", title="Forget", destructive=True, idempotent=True,
            use="Erase a memory or message for good, with what was derived from it. Use it only when the user asks for"
            " something to be forgotten; find the id with recall, and try dry_run first.",
            shows=("item_id", "session", "kinds", "topics", "entities", "before", "after", "everything", "hard",
                   "sources", "dry_run", "idempotency_key"),
        ),
        command=Command(
            name="forget", section=MEMORY, line="Forget for good, or hide.",
            example="memhold forget mem_0198c2f0 --user alice --yes", words=("item_id",),
            by_hand="asks before it erases, and hides instead with --hide",
        ),
    )  # fmt: skip
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
        ...

    @verb(
        "write",
        http=Http(
            method="POST", path="/undo", tag="changes",
            examples={
                "one": {"change_id": "chg_0198c2f0", "cascade": True},
                "all_that_cursor_wrote": {"actor": "cursor", "written_since": "2026-11-16T00:00:00Z", "dry_run": True},
            },
        ),
        command=Command(
            name="undo", section=MEMORY, line="Undo a change, or all that somebody wrote.", words=("change_id",),
            example="memhold undo --by cursor --written-since 2026-11-16T00:00:00Z --dry-run --user alice",
        ),
    )  # fmt: skip
    async def undo(
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
        ...

    # ------------------------------------------------------------------------------------------------ reading

    @verb(
        "read",
        bounds={"limit": (1, MAX_HITS), "offset": (0, MAX_NUMBER), "neighbours": (0, MAX_NEIGHBOURS)},
        http=Http(
            method="POST", path="/recall", tag="recall", in_session=True,
            examples={
                "a_question": {"query": "what does she eat"},
                "only_facts_as_of_then": {"query": "city", "kinds": ["fact"], "as_of": "2025-01-01T00:00:00Z"},
            },
        ),
        tool=Tool(
            name="recall", title="Recall", idempotent=True,
            use="Search what was said and is known. Use it before you answer what rests on earlier"
            " conversations, preferences or decisions. Only current values come back, unless you ask for as_of,"
            " known_at or include_superseded.",
            shows=("query", "limit", "cursor", "session", "kinds", "roles", "topics", "entities", "since", "until",
                   "as_of", "known_at", "include_superseded", "speaker", "asker"),
        ),
        command=Command(
            name="recall", section=MEMORY, line="Find messages and current memories.", words=("query",),
            example='memhold recall "where does she live" --user alice',
        ),
    )  # fmt: skip
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
        ...

    @verb(
        "read",
        bounds={
            "budget": (1, MAX_BUDGET), "reserve": (0, MAX_BUDGET), "tail": (0, MAX_BUDGET),
            "crossover_turn_threshold": (0, MAX_BUDGET),
        },
        http=Http(
            method="POST", path="/context", tag="recall", in_session=True,
            examples={
                "a_turn": {"messages": [{"role": "user", "content": "Book me a seat to Porto."}], "budget": 8000}
            },
        ),
        tool=Tool(
            name="get_context", title="Get the context", idempotent=True,
            use="The conversation so far and what memory knows about the new message, within a budget of tokens. Use it"
            " at the start of a conversation, or to continue one.",
            by_hand="takes the user's new message as text, and answers as text",
        ),
        command=Command(
            name="context", section=MEMORY, line="Show the messages to send, within a budget.",
            example='memhold context "what did we decide" --user alice --session s1',
            by_hand="takes the new message as text, or messages from a file",
        ),
    )  # fmt: skip
    async def context(
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
        ...

    @verb(
        "read",
        http=Http(
            method="GET", path="/memories/{item_id}", tag="memories",
            by_hand="messages and memories have a path each, and a memory an ETag",
        ),
        command=Command(
            name="get", section=MEMORY, line="Show one message or memory.", words=("item_id",),
            example="memhold get mem_0198c2f0 --user alice --json",
        ),
    )  # fmt: skip
    async def get(self, item_id: str) -> Message | Memory:
        """The message or memory of that id.

        Args:
            item_id: A memory (mem_…) or message (msg_…).

        Raises:
            NotFound: there is none in this scope.
            WrongKind: the id names a change or a session.
        """
        ...

    @verb(
        "read",
        bounds={"limit": (1, MAX_PAGE)},
        http=Http(method="GET", path="/memories", tag="memories", operation="list_memories"),
        command=Command(
            name="list", section=MEMORY, line="List memories, oldest first.",
            example="memhold list --kind fact --user alice",
        ),
    )  # fmt: skip
    async def list(
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
        ...

    @verb(
        "read",
        http=Http(
            method="POST", path="/memories/last-recalled", tag="memories",
            examples={"one_memory": {"ids": ["mem_0198c2f0"]}},
        ),
    )  # fmt: skip
    async def last_recalled(self, ids: Sequence[str]) -> Mapping[str, datetime]:
        """When each of these memories was last asked for and returned.

        Of facts of the mid tier each use is recorded, since it decides whether they stay; of all else the last one, to
        the day. Looking (`browse`), asking about the past and what only fills a page are no use. Memories that were
        never asked for, and ids of nothing in this scope, are left out.

        Args:
            ids: At most 1,000 memories.

        Raises:
            InvalidInput: more ids.
        """
        ...

    @verb(
        "read",
        bounds={"after": (0, MAX_NUMBER), "before": (1, MAX_NUMBER), "limit": (1, MAX_MESSAGES)},
        http=Http(
            method="GET", path="/messages", tag="messages", in_session=True,
            by_hand="a page ends behind so many characters too",
        ),
        command=Command(
            name="messages", section=MEMORY, line="Show a session's messages.",
            example="memhold messages --user alice --session s1",
        ),
    )  # fmt: skip
    async def messages(
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
        ...

    @verb(
        "read",
        bounds={"offset": (0, MAX_NUMBER), "limit": (1, MAX_NUMBER)},
        http=Http(
            method="GET", path="/messages/{message_id}/text", tag="messages", by_hand="the text is a field of an object"
        ),
    )
    async def read_message(self, message_id: str, *, offset: int = 0, limit: int = 100_000) -> str:
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
        ...

    @verb(
        "read",
        http=Http(method="GET", path="/memories/{item_id}/history", tag="memories"),
        tool=Tool(
            name="memory_history", title="History of a memory", idempotent=True,
            use="Every value a memory had, from when to when, and who changed it and why. Use it when the user asks"
            " what was true before or where something is known from.",
            shows=("item_id",),
        ),
        command=Command(
            name="history", section=MEMORY, line="Show every change that touched an item.", words=("item_id",),
            example="memhold history mem_0198c2f0 --user alice",
        ),
    )  # fmt: skip
    async def history(self, item_id: str) -> tuple[Change, ...]:
        """Every change that touched it, oldest first, with before and after; of a fact, the story of its attribute.

        Args:
            item_id: A memory (mem_…) or message (msg_…).

        Raises:
            NotFound: the id was never in this scope.
            StoreCorrupt: it is damaged on the disk, or one of its changes, which the message names.
        """
        ...

    @verb(
        "read",
        http=Http(method="GET", path="/changes", tag="changes"),
        bounds={"after": (0, MAX_NUMBER), "limit": (1, MAX_PAGE)},
    )
    async def changes(self, *, after: int = 0, limit: int = 100, verb: str | None = None) -> Changes:
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
        ...

    @verb(
        "read",
        bounds={"limit": (1, MAX_HITS), "offset": (0, MAX_NUMBER)},
        http=Http(method="GET", path="/summaries", tag="recall"),
        command=Command(
            name="summaries", section=MEMORY, line="Show what happened, by window, or by day, week or month.",
            words=("query",), example="memhold summaries --user alice --level week",
        ),
    )  # fmt: skip
    async def summaries(
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
        ...

    @verb(
        "read",
        bounds={"limit": (1, MAX_PAGE)},
        http=Http(method="GET", path="/sessions", tag="messages"),
        command=Command(
            name="sessions",
            section=MEMORY,
            line="List the sessions of a user.",
            example="memhold sessions --order newest --user alice",
        ),
    )
    async def sessions(
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
        ...

    @verb(
        "write",
        bounds={"until": (1, MAX_NUMBER)},
        http=Http(
            method="POST", path="/sessions/copy", tag="messages", status=201, in_session=True,
            examples={"one": {"to": "another way"}},
        ),
        command=Command(
            name="copy-session", section=MEMORY, line="Copy a session, so that it goes on in two ways.", words=("to",),
            example="memhold copy-session s2 --session s1 --user alice",
        ),
    )  # fmt: skip
    async def copy_session(self, to: str, *, until: int | None = None, idempotency_key: str | None = None) -> Receipt:
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
        ...

    @verb("read", http=Http(method="GET", path="/sessions/metadata", tag="messages", in_session=True))
    async def session_metadata(self) -> Mapping[str, Any]:
        """What the application keeps beside the scope's session; empty where that is nothing.

        Raises:
            StoreCorrupt: it is damaged on the disk.
        """
        ...

    @verb(
        "write",
        http=Http(
            method="POST", path="/sessions/metadata", tag="messages", in_session=True,
            examples={"titled": {"metadata": {"title": "Plans for Porto", "theme": "dark"}}},
        ),
    )  # fmt: skip
    async def set_session_metadata(self, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
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
        ...

    @verb(
        "read",
        bounds={"limit": (1, MAX_NUMBER)},
        http=Http(method="GET", path="/suspicions", tag="memories"),
        command=Command(
            name="suspicions",
            section=FACTS,
            line="List and settle what only you can know.",
            by_hand="a group of commands: list, same, different",
        ),
    )
    async def suspicions(
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
        ...

    @verb(
        "write",
        http=Http(
            method="POST", path="/suspicions/{suspicion_id}/settle", tag="memories", in_session=True,
            examples={"one_concept": {"verdict": "same"}},
        ),
    )  # fmt: skip
    async def settle_suspicion(
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
        ...

    @verb(
        "read",
        http=Http(
            method="POST", path="/fence", tag="recall",
            examples={"one_memory": {"ids": ["mem_0198c2f0"], "lines": ["Likes tea."]}},
        ),
    )  # fmt: skip
    async def fence(self, ids: Sequence[str], lines: Sequence[str]) -> str:
        """What was recalled, as text for a prompt, in a fence that this store knows again.

        Text inside it is never learnt as something new when it comes back in a message, and forgetting reaches it.

        Args:
            ids: The memories and messages that the lines tell.
            lines: The text, line by line.
        """
        ...

    @verb(
        "read",
        http=Http(method="GET", path="/status", tag="recall"),
        tool=Tool(
            name="memory_status", title="Status of memory", idempotent=True,
            use="What memory holds and whether its background work is well. Use it when saving or recalling behaves"
            " oddly, or the user asks.",
        ),
        command=Command(
            name="status", section=STORE, line="Show what a scope holds and what is due.",
            example="memhold status --user alice", by_hand="shows models and what is to be settled too",
        ),
    )  # fmt: skip
    async def status(self) -> Status:
        """What the scope's user has here, and what is still to be done for it."""
        ...

    @verb(
        "read",
        command=Command(
            name="residue",
            section=STORE,
            line="Look for a text's bytes in the store's files.",
            words=("text",),
            example='memhold residue "Lisbon" --db memory.db',
            by_hand="exits with 1 where something is found",
        ),
    )
    async def residue(self, text: str) -> Residue:
        """Where a text's bytes still stand in the files of the store and of its mirror: proof that forgetting is real.

        On PostgreSQL, whose files are the server's, it looks through every value of every table, whatever its scope.

        Args:
            text: What to look for; 4 characters or more.

        Raises:
            InvalidInput: the text is shorter than 4 characters, or the store keeps no files of its own.
        """
        ...

    # ------------------------------------------------------------------------------------------------ tidying

    @verb(
        "write",
        http=Http(method="POST", path="/sessions/end", tag="messages", in_session=True),
        tool=Tool(
            name="end_session", title="End the session", idempotent=True,
            use="Close the conversation: what was said becomes memory, and the next message begins a new one. Use it"
            " when the user is done with a subject or says goodbye.",
            shows=("session", "idempotency_key"),
        ),
        command=Command(
            name="end-session", section=MEMORY, line="Close a session; its window is kept, searchable.",
            example="memhold end-session --user alice --session s1",
        ),
    )  # fmt: skip
    async def end_session(self, *, idempotency_key: str | None = None) -> Receipt:
        """Close the scope's session: its window is kept, whole and searchable, and the next message begins a clean one.

        Waits for no model: where one consolidates, the window is due now and worked on behind. Without one the window
        becomes raw memories at once; their ids are in the receipt. Ending an empty window does nothing. An agent ends
        it for itself: where others speak in it too, their window goes on.

        Args:
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.
        """
        ...

    @verb(
        "write",
        http=Http(
            method="POST", path="/sessions/consolidate", tag="messages", in_session=True,
            by_hand="waits for the models, but not for ever",
        ),
        command=Command(
            name="consolidate", section=MEMORY, line="Read what waits with a model, now.",
            example="memhold consolidate --user alice", by_hand="opens the store with the models' settings",
        ),
    )  # fmt: skip
    async def consolidate(self) -> Consolidated:
        """Consolidate now what waits in the scope's session, or, without a session, in all sessions of its user.

        Raw windows are tried again too. It waits for the models; what they could not take stays raw, with its reason in
        `last_error`. Where no model is configured nothing is changed.
        """
        ...

    @verb(
        "write",
        http=Http(
            method="POST", path="/compact", tag="memories", in_session=True,
            by_hand="waits for the models, but not for ever",
            examples={"only_shown": {"dry_run": True}, "merged": {}},
        ),
        command=Command(
            name="compact", section=MEMORY, line="Merge notes that say the same, now.",
            example="memhold compact --user alice --dry-run", by_hand="runs again while there is more",
        ),
    )  # fmt: skip
    async def compact(self, *, dry_run: bool = False) -> Compacted:
        """One run of compaction now: notes that say the same become one, and what was replaced is superseded.

        Exact copies need no model; others go to the judge (the setting `compaction`, else `consolidation`) up to twelve
        at once, and none is hidden but behind what has its details. Each merge is one change that can be undone. Call
        it again while `more` says so. Days, weeks and months of summaries that are over are rolled up (the setting
        `rollups`), by the same models. With an agent or a session only its own notes are looked at.

        Args:
            dry_run: Only show what would be looked at and why: it asks no model and changes nothing.
        """
        ...

    @verb(
        "write",
        bounds={"most": (0, MAX_NUMBER)},
        http=Http(
            method="POST", path="/retain", tag="memories", in_session=True,
            examples={
                "unused_notes_of_a_year": {"kinds": ["note"], "unused_for": 31536000.0},
                "the_newest_thousand": {"kinds": ["note"], "most": 1000, "dry_run": False},
            },
        ),
        command=Command(
            name="retain", section=MEMORY, line="List what is past your rules, or hide it.",
            example="memhold retain --unused-for 365 --user alice", by_hand="takes days, and --hide to hide",
        ),
    )  # fmt: skip
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
        ...

    # ------------------------------------------------------------------------------------------------ moving

    @verb(
        "write",
        http=Http(method="POST", path="/import", tag="data", by_hand="the body is the file"),
        command=Command(
            name="import",
            section=MOVING,
            line="Bring a file or a folder of conversations or memories in.",
            example="memhold import conversations.json --user alice --zone Europe/Lisbon",
            by_hand="shows progress, and can be stopped and run again",
        ),
    )
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
        ...

    @verb(
        "read",
        http=Http(method="GET", path="/export", tag="data", by_hand="the answer is the file"),
        command=Command(
            name="export",
            section=MOVING,
            line="Write a scope to a file, to Markdown or for another system.",
            example="memhold export alice.jsonl --user alice",
            by_hand="finds the format from the target",
        ),
    )
    async def export(self, path: str | Path, *, format: ExportFormat = "jsonl") -> Exported:
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
        ...
