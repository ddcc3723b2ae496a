"""Spread answers: a question that asks for several things prefers different conversations over ten turns of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhold.index.documents import KIND_OF
from memhold.text.several import asks_for_several

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memhold.index.postings_arrays import DecodedIndex

    Floats = NDArray[np.float32]
    Mask = NDArray[np.bool_]

__all__ = ["COST", "MOST", "spread_out"]

COST = 0.05
"""What each better hit of the same session costs a message."""
MOST = 10
"""Better hits that are counted."""


def spread_out(text: str, index: DecodedIndex, score: Floats, found: Mask) -> None:
    """Lower each message by the better ones of its session, where the question asks for several things."""
    import numpy as np

    if not asks_for_several(text):
        return
    rows = np.flatnonzero(found & (index.columns["kind"] == KIND_OF["message"]))
    session = index.columns["session"][rows]
    order = np.lexsort((-rows, -score[rows], session))
    rows, session = rows[order], session[order]
    first = np.append(True, session[1:] != session[:-1]) if len(rows) else np.zeros(0, dtype=np.bool_)
    starts = np.flatnonzero(first)
    better = np.arange(len(rows)) - np.repeat(starts, np.diff(np.append(starts, len(rows))))
    lowered = score[rows] - np.float32(COST) * np.minimum(better, MOST).astype(np.float32)
    score[rows] = np.maximum(lowered, np.minimum(score[rows], np.float32(0)))
