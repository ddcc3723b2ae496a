"""Chats as providers take them: JSONL with a message or a conversation a line, and one JSON document of messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from memhold.transfer.items import Item, Line, any_time, fingerprint, make_item, session_name
from memhold.transfer.source import Piece, Source
from memhold.values.errors import InvalidInput, UnreadableImport

__all__ = ["read_anthropic_json", "read_openai_jsonl"]

_TIMES = ("event_time", "timestamp", "created_at", "create_time")
_NAMES = ("session", "session_id", "conversation_id")


def read_openai_jsonl(source: Source) -> Iterator[Item]:
    """JSONL: each line is one message, or one conversation (`{"messages": [...]}`).

    A line may name its session (`session`, `session_id`, `conversation_id`; a conversation also `id`) and a message its
    time (`event_time`, `timestamp`, `created_at`, `create_time`; ISO-8601, in the importer's zone where it names none,
    or seconds since 1970). Lines that name no session belong to one session, named after the file and its first
    message; the line number tells equal messages apart. Both shapes of messages are read.
    """
    whole: str | None = None
    for number, record in source.records():
        named = _named(record, _NAMES)
        if isinstance(record.get("messages"), list):
            named = named or _named(record, ("id",))
            conversation = named or f"{source.path.stem}:{number}"
            yield from _conversation(source, record, "openai-jsonl", conversation, number)
        elif "role" in record:
            message = {name: value for name, value in record.items() if name not in _NAMES}
            if named is None and whole is None:
                whole = f"{source.path.stem}-{fingerprint(repr(message.get('content')))[:8]}"
            item = _message(source, message, "openai-jsonl", named or whole or "", str(number), number)
            if item is not None:
                yield item
        else:
            source.bad(number, "it has neither a `role` nor `messages`")


def read_anthropic_json(source: Source) -> Iterator[Item]:
    """One JSON document: an array of messages, an object with `messages` (and `system`), or an array of such objects.

    A `system` text becomes the first message, wherever it stands in the object; an object may carry its `id`. Messages
    are told apart by their place. Both shapes of messages are read.
    """
    top = _top(source)
    for name, value in top.items():
        if name != "system" and isinstance(value, list | dict) and value:
            source.leave_out(f"lists or objects named {name!r:.40}")
    conversation: str | None = _named(top, (*_NAMES, "id"))
    for piece in _with_system(source, top):
        record, line = piece.value, piece.line
        if not isinstance(record, dict):
            source.bad(line, f"it is a JSON {type(record).__name__}, not a message")
        elif isinstance(record.get("messages"), list):
            named = _named(record, (*_NAMES, "id")) or f"{source.path.stem}:{piece.index}"
            yield from _conversation(source, record, "anthropic-json", named, line)
        else:
            if conversation is None:
                conversation = f"{source.path.stem}-{fingerprint(repr(record.get('content')))[:8]}"
            item = _message(source, record, "anthropic-json", conversation, str(piece.index), line)
            if item is not None:
                yield item


def _top(source: Source) -> dict[str, Any]:
    """The members of the top object beside its messages; they may stand after them, so this is a reading of its own.

    What is wrong in the document is left to the second reading to tell.
    """
    found: dict[str, Any] = {}
    first = replace(source, on_error="skip", problems=[])
    with suppress(UnreadableImport):
        for piece in first.pieces(stream=frozenset({"messages"})):
            if piece.key is None:
                break
            if piece.index is None and piece.key != "messages":
                found[piece.key] = piece.value
    return found


def _with_system(source: Source, top: Mapping[str, Any]) -> Iterator[Piece]:
    if top.get("system"):
        yield Piece(index=-1, value={"role": "system", "content": top["system"]}, line=1)
    yield from source.elements("messages")


def _conversation(source: Source, record: Mapping[str, Any], kind: str, conversation: str, line: int) -> Iterator[Item]:
    places = list(enumerate(record["messages"]))
    if record.get("system"):
        places.insert(0, (-1, {"role": "system", "content": record["system"]}))
    for place, message in places:
        if not isinstance(message, dict):
            source.bad(line, f"messages[{place}] is not an object")
            continue
        item = _message(source, message, kind, conversation, str(place), line)
        if item is not None:
            yield item


def _message(
    source: Source, message: Mapping[str, Any], kind: str, conversation: str, place: str, line: int
) -> Item | None:
    body = {name: value for name, value in message.items() if name not in _TIMES and name != "metadata"}
    metadata = message.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        source.bad(line, "its metadata is not an object")
        return None
    try:
        moment = next((t for name in _TIMES if (t := any_time(message.get(name), source.zone)) is not None), None)
    except InvalidInput as error:
        source.bad(line, str(error))
        return None
    named = message.get("id")
    source_id = named if isinstance(named, str) and named else place
    body["metadata"] = {**(metadata or {}), "source": kind, "source_id": source_id}
    if moment is not None:
        body["event_time"] = moment
    return make_item(
        source,
        Line(
            message=body,
            kind=kind,
            session=session_name(conversation),
            conversation=conversation,
            source_id=place,
            line=line,
        ),
    )


def _named(record: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((v for name in names if isinstance(v := record.get(name), str) and v.strip()), None)
