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

from holdfast.bench.core import sentences
from holdfast.bench.measure import Row, percentile
from holdfast.bench.tokens import estimate_rows
from holdfast.bench.windows import any_windows
from holdfast.model import Importance
from holdfast.open import AsyncHoldfast
from holdfast.scope import AsyncScope

__all__ = ["run"]

LONG = 10_000
SHORT = 500
MEMORIES = 10_000
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


async def _filled(path: Path, messages: int, memories: int) -> None:
    async with AsyncHoldfast.open(str(path), worker=False) as holdfast:
        scope = holdfast.scope(user="bench", session="s")
        made = conversation(messages, 1)
        for start in range(0, messages, 1000):
            await scope.add(made[start : start + 1000])
        texts = list(sentences(Random(2), memories))
        for start in range(0, memories, TOGETHER):
            numbers = range(start, min(memories, start + TOGETHER))
            await asyncio.gather(*(_told(scope, number, texts[number]) for number in numbers))


async def _told(scope: AsyncScope, number: int, text: str) -> None:
    """Nineteen notes to one fact, each of an attribute of its own; every other fact is long-term."""
    if number % 20:
        await scope.remember(text)
    else:
        importance: Importance = "high" if number % 40 == 0 else "mid"
        await scope.remember(attribute=f"attribute {number}", value=text[:60], importance=importance)


async def _times(path: Path, rounds: int, strategy: str) -> list[float]:
    questions = sentences(Random(3), rounds + 3)
    times: list[float] = []
    async with AsyncHoldfast.open(str(path), worker=False) as holdfast:
        scope = holdfast.scope(user="bench", session="s")
        for turn in range(rounds + 3):
            new = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": next(questions)}]
            began = time.perf_counter()
            context = await scope.context(new, strategy=strategy)
            if turn >= 3:
                times.append(time.perf_counter() - began)
            if context.used > 7000 or context.degraded:
                raise AssertionError(f"{context.used} tokens, degraded {context.degraded}")
    return times


async def long_session(folder: Path, rounds: int) -> list[Row]:
    """`context` for a session of 10,000 messages and 10,000 memories, against one of 500 messages."""
    await _filled(folder / "long.db", LONG, MEMORIES)
    await _filled(folder / "short.db", SHORT, MEMORIES)
    rows = []
    for strategy in ("full_history", "memory_first", "adaptive"):
        long = await _times(folder / "long.db", rounds, strategy)
        short = await _times(folder / "short.db", rounds, strategy)
        p95 = percentile(long, 0.95) * 1e3
        rows += [
            Row(
                name=f"context, {strategy}, {LONG:,} messages, {MEMORIES:,} memories, p95",
                value=f"{p95:.1f} ms (p50 {statistics.median(long) * 1e3:.1f})",
                against="60 ms",
                ratio=p95 / 60,
                bar=1.0,
            ),
            Row(
                name=f"the same, p50, against {SHORT} messages",
                value=f"{statistics.median(long) * 1e3:.1f} ms",
                against=f"{statistics.median(short) * 1e3:.1f} ms",
                ratio=statistics.median(long) / statistics.median(short),
                bar=2.0,
            ),
        ]
    return rows


def run(rounds: int = 100, examples: int = 20_000) -> Sequence[Row]:
    """Every row of this table."""
    with tempfile.TemporaryDirectory() as folder:
        timed = asyncio.run(long_session(Path(folder), rounds))
    return [*timed, *any_windows(examples), *estimate_rows(examples // 4)]
