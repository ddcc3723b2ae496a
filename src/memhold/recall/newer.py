"""Later statements before earlier ones of the same thing, among the best hits of a recall."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from memhold.ports.postings import term_key
from memhold.text.analysis import analyse_query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memhold.index.postings_arrays import DecodedIndex
    from memhold.index.vector_cache import VectorOf
    from memhold.index.words import WordScores

    Floats = NDArray[np.float32]
    Rows = NDArray[np.int64]
    Mask = NDArray[np.bool_]

__all__ = ["DEPTH", "newer_first"]

_COLUMNS = ("event_time", "role", "kind", "length")

DEPTH = 30
"""How many of the best hits are compared with each other for a later statement of the same thing."""
SAME_THING, ANSWERS, CHANGED, MOST_WORDS, MOST_GRAMS, BRIEF = 0.68, 0.45, 0.3, 0.6, 0.4, 25
"""Cosines from which on two messages speak of the same thing: always; where they have this share of the question's
words (grams, where it is written without spaces: what asks is no function word there) and are at most this many words
long; where the later one also has a word of change. Set on dialogues of our own
and checked against LoCoMo (docs/recall.md)."""
_CHANGE_WORDS = (
    "now actually changed switched moved anymore instead longer renamed new since today jetzt inzwischen mehr "
    "stattdessen sondern maintenant désormais plus ahora ya adesso ora agora nu tegenwoordig teraz теперь "
    "이제 지금 现在 現在 変わ 今"
)


def newer_first(
    order: Rows, score: Floats, index: DecodedIndex, words: WordScores, vectors: VectorOf | None, aside: Mask
) -> tuple[Rows, Mapping[int, int]]:
    """The order with later statements before earlier ones of the same thing, and which row each earlier one yields to.

    Two messages of one role speak of the same thing where the later one has every word of the question that the
    earlier one has, and half of its grams where it is written without spaces (`aside` marks words that name speakers;
    they do not count), and their vectors are near: very near, or less so where they have most of the question's words,
    and least where the later one says that something changed. Only the best hits are compared; a later one moves to the
    place of the earlier, nothing else changes its order. Where it stands first already, the earlier names it too.
    """
    import numpy as np

    best = [int(row) for row in order[:DEPTH]]
    yields = dict[int, int]()
    if vectors is None or len(best) < 2:
        return order, yields
    said = {row: words.said(row, aside) for row in best}
    most, grams = max(1, words.strong(aside)), words.grams()
    told = {name: dict(zip(best, index.columns[name][best].tolist(), strict=True)) for name in _COLUMNS}
    when, role, kind, length = (told[name] for name in _COLUMNS)
    changes = index.memo.get("changes")
    if changes is None:
        found = index.find(np.array(_cues(), dtype=np.uint64))
        changes = index.memo["changes"] = frozenset(found.row.tolist())
    placed: list[int] = []
    for row in best:
        at = len(placed)
        for place, other in enumerate(placed):
            later, earlier = (row, other) if (when[row], row) > (when[other], other) else (other, row)
            alike = role[row] == role[other] and kind[row] == kind[other]
            if not (alike and _as_much(said[earlier], said[later], grams)):
                continue
            near = _cosine(vectors, index, later, earlier)
            brief = max(length[later], length[earlier]) <= BRIEF
            enough = MOST_GRAMS if said[earlier] <= grams else MOST_WORDS
            covers = brief and len(said[earlier]) / most >= enough
            needed = SAME_THING if not covers else CHANGED if later in changes else ANSWERS
            if near >= needed and score[row] >= score[other] / 2:
                at = min(at, place) if later == row else at
                yields.setdefault(earlier, later)
        placed.insert(at, row)
    return np.concatenate([np.array(placed, dtype=order.dtype), order[DEPTH:]]), yields


def _as_much(earlier: frozenset[int], later: frozenset[int], grams: frozenset[int]) -> bool:
    """Whether a later statement has what an earlier one has of the question; a word put in between breaks a gram."""
    missing = earlier - later
    return bool(earlier) and missing <= grams and 2 * len(missing) <= len(earlier & grams)


def _cosine(vectors: VectorOf, index: DecodedIndex, row: int, other: int) -> float:
    one, two = vectors.vector(int(index.numbers[row])), vectors.vector(int(index.numbers[other]))
    return -1.0 if one is None or two is None else float(one @ two)


@lru_cache(maxsize=1)
def _cues() -> tuple[int, ...]:
    words = (word for cue in _CHANGE_WORDS.split() for word in analyse_query(cue))
    return tuple(sorted({term_key(term) for word in words for term in word.terms}))
