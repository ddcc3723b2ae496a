"""Blocks of the words index as arrays: what a question reads.

The layout is that of `memhold.ports.postings`; NumPy is imported when the first block is decoded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from memhold.ports.postings import (
    ACTIVE,
    BLOCK_DOCUMENTS,
    ENTRY_BYTES,
    LAYOUT_VERSION,
    RECORD_BYTES,
    REMOVED,
    Block,
    corrupt_index,
)
from memhold.values.errors import CorruptIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    Columns: TypeAlias = NDArray[np.void]
    Integers: TypeAlias = NDArray[np.int64]
    Keys: TypeAlias = NDArray[np.uint64]
    Marks: TypeAlias = NDArray[np.bool_]
    _Postings: TypeAlias = tuple[Keys, Integers, Integers]

__all__ = ["DecodedIndex", "Found", "decode"]

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
_BLOCKS_AT_ONCE = 32
"""So many blocks are mixed at a time that what is between stays in the processor's cache."""
_WORTH_KEEPING = 3
"""What an earlier index sorted is kept while fewer than one in this many entries or rows came or changed since."""
_WITH_POSTINGS = 4
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
        damage: what was wrong with a block whose documents were read from their texts instead; None: nothing was.
        complete: whether every document of the scope is in it.
    """

    __slots__ = ("_bases", "_ends", "_entries", "_firsts", "_whole", "columns", "complete", "damage", "memo", "numbers")

    def __init__(self, columns: Columns, numbers: Integers, entries: Keys, ends: Integers, bases: Integers) -> None:
        self.columns = columns
        self.numbers = numbers
        self._entries = entries
        self._ends = ends
        self._bases = bases
        self._firsts = numbers[bases] if len(bases) else numbers
        self.memo: dict[object, Any] = {}
        self._whole: DecodedIndex | None = None
        self.damage: CorruptIndex | None = None
        self.complete = True

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

        steps = range(0, len(self._bases), _BLOCKS_AT_ONCE)
        parts = [self._mixed(one, min(one + _BLOCKS_AT_ONCE, len(self._bases))) for one in steps]
        return np.concatenate([np.zeros(0, dtype=np.uint64), *parts])

    def _mixed(self, first: int, last: int) -> Keys:
        import numpy as np

        start, entry = int(self._bases[first]), int(self._ends[first - 1]) if first else 0
        end = int(self._bases[last]) if last < len(self._bases) else len(self)
        values = self._entries[entry : int(self._ends[last - 1])]
        rows = ((values >> np.uint64(8)) & np.uint64(255)).astype(np.int64)
        rows += np.repeat(self._bases[first:last] - start, np.diff(self._ends[first:last], prepend=entry))
        np.minimum(rows, end - start - 1, out=rows)
        mixed = values & ~np.uint64(0xFF00)
        # The finaliser of SplitMix64 (Steele, Lea and Flood 2014): sums of its values tell sets apart.
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
        signed = self.columns["terms"][start:end].astype(np.uint64)
        np.add.at(signed, rows, mixed)
        return signed

    def by_content(self) -> tuple[Keys, Integers]:
        """A key for each row that those share which say the same in one kind and role, and the rows in its order.

        Rows of one key are in their own order. Computed once.
        """
        import numpy as np

        held: tuple[Keys, Integers] | None = self.memo.get("content")
        if held is None:
            keys = self._contents(0)
            held = self.memo["content"] = keys, np.argsort(keys, kind="stable")
        return held

    def _contents(self, first: int) -> Keys:
        import numpy as np

        rest = self.columns[first:]
        keys: Keys = self.signatures[first:] * np.uint64(256) + rest["kind"] * np.uint64(16) + rest["role"]
        return keys

    def following(self, before: DecodedIndex) -> DecodedIndex:
        """This index, knowing what an earlier one worked out of the blocks that are in both: a write changes few."""
        import numpy as np

        if len(before) > len(self):
            return self  # it was built anew
        fresh = self._changed(before)
        rows = np.repeat(fresh, self._sizes())
        if int(rows.sum()) * _WORTH_KEEPING >= len(rows):
            return self
        signed, content, held = (before.memo.get(name) for name in ("signatures", "content", "postings"))
        if signed is not None:
            mended = np.zeros(len(self), dtype=np.uint64)
            mended[~rows] = signed[: len(self)][~rows[: len(signed)]]
            for first, last in _runs(fresh):
                start, end = int(self._bases[first]), int(self._bases[first]) + int(self._sizes()[first:last].sum())
                mended[start:end] = np.concatenate(
                    [self._mixed(one, min(one + _BLOCKS_AT_ONCE, last)) for one in range(first, last, _BLOCKS_AT_ONCE)]
                )
            self.memo["signatures"] = mended
            if content is not None:
                self.memo["content"] = self._reordered(content[1], rows)
        if held is not None:
            stale = fresh.copy()
            stale[: len(held[1])] |= held[1][: len(stale)]
            if int(self._widths()[stale].sum()) * _WORTH_KEEPING < len(self._entries):
                self.memo["postings"] = held[0], stale
        return self

    def _reordered(self, order: Integers, fresh: Marks) -> tuple[Keys, Integers]:
        """`by_content` of this index, out of the order of an earlier one and which rows changed or came since."""
        import numpy as np

        order = order[~fresh[order]]
        mine = self._contents(0)
        rows = np.flatnonzero(fresh)
        rows = rows[np.argsort(mine[rows], kind="stable")]
        held = mine[order]
        low = np.searchsorted(held, mine[rows], side="left")
        high = np.searchsorted(held, mine[rows], side="right")
        spans = zip(low.tolist(), high.tolist(), rows.tolist(), strict=True)
        places = [start + int(np.searchsorted(order[start:end], row)) for start, end, row in spans]
        return mine, np.insert(order, places, rows)

    def _sizes(self) -> Integers:
        """How many rows each block has."""
        import numpy as np

        return np.diff(self._bases, append=len(self))

    def _widths(self) -> Integers:
        """How many entries each block has."""
        import numpy as np

        return np.diff(self._ends, prepend=0)

    def _changed(self, before: DecodedIndex) -> Marks:
        """True for each block that does not stand in the earlier index at the same rows, the same to the byte."""
        import numpy as np

        most = min(len(self._bases), len(before._bases))
        changed = np.ones(len(self._bases), dtype=np.bool_)
        sizes, widths = self._sizes(), self._widths()
        same = (self._bases[:most] == before._bases[:most]) & (self._firsts[:most] == before._firsts[:most])
        same &= sizes[:most] == before._sizes()[:most]
        same &= widths[:most] == before._widths()[:most]
        changed[:most] = ~same
        width = RECORD_BYTES // 8
        mine, theirs = self.columns.view("<u8"), before.columns.view("<u8")
        for first, last in _runs(same):
            start, end = int(self._bases[first]) * width, int(self._bases[last - 1] + sizes[last - 1]) * width
            other = np.flatnonzero(mine[start:end] != theirs[start:end]) + start
            changed[np.searchsorted(self._bases, other // width, side="right") - 1] = True
            entry, was = (int(ends[first - 1]) if first else 0 for ends in (self._ends, before._ends))
            count = int(self._ends[last - 1]) - entry
            other = np.flatnonzero(self._entries[entry : entry + count] != before._entries[was : was + count]) + entry
            changed[np.searchsorted(self._ends, other, side="right")] = True
        return changed

    def upto(self, ceiling: int) -> DecodedIndex:
        """The index as if no document from that number on were there: what a snapshot's pages are scored with."""
        import numpy as np

        size = int(np.searchsorted(self.numbers, ceiling))
        if size == len(self):
            return self
        held: DecodedIndex | None = self.memo.get("part")
        if held is not None and len(held) == size:
            return held
        part = DecodedIndex(
            self.columns[:size], self.numbers[:size], self._entries[:0], self._ends[:0], self._bases[:0]
        )
        part._whole = self
        part.damage, part.complete = self.damage, self.complete
        self.memo["part"] = part
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
        their keys, and only those that match are touched, and the few that were written since.

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
        held: tuple[_Postings, Marks] | None = self.memo.get("postings")
        if held is None and turn >= _WORTH_SORTING:
            held = self.memo["postings"] = self._sorted(), np.zeros(len(self._bases), dtype=np.bool_)
        if held is None:
            return self._scanned(keys, [(0, len(self._entries))])
        (stems, rows, counts), stale = held
        starts = np.searchsorted(stems, keys, side="left")
        ends = np.searchsorted(stems, keys, side="right")
        spans = [slice(start, end) for start, end in zip(starts, ends, strict=True)]
        row, frequency = (np.concatenate([values[span] for span in spans]) for values in (rows, counts))
        key = np.repeat(np.arange(len(keys)), ends - starts)
        if bool(((row < 0) | (frequency == 0)).any()):
            return self._scanned(keys, [(0, len(self._entries))])  # which says of what is still there what is wrong
        if not bool(stale.any()):
            return Found(row=row, key=key, frequency=frequency)
        kept = ~np.repeat(stale, self._sizes())[row]
        fresh = [
            (int(self._ends[first - 1]) if first else 0, int(self._ends[last - 1])) for first, last in _runs(stale)
        ]
        rest = self._scanned(keys, fresh)
        key, row = np.append(key[kept], rest.key), np.append(row[kept], rest.row)
        order = np.lexsort((row, key))
        return Found(row=row[order], key=key[order], frequency=np.append(frequency[kept], rest.frequency)[order])

    def _scanned(self, keys: Keys, spans: list[tuple[int, int]]) -> Found:
        """The same by one pass over the entries of these spans, which are in order."""
        import numpy as np

        entries = np.concatenate([self._entries[start:end] for start, end in spans])
        places = np.concatenate([np.arange(start, end) for start, end in spans])
        # A table over the top 16 bits selects candidates; few strangers pass, and they are compared whole.
        table = np.zeros(1 << 16, dtype=np.bool_)
        table[(keys >> np.uint64(32)).astype(np.int64)] = True
        at = np.flatnonzero(np.take(table, np.ascontiguousarray(entries.view("<u2")[3::4]), mode="clip"))
        stems = entries[at] >> np.uint64(16)
        which = np.minimum(np.searchsorted(keys, stems), len(keys) - 1)
        exact = np.flatnonzero(keys[which] == stems)
        exact = exact[np.argsort(which[exact], kind="stable")]
        row, frequency = self._placed(places[at[exact]])
        return Found(row=row, key=which[exact].astype(np.int64), frequency=frequency)

    def _sorted(self) -> _Postings:
        """Everything in order of keys: the keys, the rows (-1: damaged) and frequencies of their entries."""
        import numpy as np

        stems = self._entries >> np.uint64(16)
        order = np.argsort(stems, kind="stable")
        block = np.searchsorted(self._ends, order, side="right")
        row, frequency, limits = self._read(order, block)
        row[row >= limits] = -1
        return stems[order], row, frequency

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
            raise corrupt_index(int(self._firsts[block[wrong[0]]]), "an entry points outside its block")
        return row, frequency


def _runs(marks: Marks) -> list[tuple[int, int]]:
    """Where the marked stand, as spans."""
    import numpy as np

    edges = np.flatnonzero(np.diff(marks.astype(np.int8), prepend=0, append=0))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def decode(blocks: Iterable[Block]) -> DecodedIndex:
    """Decode the blocks of a scope, in order of `first`.

    Sizes, layout and the number of entries of each block are checked: a torn or foreign blob is an error.

    Raises:
        CorruptIndex: with the first block that does not fit.
    """
    import numpy as np

    rows = list(blocks)
    for block in rows:
        if block.damaged:
            raise corrupt_index(block.first, "it does not agree with its digests")
        if not block.records or len(block.records) % RECORD_BYTES:
            raise corrupt_index(block.first, f"{len(block.records)} bytes of records")
        if len(block.entries) % ENTRY_BYTES:
            raise corrupt_index(block.first, f"{len(block.entries)} bytes of entries")
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


def _check(columns: Columns, firsts: Integers, counts: Integers, sizes: Integers, bases: Integers) -> None:
    import numpy as np

    def fail(bad: NDArray[np.bool_], reason: str) -> None:
        if bool(bad.any()):
            raise corrupt_index(int(firsts[int(bad.argmax())]), reason)

    fail(firsts < 0, "a negative document number")
    fail(
        np.append(False, firsts[1:] < (firsts + counts)[:-1]),
        "it overlaps the block before it, or is out of order",
    )
    alien = (columns["layout"] != LAYOUT_VERSION) | (columns["reserved"] != 0)
    fail(np.logical_or.reduceat(alien, bases), f"a record that is not of layout {LAYOUT_VERSION}")
    fail(np.add.reduceat(columns["terms"].astype(np.int64), bases) != sizes, "entries are missing or too many")
    fail(counts > BLOCK_DOCUMENTS, f"more than {BLOCK_DOCUMENTS} documents")


@lru_cache(maxsize=1)
def _record_type() -> np.dtype[np.void]:
    import numpy as np

    return np.dtype(list(_FIELDS.items()))
