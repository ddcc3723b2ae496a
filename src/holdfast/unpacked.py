"""Blocks of the words index as arrays: what a question reads.

The layout is that of `holdfast.packed`; NumPy is imported when the first block is decoded.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from holdfast.packed import (
    ACTIVE,
    BLOCK_DOCUMENTS,
    ENTRY_BYTES,
    LAYOUT_VERSION,
    RECORD_BYTES,
    REMOVED,
    Block,
    CorruptIndex,
    read_record,
    removed_record,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    Columns: TypeAlias = NDArray[np.void]
    Integers: TypeAlias = NDArray[np.int64]
    Keys: TypeAlias = NDArray[np.uint64]

__all__ = ["DecodedIndex", "Found", "decode", "verify"]

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


_WORTH_SORTING = 6
"""From this many searches on (a question makes up to three) an index is worth sorting: about ten passes over it."""
_WITH_POSTINGS = 5
"""Entries and what is kept of them in order of their keys take this many times the bytes of the entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Entries that matched: three arrays of one length, ordered by key and then by document.

    Attributes:
        row: the document's row in the decoded columns.
        key: which of the asked keys.
        frequency: how often the document has that term (1 to 255).
    """

    row: Integers
    key: Integers
    frequency: Integers


class DecodedIndex:
    """The blocks of a scope as arrays; a *row* is a document's place among them, from 0.

    Attributes:
        columns: a structured array, one element a row, with the fields of the layout (event_time, session, ...).
        numbers: int64, the document number of each row; strictly increasing.
        memo: what was computed from these arrays and is worth keeping as long as they are; the arrays never change.
    """

    __slots__ = ("_bases", "_ends", "_entries", "_firsts", "_whole", "columns", "memo", "numbers")

    def __init__(self, columns: Columns, numbers: Integers, entries: Keys, ends: Integers, bases: Integers) -> None:
        self.columns = columns
        self.numbers = numbers
        self._entries = entries
        self._ends = ends
        self._bases = bases
        self._firsts = numbers[bases] if len(bases) else numbers
        self.memo: dict[object, Any] = {}
        self._whole: DecodedIndex | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return int(self.columns.nbytes + self.numbers.nbytes + self._entries.nbytes * _WITH_POSTINGS)

    @property
    def living(self) -> NDArray[np.bool_]:
        """True for each row that was not removed; not to be changed."""
        living: NDArray[np.bool_] | None = self.memo.get("living")
        if living is None:
            living = self.memo["living"] = (self.columns["flags"] & REMOVED) == 0
        return living

    @property
    def active(self) -> NDArray[np.bool_]:
        """True for each row that is active and was not removed; not to be changed."""
        active: NDArray[np.bool_] | None = self.memo.get("active")
        if active is None:
            active = self.memo["active"] = (self.columns["flags"] & (ACTIVE | REMOVED)) == ACTIVE
        return active

    @property
    def signatures(self) -> Keys:
        """A number for each row that two documents share when they have the same terms as often (uint64).

        Two documents with other terms share one with a chance of about 2**-64. Computed once.
        """
        signed: Keys | None = self.memo.get("signatures")
        if signed is None:
            signed = self._whole.signatures[: len(self)] if self._whole is not None else self._signed()
            self.memo["signatures"] = signed
        return signed

    def _signed(self) -> Keys:
        import numpy as np

        counts = self.columns["terms"].astype(np.int64)
        values = self._entries
        place = ((values >> np.uint64(8)) & np.uint64(255)).astype(np.int64)
        sizes = np.diff(self._ends, prepend=0)
        rows = np.repeat(self._bases, sizes) + place
        mixed = values & ~np.uint64(0xFF00)
        # The finaliser of SplitMix64 (Steele, Lea and Flood 2014): sums of its values tell sets apart.
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
        signed = counts.astype(np.uint64)
        np.add.at(signed, np.minimum(rows, len(signed) - 1) if len(signed) else rows, mixed)
        return signed

    def upto(self, ceiling: int) -> DecodedIndex:
        """The index as if no document from that number on were there: what a snapshot's pages are scored with."""
        import numpy as np

        size = int(np.searchsorted(self.numbers, ceiling))
        if size == len(self):
            return self
        part = DecodedIndex(
            self.columns[:size], self.numbers[:size], self._entries[:0], self._ends[:0], self._bases[:0]
        )
        part._whole = self
        return part

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

        One pass over the entries, whatever the number of keys; after a few times the entries are kept in order of
        their keys, and only those that match are touched.

        Raises:
            CorruptIndex: an entry that matched points outside its block or has no frequency.
        """
        import numpy as np

        if self._whole is not None:
            found = self._whole.find(keys)
            inside = found.row < len(self)
            return Found(row=found.row[inside], key=found.key[inside], frequency=found.frequency[inside])
        if not len(keys) or not len(self._entries):
            nothing = np.zeros(0, dtype=np.int64)
            return Found(row=nothing, key=nothing, frequency=nothing)
        turn = self.memo["finds"] = self.memo.get("finds", 0) + 1
        if turn < _WORTH_SORTING:
            # A table over the top 16 bits selects candidates; few strangers pass, and they are compared whole.
            table = np.zeros(1 << 16, dtype=np.bool_)
            table[(keys >> np.uint64(32)).astype(np.int64)] = True
            at = np.flatnonzero(np.take(table, np.ascontiguousarray(self._entries.view("<u2")[3::4]), mode="clip"))
            stems = self._entries[at] >> np.uint64(16)
            which = np.minimum(np.searchsorted(keys, stems), len(keys) - 1)
            exact = np.flatnonzero(keys[which] == stems)
            exact = exact[np.argsort(which[exact], kind="stable")]
            at, which = at[exact], which[exact]
        else:
            stems, entries, rows, counts = self._postings()
            starts = np.searchsorted(stems, keys, side="left")
            ends = np.searchsorted(stems, keys, side="right")
            spans = [slice(start, end) for start, end in zip(starts, ends, strict=True)]
            row = np.concatenate([rows[span] for span in spans])
            frequency = np.concatenate([counts[span] for span in spans])
            wrong = np.flatnonzero((row < 0) | (frequency == 0))
            if len(wrong):
                self._placed(np.concatenate([entries[span] for span in spans])[wrong])
            return Found(row=row, key=np.repeat(np.arange(len(keys)), ends - starts), frequency=frequency)
        row, frequency = self._placed(at)
        return Found(row=row, key=which.astype(np.int64), frequency=frequency)

    def _postings(self) -> tuple[Keys, Integers, Integers, Integers]:
        """Everything in order of keys: the keys, their entries' places, rows (-1: damaged) and frequencies."""
        import numpy as np

        held: tuple[Keys, Integers, Integers, Integers] | None = self.memo.get("postings")
        if held is None:
            stems = self._entries >> np.uint64(16)
            order = np.argsort(stems, kind="stable")
            block = np.searchsorted(self._ends, order, side="right")
            row, frequency, limits = self._read(order, block)
            row[row >= limits] = -1
            held = self.memo["postings"] = stems[order], order, row, frequency
        return held

    def _read(self, at: Integers, block: Integers) -> tuple[Integers, Integers, Integers]:
        """Rows and frequencies of entries, and where the rows of their blocks end."""
        import numpy as np

        values = self._entries[at]
        row = self._bases[block] + ((values >> np.uint64(8)) & np.uint64(255)).astype(np.int64)
        return row, (values & np.uint64(255)).astype(np.int64), np.append(self._bases[1:], len(self))[block]

    def _placed(self, at: Integers) -> tuple[Integers, Integers]:
        import numpy as np

        block = np.searchsorted(self._ends, at, side="right")
        row, frequency, limits = self._read(at, block)
        wrong = np.flatnonzero((row >= limits) | (frequency == 0))
        if len(wrong):
            raise CorruptIndex(int(self._firsts[block[wrong[0]]]), "an entry points outside its block")
        return row, frequency


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

    index = decode([block])
    values = _entry_values(block)
    places = (values >> np.uint64(8)) & np.uint64(255)
    for offset in range(block.documents):
        number = block.first + offset
        record = read_record(block, number)
        if record.removed and record != removed_record(record.kind):
            raise CorruptIndex(block.first, f"removed document {number} still has content")
        if zlib.crc32(values[places == offset].tobytes()) != int(index.columns["checksum"][offset]):
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
    fail(np.add.reduceat(columns["terms"].astype(np.int64), bases) != sizes, "entries are missing or too many")
    fail(counts > BLOCK_DOCUMENTS, f"more than {BLOCK_DOCUMENTS} documents")


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
