"""Branches that were given up: what a conversation went on without ranks behind what it went on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhold.index.marks import GIVEN_UP
from memhold.ports.postings import term_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memhold.index.postings_arrays import DecodedIndex

    Floats = NDArray[np.float32]
    Mask = NDArray[np.bool_]

__all__ = ["sink_given_up"]

_LEFT = 0.5
"""What is left of the score of such a message: of two that say as much the one that holds stands first."""


def sink_given_up(index: DecodedIndex, score: Floats, found: Mask) -> None:
    """Lower what was given up, as the transcripts say that were imported."""
    import numpy as np

    rows = index.find(np.array([term_key(GIVEN_UP)], dtype=np.uint64)).row
    rows = rows[found[rows]]
    score[rows] -= np.abs(score[rows]) * np.float32(1 - _LEFT)
