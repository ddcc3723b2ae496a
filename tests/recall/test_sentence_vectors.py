"""A message is as near as its nearest sentence: how the vectors of sentences are kept, asked, named and shown."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhold import AsyncMemhold
from memhold.index import vector_cache
from memhold.index.pending_vectors import BATCH_PIECES, next_batch, put_vectors
from memhold.index.vector_cache import DecodedVectors
from memhold.ports.vector_blocks import (
    EMPTY,
    MOST_VECTORS,
    REFUSED,
    UNSEEN,
    VECTOR_DOCUMENTS,
    CorruptVectors,
    VectorBlock,
    block_of,
    count_of,
    dropped,
    held_mark,
    record_bytes,
    state_of,
    vectors_of,
    written,
)
from memhold.ports.vector_records import join, record_each
from memhold.text.sentences import pieces
from memhold.values.records import Scope

D = 16
SIZE = record_bytes(D)
STORY = (
    "The train was an hour late and somebody had left an umbrella on my seat. The conductor made a joke about the rain."
    " At home the heating had failed again, so we ate soup in our coats. By the way, I am allergic to peanuts."
    " Tomorrow the plumber comes, and on Friday my sister visits us with the children."
)


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("<f4")


def held(counts: list[int], rows: np.ndarray) -> tuple[DecodedVectors, list[np.ndarray]]:
    """Documents with so many vectors each, as decoded blocks and as plain lists."""
    plain, at = [], 0
    for count in counts:
        plain.append(rows[at : at + count])
        at += count
    stored = iter(join([record_each(one) for one in plain if len(one)]))
    records = [next(stored) if len(one) else None for one in plain]
    blocks = []
    for first in range(0, len(counts), VECTOR_DOCUMENTS):
        numbers = range(first, min(first + VECTOR_DOCUMENTS, len(counts)))
        values = {number: records[number] for number in numbers}
        blocks.append(written(None, values, first=first, dimension=D))
    return DecodedVectors.of(blocks, D), plain


@settings(max_examples=60, deadline=None)
@given(counts=st.lists(st.integers(0, MOST_VECTORS), min_size=1, max_size=300), seed=st.integers(0, 99))
def test_a_document_is_as_near_as_its_nearest_vector(counts: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = unit(random.standard_normal((sum(counts) + 1, D)))
    vectors, plain = held(counts, rows)
    query = rows[-1]
    numbers = np.flatnonzero(random.random(len(counts)) < 0.8)
    wanted = [float((plain[number] @ query).max()) if counts[number] else 0.0 for number in numbers]
    middles = [float(vector_cache.middle_of(plain[number]) @ query) if counts[number] else 0.0 for number in numbers]
    found = vectors.cosines(query, numbers)
    assert found.nearest.tolist() == pytest.approx(wanted, abs=0.01)
    assert found.middle is not None
    assert found.middle.tolist() == pytest.approx(middles, abs=0.02)
    assert found.held.tolist() == [counts[number] > 0 for number in numbers]
    assert found.seen.all()
    assert vectors.count == sum(counts)
    total, count = vectors.summed()
    assert count == sum(counts)
    assert total == pytest.approx(rows[:-1].sum(axis=0), abs=0.5)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_block_keeps_what_was_written_last_of_each_document(data: st.DataObject) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    block: VectorBlock | None = None
    wanted: dict[int, bytes | None] = {}
    for _ in range(data.draw(st.integers(1, 5))):
        numbers = data.draw(st.sets(st.integers(256, 256 + VECTOR_DOCUMENTS - 1), min_size=1, max_size=6))
        values = {
            number: join([record_each(unit(random.standard_normal((size, D))))])[0]
            if (size := data.draw(st.integers(0, MOST_VECTORS)))
            else None
            for number in numbers
        }
        block = written(block, values, first=256, dimension=D)
        wanted |= values
        if data.draw(st.booleans()):
            gone = data.draw(st.sets(st.sampled_from(sorted(wanted)), max_size=3))
            again = data.draw(st.booleans())
            block = dropped(block, sorted(gone), mark=UNSEEN if again else EMPTY)
            wanted = {n: None if n in gone else one for n, one in wanted.items() if not (again and n in gone)}
        parts = vectors_of(block, SIZE)
        for at, part in enumerate(parts):
            assert part == (wanted.get(256 + at) or b"")
            unseen = 256 + at not in wanted
            assert state_of(block.marks[at]) == (UNSEEN if unseen else EMPTY if not part else 1)
            assert count_of(block.marks[at]) * SIZE == len(part)


def test_vectors_that_do_not_fit_are_refused_and_a_damaged_block_keeps_nothing() -> None:
    with pytest.raises(ValueError, match="1 to 8"):
        written(None, {0: bytes(SIZE * 9)}, first=0, dimension=D)
    with pytest.raises(ValueError, match="no multiple"):
        written(None, {0: bytes(SIZE + 1)}, first=0, dimension=D)
    with pytest.raises(ValueError, match="belong"):
        written(None, {128: None}, first=0, dimension=D)
    damaged = VectorBlock(first=0, marks=bytes([held_mark(2), held_mark(1)]), vectors=bytes(SIZE * 3 - 1))
    with pytest.raises(CorruptVectors, match="3 vectors"):
        vectors_of(damaged, SIZE)
    assert dropped(damaged, [0]).vectors == b"", "whose bytes are whose is not known any more"


def test_the_middle_is_of_unit_length_and_of_opposites_the_first() -> None:
    rows = unit(np.random.default_rng(3).standard_normal((3, D)))
    middle = vector_cache.middle_of(rows)
    assert float(middle @ middle) == pytest.approx(1, abs=1e-5)
    assert (vector_cache.middle_of(np.stack([rows[0], -rows[0]])) == rows[0]).all()


@pytest.fixture
async def memhold(tmp_path):
    async with AsyncMemhold.open(tmp_path / "m.db", worker=False) as one:
        yield one


@pytest.mark.asyncio
async def test_what_stands_in_one_clause_is_found_and_named(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    noise = [f"We walked along the canal and counted {number} boats before lunch." for number in range(30)]
    await scope.add([{"role": "user", "content": text} for text in [*noise[:15], STORY, *noise[15:]]])
    await memhold.settle()
    found = await scope.recall("Which foods give me an allergic reaction?", signals=("sentence",))
    assert found.hits[0].text == STORY
    assert found.hits[0].excerpt == "By the way, I am allergic to peanuts."
    assert all(hit.excerpt is None for hit in found.hits if hit.text in noise), "of one sentence there is no part"
    every = {one.signal for hit in (await scope.recall("allergic to peanuts?")).hits for one in hit.why}
    assert "meaning" in every
    assert "sentence" not in every, "a table's sentence by itself says too little"


@pytest.mark.asyncio
async def test_without_an_embedding_words_tell_what_of_a_long_text_is_asked_and_no_sentence_is_named(tmp_path) -> None:
    async with AsyncMemhold.open(tmp_path / "m.db", worker=False, embedding="none") as memhold:
        scope = memhold.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": STORY}])
        assert (await scope.recall("allergic")).hits[0].excerpt is None
        before = " ".join(f"We walked along canal {number} and counted the boats." for number in range(80))
        await scope.add({"role": "user", "content": f"{before} The locksmith is called Anneke. {before}"})
        excerpt = (await scope.recall("Who is the locksmith?", roles=["user"])).hits[0].excerpt
        assert excerpt is not None
        assert "The locksmith is called Anneke." in excerpt
        assert excerpt.startswith("…")
        assert len(excerpt) < 700


@pytest.mark.asyncio
async def test_a_context_with_little_room_holds_the_nearest_sentence_of_a_long_message(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    filler = " ".join(f"Then we talked about the weather of day {number} and had some tea." for number in range(40))
    long = f"{filler} Peanuts make my throat swell up. {filler}"
    nearer = [one.of(long) for one in pieces(long)]
    await scope.add([{"role": "assistant", "content": long}])
    await memhold.settle()
    new = memhold.scope(user="alice", session="new")
    context = await new.context([{"role": "user", "content": "Tell me of day 39, what did we drink?"}], budget=400)
    shown = str(context.messages)
    assert any(piece in shown for piece in nearer)
    assert context.used <= 400


@pytest.mark.asyncio
async def test_a_document_has_at_most_eight_vectors_and_what_is_refused_is_left_out(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    many = " ".join(f"Sentence number {number} stands here by itself." for number in range(50))
    await scope.add(
        [
            {"role": "user", "content": text}
            for text in (many, "Short and alone.", "A first one here. And a second one.")
        ]
    )
    store, alice = memhold._store._runtime.store, Scope(namespace="default", user="alice")
    await memhold.settle()
    generation = (await store.read(alice, lambda tx: tx.generations()))[0]
    [block] = await store.read(alice, lambda tx: tx.vector_blocks(generation.number, [0]))
    assert [count_of(mark) for mark in block.marks] == [MOST_VECTORS, 1, 2]

    await store.write(alice, lambda tx: tx.put_vectors(generation.number, [VectorBlock(first=0)]))
    batch = await store.read(alice, lambda tx: next_batch(tx, generation))
    some = [
        None if "second" in piece or "alone" in piece else block.vectors[: record_bytes(generation.dimension)]
        for piece in batch.pieces
    ]
    given = batch.by_document(some)
    assert sorted(given) == [0, 2]
    await store.write(alice, lambda tx: put_vectors(tx, generation, batch, given))
    [again] = await store.read(alice, lambda tx: tx.vector_blocks(generation.number, [0]))
    assert [count_of(mark) for mark in again.marks] == [MOST_VECTORS, 0, 1]
    assert state_of(again.marks[1]) == REFUSED


@pytest.mark.asyncio
async def test_a_batch_ends_at_its_sentences(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    text = " ".join(f"Sentence number {number} stands here by itself." for number in range(MOST_VECTORS))
    await scope.add([{"role": "user", "content": f"{text} {number}"} for number in range(200)])
    store, alice = memhold._store._runtime.store, Scope(namespace="default", user="alice")
    await memhold.settle()
    generation = (await store.read(alice, lambda tx: tx.generations()))[0]
    await store.write(alice, lambda tx: tx.clear_vectors(generation.number))
    batch = await store.read(alice, lambda tx: next_batch(tx, generation))
    assert len(batch.pieces) == BATCH_PIECES
    assert block_of(max(batch.texts)) == 0
