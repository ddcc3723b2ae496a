"""One scope of very many messages on PostgreSQL: with the HNSW index and without, whole recalls and nearest vectors."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING

from benchmarks.core import vocabulary
from benchmarks.measure import PATIENT, Row, doing, percentile
from benchmarks.recall import peak_mb
from benchmarks.stores import own_schema
from memhold.faces.python.open import AsyncMemhold
from memhold.index.embedding import Embedding
from memhold.index.kept_scopes import KeptScopes
from memhold.index.nearest import NEAREST, NearCache
from memhold.index.vector_cache import VectorCache
from memhold.ports.models import EmbeddingModel
from memhold.ports.transaction import ReadTx
from memhold.providers.embedding.builtin.model import BuiltinEmbedding
from memhold.values.records import Scope
from memhold.wiring.system import SystemClock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memhold.index.vector_cache import Cosines
    from memhold.storage.postgres.store import PostgresStore

    Floats = NDArray[np.float32]

__all__ = ["run"]

A_TOPIC = 400
"""Messages of one topic."""
OWN_WORDS = 40
"""Words that are told of a topic beside those of all."""
OWN_SHARE = 0.5
BATCH = 1000
SAID_EVERY = 50_000
TOP = 10
_ALIKE = 1e-6
_DAY = 24 * 3600.0

SCOPE = Scope(namespace="default", user="alice")


class _Topics:
    """Made-up messages and questions about topics: the nearest of a question are about its topic."""

    def __init__(self, count: int) -> None:
        self._words, self._weights = vocabulary(Random(1))
        self._own = [Random(f"topic {number}").sample(self._words, OWN_WORDS) for number in range(count)]

    def text(self, random: Random, words: int) -> str:
        own = self._own[random.randrange(len(self._own))]
        common = random.choices(self._words, self._weights, k=words)
        return " ".join(random.choice(own) if random.random() < OWN_SHARE else word for word in common)

    def messages(self, count: int) -> Iterator[str]:
        random = Random(2)
        return (self.text(random, random.randint(10, 30)) for _ in range(count))

    def questions(self, count: int) -> list[str]:
        random = Random(3)
        return [self.text(random, 6) for _ in range(count)]


async def _filled(place: str, topics: _Topics, count: int) -> tuple[float, float]:
    """Seconds of the adds, and of all that follows from them: words, vectors, their rows and the index."""
    async with AsyncMemhold.open(place, worker=False, postgres_hnsw_from=1) as mem:
        texts = topics.messages(count)
        began = time.perf_counter()
        for start in range(0, count, BATCH):
            batch = [{"role": "user", "content": text} for text, _ in zip(texts, range(BATCH), strict=False)]
            await mem.scope(user=SCOPE.user, session=f"s{start // BATCH}").add(batch)
            if start and start % SAID_EVERY == 0:
                doing(f"added {start:,} of {count:,}")
        added = time.perf_counter()
        doing(f"{count:,} added in {added - began:,.0f} s; vectors and the index are made")
        await mem.settle(timeout=_DAY)
        settled = time.perf_counter()
        doing(f"made in {settled - added:,.0f} s")
    return added - began, settled - added


async def _recalled(place: str, questions: Sequence[str], hnsw_from: int) -> tuple[list[float], list[list[str]]]:
    """Seconds of each whole recall, the first one of a process apart in front, and the ids that each gave."""
    times, found = [], []
    async with AsyncMemhold.open(place, worker=False, postgres_hnsw_from=hnsw_from, **PATIENT) as mem:
        scope = mem.scope(user=SCOPE.user)
        for question in (questions[0], *questions):
            began = time.perf_counter()
            answer = await scope.recall(question, limit=TOP)
            times.append(time.perf_counter() - began)
            found.append([hit.id for hit in answer.hits])
    return times, found[1:]


async def _asked(
    store: PostgresStore, queries: Floats, ask: Callable[[ReadTx, Floats], Cosines | None]
) -> tuple[list[float], list[Floats]]:
    """Seconds of each question, the first one apart in front, and the cosines that each gave."""
    times, found = [], []
    for query in (queries[0], *queries):
        began = time.perf_counter()
        answer = await store.read(SCOPE, lambda tx, asked=query: ask(tx, asked))  # type: ignore[misc]
        times.append(time.perf_counter() - began)
        if answer is not None:
            found.append(answer.nearest)
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


async def _nearest(place: str, questions: Sequence[str]) -> list[Row]:
    """What the index alone gives of the nearest vectors, beside the scans in the process."""
    import numpy as np

    from memhold.storage.postgres.connection import parsed
    from memhold.storage.postgres.store import PostgresStore

    # As recall asks: a question is moved by the same common part as the vectors that stand.
    embedding = Embedding(_builtin)
    queries = np.stack([await embedding.query(question) for question in questions])
    store = await PostgresStore.open(parsed(place), clock=SystemClock(), read_timeout=600, hnsw_from=1)
    try:
        generation = (await store.read(SCOPE, lambda tx: tx.generations()))[0]
        count = await store.read(SCOPE, lambda tx: tx.document_count())
        numbers = np.arange(count)
        near, vectors = NearCache(KeptScopes()), VectorCache(KeptScopes())
        none = lambda: np.zeros(0, dtype=np.int64)  # noqa: E731 - no documents of this scope are new
        by_index = await _asked(store, queries, lambda tx, q: near.cosines(tx, generation, q, numbers, none))
        scan = lambda tx, q: vectors.vectors(tx, generation).cosines(q, numbers)  # noqa: E731 - as above
        exact = await _asked(store, queries, scan)
    finally:
        await store.close()
    if not by_index[1]:
        return [Row(name="index", value="not made: pgvector 0.8 or newer is missing", ratio=1, bar=0)]
    return [
        _row(f"the nearest of {count:,} vectors, all of them in the process", exact, exact),
        _row(f"the same by HNSW, {NEAREST} nearest", by_index, exact),
    ]


async def _builtin() -> EmbeddingModel:
    return BuiltinEmbedding()


def _row(name: str, asked: tuple[list[float], list[Floats]], exact: tuple[list[float], list[Floats]]) -> Row:
    (first, *times), found = asked
    value = f"{_percentiles(times)}, {_lost(exact[1], found):.1%} of the nearest ten lost"
    return Row(name=name, value=value, against=f"the first {first * 1e3:,.0f} ms", ratio=percentile(times, 0.95))


def _percentiles(times: Sequence[float]) -> str:
    p50, p95 = (percentile(times, share) * 1e3 for share in (0.5, 0.95))
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms"


async def _measured(place: str, count: int, asked: int) -> list[Row]:
    topics = _Topics(max(20, count // A_TOPIC))
    questions = topics.questions(asked)
    added, made = await _filled(place, topics, count)
    sizes = _sizes(place)
    doing("whole recalls with the index")
    (first, *times), found = await _recalled(place, questions, 1)
    peak = peak_mb()
    doing("whole recalls without it")
    (first_scan, *scans), expected = await _recalled(place, questions, 0)
    peak_scan = peak_mb()
    same = sum(len(set(one) & set(other)) for one, other in zip(found, expected, strict=True))
    same_first = sum(one[:1] == other[:1] for one, other in zip(found, expected, strict=True)) / len(questions)
    share = same / max(1, sum(len(one) for one in expected))
    told = f"{same_first:.0%} of the first and {share:.1%} of the ten hits as without"
    doing("the nearest vectors alone")
    return [
        Row(
            name=f"recall, all signals, {count:,} in scope, with HNSW",
            value=f"{_percentiles(times)}, {told}",
            against=f"the first {first:,.1f} s, peak {peak:,.0f} MB",
            ratio=percentile(times, 0.95),
        ),
        Row(
            name="the same without: all of them in the process",
            value=_percentiles(scans),
            against=f"the first {first_scan:,.1f} s, peak {peak_scan:,.0f} MB",
            ratio=percentile(scans, 0.95),
        ),
        *await _nearest(place, questions),
        Row(name="added, in batches of 1,000", value=f"{count / added:,.0f} messages/s", ratio=added),
        Row(name="words, vectors, rows and HNSW made in", value=f"{made:,.0f} s", ratio=made),
        Row(name="size of blocks, rows, index", value=", ".join(f"{size / 1e6:,.0f} MB" for size in sizes)),
    ]


def _sizes(place: str) -> list[int]:
    import psycopg

    statement = (
        "SELECT pg_total_relation_size('vector_block'),"
        " pg_total_relation_size('near_vector') - pg_indexes_size('near_vector'), pg_indexes_size('near_vector')"
    )
    with psycopg.connect(place) as connection:
        row = connection.execute(statement).fetchone()
    return [int(size) for size in row or ()]


def run(database: str, *, messages: int = 1_000_000, quick: bool = False) -> list[Row]:
    """The rows of the table, in a schema of its own that is removed at the end.

    Args:
        database: `postgresql://…`, whose role may create a schema; pgvector is in its schema `public`.
        messages: how many in the scope, made up about topics, 400 of each.
        quick: small enough for a test.
    """
    with own_schema(database) as place:
        # The location ends with the path; pgvector's types are found behind our own schema.
        return asyncio.run(_measured(f"{place}%2Cpublic", 2_000 if quick else messages, 5 if quick else 100))
