"""Vectors as stores keep them: an int8 a dimension, a quarter of float32.

A record is the numbers of one vector, what one step of them is, and how long the sum of its document's vectors is: the
middle of a document is that sum at unit length. What that costs stands in docs/recall.md, Size.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memhold.ports.vector_blocks import (
    DAMAGED,
    RECORD_TAIL,
    CorruptVectors,
    VectorBlock,
    count_of,
    in_floats,
    record_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Records = NDArray[np.void]
    from memhold.values.arrays import Floats

__all__ = ["LEAST_LENGTH", "floats_of", "in_records", "join", "read_records", "record_each", "sound"]

_STEPS = 127
LEAST_LENGTH = 0.01
"""Vectors of a document that cancel out have a middle all the same."""
_ROUNDING = 1.01


def read_records(vectors: bytes | memoryview, dimension: int) -> Records:
    """Stored records, one a row: `numbers`, `step` and `length`.

    Raises:
        ValueError: they are no whole number of records.
    """
    import numpy as np

    form = np.dtype([("numbers", "i1", (dimension,)), ("step", "<f4"), ("length", "<f4")])
    return np.frombuffer(vectors, dtype=form)


def floats_of(records: Records) -> Floats:
    """The vectors of some records, one a row; as near to unit length as they were stored."""
    import numpy as np

    found: Floats = records["numbers"] * records["step"].astype(np.float32)[:, None]
    return found


def record_each(vectors: Floats) -> list[bytes]:
    """Unit vectors, each as the record of a document that has this one alone."""
    made = _records(vectors)
    return [made[at : at + 1].tobytes() for at in range(len(made))]


def join(documents: Sequence[Sequence[bytes]]) -> list[bytes]:
    """Of each document its records, one behind the other; each document has some."""
    import numpy as np

    if not documents:
        return []
    counts = np.array([len(one) for one in documents], dtype=np.int64)
    dimension = len(documents[0][0]) - RECORD_TAIL
    records = read_records(b"".join(record for one in documents for record in one), dimension).copy()
    _measure(records, counts)
    ends = np.cumsum(counts).tolist()
    return [records[end - count : end].tobytes() for end, count in zip(ends, counts.tolist(), strict=True)]


def in_records(block: VectorBlock, dimension: int) -> VectorBlock:
    """The block with its vectors as records, whatever form they have.

    Raises:
        CorruptVectors: it is damaged, or its float32 are of other lengths than one.
    """
    import numpy as np

    if block.damaged:
        raise CorruptVectors(block.first, DAMAGED)
    if not in_floats(block, dimension):
        return block
    vectors = np.frombuffer(block.vectors, dtype="<f4").reshape(-1, dimension)
    lengths = np.einsum("ij,ij->i", vectors, vectors)
    # Written so that a length that is no number fails too.
    if not bool((np.abs(lengths - 1) <= LEAST_LENGTH).all()):
        raise CorruptVectors(block.first, "a vector is not of unit length")
    records = _records(vectors)
    counts = np.array([count for mark in block.marks if (count := count_of(mark))], dtype=np.int64)
    _measure(records, counts)
    return replace(block, vectors=records.tobytes(), stored=0)


def sound(records: Records) -> bool:
    """Whether these may be records of unit vectors."""
    import numpy as np

    steps = records["step"]
    least = 1 / (_STEPS * _ROUNDING * max(records["numbers"].shape[1], 1) ** 0.5)
    return bool(((steps >= least) & (steps <= _ROUNDING / _STEPS)).all()) and bool(np.isfinite(records["length"]).all())


def _records(vectors: Floats) -> Records:
    import numpy as np

    made = np.zeros(len(vectors) * record_bytes(vectors.shape[1]), dtype=np.uint8)
    records = read_records(made.data, vectors.shape[1])
    scale = np.float32(_STEPS) / np.abs(vectors).max(axis=1, initial=0)
    numbers = np.rint(vectors * scale[:, None])
    records["numbers"] = numbers
    # The step with which they come nearest to the vector.
    records["step"] = np.einsum("ij,ij->i", numbers, vectors) / np.einsum("ij,ij->i", numbers, numbers)
    records["length"] = 1
    return records


def _measure(records: Records, counts: Integers) -> None:
    """Set how long the sums of the documents' vectors are, given how many each document has."""
    import numpy as np

    if len(records) > len(counts):
        sums = np.add.reduceat(floats_of(records), np.cumsum(counts) - counts)
        lengths = np.maximum(np.sqrt(np.square(sums).sum(axis=1)), np.float32(LEAST_LENGTH))
        records["length"] = np.repeat(np.where(counts > 1, lengths, np.float32(1)), counts)
