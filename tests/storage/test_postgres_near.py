"""The HNSW index of a large scope: it gives what the exact scan gives, follows every change, and stays inside its scope."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psycopg
import pytest

from memhold import AsyncMemhold
from memhold.errors import StoreUnreachable
from memhold.index import nearest as near_vectors
from memhold.index.pending_vectors import convert
from memhold.ports.vector_blocks import Generation, VectorBlock, written
from memhold.ports.vector_records import floats_of, join, read_records, record_each
from memhold.recall import recall
from memhold.storage.postgres import doctor, statements
from memhold.storage.postgres.connection import parsed
from memhold.storage.postgres.statements import QUERIES
from memhold.storage.postgres.store import PostgresStore
from memhold.testing.clock import FakeClock
from memhold.testing.store_suite_rows import EPOCH
from memhold.values.records import Scope
from memhold.verbs.scope import AsyncScope
from memhold.wiring.migrate import migrate
from tests.postgres_server import Databases, Server
from tests.recall.changed_facts import CHANGES, FILLER
from tests.storage.test_postgres_rows import _forgetful


def _name(database: str) -> str:
    return database.partition("@/")[2].partition("?")[0]


@pytest.fixture
def plain(databases: Databases) -> Iterator[str]:
    """An empty database."""
    url = databases.take()
    yield url
    databases.give_back(url)


@pytest.fixture
def database(plain: str, databases: Databases) -> str:
    """An empty database with pgvector, which only an administrator can make."""
    databases.server.sql("CREATE EXTENSION vector", _name(plain))
    return plain


D, LEAST = 16, 256
ONE = Generation(number=1, fingerprint="one", dimension=D, state="current", made_at=EPOCH)
ALICE, BOB = Scope(namespace="acme", user="alice"), Scope(namespace="acme", user="bob")


def vectors(count: int, seed: int = 1) -> np.ndarray:
    drawn = np.random.default_rng(seed).standard_normal((count, D)).astype("<f4")
    return kept((drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype("<f4"))


def kept(rows: np.ndarray) -> np.ndarray:
    """Vectors as they come back from a store."""
    return floats_of(read_records(b"".join(record_each(rows)), D))


def blocks(rows: np.ndarray, first: int = 0) -> list[VectorBlock]:
    made = []
    for start in range(0, len(rows), 128):
        records = record_each(rows[start : start + 128])
        part = {first + start + at: record for at, record in enumerate(records)}
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


async def test_a_document_is_as_near_as_its_nearest_sentence(database: str) -> None:
    store = await opened(database)
    rows, query = vectors(600), vectors(1, seed=2)[0]

    def block(first: int) -> VectorBlock:
        records = record_each(rows[2 * first : 2 * first + 256])
        pairs = zip(range(first, first + 128), join([*zip(records[::2], records[1::2], strict=True)]), strict=True)
        two = dict(pairs)
        return written(None, two, first=first, dimension=D)

    def put(tx):
        tx.take_numbers(256)
        tx.put_generation(ONE)
        tx.put_vectors(1, [block(0), block(128)])

    try:
        await store.write(ALICE, put)
        await indexed(store, ALICE)
        nearest = (rows[:512] @ query).reshape(256, 2).max(axis=1)
        found = await asked(store, ALICE, query, also=lambda: list(range(256)))
        assert found is not None
        assert [found.cosines[number] for number in range(256)] == pytest.approx(nearest.tolist(), abs=1e-6)
        await store.write(
            ALICE, lambda tx: tx.put_vectors(1, [written(None, {0: record_each(rows[1:2])[0]}, first=0, dimension=D)])
        )
        found = await asked(store, ALICE, query, also=lambda: [0, 1])
        assert found is not None
        assert found.cosines[0] == pytest.approx(float(rows[1] @ query), abs=1e-6)
        assert 1 not in found.cosines, "it has no vector any more"
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
            tx.put_vectors(1, [written(block, {7: record_each(again[None])[0]}, first=0, dimension=D)])

        with pytest.raises(KeyError):
            await store.write(ALICE, lambda tx: (put(tx), {}["x"]))
        assert 7 not in (await asked(store, ALICE, again)).cosines, "a unit that failed leaves no row"
        await store.write(ALICE, put)
        assert (await asked(store, ALICE, again, 1)).cosines == pytest.approx({7: 1.0}, abs=1e-4)
        await store.write(ALICE, lambda tx: tx.clear_vectors(1))
        assert await asked(store, ALICE, again) is None
        with psycopg.connect(database) as connection:
            connection.execute(
                "SELECT set_config('memhold.namespace', 'acme', true), set_config('memhold.user_id', 'alice', true)"
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


async def test_a_filter_loses_nothing_where_another_scope_holds_nearly_all(database: str, databases: Databases) -> None:
    """Bob's vectors lie around the question, Alice's far from it: the index alone would give Bob's and no other."""
    # So few rows would be sorted, not looked up in the index.
    databases.server.sql(f"ALTER DATABASE {_name(database)} SET enable_sort = off")
    store = await opened(database)
    query = vectors(1, seed=3)[0]
    crowd = vectors(3000, seed=4) * np.float32(0.2) + query
    crowd = kept((crowd / np.linalg.norm(crowd, axis=1, keepdims=True)).astype("<f4"))
    rows = vectors(256)
    try:
        for scope, held in ((BOB, crowd), (ALICE, rows)):
            await filled(store, scope, held)
            await indexed(store, scope)
        found = await asked(store, ALICE, query)
        assert found is not None
        assert set(found.cosines) == set(best(rows, query))
        with psycopg.connect(database) as connection:
            connection.execute(
                "SELECT set_config('memhold.namespace', 'acme', true), set_config('memhold.user_id', 'alice', true)"
            )
            assert connection.execute("SELECT DISTINCT user_id FROM near_vector").fetchall() == [("alice",)]
    finally:
        await store.close()
        databases.server.sql(f"ALTER DATABASE {_name(database)} RESET ALL")


async def test_statements_that_forgot_their_scope_reach_no_vector_of_another(
    database: str, databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await opened(database)
    rows, query = vectors(300), vectors(1, seed=3)[0]
    exact = rows[:256] @ query
    forgetful = {name: _forgetful(name, statement) for name, statement in QUERIES.items()}
    assert all(forgetful[name] != QUERIES[name] for name in ("nearest", "nearest_exact", "cosines_of", "read_near"))
    url = databases.server.url(_name(database), "postgres")
    try:
        for scope, held in ((BOB, vectors(300, seed=5)), (ALICE, rows)):
            await filled(store, scope, held)
            await indexed(store, scope)
        monkeypatch.setattr(statements, "QUERIES", forgetful)
        for limit, also in ((256, tuple), (500, tuple), (5, lambda: list(range(256)))):
            found = await asked(store, ALICE, query, limit, also)
            assert found is not None
            assert sorted(found.cosines) == list(range(256))
            assert all(abs(found.cosines[number] - exact[number]) < 1e-5 for number in found.cosines)
        assert await asked(store, Scope(namespace="acme", user="nobody"), query) is None
        # A role that the wall does not bind is given Bob's: the wall is what held.
        unbound = await opened(url)
        told = await asked(unbound, ALICE, query, 500)
        await unbound.close()
        assert any(abs(told.cosines[number] - exact[number]) > 1e-3 for number in range(256))
    finally:
        await store.close()


async def test_what_was_forgotten_leaves_no_vector_in_the_index(database: str, databases: Databases) -> None:
    store = await opened(database)
    rows = vectors(300)
    gone, kept = (rows[number].astype("<f2").tobytes() for number in (7, 8))
    where = "SELECT pg_relation_filepath(indexrelid) FROM pg_index WHERE indexrelid::regclass::text LIKE 'hnsw%'"

    def in_the_file() -> tuple[bool, bool]:
        databases.server.sql("CHECKPOINT")
        [(path,)] = databases.server.sql(where, _name(database))
        held = (databases.server.data / str(path)).read_bytes()
        return gone in held, kept in held

    try:
        await filled(store, ALICE, rows)
        await indexed(store, ALICE)
        assert in_the_file() == (True, True)
        await store.write(ALICE, lambda tx: tx.unindex([7]))
        assert await store.upkeep.scrub() is None
        assert in_the_file() == (False, True)
        dead = "SELECT count(*) FROM near_vector"
        assert databases.server.sql(dead, _name(database)) == [(255,)]
    finally:
        await store.close()


async def test_a_server_that_stops_in_the_middle_of_making_an_index() -> None:
    """What is left is not whole, and whoever comes next makes it anew."""
    server = Server()
    url = Databases(server).take()
    server.sql("CREATE EXTENSION vector", _name(url))
    store = await PostgresStore.open(parsed(url), clock=FakeClock(), hnsw_from=LEAST, failover_timeout=20.0)
    try:
        await filled(store, ALICE, vectors(300))
        # A snapshot that is older holds a concurrent build up, in its last phase.
        older = psycopg.connect(server.url(_name(url), "postgres"))
        older.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        older.execute("SELECT count(*) FROM near_vector")
        making = asyncio.create_task(store.upkeep.index_near(ALICE, ONE))
        invalid = "SELECT indisvalid FROM pg_index WHERE indexrelid::regclass::text LIKE 'hnsw%'"
        while not await asyncio.to_thread(server.sql, invalid, _name(url)):  # noqa: ASYNC110 - it is in the database
            await asyncio.sleep(0)
        await asyncio.to_thread(server.kill)
        older.close()
        await asyncio.to_thread(server.start)
        with pytest.raises(StoreUnreachable):
            await making
        assert server.sql(invalid, _name(url)) == [(False,)]
        assert await asked(store, ALICE, vectors(1)[0]) is None
        await indexed(store, ALICE)
        assert server.sql(invalid, _name(url)) == [(True,)]
        assert await asked(store, ALICE, vectors(1)[0]) is not None
    finally:
        await store.close()
        server.stop()


async def test_a_new_generation_gets_an_index_and_that_of_a_retired_one_goes(database: str) -> None:
    store = await opened(database)
    two = Generation(number=2, fingerprint="two", dimension=D, state="building", made_at=EPOCH)
    rows, other = vectors(300), vectors(300, seed=6)
    try:
        await filled(store, ALICE, rows)
        await indexed(store, ALICE)

        def build(tx):
            tx.put_generation(two)
            tx.put_vectors(2, blocks(other))

        await store.write(ALICE, build)
        assert await store.upkeep.index_near(ALICE, two) is None
        assert set((await asked(store, ALICE, rows[5], 1)).cosines) == {5}, "the old one answers until it is retired"
        assert [name[:7] for name in _indexes(database)] == ["hnsw_1_", "hnsw_2_"]

        def switch(tx):
            tx.put_generation(replace(ONE, state="retired"))
            tx.put_generation(replace(two, state="current"))
            tx.clear_vectors(1)

        await store.write(ALICE, switch)
        assert await store.upkeep.index_near(ALICE, two) is None
        assert [name[:7] for name in _indexes(database)] == ["hnsw_2_"]
        found = await store.read(ALICE, lambda tx: tx.nearest(2, other[9].tobytes(), 1))
        assert found is not None
        assert set(found.cosines) == {9}
    finally:
        await store.close()


@pytest.mark.parametrize("when", ["before", "between"])
async def test_a_generation_that_was_retired_meanwhile_gets_no_rows_and_no_index(database: str, when: str) -> None:
    """A worker that read the generations before the switch goes on with the old one."""
    store = await opened(database)
    two = Generation(number=2, fingerprint="two", dimension=D, state="current", made_at=EPOCH)
    near = store.upkeep._near
    write, switched = near._write, []

    async def switch() -> None:
        def work(tx):
            tx.put_generation(replace(ONE, state="retired"))
            tx.put_generation(two)
            tx.clear_vectors(1)

        if not switched:
            switched.append(True)
            await write(ALICE, work)

    async def meanwhile(*given, **kwargs):
        await switch()
        return await write(*given, **kwargs)

    try:
        await filled(store, ALICE, vectors(300))
        if when == "before":
            await switch()
        near._write = meanwhile
        await store.upkeep.index_near(ALICE, ONE)
        assert await store.read(ALICE, lambda tx: tx.near(1)) is None
        near._write = write
        await store.write(ALICE, lambda tx: tx.put_vectors(2, blocks(vectors(300))))
        await store.upkeep.index_near(ALICE, two)
        assert [name[:7] for name in _indexes(database)] == ["hnsw_2_"], "an empty one of the old goes at the next look"
    finally:
        await store.close()


def _indexes(database: str) -> list[str]:
    with psycopg.connect(database) as connection:
        rows = connection.execute("SELECT relname FROM pg_class WHERE relname LIKE 'hnsw%' ORDER BY relname").fetchall()
    return [name for (name,) in rows]


async def test_an_index_whose_making_was_cut_short_is_made_again(database: str, databases: Databases) -> None:
    store = await opened(database)
    try:
        await filled(store, ALICE, vectors(300))
        await indexed(store, ALICE)
        broken = "UPDATE pg_index SET indisvalid = false WHERE indexrelid::regclass::text LIKE 'hnsw%'"
        databases.server.sql(broken, _name(database))
        await indexed(store, ALICE)
        found = (
            "SELECT i.indisvalid, c.reloptions FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid"
            " WHERE c.relname LIKE 'hnsw%'"
        )
        assert databases.server.sql(found, _name(database)) == [(True, ["m=24"])]
    finally:
        await store.close()


@pytest.mark.parametrize("partitions", [0, 3])
async def test_what_another_process_made_meanwhile_is_neither_dropped_nor_made_twice(
    database: str, databases: Databases, partitions: int
) -> None:
    """The other's index is not whole when this one looks, and is when this one's turn has come."""
    store, other = await opened(database, partitions=partitions), await opened(database)
    made: list[tuple[object, ...]] = []
    find = (
        "SELECT indexrelid::int8, indrelid::int8 FROM pg_index WHERE indexrelid::regclass::text LIKE 'hnsw%' ORDER BY 1"
    )
    broken = "UPDATE pg_index SET indisvalid = {} WHERE indexrelid::regclass::text LIKE 'hnsw%{}%'"
    name, write = _name(database), store.upkeep._near._write

    async def meanwhile(*given, **kwargs):
        if not made:
            databases.server.sql(broken.format("true", ""), name)
            await indexed(other, ALICE)
            made.extend(databases.server.sql(find, name))
        return await write(*given, **kwargs)

    try:
        await filled(store, ALICE, vectors(300))
        await indexed(other, ALICE)
        # Of several parts the last is still being made; the first are there.
        databases.server.sql(broken.format("false", "_2_" if partitions else ""), name)
        store.upkeep._near._write = meanwhile
        await indexed(store, ALICE)
        assert len(made) == max(1, partitions)
        assert databases.server.sql(find, name) == made
        assert await asked(store, ALICE, vectors(1)[0]) is not None
    finally:
        await store.close()
        await other.close()


@pytest.mark.parametrize("partitions", [0, 3])
@pytest.mark.parametrize("how", ["dropped", "not valid"])
async def test_an_index_that_somebody_took_away_is_not_asked_for(
    database: str, databases: Databases, partitions: int, how: str
) -> None:
    """Without it each question would sort every row of the table, and run into `read_timeout` in the largest scopes."""
    settings = {"clock": FakeClock(), "worker": False, "postgres_hnsw_from": 128}
    async with AsyncMemhold.open(database, **settings, postgres_partitions=partitions) as mem:
        scope = mem.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": f"message {number} about rivers"} for number in range(140)])
        assert await mem.settle(timeout=300)
        before = await scope.recall("message 7 about rivers")
        assert [one for one in await mem.admin.doctor() if one.check == "nearest"] == []
        # The eleventh generation is not the first: what begins alike serves another.
        name = _indexes(database)[0]
        if how == "dropped":
            sql = f"ALTER INDEX {name} RENAME TO hnsw_11{name.removeprefix('hnsw_1')}"
        else:
            sql = f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{name}'::regclass"  # noqa: S608
        databases.server.sql(sql, _name(database))
        [note] = [one for one in await mem.admin.doctor() if one.check == "nearest"]
        assert (note.severity, "dropped" in note.what) == ("note", True)
        store = await opened(database, 128)
        try:
            whose = Scope(user="alice")
            generation = (await store.read(whose, lambda tx: tx.generations()))[0]
            assert await store.read(whose, lambda tx: tx.near(generation.number)) == (128, False)
        finally:
            await store.close()
        after = await scope.recall("message 7 about rivers")
        assert after.hits[0].id == before.hits[0].id
        assert after.degraded == ()
        await scope.add([{"role": "user", "content": "one more about rivers"}])
        assert await mem.settle(timeout=300)
        assert [one for one in await mem.admin.doctor() if one.check == "nearest"] == []


async def test_where_pgvector_goes_away_nobody_asks_for_it(database: str, databases: Databases) -> None:
    """As where a dump is restored on a server without it."""
    store = await opened(database)
    try:
        await filled(store, ALICE, vectors(300))
        await indexed(store, ALICE)
        databases.server.sql("DROP EXTENSION vector CASCADE", _name(database))
        assert await asked(store, ALICE, vectors(1)[0]) is None
        assert await store.upkeep.index_near(ALICE, ONE) is None
        await store.write(ALICE, lambda tx: tx.unindex([7]))
        databases.server.sql("CREATE EXTENSION vector", _name(database))
        await indexed(store, ALICE)
        found = await asked(store, ALICE, vectors(300)[7], 300)
        assert found is not None
        assert found.cosines.keys() == set(range(256)) - {7}
    finally:
        await store.close()


async def test_a_damaged_block_has_no_vectors_and_no_error(database: str, databases: Databases) -> None:
    store = await opened(database)
    try:
        await filled(store, ALICE, vectors(300))
        held = await store.read(ALICE, lambda tx: near_vectors.NearVectors(tx, ONE).vectors(5))
        assert held is not None
        databases.server.sql("UPDATE vector_block SET vectors = substring(vectors FROM 2)", _name(database))
        assert await store.read(ALICE, lambda tx: near_vectors.NearVectors(tx, ONE).vectors(5)) is None
    finally:
        await store.close()


async def test_the_planner_uses_the_index_behind_row_level_security(database: str) -> None:
    store = await opened(database)
    rows = vectors(3000)
    try:
        await filled(store, ALICE, rows)
        await indexed(store, ALICE)
    finally:
        await store.close()
    text = QUERIES["nearest"].replace(b"{dimension}", b"16").replace(b"{generation}", b"1")
    with psycopg.connect(database) as connection:
        connection.execute("ANALYZE near_vector")
        connection.execute(QUERIES["enter"], {"namespace": "acme", "user_id": "alice"})
        bound = {"namespace": "acme", "user_id": "alice", "asked": rows[0].tolist(), "limit": 10}
        plan = "\n".join(line for (line,) in connection.execute(b"EXPLAIN " + text, bound))
    assert "Index Scan using hnsw_1_0_near_vector" in plan


@pytest.mark.parametrize("fault", ["missing", "elsewhere"])
async def test_without_pgvector_everything_is_answered_and_doctor_tells(
    plain: str, databases: Databases, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "elsewhere":
        databases.server.sql("CREATE SCHEMA apart; CREATE EXTENSION vector SCHEMA apart", _name(plain))
    monkeypatch.setattr(doctor, "LARGE", 4)
    try:
        async with AsyncMemhold.open(plain, clock=FakeClock(), worker=False, postgres_hnsw_from=4) as mem:
            scope = mem.scope(user="alice", session="s")
            await scope.add([{"role": "user", "content": f"message {number} about rivers"} for number in range(8)])
            assert await mem.settle(timeout=300)
            found = await scope.recall("rivers")
            assert found.degraded == ()
            assert len(found.hits) == 8
            [note] = [finding for finding in await mem.admin.doctor() if finding.check == "nearest"]
            assert note.severity == "note"
            assert ("not created" if fault == "missing" else "search_path") in note.what
    finally:
        databases.server.sql("DROP SCHEMA IF EXISTS apart CASCADE", _name(plain))


async def test_recall_finds_the_same_by_the_index(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few are asked of the index, so that most count as far as the middle; the best are the same all the same.

    Texts of one sentence: of several the index knows the nearest, and not their middle (docs/recall.md, Size).
    """
    monkeypatch.setattr(near_vectors, "NEAREST", 40)
    monkeypatch.setattr(recall, "EXACT_BY_WORDS", 40)
    texts = [*FILLER, *(text for pair in CHANGES for text in pair[:2])]
    texts += [f"{text[:-1]}, on day {day}." for day in range(6) for text in texts]
    answers = []
    for place in (str(tmp_path / "exact.db"), database):
        clock = FakeClock()
        async with AsyncMemhold.open(place, clock=clock, worker=False, postgres_hnsw_from=128) as mem:
            scope = mem.scope(user="alice", session="s")
            for start in range(0, len(texts), 20):
                clock.advance(60)
                await scope.add([{"role": "user", "content": text} for text in texts[start : start + 20]])
            assert await mem.settle(timeout=300)
            answers.append([await scope.recall(question) for *_, question in CHANGES])
            if place == database:
                await _follows_a_forget(scope, answers[-1][0].hits[0].id)
    assert [name[:7] for name in _indexes(database)] == ["hnsw_1_"]
    same = 0
    for exact, near in zip(*answers, strict=True):
        assert near.degraded == ()
        same += near.hits[0].text == exact.hits[0].text
    assert same >= 0.9 * len(CHANGES)


async def _follows_a_forget(scope: AsyncScope, message: str) -> None:
    text = (await scope.get(message)).text
    await scope.forget(message)
    assert text not in [hit.text for hit in (await scope.recall(text)).hits]


async def test_a_store_with_an_index_moves_to_a_file_and_back(
    database: str, databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, other = str(tmp_path / "a.db"), databases.take()
    databases.server.sql("CREATE EXTENSION vector", _name(other))
    monkeypatch.setenv("MEMHOLD_POSTGRES_HNSW_FROM", "128")
    settings = {"worker": False, "postgres_hnsw_from": 128}
    try:
        async with AsyncMemhold.open(database, **settings) as mem:
            scope = mem.scope(user="alice", session="s")
            await scope.add([{"role": "user", "content": f"message {number} about rivers"} for number in range(200)])
            assert await mem.settle(timeout=300)
        assert _indexes(database)
        for source, target in ((database, file), (file, other)):
            moved = await migrate(source, target)
            assert moved.behind == 0
        assert _indexes(other) == []
        async with AsyncMemhold.open(other, **settings) as mem:
            assert await mem.settle(timeout=300)
            assert len((await mem.scope(user="alice").recall("message 7 about rivers")).hits) > 1
        assert _indexes(other)
    finally:
        databases.give_back(other)


async def test_a_block_that_takes_the_form_of_now_leaves_its_rows_as_they_are(
    database: str, databases: Databases
) -> None:
    store = await opened(database)
    rows = vectors(300)
    before = [
        replace(block, vectors=rows[block.first : block.first + 128].astype("<f4").tobytes()) for block in blocks(rows)
    ]

    def put(tx):
        tx.take_numbers(len(rows))
        tx.put_generation(ONE)
        tx.put_vectors(1, before)

    rows_of = "SELECT xmin::text, number FROM near_vector ORDER BY number"

    try:
        await store.write(ALICE, put)
        await indexed(store, ALICE)
        found = await asked(store, ALICE, rows[7], 1)
        assert found.cosines == pytest.approx({7: 1.0}, abs=1e-4)
        rows_before = databases.server.sql(rows_of, _name(database))
        assert len(rows_before) == 256
        assert await store.write(ALICE, lambda tx: convert(tx, ONE))
        assert not await store.write(ALICE, lambda tx: convert(tx, ONE))
        assert databases.server.sql(rows_of, _name(database)) == rows_before
    finally:
        await store.close()
