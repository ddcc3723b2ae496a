"""Beyond its documented size a scope is searched by sign bits and rescored: what that may cost, and where it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from memhold.index import vector_cache
from memhold.index.sign_bits import estimated, signs
from memhold.index.vector_cache import DecodedVectors, _Decoded
from memhold.ports.vector_blocks import VECTOR_DOCUMENTS, VectorBlock, written
from tests.recall.changed_facts import CHANGES, FILLER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memhold.faces.python.open import AsyncMemhold

SIZE, DIMENSION, TOP = 4000, 256, 10


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def clustered(random: np.random.Generator, size: int, dimension: int = DIMENSION) -> NDArray[np.float32]:
    """Vectors that lie around 40 subjects, as texts do, with dimensions of unequal weight."""
    weight = np.linspace(2, 0.2, dimension)
    subjects = random.standard_normal((40, dimension)) * weight
    chosen = subjects[random.integers(0, len(subjects), size)]
    return unit((chosen + random.standard_normal((size, dimension)) * weight).astype(np.float32))


def decoded(matrix: NDArray[np.float32], empty: frozenset[int] = frozenset()) -> DecodedVectors:
    blocks = {}
    for first in range(0, len(matrix), VECTOR_DOCUMENTS):
        rows = range(first, min(first + VECTOR_DOCUMENTS, len(matrix)))
        values = {row: None if row in empty else matrix[row].astype("<f4").tobytes() for row in rows}
        block: VectorBlock = written(None, values, first=first, dimension=matrix.shape[1])
        blocks[first] = _Decoded(block, matrix.shape[1])
    return DecodedVectors(blocks, matrix.shape[1], 1)


@pytest.mark.parametrize("dimension", [26, 64, 256, 384])
def test_the_estimate_is_near_the_cosine_and_not_biased(dimension: int) -> None:
    random = np.random.default_rng(5)
    matrix, query = clustered(random, 2000, dimension), clustered(random, 1, dimension)[0]
    error = estimated(query, *signs(matrix)) - matrix @ query
    assert np.sqrt((error**2).mean()) < 1.1 / np.sqrt(dimension)
    assert abs(error.mean()) < 0.5 / np.sqrt(dimension)
    assert estimated(query, *signs(np.zeros((3, dimension), np.float32))).tolist() == [0, 0, 0]


def test_of_the_ten_nearest_hardly_one_is_lost() -> None:
    random = np.random.default_rng(6)
    matrix, numbers = clustered(random, SIZE * 5), np.arange(SIZE * 5)
    vectors, found = decoded(matrix), []
    for query in clustered(random, 30):
        whole = vectors.cosines(query, numbers, exact_to=SIZE * 5)
        by_bits = vectors.cosines(query, numbers, exact_to=SIZE * 5 - 1)
        assert (whole.held == by_bits.held).all()
        assert (whole.seen == by_bits.seen).all()
        exact, quick = whole.nearest, by_bits.nearest
        best, near = np.argsort(-exact)[:TOP], np.argsort(-quick)[:TOP]
        found.append(len(set(best.tolist()) & set(near.tolist())) / TOP)
        assert quick[near] == pytest.approx(exact[near], abs=1e-6)
        assert (quick != exact).any(), "the rest is estimated"
    assert np.mean(found) >= 0.99


def test_up_to_the_size_every_vector_is_multiplied_and_one_beyond_it_is_not() -> None:
    random = np.random.default_rng(7)
    matrix, query = clustered(random, SIZE), clustered(random, 1)[0]
    vectors, numbers = decoded(matrix), np.arange(SIZE)
    at = vectors.cosines(query, numbers, exact_to=SIZE).nearest
    assert at == pytest.approx(matrix @ query, abs=1e-6)
    beyond = vectors.cosines(query, numbers, exact_to=SIZE - 1).nearest
    assert (np.abs(beyond - at) > 1e-3).any()


def test_gaps_forgotten_documents_and_rows_that_words_put_first() -> None:
    random = np.random.default_rng(8)
    matrix, query = clustered(random, SIZE), clustered(random, 1)[0]
    empty = frozenset(range(100, 400))
    vectors = decoded(matrix, empty)
    numbers = np.delete(np.arange(SIZE + 500), slice(1000, 1300))
    whole = vectors.cosines(query, numbers, exact_to=10**6)
    exact, held = whole.nearest, whole.held
    worst = np.argsort(exact)[:50]
    by_bits = vectors.cosines(query, numbers, exact_to=0, also=lambda: worst)
    quick, seen = by_bits.nearest, by_bits.seen
    assert (held == by_bits.held).all()
    assert (quick[~held] == 0).all()
    assert quick[worst] == pytest.approx(exact[worst], abs=1e-6)
    assert not seen[numbers >= SIZE].any()


@pytest.mark.asyncio
async def test_recall_answers_the_same_questions_by_sign_bits(
    memhold: AsyncMemhold, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = memhold.scope(user="alice", session="s")
    texts = [*FILLER, *(text for pair in CHANGES for text in pair[:2])]
    await scope.add([{"role": "user", "content": text} for text in texts])
    await memhold.settle()
    exact = [await scope.recall(question) for *_, question in CHANGES]
    signed = DecodedVectors.cosines

    def quick(self, query, numbers, *, also=None, **_):
        return signed(self, query, numbers, also=also, exact_to=0)

    monkeypatch.setattr(DecodedVectors, "cosines", quick)
    monkeypatch.setattr(vector_cache, "RESCORE_LEAST", 20)
    same = 0
    for before, (*_, question) in zip(exact, CHANGES, strict=True):
        after = await scope.recall(question)
        assert after.degraded == ()
        same += after.hits[0].id == before.hits[0].id
    assert same >= 0.95 * len(CHANGES)


def test_signs_kept_from_before_a_write_are_those_made_anew() -> None:
    random = np.random.default_rng(9)
    matrix, query = clustered(random, SIZE), clustered(random, 1)[0]
    numbers = np.arange(SIZE)
    before = decoded(matrix[: SIZE - 300])
    before.cosines(query, numbers[: SIZE - 300], exact_to=0)
    fresh = decoded(matrix)
    changed = {first: block for first, block in fresh._blocks.items() if first > SIZE - 300 - VECTOR_DOCUMENTS}
    grown = DecodedVectors({**before._blocks, **changed}, DIMENSION, 2)
    grown._earlier = before._bits
    kept, made = grown._signed(), fresh._signed()
    assert before._bits is not None
    assert np.shares_memory(kept[0], before._bits[0]) is False
    assert kept[0].tolist() == made[0].tolist()
    assert np.allclose(kept[1], made[1], rtol=1e-6)
    assert grown._earlier is None
