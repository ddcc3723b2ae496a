"""The durable core: one add, many adders, recall by words, start-up. Every row is a ratio in one run."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import apsw

from benchmarks.digests import digest_costs
from benchmarks.measure import Row, doing, percentile, side_by_side
from benchmarks.peers import peer_rows
from memhold.faces.python.open import AsyncMemhold
from memhold.ports.postings import BLOCK_DOCUMENTS, BLOCK_ENTRY_BYTES
from memhold.storage.sqlite.connection import connect
from memhold.storage.sqlite.reading import QUERIES

__all__ = ["run"]

ADDERS = 64
WARM_UP = 100
"""Turns before those that count: statements are prepared by then, and most words have been met."""
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


Statement = tuple[str, Mapping[str, Any]]


def recording(path: str) -> list[Statement]:
    """What one add of one message writes, as SQLite sees it: the statements between BEGIN and COMMIT, without reads."""
    made: list[Statement] = []

    def trace(_: apsw.Cursor, sql: str, bindings: Any) -> bool:
        made.append((sql, bindings if isinstance(bindings, dict) else {}))
        return True

    def hook(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    async def once() -> None:
        async with AsyncMemhold.open(path, worker=False, embedding="none") as memhold:
            scope = memhold.scope(user="bench", session="s")
            await scope.add([{"role": "user", "content": next(sentences(Random(2), 1))}])
            made.clear()
            await scope.add([{"role": "user", "content": next(sentences(Random(3), 1))}])
            end = next(at for at, (sql, _) in enumerate(made) if sql == "COMMIT")
            del made[end + 1 :]

    apsw.connection_hooks.append(hook)
    try:
        asyncio.run(once())
    finally:
        apsw.connection_hooks.remove(hook)
    return [entry for entry in made if entry[0].startswith(("BEGIN", "INSERT", "UPDATE", "COMMIT"))]


def bare_add(connection: apsw.Connection, made: Sequence[Statement]) -> Callable[[], None]:
    """A transaction on the calling thread that writes the same rows into the same tables, with nothing around it."""
    turn = first = 1000
    size = BLOCK_ENTRY_BYTES

    def add() -> None:
        nonlocal turn, first, size
        turn += 1
        # A block of words closes as often as in the store.
        opens = size >= BLOCK_ENTRY_BYTES or turn - first >= BLOCK_DOCUMENTS
        first, size = (turn, 0) if opens else (first, size)
        fresh = {"number": turn, "seq": turn, "id": f"x{turn:036d}"}
        for sql, params in made:
            if sql.startswith(("INSERT INTO message ", "INSERT INTO change ")):
                connection.execute(sql, {**params, **fresh})
            elif sql.startswith("UPDATE store"):
                connection.execute(sql, {"now": params["now"] + turn * 1_000_000})
            elif "entries" in params:
                size += len(params["entries"])
                connection.execute(QUERIES["put_word_block"] if opens else sql, {**params, "first": first})
            else:
                connection.execute(sql, params)

    return add


async def durable_add(folder: Path, rounds: int) -> list[Row]:
    """One durable add against a bare transaction that writes the same rows."""
    made = await asyncio.to_thread(recording, str(folder / "recorded.db"))
    bare_path = folder / "bare.db"
    async with AsyncMemhold.open(str(bare_path), worker=False, embedding="none") as memhold:
        await memhold.scope(user="bench", session="s").add([{"role": "user", "content": "first"}])
    texts = sentences(Random(4), WARM_UP + rounds)
    async with AsyncMemhold.open(str(folder / "ours.db"), worker=False, embedding="none") as memhold:
        scope = memhold.scope(user="bench", session="s")
        await scope.add([{"role": "user", "content": "first"}])
        connection = connect(str(bare_path), busy_timeout=1)
        add = bare_add(connection, made)
        single = single_insert(folder)
        ours: list[float] = []
        bare: list[float] = []
        alone: list[float] = []
        for text in texts:
            for times, call in ((ours, None), (bare, add), (alone, single)):
                began = time.perf_counter()
                if call is None:
                    await scope.add([{"role": "user", "content": text}])
                else:
                    call()
                times.append(time.perf_counter() - began)
        connection.close()

    def middle(times: Sequence[float]) -> float:
        return statistics.median(times[WARM_UP:])

    return [
        Row(
            name="add, one message, p50",
            value=f"{middle(ours) * 1e6:.0f} us",
            against=f"bare transaction with the same rows {middle(bare) * 1e6:.0f} us",
            ratio=middle(ours) / middle(bare),
            bar=2.2,
        ),
        Row(
            name="add, one message, p50",
            value=f"{middle(ours) * 1e6:.0f} us",
            against=f"one row into one table {middle(alone) * 1e6:.0f} us",
            ratio=middle(ours) / middle(alone),
        ),
    ]


def single_insert(folder: Path) -> Callable[[], None]:
    """One row into a table of one column, FULL commit: the floor of this disk."""
    connection = apsw.Connection(str(folder / "floor.db"))
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (x TEXT)").fetchall()

    def insert() -> None:
        connection.execute("INSERT INTO t VALUES ('x')")

    return insert


async def many_adders(folder: Path, rounds: int) -> list[Row]:
    """64 adders at once against one add after the other, on the same file system."""
    texts = list(sentences(Random(5), ADDERS))
    alone: list[float] = []
    together: list[float] = []
    async with AsyncMemhold.open(str(folder / "many.db"), worker=False, embedding="none") as memhold:
        scopes = [memhold.scope(user=f"u{number % 8}", session=f"s{number}") for number in range(ADDERS)]
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


def fill_fts(path: Path, texts: Sequence[str]) -> apsw.Connection:
    """The same texts in a bare FTS5 table."""
    connection = apsw.Connection(str(path))
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61')")
    with connection:
        connection.executemany("INSERT INTO words VALUES (?)", ((text,) for text in texts))
    return connection


async def fill(path: str, users: Sequence[str], texts: Sequence[str], each: int) -> None:
    """Give each user that many of the texts, in batches."""
    async with AsyncMemhold.open(path, worker=False, embedding="none") as memhold:
        for number, user in enumerate(users):
            own = [texts[(number * 17 + at) % len(texts)] for at in range(each)]
            for start in range(0, each, 1000):
                batch = [{"role": "user", "content": text} for text in own[start : start + 1000]]
                await memhold.scope(user=user, session=f"s{start // 1000 % 10}").add(batch)


async def recall_by_words(folder: Path, rounds: int, foreign: int) -> list[Row]:
    """Recall with 10,000 messages in scope: against bare FTS5, and beside messages of other users."""
    random = Random(6)
    texts = list(sentences(random, IN_SCOPE))
    alone, beside = folder / "alone.db", folder / "beside.db"
    await fill(str(alone), ["alice"], texts, IN_SCOPE)
    await fill(str(beside), ["alice"], texts, IN_SCOPE)
    await fill(str(beside), [f"u{number}" for number in range(foreign // 1000)], texts, 1000)
    words, weights = vocabulary(Random(1))
    rows = []
    for count in (3, 8):
        questions = [" ".join(random.choices(words, weights, k=count)) for _ in range(rounds)]
        rows += await _asked(folder, alone, beside, texts, questions, foreign)
    return rows


async def _asked(
    folder: Path, alone: Path, beside: Path, texts: Sequence[str], questions: Sequence[str], foreign: int
) -> list[Row]:
    count = len(questions[0].split())
    times: dict[str, list[float]] = {"bare": [], "alone": [], "beside": []}
    connection = fill_fts(folder / f"fts{count}.db", texts)
    sql = "SELECT rowid, text, bm25(words) FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10"
    same = True
    async with (
        AsyncMemhold.open(str(alone), worker=False, embedding="none") as one,
        AsyncMemhold.open(str(beside), worker=False, embedding="none") as other,
    ):
        mine, theirs = one.scope(user="alice"), other.scope(user="alice")
        for question in questions:
            asked = " OR ".join(question.split())
            began = time.perf_counter()
            connection.execute(sql, (asked,)).fetchall()
            times["bare"].append(time.perf_counter() - began)
            answers = []
            for name, scope in (("alone", mine), ("beside", theirs)):
                began = time.perf_counter()
                answers.append(await scope.recall(question))
                times[name].append(time.perf_counter() - began)
            pairs = [[(hit.text, hit.score) for hit in answer.hits] for answer in answers]
            same = same and pairs[0] == pairs[1]
    connection.close()
    bare, ours, crowded = (percentile(times[name], 0.95) for name in ("bare", "alone", "beside"))
    return [
        Row(
            name=f"recall, {count} words, {IN_SCOPE:,} in scope, p95",
            value=f"{ours * 1e3:.1f} ms",
            against=f"bare FTS5 of that scope {bare * 1e3:.1f} ms",
            ratio=ours / bare,
            bar=5.0,
        ),
        Row(
            name=f"the same beside {foreign:,} of others, p95",
            value=f"{crowded * 1e3:.1f} ms, {'same' if same else 'OTHER'} order and scores",
            against=f"alone {ours * 1e3:.1f} ms",
            ratio=crowded / ours if same else float("inf"),
            bar=2.5,
        ),
    ]


def start_up(folder: Path, rounds: int) -> list[Row]:
    """What importing, opening and asking for help cost over the bare interpreter."""
    path = folder / "start.db"
    asyncio.run(fill(str(path), ["alice"], ["hello"], 1))
    asyncio.run(_settled(str(path)))
    programs = {
        "import memhold": ("import memhold", 60),
        "open an existing file": (f"from memhold import Memhold; Memhold.open({str(path)!r}).close()", 200),
        "memhold --help": (
            "import sys; sys.argv[1:] = ['--help']; from memhold.cli.main import main; main()",
            250,
        ),
    }
    rows = []
    for name, (program, bar) in programs.items():
        ours, bare = side_by_side(lambda p=program: _python(p), lambda: _python("pass"), rounds)  # type: ignore[misc]
        over = (statistics.median(ours) - statistics.median(bare)) * 1e3
        rows.append(Row(name=name, value=f"{over:.0f} ms over the bare interpreter", ratio=over, bar=bar))
    return rows


async def _settled(path: str) -> None:
    """Do what is due, so that opening finds nothing to do."""
    async with AsyncMemhold.open(path, worker=False) as memhold:
        await memhold.settle()


def _python(program: str) -> None:
    # As an installed package starts: from bytecode, which this variable would keep from being written.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, env=environment)


def run(*, quick: bool = False) -> list[Row]:
    """Every row of the table; `quick` makes it small enough for a test."""
    rounds, foreign = (20, 2000) if quick else (300, 1_000_000)
    with tempfile.TemporaryDirectory(prefix="memhold-bench-") as name:
        folder = Path(name)
        doing("one add at a time, beside a bare transaction")
        rows = asyncio.run(durable_add(folder, rounds))
        rows += peer_rows(folder, rounds)
        doing("digests of rows")
        rows += asyncio.run(digest_costs(folder, rounds // 2))
        doing("many adders at once")
        rows += asyncio.run(many_adders(folder, max(5, rounds // 15)))
        doing("start-up")
        rows += start_up(folder, max(3, rounds // 20))
        doing(f"recall by words, beside {foreign:,} messages of others")
        rows += asyncio.run(recall_by_words(folder, rounds, foreign))
    return rows
