"""A message as the indexes hold it: once for each of those who wrote something of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memhold.messages.shapes import Reading
from memhold.values.origins import join_passages, lines_origin, writer_of
from memhold.values.records import Message, Passage, Quote, WrittenBy

__all__ = ["Record", "records_in", "records_of", "split", "typed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What one writer wrote of a message, and the stretches of it that came out of this store."""

    text: str
    quotes: tuple[Quote, ...]
    written_by: WrittenBy


def split(text: str, passages: Sequence[Passage], quotes: Sequence[Quote]) -> tuple[Record, ...]:
    """A text by writer, each once, in the order in which they come: their passages, a line each, with the quotes there.

    A quote that stands in passages of two writers is in the record of each, as far as it stands there.
    """
    writers = dict.fromkeys(one.written_by for one in passages)
    if len(writers) <= 1:
        return tuple(Record(text=text, quotes=tuple(quotes), written_by=writer) for writer in writers)
    return tuple(_record([one for one in passages if one.written_by == writer], text, quotes) for writer in writers)


def records_in(read: Reading) -> tuple[Record, ...]:
    """What a message that a user's application has just passed says, by who wrote it."""
    pieces = [(one.start, one.end, writer_of(one.kind, read.role, "user")) for one in read.pieces]
    return split(read.text, join_passages(pieces), ())


def _record(passages: Sequence[Passage], text: str, quotes: Sequence[Quote]) -> Record:
    kept: list[Quote] = []
    at = 0
    for passage in passages:
        for quote in quotes:
            start, end = max(quote.start, passage.start), min(quote.end, passage.end)
            if start < end:
                kept.append(replace(quote, start=start - passage.start + at, end=end - passage.start + at))
        at += passage.end - passage.start + 1
    own = "\n".join(text[one.start : one.end] for one in passages)
    return Record(text=own, quotes=tuple(kept), written_by=passages[0].written_by)


def records_of(message: Message) -> tuple[Message, ...]:
    """The message for each of its writers: with their words alone, under the number of their document.

    It has the id, the place and the body of the whole, and says itself who said it. One that a single writer wrote is
    given as it is.
    """
    if len(message.writers) <= 1:
        return (message,)
    found = zip(message.numbers, split(message.text, message.passages, message.quotes), strict=True)
    return tuple(_view(message, number, record) for number, record in found)


def _view(message: Message, number: int, record: Record) -> Message:
    whole = Passage(start=0, end=len(record.text), written_by=record.written_by)
    origin = lines_origin(message.origin, record.written_by)
    return replace(message, number=number, text=record.text, quotes=record.quotes, passages=(whole,), origin=origin)


def typed(messages: Iterable[Message]) -> list[Message]:
    """What people wrote of these messages, in their order: nothing that was returned or attached beside it."""
    return [record for message in messages for record in records_of(message) if record.typed]
