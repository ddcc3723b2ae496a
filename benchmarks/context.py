"""Context: its speed over a long session, its windows over made-up histories, its estimate over real tokenizers."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.core import sentences
from benchmarks.measure import Row, doing, percentile
from benchmarks.tokens import estimate_rows
from benchmarks.windows import any_windows
from memhold.faces.python.open import AsyncMemhold
from memhold.values.records import Importance
from memhold.verbs.scope import AsyncScope

__all__ = ["run"]

SIZES = (1_000, 10_000, 50_000)
"""Messages of the session, which grows from one to the next."""
LONG = SIZES[1]
MEMORIES = 10_000
STRATEGIES = ("full_history", "memory_first", "adaptive")
WARM = 3
"""Contexts before those that are measured: the first ones read the index."""
TOGETHER = 500
"""Memories that are told at once: their writes share commits."""


def conversation(count: int, seed: int) -> list[Mapping[str, Any]]:
    """Messages of turns with a tool call each, whose id is the same in every turn."""
    texts = sentences(Random(seed), count)
    function = {"name": "look", "arguments": '{"q": "x"}'}
    made: list[Mapping[str, Any]] = []
    while len(made) < count:
        made += [
            {"role": "user", "content": next(texts)},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "c", "content": next(texts)},
            {"role": "assistant", "content": next(texts)},
        ]
    return made[:count]


async def _grown(path: Path, had: int, messages: int, memories: int) -> None:
    """Messages added to those that were there, and memories; every one of them has its vector."""
    async with AsyncMemhold.open(str(path), worker=False) as memhold:
        scope = memhold.scope(user="bench", session="s")
        made = conversation(messages - had, 1 + had)
        for start in range(0, len(made), 1000):
            await scope.add(made[start : start + 1000])
        texts = list(sentences(Random(2), memories))
        for start in range(0, memories, TOGETHER):
            numbers = range(start, min(memories, start + TOGETHER))
            await asyncio.gather(*(_told(scope, number, texts[number]) for number in numbers))
        if not await memhold.settle(timeout=600):
            raise AssertionError("the index was not made within ten minutes")


async def _told(scope: AsyncScope, number: int, text: str) -> None:
    """Nineteen notes to one fact, each of an attribute of its own; every other fact is long-term."""
    if number % 20:
        await scope.remember(text)
    else:
        importance: Importance = "high" if number % 40 == 0 else "mid"
        await scope.remember(attribute=f"attribute {number}", value=text[:60], importance=importance)


async def _times(path: Path, rounds: int, strategy: str, query: str | None = None) -> tuple[list[float], list[float]]:
    """Seconds of each context by the clock and of the process's own work; no context is degraded or over its budget."""
    questions = sentences(Random(3), rounds + WARM)
    times: tuple[list[float], list[float]] = ([], [])
    async with AsyncMemhold.open(str(path), worker=False) as memhold:
        scope = memhold.scope(user="bench", session="s")
        for turn in range(rounds + WARM):
            new = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": next(questions)}]
            began = time.perf_counter(), time.process_time()
            context = await scope.context(new, strategy=strategy, query=query)
            if turn < WARM:
                continue
            times[0].append(time.perf_counter() - began[0])
            times[1].append(time.process_time() - began[1])
            if context.used > 7000 or context.degraded:
                raise AssertionError(f"{context.used} tokens, degraded {context.degraded}")
    return times


async def long_session(folder: Path, rounds: int, sizes: Sequence[int] = SIZES) -> list[Row]:
    """`context` as a session grows beside 10,000 memories; the ranking of the scope apart from all the rest."""
    rows: list[Row] = []
    had, first, path = 0, dict[str, float](), folder / "session.db"
    for size in sizes:
        await _grown(path, had, size, 0 if had else MEMORIES)
        had = size
        for strategy in STRATEGIES:
            wall, own = await _times(path, rounds, strategy)
            p95 = percentile(wall, 0.95) * 1e3
            rows.append(
                Row(
                    name=f"context, {strategy}, {size:,} messages, {MEMORIES:,} memories, p95",
                    value=f"{p95:.1f} ms (p50 {statistics.median(wall) * 1e3:.1f})",
                    against=f"60 ms; CPU p50 {statistics.median(own) * 1e3:.1f}, p95 {percentile(own, 0.95) * 1e3:.1f}",
                    ratio=p95 / 60,
                    bar=1.0 if size == LONG else None,
                )
            )
            alone = statistics.median((await _times(path, rounds, strategy, query=" "))[1])
            least = first.setdefault(strategy, alone)
            rows.append(
                Row(
                    name=f"the same without recall, {size:,} messages, CPU p50",
                    value=f"{alone * 1e3:.1f} ms",
                    against=f"{least * 1e3:.1f} ms with {sizes[0]:,}",
                    ratio=alone / least,
                    bar=1.5,
                )
            )
    return rows


def run(rounds: int = 100, examples: int = 20_000) -> Sequence[Row]:
    """Every row of this table."""
    doing("contexts of long sessions")
    with tempfile.TemporaryDirectory() as folder:
        timed = asyncio.run(long_session(Path(folder), rounds, SIZES if rounds >= 100 else SIZES[:2]))
    doing(f"{examples:,} made-up histories, cut to windows")
    windows = any_windows(examples)
    doing("estimates of tokens")
    return [*timed, *windows, *estimate_rows(examples // 4)]
