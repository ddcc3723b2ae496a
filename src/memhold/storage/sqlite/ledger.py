"""The ledger of what was forgotten: a file beside the store, so that no backup brings any of it back.

It is append-only JSONL with mode 0600, made from the tombstones whenever the store is scrubbed. A line holds ids, a
time and keyed hashes, no content: `scope` is an HMAC of namespace and user with the store's secret, since a name may
itself be personal. The first line names the store that it belongs to.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import apsw

from memhold.ports.durable_files import sync_folder
from memhold.ports.file_locks import lock
from memhold.ports.transaction import Tombstone
from memhold.storage.open_state import kept_time
from memhold.storage.sql.blocks import load
from memhold.storage.sql.digests import facts_digest
from memhold.values.errors import StoreCorrupt, StoreFull, StoreReadOnly
from memhold.values.records import from_micros, micros

__all__ = [
    "KEEPING",
    "Entry",
    "Identity",
    "identity",
    "ledger_path",
    "read_ledger",
    "readable",
    "reconcile",
    "scope_mark",
]

KEEPING = load("memhold.storage.sqlite", "keeping.sql")
FORMAT = "memhold-forgotten"
_TAIL = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line: whose (as a keyed hash), and the tombstone."""

    scope: str
    tombstone: Tombstone


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which store a file is: its id, the secret of its keyed hashes, and the time of its newest write."""

    id: str
    secret: bytes
    clock: int


def identity(connection: apsw.Connection) -> Identity:
    """What a file says of itself.

    Raises:
        StoreCorrupt: it is damaged: with another secret nothing that was hashed would be found again.
    """
    facts: dict[str, Any] = {str(name): value for name, value in connection.execute(KEEPING["store_facts"])}
    try:
        digest = facts_digest(facts["id"], facts["secret"])
        found = Identity(id=facts["id"], secret=facts["secret"], clock=micros(kept_time(facts["clock"])))
    except (KeyError, TypeError, AttributeError) as error:
        raise _damaged_facts() from error
    if facts.get("digest", digest) != digest:
        raise _damaged_facts()
    return found


def _damaged_facts() -> StoreCorrupt:
    return StoreCorrupt("what the store says of itself is damaged; run 'memhold doctor', then 'memhold restore'")


def ledger_path(path: str) -> Path:
    """Where the ledger of a store's file is."""
    return Path(f"{path}.forgotten")


def scope_mark(secret: bytes, namespace: str, user: str) -> str:
    """What stands for a scope in the ledger: equal only for the same scope of the same store."""
    message = json.dumps(["forgotten scope", namespace, user], ensure_ascii=True).encode()
    return hmac.new(secret, message, hashlib.sha256).hexdigest()[:32]


def reconcile(connection: apsw.Connection, path: str) -> int:
    """Append the tombstones that the ledger does not have yet, durably; returns how many.

    Level-triggered: it compares the ledger with the table, so it may be called at any time and by several processes.

    Raises:
        StoreFull, StoreReadOnly: the ledger cannot be written.
        StoreCorrupt: a tombstone is damaged; the others are in the ledger.
    """
    if not connection.execute("SELECT EXISTS (SELECT 1 FROM tombstone)").get and not ledger_path(path).exists():
        return 0
    store = identity(connection)
    try:
        _set_aside_another(path, store.id)
        with _opened(ledger_path(path)) as file:
            lock(file.fileno())
            appended, whole = _append(file, connection, store)
        if appended:
            sync_folder(Path(path).parent)
    except OSError as error:
        kind = StoreFull if error.errno in {errno.ENOSPC, errno.EDQUOT} else StoreReadOnly
        raise kind(f"{ledger_path(path)} cannot be written: {error.strerror}; it is tried again") from error
    if not whole:
        raise StoreCorrupt(
            f"{path} is damaged: a tombstone of it is none; run 'memhold doctor', then 'memhold restore'"
        )
    return appended


def _append(file: BinaryIO, connection: apsw.Connection, store: Identity) -> tuple[int, bool]:
    """How many tombstones were appended, and whether all that there are could be read."""
    since, there = _newest(file)
    found: list[Any] = connection.execute(KEEPING["all_tombstones"], {"since": since}).fetchall()
    whole = [row for row in found if readable(row)]
    fresh = [row for row in whole if (scope_mark(store.secret, row[0], row[1]), row[2]) not in there]
    lines = [] if file.seek(0, os.SEEK_END) else [_header(store.id)]
    lines += [_line(store.secret, row) for row in fresh]
    if lines:
        file.write(_break(file) + "".join(f"{line}\n" for line in lines).encode())
        file.flush()
        os.fsync(file.fileno())
    return len(fresh), len(whole) == len(found)


def readable(row: tuple[Any, ...]) -> bool:
    """Whether a tombstone holds what its columns say: one flipped bit makes bytes of a text, or a text of a time."""
    namespace, user, item, at, change, digest = row
    texts = all(isinstance(text, str) for text in (namespace, user, item, change))
    return texts and isinstance(at, int) and isinstance(digest, bytes | None)


def read_ledger(path: str, store: str) -> tuple[Entry, ...]:
    """What the ledger beside a store's file says was forgotten in that store, each once; empty where there is none."""
    try:
        data = ledger_path(path).read_bytes()
    except FileNotFoundError:
        return ()
    if _store_of(data) != store:
        return ()
    found: dict[tuple[str, str], Entry] = {}
    for record in _entries(data):
        digest = record["digest"]
        tombstone = Tombstone(
            id=record["id"],
            at=from_micros(record["at"]),
            change_id=record["change"],
            digest=None if digest is None else bytes.fromhex(digest),
        )
        found.setdefault((record["scope"], record["id"]), Entry(scope=record["scope"], tombstone=tombstone))
    return tuple(found.values())


def _line(secret: bytes, row: tuple[Any, ...]) -> str:
    namespace, user, item, at, change, digest = row
    record = {
        "at": at,
        "change": change,
        "digest": None if digest is None else digest.hex(),
        "id": item,
        "scope": scope_mark(secret, namespace, user),
    }
    return json.dumps(record)


def _header(store: str) -> str:
    return json.dumps({"format": FORMAT, "version": 1, "store": store})


def _parsed(line: bytes) -> dict[str, Any]:
    """A line, or nothing where a crash cut it short: its tombstone is in the store and is appended again."""
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _store_of(data: bytes) -> str | None:
    head = _parsed(data.split(b"\n", 1)[0])
    return str(head.get("store")) if head.get("format") == FORMAT else None


def _entries(data: bytes) -> Iterator[dict[str, Any]]:
    return (record for record in map(_parsed, data.split(b"\n")) if "scope" in record)


def _opened(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), "a+b")


def _set_aside_another(path: str, store: str) -> None:
    """A ledger of another store that stood at this path keeps what it says under a name of its own."""
    ledger = ledger_path(path)
    try:
        with ledger.open("rb") as file:
            first = file.readline(_TAIL)
    except FileNotFoundError:
        return
    if first and _store_of(first) != store:
        other = (_store_of(first) or "damaged")[:8]
        ledger.rename(ledger.with_name(f"{ledger.name}-{other}"))
        sync_folder(ledger.parent)


def _break(file: BinaryIO) -> bytes:
    """What must stand before the next line: a line that a crash cut short must not swallow it."""
    size = file.seek(0, os.SEEK_END)
    return b"\n" if size and _read_at(file, size - 1, 1) != b"\n" else b""


def _read_at(file: BinaryIO, start: int, size: int) -> bytes:
    file.seek(start)
    return file.read(size)


def _newest(file: BinaryIO) -> tuple[int, set[tuple[str, str]]]:
    """The newest time in the ledger, and what it holds of that time; read from the end, as far as that goes."""
    size = file.seek(0, os.SEEK_END)
    length = _TAIL
    while True:
        start = max(0, size - length)
        data = _read_at(file, start, size - start)
        records = list(_entries(data if start == 0 else data.partition(b"\n")[2]))
        times = {int(record["at"]) for record in records}
        if start == 0 or len(times) > 1:
            newest = max(times, default=0)
            return newest, {(record["scope"], record["id"]) for record in records if record["at"] == newest}
        length *= 4
