"""Decoded vectors, kept while their scope's vectors are unchanged; a change reads again only the blocks it touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from memhold.index.kept_scopes import Kept, KeptScopes
from memhold.index.pending_vectors import due_index, look_again
from memhold.ports.vector_blocks import (
    HELD,
    REFUSED,
    STATE_BITS,
    UNSEEN,
    CorruptVectors,
    Generation,
    VectorBlock,
    block_of,
    record_bytes,
    state_of,
)
from memhold.ports.vector_records import LEAST_LENGTH, floats_of, in_records, read_records, sound

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memhold.ports.transaction import ReadTx, WriteTx
    from memhold.ports.vector_records import Records

__all__ = ["Cosines", "DecodedVectors", "VectorCache", "VectorsOf", "mend_vectors", "middle_of"]


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

    __slots__ = ("_blocks", "_layout", "dimension", "rev")

    def __init__(self, blocks: dict[int, _Decoded], dimension: int, rev: int) -> None:
        self._blocks = blocks
        self._layout: _Layout | None = None
        self.dimension = dimension
        self.rev = rev

    @property
    def nbytes(self) -> int:
        """How much memory the vectors take."""
        return sum(block.records.nbytes for block in self._blocks.values())

    @property
    def count(self) -> int:
        """How many vectors they are."""
        return sum(len(block.records) for block in self._blocks.values())

    def cosines(self, query: Floats, numbers: NDArray[np.int64]) -> Cosines:
        """The cosines of each document number with the query."""
        import numpy as np

        top = int(numbers[-1]) + 1 if len(numbers) else 0
        states = np.zeros(top, dtype=np.uint8)
        for first, block in self._blocks.items():
            states[first : first + len(block.states)] = block.states[: max(0, top - first)]
        states = states[numbers]
        nearest, middle = (found[numbers] for found in self._by_document(self._multiplied(query), top))
        return Cosines(nearest=nearest, middle=middle, held=states == HELD, seen=states != UNSEEN)

    def _multiplied(self, query: Floats) -> Floats:
        """The cosine of every vector, in their order: block by block, whose float32 fit in the processor's cache."""
        import numpy as np

        found = np.empty(self.count, dtype=np.float32)
        widest = max((len(block.records) for block in self._blocks.values()), default=0)
        floats = np.empty((widest, self.dimension), dtype=np.float32)
        at = 0
        for block in self._blocks.values():
            end = at + len(block.records)
            some = floats[: end - at]
            some[:] = block.records["numbers"]
            np.dot(some, query, out=found[at:end])
            at = end
        found *= self._laid().steps
        return found

    def _by_document(self, values: Floats, top: int) -> tuple[Floats, Floats]:
        """Of each document's values the greatest, and the cosine of their middle, by document number below `top`."""
        import numpy as np

        laid = self._laid()
        owners = laid.owners
        size = max(top, int(owners[-1]) + 1 if len(owners) else 0)
        nearest, middle = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
        if len(owners):
            single = len(values) == len(owners)
            nearest[owners] = values if single else np.maximum.reduceat(values, laid.starts)
            middle[owners] = values if single else np.add.reduceat(values, laid.starts) / laid.lengths
        return nearest[:top], middle[:top]

    def _laid(self) -> _Layout:
        """Worked out once."""
        import numpy as np

        if self._layout is None:
            blocks = self._blocks.items()
            counts = _joined([block.counts for _, block in blocks])
            numbers = _joined([np.arange(first, first + len(block.states)) for first, block in blocks])
            has = counts > 0
            starts = (np.cumsum(counts) - counts)[has]
            steps, lengths = (
                _joined([block.records[name] for _, block in blocks]).astype(np.float32) for name in ("step", "length")
            )
            self._layout = _Layout(owners=numbers[has], starts=starts, lengths=lengths[starts], steps=steps)
        return self._layout

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
            total += floats_of(block.records).sum(axis=0, dtype=np.float64)
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
        return DecodedVectors(dict(sorted(kept.items())), self.dimension, rev)


class VectorsOf(Protocol):
    """Where the vectors of a document are looked up."""

    def vectors(self, number: int) -> Floats | None:
        """The vectors of one document, one a row in the order of its sentences, or None."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """Which documents have vectors, where those of each begin, how long their sums are, and the step of each vector."""

    owners: Rows
    starts: Rows
    lengths: Floats
    steps: Floats


class _Decoded:
    __slots__ = ("_starts", "counts", "records", "rev", "states")

    def __init__(self, block: VectorBlock, dimension: int) -> None:
        import numpy as np

        block = in_records(block, dimension)
        self.rev = block.rev
        marks = np.frombuffer(block.marks, dtype=np.uint8)
        self.states: NDArray[np.uint8] = marks & np.uint8((1 << STATE_BITS) - 1)
        self.counts: NDArray[np.int64] = np.where(self.states == HELD, (marks >> STATE_BITS) + 1, 0).astype(np.int64)
        self._starts = np.cumsum(self.counts)
        total = int(self._starts[-1]) if len(marks) else 0
        self._starts -= self.counts
        if len(block.vectors) != total * record_bytes(dimension):
            raise CorruptVectors(block.first, f"{len(block.vectors)} bytes for {total} vectors")
        self.records: Records = read_records(block.vectors, dimension)
        if not sound(self.records):
            raise CorruptVectors(block.first, "a vector is not of unit length")

    def of(self, at: int) -> Floats:
        """The vectors of the document at a place; no row where it has none."""
        start = int(self._starts[at])
        return floats_of(self.records[start : start + int(self.counts[at])])


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
    middle: Floats = total / np.float32(length) if length > LEAST_LENGTH else vectors[0]
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
