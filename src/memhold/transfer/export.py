"""Memhold's own export: JSONL that holds everything of a scope, and can be told from a damaged one.

The first line is a header (`{"type": "header", "format": "memhold-export", "version": 1, …}`), then come sessions,
messages, memories (each with all its revisions) and changes, one a line, and a footer with the counts and the SHA-256
of every byte before it. An export that was cut short has no footer; one that was altered does not agree with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from memhold.transfer.items import Item, Restored, fingerprint, make_item
from memhold.transfer.source import Source
from memhold.values.errors import InvalidInput, UnreadableImport
from memhold.values.jsonable import body_json, from_jsonable, iso, parse_time, to_jsonable
from memhold.values.records import Author, Change, Memory, Message, Scope, Session

__all__ = ["FORMAT", "VERSION", "Header", "Revisions", "read_export", "read_own", "verify_export", "write_export"]

FORMAT = "memhold-export"
VERSION = 2
"""Raised when an older Memhold could not read what a newer one writes."""
ORIGINS_SINCE = 2
"""The version from which on a message says who said it."""

RecordType = Literal["session", "message", "memory", "change"]
_CLASSES: Mapping[str, type[Session | Message | Change]] = {"session": Session, "message": Message, "change": Change}
_LONGEST = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line of an export: whose it is, when it was made, by which version."""

    version: int
    namespace: str
    user: str | None
    exported_at: datetime
    memhold: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Revisions:
    """One memory with all its revisions, oldest first, the current one last."""

    revisions: tuple[Memory, ...]


def write_export(
    out: BinaryIO,
    *,
    scope: Scope,
    exported_at: datetime,
    memhold: str,
    sessions: Iterable[Session] = (),
    messages: Iterable[Message] = (),
    memories: Iterable[Iterable[Memory]] = (),
    changes: Iterable[Change] = (),
) -> dict[str, int]:
    """Write an export and return how many lines of each type it has.

    The iterables are read once, in this order, a value at a time; `memories` gives the revisions of each memory. The
    same values give the same bytes.
    """
    digest = hashlib.sha256()
    counts: dict[str, int] = {"session": 0, "message": 0, "memory": 0, "change": 0}

    def line(record: Mapping[str, Any]) -> None:
        data = body_json(record).encode() + b"\n"
        digest.update(data)
        out.write(data)

    head = {"version": VERSION, "namespace": scope.namespace, "user": scope.user}
    line({"type": "header", "format": FORMAT, **head, "exported_at": iso(exported_at), "memhold": memhold})
    values: Iterator[tuple[RecordType, Any]] = chain(
        (("session", session) for session in sessions),
        (("message", message) for message in messages),
        (("memory", tuple(revisions)) for revisions in memories),
        (("change", change) for change in changes),
    )
    for kind, value in values:
        line({"type": kind, "value": to_jsonable(value)})
        counts[kind] += 1
    line({"type": "footer", "counts": counts, "sha256": digest.hexdigest()})
    return counts


def verify_export(path: Path) -> Header:
    """Read a whole export and compare it with its footer.

    Raises:
        UnreadableImport: it is no export, is from a newer Memhold, was cut short, or does not agree with its footer.
    """
    (header,) = (record for record in read_export(path) if isinstance(record, Header))
    return header


def read_export(path: Path) -> Iterator[Header | Session | Message | Revisions | Change]:
    """The values of an export in the order of the file, the header first, in memory for one line at a time.

    The footer is compared after the last value: who must not act on a damaged export calls `verify_export` before.

    Raises:
        UnreadableImport: a line is damaged, or the whole is (see `verify_export`); `line` says where.
    """
    for _, value in _values(path):
        yield value


def _values(path: Path) -> Iterator[tuple[int, Header | Session | Message | Revisions | Change]]:
    """The values with the bytes read so far."""
    position = 0
    digest = hashlib.sha256()
    counts = dict.fromkeys(("session", "message", "memory", "change"), 0)
    ended = False
    number, data_ends = 0, True
    with path.open("rb") as file:
        while data := file.readline(_LONGEST):
            number += 1
            position += len(data)
            data_ends = data.endswith(b"\n")
            if ended:
                raise _damaged(path, number, "something stands after the footer")
            record = _record(path, number, data)
            kind = record.get("type")
            if number == 1:
                yield position, _header(path, record)
            elif kind == "footer":
                _compare(path, number, record, counts, digest.hexdigest())
                ended = True
            else:
                value = _value(path, number, record)
                counts[str(kind)] += 1
                yield position, value
            digest.update(data)
    if not ended:
        # The line that was cut may be whole but for its end.
        raise _damaged(path, number + data_ends, "the export has no footer: it was cut short, make it again")


def read_own(source: Source) -> Iterator[Item | Restored]:
    """What an import takes from an export: its messages, then its memories with their revisions.

    The export is verified first, so a damaged one imports nothing. Changes are history of the store that they were made
    in: they can be read (`read_export`), and are not imported; the import is a change of its own.
    """
    verify_export(source.path)
    names: dict[str, str] = {}
    header: Header | None = None
    for number, (position, value) in enumerate(_values(source.path), start=1):
        source.position = position
        match value:
            case Header():
                header = value
            case Session():
                names[value.id] = value.name
            case Message():
                item = _message(source, value, names, number, header)
                if item is not None:
                    yield item
            case Revisions():
                ident = value.revisions[-1].id
                yield Restored(revisions=value.revisions, key=fingerprint("memhold", ident), position=source.position)
            case Change():
                source.ignored += 1


def _message(
    source: Source, message: Message, names: Mapping[str, str], line: int, header: Header | None
) -> Item | None:
    told = header is not None and header.version >= ORIGINS_SINCE
    raw = {**message.body, "event_time": message.event_time, "metadata": dict(message.metadata), "embed": message.embed}
    return make_item(
        source,
        raw,
        kind="memhold",
        session=names.get(message.session, message.session),
        conversation="",
        source_id=message.id,
        line=line,
        agent=message.agent,
        own=True,
        said=Author(origin=message.origin, name=message.actor) if told else None,
    )


def _record(path: Path, number: int, data: bytes) -> dict[str, Any]:
    try:
        record = json.loads(data)
    except (ValueError, RecursionError) as error:
        cut = "" if data.endswith(b"\n") else ": the file was cut short, make the export again"
        raise _damaged(path, number, f"it is not JSON ({error}){cut}") from None
    if not isinstance(record, dict):
        raise _damaged(path, number, "it is not an object")
    return record


def _header(path: Path, record: Mapping[str, Any]) -> Header:
    if record.get("type") != "header" or record.get("format") != FORMAT:
        raise _damaged(path, 1, "it is not the header of a Memhold export")
    version = record.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise _damaged(path, 1, f"the export has version {version}, this Memhold reads up to {VERSION}: upgrade it")
    try:
        return Header(
            version=version,
            namespace=str(record["namespace"]),
            user=cast("str | None", record["user"]),
            exported_at=parse_time(record["exported_at"]),
            memhold=str(record["memhold"]),
        )
    except (KeyError, InvalidInput) as error:
        raise _damaged(path, 1, f"the header is damaged: {error}") from None


def _value(path: Path, number: int, record: Mapping[str, Any]) -> Session | Message | Revisions | Change:
    kind, value = record.get("type"), record.get("value")
    try:
        match kind:
            case "memory" if isinstance(value, list) and value:
                return Revisions(revisions=tuple(from_jsonable(Memory, revision) for revision in value))
            case "session" | "message" | "change":
                return from_jsonable(_CLASSES[kind], value)
            case _:
                why = f"a line of type {kind!r:.40} that cannot be read"
    except InvalidInput as error:
        why = str(error)
    raise _damaged(path, number, why)


def _compare(path: Path, number: int, record: Mapping[str, Any], counts: Mapping[str, int], digest: str) -> None:
    if record.get("counts") != counts:
        raise _damaged(path, number, f"the footer counts {record.get('counts')}, the file holds {dict(counts)}")
    if record.get("sha256") != digest:
        raise _damaged(path, number, "the checksum does not agree: the file was altered or damaged")


def _damaged(path: Path, line: int, why: str) -> UnreadableImport:
    return UnreadableImport(f"{path}, line {line}: {why}", path=str(path), line=line)
