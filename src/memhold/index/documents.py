"""Messages and memories as documents of the words index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from memhold.fidelity.tense import changes_later
from memhold.index.pending_vectors import due_compaction, due_index
from memhold.messages.fences import said
from memhold.ports.postings import DocumentKind, DocumentRecord, DocumentRole, Entry, removed_record
from memhold.ports.transaction import WriteTx
from memhold.text.analysis import Terms, analyse
from memhold.text.change import BRIEF, changes, word_count
from memhold.text.person import person_of
from memhold.text.sentences import sentences
from memhold.upkeep.periods import due_rollup
from memhold.values.records import ABANDONED, HitKind, Kind, Memory, Message, micros

__all__ = [
    "ASKING",
    "CHANGED",
    "FORMER",
    "GIVEN_UP",
    "KIND_OF",
    "NAMED",
    "QUESTION_MARKS",
    "ROLES_OF",
    "ROLE_OF",
    "SHORT",
    "SPEAKER",
    "asks",
    "entry_of",
    "given_up",
    "index_memories",
    "memory_entry",
    "message_entry",
    "said_by",
    "tells_of_change",
]

SPEAKER = "\x02by:"
"""Prefix of the term that says who said a message; no text has it, since terms hold no control characters."""


GIVEN_UP = "\x02givenup"
"""The term of a message of a branch that was given up: the conversation was taken back to before it."""

NAMED = "\x02named"
"""The term of a message whose speaker has a name."""

ASKING = "\x02asks"
"""The term of a message with a question mark; it stands there twice where the message ends with it, and three times
where it only asks."""


CHANGED = "\x02changed"
"""The term of a message of the user's with a word of change; it stands there twice where the message is short and says
so in a short sentence."""

FORMER = "\x02claims"
"""A term that earlier versions gave some messages. Nothing asks for it, and an index that is built anew has none."""

SHORT = 60
"""Words up to which a message is short: it tells of one or two things."""

QUESTION_MARKS = frozenset("?\uff1f\u061f\u2047\u2048\u203d\ufe56")


_STATED = (". ", "! ", "\n", "\u3002", "\uff01")
"""What ends a sentence that is no question."""
_MOST_NOTES = 8
"""So many notes in square brackets (a picture's caption) may stand behind a question."""


def said_by(name: object) -> Mapping[str, int]:
    """The terms that say who said a message, for the words index; none where no name was given."""
    if not isinstance(name, str) or not name:
        return {}
    return dict.fromkeys((NAMED, *(SPEAKER + term for term in analyse(name).counts)), 1)


def given_up(metadata: Mapping[str, object]) -> Mapping[str, int]:
    """The term that says that a conversation went on without this message, as the transcript that brought it says."""
    return {GIVEN_UP: 1} if metadata.get(ABANDONED) is True else {}


def asks(text: str) -> Mapping[str, int]:
    """The term that says that a message asks, for the words index.

    It stands there once, twice where the message ends with the question, and three times where it says nothing else.
    Told by the question mark, which most languages share; a language that writes none is taken to state.
    """
    if QUESTION_MARKS.isdisjoint(text):
        return {}
    rest = text.rstrip()
    for _ in range(_MOST_NOTES):
        if not rest.endswith("]"):
            break
        rest = rest[: max(rest.rfind("["), 0)].rstrip()
    last = next((char for char in reversed(rest) if char.isalnum() or char in QUESTION_MARKS), "")
    if last not in QUESTION_MARKS:
        return {ASKING: 1}
    return {ASKING: 2 if any(end in rest for end in _STATED) else 3}


def tells_of_change(message: Message, text: str) -> Mapping[str, int]:
    """The term that says that a person tells of a change, for the words index; nobody else's word changes anything."""
    if not message.typed or not changes(text):
        return {}
    if word_count(text) > SHORT:
        return {CHANGED: 1}
    said_on = message.event_time.date()
    said = [one for span in sentences(text) if not span.code and changes(one := span.of(text))]
    # A plan of one's own changes nothing yet: "I'm moving to Bergen next spring" is no news of where somebody lives.
    now = [one for one in said if not (changes_later(one, said_on) and person_of(one).first)]
    if said and not now:
        return {}
    return {CHANGED: 2 if any(word_count(one) <= BRIEF for one in now) else 1}


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
