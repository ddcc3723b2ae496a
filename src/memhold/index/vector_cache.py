"""Decoded vectors, kept while their scope's vectors are unchanged; a change reads again only the blocks it touched."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol, TypeAlias

from memhold.index.pending_vectors import due_index, look_again
from memhold.index.sign_bits import estimated, signs
from memhold.ports.vector_blocks import (
    FLOAT_BYTES,
    HELD,
    REFUSED,
    UNSEEN,
    VECTOR_DOCUMENTS,
    CorruptVectors,
    Generation,
    VectorBlock,
    block_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memhold.index.sign_bits import Words
    from memhold.ports.transaction import ReadTx, WriteTx

__all__ = ["EXACT_TO", "DecodedVectors", "VectorCache", "VectorOf", "mend_vectors"]

EXACT_TO = 100_000
"""Documents of a scope up to which every vector is multiplied; beyond, sign bits choose (docs/recall.md, Size)."""
_BLOCKS_AT_ONCE = 32
"""Signs are made of so many blocks at a time: one product of large matrices is far quicker than many of small ones."""
RESCORE_LEAST, RESCORE_ONE_IN = 2000, 50

_Key = tuple[str, str | None, int]
_UNIT = 0.01
"""How far the square of a stored vector's length may be from 1: bytes that were damaged are farther."""


class DecodedVectors:
    """The vectors of one scope and generation as arrays, a block at a time, in order of document number."""

    __slots__ = ("_bits", "_blocks", "_earlier", "dimension", "rev")

    def __init__(self, blocks: dict[int, _Decoded], dimension: int, rev: int) -> None:
        self._blocks = blocks
        self._bits: _Bits | None = None
        self._earlier: _Bits | None = None
        self.dimension = dimension
        self.rev = rev

    @property
    def nbytes(self) -> int:
        """How much memory the vectors take."""
        return sum(block.matrix.nbytes for block in self._blocks.values())

    def cosines(
        self,
        query: Floats,
        numbers: NDArray[np.int64],
        *,
        also: Callable[[], Rows] | None = None,
        exact_to: int = EXACT_TO,
    ) -> tuple[Floats, Mask, Mask]:
        """For each document number its cosine with the query, whether it has a vector, and whether it was looked at.

        The cosine is 0 where there is no vector. Up to `exact_to` documents every vector is multiplied. Beyond, the
        cosines are estimated from sign bits, and exact for the nearest of them (one in `RESCORE_ONE_IN`, at least
        `RESCORE_LEAST`) and for the rows that `also` gives.
        """
        import numpy as np

        top = int(numbers[-1]) + 1 if len(numbers) else 0
        marks = np.zeros(top, dtype=np.uint8)
        for first, block in self._blocks.items():
            marks[first : first + len(block.marks)] = block.marks[: max(0, top - first)]
        marks = marks[numbers]
        if top <= exact_to:
            cosines = self._exact(query, top)[numbers]
        else:
            cosines = self._estimated(query, top)[numbers]
            nearest = max(RESCORE_LEAST, len(numbers) // RESCORE_ONE_IN)
            rows = np.argpartition(-cosines, min(nearest, len(cosines) - 1))[:nearest]
            if also is not None:
                rows = np.union1d(rows, also())
            cosines[rows] = self._rescored(query, numbers, rows)
        return cosines, marks == HELD, marks != UNSEEN

    def _exact(self, query: Floats, top: int) -> Floats:
        import numpy as np

        cosines = np.zeros(top, dtype=np.float32)
        for first, block in self._blocks.items():
            end = min(top, first + len(block.marks))
            if end > first:
                np.dot(block.matrix[: end - first], query, out=cosines[first:end])
        return cosines

    def _estimated(self, query: Floats, top: int) -> Floats:
        import numpy as np

        words, sums, places, _ = self._signed()
        end = int(np.searchsorted(places, top))
        cosines = np.zeros(top, dtype=np.float32)
        cosines[places[:end]] = estimated(query, words[:, :end], sums[:end])
        return cosines

    def _signed(self) -> _Bits:
        """Sign bits, sums and document numbers of all vectors; what a write left as it was is kept."""
        import numpy as np

        if self._bits is None:
            mine = list(self._blocks.items())
            before = self._earlier
            blocks = () if before is None else before[3]
            pairs = zip(mine, blocks, strict=False)
            fewer = min(len(mine), len(blocks))
            same = next((at for at, (one, other) in enumerate(pairs) if one[1] is not other), fewer)
            size = sum(len(block.marks) for block in blocks[:same])
            parts = [] if before is None else [(before[0][:, :size], before[1][:size], before[2][:size])]
            for start in range(same, len(mine), _BLOCKS_AT_ONCE):
                some = mine[start : start + _BLOCKS_AT_ONCE]
                words, sums = signs(np.concatenate([block.matrix for _, block in some]))
                numbers = [np.arange(first, first + len(block.marks)) for first, block in some]
                parts.append((words, sums, np.concatenate(numbers)))
            joined = tuple(np.concatenate([part[at] for part in parts], axis=-1) for at in range(3))
            self._bits = joined[0], joined[1], joined[2], tuple(block for _, block in mine)
            self._earlier = None
        return self._bits

    def _rescored(self, query: Floats, numbers: NDArray[np.int64], rows: Rows) -> Floats:
        """Exact cosines of a few rows."""
        import numpy as np

        cosines = np.zeros(len(rows), dtype=np.float32)
        order = np.argsort(rows, kind="stable")
        asked = numbers[rows[order]]
        firsts = asked - asked % VECTOR_DOCUMENTS
        starts = np.flatnonzero(np.append(True, firsts[1:] != firsts[:-1])) if len(asked) else asked
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(asked)], strict=True):
            first = int(firsts[start])
            block = self._blocks.get(first)
            if block is not None:
                at = asked[start:end] - first
                inside = at < len(block.marks)
                cosines[order[start:end][inside]] = block.matrix[at[inside]] @ query
        return cosines

    def vector(self, number: int) -> Floats | None:
        """The vector of one document, or None."""
        first = block_of(number)
        block = self._blocks.get(first)
        if block is None or number - first >= len(block.marks) or block.marks[number - first] != HELD:
            return None
        vector: Floats = block.matrix[number - first]
        return vector

    @classmethod
    def of(cls, blocks: Sequence[VectorBlock], dimension: int) -> DecodedVectors:
        """The vectors of these blocks alone.

        Raises:
            CorruptVectors: a block does not have the shape of its generation.
        """
        return cls({block.first: _Decoded(block, dimension) for block in blocks}, dimension, -1)

    def summed(self) -> tuple[NDArray[np.float64], int]:
        """The sum of the vectors, and how many they are."""
        import numpy as np

        total = np.zeros(self.dimension, dtype=np.float64)
        for block in self._blocks.values():
            total += block.matrix.sum(axis=0, dtype=np.float64)
        return total, sum(int((block.marks == HELD).sum()) for block in self._blocks.values())

    def renewed(
        self, tx: ReadTx, generation: int, rev: int, marks: Sequence[VectorBlock] | None = None
    ) -> DecodedVectors:
        """The same as the transaction sees them, all or the blocks of `marks`; unchanged ones are not read again.

        Raises:
            CorruptVectors: a block does not have the shape of its generation.
        """
        marks = tx.vector_marks(generation) if marks is None else marks
        kept = {
            b.first: self._blocks[b.first]
            for b in marks
            if b.first in self._blocks and self._blocks[b.first].rev == b.rev
        }
        fresh = tx.vector_blocks(generation, [block.first for block in marks if block.first not in kept])
        kept.update((block.first, _Decoded(block, self.dimension)) for block in fresh)
        renewed = DecodedVectors(dict(sorted(kept.items())), self.dimension, rev)
        renewed._earlier = self._bits or self._earlier
        return renewed


class VectorOf(Protocol):
    """Where the vector of a document is looked up."""

    def vector(self, number: int) -> Floats | None:
        """The vector of one document, or None."""
        ...


class _Decoded:
    __slots__ = ("marks", "matrix", "rev")

    def __init__(self, block: VectorBlock, dimension: int) -> None:
        import numpy as np

        if len(block.vectors) != len(block.marks) * dimension * FLOAT_BYTES:
            raise CorruptVectors(block.first, f"{len(block.vectors)} bytes for {len(block.marks)} documents")
        self.rev = block.rev
        self.marks: NDArray[np.uint8] = np.frombuffer(block.marks, dtype=np.uint8)
        self.matrix: Floats = np.frombuffer(block.vectors, dtype="<f4").reshape(len(block.marks), dimension)
        lengths = np.einsum("ij,ij->i", self.matrix, self.matrix)
        # Written so that a length that is no number fails too.
        if not bool((np.abs(lengths - (self.marks == HELD)) <= _UNIT).all()):
            raise CorruptVectors(block.first, "a vector is not of unit length")


def mend_vectors(tx: WriteTx) -> int:
    """Empty the blocks of the scope's vectors that are damaged and make them due again; returns how many they were.

    Texts that the embedding did not take are due again too.
    """
    mended, refused = 0, list[int]()
    for generation in tx.generations():
        for marks in tx.vector_marks(generation.number):
            refused += [marks.first + at for at, mark in enumerate(marks.marks) if mark == REFUSED]
            for block in tx.vector_blocks(generation.number, [marks.first]):
                try:
                    _Decoded(block, generation.dimension)
                except CorruptVectors:
                    tx.put_vectors(generation.number, [VectorBlock(first=block.first)])
                    mended += 1
    if mended:
        due_index(tx)
    if refused:
        look_again(tx, refused)
    return mended


class VectorCache:
    """The vectors of the scopes that were asked last, up to a number of bytes in all; safe to share between threads."""

    def __init__(self, max_bytes: int = 256 * 1024 * 1024) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[_Key, DecodedVectors] = OrderedDict()
        self._lock = threading.Lock()

    def vectors(self, tx: ReadTx, generation: Generation) -> DecodedVectors:
        """The vectors of the transaction's scope, as of its snapshot.

        Raises:
            CorruptVectors: a block does not have the shape of its generation.
        """
        key = (tx.scope.namespace, tx.scope.user, generation.number)
        rev = tx.vector_rev()
        with self._lock:
            held = self._entries.get(key)
            if held is not None and held.rev == rev:
                self._entries.move_to_end(key)
                return held
        before = held or DecodedVectors({}, generation.dimension, -1)
        decoded = before.renewed(tx, generation.number, rev)
        with self._lock:
            self._entries[key] = decoded
            self._entries.move_to_end(key)
            while len(self._entries) > 1 and sum(entry.nbytes for entry in self._entries.values()) > self._max_bytes:
                self._entries.popitem(last=False)
        return decoded


if TYPE_CHECKING:
    Floats = NDArray[np.float32]
    Mask = NDArray[np.bool_]
    Rows = NDArray[np.int64]
    _Bits: TypeAlias = tuple[Words, Floats, Rows, tuple["_Decoded", ...]]
