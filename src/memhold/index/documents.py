"""Messages and memories as documents of the words index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from memhold.index.marks import asks, given_up, said_by, tells_of_change
from memhold.index.pending_vectors import due_compaction, due_index
from memhold.messages.fences import said
from memhold.ports.postings import DocumentKind, DocumentRecord, DocumentRole, Entry, removed_record
from memhold.ports.transaction import WriteTx
from memhold.text.analysis import Terms, analyse
from memhold.upkeep.periods import due_rollup
from memhold.values.records import HitKind, Kind, Memory, Message, micros

__all__ = ["KIND_OF", "ROLES_OF", "ROLE_OF", "entry_of", "index_memories", "memory_entry", "message_entry"]

KIND_OF: Mapping[HitKind, DocumentKind] = MappingProxyType(
    {
        "message": DocumentKind.MESSAGE,
        "fact": DocumentKind.FACT,
        "note": DocumentKind.NOTE,
        "summary": DocumentKind.SUMMARY,
        "raw": DocumentKind.RAW,
        "rollup": DocumentKind.ROLLUP,
        "instruction": DocumentKind.INSTRUCTION,
        "document": DocumentKind.DOCUMENT,
    }
)
ROLE_OF: Mapping[str, DocumentRole] = MappingProxyType(
    {
        "user": DocumentRole.USER,
        "participant": DocumentRole.PARTICIPANT,
        "assistant": DocumentRole.ASSISTANT,
        "tool": DocumentRole.TOOL,
        "attachment": DocumentRole.ATTACHMENT,
        "harness": DocumentRole.HARNESS,
    }
)
"""How the index records who wrote a message."""
ROLES_OF: Mapping[str, tuple[DocumentRole, ...]] = MappingProxyType(
    {
        **{writer: (role,) for writer, role in ROLE_OF.items()},
        "function": (DocumentRole.TOOL,),
        **dict.fromkeys(
            ("harness", "system", "developer"), (DocumentRole.HARNESS, DocumentRole.SYSTEM, DocumentRole.DEVELOPER)
        ),
    }
)
"""What a filter by role lets through: who wrote it, by the names that providers have for roles too."""


def message_entry(message: Message, terms: Terms, *, session: int, agent: int) -> Entry:
    """What one writer wrote of a message (`records_of`) as a document: its terms, and where and when it was said.

    `session` and `agent` are their numbers. An item and a copy are in no index: their place in it is that of a document
    which is gone.
    """
    if message.opaque or message.copy_of is not None:
        return Entry(number=message.number, record=removed_record(DocumentKind.MESSAGE), terms={})
    record = DocumentRecord(
        kind=DocumentKind.MESSAGE,
        role=ROLE_OF[message.written_by],
        length=terms.length,
        session=session,
        seq=message.seq,
        event_time=micros(message.event_time),
        agent=agent,
    )
    # Who said it, whether it asks or was given up are terms of their own kind, beside the words of the text.
    text = said(message)
    asked = {**asks(text), **tells_of_change(message, text)}
    marks = {**said_by(message.speaker), **asked, **given_up(message.metadata)}
    return Entry(number=message.number, record=record, terms={**terms.counts, **marks} if marks else terms.counts)


def memory_entry(memory: Memory, terms: Terms, *, session: int, agent: int) -> Entry:
    """A memory as a document: its terms, and from when and where it is; `session` and `agent` are their numbers."""
    record = DocumentRecord(
        kind=KIND_OF[_kind(memory.kind)],
        length=terms.length,
        session=session,
        event_time=micros(memory.event_time),
        agent=agent,
        active=memory.shown,
    )
    marks = said_by(memory.speaker)
    return Entry(number=memory.number, record=record, terms={**terms.counts, **marks} if marks else terms.counts)


def entry_of(
    item: Message | Memory,
    *,
    hidden: bool,
    terms: Terms,
    sessions: Mapping[str, int],
    agents: Mapping[str, int],
) -> Entry:
    """A message or memory as it should stand in the words index."""
    session = 0 if item.session is None else sessions.get(item.session, 0)
    agent = 0 if item.agent is None else agents.get(item.agent, 0)
    made = (
        message_entry(item, terms, session=session, agent=agent)
        if isinstance(item, Message)
        else memory_entry(item, terms, session=session, agent=agent)
    )
    return replace(made, record=replace(made.record, active=False)) if hidden else made


def index_memories(tx: WriteTx, memories: Sequence[Memory], terms: Terms | None = None) -> None:
    """Put new memories into the words index, in the transaction that stores them.

    The `terms` of a single memory may be given, where they were analysed before the transaction.
    """
    entries = []
    for memory in sorted(memories, key=lambda memory: memory.number):
        session = None if memory.session is None else tx.session(memory.session)
        number = 0 if session is None else session.number
        agent = tx.agent_number(memory.agent)
        entries.append(memory_entry(memory, terms or analyse(said(memory)), session=number, agent=agent))
    tx.index(entries)
    if entries:
        due_index(tx)
    if any(memory.kind == "note" and memory.state == "active" for memory in memories):
        due_compaction(tx)
    due_rollup(tx, [memory for memory in memories if memory.kind == "summary" and memory.state == "active"])


def _kind(kind: Kind) -> HitKind:
    return kind
