"""The words index as bytes: blocks of consecutive documents, appended to, patched, decoded into arrays.

A scope (namespace, user) numbers what it indexes, messages and memories together, 0, 1, 2, ...: the
*document number*. A store keeps one row a block: `(namespace, user, first, records, entries)`, where
`first` is the number of the block's first document. Numbers only grow; within a block they have no gap.
`memhold.index.postings_arrays` reads blocks as arrays; nothing here needs NumPy.

Layout 1, little-endian:

- `records`: 40 bytes a document, in order of number: event_time i64 (microseconds since 1970, UTC),
  session u32, seq u32, length u32 (terms), agent u32, terms u32 (distinct), checksum u32 (CRC-32 of the
  document's entries), kind u8, role u8, flags u8 (1 active, 2 removed), layout u8 (= 1), reserved u32 (= 0).
- `entries`: 8 bytes a distinct term of a document, one u64: bits 16-63 the first 48 bits of BLAKE2b of the
  term, bits 8-15 the document's place in the block, bits 0-7 the frequency (1 to 255, saturating). A
  document's entries stand together.

No term is stored as text. Two of 500,000 terms share a key with a chance below 0.001, and a question of ten
terms meets a wrong one with a chance below 2e-8. Reasons and measurements: docs/decisions/0002.
"""

from __future__ import annotations

import dataclasses
import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

from memhold.values.errors import CorruptIndex, StoreCorrupt

__all__ = [
    "ACTIVE",
    "BLOCK_DOCUMENTS",
    "BLOCK_ENTRY_BYTES",
    "ENTRY_BYTES",
    "LAYOUT_VERSION",
    "RECORD_BYTES",
    "REMOVED",
    "Block",
    "DocumentKind",
    "DocumentRecord",
    "DocumentRole",
    "Entry",
    "Place",
    "append",
    "corrupt_index",
    "encode",
    "place",
    "read_record",
    "remove",
    "renew",
    "replace",
    "set_active",
    "term_key",
]

LAYOUT_VERSION = 1
RECORD_BYTES = 40
ENTRY_BYTES = 8
BLOCK_DOCUMENTS = 128
BLOCK_ENTRY_BYTES = 8192
"""A block with this many bytes of entries, or with `BLOCK_DOCUMENTS` documents, takes no further document."""

_RECORD = struct.Struct("<qIIIIIIBBBBI")
ACTIVE = 1
REMOVED = 2
"""The bits of `flags`."""
_MAX_FREQUENCY = 255
_KEY_BYTES = 6


def corrupt_index(first: int, reason: str) -> CorruptIndex:
    """The error for a block of the words index that does not have the shape that its writer gave it."""
    message = f"words index, block of document {first}: {reason}; run 'memhold reindex'"
    return CorruptIndex(message, first=first, reason=reason)


class DocumentKind(IntEnum):
    """What a document is; the values are stored and never change."""

    MESSAGE = 1
    FACT = 2
    NOTE = 3
    SUMMARY = 4
    RAW = 5
    ROLLUP = 6
    INSTRUCTION = 7
    DOCUMENT = 8


class DocumentRole(IntEnum):
    """Who wrote a message; `NONE` for memories. The values are stored and never change.

    1 and 2 were roles of system and developer messages, which are the harness's.
    """

    NONE = 0
    SYSTEM = 1
    DEVELOPER = 2
    USER = 3
    ASSISTANT = 4
    TOOL = 5
    PARTICIPANT = 6
    ATTACHMENT = 7
    HARNESS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    """The fixed-size facts of one document, beside its terms.

    Attributes:
        kind: message or the kind of memory.
        role: of a message.
        length: terms with repetitions, as `Terms.length` counts them.
        session: the session's number within the scope, from 1; 0 for "of no session". Messages need one.
        seq: the place within the session; 0 for memories.
        event_time: microseconds since 1970, UTC.
        agent: the agent's number within the scope, from 1; 0 for "of no agent".
        active: false for a memory that is not current (superseded, retracted, merged).
        removed: true once `remove` took its terms away; every other field is then zero.
    """

    kind: DocumentKind
    role: DocumentRole = DocumentRole.NONE
    length: int = 0
    session: int = 0
    seq: int = 0
    event_time: int = 0
    agent: int = 0
    active: bool = True
    removed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A document to index: its number in the scope, its record, and how often each of its terms occurs (1 or more)."""

    number: int
    record: DocumentRecord
    terms: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One row of the index: the number of its first document and the two blobs.

    `damaged` says that it does not agree with the digests that its store keeps: nothing is read from it.
    """

    first: int
    records: bytes = b""
    entries: bytes = b""
    damaged: bool = False

    @property
    def documents(self) -> int:
        """How many documents the block holds, removed ones included."""
        return len(self.records) // RECORD_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the next document goes: its number, its block, and whether that block is a new row."""

    number: int
    first: int
    opens: bool


def term_key(term: str) -> int:
    """Give the 48-bit key that stands for a term in the index; the same for ever and on every machine."""
    return int.from_bytes(_digest(term), "little")


class _Digests(dict[str, bytes]):
    """The keys of terms that came before: looked up more cheaply than made."""

    def __missing__(self, term: str) -> bytes:
        if len(self) >= _MOST_DIGESTS:
            self.clear()
        digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()
        self[term] = digest
        return digest


_MOST_DIGESTS = 1 << 16
_digest = _Digests().__getitem__


def place(tail: tuple[int, int, int] | None, number: int) -> Place:
    """Say where the document of that number goes, given a scope's last block.

    Args:
        tail: `(first, len(records), len(entries))` of the last block, whose blobs need not be read; None where the
            scope has no block.
        number: one that was never placed. The next one after the tail fills the tail; a later one opens a block.

    Raises:
        StoreCorrupt: the number is not after the last one: the scope's count of documents is damaged.
        CorruptIndex: the tail cannot be a block.
    """
    if tail is None:
        return Place(number=number, first=number, opens=True)
    first, record_bytes, entry_bytes = tail
    if record_bytes <= 0 or record_bytes % RECORD_BYTES:
        raise corrupt_index(first, f"{record_bytes} bytes of records are not a multiple of {RECORD_BYTES}")
    documents = record_bytes // RECORD_BYTES
    following = first + documents
    if number < following:
        raise StoreCorrupt(
            f"document {number} is not after {following - 1}, the last one of its scope; run 'memhold doctor'"
        )
    opens = number > following or documents >= BLOCK_DOCUMENTS or entry_bytes >= BLOCK_ENTRY_BYTES
    return Place(number=number, first=number if opens else first, opens=opens)


def encode(where: Place, entry: Entry) -> tuple[bytes, bytes]:
    """Give the bytes to append to the `records` and to the `entries` of the block at `where`.

    A document that is to be found by nothing has the record of a removed one, and no terms.

    Raises:
        ValueError: a number does not fit its field, the place is another document's, or a removed one has content.
    """
    if entry.record.removed and (entry.terms or entry.record != removed_record(entry.record.kind)):
        raise ValueError("a removed document has no terms and no other field; index it with removed=False")
    offset = where.number - where.first
    if where.number != entry.number or not 0 <= offset < BLOCK_DOCUMENTS:
        raise ValueError(f"document {entry.number} does not belong into the block of {where.first}")
    counts = dict(zip(map(_digest, entry.terms), entry.terms.values(), strict=True))
    frequencies = counts.values()
    if len(counts) < len(entry.terms) or max(frequencies, default=1) > _MAX_FREQUENCY:
        counts = _bounded(entry.terms)
        frequencies = counts.values()
    # Little-endian, an entry is one byte of frequency, one of place and six of key.
    low = bytes((0, offset))
    entries = bytearray(low + low.join(counts) if counts else b"")
    entries[::ENTRY_BYTES] = bytes(frequencies)
    return _pack(entry.record, terms=len(counts), checksum=zlib.crc32(entries)), bytes(entries)


def _bounded(terms: Mapping[str, int]) -> dict[bytes, int]:
    """The frequency of each key, where one is over its bound or two terms share a key."""
    counts: dict[bytes, int] = {}
    for term, count in terms.items():
        digest = _digest(term)
        counts[digest] = min(counts.get(digest, 0) + count, _MAX_FREQUENCY)
    return counts


def append(tail: Block | None, entry: Entry) -> Block:
    """Append a document to a scope's last block; gives the block to store.

    Where its `first` differs from the tail's it is a new row, else it replaces the tail.
    """
    where = place(None if tail is None else (tail.first, len(tail.records), len(tail.entries)), entry.number)
    records, entries = encode(where, entry)
    if tail is None or where.opens:
        return Block(first=where.first, records=records, entries=entries)
    return Block(first=tail.first, records=tail.records + records, entries=tail.entries + entries)


def replace(block: Block, entry: Entry) -> Block:
    """Give the block with that document, which it holds already, indexed anew (also one that was removed)."""
    offset = _offset(block, entry.number)
    bare = remove(block, entry.number)
    record, entries = encode(Place(number=entry.number, first=block.first, opens=False), entry)
    at = offset * RECORD_BYTES
    records = bare.records[:at] + record + bare.records[at + RECORD_BYTES :]
    return Block(first=block.first, records=records, entries=bare.entries + entries)


def read_record(block: Block, number: int) -> DocumentRecord:
    """Read the record of a document.

    Raises:
        CorruptIndex: the record is not one that `encode` or `remove` wrote.
        IndexError: the block does not hold that number.
    """
    event_time, session, seq, length, agent, _, _, kind, role, flags, layout, reserved = _unpack(block, number)
    if layout != LAYOUT_VERSION or reserved:
        raise corrupt_index(block.first, f"document {number} has layout {layout}, not {LAYOUT_VERSION}")
    try:
        return DocumentRecord(
            kind=DocumentKind(kind),
            role=DocumentRole(role),
            length=length,
            session=session,
            seq=seq,
            event_time=event_time,
            agent=agent,
            active=bool(flags & ACTIVE),
            removed=bool(flags & REMOVED),
        )
    except ValueError as error:
        raise corrupt_index(block.first, f"document {number}: {error}") from error


def set_active(block: Block, number: int, *, active: bool) -> Block:
    """Give the block with that document active or not; same sizes, so a store overwrites in place.

    A removed document stays as it is.
    """
    at = _offset(block, number) * RECORD_BYTES + 34
    flags = block.records[at]
    if not flags & REMOVED:
        flags = flags | ACTIVE if active else flags & ~ACTIVE
    records = block.records[:at] + bytes((flags,)) + block.records[at + 1 :]
    return Block(first=block.first, records=records, entries=block.entries)


def renew(block: Block, entry: Entry) -> Block:
    """Give the block with other terms or another role of that document; whether it is active, or removed, stays."""
    held = read_record(block, entry.number)
    if held.removed:
        return block
    return replace(block, dataclasses.replace(entry, record=dataclasses.replace(entry.record, active=held.active)))


def remove(block: Block, number: int) -> Block:
    """Give the block without that document: its entries are gone, its record keeps place and kind.

    The number is not used again. Removing twice is the same as removing once.
    """
    offset = _offset(block, number)
    if len(block.entries) % ENTRY_BYTES:
        raise corrupt_index(block.first, f"{len(block.entries)} bytes of entries")
    values = struct.unpack(f"<{len(block.entries) // ENTRY_BYTES}Q", block.entries)
    kept = [value for value in values if value >> 8 & 255 != offset]
    kind = read_record(block, number).kind
    gone = _pack(removed_record(kind), terms=0, checksum=0)
    at = offset * RECORD_BYTES
    records = block.records[:at] + gone + block.records[at + RECORD_BYTES :]
    return Block(first=block.first, records=records, entries=struct.pack(f"<{len(kept)}Q", *kept))


def removed_record(kind: DocumentKind) -> DocumentRecord:
    """Give the record that `remove` leaves behind."""
    return DocumentRecord(kind=kind, active=False, removed=True)


def _pack(record: DocumentRecord, *, terms: int, checksum: int) -> bytes:
    flags = (ACTIVE if record.active else 0) | (REMOVED if record.removed else 0)
    try:
        return _RECORD.pack(
            record.event_time,
            record.session,
            record.seq,
            record.length,
            record.agent,
            terms,
            checksum,
            record.kind,
            record.role,
            flags,
            LAYOUT_VERSION,
            0,
        )
    except struct.error as error:
        raise ValueError(f"a number of the document does not fit its field: {error}") from error


def _unpack(block: Block, number: int) -> tuple[Any, ...]:
    return _RECORD.unpack_from(block.records, _offset(block, number) * RECORD_BYTES)


def _offset(block: Block, number: int) -> int:
    if len(block.records) % RECORD_BYTES:
        raise corrupt_index(block.first, f"{len(block.records)} bytes of records")
    offset = number - block.first
    if not 0 <= offset < block.documents:
        raise IndexError(f"document {number} is not in the block of {block.first} ({block.documents} documents)")
    return offset
