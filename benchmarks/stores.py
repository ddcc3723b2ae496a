"""PostgreSQL beside SQLite: adds, many adders, processes, recall, workers, a server; by turns where a turn is short."""

from __future__ import annotations

import asyncio
import secrets
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.children import told_to_begin, waiting
from benchmarks.core import fill, sentences, vocabulary
from benchmarks.measure import Row, doing, percentile
from benchmarks.server import Asked, per_second, served, server
from benchmarks.workers import throughput
from memhold.errors import InvalidInput
from memhold.faces.python.open import AsyncMemhold

__all__ = ["adder", "run"]

ADDERS = 64
PROCESSES = (1, 2, 4)


@contextmanager
def own_schema(database: str) -> Iterator[str]:
    """The location of a new schema in a database, which is removed at the end."""
    try:
        import psycopg
    except ImportError as error:
        raise InvalidInput(
            "PostgreSQL needs a driver that is not installed: pip install 'memhold[postgres]'"
        ) from error
    name = f"memhold_bench_{secrets.token_hex(4)}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
        try:
            joint = "&" if "?" in database else "?"
            yield f"{database}{joint}options=-csearch_path%3D{name}"
        finally:
            connection.execute(f"DROP SCHEMA {name} CASCADE".encode())


def _message(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


async def one_add(places: Sequence[str], rounds: int) -> Row:
    """One durable add of one message, by turns."""
    texts = sentences(Random(4), rounds * len(places) + 10)
    times: list[list[float]] = [[] for _ in places]
    stores = [await AsyncMemhold.open(place, worker=False, embedding="none") for place in places]
    try:
        for turn in range(rounds + 5):
            for store, taken in zip(stores, times, strict=True):
                began = time.perf_counter()
                await store.scope(user="bench", session="s").add(_message(next(texts)))
                if turn >= 5:
                    taken.append(time.perf_counter() - began)
    finally:
        for store in stores:
            await store.close()
    ours, file = (statistics.median(taken) for taken in times)
    return Row(
        name="add, one message, p50",
        value=f"{ours * 1e3:.2f} ms",
        against=f"SQLite {file * 1e3:.2f} ms",
        ratio=ours / file,
    )


async def many_adders(places: Sequence[str], rounds: int, *, apart: bool) -> Row:
    """64 adders at once: of one namespace, or each of its own."""
    rates: list[list[float]] = [[] for _ in places]
    text = next(sentences(Random(5), 1))
    for place, found in zip(places, rates, strict=True):
        async with AsyncMemhold.open(place, worker=False, embedding="none") as store:
            scopes = [
                store.scope(namespace=f"n{number}" if apart else "one", user=f"u{number % 8}", session=f"s{number}")
                for number in range(ADDERS)
            ]
            for turn in range(rounds + 1):
                began = time.perf_counter()
                await asyncio.gather(*(scope.add(_message(text)) for scope in scopes))
                if turn:
                    found.append(ADDERS / (time.perf_counter() - began))
    ours, file = (statistics.median(found) for found in rates)
    where = f"{ADDERS} namespaces" if apart else "one namespace"
    return Row(
        name=f"{ADDERS} adders at once, {where}",
        value=f"{ours:,.0f} adds/s",
        against=f"SQLite {file:,.0f} adds/s",
        ratio=ours / file,
        at_most=False,
    )


def adder(place: str, name: str, count: int, *, apart: bool) -> None:
    """Add in this process: 16 adders, `count` messages each; told when to begin, it says when it has."""

    async def work() -> None:
        async with AsyncMemhold.open(place, worker=False, embedding="none") as store:
            namespace = name if apart else "shared"
            scopes = [store.scope(namespace=namespace, user=f"{name} {n}", session="s") for n in range(16)]
            await asyncio.gather(*(scope.add(_message("first")) for scope in scopes))
            await told_to_begin()

            async def one(scope: Any) -> None:
                for turn in range(count):
                    await scope.add(_message(f"message {turn} of {name} with some words to find it by"))

            await asyncio.gather(*(one(scope) for scope in scopes))

    asyncio.run(work())


def processes(place: str, count: int, each: int, *, apart: bool) -> float:
    """Adds a second of that many processes on one store."""
    lines = [
        f"from benchmarks.stores import adder; adder({place!r}, 'p{number}', {each}, apart={apart})"
        for number in range(count)
    ]
    with waiting(lines) as begin:
        began = time.perf_counter()
        begin()
    return count * 16 * each / (time.perf_counter() - began)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recalled:
    """What the stores took for the same questions, and whether they answered the same."""

    firsts: Sequence[float]
    p95s: Sequence[float]
    same: bool


async def _recalled(places: Sequence[str], where: dict[str, str], rounds: int, *, embedding: str) -> _Recalled:
    """Ask the scope in each store the same questions; the first one of a process, which reads the index, apart."""
    words, weights = vocabulary(Random(1))
    random = Random(6)
    questions = [" ".join(random.choices(words, weights, k=5)) for _ in range(rounds)]
    firsts, p95s, answers = [], [], []
    for place in places:
        async with AsyncMemhold.open(place, worker=False, embedding=embedding) as store:
            taken, said = [], []
            for question in ["warm", *questions]:
                began = time.perf_counter()
                found = await store.scope(**where).recall(question)
                taken.append(time.perf_counter() - began)
                said += [(hit.text, hit.score) for hit in found.hits]
        firsts.append(taken[0])
        p95s.append(percentile(taken[1:], 0.95))
        answers.append(said)
    return _Recalled(firsts=firsts, p95s=p95s, same=answers[0] == answers[1])


def _recall_rows(found: _Recalled, name: str) -> list[Row]:
    same = "same" if found.same else "OTHER"
    (ours, file), (first, first_file) = found.p95s, found.firsts
    return [
        Row(
            name=f"{name}, p95",
            value=f"{ours * 1e3:.1f} ms, {same} order and scores",
            against=f"SQLite {file * 1e3:.1f} ms",
            ratio=ours / file if found.same else float("inf"),
        ),
        Row(
            name="the first of a process, which reads the index",
            value=f"{first * 1e3:.1f} ms",
            against=f"SQLite {first_file * 1e3:.1f} ms",
            ratio=first / first_file,
        ),
    ]


async def by_words(places: Sequence[str], rounds: int, in_scope: int, foreign: int) -> list[Row]:
    """Recall by words in one scope, beside other users."""
    texts = list(sentences(Random(6), in_scope))
    for place in places:
        await fill(place, ["alice"], texts, in_scope)
        await fill(place, [f"u{number}" for number in range(foreign // 1000)], texts, 1000)
    found = await _recalled(places, {"user": "alice"}, rounds, embedding="none")
    return _recall_rows(found, f"recall by words, {in_scope:,} in scope beside {foreign:,}")


async def by_all_signals(places: Sequence[str], rounds: int, in_scope: int) -> list[Row]:
    """Recall with every signal, meaning among them, in a scope whose vectors are made."""
    where = {"namespace": "meaning", "user": "alice"}
    texts = list(sentences(Random(8), in_scope))
    for place in places:
        async with AsyncMemhold.open(place, worker=False) as store:
            for start in range(0, in_scope, 1000):
                batch = [{"role": "user", "content": text} for text in texts[start : start + 1000]]
                await store.scope(**where, session=f"s{start // 1000}").add(batch)
            await store.settle(timeout=3600, namespace="meaning")
    found = await _recalled(places, where, rounds, embedding="builtin")
    return _recall_rows(found, f"recall with all signals, {in_scope:,} in scope")


def requests(places: Sequence[str], count: int) -> list[Row]:
    """Requests a second of a server on either store, with some connections at once."""
    asked = (
        Asked(name="recall by words", method="POST", path="/v1/recall", body={"query": "tea", "kinds": ["message"]}),
        Asked(
            name="add one message, durable",
            method="POST",
            path="/v1/messages?session=s",
            body={"messages": {"role": "user", "content": "I like green tea in the morning."}},
        ),
    )
    found: list[list[tuple[float, list[float]]]] = []
    with tempfile.TemporaryDirectory() as folder:
        for place in places:
            with served(*server(place, user="served"), folder=Path(folder)) as (port, _):
                found.append([asyncio.run(per_second(port, one, count)) for one in asked])
    rows = []
    for one, (ours, times), (file, _) in zip(asked, *found, strict=True):
        p99 = percentile(times, 0.99) * 1e3
        value, against = f"{ours:,.0f}/s, p99 {p99:.0f} ms", f"SQLite {file:,.0f}/s"
        rows.append(
            Row(name=f"requests a second: {one.name}", value=value, against=against, ratio=ours / file, at_most=False)
        )
    return rows


def run(database: str, *, quick: bool = False) -> list[Row]:
    """Every row of the table, in a schema of its own that is removed at the end.

    Args:
        database: `postgresql://…`, whose role may create a schema.
        quick: small enough for a test.
    """
    rounds, in_scope, foreign, each = (3, 200, 400, 2) if quick else (200, 10_000, 100_000, 40)
    counts = PROCESSES[:1] if quick else PROCESSES
    with tempfile.TemporaryDirectory(prefix="memhold-bench-") as folder, own_schema(database) as place:
        places = (place, str(Path(folder) / "memory.db"))
        doing("one add at a time")
        rows = [asyncio.run(one_add(places, rounds))]
        doing(f"{ADDERS} adders at once")
        rows += [asyncio.run(many_adders(places, max(3, rounds // 15), apart=apart)) for apart in (False, True)]
        for apart in (False, True):
            doing(f"processes that add, {'a namespace each' if apart else 'one namespace'}")
            rates = {count: processes(place, count, each, apart=apart) for count in counts}
            one = rates[1]
            rows += [
                Row(
                    name=f"{count} processes, {'a namespace each' if apart else 'one namespace'}",
                    value=f"{rate:,.0f} adds/s",
                    against=f"one process {one:,.0f} adds/s",
                    ratio=rate / one,
                )
                for count, rate in rates.items()
            ]
        doing("recall by words")
        rows += asyncio.run(by_words(places, max(3, rounds // 4), in_scope, foreign))
        doing("recall with all signals")
        rows += asyncio.run(by_all_signals(places, max(3, rounds // 4), in_scope))
        doing("workers that consolidate")
        rows += throughput(places, counts, 6 if quick else 240, 0.02 if quick else 0.2)
        doing("a server on either")
        rows += requests(places, 64 if quick else 1600)
    return rows
