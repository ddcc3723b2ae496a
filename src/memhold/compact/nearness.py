"""How far memories are from each other: by their vectors, or by their words where there are none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from memhold.ports.postings import DocumentKind, term_key
from memhold.text.details import content_terms
from memhold.values.records import Memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memhold.index.postings_arrays import DecodedIndex
    from memhold.index.vector_cache import DecodedVectors

    Numbers = NDArray[np.int64]

__all__ = ["Nearness"]

MOST_NEIGHBOURS = 40
"""Neighbours of one memory that a run looks at, the closest."""


class Nearness:
    """Distances in one snapshot of a scope: from 0, and comparable with `distance` whatever they come from.

    A distance by words is scaled so that `word_distance` becomes `distance`.
    """

    def __init__(
        self, index: DecodedIndex, vectors: DecodedVectors | None, *, distance: float, word_distance: float
    ) -> None:
        self._index = index
        self._vectors = vectors
        self._distance = distance
        self._scale = distance / word_distance
        self._weights: dict[str, float] = {}
        self._numbers: dict[int, Numbers] = {}

    def seen(self, memory: Memory) -> bool:
        """Whether a memory has a vector."""
        return self._vectors is not None and self._vectors.vector(memory.number) is not None

    def between(self, one: Memory, other: Memory) -> float:
        """The distance of two memories."""
        if self._vectors is not None:
            first, second = self._vectors.vector(one.number), self._vectors.vector(other.number)
            if first is not None and second is not None:
                return max(0.0, 1.0 - float(first @ second))
        mine, theirs = content_terms(one.text), content_terms(other.text)
        self._weigh(mine | theirs)
        union = self._weight(mine | theirs)
        return (1.0 - self._weight(mine & theirs) / union) * self._scale if union else 1.0

    def neighbours(self, memory: Memory, agent: int) -> list[int]:
        """The numbers of the closest active notes of an agent, itself left out, closest first; at most 40."""
        import numpy as np

        numbers = self._notes(agent)
        vector = None if self._vectors is None else self._vectors.vector(memory.number)
        if self._vectors is None or vector is None:
            return self._by_words(memory, numbers)
        near_by = self._vectors.cosines(vector, numbers)
        cosines, held = near_by.nearest if near_by.middle is None else near_by.middle, near_by.held
        near = np.flatnonzero(held & (cosines >= 1.0 - self._distance) & (numbers != memory.number))
        order = near[np.argsort(-cosines[near], kind="stable")][:MOST_NEIGHBOURS]
        found: list[int] = numbers[order].tolist()
        return found

    def copies(self, memory: Memory, agent: int) -> list[int]:
        """The numbers of the active notes of an agent with the same words as often, itself left out."""
        index = self._index
        row = index.rows_of([memory.number])
        if not len(row):
            return []
        numbers = self._notes(agent)
        rows = index.rows_of(numbers.tolist()) if len(numbers) else row
        same: list[int] = index.numbers[rows[index.signatures[rows] == index.signatures[row[0]]]].tolist()
        return [number for number in same if number != memory.number]

    def _notes(self, agent: int) -> Numbers:
        held = self._numbers.get(agent)
        if held is None:
            columns = self._index.columns
            mask = (columns["kind"] == DocumentKind.NOTE) & self._index.active & (columns["agent"] == agent)
            held = self._numbers[agent] = self._index.numbers[mask]
        return held

    def _by_words(self, memory: Memory, numbers: Numbers) -> list[int]:
        """Notes that share much of the weight of its words; what is near is among them."""
        import numpy as np

        terms = content_terms(memory.text)
        self._weigh(terms)
        keys = {term_key(term): self._weights[term] for term in terms}
        if not keys:
            return []
        asked = np.array(sorted(keys), dtype=np.uint64)
        found = self._index.find(asked)
        shared = np.zeros(len(self._index), dtype=np.float64)
        np.add.at(shared, found.row, np.array([keys[int(key)] for key in asked])[found.key])
        rows = self._index.rows_of(numbers.tolist())
        least = self._weight(terms) * (1.0 - self._distance / self._scale)
        rows = rows[(shared[rows] >= least) & (self._index.numbers[rows] != memory.number)]
        best = rows[np.argsort(-shared[rows], kind="stable")][:MOST_NEIGHBOURS]
        chosen: list[int] = self._index.numbers[best].tolist()
        return chosen

    def _weigh(self, terms: Iterable[str]) -> None:
        """Rare words weigh more: the inverse document frequency within the scope."""
        import numpy as np

        new = [term for term in terms if term not in self._weights]
        if not new:
            return
        keys: Mapping[int, str] = {term_key(term): term for term in new}
        asked = np.array(sorted(keys), dtype=np.uint64)
        counts = np.bincount(self._index.find(asked).key, minlength=len(asked))
        for key, count in zip(asked, counts, strict=True):
            self._weights[keys[int(key)]] = math.log(1.0 + (len(self._index) + 1) / (1.0 + float(count)))
        for term in new:
            self._weights.setdefault(term, 1.0)

    def _weight(self, terms: Iterable[str]) -> float:
        return math.fsum(self._weights[term] for term in sorted(terms))


def spread(near: Nearness, ones: Sequence[Memory], others: Sequence[Memory]) -> float:
    """The distance of the two farthest memories of two groups."""
    return max((near.between(one, other) for one in ones for other in others), default=0.0)
