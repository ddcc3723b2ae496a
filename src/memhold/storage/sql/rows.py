"""Rows of a store with tables to values and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from memhold.messages.former import former_passages
from memhold.ports.postings import Block
from memhold.ports.transaction import Place, Replay, Tombstone
from memhold.ports.vector_blocks import Generation, VectorBlock
from memhold.storage.sql.digests import (
    CHANGE,
    MEMORY,
    MESSAGE,
    SESSION,
    block_digests,
    change_digest,
    detail_digest,
    memory_digest,
    message_digest,
    session_digest,
    with_digest,
)
from memhold.values.errors import StoreCorrupt
from memhold.values.jsonable import compact_json
from memhold.values.records import (
    Author,
    Change,
    Effect,
    Evidence,
    Memory,
    MemoryQuote,
    Message,
    Passage,
    Quote,
    Session,
    Span,
    Suspicion,
    from_micros,
    micros,
)

if TYPE_CHECKING:
    from memhold.values.answers import Due, Receipt

__all__ = [
    "change_params",
    "dumps",
    "memory_params",
    "message_params",
    "opt_micros",
    "readable",
    "receipt_from",
    "receipt_text",
    "session_params",
    "suspicion_params",
    "to_block",
    "to_change",
    "to_counters",
    "to_due",
    "to_evidence",
    "to_generation",
    "to_memory",
    "to_message",
    "to_place",
    "to_quotes",
    "to_replay",
    "to_session",
    "to_suspicion",
    "to_tail",
    "to_time",
    "to_tombstone",
    "to_vectors",
]

Row = Sequence[Any]
R = TypeVar("R")
V = TypeVar("V")


# One encoder for all: ASCII only, so that lone surrogates and NUL survive in text columns.
dumps = compact_json(ascii_only=True)


def _array(values: Sequence[Any]) -> str:
    return dumps(values) if values else "[]"


def _object(value: Mapping[str, Any]) -> str:
    return dumps(dict(value)) if value else "{}"


@lru_cache(maxsize=256)
def _author(author: Author) -> str:
    return dumps({"origin": author.origin, "name": author.name, "version": author.version})


def readable(made: Callable[[R], V]) -> Callable[[R], V]:
    """The function, with our error where a row of a table without digests holds what nobody wrote."""

    @wraps(made)
    def read(row: R) -> V:
        try:
            return made(row)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            what = f"a row cannot be read as {made.__name__.lstrip('_').removeprefix('to_').removesuffix('_from')}"
            raise StoreCorrupt(f"{what}; run 'memhold doctor', then 'memhold restore'") from error

    return read


def opt_micros(moment: datetime | None) -> int | None:
    """Microseconds of a time that may be absent."""
    return None if moment is None else micros(moment)


def _opt_time(value: int | None) -> datetime | None:
    return None if value is None else from_micros(value)


@readable
def to_counters(row: Row) -> tuple[int, ...]:
    """Whole numbers, of which an absent one is 0."""
    return tuple(int(value or 0) for value in row)


def to_place(row: Row) -> Place:
    """Where a document stands, from the columns of `read_places`."""
    return Place(row[0], row[1], row[2] or None, _opt_time(row[3]))


def _whole(*values: Any) -> None:
    """Refuse what is no whole number: a text in its place would fail whoever counts with it."""
    if not all(type(value) is int for value in values):
        raise TypeError


@readable
def to_session(row: Row) -> Session:
    """A session from the columns of `read_session`."""
    _whole(*row[2:6], *row[9:13])
    return Session(
        id=row[0],
        name=row[1],
        number=row[2],
        last_seq=row[3],
        cursor=row[4],
        rev=row[5],
        created_at=from_micros(row[6]),
        last_at=from_micros(row[7]),
        ended_at=_opt_time(row[8]),
        window_start=row[9],
        asked=row[10],
        pending_tokens=row[11],
        torn=bool(row[12]),
        metadata=json.loads(row[13]),
    )


def session_params(session: Session) -> dict[str, Any]:
    """The parameters of `put_session`, in the order of the columns."""
    params = {
        "id": session.id,
        "session_id": session.name,
        "number": session.number,
        "last_seq": session.last_seq,
        "cursor": session.cursor,
        "rev": session.rev,
        "created_at": micros(session.created_at),
        "last_at": micros(session.last_at),
        "ended_at": opt_micros(session.ended_at),
        "window_start": session.window_start,
        "asked": session.asked,
        "pending_tokens": session.pending_tokens,
        "torn": int(session.torn),
        "metadata": _object(session.metadata),
    }
    return with_digest(params, SESSION, session_digest)


def to_message(row: Row) -> Message:
    """A message from its columns."""
    told, recorded = row[3], row[4]
    at = from_micros(recorded)
    return Message(
        number=row[0],
        seq=row[1],
        embed=bool(row[2]),
        event_time=at if told == recorded else from_micros(told),
        recorded_at=at,
        id=row[5],
        session=row[6],
        agent=row[7] or None,
        role=row[8],
        shape=row[9],
        change_id=row[10],
        body=json.loads(row[11]),
        text=row[12],
        metadata=_mapping(row[13]),
        quotes=to_quotes(row[14]),
        origin=row[15],
        actor=row[16],
        passages=_passages(row),
    )


def _passages(row: Row) -> tuple[Passage, ...]:
    """Who wrote which stretch of a message, from its columns; of one stored before that was kept, by the table."""
    written, text = row[17], row[12]
    if written is None:
        return former_passages(row[8], json.loads(row[11]), text, row[15])
    if not written.startswith("["):
        return (Passage(start=0, end=len(text), written_by=written),)
    return tuple(Passage(start=start, end=end, written_by=writer) for writer, start, end in json.loads(written))


def written_by(message: Message) -> str | None:
    """Who wrote which stretch of a message, as its column holds it: one name, or a list where several did."""
    if len(message.passages) == 1:
        return message.passages[0].written_by
    return dumps([[one.written_by, one.start, one.end] for one in message.passages]) if message.passages else None


def _mapping(text: str) -> dict[str, Any]:
    return {} if text == "{}" else json.loads(text)


def _list(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def to_block(row: Row) -> Block:
    """A block of the words index from its columns, held against its digests."""
    first, records, entries, *kept = row
    sound = block_digests(first, records, entries) == (*kept,)
    return Block(first=first, records=records, entries=entries, damaged=not sound)


def to_tail(row: Row) -> tuple[int, int, int, int, int]:
    """A block's first document, the bytes of its records and entries, and the CRCs of both, from its columns.

    Raises:
        StoreCorrupt: something of it is no number.
    """
    try:
        first, size, weight, records_digest, entries_digest = to_counters(row)
    except (TypeError, ValueError) as error:
        raise StoreCorrupt("a block of the words index is damaged; run 'memhold doctor'") from error
    return first, size, weight, records_digest - first, entries_digest


def to_vectors(row: Row) -> VectorBlock:
    """A block of vectors from its columns, held against its digests."""
    first, rev, marks, vectors, *kept = row
    sound = block_digests(first, marks, vectors) == (*kept,)
    return VectorBlock(first=first, rev=rev, marks=marks, vectors=vectors, damaged=not sound)


def to_quotes(text: str) -> tuple[Quote, ...]:
    """The quotes of a message from their column."""
    if text == "[]":
        return ()
    return tuple(Quote(start=start, end=end, ids=tuple(ids)) for start, end, ids in json.loads(text))


def message_params(message: Message) -> dict[str, Any]:
    """The parameters of `insert_message`, in the order of the columns."""
    recorded = micros(message.recorded_at)
    params = {
        "number": message.number,
        "seq": message.seq,
        "embed": int(message.embed),
        "event_time": recorded if message.event_time is message.recorded_at else micros(message.event_time),
        "recorded_at": recorded,
        "id": message.id,
        "session_id": message.session,
        "agent_id": message.agent or "",
        "role": message.role,
        "shape": message.shape,
        "change_id": message.change_id,
        "body": dumps(message.body),
        "text": message.text,
        "metadata": _object(message.metadata),
        "quotes": _array([[quote.start, quote.end, list(quote.ids)] for quote in message.quotes]),
        "origin": message.origin,
        "actor": message.actor,
        "written_by": written_by(message),
    }
    return with_digest(params, MESSAGE, message_digest)


def to_memory(row: Row, sources: tuple[str, ...]) -> Memory:
    """A memory from its columns, with its sources."""
    return Memory(
        rev=row[0],
        number=row[1],
        pinned=bool(row[2]),
        event_time=from_micros(row[3]),
        valid_from=from_micros(row[4]),
        created_at=from_micros(row[5]),
        recorded_at=from_micros(row[6]),
        id=row[7],
        agent=row[8] or None,
        session=row[9],
        kind=row[10],
        state=row[11],
        tier=row[12],
        subject=row[13],
        attribute=row[14],
        value=row[15],
        key=row[16],
        operation=row[17],
        text=row[18],
        topics=_list(row[19]),
        entities=_list(row[20]),
        metadata=_mapping(row[21]),
        importance=row[22],
        origin=row[23],
        trust=row[24],
        superseded_by=row[25],
        actor=row[26],
        quotes=()
        if row[27] is None
        else tuple(MemoryQuote(message_id=of, text=text) for of, text in json.loads(row[27])),
        standing=row[28] or "stated",
        doubts=() if row[29] is None else _list(row[29]),
        valid_to=_opt_time(row[30]),
        last_confirmed_at=_opt_time(row[31]),
        evidence=row[32],
        expires_at=_opt_time(row[33]),
        unrecorded_at=_opt_time(row[34]),
        sources=sources,
    )


def memory_params(memory: Memory, digest: bytes | None) -> dict[str, Any]:
    """The parameters of `insert_revision`."""
    params = {
        "id": memory.id,
        "rev": memory.rev,
        "number": memory.number,
        "agent_id": memory.agent or "",
        "session_id": memory.session,
        "kind": memory.kind,
        "state": memory.state,
        "tier": memory.tier,
        "subject": memory.subject,
        "attribute": memory.attribute,
        "value": memory.value,
        "fact_key": memory.key,
        "operation": memory.operation,
        "text": memory.text,
        "digest": digest,
        "topics": _array(memory.topics),
        "entities": _array(memory.entities),
        "metadata": _object(memory.metadata),
        "importance": memory.importance,
        "pinned": int(memory.pinned),
        "origin": memory.origin,
        "trust": memory.trust,
        "evidence": memory.evidence,
        "event_time": micros(memory.event_time),
        "valid_from": micros(memory.valid_from),
        "valid_to": opt_micros(memory.valid_to),
        "expires_at": opt_micros(memory.expires_at),
        "created_at": micros(memory.created_at),
        "recorded_at": micros(memory.recorded_at),
        "superseded_by": memory.superseded_by,
        "actor": memory.actor,
        "quotes": _array([[one.message_id, one.text] for one in memory.quotes]) if memory.quotes else None,
        "standing": None if memory.standing == "stated" else memory.standing,
        "doubts": _array(memory.doubts) if memory.doubts else None,
        "last_confirmed_at": opt_micros(memory.last_confirmed_at),
    }
    return with_digest(params, MEMORY, memory_digest)


def unquoted(row: Row, gone: Collection[str]) -> dict[str, Any] | None:
    """The parameters of `rewrite_quotes` without the words of these messages; None where the row has none of theirs."""
    made = dict(zip(MEMORY, row, strict=False))
    quotes = json.loads(made["quotes"])
    kept = [one for one in quotes if one[0] not in gone]
    if len(kept) == len(quotes):
        return None
    made["quotes"] = _array(kept) if kept else None
    # What was damaged before goes on being told as that.
    sound = memory_digest(row) == row[len(MEMORY)]
    return {**made, "crc": memory_digest([made[name] for name in MEMORY]) if sound else row[len(MEMORY)]}


def to_change(row: Row, effects: Sequence[Row]) -> Change:
    """A change from its columns and those of `read_effects`."""
    return Change(
        seq=row[0],
        at=from_micros(row[1]),
        id=row[2],
        verb=row[3],
        reason=row[4],
        by=Author(**json.loads(row[5])),
        sources=_list(row[6]),
        spans=tuple(Span(**span) for span in json.loads(row[7])),
        undoes=row[8],
        undone_by=row[9],
        detail=_mapping(row[10]),
        effects=tuple(Effect(memory_id=e[0], rev_before=e[1], rev_after=e[2]) for e in effects),
    )


def change_params(change: Change, seq: int) -> dict[str, Any]:
    """The parameters of `insert_change`, in the order of the columns, under the number that the change gets."""
    detail = _object(change.detail)
    params = {
        "seq": seq,
        "at": micros(change.at),
        "id": change.id,
        "verb": change.verb,
        "reason": change.reason,
        "by": _author(change.by),
        "sources": _array(change.sources),
        "spans": _spans(change.spans),
        "undoes": change.undoes,
        "undone_by": None,
        "detail": detail,
    }
    params = with_digest(params, CHANGE, change_digest)
    params["detail_crc"] = _NO_DETAIL if detail == "{}" else detail_digest(detail)
    return params


_NO_DETAIL = detail_digest("{}")


def _spans(spans: Sequence[Span]) -> str:
    # An add has one, and dumping it costs more than the rest of its change.
    said = (f'{{"session":{dumps(one.session)},"first":{one.first:d},"last":{one.last:d}}}' for one in spans)
    return f"[{','.join(said)}]"


def receipt_text(receipt: Receipt) -> str:
    """A receipt as the JSON that an idempotency key keeps: ids and counts, no content."""
    return dumps(asdict(receipt))


@readable
def receipt_from(text: str) -> Receipt:
    """The inverse of `receipt_text`."""
    from memhold.values.answers import Receipt, Visibility

    plain: Mapping[str, Any] = json.loads(text)
    return Receipt(
        ids=tuple(plain["ids"]),
        change_ids=tuple(plain["change_ids"]),
        replayed=plain["replayed"],
        forgotten=plain["forgotten"],
        redacted=plain["redacted"],
        visibility=Visibility(**plain["visibility"]),
    )


@readable
def to_replay(row: Row) -> Replay:
    """What stands behind a key of a write, from the columns of `read_replay`."""
    fingerprint, receipt, expires = row
    if type(fingerprint) is not bytes:
        raise TypeError
    return Replay(fingerprint=fingerprint, receipt=receipt_from(receipt), expires_at=_opt_time(expires))


@readable
def to_tombstone(row: Row) -> Tombstone:
    """A mark of what was forgotten, from the columns of `read_tombstone`."""
    return Tombstone(id=row[0], at=from_micros(row[1]), change_id=row[2], digest=row[3])


@readable
def to_time(value: int | None) -> datetime | None:
    """The time of a column that may be empty."""
    return _opt_time(value)


@readable
def to_due(row: Row) -> Due:
    """Due work from the columns of `read_due`."""
    from memhold.values.answers import Due

    _whole(row[4], row[5])
    return Due(
        namespace=row[0],
        user=row[1] or None,
        kind=row[2],
        ref=row[3],
        due_at=from_micros(row[4]),
        attempts=row[5],
        last_error=row[6],
        token=row[7],
    )


@readable
def to_generation(row: Row) -> Generation:
    """A row of `generation`; of a length that is no number no block is sound."""
    number, fingerprint, dimension, state, made_at = row
    dimension = dimension if isinstance(dimension, int) else 0
    return Generation(
        number=number, fingerprint=fingerprint, dimension=dimension, state=state, made_at=from_micros(made_at)
    )


@readable
def to_evidence(row: Row) -> Evidence:
    """Evidence from the columns of `read_evidence`."""
    return Evidence(memory_id=row[0], turn=row[1], at=from_micros(row[2]), operation=row[3], change_id=row[4])


@readable
def to_suspicion(row: Row) -> Suspicion:
    """A suspicion from the columns of `read_suspicions`."""
    return Suspicion(
        id=row[0],
        kind=row[1],
        memory_id=row[2],
        other_id=row[3],
        rule=row[4],
        at=from_micros(row[5]),
        change_id=row[6],
        settled=row[7],
        settled_by=row[8],
        looked=row[9],
    )


def suspicion_params(suspicion: Suspicion) -> dict[str, Any]:
    """The parameters of `put_suspicion`."""
    return {**asdict(suspicion), "at": micros(suspicion.at)}
