"""The pure plans: nothing is lost, nothing is over a limit, no vector is bound to another text."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.errors import InvalidInput
from memhold.index.isolate_failures import bisect
from memhold.ports.stores import Priority
from memhold.providers.embedding.batching import Limits, Misfit, gather, in_order, plan, unit_rows
from memhold.providers.embedding.gate import PriorityGate

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(str.strip)


@given(
    st.lists(TEXT, max_size=30),
    st.integers(2, 40),
    st.integers(1, 5),
    st.integers(1, 100),
    st.sampled_from(["split", "truncate"]),
)
def test_a_plan_holds_every_text_within_the_limits(texts, chars, count, total, overlong):
    limits = Limits(max_chars=chars, max_texts=count, max_batch_chars=total, overlong=overlong)
    made = plan(texts, limits)
    pieces = [piece for batch in made.batches for piece in batch]
    assert [piece.index for piece in pieces] == sorted(piece.index for piece in pieces)
    assert {piece.index for piece in pieces} == set(range(len(texts)))
    assert all(piece.text.strip() and len(piece.text) <= chars for piece in pieces)
    assert all(len(batch) <= count for batch in made.batches)
    assert all(len(batch) == 1 or sum(len(p.text) for p in batch) <= total for batch in made.batches)
    assert made.overlong == sum(len(text) > chars for text in texts)
    for index, text in enumerate(texts):
        joined = "".join(piece.text for piece in pieces if piece.index == index)
        assert (
            joined == text[: len(joined)]
            or joined.split() == text.split()[: len(joined.split())]
            or overlong == "split"
        )
        if overlong == "split":
            assert "".join(joined.split()) == "".join(text.split())


@given(st.permutations(range(6)))
def test_indices_put_vectors_in_order(order):
    items = [{"index": index, "embedding": [float(index)]} for index in order]
    assert in_order(items, 6) == [[float(n)] for n in range(6)]


@pytest.mark.parametrize(
    "indices", [[0, 1], [0, 1, 2, 3], [0, 0, 1], [0, 1, 3], [-1, 0, 1], [0, 1, None], [0, 1, "2"], [0, True, 2]]
)
def test_indices_that_are_not_dense_are_refused(indices):
    with pytest.raises(Misfit):
        in_order([{"index": index, "embedding": [1.0]} for index in indices], 3)


def test_a_missing_index_is_taken_only_where_all_miss_it():
    assert in_order([{"embedding": 1}, {"embedding": 2}], 2) == [1, 2]
    with pytest.raises(Misfit):
        in_order([{"embedding": 1}, {"index": 0, "embedding": 2}], 2)


@pytest.mark.parametrize(
    "rows", [[[1.0, 2.0], [1.0]], [[1.0], None], [[float("inf")]], [[0.0, 0.0]], [["a"]], [[]], [[1.0, None]], ["ab"]]
)
def test_rows_that_are_no_vectors_are_refused(rows):
    with pytest.raises(Misfit):
        unit_rows(rows, None)


def test_pieces_are_weighted_by_length():
    made = plan(["aaaa bb", "c"], Limits(max_chars=5))
    vectors = np.array([[1, 0], [0, 1], [0, 1]], dtype=np.float32)
    pieces = [piece for batch in made.batches for piece in batch]
    assert [piece.text for piece in pieces] == ["aaaa ", "bb", "c"]
    assert np.allclose(gather(pieces, vectors, 2), [[5 / 29**0.5, 2 / 29**0.5], [0, 1]])


@given(st.integers(1, 100).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), max_size=8))))
def test_bisection_finds_exactly_the_bad_ones(case):
    count, bad = case
    search, tries = bisect(count), 0
    sent = None
    while True:
        try:
            part = next(search) if sent is None else search.send(sent)
        except StopIteration as stop:
            good, found = stop.value
            break
        tries += 1
        sent = not bad & set(part)
    assert set(found) == bad
    assert sorted(index for part in good for index in part) == sorted(set(range(count)) - bad)
    if len(bad) <= 1:
        assert tries <= 15


@pytest.mark.parametrize("name", ["max_chars", "max_texts", "max_batch_chars"])
def test_limits_are_positive(name):
    with pytest.raises(InvalidInput):
        Limits(**{name: 0})


async def test_the_gate_gives_a_cancelled_place_on():
    gate, seen = PriorityGate(1), []

    async def visit(name, priority):
        async with gate(priority):
            seen.append(name)
            await asyncio.sleep(0)

    async with gate(Priority.WORKER):
        gone = asyncio.create_task(visit("gone", Priority.INTERACTIVE))
        stays = asyncio.create_task(visit("batch", Priority.WORKER))
        late = asyncio.create_task(visit("query", Priority.INTERACTIVE))
        await asyncio.sleep(0)
        gone.cancel()
    await asyncio.gather(gone, stays, late, return_exceptions=True)
    assert seen == ["query", "batch"]
    async with asyncio.timeout(60), gate(Priority.IMPORT):
        seen.append("free again")
    assert seen[-1] == "free again"


async def test_a_place_given_in_the_moment_of_cancellation_is_not_lost():
    gate = PriorityGate(1)
    first = gate(Priority.WORKER)
    await first.__aenter__()
    waiting = asyncio.create_task(gate(Priority.WORKER).__aenter__())
    await asyncio.sleep(0)
    await first.__aexit__(None, None, None)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(60), gate(Priority.WORKER):
        pass
