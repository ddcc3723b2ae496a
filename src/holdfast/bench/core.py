"""The durable core: one add, many adders, recall by words, start-up. Every row is a ratio in one run."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import apsw

from holdfast.bench.measure import Row
from holdfast.open import AsyncHoldfast
from holdfast.storage.sqlite.connection import connect
from holdfast.storage.sqlite.reading import QUERIES

__all__ = ["run"]

ADDERS = 64
IN_SCOPE = 10_000
WORDS = 4000


def vocabulary(random: Random) -> tuple[list[str], list[float]]:
    """Made-up words with Zipf weights: what a text index meets in real text (Zipf 1949)."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(random.choices(letters, k=random.randint(3, 9))) for _ in range(WORDS)]
    return words, [1 / rank for rank in range(1, WORDS + 1)]


def sentences(random: Random, count: int) -> Iterator[str]:
    """Messages of about 20 words."""
    words, weights = vocabulary(Random(1))
    for _ in range(count):
        yield " ".join(random.choices(words, weights, k=random.randint(10, 30)))


def recording(path: str) -> list[tuple[str, Mapping[str, Any]]]:
    """The statements and parameters that one add of one message makes, as the store makes them."""
    from holdfast.storage.sqlite.writing import SqliteWrite

    made: list[tuple[str, Mapping[str, Any]]] = []
    run = SqliteWrite._run  # noqa: SLF001 - the bench looks into the store to compare like with like

    def noted(self: SqliteWrite, name: str, **params: Any) -> apsw.Cursor:
        made.append((name, {**params, **self._bound}))
        return run(self, name, **params)

    async def once() -> None:
        async with AsyncHoldfast.open(path, worker=False) as holdfast:
            scope = holdfast.scope(user="bench", session="s")
            await scope.add([{"role": "user", "content": next(sentences(Random(2), 1))}])
            SqliteWrite._run = noted  # type: ignore[method-assign]  # noqa: SLF001
            try:
                await scope.add([{"role": "user", "content": next(sentences(Random(3), 1))}])
            finally:
                SqliteWrite._run = run  # type: ignore[method-assign]  # noqa: SLF001

    asyncio.run(once())
    return made


def bare_add(connection: apsw.Connection, made: Sequence[tuple[str, Mapping[str, Any]]]) -> Callable[[], None]:
    """A transaction on the calling thread that writes the same rows into the same tables, with nothing around it."""
    turn = 1000
    message = next((params for name, params in made if name == "insert_message"), None)

    def add() -> None:
        nonlocal turn
        turn += 1
        connection.execute("BEGIN IMMEDIATE")
        for name, params in made:
            if name == "append_word_block" and turn % 128 == 0:
                params = {**params, "first": turn}  # noqa: PLW2901 - a block closes as often as in the store
                name = "put_word_block"  # noqa: PLW2901
            fresh = {"number": turn, "seq": turn, "id": f"x{turn:036d}"}
            changed = {key: fresh[key] for key in params.keys() & fresh.keys() if name.startswith("insert_")}
            connection.execute(QUERIES[name], {**params, **changed}).fetchall()
        connection.execute("COMMIT")

    assert message is None or "body" in message  # noqa: S101 - executemany writes it below
    return add


async def durable_add(folder: Path, rounds: int) -> list[Row]:
    """One durable add against a bare transaction that writes the same rows."""
    made = await asyncio.to_thread(recording, str(folder / "recorded.db"))
    made = [*made, *await asyncio.to_thread(message_insert, str(folder / "recorded.db"))]
    bare_path = folder / "bare.db"
    async with AsyncHoldfast.open(str(bare_path), worker=False) as holdfast:
        await holdfast.scope(user="bench", session="s").add([{"role": "user", "content": "first"}])
    texts = sentences(Random(4), rounds * 2 + 10)
    async with AsyncHoldfast.open(str(folder / "ours.db"), worker=False) as holdfast:
        scope = holdfast.scope(user="bench", session="s")
        await scope.add([{"role": "user", "content": "first"}])
        connection = connect(str(bare_path), busy_timeout=1)
        add = bare_add(connection, made)
        single = single_insert(folder)
        ours: list[float] = []
        bare: list[float] = []
        alone: list[float] = []
        for _ in range(rounds):
            text = next(texts)
            for times, call in ((ours, None), (bare, add), (alone, single)):
                began = time.perf_counter()
                if call is None:
                    await scope.add([{"role": "user", "content": text}])
                else:
                    call()
                times.append(time.perf_counter() - began)
        connection.close()
    middle = statistics.median
    return [
        Row(
            name="add, one message, p50",
            value=f"{middle(ours) * 1e6:.0f} us",
            against=f"bare transaction with the same rows {middle(bare) * 1e6:.0f} us",
            ratio=middle(ours) / middle(bare),
            bar=2.0,
        ),
        Row(
            name="add, one message, p50",
            value=f"{middle(ours) * 1e6:.0f} us",
            against=f"one row into one table {middle(alone) * 1e6:.0f} us",
            ratio=middle(ours) / middle(alone),
        ),
    ]


def message_insert(path: str) -> list[tuple[str, Mapping[str, Any]]]:
    """The journal row of the last add, as parameters of its insert."""
    connection = connect(path, busy_timeout=1, readonly=True)
    cursor = connection.execute("SELECT * FROM message ORDER BY number DESC LIMIT 1")
    names = [column[0] for column in cursor.description]
    row = dict(zip(names, cursor.fetchone() or (), strict=True))
    connection.close()
    row.pop("hidden_by")
    return [("insert_message", row)]


def single_insert(folder: Path) -> Callable[[], None]:
    """One row into a table of one column, FULL commit: the floor of this disk."""
    connection = apsw.Connection(str(folder / "floor.db"))
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (x TEXT)")

    def insert() -> None:
        connection.execute("INSERT INTO t VALUES ('x')")

    return insert


async def many_adders(folder: Path, rounds: int) -> list[Row]:
    """64 adders at once against one add after the other, on the same file system."""
    texts = list(sentences(Random(5), ADDERS))
    alone: list[float] = []
    together: list[float] = []
    async with AsyncHoldfast.open(str(folder / "many.db"), worker=False) as holdfast:
        scopes = [holdfast.scope(user=f"u{number % 8}", session=f"s{number}") for number in range(ADDERS)]
        for _ in range(rounds):
            began = time.perf_counter()
            for scope, text in zip(scopes, texts, strict=True):
                await scope.add([{"role": "user", "content": text}])
            alone.append(ADDERS / (time.perf_counter() - began))
            began = time.perf_counter()
            await asyncio.gather(
                *(scope.add([{"role": "user", "content": text}]) for scope, text in zip(scopes, texts, strict=True))
            )
            together.append(ADDERS / (time.perf_counter() - began))
    one, many = statistics.median(alone), statistics.median(together)
    return [
        Row(
            name=f"{ADDERS} adders at once",
            value=f"{many:,.0f} adds/s",
            against=f"one after the other {one:,.0f} adds/s",
            ratio=many / one,
            bar=8.0,
            at_most=False,
        )
    ]
