"""How likely it is that an answer is among the hits: is the topic there, and is it what is asked for?

Two things that must both be so, each a logistic function of a few plain figures, multiplied. What a figure is worth was
fitted on five sets of questions at once, each counting the same, and looked at with each of them left out:
docs/recall.md has the tables, decision 0061 what was tried; where the topic begins and
what a cosine counts in a small scope were set again for the trained rows (decision 0005).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memhold.facts.asked import says_what_is_asked
from memhold.recall.signals import ASKED_FOR
from memhold.recall.sought import holds, sought
from memhold.text.sentences import sentences

__all__ = ["LOOKED_AT", "THRESHOLD", "Evidence", "Said", "confidence", "said_of", "shortfall"]

THRESHOLD = 0.5
"""Below this, take the answer for "nothing relevant". What falls below is in docs/recall.md."""
LOOKED_AT = 5
"""How many of the best hits are looked at."""
CHARS = 2_000
"""Characters of a hit that are looked at."""

_TOPIC, _SHARE, _COSINE, _COSINE_IN_FEW, _TOLD = -2.8, 4.5, 4.0, 13.5, 4.0
_ASKED, _LACKS, _UNNAMED, _UNNAMED_IN_FEW, _SHORTFALL = 2.4, -3.2, -0.9, -2.0, -15.5
HALF = 50
"""A scope of so many documents is half a small one. Who has told ten things asks for one of them, the nearest of few is
likelier it than the nearest of thousands, and what nothing among the nearest names is not there."""
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
    known. `fits`: a sentence of one has the kind of thing that is asked for, money, a number, a time, a name or a
    colour; true where it may be anything.
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
    topic = _TOPIC + _SHARE * evidence.share + (_COSINE + _COSINE_IN_FEW * small) * cosine + _TOLD * known
    unnamed = (_UNNAMED + _UNNAMED_IN_FEW * small) * (said.named is False)
    missing = 0.0 if known else _LACKS * (not said.fits) + unnamed
    return _logistic(topic) * _logistic(_ASKED + missing + _SHORTFALL * evidence.short)


def said_of(question: str, texts: Sequence[str], *, dated: bool) -> Said:
    """Whether the texts of the best hits hold what a question asks for; `dated`: what they tell has a time of its own.

    A text of several sentences asks among other things: no kind is looked for then.
    """
    says = [says_what_is_asked(question, text[:CHARS]) for text in texts]
    named = None if None in says else any(says)
    kind = sought(question) if len(sentences(question)) < 2 else None
    if kind is None or (kind == "time" and dated):
        return Said(named=named, fits=True)
    parts = (span.of(text[:CHARS]) for text in texts for span in sentences(text[:CHARS]))
    return Said(named=named, fits=any(holds(part, kind, question) for part in parts))


def shortfall(best_said: float, best: float) -> float:
    """By what share the best hit of those whom the question names falls short of the best of anybody, 0 to 1.

    Near 0 where they speak of it themselves; far from it where what fits best was said by somebody else.
    """
    return 1 - min(best_said / best, 1.0) if best > 0 and best_said > 0 else float(best > 0)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
