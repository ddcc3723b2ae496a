"""Speed of recall and of the meaning index, over all signals, on made-up text: percentiles, rates and memory."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import TypeAlias

import apsw

from benchmarks.core import sentences, vocabulary
from benchmarks.measure import Row, doing, percentile
from benchmarks.recall import peak_mb
from memhold.faces.python.open import AsyncMemhold
from memhold.verbs.scope import AsyncScope

__all__ = ["recall_speed"]

_BATCH = 1000
_Taken: TypeAlias = list[float]
_BARS = {10_000: (0.010, 0.025), 100_000: (None, 0.080)}


async def recall_speed(*, quick: bool = False) -> list[Row]:
    """Recall with 10,000 and 100,000 messages in scope; the same user beside others; how fast vectors are made.

    `quick` takes a tenth of everything. Questions have 6 words, Zipf-drawn; the first one warms the caches up.
    """
    rows: list[Row] = []
    small, large, others = (1000, 10_000, 20) if quick else (10_000, 100_000, 1000)
    with tempfile.TemporaryDirectory(prefix="memhold-bench-") as name:
        folder = Path(name)
        texts = list(sentences(Random(6), small))
        doing(f"{small:,} messages in scope")
        await _filled(folder / "alone.db", {"alice": small}, texts, rows)
        rows += await _recalls(folder / "alone.db", small, quick=quick)
        doing(f"{large:,} messages in scope")
        await _filled(folder / "large.db", {"alice": large}, list(sentences(Random(8), large)), [])
        rows += await _recalls(folder / "large.db", large, quick=quick)
        doing(f"{small:,} messages in scope, beside {others:,} other users")
        users = {"alice": small} | {f"u{number}": 1000 for number in range(others)}
        await _filled(folder / "beside.db", users, texts, [])
        rows += await _beside(folder, sum(users.values()))
    rows.append(Row(name="peak memory of this run", value=f"{peak_mb():,.0f} MB"))
    return rows


async def _filled(path: Path, users: dict[str, int], texts: Sequence[str], rows: list[Row]) -> None:
    """Add each user's messages and make every vector; notes the rate of the index."""
    async with AsyncMemhold.open(str(path), worker=False) as memhold:
        for user, count in users.items():
            for start in range(0, count, _BATCH):
                batch = [{"role": "user", "content": texts[at % len(texts)]} for at in range(start, start + _BATCH)]
                await memhold.scope(user=user, session=f"s{start // _BATCH}").add(batch)
        began, busy = time.perf_counter(), time.process_time()
        await memhold.settle(timeout=600)
        seconds, busy = time.perf_counter() - began, time.process_time() - busy
    total = sum(users.values())
    rate = total / seconds
    value = f"{rate:,.0f} messages/s, {total / busy:,.0f} a second of processor time"
    rows.append(Row(name="meaning index", value=value, ratio=rate, bar=2000, at_most=False))


def _questions(count: int) -> list[str]:
    words, weights = vocabulary(Random(1))
    random = Random(7)
    return [" ".join(random.choices(words, weights, k=6)) for _ in range(count)]


async def _times(scope: AsyncScope, questions: Sequence[str], *, written: bool = False) -> tuple[_Taken, _Taken]:
    """Seconds of each question by the clock and of the processor; with `written` each comes right after a write."""
    taken: tuple[_Taken, _Taken] = ([], [])
    for number, question in enumerate(questions):
        if written:
            await scope.add([{"role": "user", "content": f"{question} {number}"}])
        began, busy = time.perf_counter(), time.process_time()
        await scope.recall(question)
        taken[0].append(time.perf_counter() - began)
        taken[1].append(time.process_time() - busy)
    return taken


async def _recalls(path: Path, size: int, *, quick: bool) -> list[Row]:
    questions = _questions(20 if quick else 200)
    async with AsyncMemhold.open(str(path), worker=False) as memhold:
        scope = memhold.scope(user="alice", session="bench")
        await _times(scope, questions[:1])
        times, busy = await _times(scope, questions)
    # Writes go to a copy: the file itself is compared with another one.
    copy = shutil.copy(path, path.with_suffix(".written"))
    async with AsyncMemhold.open(str(copy), worker=False) as memhold:
        scope = memhold.scope(user="alice", session="bench")
        await _times(scope, questions[:8])
        after, after_busy = await _times(scope, questions[: len(questions) // 4], written=True)
    rows = []
    for share, bar in zip((0.5, 0.95), _BARS.get(size, (None, None)), strict=True):
        value = percentile(times, share)
        name = f"recall, all signals, {size:,} in scope, p{share * 100:.0f}"
        rows.append(Row(name=name, value=_told(value, percentile(busy, share)), ratio=value, bar=bar))
    name = f"recall right after a write, {size:,} in scope, p50"
    rows.append(Row(name=name, value=_told(percentile(after, 0.5), percentile(after_busy, 0.5))))
    rows.append(await asyncio.to_thread(_fresh, path, questions[0]))
    return rows


def _told(seconds: float, busy: float) -> str:
    return f"{seconds * 1e3:.1f} ms, {busy * 1e3:.1f} ms of processor time"


def _fresh(path: Path, question: str) -> Row:
    """What a new process takes to open a store and to ask one question of the scope that it asks, and of what file."""
    asked = """
import sys, time
began = time.process_time()
from memhold import Memhold
memhold = Memhold.open(sys.argv[1], worker=False)
opened = time.process_time()
memhold.scope(user="alice").recall(sys.argv[2])
print(opened - began, time.process_time() - opened)
"""
    run = [sys.executable, "-c", asked, str(path), question]
    told = [subprocess.run(run, check=True, capture_output=True, text=True).stdout.split() for _ in range(3)]
    opened, first = (min(float(one[at]) for one in told) for at in range(2))
    with closing(apsw.Connection(str(path))) as connection:
        [(size, *index)] = connection.execute(
            "SELECT (SELECT count(*) FROM message), (SELECT sum(length(vectors)) FROM vector_block),"
            " (SELECT sum(length(records) + length(entries)) FROM word_block)"
        )
    return Row(
        name=f"first recall of a fresh process, {size:,} in scope",
        value=f"{first * 1e3:.0f} ms of processor time, opening it {opened * 1e3:.0f} ms (least of three)",
        against=f"index {sum(index) / size:,.0f} bytes a message, {index[0] / size:,.0f} of them vectors",
    )


async def _beside(folder: Path, total: int) -> list[Row]:
    """The same user alone and in a file of many: same answers, and how much slower."""
    questions = _questions(100)
    times: tuple[list[float], list[float]] = ([], [])
    same = True
    async with (
        AsyncMemhold.open(str(folder / "alone.db"), worker=False) as one,
        AsyncMemhold.open(str(folder / "beside.db"), worker=False) as other,
    ):
        scopes = (one.scope(user="alice"), other.scope(user="alice"))
        for question in [questions[0], *questions]:
            answers = []
            for scope, taken in zip(scopes, times, strict=True):
                began = time.perf_counter()
                answers.append(await scope.recall(question))
                taken.append(time.perf_counter() - began)
            pairs = [[(hit.text, hit.score) for hit in answer.hits] for answer in answers]
            same = same and pairs[0] == pairs[1]
    alone, beside = (percentile(taken[1:], 0.95) for taken in times)
    return [
        Row(
            name=f"recall beside others, {total:,} in the file, p95",
            value=f"{beside * 1e3:.1f} ms, {'same' if same else 'OTHER'} order and scores",
            against=f"alone {alone * 1e3:.1f} ms",
            ratio=beside / alone if same else float("inf"),
            bar=2.5,
        )
    ]
