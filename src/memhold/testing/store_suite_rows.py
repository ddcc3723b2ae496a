"""Small valid rows for the store suite, and a look through every method at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from memhold.ports.stores import Clock, Ids, Store
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.values.records import Author, Change, Effect, Memory, Message, Passage, Scope, Session

__all__ = [
    "ALICE",
    "ANYTHING",
    "BOB",
    "EPOCH",
    "OTHERS",
    "OpenStore",
    "add_change",
    "add_fact",
    "add_note",
    "everything",
    "later",
    "need_session",
    "say",
]

OpenStore = Callable[[Clock, Ids], Awaitable[Store]]
"""What a subclass of the suite supplies: open a new, empty store with this clock and these ids."""

ALICE: Final = Scope(namespace="acme", user="alice")
BOB: Final = Scope(namespace="acme", user="bob")
OTHERS: Final = (
    BOB,
    Scope(namespace="acme"),
    Scope(namespace="other", user="alice"),
    Scope(namespace="ACME", user="alice"),
    Scope(namespace="acme", user="Alice"),
    Scope(namespace="acme%", user="alice_"),
)
"""Scopes that are not Alice's, each by one thing that a careless comparison would miss."""
EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)
ANYTHING: Final = Listing(states=None)


def later(seconds: float) -> datetime:
    """A time after the suite's epoch."""
    return EPOCH + timedelta(seconds=seconds)


def need_session(tx: WriteTx, ids: Ids, name: str = "s1") -> Session:
    """The session of that name, made now if it is not there."""
    found = tx.session(name)
    if found is None:
        number = tx.take_session_number()
        found = Session(id=ids.new("ses"), name=name, number=number, created_at=tx.now, last_at=tx.now)
        tx.put_session(found)
    return found


def say(tx: WriteTx, ids: Ids, *texts: str, session: str = "s1", **fields: Any) -> list[Message]:
    """Append one user message a text, as an add does it."""
    place = need_session(tx, ids, session)
    first = tx.take_numbers(len(texts))
    messages = []
    for offset, text in enumerate(texts):
        values: dict[str, Any] = {
            "id": ids.new("msg"),
            "number": first + offset,
            "session": session,
            "seq": place.last_seq + 1 + offset,
            "role": "user",
            "body": {"role": "user", "content": text},
            "shape": "openai",
            "change_id": "chg_of_the_add",
            "text": text,
            "event_time": tx.now,
            "recorded_at": tx.now,
        }
        values |= fields
        whole = Passage(start=0, end=len(values["text"]), written_by="user")
        messages.append(Message(**({"passages": (whole,)} | values)))
    tx.put_session(_moved(place, len(texts), tx.now))
    tx.add_messages(messages)
    return messages


def _moved(session: Session, count: int, now: datetime) -> Session:
    return Session(
        id=session.id,
        name=session.name,
        number=session.number,
        last_seq=session.last_seq + count,
        cursor=session.cursor,
        window_start=session.window_start,
        asked=session.asked,
        pending_tokens=session.pending_tokens,
        torn=session.torn,
        rev=session.rev,
        created_at=session.created_at,
        last_at=now,
        ended_at=session.ended_at,
    )


def add_note(tx: WriteTx, ids: Ids, text: str, *, digest: bytes | None = None, **fields: Any) -> Memory:
    """Put the first revision of a note (or of another kind, by `fields`)."""
    values: dict[str, Any] = {
        "id": ids.new("mem"),
        "number": tx.take_numbers(1),
        "kind": "note",
        "text": text,
        "event_time": tx.now,
        "valid_from": tx.now,
        "created_at": tx.now,
        "recorded_at": tx.now,
    }
    memory = Memory(**(values | fields))
    tx.put_memory(memory, digest=digest)
    return memory


def add_fact(tx: WriteTx, ids: Ids, key: str, value: str, *, subject: str = "user", **fields: Any) -> Memory:
    """Put the first revision of a fact."""
    text = f"{subject} {key} {value}"
    return add_note(tx, ids, text, kind="fact", subject=subject, attribute=key, value=value, key=key, **fields)


def add_change(tx: WriteTx, ids: Ids, *memories: Memory, **fields: Any) -> Change:
    """Append a change that put the first revision of each memory."""
    effects = tuple(
        Effect(memory_id=memory.id, rev_before=memory.rev - 1, rev_after=memory.rev, after=memory)
        for memory in memories
    )
    values: dict[str, Any] = {
        "id": ids.new("chg"),
        "seq": 0,
        "verb": "remember",
        "reason": "told",
        "by": Author(origin="user"),
        "at": tx.now,
        "effects": effects,
    }
    change = Change(**(values | fields))
    return replace(change, seq=tx.add_change(change))


def everything(tx: ReadTx, *, ids: tuple[str, ...] = (), digests: tuple[bytes, ...] = ()) -> list[Any]:
    """What every read method of a transaction gives, asked as widely as it can be asked, and for these ids.

    The things looked for are asked by id too; the answer lists only what was found, so an empty scope gives [].
    """
    sessions = tx.sessions()
    named = [tx.session(name) for name in ("", "s1", *(s.name for s in sessions))]
    asked: list[Any] = [
        *sessions,
        *named,
        *(tx.find_session(one) for one in ids),
        *(
            message
            for name in ("", "s1", *(s.name for s in sessions))
            for message in tx.messages(name, every_agent=True)
        ),
        *tx.find_messages(ids),
        *tx.find_memories(ids),
        *tx.find_numbers(range(200)),
        *tx.list_memories(ANYTHING),
        *tx.facts(subject="user", key="food", agent=None),
        *tx.fact_keys(None),
        *tx.evidence(ids),
        *tx.suspicions(),
        *tx.key_vectors("canary").items(),
        *(tx.same_content(kind=kind, digest=one, agent=None) for one in digests for kind in ("note", "fact")),
        *(revision for one in ids for revision in tx.revisions(one)),
        *tx.held(as_of=later(10**8), known_at=None),
        *tx.held(as_of=later(10**8), known_at=later(10**8)),
        *tx.derived(ids),
        *tx.changes(),
        *(change for one in ids for change in tx.changes(memory_id=one)),
        *(tx.find_change(one) for one in ids),
        *(tx.replay("add", one) for one in digests),
        *(tx.tombstone(one) for one in ids),
        *(one for one in digests if tx.blocked(one)),
        *(item for item, hidden in tx.documents() if not hidden),
        *(block.records + block.entries for block in tx.blocks()),
        *(block for held in tx.generations() for block in tx.vector_marks(held.number)),
        *(block for held in tx.generations() for block in tx.vector_blocks(held.number, (0, 128))),
        *tx.agents().items(),
        *tx.due(),
        *([tx.leased()] if tx.leased() else []),
        *((key, count) for key, count in tx.counts().items() if count),
    ]
    return [row for row in asked if row is not None]
