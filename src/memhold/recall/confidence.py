"""How likely it is that an answer is among the hits: is the topic there, and was it the person who is asked about?"""

from __future__ import annotations

import math

__all__ = ["THRESHOLD", "confidence", "shortfall"]

_TOPIC, _COVERAGE, _COSINE = -10.6, 10.0, 15.0
"""Whether the topic is there: logistic regression on the first half of the LoCoMo conversations, asked their own
questions and those of other conversations; rounded."""
_PERSON, _SHORTFALL = 2.0, -16.0
"""Whether it was that person: the same on their own questions, those about what was never said (category 5) and the
others; rounded."""
_COSINE_BY_WORDS = (0.05, 0.61)
"""The cosine to expect from the coverage alone, on the same data: a line through the two means."""
THRESHOLD = 0.5
"""Below this, take the answer for "nothing relevant". What falls below is in docs/recall.md; `python -m benchmarks
locomo` prints it."""


def confidence(*, coverage: float, cosine: float | None, short: float = 0.0) -> float:
    """The likelihood, 0 to 1, from the best hits.

    `coverage` is the greatest share of the question's words that one of them or its window has, `cosine` the greatest
    nearness in meaning (None where meaning was not asked: the words alone are then believed), `short` the `shortfall`
    of the speakers whom the question names, 0 where it names none. Falls with `short`, never with the others.
    """
    base, slope = _COSINE_BY_WORDS
    nearness = base + slope * coverage if cosine is None else max(0.0, cosine)
    return _logistic(_TOPIC + _COVERAGE * coverage + _COSINE * nearness) * _logistic(_PERSON + _SHORTFALL * short)


def shortfall(best_said: float, best: float) -> float:
    """By what share the best hit of those whom the question names falls short of the best of anybody, 0 to 1.

    Near 0 where they speak of it themselves; far from it where what fits best was said by somebody else.
    """
    return 1 - min(best_said / best, 1.0) if best > 0 and best_said > 0 else float(best > 0)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
