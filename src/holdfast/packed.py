"""The words index as bytes: blocks of consecutive documents, appended to, patched, decoded into arrays.

A scope (namespace, user) numbers what it indexes, messages and memories together, 0, 1, 2, ...: the
*document number*. A store keeps one row a block: `(namespace, user, first, records, entries)`, where
`first` is the number of the block's first document. Numbers only grow and a block is never deleted alone,
so the last block says what the next number is.

Layout 1, little-endian:

- `records`: 40 bytes a document, in order of number: event_time i64 (microseconds since 1970, UTC),
  session u32, seq u32, length u32 (terms), agent u32, terms u32 (distinct), checksum u32 (CRC-32 of the
  document's entries), kind u8, role u8, flags u8 (1 active, 2 removed), layout u8 (= 1), reserved u32 (= 0).
- `entries`: 8 bytes a distinct term of a document, one u64: bits 16-63 the first 48 bits of BLAKE2b of the
  term, bits 8-15 the document's place in the block, bits 0-7 the frequency (1 to 255, saturating). A
  document's entries stand together.

No term is stored as text. Two of 500,000 terms share a key with a chance below 0.001, and a question of ten
terms meets a wrong one with a chance below 2e-8. Reasons and measurements: `docs/decisions/0002-words-index.md`.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    Columns: TypeAlias = NDArray[np.void]
    Integers: TypeAlias = NDArray[np.int64]
    Keys: TypeAlias = NDArray[np.uint64]

__all__ = [
    "BLOCK_DOCUMENTS",
    "BLOCK_ENTRY_BYTES",
    "ENTRY_BYTES",
    "LAYOUT_VERSION",
    "RECORD_BYTES",
    "Block",
    "CorruptIndex",
    "DecodedIndex",
    "DocumentKind",
    "DocumentRecord",
    "DocumentRole",
    "Found",
    "Place",
    "append",
    "decode",
    "encode",
    "place",
    "read_record",
    "remove",
    "set_active",
    "term_key",
    "verify",
]

LAYOUT_VERSION = 1
RECORD_BYTES = 40
ENTRY_BYTES = 8
BLOCK_DOCUMENTS = 128
BLOCK_ENTRY_BYTES = 8192
"""A block with this many bytes of entries, or with `BLOCK_DOCUMENTS` documents, takes no further document."""

_RECORD = struct.Struct("<qIIIIIIBBBBI")
_ACTIVE, _REMOVED = 1, 2
_MAX_FREQUENCY = 255
_KEY_BYTES = 6
_FIELDS = {
    "event_time": "<i8",
    "session": "<u4",
    "seq": "<u4",
    "length": "<u4",
    "agent": "<u4",
    "terms": "<u4",
    "checksum": "<u4",
    "kind": "u1",
    "role": "u1",
    "flags": "u1",
    "layout": "u1",
    "reserved": "<u4",
}


class CorruptIndex(ValueError):
    """A block of the words index does not have the shape that its writer gave it; `reindex` builds it anew.

    Attributes:
        first: the document number that the block begins with.
        reason: what does not fit.
    """

    def __init__(self, first: int, reason: str) -> None:
        super().__init__(first, reason)
        self.first = first
        self.reason = reason

    def __str__(self) -> str:
        return f"words index, block of document {self.first}: {self.reason}; run `holdfast reindex`"


class DocumentKind(IntEnum):
    """What a document is; the values are stored and never change."""

    MESSAGE = 1
    FACT = 2
    NOTE = 3
    SUMMARY = 4
    RAW = 5


class DocumentRole(IntEnum):
    """Who said a message; `NONE` for memories. The values are stored and never change."""

    NONE = 0
    SYSTEM = 1
    DEVELOPER = 2
    USER = 3
    ASSISTANT = 4
    TOOL = 5


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
class Block:
    """One row of the index: the number of its first document and the two blobs."""

    first: int
    records: bytes = b""
    entries: bytes = b""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Entries that matched: three arrays of one length, ordered by document.

    Attributes:
        row: the document's row in the decoded columns.
        key: which of the asked keys.
        frequency: how often the document has that term (1 to 255).
    """

    row: Integers
    key: Integers
    frequency: Integers


def term_key(term: str) -> int:
    """Give the 48-bit key that stands for a term in the index; the same for ever and on every machine."""
    return _term_key(term)


@lru_cache(maxsize=1 << 16)
def _term_key(term: str) -> int:
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()
    return int.from_bytes(digest, "little")


def place(tail: tuple[int, int, int] | None) -> Place:
    """Say where a scope's next document goes, given its last block as `(first, len(records), len(entries))`.

    None stands for a scope without blocks. The blobs themselves need not be read.
    """
    if tail is None:
        return Place(number=0, first=0, opens=True)
    first, record_bytes, entry_bytes = tail
    if record_bytes <= 0 or record_bytes % RECORD_BYTES:
        raise CorruptIndex(first, f"{record_bytes} bytes of records are not a multiple of {RECORD_BYTES}")
    documents = record_bytes // RECORD_BYTES
    number = first + documents
    full = documents >= BLOCK_DOCUMENTS or entry_bytes >= BLOCK_ENTRY_BYTES
    return Place(number=number, first=number if full else first, opens=full)


def encode(where: Place, record: DocumentRecord, terms: Mapping[str, int]) -> tuple[bytes, bytes]:
    """Give the bytes to append to the `records` and to the `entries` of the block at `where`.

    Args:
        where: from `place`, in the transaction that appends.
        record: the document; its `removed` must be false.
        terms: how often each term occurs, 1 or more; above 255 is stored as 255.

    Raises:
        ValueError: a number does not fit its field, or a removed record has terms to index.
    """
    if record.removed:
        raise ValueError("a removed document cannot be indexed; index it with removed=False")
    offset = where.number - where.first
    if not 0 <= offset < BLOCK_DOCUMENTS:
        raise ValueError(f"document {where.number} does not belong into the block of {where.first}")
    keys: dict[int, int] = {}
    for term, count in terms.items():
        key = _term_key(term)
        keys[key] = keys.get(key, 0) + count
    low = offset << 8
    values = [key << 16 | low | min(max(count, 1), _MAX_FREQUENCY) for key, count in keys.items()]
    entries = struct.pack(f"<{len(values)}Q", *values)
    return _pack(record, terms=len(values), checksum=zlib.crc32(entries)), entries


def append(tail: Block | None, record: DocumentRecord, terms: Mapping[str, int]) -> tuple[Block, int]:
    """Append a document to a scope's last block; gives the block to store and the document's number.

    Where the returned block's `first` differs from the tail's it is a new row, else it replaces the tail.
    """
    where = place(None if tail is None else (tail.first, len(tail.records), len(tail.entries)))
    records, entries = encode(where, record, terms)
    if tail is None or where.opens:
        return Block(first=where.first, records=records, entries=entries), where.number
    block = Block(first=tail.first, records=tail.records + records, entries=tail.entries + entries)
    return block, where.number


def read_record(block: Block, number: int) -> DocumentRecord:
    """Read the record of a document.

    Raises:
        CorruptIndex: the record is not one that `encode` or `remove` wrote.
        IndexError: the block does not hold that number.
    """
    event_time, session, seq, length, agent, _, _, kind, role, flags, layout, reserved = _unpack(
        block, number
    )
    if layout != LAYOUT_VERSION or reserved:
        raise CorruptIndex(block.first, f"document {number} has layout {layout}, not {LAYOUT_VERSION}")
    try:
        return DocumentRecord(
            kind=DocumentKind(kind),
            role=DocumentRole(role),
            length=length,
            session=session,
            seq=seq,
            event_time=event_time,
            agent=agent,
            active=bool(flags & _ACTIVE),
            removed=bool(flags & _REMOVED),
        )
    except ValueError as error:
        raise CorruptIndex(block.first, f"document {number}: {error}") from error


def set_active(block: Block, number: int, *, active: bool) -> Block:
    """Give the block with that document active or not; same sizes, so a store overwrites in place.

    A removed document stays as it is.
    """
    at = _offset(block, number) * RECORD_BYTES + 34
    flags = block.records[at]
    if not flags & _REMOVED:
        flags = flags | _ACTIVE if active else flags & ~_ACTIVE
    records = block.records[:at] + bytes((flags,)) + block.records[at + 1 :]
    return Block(first=block.first, records=records, entries=block.entries)


def remove(block: Block, number: int) -> Block:
    """Give the block without that document: its entries are gone, its record keeps place and kind.

    The number is not used again. Removing twice is the same as removing once.
    """
    import numpy as np

    offset = _offset(block, number)
    values = _entry_values(block)
    kept = values[(values >> np.uint64(8)) & np.uint64(255) != offset]
    kind = read_record(block, number).kind
    gone = _pack(_removed(kind), terms=0, checksum=0)
    at = offset * RECORD_BYTES
    records = block.records[:at] + gone + block.records[at + RECORD_BYTES :]
    return Block(first=block.first, records=records, entries=kept.tobytes())


class DecodedIndex:
    """The blocks of a scope as arrays; a *row* is a document's place among them, from 0.

    Attributes:
        columns: a structured array, one element a row, with the fields of the layout (event_time, session, ...).
        numbers: int64, the document number of each row; strictly increasing.
    """

    __slots__ = ("_bases", "_ends", "_entries", "_firsts", "columns", "numbers")

    def __init__(
        self, columns: Columns, numbers: Integers, entries: Keys, ends: Integers, bases: Integers
    ) -> None:
        self.columns = columns
        self.numbers = numbers
        self._entries = entries
        self._ends = ends
        self._bases = bases
        self._firsts = numbers[bases] if len(bases) else numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def living(self) -> NDArray[np.bool_]:
        """True for each row that was not removed."""
        gone: NDArray[np.bool_] = (self.columns["flags"] & _REMOVED) == 0
        return gone

    @property
    def active(self) -> NDArray[np.bool_]:
        """True for each row that is active and was not removed."""
        active: NDArray[np.bool_] = (self.columns["flags"] & (_ACTIVE | _REMOVED)) == _ACTIVE
        return active

    def rows_of(self, numbers: Iterable[int]) -> Integers:
        """Give the rows of document numbers; a number that is not there is left out."""
        import numpy as np

        asked = np.fromiter(numbers, dtype=np.int64)
        if not len(self) or not len(asked):
            return np.zeros(0, dtype=np.int64)
        rows = np.minimum(np.searchsorted(self.numbers, asked), len(self) - 1)
        found: Integers = rows[self.numbers[rows] == asked].astype(np.int64)
        return found

    def find(self, keys: Keys) -> Found:
        """Find every entry of the given keys, which must be sorted and distinct (uint64).

        One pass over the entries, whatever the number of keys.

        Raises:
            CorruptIndex: an entry that matched points outside its block or has no frequency.
        """
        import numpy as np

        if not len(keys) or not len(self._entries):
            nothing = np.zeros(0, dtype=np.int64)
            return Found(row=nothing, key=nothing, frequency=nothing)
        # A table over the top 16 bits selects candidates; few strangers pass, and they are compared whole.
        table = np.zeros(1 << 16, dtype=np.bool_)
        table[(keys >> np.uint64(32)).astype(np.int64)] = True
        at = np.flatnonzero(
            np.take(table, np.ascontiguousarray(self._entries.view("<u2")[3::4]), mode="clip")
        )
        values = self._entries[at]
        which = np.minimum(np.searchsorted(keys, values >> np.uint64(16)), len(keys) - 1)
        exact = keys[which] == values >> np.uint64(16)
        at, values, which = at[exact], values[exact], which[exact]
        block = np.searchsorted(self._ends, at, side="right")
        row = self._bases[block] + ((values >> np.uint64(8)) & np.uint64(255)).astype(np.int64)
        frequency = (values & np.uint64(255)).astype(np.int64)
        limits = np.append(self._bases[1:], len(self))
        wrong = np.flatnonzero((row >= limits[block]) | (frequency == 0))
        if len(wrong):
            raise CorruptIndex(int(self._firsts[block[wrong[0]]]), "an entry points outside its block")
        return Found(row=row, key=which.astype(np.int64), frequency=frequency)


def decode(blocks: Iterable[Block]) -> DecodedIndex:
    """Decode the blocks of a scope, in order of `first`.

    Sizes, layout and the number of entries of each block are checked: a torn or foreign blob is an error.

    Raises:
        CorruptIndex: with the first block that does not fit.
    """
    import numpy as np

    rows = list(blocks)
    for block in rows:
        if not block.records or len(block.records) % RECORD_BYTES:
            raise CorruptIndex(block.first, f"{len(block.records)} bytes of records")
        if len(block.entries) % ENTRY_BYTES:
            raise CorruptIndex(block.first, f"{len(block.entries)} bytes of entries")
    columns: Columns = np.frombuffer(b"".join([block.records for block in rows]), dtype=_record_type())
    entries: Keys = np.frombuffer(b"".join([block.entries for block in rows]), dtype="<u8")
    counts = np.array([block.documents for block in rows], dtype=np.int64)
    sizes = np.array([len(block.entries) // ENTRY_BYTES for block in rows], dtype=np.int64)
    firsts = np.array([block.first for block in rows], dtype=np.int64)
    bases = np.cumsum(counts) - counts
    if rows:
        _check(columns, firsts, counts, sizes, bases)
    numbers = np.repeat(firsts - bases, counts) + np.arange(len(columns), dtype=np.int64)
    return DecodedIndex(columns, numbers, entries, np.cumsum(sizes), bases)


def verify(block: Block) -> None:
    """Check a block entry by entry, checksums included; what `doctor` runs.

    Raises:
        CorruptIndex: with the first thing that does not fit.
    """
    import numpy as np

    decode([block])
    values = _entry_values(block)
    places = (values >> np.uint64(8)) & np.uint64(255)
    for offset in range(block.documents):
        number = block.first + offset
        record = read_record(block, number)
        if record.removed and record != _removed(record.kind):
            raise CorruptIndex(block.first, f"removed document {number} still has content")
        checksum = _unpack(block, number)[6]
        if zlib.crc32(values[places == offset].tobytes()) != checksum:
            raise CorruptIndex(block.first, f"the entries of document {number} do not match their checksum")
    if bool((places >= block.documents).any()) or bool((values & np.uint64(255) == 0).any()):
        raise CorruptIndex(block.first, "an entry points outside its block")


def _check(columns: Columns, firsts: Integers, counts: Integers, sizes: Integers, bases: Integers) -> None:
    import numpy as np

    def fail(bad: NDArray[np.bool_], reason: str) -> None:
        if bool(bad.any()):
            raise CorruptIndex(int(firsts[int(bad.argmax())]), reason)

    fail(firsts < 0, "a negative document number")
    fail(
        np.append(False, firsts[1:] < (firsts + counts)[:-1]),
        "it overlaps the block before it, or is out of order",
    )
    alien = (columns["layout"] != LAYOUT_VERSION) | (columns["reserved"] != 0)
    fail(np.logical_or.reduceat(alien, bases), f"a record that is not of layout {LAYOUT_VERSION}")
    fail(
        np.add.reduceat(columns["terms"].astype(np.int64), bases) != sizes, "entries are missing or too many"
    )
    fail(counts > BLOCK_DOCUMENTS, f"more than {BLOCK_DOCUMENTS} documents")


def _removed(kind: DocumentKind) -> DocumentRecord:
    return DocumentRecord(kind=kind, active=False, removed=True)


def _pack(record: DocumentRecord, *, terms: int, checksum: int) -> bytes:
    flags = (_ACTIVE if record.active else 0) | (_REMOVED if record.removed else 0)
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
        raise CorruptIndex(block.first, f"{len(block.records)} bytes of records")
    offset = number - block.first
    if not 0 <= offset < block.documents:
        raise IndexError(
            f"document {number} is not in the block of {block.first} ({block.documents} documents)"
        )
    return offset


def _entry_values(block: Block) -> Keys:
    import numpy as np

    if len(block.entries) % ENTRY_BYTES:
        raise CorruptIndex(block.first, f"{len(block.entries)} bytes of entries")
    values: Keys = np.frombuffer(block.entries, dtype="<u8")
    return values


@lru_cache(maxsize=1)
def _record_type() -> np.dtype[np.void]:
    import numpy as np

    return np.dtype(list(_FIELDS.items()))
