"""What the answer to any question of a scope would lack now, without a question being asked."""

from __future__ import annotations

from dataclasses import replace

from memhold.ports.transaction import ReadTx
from memhold.recall.meaning import Meaning, nearness
from memhold.recall.recall import Caches
from memhold.values.errors import CorruptIndex

__all__ = ["lacking"]

_LONGEST = 65_536
"""No embedding has longer vectors; what a store says beyond is rot, and would take its size in memory."""


def lacking(tx: ReadTx, caches: Caches, meaning: Meaning) -> tuple[str, ...]:
    """The signals that `recall` would name in `degraded`, as far as the store tells; a model is not asked for that.

    `words` where the words index is damaged. `meaning` where vectors are, or are another embedding's, or lag behind by
    more than a minute, or where the embedding could not be opened, or is left alone since it failed or was slow.
    """
    import numpy as np

    try:
        index = caches.indexes.index(tx)
    except CorruptIndex:
        return ("words",)
    current = next((one for one in tx.generations() if one.state == "current"), None)
    if current is not None and meaning.fingerprint == current.fingerprint:
        if type(current.dimension) is not int or not 0 < current.dimension <= _LONGEST:
            meaning = replace(meaning, failed="no vector has that length")
        else:
            # Any question shows what vectors there are to compare it with.
            meaning = replace(meaning, vector=np.eye(1, current.dimension, dtype=np.float32)[0])
    _, gaps = nearness(tx, index, caches.vectors, caches.near, meaning, lambda: np.zeros(0, dtype=np.int64))
    return (*(("words",) if index.damage is not None else ()), *gaps.degraded)
