"""Decoded vectors, kept while their scope's vectors are unchanged; a change reads again only the blocks it touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from memhold.index.kept_scopes import Kept, KeptScopes
from memhold.index.pending_vectors import due_index, look_again
from memhold.index.sign_bits import estimated, signs
from memhold.ports.vector_blocks import (
    DAMAGED,
    FLOAT_BYTES,
    HELD,
    REFUSED,
    STATE_BITS,
    UNSEEN,
    VECTOR_DOCUMENTS,
    CorruptVectors,
    Generation,
    VectorBlock,
    block_of,
    state_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memhold.index.sign_bits import Words
    from memhold.ports.transaction import ReadTx, WriteTx

__all__ = ["EXACT_TO", "Cosines", "DecodedVectors", "VectorCache", "VectorsOf", "mend_vectors", "middle_of"]

EXACT_TO = 100_000
"""Vectors of a scope up to which every one is multiplied; beyond, sign bits choose (docs/recall.md, Size)."""
_BLOCKS_AT_ONCE = 32
"""Signs are made of so many blocks at a time: one product of large matrices is far quicker than many of small ones."""
RESCORE_LEAST, RESCORE_ONE_IN = 2000, 50

_UNIT = 0.01
"""How far the square of a stored vector's length may be from 1: bytes that were damaged are farther."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cosines:
    """How near documents are to a question, and which have a vector and were looked at; 0 where there is none.

    `nearest` is the cosine of the nearest of a document's vectors, `middle` that of their middle; None where single
    vectors are all that was asked.
    """

    nearest: Floats
    middle: Floats | None
    held: Mask
    seen: Mask


class DecodedVectors:
    """The vectors of one scope and generation as arrays, a block at a time, in order of document number and sentence.

    A document is as near to something as the nearest of its vectors.
    """

    __slots__ = ("_bits", "_blocks", "_earlier", "_layout", "dimension", "rev")

    def __init__(self, blocks: dict[int, _Decoded], dimension: int, rev: int) -> None:
        self._blocks = blocks
        self._bits: _Bits | None = None
        self._earlier: _Bits | None = None
        self._layout: _Layout | None = None
        self.dimension = dimension
        self.rev = rev

    @property
    def nbytes(self) -> int:
        """How much memory the vectors take."""
        return sum(block.matrix.nbytes for block in self._blocks.values())

    @property
    def count(self) -> int:
        """How many vectors they are."""
        return sum(len(block.matrix) for block in self._blocks.values())

    def cosines(
        self,
        query: Floats,
        numbers: NDArray[np.int64],
        *,
        also: Callable[[], Rows] | None = None,
        exact_to: int = EXACT_TO,
    ) -> Cosines:
        """The cosines of each document number with the query.

        Up to `exact_to` vectors every one is multiplied. Beyond, the cosines are estimated from sign bits, and exact
        for the nearest documents (one in `RESCORE_ONE_IN`, at least `RESCORE_LEAST`) and the rows that `also` gives.
        """
        import numpy as np

        top = int(numbers[-1]) + 1 if len(numbers) else 0
        states = np.zeros(top, dtype=np.uint8)
        for first, block in self._blocks.items():
            states[first : first + len(block.states)] = block.states[: max(0, top - first)]
        states = states[numbers]
        if self.count <= exact_to or not len(numbers):
            nearest, middle = (found[numbers] for found in self._by_document(self._multiplied(query), top))
        else:
            words, sums, _ = self._signed()
            nearest, middle = (found[numbers] for found in self._by_document(estimated(query, words, sums), top))
            count = max(RESCORE_LEAST, len(numbers) // RESCORE_ONE_IN)
            rows = np.argpartition(-nearest, min(count, len(nearest) - 1))[:count]
            if also is not None:
                rows = np.union1d(rows, also())
            nearest[rows], middle[rows] = self._rescored(query, numbers, rows)
        return Cosines(nearest=nearest, middle=middle, held=states == HELD, seen=states != UNSEEN)

    def _multiplied(self, query: Floats) -> Floats:
        """The cosine of every vector, in their order."""
        import numpy as np

        found = np.empty(self.count, dtype=np.float32)
        at = 0
        for block in self._blocks.values():
            np.dot(block.matrix, query, out=found[at : at + len(block.matrix)])
            at += len(block.matrix)
        return found

    def _by_document(self, values: Floats, top: int) -> tuple[Floats, Floats]:
        """Of each document's values the greatest, and the cosine of their middle, by document number below `top`."""
        import numpy as np

        owners, starts, lengths = self._laid()
        size = max(top, int(owners[-1]) + 1 if len(owners) else 0)
        nearest, middle = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
        if len(owners):
            single = len(values) == len(owners)
            nearest[owners] = values if single else np.maximum.reduceat(values, starts)
            middle[owners] = values if single else np.add.reduceat(values, starts) / lengths
        return nearest[:top], middle[:top]

    def _laid(self) -> _Layout:
        """Which documents have vectors, where in the order of all those of each begin, and how long their sum is."""
        import numpy as np

        if self._layout is None:
            counts = _joined([block.counts for block in self._blocks.values()])
            numbers = _joined([np.arange(first, first + len(block.states)) for first, block in self._blocks.items()])
            lengths = _joined([block.lengths for block in self._blocks.values()])
            has = counts > 0
            self._layout = numbers[has], (np.cumsum(counts) - counts)[has], lengths[has].astype(np.float32)
        return self._layout

    def _signed(self) -> _Bits:
        """Sign bits and sums of all vectors, and the blocks they are of; what a write left as it was is kept."""
        import numpy as np

        if self._bits is None:
            mine = list(self._blocks.values())
            before = self._earlier
            blocks = () if before is None else before[2]
            fewer = min(len(mine), len(blocks))
            same = next((at for at in range(fewer) if mine[at] is not blocks[at]), fewer)
            size = sum(len(block.matrix) for block in blocks[:same])
            parts = [] if before is None else [(before[0][:, :size], before[1][:size])]
            for start in range(same, len(mine), _BLOCKS_AT_ONCE):
                some = mine[start : start + _BLOCKS_AT_ONCE]
                parts.append(signs(np.concatenate([block.matrix for block in some])))
            joined = tuple(np.concatenate([part[at] for part in parts], axis=-1) for at in range(2))
            self._bits = joined[0], joined[1], tuple(mine)
            self._earlier = None
        return self._bits

    def _rescored(self, query: Floats, numbers: NDArray[np.int64], rows: Rows) -> NDArray[np.float32]:
        """Exact cosines of a few documents: of the nearest vector, and of their middle."""
        import numpy as np

        cosines = np.zeros((2, len(rows)), dtype=np.float32)
        order = np.argsort(rows, kind="stable")
        asked = numbers[rows[order]]
        firsts = asked - asked % VECTOR_DOCUMENTS
        starts = np.flatnonzero(np.append(True, firsts[1:] != firsts[:-1])) if len(asked) else asked
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(asked)], strict=True):
            first = int(firsts[start])
            block = self._blocks.get(first)
            if block is not None:
                at = asked[start:end] - first
                inside = at < len(block.states)
                cosines[:, order[start:end][inside]] = block.near(query, at[inside])
        return cosines

    def vectors(self, number: int) -> Floats | None:
        """The vectors of one document, one a row in the order of its sentences, or None."""
        first = block_of(number)
        block = self._blocks.get(first)
        if block is None or number - first >= len(block.states):
            return None
        found = block.of(number - first)
        return found if len(found) else None

    def vector(self, number: int) -> Floats | None:
        """The middle of a document's vectors at unit length, or None."""
        found = self.vectors(number)
        return None if found is None else middle_of(found)

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
        return total, self.count

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


class VectorsOf(Protocol):
    """Where the vectors of a document are looked up."""

    def vectors(self, number: int) -> Floats | None:
        """The vectors of one document, one a row in the order of its sentences, or None."""
        ...


class _Decoded:
    __slots__ = ("_starts", "counts", "lengths", "matrix", "rev", "states")

    def __init__(self, block: VectorBlock, dimension: int) -> None:
        import numpy as np

        if block.damaged:
            raise CorruptVectors(block.first, DAMAGED)
        self.rev = block.rev
        marks = np.frombuffer(block.marks, dtype=np.uint8)
        self.states: NDArray[np.uint8] = (marks & ((1 << STATE_BITS) - 1)).astype(np.uint8)
        self.counts: NDArray[np.int64] = np.where(self.states == HELD, (marks >> STATE_BITS) + 1, 0).astype(np.int64)
        total = int(self.counts.sum())
        if len(block.vectors) != total * dimension * FLOAT_BYTES:
            raise CorruptVectors(block.first, f"{len(block.vectors)} bytes for {total} vectors")
        self._starts = np.cumsum(self.counts) - self.counts
        self.matrix: Floats = np.frombuffer(block.vectors, dtype="<f4").reshape(total, dimension)
        lengths = np.einsum("ij,ij->i", self.matrix, self.matrix)
        # Written so that a length that is no number fails too.
        if not bool((np.abs(lengths - 1) <= _UNIT).all()):
            raise CorruptVectors(block.first, "a vector is not of unit length")
        # How long the sum of a document's vectors is: their middle is that sum at unit length.
        self.lengths: Floats = (self.counts > 0).astype(np.float32)
        several = self.counts > 1
        if several.any():
            ends = (self._starts + self.counts)[several].tolist()
            sums = [
                self.matrix[one:end].sum(axis=0) for one, end in zip(self._starts[several].tolist(), ends, strict=True)
            ]
            self.lengths[several] = np.maximum(np.sqrt(np.square(np.stack(sums)).sum(axis=1)), _UNIT)

    def of(self, at: int) -> Floats:
        """The vectors of the document at a place; no row where it has none."""
        start = int(self._starts[at])
        return self.matrix[start : start + int(self.counts[at])]

    def near(self, query: Floats, places: Rows) -> NDArray[np.float32]:
        """The cosines of the nearest vectors of some documents, and those of their middles; 0 where one has none."""
        import numpy as np

        counts = self.counts[places]
        found = np.zeros((2, len(places)), dtype=np.float32)
        has = counts > 0
        if has.any():
            begin = np.cumsum(counts[has]) - counts[has]
            within = np.arange(int(counts.sum())) - np.repeat(begin, counts[has])
            rows = np.repeat(self._starts[places][has], counts[has]) + within
            values = self.matrix[rows] @ query
            found[0, has] = np.maximum.reduceat(values, begin)
            found[1, has] = np.add.reduceat(values, begin) / self.lengths[places][has]
        return found


def mend_vectors(tx: WriteTx) -> int:
    """Empty the blocks of the scope's vectors that are damaged and make them due again; returns how many they were.

    Texts that the embedding did not take are due again too.
    """
    mended, refused = 0, list[int]()
    for generation in tx.generations():
        for marks in tx.vector_marks(generation.number):
            refused += [marks.first + at for at, mark in enumerate(marks.marks) if state_of(mark) == REFUSED]
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


def middle_of(vectors: Floats) -> Floats:
    """The middle of some unit vectors, at unit length; the first of them where they cancel out."""
    import numpy as np

    if len(vectors) == 1:
        only: Floats = vectors[0]
        return only
    total = vectors.sum(axis=0)
    length = float(np.sqrt(total @ total))
    middle: Floats = total / np.float32(length) if length > _UNIT else vectors[0]
    return middle


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    import numpy as np

    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


class VectorCache:
    """The vectors of the scopes that were asked last, each of the generation that was asked last."""

    def __init__(self, scopes: KeptScopes) -> None:
        self._kept: Kept[tuple[int, DecodedVectors]] = Kept(scopes, lambda held: held[1].nbytes)

    def vectors(self, tx: ReadTx, generation: Generation) -> DecodedVectors:
        """The vectors of the transaction's scope, as of its snapshot.

        Raises:
            CorruptVectors: a block does not have the shape of its generation.
        """
        rev = tx.vector_rev()
        number, held = self._kept.get(tx.scope) or (generation.number, None)
        if number != generation.number:
            held = None
        if held is not None and held.rev == rev:
            return held
        before = held or DecodedVectors({}, generation.dimension, -1)
        decoded = before.renewed(tx, generation.number, rev)
        self._kept.put(tx.scope, (generation.number, decoded))
        return decoded


if TYPE_CHECKING:
    Floats = NDArray[np.float32]
    Mask = NDArray[np.bool_]
    Rows = NDArray[np.int64]
    _Bits: TypeAlias = tuple[Words, Floats, tuple["_Decoded", ...]]
    _Layout: TypeAlias = tuple[Rows, Rows, Floats]
