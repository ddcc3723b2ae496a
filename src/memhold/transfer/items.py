"""What readers yield: messages with where they came from, grouped into batches that a store takes at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from memhold.messages.ingest import parse_messages
from memhold.text.normal_form import normal_form
from memhold.transfer.source import Source
from memhold.values.errors import InvalidInput, UnreadableImport
from memhold.values.jsonable import body_json
from memhold.values.names import MAX_NAME, usable_name
from memhold.values.records import Author, Memory, from_micros

__all__ = [
    "BATCH_MESSAGES",
    "Batch",
    "Item",
    "Restored",
    "any_time",
    "batched",
    "fingerprint",
    "make_item",
    "session_name",
]

BATCH_MESSAGES = 128
"""Most messages of one transaction of an import."""
_BATCH_BYTES = 1024 * 1024
_EPOCH_MILLIS = 10**11  # as seconds this is the year 5138, as milliseconds 1973


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One message of an import, in the form that `add` takes.

    `key` names it for ever: the same message of the same conversation has the same key in every run, however far the
    file has grown since. `source_id` is what the other system calls it; where
    the other system is Memhold (`own`), the message keeps it. `said` is who said it, as the file tells: an import
    of that format, or what Memhold recorded.
    """

    session: str
    message: Mapping[str, Any]
    source_id: str
    key: str
    size: int
    said: Author
    agent: str | None = None
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Messages of one session, in order, to be added in one transaction.

    `messages`, `keys`, `source_ids` and `said` run in parallel. `position` is how many bytes of the file were read.
    """

    session: str
    agent: str | None
    messages: tuple[Mapping[str, Any], ...]
    keys: tuple[str, ...]
    source_ids: tuple[str, ...]
    said: tuple[Author, ...]
    position: int
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """One memory of Memhold's own export with all its revisions, oldest first, the current one last."""

    revisions: tuple[Memory, ...]
    key: str
    position: int


def make_item(
    source: Source,
    message: Mapping[str, Any],
    *,
    kind: str,
    session: str,
    conversation: str,
    source_id: str,
    line: int | None,
    agent: str | None = None,
    own: bool = False,
    said: Author | None = None,
) -> Item | None:
    """The message as an item; None when it is not well formed (`source` was told), or when there is nothing in it.

    Other systems keep messages without content (an answer that was stopped, a picture that is gone): those hold nothing
    to remember, and are counted as ignored, not as damage.

    Its key is made of the format, the conversation, its id there and its content; not of its time, so that naming
    another zone does not make it another message.

    Calls of Memhold's own tools and their results are left out, but for its own export, and count as ignored.
    """
    kept = message if own else source.own_calls.left_out(message)
    if kept is None:
        source.ignored += 1
        return None
    message = kept
    try:
        (draft,) = parse_messages((message,), now=source.now, limits=source.limits)
    except InvalidInput as error:
        if error.values.get("empty"):
            source.ignored += 1
        else:
            source.bad(line, str(error).removeprefix("message 0: "))
        return None
    key = fingerprint(kind, conversation, source_id, body_json(draft.body))
    return Item(
        session=session,
        message=message,
        source_id=source_id,
        key=key,
        size=draft.size,
        said=said or Author(origin="import", name=kind),
        agent=agent,
        own=own,
    )


def fingerprint(*parts: str) -> str:
    """A digest of texts, in order: 128 bits in hexadecimal."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:32]


def batched(
    items: Iterable[Item | Restored], source: Source, *, most: int = BATCH_MESSAGES
) -> Iterator[Batch | Restored]:
    """The items in batches of at most `most` messages and about 1 MiB, each of one session and agent, order kept.

    When reading fails, what was read before is yielded first, then the error is raised.
    """
    held: list[Item] = []
    size = 0
    try:
        for item in items:
            full = len(held) >= most or size > _BATCH_BYTES
            if held and (full or not _joins(held[-1], item)):
                yield _batch(held, source)
                held, size = [], 0
            if isinstance(item, Restored):
                yield item
            else:
                held.append(item)
                size += item.size
    except UnreadableImport:
        if held:
            yield _batch(held, source)
        raise
    if held:
        yield _batch(held, source)


def _joins(last: Item, item: Item | Restored) -> bool:
    return isinstance(item, Item) and (last.session, last.agent) == (item.session, item.agent)


def _batch(held: list[Item], source: Source) -> Batch:
    return Batch(
        session=held[0].session,
        agent=held[0].agent,
        messages=tuple(item.message for item in held),
        keys=tuple(item.key for item in held),
        source_ids=tuple(item.source_id for item in held),
        said=tuple(item.said for item in held),
        position=source.position,
        own=held[0].own,
    )


def session_name(*parts: str) -> str:
    """A session name of these parts: without what a name must not hold, and no longer than a name may be."""
    name = usable_name(normal_form("NFC", ":".join(parts)))
    if len(name) > MAX_NAME:
        mark = fingerprint(name)
        return usable_name(f"{name[: MAX_NAME - len(mark) - 1]}-{mark}")
    return name


def any_time(value: Any, zone: tzinfo) -> datetime | None:
    """A time as other systems write it: seconds or milliseconds since 1970, or ISO-8601; `zone` where it names none.

    None and zero mean "not known".

    Raises:
        InvalidInput: it is none of these.
    """
    if value is None or (isinstance(value, str | int | float) and not value):
        return None
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) >= _EPOCH_MILLIS else value
            return from_micros(round(seconds * 1_000_000))
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise InvalidInput(f"{value!r:.60} is not a time")
