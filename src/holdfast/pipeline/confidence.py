"""How likely it is that an answer is among the hits: one number from what the best hit has of the question."""

from __future__ import annotations

import math

__all__ = ["THRESHOLD", "confidence"]

_BIAS, _COVERAGE, _COSINE = -11.4, 11.0, 12.0
"""Logistic regression on half of the LoCoMo conversations, asked their own questions and those of the others
(docs/recall.md); rounded."""
_COSINE_BY_WORDS = (0.11, 0.53)
"""The cosine to expect from the coverage alone, on the same data: a line through the two means."""
THRESHOLD = 0.5
"""Below this, take the answer for "nothing relevant". On the conversations that were held out 92 % of the questions
that were asked of a stranger's memory fall below, and 9 % of those that had an answer. It does not tell a question
about something that was said from one that only sounds like it (LoCoMo's category 5)."""


def confidence(*, coverage: float, cosine: float | None) -> float:
    """The likelihood, 0 to 1, from the best hits.

    `coverage` is the greatest share of the question's words that one of them or its window has, `cosine` the greatest
    nearness in meaning (None where meaning was not asked: the words alone are then believed).
    """
    base, slope = _COSINE_BY_WORDS
    nearness = base + slope * coverage if cosine is None else max(0.0, cosine)
    return 1 / (1 + math.exp(-(_BIAS + _COVERAGE * coverage + _COSINE * nearness)))
