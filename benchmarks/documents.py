"""What reads of documents cost by how many there are: by path beside by id, listings, and searches below a path."""

from __future__ import annotations

import asyncio
import gc
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from random import Random

from benchmarks.core import sentences
from benchmarks.measure import Row, doing
from memhold.faces.python.open import AsyncMemhold
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.scope import AsyncScope

__all__ = ["run"]

SIZES = (500, 10_000, 100_000)
FOLDER = 20
"""Documents in the folder that is listed and searched, however many there are in all."""
_AT_ONCE = 256
_ROUNDS = 60
_PASSES = 5
_TIMES = 15
_MOST = 1.2

Call = Callable[[], Awaitable[object]]


def run(*, quick: bool = False, place: str | None = None) -> list[Row]:
    """One row for each read and size: its median time, that of the first size, and the ratio.

    On SQLite that is processor time of all threads; on PostgreSQL, where another process reads, time that passes.

    Args:
        quick: Only the first two sizes.
        place: Where the store is opened, as `AsyncMemhold.open` takes it; else a file that is removed.
    """
    return asyncio.run(_run(SIZES[:2] if quick else SIZES, place))


async def _run(sizes: Sequence[int], place: str | None) -> list[Row]:
    rows: list[Row] = []
    first: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            where = place or str(Path(folder) / f"{size}.db")
            clock = time.perf_counter if where.startswith("postgres") else time.process_time
            async with AsyncMemhold.open(where, worker=False, embedding="none") as mem:
                scope = mem.scope(user=f"documents-{size}")
                doing(f"{size:,} documents are written")
                await _filled(scope.documents, size)
                if where.startswith("postgres"):
                    _counted(where)
                doing(f"{size:,} documents are read")
                single, many = await _one(scope, size), _many(scope.documents)
                taken = {**await _medians(single, clock), **await _medians(many, clock)}
                for name, seconds in taken.items():
                    rows.append(_row(name, size, seconds, first.setdefault(name, seconds)))
                rows.append(_beside(size, taken))
    return sorted(rows, key=lambda row: row.name.partition(",")[0])


def _counted(place: str) -> None:
    """Let PostgreSQL count what is there, as it does by itself within a minute: without, it reads a table through."""
    import psycopg

    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("ANALYZE")


async def _filled(documents: AsyncDocuments, size: int) -> None:
    texts = sentences(Random(3), size)
    pending = [(_path(at, size), next(texts)) for at in range(size)]
    for at in range(0, size, _AT_ONCE):
        await asyncio.gather(*(documents.put(path, {"text": text}) for path, text in pending[at : at + _AT_ONCE]))


def _path(at: int, size: int) -> tuple[str, ...]:
    """The first ones stand in one small folder, the rest in folders of a hundred."""
    if at % (size // FOLDER) == 0:
        return ("all", "small", f"d{at}")
    return ("all", f"f{at // 100}", f"d{at}")


async def _one(scope: AsyncScope, size: int) -> Mapping[str, Iterator[Call]]:
    """Reads of one document: the same ones several times, from all over the store."""
    paths = [_path(at, size) for at in range(0, size, max(1, size // _ROUNDS))]
    ids = [(await scope.documents.read(path)).id for path in paths]
    return {
        "read by path": (partial(scope.documents.read, one) for one in paths * _PASSES),
        "get by id": (partial(scope.get, one) for one in ids * _PASSES),
    }


def _many(documents: AsyncDocuments) -> Mapping[str, Iterator[Call]]:
    """Reads of ten documents."""
    small = ("all", "small")
    reads: dict[str, Call] = {
        "list a folder": partial(documents.list, small, limit=10),
        "list a folder, newest first": partial(documents.list, small, order="newest", limit=10),
        "list all": partial(documents.list, ("all",), limit=10),
        "list all, newest first": partial(documents.list, ("all",), order="newest", limit=10),
        "search a folder": partial(documents.search, "the", prefix=small, limit=10),
        "search all": partial(documents.search, "the", prefix=("all",), limit=10),
        "search without a prefix": partial(documents.search, "the", limit=10),
    }
    return {name: repeat(call, _TIMES) for name, call in reads.items()}


async def _medians(reads: Mapping[str, Iterator[Call]], clock: Callable[[], float]) -> dict[str, float]:
    """The median seconds of each read; they take turns on one machine."""
    taken: dict[str, list[float]] = {name: [] for name in reads}
    gc.collect()
    left = dict(reads)
    while left:
        for name, calls in list(left.items()):
            call = next(calls, None)
            if call is None:
                del left[name]
                continue
            began = clock()
            await call()
            taken[name].append(clock() - began)
    return {name: statistics.median(times[1:]) for name, times in taken.items()}


def _row(name: str, size: int, seconds: float, least: float) -> Row:
    return Row(name=f"{name}, {size:,} documents", value=_shown(seconds), against=_shown(least), ratio=seconds / least)


def _beside(size: int, taken: Mapping[str, float]) -> Row:
    path, ident = taken["read by path"], taken["get by id"]
    return Row(
        name=f"read by path beside get by id, {size:,} documents",
        value=_shown(path),
        against=_shown(ident),
        ratio=path / ident,
        bar=_MOST,
    )


def _shown(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"
