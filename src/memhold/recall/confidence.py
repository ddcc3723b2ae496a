"""How likely it is that an answer is among the hits: is the topic there, is what is asked said of it, and by whom?

Three things that must all be so, each a logistic function of a few plain figures, multiplied. What a figure is worth
was fitted on five kinds of data at once, each set counting the same (docs/recall.md has the tables and what was tried).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memhold.facts.asked import says_what_is_asked
from memhold.recall.signals import ASKED_FOR
from memhold.text.sought import holds, sought

__all__ = ["LOOKED_AT", "THRESHOLD", "Evidence", "Said", "confidence", "said_of", "shortfall"]

THRESHOLD = 0.5
"""Below this, take the answer for "nothing relevant". What falls below is in docs/recall.md."""
LOOKED_AT = 5
"""How many of the best hits are looked at."""
CHARS = 2_000
"""Characters of a hit that are looked at."""

_TOPIC = -3.3
_SHARE, _COSINE, _SMALL, _TOLD, _NAMED = 3.1, 6.8, 3.6, 4.2, 1.1
HALF = 50
"""A scope of so many documents has half its nearness explained by its size: among ten facts the nearest is the nearest,
among thousands something is near to every question."""
_SAID, _UNNAMED, _FITS = 2.0, -3.3, 2.7
_PERSON, _SHORTFALL = 2.0, -16.0
"""Whether it was that person: logistic regression on the first half of the LoCoMo conversations, their own questions,
those about what was never said (category 5) and the others; rounded."""
_COSINE_BY_WORDS = (0.05, 0.61)
"""The cosine to expect from the share alone: a line through two means, of the same data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the best hits (`rows`) tell before their texts are read.

    `share` is the greatest share of the question's words that one of them says, the rare ones counting more; `cosine`
    the greatest nearness in meaning (None where meaning was not asked, or the best hit has no vector yet); `documents`
    how many the scope has; `told` by how much a fact among them is the one that is asked for; `short` the `shortfall`
    of the speakers whom the question names, 0 where it names none.
    """

    rows: tuple[int, ...]
    share: float
    cosine: float | None
    documents: int
    told: float = 0.0
    short: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the texts of the best hits tell.

    `named`: one of them says something of what the question asks for (an address, a rent), None where that is not
    known. `fits`: one has the kind of thing that is asked for, a number, a time or a name; true where it may be
    anything.
    """

    named: bool | None
    fits: bool


def confidence(evidence: Evidence, said: Said) -> float:
    """The likelihood, 0 to 1; 0 without a hit.

    Falls with `short` and never with share, cosine, `told`, `named` or `fits`.
    """
    if not evidence.rows:
        return 0.0
    base, slope = _COSINE_BY_WORDS
    cosine = base + slope * evidence.share if evidence.cosine is None else max(0.0, evidence.cosine)
    small = HALF / (HALF + evidence.documents)
    known = evidence.told >= ASKED_FOR
    topic = _TOPIC + _SHARE * evidence.share + _COSINE * cosine * (1 - small) + _SMALL * small
    topic += _TOLD * known + _NAMED * bool(said.named)
    stated = _SAID + _UNNAMED * (said.named is False and not known) + _FITS * said.fits
    return _logistic(topic) * _logistic(stated) * _logistic(_PERSON + _SHORTFALL * evidence.short)


def said_of(question: str, texts: Sequence[str], sentences: Sequence[str]) -> Said:
    """Whether the texts of the best hits, and the nearest sentence of each, hold what a question asks for."""
    kind, says = sought(question), [says_what_is_asked(question, text[:CHARS]) for text in texts]
    named = None if None in says else any(says)
    fits = kind is None or any(holds(sentence[:CHARS], kind, question) for sentence in sentences)
    return Said(named=named, fits=fits)


def shortfall(best_said: float, best: float) -> float:
    """By what share the best hit of those whom the question names falls short of the best of anybody, 0 to 1.

    Near 0 where they speak of it themselves; far from it where what fits best was said by somebody else.
    """
    return 1 - min(best_said / best, 1.0) if best > 0 and best_said > 0 else float(best > 0)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
