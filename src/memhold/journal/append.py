"""Appending to the journal, and the sessions that it is kept in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from memhold.index.documents import message_entry
from memhold.index.pending_vectors import due_index
from memhold.journal.redaction import redacted_draft
from memhold.journal.windows import When, due_at, skipped, weight
from memhold.messages.fences import find_quotes, resolved, without
from memhold.messages.ingest import HEARD, Draft, told_apart
from memhold.messages.records import records_of, split
from memhold.ports.stores import Ids, Redactor
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.text.analysis import Terms, analyse
from memhold.text.instructions import instructions
from memhold.values.answers import Receipt, Visibility
from memhold.values.origins import lines_origin
from memhold.values.records import COPY_OF, PEOPLE, Author, Change, Message, Quote, Session, Span, WrittenBy

__all__ = [
    "Analysed",
    "Arrival",
    "Prepared",
    "Ready",
    "Written",
    "analyse_said",
    "analysed",
    "append",
    "ensure_session",
    "prepare",
    "ready_to_analyse",
    "with_people",
]

_SEEN_LATER = Visibility(meaning=None, consolidated=False)
_NOT_SEEN = Visibility(meaning=False, consolidated=False)
_KEPT = Visibility(words=False, meaning=False, consolidated=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Drafts after redaction, analysed: everything about an add that needs no transaction.

    `terms` are those of each draft, by who wrote them, in the order of its writers; `instructions` the clauses of each
    in which a person says how they want to be answered.
    """

    drafts: tuple[Draft, ...]
    terms: tuple[tuple[Terms, ...], ...]
    quotes: tuple[tuple[Quote, ...], ...]
    instructions: tuple[tuple[str, ...], ...] = ()
    redacted: int = 0


Analysed = tuple[Terms, tuple[str, ...]]
"""The terms of a text, and the standing instructions in it."""


Written = tuple[WrittenBy, str, str | None]
"""Who wrote a text, the text, and the name that stands in front of it, where one does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Drafts after redaction, with what they quote from this store.

    `texts` is what remains to be analysed, each with who wrote it: those of the first draft, then of the second, ...
    """

    drafts: tuple[Draft, ...]
    texts: tuple[Written, ...]
    quotes: tuple[tuple[Quote, ...], ...]
    redacted: int = 0


def prepare(drafts: Sequence[Draft], redactor: Redactor | None, *, secret: bytes) -> Prepared:
    """Redact, find what is quoted from this store, and analyse the rest: pure work, before the write lock is taken.

    The drafts say who wrote them (`memhold.messages.ingest.attribute`).
    """
    ready = ready_to_analyse(drafts, redactor, secret=secret)
    return analysed(ready, [analyse_said(*written) for written in ready.texts])


def ready_to_analyse(drafts: Sequence[Draft], redactor: Redactor | None, *, secret: bytes) -> Ready:
    """The first half of `prepare`: all but the analysis."""
    redacted = 0
    if redactor is not None:
        cleaned = [redacted_draft(draft, redactor, place=f"message {index}") for index, draft in enumerate(drafts)]
        drafts, redacted = [draft for draft, _ in cleaned], sum(count for _, count in cleaned)
    quotes = tuple(find_quotes(draft.text, secret) for draft in drafts)
    texts = tuple(text for draft, found in zip(drafts, quotes, strict=True) for text in _texts(draft, found))
    return Ready(drafts=tuple(drafts), texts=texts, quotes=quotes, redacted=redacted)


def _texts(draft: Draft, quotes: Sequence[Quote]) -> Iterator[Written]:
    """What each writer of a draft wrote, without what it quotes from this store; one at least, for its document."""
    records = split(draft.text, draft.passages, quotes)
    if not records:
        yield "harness", without(draft.text, quotes), None
    for record in records:
        yield record.written_by, without(record.text, record.quotes), draft.speaker


def analyse_said(writer: WrittenBy, text: str, name: str | None = None) -> Analysed:
    """The terms of what was written, and the standing instructions in it, where a person typed it."""
    said = text.removeprefix(f"{name}: ")
    told = tuple(span.of(said) for span in instructions(said)) if writer in PEOPLE else ()
    return analyse(text), told


def analysed(ready: Ready, found: Sequence[Analysed]) -> Prepared:
    """The second half of `prepare`: `found` is what `analyse_said` gives for each of `ready.texts`."""
    each = iter(found)
    held = [tuple(islice(each, max(1, len(set(draft.writers))))) for draft in ready.drafts]
    return Prepared(
        drafts=ready.drafts,
        terms=tuple(tuple(terms for terms, _ in one) for one in held),
        quotes=ready.quotes,
        instructions=tuple(tuple(clause for _, told in one for clause in told) for one in held),
        redacted=ready.redacted,
    )


def ensure_session(tx: WriteTx, name: str, ids: Ids) -> Session:
    """The session of that name, made now if it is not there."""
    session = tx.session(name)
    if session is None:
        session = Session(
            id=ids.new("ses"), name=name, number=tx.take_session_number(), created_at=tx.now, last_at=tx.now
        )
        tx.put_session(session)
    return session


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """Where messages arrive, and who brings them.

    `given` brings ids along, for messages that had one, and `said` who said them, where that was recorded before; else
    it follows from the author and the role. `reason` is why, where it is not that they arrived.
    """

    session: str
    agent: str | None
    author: Author
    ids: Ids
    given: Sequence[str | None] = ()
    said: Sequence[Author] = ()
    reason: str | None = None


def append(
    tx: WriteTx, prepared: Prepared, arrival: Arrival, *, when: When | None = None, meaning: bool = True
) -> Receipt:
    """Append messages to a session: the journal, the words index and the audit trail in one transaction.

    Returns a receipt whose ids are in the order of the messages. With `when`, the session's window becomes due work;
    `meaning` says whether there is an embedding. An empty batch writes nothing.
    """
    if not prepared.drafts:
        return Receipt(ids=())
    session, ids = arrival.session, arrival.ids
    held, now = ensure_session(tx, session, ids), tx.now
    change_id = ids.new("chg")
    number, agent_number = tx.take_numbers(sum(map(len, prepared.terms))), tx.agent_number(arrival.agent)
    messages, entries = [], []
    for offset, terms in enumerate(prepared.terms):
        seq = held.last_seq + 1 + offset
        message = _message(tx, prepared, arrival, offset, seq=seq, number=number, change_id=change_id)
        messages.append(message)
        number = message.numbers.stop
        for record, of_it in zip(records_of(message), terms, strict=True):
            entries.append(message_entry(record, of_it, session=held.number, agent=agent_number))
    last = messages[-1].seq
    moved = held.grown(last_seq=last, at=now, pending_tokens=held.pending_tokens + weight(messages))
    tx.put_session(moved)
    due = None if when is None or skipped(session, when) else due_at(moved, when, now)
    if due is not None:
        tx.put_due("consolidate", moved.id, due)
    tx.add_messages(messages)
    tx.index(entries)
    if any(message.embed for message in messages):
        due_index(tx)
    span = Span(session=held.id, first=held.last_seq + 1, last=last)
    tx.add_change(_appended(change_id, arrival.author, now, span, arrival.reason))
    return Receipt(
        ids=tuple(message.id for message in messages),
        change_ids=(change_id,),
        redacted=prepared.redacted,
        visibility=_visibility(messages, meaning=meaning),
    )


def with_people(tx: ReadTx, prepared: Prepared, *, session: str, agent: str | None) -> Prepared:
    """The same with what other people than the user wrote as theirs, by the names at the session's end too.

    In the transaction that appends them: nobody speaks there in between.
    """
    drafts = prepared.drafts
    if not any(draft.speaker for draft in drafts):
        return prepared
    before = tx.messages(session, limit=HEARD, newest=True)
    told = told_apart(drafts, before, user=tx.scope.user, agent=agent)
    terms, clauses = [*prepared.terms], [*prepared.instructions]
    for at, (was, now) in enumerate(zip(drafts, told, strict=True)):
        # A person's words are read alike whosever they are; what was taken for an assistant's is read anew.
        if now is not was and (was.typed is not now.typed or len({*was.writers}) != len({*now.writers})):
            read = [analyse_said(*written) for written in _texts(now, prepared.quotes[at])]
            terms[at] = tuple(found for found, _ in read)
            clauses[at] = tuple(clause for _, said in read for clause in said)
    return replace(prepared, drafts=told, terms=tuple(terms), instructions=tuple(clauses))


def _message(
    tx: WriteTx, prepared: Prepared, arrival: Arrival, offset: int, *, seq: int, number: int, change_id: str
) -> Message:
    draft = prepared.drafts[offset]
    said = arrival.said[offset] if arrival.said else _said(draft, arrival.author)
    return Message(
        id=(arrival.given[offset] if arrival.given else None) or arrival.ids.new("msg"),
        number=number,
        session=arrival.session,
        seq=seq,
        role=draft.role,
        body=draft.body,
        shape=draft.shape,
        text=draft.text,
        event_time=draft.event_time or tx.now,
        recorded_at=tx.now,
        change_id=change_id,
        agent=arrival.agent,
        embed=draft.embed,
        metadata=draft.metadata,
        quotes=_copied(draft) or resolved(tx, draft.text, prepared.quotes[offset]),
        origin=said.origin,
        actor=said.name,
        passages=draft.passages,
    )


def _visibility(messages: Sequence[Message], *, meaning: bool) -> Visibility:
    """Where these can be found; what is in no index can be read where it stands."""
    if all(message.opaque or message.copy_of is not None for message in messages):
        return _KEPT
    return _SEEN_LATER if meaning and any(message.embed for message in messages) else _NOT_SEEN


def _said(draft: Draft, author: Author) -> Author:
    """Who said a line that somebody brings."""
    origin = lines_origin(author.origin, draft.written_by)
    return author if origin == author.origin else Author(origin=origin, name=author.name)


def _copied(draft: Draft) -> tuple[Quote, ...]:
    """A copy shows its original and nothing else: it is no new evidence, and goes where that goes."""
    original = draft.metadata.get(COPY_OF)
    return (Quote(start=0, end=len(draft.text), ids=(original,)),) if isinstance(original, str) else ()


def _appended(change_id: str, author: Author, at: datetime, span: Span, reason: str | None) -> Change:
    reason = reason or ("imported" if author.origin == "import" else "messages arrived")
    return Change(id=change_id, seq=0, verb="add", reason=reason, by=author, at=at, spans=(span,))
