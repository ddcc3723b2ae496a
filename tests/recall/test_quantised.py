"""Vectors are kept in int8: what that costs beside float32, and how blocks of before become blocks of now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memhold.index import index_step
from memhold.index.vector_cache import DecodedVectors
from memhold.ports.vector_blocks import (
    FLOAT_BYTES,
    HELD,
    VECTOR_DOCUMENTS,
    CorruptVectors,
    VectorBlock,
    held_mark,
    in_floats,
    record_bytes,
    written,
)
from memhold.ports.vector_records import floats_of, in_records, join, read_records, record_each
from memhold.values.records import Scope
from tests.recall.changed_facts import CHANGES, FILLER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memhold.faces.python.open import AsyncMemhold

SIZE, DIMENSION, TOP = 4000, 256, 10
ALICE = Scope(namespace="default", user="alice")


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def clustered(random: np.random.Generator, size: int, dimension: int = DIMENSION) -> NDArray[np.float32]:
    """Vectors that lie around 40 subjects, as texts do, with dimensions of unequal weight."""
    weight = np.linspace(2, 0.2, dimension)
    subjects = random.standard_normal((40, dimension)) * weight
    chosen = subjects[random.integers(0, len(subjects), size)]
    return unit((chosen + random.standard_normal((size, dimension)) * weight).astype(np.float32))


def of_before(matrix: NDArray[np.float32], first: int = 0) -> VectorBlock:
    """A block as it was written before: each document has one float32 vector."""
    return VectorBlock(first=first, marks=bytes([held_mark(1)] * len(matrix)), vectors=matrix.astype("<f4").tobytes())


def of_now(matrix: NDArray[np.float32], first: int = 0) -> VectorBlock:
    values = {first + at: record for at, record in enumerate(record_each(matrix))}
    return written(None, values, first=first, dimension=matrix.shape[1])


def decoded(matrix: NDArray[np.float32], form=of_now) -> DecodedVectors:
    starts = range(0, len(matrix), VECTOR_DOCUMENTS)
    blocks = [form(matrix[start : start + VECTOR_DOCUMENTS], start) for start in starts]
    return DecodedVectors.of(blocks, matrix.shape[1])


@pytest.mark.parametrize("dimension", [2, 26, 256, 384])
def test_a_cosine_is_hardly_another_one_and_a_vector_takes_a_quarter(dimension: int) -> None:
    random = np.random.default_rng(5)
    matrix, query = clustered(random, SIZE, dimension), clustered(random, 1, dimension)[0]
    vectors = decoded(matrix)
    error = vectors.cosines(query, np.arange(SIZE)).nearest - matrix @ query
    assert np.abs(error).max() < 0.02 / np.sqrt(dimension) + 0.004
    assert vectors.nbytes == SIZE * record_bytes(dimension)
    assert record_bytes(256) * 3.8 < 256 * FLOAT_BYTES


def test_of_the_ten_nearest_hardly_one_is_another() -> None:
    random = np.random.default_rng(6)
    matrix, numbers = clustered(random, SIZE * 5), np.arange(SIZE * 5)
    vectors, found = decoded(matrix), []
    for query in clustered(random, 30):
        best = np.argsort(-(matrix @ query))[:TOP]
        near = np.argsort(-vectors.cosines(query, numbers).nearest)[:TOP]
        found.append(len({*best.tolist()} & {*near.tolist()}) / TOP)
    assert np.mean(found) >= 0.98, "of made-up vectors, many of which are about as near as the tenth"


def test_both_forms_give_the_same_to_the_bit() -> None:
    random = np.random.default_rng(7)
    matrix, query = clustered(random, 300), clustered(random, 1)[0]
    now, before = decoded(matrix), decoded(matrix, of_before)
    assert now.cosines(query, np.arange(300)).nearest.tolist() == before.cosines(query, np.arange(300)).nearest.tolist()
    several = VectorBlock(
        first=0, marks=bytes([held_mark(3), held_mark(1)]), vectors=matrix[:4].astype("<f4").tobytes()
    )
    kept = written(
        None, dict(enumerate(join([record_each(matrix[:3]), record_each(matrix[3:4])]))), first=0, dimension=256
    )
    assert in_records(several, 256).vectors == kept.vectors
    assert in_records(kept, 256) is kept
    assert np.abs(floats_of(read_records(kept.vectors, 256)) - matrix[:4]).max() < 0.003


@pytest.mark.parametrize("spoilt", [np.nan, 3.0, 0.0])
def test_what_is_not_of_unit_length_is_damaged_in_both_forms(spoilt: float) -> None:
    matrix = clustered(np.random.default_rng(8), 4)
    block = of_now(matrix)
    matrix[2] *= spoilt
    with pytest.raises(CorruptVectors, match="unit length"):
        DecodedVectors.of([of_before(matrix)], DIMENSION)
    records = read_records(block.vectors, DIMENSION).copy()
    records["step"][2] *= spoilt
    if spoilt != 3.0:  # three times as long a step may be one of another vector
        with pytest.raises(CorruptVectors, match="unit length"):
            DecodedVectors.of([replace(block, vectors=records.tobytes())], DIMENSION)


async def _floats(memhold: AsyncMemhold) -> int:
    """Write the scope's blocks as a version before did; gives how many they are."""

    def put(tx) -> int:
        [generation] = tx.generations()
        firsts = [block.first for block in tx.vector_marks(generation.number)]
        made = [
            replace(block, vectors=unit(floats_of(read_records(block.vectors, generation.dimension))).tobytes())
            for block in tx.vector_blocks(generation.number, firsts)
        ]
        tx.put_vectors(generation.number, made)
        assert all(in_floats(block, generation.dimension) for block in tx.vector_marks(generation.number))
        return len(made)

    return await memhold._store._runtime.store.write(ALICE, put)


async def _left(memhold: AsyncMemhold) -> int:
    def count(tx) -> int:
        [generation] = tx.generations()
        return sum(in_floats(block, generation.dimension) for block in tx.vector_marks(generation.number))

    return await memhold._store._runtime.store.read(ALICE, count)


@pytest.mark.asyncio
async def test_a_store_of_before_answers_at_once_and_upkeep_goes_on_where_it_was_cut_off(
    memhold: AsyncMemhold, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = memhold.scope(user="alice", session="s")
    texts = [*FILLER, *(text for pair in CHANGES for text in pair[:2])]
    texts += [f"{text} ({number})" for number in range(15) for text in texts]
    await scope.add([{"role": "user", "content": text} for text in texts])
    await memhold.settle()
    questions = [question for *_, question in CHANGES[:10]]
    wanted = [(await scope.recall(question)).hits[0].text for question in questions]
    blocks = await _floats(memhold)
    assert blocks > 8
    assert [(await scope.recall(question)).hits[0].text for question in questions] == wanted

    turns = iter([True])
    real = index_step.convert
    monkeypatch.setattr(index_step, "convert", lambda tx, one: next(turns, False) and real(tx, one))
    await scope.add([{"role": "user", "content": "A new one."}])
    await memhold.settle()
    half = await _left(memhold)
    assert 0 < half < blocks
    assert [(await scope.recall(question)).hits[0].text for question in questions] == wanted
    monkeypatch.setattr(index_step, "convert", real)
    await scope.add([{"role": "user", "content": "Another one."}])
    await memhold.settle()
    assert await _left(memhold) == 0
    assert [(await scope.recall(question)).hits[0].text for question in questions] == wanted


@pytest.mark.asyncio
async def test_a_write_into_a_block_of_before_makes_it_one_of_now(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    receipt = await scope.add([{"role": "user", "content": text} for text in FILLER[:3]])
    await memhold.settle()
    await _floats(memhold)
    await scope.forget(receipt.ids[0])
    assert await _left(memhold) == 1, "forgetting takes a vector out of a block in the form that it has"
    await scope.add([{"role": "user", "content": "Anna feeds the geese by the lake."}])
    await memhold.settle()
    assert await _left(memhold) == 0
    hits = (await scope.recall("who feeds the geese")).hits
    assert hits[0].text == "Anna feeds the geese by the lake."
    assert HELD
