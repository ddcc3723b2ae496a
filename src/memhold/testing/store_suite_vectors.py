"""Store suite: vectors: generations of the store, blocks of a scope, and that forgetting takes them away."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memhold.ports.stores import Ids, Store
from memhold.ports.transaction import WriteTx
from memhold.ports.vector_blocks import EMPTY, HELD, Generation, VectorBlock, held_mark, written
from memhold.testing.clock import FakeClock
from memhold.testing.store_suite_rows import ALICE, BOB, EPOCH, say
from memhold.values.errors import StoreError

__all__ = ["VectorsCases"]

_ONE = Generation(number=1, fingerprint="one", dimension=2, state="current", made_at=EPOCH)
_TWO = Generation(number=2, fingerprint="two", dimension=2, state="building", made_at=EPOCH)
_VECTOR = bytes(range(1, 11))


def _block(first: int = 0) -> VectorBlock:
    """Three documents: one of two sentences, one with nothing to embed, one of one sentence."""
    return written(None, {first: _VECTOR * 2, first + 1: None, first + 2: _VECTOR}, first=first, dimension=2)


@pytest.mark.asyncio
class VectorsCases:
    """Generations are the store's, blocks a scope's; both come back as they were put."""

    async def test_generations_change_state_and_each_open_state_is_held_once(self, store: Store) -> None:
        def make(tx: WriteTx) -> None:
            tx.put_generation(_ONE)
            tx.put_generation(_TWO)

        await store.write(ALICE, make)
        assert await store.read(BOB, lambda tx: tx.generations()) == [_ONE, _TWO]
        with pytest.raises(StoreError):
            await store.write(ALICE, lambda tx: tx.put_generation(replace(_TWO, state="current")))
        with pytest.raises(StoreError):
            await store.write(ALICE, lambda tx: tx.put_generation(replace(_TWO, number=3)))

        def switch(tx: WriteTx) -> None:
            tx.put_generation(replace(_ONE, state="retired"))
            tx.put_generation(replace(_TWO, state="current"))

        await store.write(BOB, switch)
        states = [held.state for held in await store.read(ALICE, lambda tx: tx.generations())]
        assert states == ["retired", "current"]

    async def test_blocks_come_back_as_they_were_put_and_move_the_number(self, store: Store) -> None:
        def put(tx: WriteTx) -> None:
            tx.put_generation(_ONE)
            tx.put_vectors(1, [_block(128), _block()])

        before = await store.read(ALICE, lambda tx: tx.vector_rev())
        await store.write(ALICE, put)
        marks, blocks, rev = await store.read(
            ALICE, lambda tx: (tx.vector_marks(1), tx.vector_blocks(1, [128, 256, 0]), tx.vector_rev())
        )
        assert rev > before
        assert [block.first for block in marks] == [0, 128]
        assert all(block.vectors == b"" and block.marks == bytes((held_mark(2), EMPTY, HELD)) for block in marks)
        assert [replace(block, rev=0) for block in blocks] == [_block(128), _block()]
        await store.write(ALICE, lambda tx: tx.put_vectors(1, [_block()]))
        later = await store.read(ALICE, lambda tx: {block.first: block.rev for block in tx.vector_marks(1)})
        assert later[0] > later[128], "only what was written again has moved"
        await store.write(ALICE, lambda tx: tx.clear_vectors(1))
        assert await store.read(ALICE, lambda tx: (tx.vector_marks(1), tx.vector_blocks(1, [0, 128]))) == ([], [])
        assert await store.read(ALICE, lambda tx: tx.vector_rev()) > rev

    async def test_unindexing_takes_vectors_out_of_every_generation_of_this_scope_alone(self, store: Store) -> None:
        def put(tx: WriteTx) -> None:
            if not tx.generations():
                tx.put_generation(_ONE)
                tx.put_generation(_TWO)
            for generation in (1, 2):
                tx.put_vectors(generation, [_block()])

        for scope in (ALICE, BOB):
            await store.write(scope, put)
        await store.write(ALICE, lambda tx: tx.unindex([0, 500]))
        for generation in (1, 2):
            [block] = await store.read(ALICE, lambda tx, g=generation: tx.vector_blocks(g, [0]))  # type: ignore[misc]
            assert block.marks == bytes((EMPTY, EMPTY, HELD))
            assert block.vectors == _VECTOR
            [other] = await store.read(BOB, lambda tx, g=generation: tx.vector_blocks(g, [0]))  # type: ignore[misc]
            assert replace(other, rev=0) == _block()

    async def test_a_failed_unit_leaves_no_vectors(self, store: Store) -> None:
        def fail(tx: WriteTx) -> None:
            tx.put_generation(_ONE)
            tx.put_vectors(1, [_block()])
            raise KeyError

        with pytest.raises(KeyError):
            await store.write(ALICE, fail)
        assert await store.read(ALICE, lambda tx: (tx.generations(), tx.vector_marks(1))) == ([], [])

    async def test_the_nearest_come_from_an_index_of_this_scope_or_nobody_is_asked(self, store: Store) -> None:
        def put(tx: WriteTx) -> None:
            if not tx.generations():
                tx.put_generation(_ONE)
            tx.put_vectors(1, [_block()])

        for scope in (ALICE, BOB):
            await store.write(scope, put)
            assert await store.upkeep.index_near(scope, _ONE) is None
        named: list[int] = []

        def also() -> list[int]:
            named.append(2)
            return named

        found = await store.read(ALICE, lambda tx: tx.nearest(1, _VECTOR[:8], 1, also))
        assert (found is None) == (not named)
        assert found is None or set(found.cosines) <= {0, 2}

    async def test_document_count_is_of_the_numbers_that_were_taken(
        self, store: Store, ids: Ids, clock: FakeClock
    ) -> None:
        assert await store.read(ALICE, lambda tx: tx.document_count()) == 0
        await store.write(ALICE, lambda tx: say(tx, ids, "a", "b"))
        clock.advance(1)
        assert await store.read(ALICE, lambda tx: tx.document_count()) == 2
        assert await store.read(BOB, lambda tx: tx.document_count()) == 0
