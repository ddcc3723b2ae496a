"""Memhold's own export: JSONL that holds everything of a scope, and can be told from a damaged one.

The first line is a header (`{"type": "header", "format": "memhold-export", "version": 3, …}`), then come sessions,
messages, memories (each with all its revisions) and changes, one a line; the same of each namespace below behind a line
that names it (`{"type": "below", "value": "shop"}`); and a footer with the counts and the SHA-256 of every byte before
it. An export that was cut short has no footer; one that was altered does not agree with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, TypeAlias, cast

from memhold.messages.former import claim_of
from memhold.transfer.items import Beside, Item, Line, Restored, fingerprint, make_item
from memhold.transfer.source import Source
from memhold.values.errors import InvalidInput, InvalidScope, UnreadableImport
from memhold.values.jsonable import body_json, from_jsonable, iso, parse_time, to_jsonable
from memhold.values.names import checked_name
from memhold.values.records import COPY_OF, Author, Change, Memory, Message, Scope, Session

__all__ = [
    "FORMAT",
    "VERSION",
    "Below",
    "ExportFile",
    "Header",
    "Revisions",
    "read_export",
    "read_own",
    "verify_export",
]

FORMAT = "memhold-export"
VERSION = 3
"""Raised when an older Memhold could not read what a newer one writes."""
ORIGINS_SINCE = 2
"""The version from which on a message says who said it."""

RecordType = Literal["session", "message", "memory", "change"]
_CLASSES: Mapping[str, type[Session | Message | Change]] = {"session": Session, "message": Message, "change": Change}
_COUNTED: Final = ("session", "message", "memory", "change")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """That what follows is of a namespace below the one that was exported: `shop` for `acme//shop` below `acme`."""

    namespace: str


Value: TypeAlias = Header | Below | Session | Message | Revisions | Change


class ExportFile:
    """An export that is being written, line by line. The same values give the same bytes.

    `counts` says how many lines of each type it has so far.
    """

    def __init__(self, out: BinaryIO, *, scope: Scope, exported_at: datetime, memhold: str) -> None:
        self._out = out
        self._digest = hashlib.sha256()
        self.counts: dict[str, int] = dict.fromkeys(_COUNTED, 0)
        head = {"version": VERSION, "namespace": scope.namespace, "user": scope.user}
        self._line({"type": "header", "format": FORMAT, **head, "exported_at": iso(exported_at), "memhold": memhold})

    def below(self, namespace: str) -> None:
        """Say that what is written from now on is of this namespace below."""
        self._line({"type": "below", "value": namespace})

    def write(
        self,
        *,
        sessions: Iterable[Session] = (),
        messages: Iterable[Message] = (),
        memories: Iterable[Iterable[Memory]] = (),
        changes: Iterable[Change] = (),
    ) -> None:
        """Write what one namespace holds.

        The iterables are read once, in this order, a value at a time; `memories` gives the revisions of each memory.
        """
        values: Iterator[tuple[RecordType, Any]] = chain(
            (("session", session) for session in sessions),
            (("message", message) for message in messages),
            (("memory", tuple(revisions)) for revisions in memories),
            (("change", change) for change in changes),
        )
        for kind, value in values:
            self._line({"type": kind, "value": to_jsonable(value)})
            self.counts[kind] += 1

    def end(self) -> None:
        """Write the footer: without it the export counts as cut short."""
        self._line({"type": "footer", "counts": self.counts, "sha256": self._digest.hexdigest()})

    def _line(self, record: Mapping[str, Any]) -> None:
        data = body_json(record).encode() + b"\n"
        self._digest.update(data)
        self._out.write(data)


def verify_export(path: Path) -> Header:
    """Read a whole export and compare it with its footer.

    Raises:
        UnreadableImport: it is no export, is from a newer Memhold, was cut short, or does not agree with its footer.
    """
    (header,) = (record for record in read_export(path) if isinstance(record, Header))
    return header


def read_export(path: Path) -> Iterator[Value]:
    """The values of an export in the order of the file, the header first, in memory for one line at a time.

    The footer is compared after the last value: who must not act on a damaged export calls `verify_export` before.

    Raises:
        UnreadableImport: a line is damaged, or the whole is (see `verify_export`); `line` says where.
    """
    for _, value in _values(path):
        yield value


def _values(path: Path) -> Iterator[tuple[int, Value]]:
    """The values with the bytes read so far."""
    position = 0
    digest = hashlib.sha256()
    counts = dict.fromkeys(_COUNTED, 0)
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
                if kind in counts:
                    counts[str(kind)] += 1
                yield position, value
            digest.update(data)
    if not ended:
        # The line that was cut may be whole but for its end.
        raise _damaged(path, number + data_ends, "the export has no footer: it was cut short, make it again")


def read_own(source: Source) -> Iterator[Item | Restored | Beside]:
    """What an import takes from an export: what is kept beside its sessions, its messages, its memories with revisions.

    The export is verified first, so a damaged one imports nothing. Changes are history of the store that they were made
    in: they can be read (`read_export`), and are not imported; the import is a change of its own.
    """
    verify_export(source.path)
    names: dict[str, str] = {}
    header: Header | None = None
    below: str | None = None
    for number, (position, value) in enumerate(_values(source.path), start=1):
        source.position = position
        match value:
            case Header():
                header = value
            case Below():
                below = value.namespace
            case Session():
                names[value.id] = value.name
                if value.metadata:
                    yield Beside(
                        session=value.name,
                        metadata=value.metadata,
                        source_id=value.id,
                        position=source.position,
                        below=below,
                    )
            case Message():
                item = _message(source, value, names, number, header, below)
                if item is not None:
                    yield item
            case Revisions():
                ident = value.revisions[-1].id
                key = fingerprint("memhold", ident)
                yield Restored(revisions=value.revisions, key=key, position=source.position, below=below)
            case Change():
                source.leave_out("changes, which are history of the store that they were made in")


def _message(
    source: Source, message: Message, names: Mapping[str, str], line: int, header: Header | None, below: str | None
) -> Item | None:
    told = header is not None and header.version >= ORIGINS_SINCE
    own = {"event_time": message.event_time, "metadata": _metadata(message), "embed": message.embed}
    if (claim := claim_of(message)) is not None:
        own["written_by"] = claim
    raw = {**message.body, **({} if message.opaque else own)}
    return make_item(
        source,
        Line(
            message=raw,
            kind="memhold",
            session=names.get(message.session, message.session),
            conversation="",
            source_id=message.id,
            line=line,
            agent=message.agent,
            own=True,
            below=below,
            said=Author(origin=message.origin, name=message.actor) if told else None,
        ),
    )


def _metadata(message: Message) -> dict[str, Any]:
    """The caller's own: what is brought into another store stands there for itself, and is no copy."""
    return {name: value for name, value in message.metadata.items() if name != COPY_OF}


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


def _value(path: Path, number: int, record: Mapping[str, Any]) -> Value:
    kind, value = record.get("type"), record.get("value")
    try:
        match kind:
            case "memory" if isinstance(value, list) and value:
                return Revisions(revisions=tuple(from_jsonable(Memory, revision) for revision in value))
            case "below":
                return Below(namespace=_below(value))
            case "session" | "message" | "change":
                return from_jsonable(_CLASSES[kind], value)
            case _:
                why = f"a line of type {kind!r:.40} that cannot be read"
    except (InvalidInput, InvalidScope) as error:
        why = str(error)
    raise _damaged(path, number, why)


def _below(value: Any) -> str:
    """The name of a namespace below; one that could leave the namespace that is imported into is damage."""
    name = checked_name(value, "the namespace below")
    if name.startswith("/") or name.endswith("/"):
        raise InvalidScope(f"the namespace below {name!r:.80} begins or ends with a stroke")
    return name


def _compare(path: Path, number: int, record: Mapping[str, Any], counts: Mapping[str, int], digest: str) -> None:
    if record.get("counts") != counts:
        raise _damaged(path, number, f"the footer counts {record.get('counts')}, the file holds {dict(counts)}")
    if record.get("sha256") != digest:
        raise _damaged(path, number, "the checksum does not agree: the file was altered or damaged")


def _damaged(path: Path, line: int, why: str) -> UnreadableImport:
    return UnreadableImport(f"{path}, line {line}: {why}", path=str(path), line=line)
