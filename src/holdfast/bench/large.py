"""One scope of very many vectors on PostgreSQL: the HNSW index beside scans in the process, exact and by sign bits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from holdfast.bench.measure import Row, percentile
from holdfast.bench.recall import peak_mb
from holdfast.bench.stores import own_schema
from holdfast.model import Scope
from holdfast.pipeline.near_vectors import NEAREST, NearCache
from holdfast.pipeline.vector_cache import VectorCache
from holdfast.ports import Priority
from holdfast.system import SystemClock
from holdfast.transaction import ReadTx, WriteTx
from holdfast.vectors import HELD, VECTOR_DOCUMENTS, Generation, VectorBlock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.storage.postgres.store import PostgresStore

    Floats = NDArray[np.float32]
    Answer = tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]

__all__ = ["clustered", "run"]

DIMENSION = 256
"""That of the built-in embedding."""
SPREAD = 0.9
"""Length of what a vector has of its own, beside the part of length 1 that it shares with its cluster."""
A_CLUSTER = 400
BLOCKS_A_WRITE = 16
TOP = 10
_ALIKE = 1e-6

SCOPE = Scope(namespace="bench", user="alice")


def clustered(count: int, clusters: int, seed: int, part: int) -> Floats:
    """Unit vectors around centres that only `seed` and `clusters` decide; `part` tells draws apart."""
    import numpy as np

    centres = np.random.default_rng(seed).standard_normal((clusters, DIMENSION), dtype=np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    random = np.random.default_rng([seed, part])
    own = random.standard_normal((count, DIMENSION), dtype=np.float32) * np.float32(SPREAD / DIMENSION**0.5)
    drawn = centres[random.integers(0, clusters, count)] + own
    made: Floats = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype("<f4")
    return made


def _blocks(count: int, clusters: int) -> Iterator[list[VectorBlock]]:
    step = BLOCKS_A_WRITE * VECTOR_DOCUMENTS
    marks = bytes((HELD,)) * VECTOR_DOCUMENTS
    for start in range(0, count, step):
        rows = clustered(min(step, count - start), clusters, 1, start + 1)
        yield [
            VectorBlock(first=start + at, marks=marks[: len(part)], vectors=part.tobytes())
            for at in range(0, len(rows), VECTOR_DOCUMENTS)
            for part in (rows[at : at + VECTOR_DOCUMENTS],)
        ]


async def _filled(store: PostgresStore, count: int, clusters: int) -> Generation:
    def begin(tx: WriteTx) -> Generation:
        made = Generation(number=1, fingerprint="made up", dimension=DIMENSION, state="current", made_at=tx.now)
        tx.put_generation(made)
        tx.take_numbers(count)
        return made

    generation = await store.write(SCOPE, begin)
    for blocks in _blocks(count, clusters):
        await store.write(SCOPE, lambda tx, some=blocks: tx.put_vectors(1, some), priority=Priority.WORKER)  # type: ignore[misc]
    return generation


async def _indexed(store: PostgresStore, generation: Generation) -> float:
    began = time.perf_counter()
    while (seconds := await store.upkeep.index_near(SCOPE, generation)) is not None:  # noqa: ASYNC110 - no event tells
        await asyncio.sleep(seconds)
    return time.perf_counter() - began


async def _asked(
    store: PostgresStore, questions: Floats, ask: Callable[[ReadTx, Floats], Answer | None]
) -> tuple[list[float], list[Floats]]:
    """Seconds of each question, the first one apart in front, and the cosines that each gave."""
    times, found = [], []
    for query in (questions[0], *questions):
        began = time.perf_counter()
        answer = await store.read(SCOPE, lambda tx, asked=query: ask(tx, asked))  # type: ignore[misc]
        times.append(time.perf_counter() - began)
        if answer is not None:
            found.append(answer[0])
    return times, found[1:]


def _lost(exact: Sequence[Floats], other: Sequence[Floats]) -> float:
    """The share of the exact ten nearest that another answer has not among its ten."""
    import numpy as np

    kept = []
    for right, given in zip(exact, other, strict=True):
        tenth = np.partition(right, -TOP)[-TOP]
        best = np.argpartition(-given, TOP)[:TOP]
        kept.append(float((right[best] >= tenth - _ALIKE).mean()))
    return 1 - sum(kept) / max(len(kept), 1)


async def _measured(place: str, count: int, asked: int) -> list[Row]:
    import numpy as np

    from holdfast.storage.postgres.connection import parsed
    from holdfast.storage.postgres.store import PostgresStore

    clusters = max(20, count // A_CLUSTER)
    numbers = np.arange(count)
    questions = clustered(asked, clusters, 1, 0)
    store = await PostgresStore.open(parsed(place), clock=SystemClock(), read_timeout=600, hnsw_from=1)
    try:
        generation = await _filled(store, count, clusters)
        seconds = await _indexed(store, generation)
        sizes = _sizes(place)
        bare = peak_mb()
        near, vectors = NearCache(), VectorCache()
        none = lambda: np.zeros(0, dtype=np.int64)  # noqa: E731 - no words are asked for
        by_index = await _asked(store, questions, lambda tx, q: near.cosines(tx, generation, q, numbers, none))
        after_index = peak_mb()

        def scan(exact_to: int) -> Callable[[ReadTx, Floats], Answer]:
            return lambda tx, q: vectors.vectors(tx, generation).cosines(q, numbers, exact_to=exact_to)

        exact = await _asked(store, questions, scan(count))
        signs = await _asked(store, questions, scan(0))
        after_scan = peak_mb()
    finally:
        await store.close()
    if not by_index[1]:
        return [Row(name="index", value="not made: pgvector 0.8 or newer is missing", ratio=1, bar=0)]
    return [
        _row(f"the nearest of {count:,} vectors, exact in the process", exact, exact, after_scan - after_index),
        _row("the same by sign bits and rescoring, in the process", signs, exact, after_scan - after_index),
        _row(f"the same by HNSW, {NEAREST} nearest", by_index, exact, after_index - bare),
        Row(name="HNSW, rows and index made in", value=f"{seconds:,.0f} s", ratio=seconds),
        Row(name="size of blocks, rows, index", value=", ".join(f"{size / 1e6:,.0f} MB" for size in sizes)),
    ]


def _row(name: str, asked: tuple[list[float], list[Floats]], exact: tuple[list[float], list[Floats]], mb: float) -> Row:
    (first, *times), found = asked
    p50, p95 = (percentile(times, share) * 1e3 for share in (0.5, 0.95))
    lost = _lost(exact[1], found)
    value = f"p50 {p50:.1f} ms, p95 {p95:.1f} ms, {lost:.1%} of the nearest ten lost"
    return Row(name=name, value=value, against=f"the first {first * 1e3:,.0f} ms, {mb:,.0f} MB more", ratio=p95)


def _sizes(place: str) -> list[int]:
    import psycopg

    statement = (
        "SELECT pg_total_relation_size('vector_block'),"
        " pg_total_relation_size('near_vector') - pg_indexes_size('near_vector'), pg_indexes_size('near_vector')"
    )
    with psycopg.connect(place) as connection:
        row = connection.execute(statement).fetchone()
    return [int(size) for size in row or ()]


def run(database: str, *, vectors: int = 1_000_000, quick: bool = False) -> list[Row]:
    """The rows of the table, in a schema of its own that is removed at the end.

    Args:
        database: `postgresql://…`, whose role may create a schema; pgvector is in its schema `public`.
        vectors: how many, made up around centres, 400 each.
        quick: small enough for a test.
    """
    with own_schema(database) as place:
        # The location ends with the path; pgvector's types are found behind our own schema.
        return asyncio.run(_measured(f"{place}%2Cpublic", 2_000 if quick else vectors, 5 if quick else 100))
