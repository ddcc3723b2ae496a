"""The HNSW index of a large scope: it gives what the exact scan gives, follows every change, and stays inside its scope."""

from __future__ import annotations

import numpy as np
import psycopg
import pytest

from holdfast.model import Scope
from holdfast.storage.postgres.connection import parsed
from holdfast.storage.postgres.store import PostgresStore
from holdfast.testing.clock import FakeClock
from holdfast.testing.store_suite_rows import EPOCH
from holdfast.vectors import Generation, VectorBlock, written
from tests.postgres_server import Databases


@pytest.fixture
def database(database: str, databases: Databases) -> str:
    """An empty database with pgvector, which only an administrator can make."""
    databases.server.sql("CREATE EXTENSION vector", database.partition("@/")[2].partition("?")[0])
    return database


D, LEAST = 16, 256
ONE = Generation(number=1, fingerprint="one", dimension=D, state="current", made_at=EPOCH)
ALICE, BOB = Scope(namespace="acme", user="alice"), Scope(namespace="acme", user="bob")


def vectors(count: int, seed: int = 1) -> np.ndarray:
    drawn = np.random.default_rng(seed).standard_normal((count, D)).astype("<f4")
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype("<f4")


def blocks(rows: np.ndarray, first: int = 0) -> list[VectorBlock]:
    made = []
    for start in range(0, len(rows), 128):
        part = {first + start + at: row.tobytes() for at, row in enumerate(rows[start : start + 128])}
        made.append(written(None, part, first=first + start, dimension=D))
    return made


async def opened(database: str, least: int = LEAST, partitions: int = 0) -> PostgresStore:
    return await PostgresStore.open(parsed(database), clock=FakeClock(), hnsw_from=least, partitions=partitions)


async def filled(store: PostgresStore, scope: Scope, rows: np.ndarray) -> None:
    def put(tx):
        tx.take_numbers(len(rows))
        if not tx.generations():
            tx.put_generation(ONE)
        tx.put_vectors(1, blocks(rows))

    await store.write(scope, put)


async def indexed(store: PostgresStore, scope: Scope) -> None:
    while (seconds := await store.upkeep.index_near(scope, ONE)) is not None:
        assert seconds == 0


async def asked(store: PostgresStore, scope: Scope, query: np.ndarray, limit: int = 10, also=tuple):
    return await store.read(scope, lambda tx: tx.nearest(1, query.tobytes(), limit, also))


def best(rows: np.ndarray, query: np.ndarray, limit: int = 10) -> list[int]:
    return np.argsort(-(rows @ query), kind="stable")[:limit].tolist()


@pytest.mark.parametrize("partitions", [0, 3])
async def test_the_nearest_are_those_of_the_exact_scan_with_their_cosines(database: str, partitions: int) -> None:
    store = await opened(database, partitions=partitions)
    rows, query = vectors(700), vectors(1, seed=2)[0]
    try:
        await filled(store, ALICE, rows)
        assert await asked(store, ALICE, query) is None, "no index yet"
        await indexed(store, ALICE)
        found = await asked(store, ALICE, query, also=lambda: [3, 639, 640, 699])
        assert found is not None
        assert found.upto == 640, "blocks that still fill are scored from their bytes"
        covered = best(rows[:640], query)
        assert set(found.cosines) == {*covered, 3, 639}
        assert all(abs(found.cosines[number] - float(rows[number] @ query)) < 1e-6 for number in found.cosines)
    finally:
        await store.close()


async def test_a_small_scope_has_none_and_a_large_one_elsewhere_does_not_change_it(database: str) -> None:
    store = await opened(database)
    try:
        await filled(store, ALICE, vectors(300))
        await filled(store, BOB, vectors(100, seed=5))
        for scope in (ALICE, BOB):
            await indexed(store, scope)
        assert await asked(store, ALICE, vectors(1)[0]) is not None
        assert await asked(store, BOB, vectors(1)[0]) is None
    finally:
        await store.close()


async def test_every_change_of_a_vector_changes_its_row_in_the_same_transaction(database: str) -> None:
    store = await opened(database)
    rows = vectors(300)
    try:
        await filled(store, ALICE, rows)
        await indexed(store, ALICE)
        nearest = best(rows[:256], rows[7], 1)
        assert nearest == [7]
        await store.write(ALICE, lambda tx: tx.unindex([7]))
        found = await asked(store, ALICE, rows[7], also=lambda: [7])
        assert found is not None
        assert 7 not in found.cosines
        again = vectors(1, seed=9)[0]

        def put(tx):
            [block] = tx.vector_blocks(1, [0])
            tx.put_vectors(1, [written(block, {7: again.tobytes()}, first=0, dimension=D)])

        with pytest.raises(KeyError):
            await store.write(ALICE, lambda tx: (put(tx), {}["x"]))
        assert 7 not in (await asked(store, ALICE, again)).cosines, "a unit that failed leaves no row"
        await store.write(ALICE, put)
        assert (await asked(store, ALICE, again, 1)).cosines == pytest.approx({7: 1.0}, abs=1e-6)
        await store.write(ALICE, lambda tx: tx.clear_vectors(1))
        assert await asked(store, ALICE, again) is None
        with psycopg.connect(database) as connection:
            connection.execute(
                "SELECT set_config('holdfast.namespace', 'acme', true), set_config('holdfast.user_id', 'alice', true)"
            )
            assert connection.execute("SELECT count(*) FROM near_vector").fetchone() == (0,)
    finally:
        await store.close()


async def test_what_comes_later_is_taken_up_by_whole_blocks(database: str) -> None:
    store = await opened(database)
    rows = vectors(600)
    try:
        await filled(store, ALICE, rows[:300])
        await indexed(store, ALICE)

        def more(tx):
            tx.take_numbers(300)
            tx.put_vectors(1, blocks(rows[256:], 256))

        await store.write(ALICE, more)
        found = await asked(store, ALICE, rows[500], 1, lambda: [500])
        assert found is not None
        assert (found.upto, 500 in found.cosines) == (256, False)
        await indexed(store, ALICE)
        found = await asked(store, ALICE, rows[500], 1)
        assert found is not None
        assert (found.upto, list(found.cosines)) == (512, [500])
    finally:
        await store.close()


async def test_a_filter_loses_nothing_where_another_scope_holds_nearly_all(database: str) -> None:
    """Bob's vectors lie around the question, Alice's far from it: the index alone would give Bob's and no other."""
    store = await opened(database)
    query = vectors(1, seed=3)[0]
    crowd = vectors(3000, seed=4) * np.float32(0.2) + query
    crowd = (crowd / np.linalg.norm(crowd, axis=1, keepdims=True)).astype("<f4")
    rows = vectors(256)
    try:
        for scope, held in ((BOB, crowd), (ALICE, rows)):
            await filled(store, scope, held)
            await indexed(store, scope)
        found = await asked(store, ALICE, query)
        assert found is not None
        assert set(found.cosines) == set(best(rows, query))
        name = database.partition("@/")[2].partition("?")[0]
        with psycopg.connect(database) as connection:
            connection.execute(
                "SELECT set_config('holdfast.namespace', 'acme', true), set_config('holdfast.user_id', 'alice', true)"
            )
            assert connection.execute("SELECT DISTINCT user_id FROM near_vector").fetchall() == [("alice",)], name
    finally:
        await store.close()
