"""Recall with and without standbys: how many a second, and what is left for the primary to answer."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from random import Random
from typing import Any

from benchmarks.core import fill, sentences, vocabulary
from benchmarks.measure import Row, doing
from benchmarks.stores import own_schema
from memhold.faces.python.open import AsyncMemhold

__all__ = ["run"]

ASKERS = 16
"""Questions under way at once."""


def run(database: str, standbys: Sequence[str], *, quick: bool = False) -> list[Row]:
    """Recalls a second of one process, from the primary alone and with each number of the standbys.

    Without writing, and beside one writer, whose scope is asked too: what it wrote last is not on a standby yet.

    Args:
        database: `postgresql://…`, whose role may create a schema.
        standbys: locations of the same database on standbys of its server.
        quick: small enough for a test.
    """
    users, in_scope, seconds, rounds = (4, 50, 0.3, 1) if quick else (64, 1000, 4.0, 3)
    rows: list[Row] = []
    with own_schema(database) as place:
        options = place.removeprefix(database)
        asyncio.run(_filled(place, users, in_scope))
        urls = [f"{one}{options if '?' in database or '?' not in one else '&' + options[1:]}" for one in standbys]
        for writing in (False, True):
            alone: float | None = None
            for count in range(len(urls) + 1):
                doing(f"recall with {count} standbys" + (", beside a writer" if writing else ""))
                found = [
                    asyncio.run(_asked(place, urls[:count], users, seconds, writing=writing)) for _ in range(rounds)
                ]
                rate = statistics.median(rate for rate, _ in found)
                share = statistics.median(share for _, share in found)
                alone = rate if alone is None else alone
                rows.append(
                    Row(
                        name=f"recall, {count} standbys" + (", beside a writer" if writing else ""),
                        value=f"{rate:,.0f}/s, {share:.0%} of the reads by standbys",
                        against=f"the primary alone {alone:,.0f}/s",
                        ratio=rate / alone,
                        at_most=False,
                    )
                )
    return rows


async def _filled(place: str, users: int, in_scope: int) -> None:
    await fill(place, [f"u{number}" for number in range(users)], list(sentences(Random(6), in_scope)), in_scope)


async def _asked(place: str, urls: Sequence[str], users: int, seconds: float, *, writing: bool) -> tuple[float, float]:
    """Recalls a second, and the share of all reads that standbys answered."""
    words, weights = vocabulary(Random(1))
    random = Random(7)
    settings: dict[str, Any] = {"worker": False, "embedding": "none", "read_urls": " ".join(urls)}
    async with AsyncMemhold.open(place, **settings, postgres_connections=ASKERS) as mem:
        local: Any = mem._store  # noqa: SLF001 - which of them answered is no verb's business
        standbys = local._runtime.store.standbys  # noqa: SLF001
        while standbys is not None and not all(standbys.serving):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)
        until = time.perf_counter() + seconds
        asked = 0

        async def ask() -> None:
            nonlocal asked
            while time.perf_counter() < until:
                scope = mem.scope(user=f"u{random.randrange(users)}")
                await scope.recall(" ".join(random.choices(words, weights, k=5)))
                asked += 1

        async def write() -> None:
            scope = mem.scope(user="u0", session="written")
            while time.perf_counter() < until:
                await scope.add([{"role": "user", "content": " ".join(random.choices(words, weights, k=8))}])

        await asyncio.gather(*(ask() for _ in range(ASKERS)), *([write()] if writing else []))
        served = 0 if standbys is None else sum(standbys.served)
        return asked / seconds, served / asked
