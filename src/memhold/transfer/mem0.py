"""mem0's memories: what `get_all` gives, and the stores that its open-source package keeps on the disk.

On the disk they are points of Qdrant's local store (a pickle each, of which only plain values are read), metadata of a
Chroma database, or the document store of a FAISS index (JSON). `history.db` tells what each memory said before, and not
whose it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import groupby
from operator import itemgetter
from typing import Any

from memhold.transfer.chroma import chroma_entries
from memhold.transfer.items import Note, Restored, any_time, make_note
from memhold.transfer.memories import Entry, Shape, first_time, listed, notes_of_one_user
from memhold.transfer.plain_pickles import NotPlain, plain_value
from memhold.transfer.source import Source
from memhold.transfer.sqlite_files import is_sqlite, readable, rows, sqlite_file, tables_of

__all__ = ["ENTITIES", "is_payload", "read_mem0", "read_mem0_history"]

KIND = "mem0"
ENTITIES = "linked_memory_ids"
"""What a payload has that is no memory: a name by which mem0 links its memories."""
_PROMOTED = ("user_id", "agent_id", "run_id", "actor_id", "role", "attributed_to", "expiration_date")
_CORE = frozenset({"data", "hash", "created_at", "updated_at", "id", "text_lemmatized", *_PROMOTED})
_LAST_DAY = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)
"""Later than this is never."""
_DROPPED = frozenset({"hash", "score"})
_DELETED = "memories that were deleted there"


def read_mem0(source: Source) -> Iterator[Restored]:
    """A note for each memory, from when its text was last changed there; categories are topics.

    All must be one user's. The same memory is the same note, whether it comes from `get_all` or from the disk.
    """
    return notes_of_one_user(source, _SHAPE, _entries)


def read_mem0_history(source: Source) -> Iterator[Restored]:
    """`history.db`: a note for each memory that was not deleted, and one for each thing that it said before.

    What it said before is over since it was changed, and found as of then.
    """
    with sqlite_file(source) as base:
        tables = tables_of(source, base)
        if not tables:
            return
        if "history" not in tables:
            raise source.unreadable(None, "it has no table named 'history'")
        asked = "SELECT rowid AS number, * FROM history ORDER BY memory_id, rowid"
        for ident, told in groupby(readable(source, base, "history", asked), key=itemgetter("memory_id")):
            with source.naming(None, f"memory {ident!r:.60}: "):
                yield from _with_former(source, str(ident), list(told))


def _with_former(source: Source, ident: str, told: list[dict[str, Any]]) -> Iterator[Restored]:
    last = told[-1]
    if last.get("event") == "DELETE" or last.get("new_memory") is None:
        source.leave_out(_DELETED)
        return
    moments = [any_time(row.get("updated_at") or row.get("created_at"), source.zone) for row in told]
    for row, since, until in zip(told, moments, [*moments[1:], None], strict=True):
        current = row is last
        if row.get("new_memory") is None:
            continue  # a deletion that was taken back
        if not current and until is None:
            source.leave_out("former texts of which it is not known until when they held")
            continue
        note = make_note(
            source,
            Note(
                text=row["new_memory"],
                kind=KIND,
                entry=ident if current else f"{ident} {row['number']}",
                line=None,
                since=since,
                until=until,
                version=row.get("updated_at") if current else None,
                metadata={name: row.get(name) for name in ("actor_id", "role", "created_at")},
            ),
        )
        if note is not None:
            yield note


def is_payload(payload: Mapping[str, Any]) -> bool:
    """Whether this is what mem0 keeps beside a vector: a memory, or a name that memories are linked by."""
    return isinstance(payload.get("data"), str) and ("hash" in payload or ENTITIES in payload)


def _entries(source: Source) -> Iterator[Entry]:
    if not is_sqlite(source):
        yield from _of_document(source)
        return
    with sqlite_file(source) as base:
        tables = tables_of(source, base)
        if "points" in tables:
            points = rows(source, base, "SELECT rowid AS id, point FROM points", of="points")
            found = _of_points(source, points)
        elif "embedding_metadata" in tables:
            found = ((one.ident, one.metadata) for one in chroma_entries(source, base))
        else:
            raise source.unreadable(None, "it is no vector store that mem0 writes: neither Qdrant's nor Chroma's")
        for ident, payload in found:
            yield from _of_payload(source, ident, payload)


def _of_document(source: Source) -> Iterator[Entry]:
    if source.opening() == "{":
        for piece in source.pieces():
            if piece.key == "docstore" and isinstance(piece.value, dict):
                for ident, payload in piece.value.items():
                    if isinstance(payload, dict):
                        yield from _of_payload(source, ident, payload)
                    else:
                        source.bad(piece.line, f"the entry {ident!r:.60} is no object")
                return
            if piece.key != "index_to_id":
                break
    yield from listed(source, ("results", "memories"))


def _of_payload(source: Source, ident: str, payload: Mapping[str, Any]) -> Iterator[Entry]:
    if ENTITIES in payload:
        source.leave_out("names of things by which mem0 links its memories")
    elif not is_payload(payload):
        source.leave_out("entries that are no memories of mem0's")
    else:
        own = {name: value for name, value in payload.items() if name not in _CORE}
        yield (
            None,
            {
                "id": ident,
                "memory": payload["data"],
                "metadata": own,
                "created_at": payload.get("created_at"),
                "updated_at": payload.get("updated_at"),
                **{name: payload[name] for name in _PROMOTED if name in payload},
            },
        )


def _of_points(source: Source, points: Iterator[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in points:
        try:
            point = plain_value(row["point"])
        except NotPlain as error:
            source.bad(None, f"point {row['id']} cannot be read: {error}")
            continue
        ident, payload = (point.get("id"), point.get("payload")) if isinstance(point, dict) else (None, None)
        if isinstance(ident, str | int) and isinstance(payload, dict):
            yield str(ident), payload
        else:
            source.bad(None, f"point {row['id']} is none that Qdrant writes")


def _until(entry: Mapping[str, Any], zone: tzinfo) -> datetime | None:
    """When a memory is over: a day that is named without an hour, when the next one begins."""
    named = entry.get("expiration_date")
    expires = any_time(named, zone)
    if expires is not None and isinstance(named, str) and len(named.strip()) == len("2026-01-01"):
        return min(expires, _LAST_DAY) + timedelta(days=1)
    return expires


def _metadata(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """The caller's own metadata beside mem0's members, under its name where it has one that is called as one of those.

    When an entry was made is told where it was changed since.
    """
    own = entry.get("metadata")
    told = {name: value for name, value in entry.items() if name not in {"metadata", "created_at", "updated_at"}}
    apart = not isinstance(own, dict) or not own.keys().isdisjoint({*entry, *_DROPPED, "id", "memory", "categories"})
    changed = entry.get("updated_at") and entry.get("created_at") != entry.get("updated_at")
    made = {"created_at": entry.get("created_at")} if changed else {}
    return {**({"metadata": own} if apart or not isinstance(own, dict) else own), **told, **made}


_SHAPE = Shape(
    kind=KIND,
    ident="id",
    text="memory",
    since=first_time("updated_at", "created_at"),
    until=_until,
    metadata=_metadata,
    topics="categories",
    dropped=_DROPPED,
    version="updated_at",
    ask="import a file with get_all(filters={'user_id': ...})",
)
