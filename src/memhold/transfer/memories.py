"""Memories of other systems that come as JSON: the MCP reference server, Graphiti and Zep, Redis' memory server.

Each becomes a note with origin `import`. What the other system tells of it and a note has no place for stays in its
metadata; vectors, hashes and scores are of no use elsewhere and do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from memhold.transfer.items import Conversation, Item, Note, Restored, any_time, fingerprint, make_note, says_name
from memhold.transfer.source import Piece, Source
from memhold.values.errors import InvalidInput

__all__ = [
    "Entry",
    "Shape",
    "first_time",
    "is_working_memory",
    "listed",
    "notes_of_one_user",
    "read_agent_memory",
    "read_graphiti",
    "read_mcp_memory",
]

Entry = tuple[int | None, Mapping[str, Any]]
"""A memory as another system wrote it, and the line where it begins."""
_OF_SESSIONS = frozenset({"messages"})
_ENTITY = frozenset({"type", "name", "entityType", "observations"})
_RELATION = frozenset({"type", "from", "to", "relationType"})


def first_time(*names: str) -> Callable[[Mapping[str, Any], tzinfo], datetime | None]:
    """The first of these times that an entry has; all must be times."""

    def read(entry: Mapping[str, Any], zone: tzinfo) -> datetime | None:
        times = [any_time(entry.get(name), zone) for name in names]
        return next((one for one in times if one is not None), None)

    return read


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How a system writes a memory: which members of an entry say what of it.

    Members in `dropped` are of no use elsewhere; what is named nowhere here is kept as metadata. `user` is the member
    that says whose it is, `ask` how to get one user's memories from that system. An entry that says other things than
    before, or whose `version` is another, is read again.
    """

    kind: str
    ident: str
    text: str
    since: Callable[[Mapping[str, Any], tzinfo], datetime | None]
    dropped: frozenset[str]
    ask: str
    until: Callable[[Mapping[str, Any], tzinfo], datetime | None] = lambda _entry, _zone: None
    metadata: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda entry: entry
    topics: str = ""
    entities: str = ""
    version: str = ""
    pinned: str = ""
    user: str = "user_id"


def notes_of_one_user(source: Source, shape: Shape, entries: Callable[[Source], Iterable[Entry]]) -> Iterator[Restored]:
    """The entries as notes, once it is known that all are one user's; `entries` reads them, twice.

    Raises:
        UnreadableImport: they are of several users; nothing was yielded.
    """
    whose: str | None = None
    for _, entry in entries(replace(source, on_error="skip", problems=[], left_out=Counter())):
        if (one := _text_of(entry.get(shape.user))) is not None:
            whose = whose or one
            if one != whose:
                said = f"it holds memories of several users ({whose:.60}, {one:.60}); {shape.ask} for each"
                raise source.unreadable(None, said)
    for line, entry in entries(source):
        with source.naming(line):
            note = _note(source, shape, line, entry)
            if note is not None:
                yield note


def _note(source: Source, shape: Shape, line: int | None, entry: Mapping[str, Any]) -> Restored | None:
    text = entry.get(shape.text)
    used = {shape.ident, shape.text, shape.topics, shape.entities, shape.pinned} | shape.dropped
    return make_note(
        source,
        Note(
            text=text,
            kind=shape.kind,
            entry=_text_of(entry.get(shape.ident)) or f"text {fingerprint(str(text))}",
            line=line,
            since=shape.since(entry, source.zone),
            until=shape.until(entry, source.zone),
            topics=_list(entry.get(shape.topics)),
            entities=_list(entry.get(shape.entities)),
            metadata={name: value for name, value in shape.metadata(entry).items() if name not in used},
            version=entry.get(shape.version),
            pinned=entry.get(shape.pinned) is True,
        ),
    )


_EDGE = Shape(
    kind="graphiti",
    ident="uuid",
    text="fact",
    since=first_time("valid_at", "created_at"),
    until=first_time("invalid_at", "expired_at"),
    metadata=lambda entry: entry if entry.get("invalid_at") else {**entry, "expired_at": None},
    dropped=frozenset({"fact_embedding", "score", "valid_at", "invalid_at"}),
    user="group_id",
    ask="import a file with the edges of one group_id",
)
_REDIS = Shape(
    kind="agent-memory-server",
    ident="id",
    text="text",
    since=first_time("event_date", "created_at"),
    topics="topics",
    entities="entities",
    dropped=frozenset({"dist", "vector", "memory_hash", "event_date"}),
    version="updated_at",
    pinned="pinned",
    ask="import a file with one user_id",
)


def read_graphiti(source: Source) -> Iterator[Restored]:
    """Edges of Graphiti or Zep, as their models are dumped: a list, or one under `edges` or `facts`.

    A note holds from `valid_at` until `invalid_at` (where there is none, until the system replaced it: `expired_at`).
    """
    return notes_of_one_user(source, _EDGE, lambda one: listed(one, ("edges", "facts")))


def is_working_memory(message: Any) -> bool:
    """Whether a message is one of a session's working memory, as agent-memory-server's API answers it."""
    return isinstance(message, dict) and {"role", "content", "discrete_memory_extracted"} <= message.keys()


def read_agent_memory(source: Source) -> Iterator[Item | Restored]:
    """Redis' agent-memory-server, as its API answers: long-term memories, a list under `memories`, are notes.

    Of a session's working memory the messages come too, and as a note what stands for those that it has dropped.
    """
    yield from notes_of_one_user(source, _REDIS, lambda one: listed(one, ("memories",), elsewhere=_OF_SESSIONS))
    top = {piece.key: piece.value for piece in _members(source) if piece.index is None}
    session = _text_of(top.get("session_id")) or source.path.stem
    whole = Conversation(source=source, kind=_REDIS.kind, ident=session, line=None)
    for piece in _members(source):
        if piece.index is None:
            continue
        with source.naming(piece.line):
            if not isinstance(piece.value, dict):
                raise InvalidInput("it is no message")
            body = {name: piece.value.get(name) for name in ("role", "content")}
            named = _text_of(piece.value.get("id")) or str(piece.index)
            item = whole.item(named, body, at=any_time(piece.value.get("created_at"), source.zone))
            if item is not None:
                yield item
    if top.get("context"):
        since = any_time(top.get("updated_at"), source.zone)
        about = {"session_id": session, "context": True}
        note = make_note(
            source,
            Note(
                text=top["context"],
                kind=_REDIS.kind,
                entry=f"context {session}",
                line=None,
                since=since,
                metadata=about,
            ),
        )
        if note is not None:
            yield note


def _members(source: Source) -> Iterator[Piece]:
    """The members of a session's working memory, its messages one by one; nothing of a list."""
    return (piece for piece in source.pieces(stream=frozenset({"messages"})) if piece.key is not None)


def read_mcp_memory(source: Source) -> Iterator[Restored]:
    """`memory.jsonl` of the MCP reference server: each observation of an entity, and each relation, is a note.

    An entity of which nothing was observed is a note that says what it is. The file names no times.
    """
    for number, record in source.records():
        kind = record.get("type")
        if kind == "relation":
            ends = tuple(record.get(name) for name in ("from", "relationType", "to"))
            if not all(isinstance(one, str) and one.strip() for one in ends):
                source.bad(number, "the relation lacks `from`, `relationType` or `to`")
                continue
            told = f"{ends[0]} {str(ends[1]).replace('_', ' ')} {ends[2]}"
            rows: list[tuple[Any, str, tuple[Any, ...], dict[str, Any]]] = [
                (
                    told,
                    f"relation {'|'.join(map(str, ends))}",
                    (ends[0], ends[2]),
                    {"relation": ends[1], **_rest(record, _RELATION)},
                )
            ]
        elif kind == "entity" and isinstance(name := record.get("name"), str) and name.strip():
            of = record.get("entityType")
            about = {"entity": name, "entity_type": of, **_rest(record, _ENTITY)}
            seen = _list(record.get("observations"))
            rows = [(_of(name, one), f"entity {name}|{one}", (name,), about) for one in seen]
            rows = rows or [(f"{name}: {of}" if of else name, f"entity {name}", (name,), about)]
        else:
            source.bad(number, "it is neither an entity with a name nor a relation")
            continue
        for text, entry, entities, metadata in rows:
            note = make_note(
                source,
                Note(text=text, kind="mcp-memory", entry=entry, line=number, entities=entities, metadata=metadata),
            )
            if note is not None:
                yield note


def _of(name: str, observation: Any) -> Any:
    """An observation as it is understood without its entity beside it."""
    if not isinstance(observation, str) or not observation.strip() or says_name(observation, name):
        return observation
    return f"{name}: {observation}"


def listed(source: Source, members: Collection[str], *, elsewhere: Collection[str] = frozenset()) -> Iterator[Entry]:
    """The objects of a document that is a list, or has one under one of these members.

    What else it has is named, but for lists that are read `elsewhere`.
    """
    found = False
    for piece in source.pieces(stream=frozenset(members)):
        if piece.key is not None and piece.index is None:
            found = found or (piece.key in members and piece.value is None)
            if isinstance(piece.value, list | dict) and piece.value and piece.key not in elsewhere:
                source.leave_out(f"lists or objects named {piece.key!r:.40}")
            continue
        found = True
        if isinstance(piece.value, dict):
            yield piece.line, piece.value
        else:
            source.bad(piece.line, f"it is a JSON {type(piece.value).__name__}, not an object")
    if not found and source.opening() == "{":
        source.bad(1, f"there is no list named {' or '.join(map(repr, members))} in it")


def _rest(entry: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in known}


def _text_of(given: Any) -> str | None:
    """An id as text: systems that we do not see the code of may number them."""
    known = isinstance(given, str | int) and not isinstance(given, bool) and given != ""
    return str(given) if known else None


def _list(value: Any) -> list[Any]:
    """A list, where one value may stand for a list of it."""
    return value if isinstance(value, list) else [] if value in (None, "", {}) else [value]
