"""How near memories are to each other: by their vectors and by the rare words that they share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from memhold.ports.postings import DocumentKind, term_key
from memhold.text.change import ends
from memhold.text.details import content_terms
from memhold.values.records import Memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memhold.index.postings_arrays import DecodedIndex
    from memhold.index.vector_cache import DecodedVectors

    Numbers = NDArray[np.int64]
    Vector = NDArray[np.float32]

__all__ = ["CANDIDATES", "Nearness"]

CANDIDATES = 11
"""Nearest memories that one is compared with: what one call shows beside it."""
WORDS = 0.7
"""What all the weight of a memory's words in common adds to a cosine: names and rare words weigh most."""


CROWD = 5
"""Nearest notes of a note whose mean nearness says how crowded the place is where it stands."""
LOOKED_AT = 64
"""Nearest notes whose crowd is looked at; the others are farther than any crowd could make up for."""
LEAST = 0.01
"""The least nearness of a pair that is looked at."""
SAME = 0.9999
"""A cosine from which on a vector is taken for the note itself."""
AT_ONCE = 4 * 512
"""Notes of a scope up to which the crowds of all are measured in one step: a step a note takes longer."""
SAMPLE = 512
"""Notes of a scope by which its middle and its crowds are measured: more say no more."""


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
        self._surroundings: dict[int, _Surroundings | None] = {}

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
        if ends(memory.text) and vector is not None:
            close |= cosines > 0.0
        rows = np.flatnonzero(close)
        strength = WORDS * shared[rows]
        around = None if vector is None else self._around(agent)
        if around is None or vector is None:
            strength += cosines[rows]
        else:
            strength += around.centred(vector, cosines[rows], numbers[rows])
            # Beyond the nearest few the crowd changes nothing.
            first = np.argsort(-strength, kind="stable")[:LOOKED_AT]
            rows, strength = rows[first], strength[first]
            crowds = around.crowds([memory.number, *numbers[rows].tolist()])
            strength = np.maximum(strength - (crowds[1:] + crowds[0]) / 2, LEAST)
        order = np.argsort(-strength, kind="stable")[:CANDIDATES]
        return [(int(numbers[rows[at]]), float(strength[at])) for at in order]

    def _around(self, agent: int) -> _Surroundings | None:
        """The notes of an agent as a whole; None where one call shows them all anyway."""
        if agent not in self._surroundings:
            numbers, found = self._notes(agent), None
            if self._vectors is not None and len(numbers) > CANDIDATES + 1:
                some = [self._vectors.vector(number) for number in numbers[:: max(1, len(numbers) // SAMPLE)].tolist()]
                sample = [one for one in some if one is not None]
                found = _Surroundings(sample, self._vectors, numbers) if len(sample) > CROWD else None
            self._surroundings[agent] = found
        return self._surroundings[agent]

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


class _Surroundings:
    """What the notes of a scope have in common, and how crowded a place among them is.

    All notes of a scope are near to each other, and some are near to all: a cosine says as much of the scope as of
    two notes. So nearness is measured from the middle of the scope, less the mean nearness of either one's crowd.
    """

    def __init__(self, sample: Sequence[Vector], vectors: DecodedVectors, numbers: Numbers) -> None:
        import numpy as np

        some = np.stack(sample).astype(np.float64)
        self._middle = some.mean(axis=0)
        self._square = float(self._middle @ self._middle)
        length = max(math.sqrt(self._square), LEAST)
        along = vectors.cosines((self._middle / length).astype(np.float32), numbers)
        self._along = (along.nearest if along.middle is None else along.middle).astype(np.float64) * length
        self._vectors = vectors
        self._numbers = numbers
        self._some = self._from_middle(some)
        self._crowds: dict[int, float] = {}

    def centred(self, vector: Vector, cosines: NDArray[np.float64], numbers: Numbers) -> NDArray[np.float64]:
        """The cosines of a vector with these notes, as seen from the middle of all."""
        import numpy as np

        along = self._along[np.searchsorted(self._numbers, numbers)]
        own = float(self._middle @ vector)
        lengths = np.sqrt(np.maximum(1.0 - 2.0 * along + self._square, LEAST))
        found: NDArray[np.float64] = cosines - own - along + self._square
        return found / (lengths * math.sqrt(max(1.0 - 2.0 * own + self._square, LEAST)))

    def crowds(self, numbers: Sequence[int]) -> NDArray[np.float64]:
        """For each note the mean nearness of the nearest notes around it, itself left out; 0 where it has no vector."""
        import numpy as np

        missing = [one for one in numbers if one not in self._crowds]
        if missing and not self._crowds and len(self._numbers) <= AT_ONCE:
            missing = self._numbers.tolist()
        held = {one: self._vectors.vector(one) for one in missing}
        new = {one: vector for one, vector in held.items() if vector is not None}
        if new:
            near = self._from_middle(np.stack(list(new.values())).astype(np.float64)) @ self._some.T
            near[near > SAME] = -1.0
            means = np.partition(near, -CROWD, axis=1)[:, -CROWD:].mean(axis=1)
            self._crowds.update(zip(new, means.tolist(), strict=True))
        return np.array([self._crowds.get(one, 0.0) for one in numbers])

    def _from_middle(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        import numpy as np

        moved = vectors - self._middle
        found: NDArray[np.float64] = moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), LEAST)
        return found
