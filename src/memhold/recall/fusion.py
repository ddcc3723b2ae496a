"""Many rankings to one: a weighted sum of scores that each signal has brought to 0..1. One pure function.

Scores are summed, not ranks: reciprocal rank fusion of a strong and a weak list is worse than the strong list alone
(LoCoMo, R@10 .597 against .637), because a rank says nothing about how much better the first is than the second. A
convex combination of normalised scores keeps that (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
Retrieval", 2023).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memhold.values.arrays import Floats, Mask

__all__ = ["SIGNALS", "WEIGHTS", "Fused", "Signal", "asked_of", "fuse", "normalised", "weights_of"]

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "words": 1.0,
        "meaning": 0.5,
        "sentence": 0.05,
        "surroundings": 0.1,
        "speaker": 0.15,
        "key": 0.6,
        "time": 0.6,
        "role": 0.7,
        "advice": 0.5,
        "order": 0.4,
        "change": 0.25,
        "reply": 0.25,
        "recency": 0.3,
    }
)
"""What each signal counts beside the built-in table. Speaker, time and reply were set on the first half of LoCoMo's
and RealMem's conversations, and the second stood beside; the others while looking at all sets (docs/recall.md).

words: the question's words in the message, its window and its session. meaning: nearness of the middle of its
sentences' vectors. sentence: nearness of its nearest sentence. surroundings: the meaning of its window. speaker: said
by somebody whom the question names. key: a fact whose subject and attribute the question names. time: said in a time
that the question names. role: of the role whose words are asked for. advice: the user states something of themselves,
where advice is asked for. order: the last or the first of what matches, where order words ask for it. change: the
user tells in short of a change. reply: said in answer to a question, and no question itself, where speakers have names.
recency: said lately, where the question goes on with a conversation.
"""
SIGNALS = tuple(WEIGHTS)
_OF_A_MODEL: Mapping[str, float] = MappingProxyType({**WEIGHTS, "sentence": 0.5})
"""The same beside vectors of a model that reads a word with those beside it: one sentence of them says enough."""
_OF_SEVERAL: Mapping[str, float] = MappingProxyType({**WEIGHTS, "meaning": 0.35})
"""The same for a long question of several sentences: the mean of their words is near many things (decision 0003)."""


def weights_of(*, static: bool, goes_on: bool) -> Mapping[str, float]:
    """What each signal counts: a sentence by itself, and many words at once, as far as the embedding reads them."""
    if not static:
        return _OF_A_MODEL
    return _OF_SEVERAL if goes_on else WEIGHTS


def asked_of(*, static: bool) -> tuple[str, ...]:
    """The signals that a question is put to which names none: of word vectors a sentence by itself says too little."""
    return tuple(name for name in SIGNALS if not static or name != "sentence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One ranking: a score from 0 to 1 for each row, and which rows it found (others it only ranks)."""

    name: str
    score: Floats
    found: Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """The sum over signals, by row, and which rows any signal found."""

    score: Floats
    found: Mask


def fuse(signals: Sequence[Signal], *, weights: Mapping[str, float] = WEIGHTS) -> Fused:
    """The weighted sum of the signals. Monotone: a higher score in one signal never lowers a row's sum.

    Raises:
        ValueError: no signal was given.
    """
    if not signals:
        raise ValueError("there is nothing to fuse")
    import numpy as np

    score = np.zeros_like(signals[0].score, dtype=np.float32)
    found = np.zeros(len(score), dtype=np.bool_)
    for signal in sorted(signals, key=lambda signal: SIGNALS.index(signal.name)):
        score += signal.score * np.float32(weights[signal.name])
        found |= signal.found
    return Fused(score=score, found=found)


def normalised(values: Floats, among: Mask | None = None, *, centred: bool = False) -> Floats:
    """Values by the greatest among those that count, at least 0; with `centred` what is above their mean."""
    import numpy as np

    if among is not None and among.all():
        among = None
    chosen = values if among is None else values[among]
    if not len(chosen):
        return np.zeros_like(values)
    base = np.float32(chosen.mean(dtype=np.float64)) if centred else np.float32(0)
    span = np.float32(chosen.max()) - base
    if not span > 0:
        return np.zeros_like(values)
    scaled = values - base
    scaled /= span
    np.clip(scaled, 0, 1, out=scaled)
    if among is not None:
        scaled[~among] = 0
    whole: Floats = scaled
    return whole
