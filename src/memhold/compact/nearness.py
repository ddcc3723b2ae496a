"""How near memories are to each other: by their vectors and by the rare words that they share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from memhold.ports.postings import DocumentKind, term_key
from memhold.text.change import changes
from memhold.text.details import content_terms
from memhold.values.records import Memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memhold.index.postings_arrays import DecodedIndex
    from memhold.index.vector_cache import DecodedVectors

    Numbers = NDArray[np.int64]

__all__ = ["CANDIDATES", "Nearness"]

CANDIDATES = 11
"""Nearest memories that one is compared with: what one call shows beside it."""
WORDS = 0.7
"""What all the weight of a memory's words in common adds to a cosine: names and rare words weigh most."""


class Nearness:
    """Nearness in one snapshot of a scope. A pair counts from `distance` (1 less the cosine) or `word_distance` on.

    A memory that says that something changed is compared with its nearest however far they are: what it replaces may
    be told in other words.
    """

    def __init__(
        self, index: DecodedIndex, vectors: DecodedVectors | None, *, distance: float, word_distance: float
    ) -> None:
        self._index = index
        self._vectors = vectors
        self._distance = distance
        self._word_distance = word_distance
        self._weights: dict[str, float] = {}
        self._numbers: dict[int, Numbers] = {}

    def seen(self, memory: Memory) -> bool:
        """Whether a memory has a vector."""
        return self._vectors is None or self._vectors.vector(memory.number) is not None

    def between(self, one: Memory, other: Memory) -> float:
        """The distance of two memories: 1 less their cosine, or less the share of their words where they have none."""
        if self._vectors is not None:
            first, second = self._vectors.vector(one.number), self._vectors.vector(other.number)
            if first is not None and second is not None:
                return max(0.0, 1.0 - float(first @ second))
        mine, theirs = content_terms(one.text), content_terms(other.text)
        self._weigh(mine | theirs)
        union = self._weight(mine | theirs)
        return 1.0 - self._weight(mine & theirs) / union if union else 1.0

    def nearest(self, memory: Memory, agent: int) -> list[tuple[int, float]]:
        """The nearest active notes of an agent by number, with how near they are, nearest first; at most eleven."""
        import numpy as np

        numbers = self._notes(agent)
        numbers = numbers[numbers != memory.number]
        if not len(numbers):
            return []
        shared = self._shared(memory, numbers)
        cosines = np.zeros(len(numbers), dtype=np.float64)
        vector = None if self._vectors is None else self._vectors.vector(memory.number)
        if self._vectors is not None and vector is not None:
            near_by = self._vectors.cosines(vector, numbers)
            found = near_by.nearest if near_by.middle is None else near_by.middle
            cosines = np.where(near_by.held, found, 0.0)
        close = cosines >= 1.0 - self._distance if vector is not None else np.zeros(len(numbers), dtype=bool)
        close |= shared > 1.0 - self._word_distance
        if changes(memory.text) and vector is not None:
            close |= cosines > 0.0
        rows = np.flatnonzero(close)
        strength = cosines[rows] + WORDS * shared[rows]
        order = rows[np.argsort(-strength, kind="stable")][:CANDIDATES]
        return [(int(numbers[row]), float(cosines[row] + WORDS * shared[row])) for row in order]

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

    def _shared(self, memory: Memory, numbers: Numbers) -> NDArray[np.float64]:
        """For each of these notes the share of the weight of a memory's words that it has."""
        import numpy as np

        terms = content_terms(memory.text)
        self._weigh(terms)
        keys = {term_key(term): self._weights[term] for term in terms}
        whole = self._weight(terms)
        if not keys or not whole:
            return np.zeros(len(numbers), dtype=np.float64)
        asked = np.array(sorted(keys), dtype=np.uint64)
        found = self._index.find(asked)
        shared = np.zeros(len(self._index), dtype=np.float64)
        np.add.at(shared, found.row, np.array([keys[int(key)] for key in asked])[found.key])
        share: NDArray[np.float64] = shared[self._index.rows_of(numbers.tolist())] / whole
        return share

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
