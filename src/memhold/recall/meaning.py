"""What the question is near to in meaning: cosines by row of the index, and what is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from memhold.index.nearest import NearCache, NearVectors
from memhold.index.postings_arrays import DecodedIndex
from memhold.index.vector_cache import Cosines, VectorCache, VectorsOf
from memhold.ports.transaction import ReadTx
from memhold.ports.vector_blocks import CorruptVectors, Generation, unseen
from memhold.recall.answering import Gaps
from memhold.recall.signals import Near, Sentences

if TYPE_CHECKING:
    from memhold.values.arrays import Floats, Mask, Rows

__all__ = ["LAG", "Meaning", "nearness"]

LAG = timedelta(seconds=60)
"""A meaning index that is behind by more is said to be degraded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """The question as the embedder sees it, or why it does not: `off` (none is configured) or `failed`.

    `static`: its vectors are sums of word vectors, which know nothing of what stands beside a word.
    """

    vector: Floats | None = None
    fingerprint: str | None = None
    off: bool = False
    failed: str | None = None
    static: bool = False


def nearness(
    tx: ReadTx,
    index: DecodedIndex,
    vectors: VectorCache,
    near: NearCache,
    meaning: Meaning,
    also: Callable[[], Rows],
) -> tuple[Near | None, Gaps]:
    """Cosines by row, and whether each row has a vector; what is missing.

    Where cosines are estimated, those of the rows of `also` are exact all the same.
    """
    if meaning.off:
        return None, Gaps(off=("meaning",))
    generations = tx.generations()
    current = next((one for one in generations if one.state == "current"), None)
    building = next((one.fingerprint for one in generations if one.state == "building"), None)
    if meaning.failed is not None:
        return None, Gaps(degraded=("meaning",), why=meaning.failed, lag=_without(tx, index, current))
    if current is not None and current.fingerprint != meaning.fingerprint:
        ours = next((one for one in generations if one.fingerprint == meaning.fingerprint), None)
        lag = _without(tx, index, ours)
        return None, Gaps(degraded=("meaning",), why="another embedding", building=building, lag=lag)
    if current is None:
        lag = int(index.active.sum())
        return None, Gaps(lag=lag, degraded=_behind(tx, index, index.active))
    try:
        if meaning.vector is None:
            return None, Gaps(building=building)
        found = _cosines(tx, index, vectors, near, current, meaning.vector, also)
    except CorruptVectors as error:
        return None, Gaps(degraded=("meaning",), why=str(error))
    cosines, of = found
    missing = index.active & ~cosines.seen
    gaps = Gaps(lag=int(missing.sum()), degraded=_behind(tx, index, missing), building=building)
    sentences = Sentences(vectors=of, query=meaning.vector)
    told = Near(cosines=cosines.nearest, middle=cosines.middle, held=cosines.held & index.living, sentences=sentences)
    return told, gaps


def _cosines(
    tx: ReadTx,
    index: DecodedIndex,
    vectors: VectorCache,
    near: NearCache,
    current: Generation,
    query: Floats,
    also: Callable[[], Rows],
) -> tuple[Cosines, VectorsOf]:
    """As `DecodedVectors.cosines`, and the vectors.

    By the store's index of nearest neighbours where it has one for the scope; then vectors are read one by one.
    """
    found = near.cosines(tx, current, query, index.numbers, also)
    if found is not None:
        return found, NearVectors(tx, current)
    held = vectors.vectors(tx, current)
    return held.cosines(query, index.numbers), held


def _without(tx: ReadTx, index: DecodedIndex, generation: Generation | None) -> int:
    """How many active documents a generation has not looked at; all of them where there is none."""
    import numpy as np

    if generation is None:
        return int(index.active.sum())
    count = tx.document_count()
    left = unseen(tx.vector_marks(generation.number), count, count)
    return int((index.active & np.isin(index.numbers, left)).sum()) if left else 0


def _behind(tx: ReadTx, index: DecodedIndex, missing: Mask) -> tuple[str, ...]:
    """`meaning` where the oldest document without a vector has waited for over a minute."""
    import numpy as np

    first = np.flatnonzero(missing)[:1]
    oldest = tx.find_numbers(index.numbers[first].tolist())
    return ("meaning",) if oldest and tx.now - oldest[0].recorded_at > LAG else ()
