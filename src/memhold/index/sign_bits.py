"""Vectors as sign bits: a scan of one bit a dimension that says which of many vectors are worth an exact look.

Each vector is turned by a fixed random rotation, so that no dimension carries more than the others, and only the signs
are kept, with the sum of the absolute values. The estimate of a cosine is the product of the question, rounded to 16
steps a dimension, with the signs, divided by that sum. It is a sum of counted bits: one AND and one count for 64
dimensions of a document. After Gao and Long, "RaBitQ: Quantizing High-Dimensional Vectors with a Theoretical Error
Bound for Approximate Nearest Neighbor Search" (2024).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Words = NDArray[np.uint64]

__all__ = ["PLANES", "estimated", "signs"]

PLANES = 4
"""Bits a dimension of the question; a fifth changes the estimate by less than the signs leave open."""


def signs(matrix: Floats) -> tuple[Words, Floats]:
    """Sign bits, shape (words of 64 bits, rows), and the sum of absolute values of each row once it was turned.

    A row of zeros has a sum of 0 and an estimate of 0.
    """
    import numpy as np

    turned = matrix @ _rotation(matrix.shape[1])
    width = -(-matrix.shape[1] // 64) * 8
    packed = np.zeros((len(matrix), width), dtype=np.uint8)
    bits = np.packbits(turned > 0, axis=1)
    packed[:, : bits.shape[1]] = bits
    sums: Floats = np.abs(turned).sum(axis=1)
    return np.ascontiguousarray(packed.view(np.uint64).T), sums


def estimated(query: Floats, words: Words, sums: Floats) -> Floats:
    """The estimated cosine of a unit vector with each row; off by about .05 (one standard deviation) at 256 dimensions.

    Deterministic on one machine.
    """
    import numpy as np

    turned = query @ _rotation(len(query))
    low, high = float(turned.min()), float(turned.max())
    step = (high - low) / (2**PLANES - 1) or 1.0
    level = np.round((turned - low) / step).astype(np.int64)
    planes = [_packed((level >> plane) & 1, len(words)) for plane in range(PLANES)]
    set_bits, weighed = np.zeros(words.shape[1], np.uint16), np.zeros(words.shape[1], np.float32)
    for word in words:
        set_bits += np.bitwise_count(word)
    for plane, bits in enumerate(planes):
        shared = np.zeros(words.shape[1], np.uint16)
        for word, asked in zip(words, bits, strict=True):
            shared += np.bitwise_count(word & asked)
        weighed += shared * np.float32(1 << plane)
    # The sum over set bits is low * count + step * weighed; the others count negative.
    product = np.float32(2 * low) * set_bits + np.float32(2 * step) * weighed
    product -= np.float32((low + step * level).sum())
    found: Floats = np.divide(product, sums, out=np.zeros_like(sums), where=sums > 0)
    np.clip(found, -1, 1, out=found)
    return found


def _packed(bits: NDArray[np.int64], words: int) -> Words:
    import numpy as np

    packed = np.zeros(words * 8, dtype=np.uint8)
    whole = np.packbits(bits.astype(np.bool_))
    packed[: len(whole)] = whole
    return packed.view(np.uint64)


@lru_cache(maxsize=4)
def _rotation(dimension: int) -> Floats:
    """A random rotation of a fixed seed."""
    import numpy as np

    drawn = np.random.default_rng(0).standard_normal((dimension, dimension))
    turned: Floats = np.linalg.qr(drawn)[0].astype(np.float32)
    return turned
