"""Windows that no model has read: kept whole and searchable as RAW memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memhold.index.documents import index_memories
from memhold.journal.change import Basis, note_change
from memhold.journal.visibility import ended, seen
from memhold.journal.windows import spoken
from memhold.messages.fences import unquoted
from memhold.messages.records import records_of
from memhold.ports.idempotency import keyed_digest
from memhold.ports.stores import Ids
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.values.answers import Receipt
from memhold.values.origins import told_by
from memhold.values.records import Author, Effect, Memory, Message, Session, Span, Trust

__all__ = ["NOTHING", "RAW_CHARS", "archive", "close_window", "split_window", "transcript", "uncovered"]

NOTHING = "consolidated: nothing to remember"
"""The reason of a change that found nothing worth keeping in its window."""

RAW_CHARS = 20_000
"""Longest text of one RAW memory, in characters; a longer window becomes several, cut between messages."""


def transcript(message: Message) -> str:
    """One message as a transcript has it: time, who, what; without what it quotes from this store, a line a writer."""
    moment = message.event_time.strftime("%Y-%m-%d %H:%M")
    name = f" {message.speaker}" if message.speaker else ""
    return "\n".join(f"[{moment}] {told_by(one)}{name}: {unquoted(one)}" for one in records_of(message))


def split_window(messages: Sequence[Message], *, limit: int) -> Iterator[tuple[str, tuple[Message, ...]]]:
    """The window as texts of at most `limit` characters with the messages that each holds, in order, nothing left out.

    One text holds messages of one agent. Messages stay whole where they fit; one that alone is longer than the limit
    is cut into several texts.
    """
    lines: list[str] = []
    held: list[Message] = []
    size = 0
    for message in messages:
        line = transcript(message)
        if held and (size + len(line) + 1 > limit or message.agent != held[-1].agent):
            yield "\n".join(lines), tuple(held)
            lines, held, size = [], [], 0
        while len(line) > limit:
            yield line[:limit], (message,)
            line = line[limit:]
        lines.append(line)
        held.append(message)
        size += len(line) + 1
    if held:
        yield "\n".join(lines), tuple(held)


def archive(
    tx: WriteTx,
    messages: Sequence[Message],
    *,
    secret: bytes,
    ids: Ids,
    about: Mapping[str, Any] | None = None,
) -> tuple[list[Memory], list[Effect]]:
    """Store a window as RAW memories of at most `RAW_CHARS` characters each, complete and in order.

    The first of each agent names the window (`metadata["raw"]["window"]`) for those behind it; `about` stands beside.
    """
    parts = list(split_window(messages, limit=RAW_CHARS))
    first = tx.take_numbers(len(parts)) if parts else 0
    stored: list[Memory] = []
    window = ""
    for offset, (text, held) in enumerate(parts):
        memory_id = ids.new("mem")
        if not stored or stored[-1].agent != held[0].agent:
            window = memory_id
        memory = Memory(
            id=memory_id,
            number=first + offset,
            kind="raw",
            text=text,
            agent=held[0].agent,
            session=held[0].session,
            origin="rules",  # nobody said it: it holds what several said
            trust=_trust(held),
            sources=tuple(message.id for message in held),
            metadata={"raw": {"window": window, **(about or {})}},
            event_time=held[0].event_time,
            valid_from=held[0].event_time,
            created_at=tx.now,
            recorded_at=tx.now,
        )
        tx.put_memory(memory, digest=keyed_digest(secret, "raw", memory.id))
        stored.append(memory)
    index_memories(tx, stored)
    return stored, [Effect(memory_id=memory.id, rev_before=0, rev_after=1) for memory in stored]


def _trust(messages: Sequence[Message]) -> Trust:
    writers = {writer for message in messages for writer in message.writers}
    return "tool" if writers & {"tool", "attachment"} else "user" if writers == {"user"} else "assistant"


def close_window(
    tx: WriteTx,
    session: Session,
    *,
    secret: bytes,
    ids: Ids,
    author: Author,
) -> Receipt:
    """Take a session's window out of the way: its messages become RAW memories and the cursor moves past them.

    Everything happens in the caller's transaction. A window without messages changes nothing but the time at which the
    session ended.
    """
    window = spoken(tx.messages(session.name, after=session.cursor, every_agent=True))
    moved = ended(tx, replace(session, pending_tokens=0))
    if not window:
        if moved != session:
            tx.put_session(moved)
        return Receipt(ids=())
    about = {"reason": "no model is configured"}
    stored, effects = archive(tx, window, secret=secret, ids=ids, about=about)
    tx.put_session(replace(moved, cursor=session.last_seq, rev=session.rev + 1))
    span = Span(session=session.id, first=session.cursor + 1, last=session.last_seq)
    reason = "kept raw: no model is configured"
    change = note_change(
        tx, ids.new("chg"), "consolidate", reason, by=author, effects=effects, basis=Basis(spans=[span])
    )
    return Receipt(ids=tuple(memory.id for memory in seen(tx, stored)), change_ids=(change.id,))


def uncovered(tx: ReadTx, session: Session) -> list[Message]:
    """Messages behind the cursor that no summary and no RAW memory holds: their window is due again.

    What is merged into a summary holds nothing itself; a window with nothing worth keeping is dealt with.
    """
    lines = spoken(tx.messages(session.name, until=session.cursor, every_agent=True))
    behind = [one for one in lines if one.copy_of is None]
    covered: set[str] = set()
    for memory in tx.derived([message.id for message in behind]):
        if memory.kind in {"summary", "raw"} and memory.state not in {"retracted", "merged"}:
            covered.update(memory.sources)
    after = 0
    while changes := tx.changes(after=after):
        after = changes[-1].seq
        covered.update(*(change.sources for change in changes if change.reason == NOTHING and change.undone_by is None))
    return [message for message in behind if message.id not in covered]
