"""Decoded vectors, kept while their scope's vectors are unchanged; a change reads again only the blocks it touched."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from holdfast.pipeline.index import due_index
from holdfast.vectors import FLOAT_BYTES, HELD, UNSEEN, CorruptVectors, Generation, VectorBlock, block_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.transaction import ReadTx, WriteTx

__all__ = ["DecodedVectors", "VectorCache", "mend_vectors"]

_Key = tuple[str, str | None, int]
_UNIT = 0.01
"""How far the square of a stored vector's length may be from 1: bytes that were damaged are farther."""


class DecodedVectors:
    """The vectors of one scope and generation as arrays, a block at a time, in order of document number."""

    __slots__ = ("_blocks", "dimension", "rev")

    def __init__(self, blocks: dict[int, _Decoded], dimension: int, rev: int) -> None:
        self._blocks = blocks
        self.dimension = dimension
        self.rev = rev

    @property
    def nbytes(self) -> int:
        """How much memory the vectors take."""
        return sum(block.matrix.nbytes for block in self._blocks.values())

    def cosines(self, query: NDArray[np.float32], numbers: NDArray[np.int64]) -> tuple[Floats, Mask, Mask]:
        """For each document number its cosine with the query, whether it has a vector, and whether it was looked at.

        The cosine is 0 where there is no vector. Exact: every vector of the scope is multiplied.
        """
        import numpy as np

        top = int(numbers[-1]) + 1 if len(numbers) else 0
        cosines = np.zeros(top, dtype=np.float32)
        marks = np.zeros(top, dtype=np.uint8)
        for first, block in self._blocks.items():
            end = min(top, first + len(block.marks))
            if end > first:
                np.dot(block.matrix[: end - first], query, out=cosines[first:end])
                marks[first:end] = block.marks[: end - first]
        marks = marks[numbers]
        return cosines[numbers], marks == HELD, marks != UNSEEN

    def vector(self, number: int) -> Floats | None:
        """The vector of one document, or None."""
        first = block_of(number)
        block = self._blocks.get(first)
        if block is None or number - first >= len(block.marks) or block.marks[number - first] != HELD:
            return None
        vector: Floats = block.matrix[number - first]
        return vector

    def renewed(self, tx: ReadTx, generation: int, rev: int) -> DecodedVectors:
        """The same as the transaction sees them; unchanged blocks are not read again.

        Raises:
            CorruptVectors: a block does not have the shape of its generation.
        """
        marks = tx.vector_marks(generation)
        kept = {
            b.first: self._blocks[b.first]
            for b in marks
            if b.first in self._blocks and self._blocks[b.first].rev == b.rev
        }
        fresh = tx.vector_blocks(generation, [block.first for block in marks if block.first not in kept])
        kept.update((block.first, _Decoded(block, self.dimension)) for block in fresh)
        return DecodedVectors(dict(sorted(kept.items())), self.dimension, rev)


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
    """Empty the blocks of the scope's vectors that are damaged and make them due again; returns how many they were."""
    mended = 0
    for generation in tx.generations():
        for marks in tx.vector_marks(generation.number):
            for block in tx.vector_blocks(generation.number, [marks.first]):
                try:
                    _Decoded(block, generation.dimension)
                except CorruptVectors:
                    tx.put_vectors(generation.number, [VectorBlock(first=block.first)])
                    mended += 1
    if mended:
        due_index(tx)
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
