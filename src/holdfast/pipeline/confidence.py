"""How likely it is that an answer is among the hits: one number from what the best hit has of the question."""

from __future__ import annotations

import math

__all__ = ["THRESHOLD", "confidence"]

_BIAS, _COVERAGE, _COSINE = -3.2, 3.6, 3.0
"""Logistic weights of the share of the question's words and of the cosine. See docs/recall.md."""
THRESHOLD = 0.5
"""Below this, take the answer for "nothing relevant"."""


def confidence(*, coverage: float, cosine: float | None) -> float:
    """The likelihood, 0 to 1, from the best hits: the greatest share of the question's words that one of them or its
    window has, and the greatest cosine (None where meaning was not asked: the words alone are then believed).
    """
    nearness = 2 * coverage / 3 if cosine is None else max(0.0, cosine)
    return 1 / (1 + math.exp(-(_BIAS + _COVERAGE * coverage + _COSINE * nearness)))
