"""Nearness in a scope whose store keeps an index of nearest neighbours: most of its vectors are never read.

What the index gives, what the words put first and the newest documents have exact cosines. All others count as far as
the middle of the scope: the cosine of the question with the mean of a sample of its vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memhold.index.kept_scopes import Kept, KeptScopes
from memhold.index.turns import SCORING
from memhold.index.vector_cache import Cosines, DecodedVectors
from memhold.ports.vector_blocks import HELD, STATE_BITS, UNSEEN, VECTOR_DOCUMENTS, CorruptVectors, block_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memhold.ports.transaction import ReadTx
    from memhold.ports.vector_blocks import Generation, VectorBlock

    Numbers = NDArray[np.int64]
    Marks = NDArray[np.uint8]
    from memhold.values.arrays import Floats

__all__ = ["NEAREST", "NearCache", "NearVectors"]

NEAREST = 1000
"""How many of the nearest are asked for (docs/scaling.md, Large scopes)."""
WITH_TURNS = 100
"""How many of the best by words have the turns around them scored too."""
SAMPLED_BLOCKS = 64
"""Blocks of 128 vectors whose mean stands for that of the scope: cosines with it are off by less than .01."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What is kept of a scope: its marks, the mean of a sample, and the vectors of its newest documents."""

    rev: int
    upto: int
    marks: Marks
    sampled: tuple[tuple[int, int], ...]
    middle: Floats
    newest: DecodedVectors

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.marks.nbytes + self.middle.nbytes + self.newest.nbytes


class NearVectors:
    """The vectors of one scope in one transaction, each read when it is asked for."""

    def __init__(self, tx: ReadTx, generation: Generation) -> None:
        self._tx = tx
        self._generation = generation
        self._read: dict[int, DecodedVectors] = {}

    def vectors(self, number: int) -> Floats | None:
        """The vectors of one document; None where it has none, or its block is damaged (which `doctor` finds)."""
        first = block_of(number)
        if first not in self._read:
            blocks = self._tx.vector_blocks(self._generation.number, [first])
            try:
                self._read[first] = DecodedVectors.of(blocks, self._generation.dimension)
            except CorruptVectors:
                self._read[first] = DecodedVectors.of([], self._generation.dimension)
        return self._read[first].vectors(number)


class NearCache:
    """What is kept of the scopes that were asked last; an answer is the same without."""

    def __init__(self, scopes: KeptScopes) -> None:
        self._kept: Kept[tuple[int, _Held]] = Kept(scopes, lambda held: held[1].nbytes)

    def cosines(
        self, tx: ReadTx, generation: Generation, query: Floats, numbers: Numbers, also: Callable[[], Numbers]
    ) -> Cosines | None:
        """As `DecodedVectors.cosines`, of the nearest vectors alone.

        None where the store has no index of nearest neighbours for the scope.

        `also` gives rows, as places in `numbers`, whose cosine is to be exact whatever the index gives, the most
        important first.

        Raises:
            CorruptVectors: a block does not have the shape of its generation.
        """
        import numpy as np

        def named() -> list[int]:
            asked: list[int] = numbers[_with_turns(also(), len(numbers))].tolist()
            return asked

        found = tx.nearest(generation.number, query.astype("<f4").tobytes(), NEAREST, named)
        if found is None:
            return None
        held = self._held(tx, generation, found.upto)
        top = int(numbers[-1]) + 1 if len(numbers) else 0
        marks = np.zeros(max(top, len(held.marks)), dtype=np.uint8)
        marks[: len(held.marks)] = held.marks
        cosines = np.full(len(marks), np.float32(query @ held.middle))
        near = np.fromiter(found.cosines, dtype=np.int64, count=len(found.cosines))
        values = np.fromiter(found.cosines.values(), dtype=np.float32, count=len(near))
        cosines[near[near < len(marks)]] = values[near < len(marks)]
        newest = np.arange(found.upto, max(top, found.upto))
        cosines[newest] = held.newest.cosines(query, newest).nearest
        marks = marks[numbers]
        has = marks == HELD
        nearest = np.where(has, cosines[numbers], np.float32(0))
        return Cosines(nearest=nearest, middle=None, held=has, seen=marks != UNSEEN)

    def _held(self, tx: ReadTx, generation: Generation, upto: int) -> _Held:
        rev = tx.vector_rev()
        number, held = self._kept.get(tx.scope) or (generation.number, None)
        if number != generation.number:
            held = None
        if held is not None and held.rev == rev and held.upto == upto:
            return held
        made = _made(tx, generation, rev, upto, held)
        self._kept.put(tx.scope, (generation.number, made))
        return made


def _made(tx: ReadTx, generation: Generation, rev: int, upto: int, before: _Held | None) -> _Held:
    import numpy as np

    blocks = tx.vector_marks(generation.number)
    marks = np.zeros(blocks[-1].first + VECTOR_DOCUMENTS if blocks else 0, dtype=np.uint8)
    for block in blocks:
        marks[block.first : block.first + len(block.marks)] = _states(block.marks)
    wanted = frozenset(_sample(upto))
    sampled = tuple((block.first, block.rev) for block in blocks if block.first in wanted)
    if before is not None and before.sampled == sampled:
        middle = before.middle
    else:
        middle = _middle(tx.vector_blocks(generation.number, [first for first, _ in sampled]), generation.dimension)
    newest = DecodedVectors({}, generation.dimension, -1) if before is None else before.newest
    tail = [block for block in blocks if block.first + VECTOR_DOCUMENTS > upto]
    newest = newest.renewed(tx, generation.number, rev, tail)
    return _Held(rev=rev, upto=upto, marks=marks, sampled=sampled, middle=middle, newest=newest)


def _states(marks: bytes) -> Marks:
    import numpy as np

    states: Marks = (np.frombuffer(marks, dtype=np.uint8) & ((1 << STATE_BITS) - 1)).astype(np.uint8)
    return states


def _with_turns(rows: Numbers, count: int) -> Numbers:
    """The rows, and the turns around the first of them: a message counts by the nearness of its window too."""
    import numpy as np

    around = rows[:WITH_TURNS, None] + np.arange(-SCORING.before, SCORING.after + 1)
    return np.union1d(rows, around[(around >= 0) & (around < count)])


def _sample(upto: int) -> range:
    """Evenly spaced blocks of the first documents, as many as the greatest power of two: it seldom changes."""
    documents = 1 << max(upto.bit_length() - 1, 0)
    step = max(1, documents // VECTOR_DOCUMENTS // SAMPLED_BLOCKS)
    return range(0, documents, VECTOR_DOCUMENTS * step)


def _middle(blocks: Sequence[VectorBlock], dimension: int) -> Floats:
    """The mean of their vectors; zeros where there are none."""
    import numpy as np

    total, count = DecodedVectors.of(blocks, dimension).summed()
    middle: Floats = (total / max(count, 1)).astype(np.float32)
    return middle
