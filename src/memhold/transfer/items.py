"""What readers yield: messages with where they came from, grouped into batches that a store takes at once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import islice
from typing import Any, TypeAlias

from memhold.documents.content import Content
from memhold.messages.ingest import parse_messages
from memhold.text.analysis import unspaced
from memhold.text.normal_form import normal_form
from memhold.transfer.source import Source
from memhold.values.errors import InvalidInput, UnreadableImport
from memhold.values.jsonable import body_json, json_copy
from memhold.values.names import MAX_NAME, usable_name
from memhold.values.records import MAX_TEXT, Author, Memory, from_micros

__all__ = [
    "BATCH_MESSAGES",
    "Batch",
    "Beside",
    "Conversation",
    "Item",
    "Part",
    "Placed",
    "Restored",
    "any_time",
    "batched",
    "fingerprint",
    "kept_whole",
    "make_item",
    "make_note",
    "says_name",
    "session_name",
]

BATCH_MESSAGES = 128
"""Most messages of one transaction of an import."""
_BATCH_BYTES = 1024 * 1024
_MOST_LABELS = 50
MAX_KEPT = 64 * 1024
"""How much a note keeps as its metadata, in characters and members; what is larger is left out, the largest first."""
_OF_A_MEMBER = 8
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
    below: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Messages of one session, in order, to be added in one transaction.

    `below` is the namespace below the one that is imported into, where they are of such a one.

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
    below: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """One memory with all its revisions, oldest first, the current one last.

    `entry` names it in another system, whatever it says there now: where it says something else than when it was
    imported before, what was imported then is over.
    """

    revisions: tuple[Memory, ...]
    key: str
    position: int
    entry: str | None = None
    below: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A document of another system, which `said` names, ready to be put at its path.

    `entry` names it there, whatever it says now: where it says something else than when it was imported before, that
    is put in the place of what was imported then.
    """

    content: Content
    key: str
    entry: str
    said: str
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What an export says an application kept beside a session; `source_id` is the session's id there."""

    session: str
    metadata: Mapping[str, Any]
    source_id: str
    position: int
    below: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation of another system, by what it is called there (`ident`); `line` is where it stands in the file.

    `session` is the name of its session here, where that is not made of the format and `ident`.
    """

    source: Source
    kind: str
    ident: str
    line: int | None
    session: str | None = None

    def item(
        self, source_id: str, body: Mapping[str, Any], *, at: datetime | None = None, **metadata: Any
    ) -> Item | None:
        """A message of it as an item, said `at` that time; what else is named becomes metadata, where it has a value.

        Nothing where it is not well formed or empty (`source` was told); see `make_item`.
        """
        known = {name: value for name, value in metadata.items() if value not in (None, "", [], {})}
        own = {"source": self.kind, "source_id": source_id, **known}
        return make_item(
            self.source,
            Line(
                message={**body, "metadata": own, **({} if at is None else {"event_time": at})},
                kind=self.kind,
                session=self.session or session_name(self.kind, self.ident),
                conversation=self.ident,
                source_id=source_id,
                line=self.line,
            ),
        )


Part: TypeAlias = Batch | Restored | Placed | Beside
"""What a store takes at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A message as a file has it: its format, its names in the file, and who said it, where the file tells."""

    message: Mapping[str, Any]
    kind: str
    session: str
    conversation: str
    source_id: str
    line: int | None
    agent: str | None = None
    own: bool = False
    below: str | None = None
    said: Author | None = None


def make_item(source: Source, of: Line) -> Item | None:
    """The message as an item; None when it is not well formed (`source` was told), or when there is nothing in it.

    Other systems keep messages without content (an answer that was stopped, a picture that is gone): those hold nothing
    to remember, and are counted as left out, not as damage.

    Its key is made of the format, the conversation, its id there and its content; not of its time, so that naming
    another zone does not make it another message.

    Calls of Memhold's own tools and their results are left out, but for its own export, and count as left out.
    """
    message = of.message if of.own else source.own_calls.left_out(of.message)
    if message is None:
        source.leave_out("calls of Memhold's own tools, and their results")
        return None
    try:
        (draft,) = parse_messages((message,), now=source.now, limits=source.limits)
    except InvalidInput as error:
        if error.values.get("empty"):
            source.leave_out("messages without content")
        else:
            source.bad(of.line, str(error).removeprefix("message 0: "))
        return None
    if draft.role == "assistant" and not draft.text and not of.own:
        source.leave_out("messages without content")
        return None
    key = fingerprint(of.kind, of.conversation, of.source_id, body_json(draft.body))
    return Item(
        session=of.session,
        message=message,
        source_id=of.source_id,
        key=key,
        size=draft.size,
        said=of.said or Author(origin="import", name=of.kind),
        agent=of.agent,
        own=of.own,
        below=of.below,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A memory of another system as a file has it: its format, its `entry` there, and what the file tells of it."""

    text: Any
    kind: str
    entry: str
    line: int | None
    since: datetime | None = None
    until: datetime | None = None
    topics: Sequence[Any] = ()
    entities: Sequence[Any] = ()
    metadata: Mapping[str, Any] | None = None
    version: Any = None
    pinned: bool = False


def make_note(source: Source, of: Note) -> Restored | None:
    """A memory of another system as a note with origin `import`; None when it is not well formed (`source` was told).

    It holds from `since` (now, where the file does not tell) until `until`. Its key is made of the format, its `entry`
    (what names it there), what it says, until when, and its `version` (when it was changed there, as it is written): an
    entry that has changed is read again, also where it says again what it said before. What else the file tells of it
    is kept as metadata; members without a value are not. So is what a note has no room for: a time that is still to
    come (`since`), labels that are no text or too many, and members that are called as one that stands here.
    """
    text, kind, entry, line, since, until = of.text, of.kind, of.entry, of.line, of.since, of.until
    if text is None or (isinstance(text, str) and not text.strip()):
        source.leave_out("memories that say nothing")
        return None
    if (why := _no_text(text)) is not None:
        source.bad(line, why)
        return None
    held = {name: value for name, value in (of.metadata or {}).items() if value not in (None, "", [], {})}
    kept = {"topics": _labels(of.topics), "entities": _labels(of.entities)}
    for name, given in (("topics", of.topics), ("entities", of.entities)):
        if any(one not in kept[name] for one in given):
            held.setdefault(name, list(given))
    if since is not None and since > source.now:
        held.setdefault("since", since.isoformat())
    own = {"source": kind, "source_id": entry}
    named = {f"{kind} {name}" if name in own else name: held[name] for name in held}
    try:
        told = json_copy({**kept_whole(source, named), **own})
    except InvalidInput as error:
        source.bad(line, str(error))
        return None
    over = until is not None and until <= source.now
    begun = min(since or source.now, until if until is not None and over else source.now)
    key = fingerprint(
        kind, entry, text, until.isoformat() if until else "", "" if of.version is None else str(of.version)
    )
    note = Memory(
        id="",  # made by the store that takes it
        number=-1,
        kind="note",
        text=text,
        state="expired" if over else "active",
        topics=kept["topics"],
        entities=kept["entities"],
        metadata=told,
        pinned=of.pinned,
        tier="long" if of.pinned else "mid",
        origin="import",
        actor=kind,
        trust="assistant",
        event_time=begun,
        valid_from=begun,
        valid_to=until if over else None,
        expires_at=None if over else until,
        created_at=source.now,
        recorded_at=source.now,
    )
    return Restored(revisions=(note,), key=key, entry=fingerprint(kind, "entry", entry), position=source.position)


def kept_whole(source: Source, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The members that are kept: all, where they fit together; else without the largest, which are counted."""
    sizes = {name: _OF_A_MEMBER + len(name) + _size(metadata[name]) for name in metadata}
    held, total = dict(metadata), sum(sizes.values())
    for name in sorted(sizes, key=lambda one: sizes[one], reverse=True):
        if total <= MAX_KEPT:
            break
        total -= sizes[name]
        del held[name]
        source.leave_out(f"members beside a memory that are too large to keep with it (over {MAX_KEPT // 1024} KiB)")
    return held


def _size(value: Any) -> int:
    """The size of a value as metadata, counted no further than needed: what one shares with itself counts each time."""
    total, left = 0, [value]
    while left and total <= MAX_KEPT:
        one = left.pop()
        total += _OF_A_MEMBER
        if isinstance(one, str | bytes):
            total += len(one)
        elif isinstance(one, Mapping):
            left += one.keys()
            left += one.values()
        elif isinstance(one, list | tuple):
            left += one
    return total


def _no_text(text: Any) -> str | None:
    """Why this is no text of a memory; None where it is one."""
    if not isinstance(text, str):
        return f"its text is a JSON {type(text).__name__}"
    if len(text) > MAX_TEXT:
        return f"its text has {len(text):,} characters; at most {MAX_TEXT:,} fit one memory"
    if any(char == "\0" or 0xD800 <= ord(char) <= 0xDFFF for char in text):
        return "its text holds NUL or half a surrogate pair"
    return None


def _labels(given: Sequence[Any]) -> tuple[str, ...]:
    named = (one.strip() for one in given if isinstance(one, str) and _no_text(one) is None)
    return tuple(islice(dict.fromkeys(one for one in named if one), _MOST_LABELS))


def fingerprint(*parts: str) -> str:
    """A digest of texts, in order: 128 bits in hexadecimal."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:32]


def batched(
    items: Iterable[Item | Restored | Placed | Beside], source: Source, *, most: int = BATCH_MESSAGES
) -> Iterator[Part]:
    """The items in batches of at most `most` messages and about 1 MiB, each of one place, order kept.

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
            if not isinstance(item, Item):
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


def _joins(last: Item, item: Item | Restored | Placed | Beside) -> bool:
    return isinstance(item, Item) and _place(last) == _place(item)


def _place(item: Item) -> tuple[str | None, str, str | None]:
    return (item.below, item.session, item.agent)


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
        below=held[0].below,
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


def says_name(text: str, name: str) -> bool:
    """Whether a name stands in a text as words of its own: "Al" does not in "Allergic".

    Scripts without spaces join it to what follows.
    """
    said, word = text.casefold(), name.strip().casefold()
    if unspaced(word):
        return word in said
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said) is not None
