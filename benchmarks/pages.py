"""How long the server works on each page of a store with many memories: in the process, without a browser or a port."""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import httpx2

from benchmarks.core import vocabulary
from benchmarks.measure import Row, doing, percentile
from memhold.faces.python.open import AsyncMemhold
from memhold.server.ui_serving import OnceOnly, ui_only
from memhold.values.principal import RIGHTS, Principal
from memhold.values.records import Scope
from memhold.verbs.scope import AsyncScope

__all__ = ["run"]

BATCH = 500
FACTS = 500
SESSIONS = 50
ROUNDS = 5
BARS = {10_000: 0.2, 100_000: 1.0}
"""Seconds of a processor that a page may take, by how many memories the store has; larger ones have the last bar."""
_SUBJECTS = ("user", "user", "sister", "Bruno", "the garden")
_DAYS = 700

Ask = Callable[[], Awaitable[httpx2.Response]]


def run(memories: int = 10_000, *, db: str | None = None, quick: bool = False) -> list[Row]:
    """Each page's processor time, all threads of the process together: the median of five, and the first time.

    What stood on the clock is printed beside it: on a machine with other work it tells of that work.
    """
    count = 1_000 if quick else memories
    with tempfile.TemporaryDirectory(prefix="memhold-") as folder:
        return asyncio.run(_measured(db or str(Path(folder) / "memory.db"), count))


async def _measured(db: str, count: int) -> list[Row]:
    async with AsyncMemhold.open(db, worker=False) as memhold:
        alice = memhold.scope(user="alice")
        held = sum((await alice.status()).active.values())
        if held < count:
            await _fill(memhold, count - held)
        once = OnceOnly("secret", clock=lambda: 0.0)
        principal = Principal(scope=Scope(user="alice"), rights=frozenset(RIGHTS))
        transport = httpx2.ASGITransport(app=ui_only(memhold, principal, "secret", once.redeem))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=600) as client:
            await client.get(f"/ui/enter?once={once.word}")
            pages = await _pages(client, alice)
            bar = next((bar for most, bar in BARS.items() if max(held, count) <= most), BARS[max(BARS)])
            return [await _timed(name, ask, bar) for name, ask in pages.items()]


async def _fill(memhold: AsyncMemhold, count: int) -> None:
    """Notes for the most part, some facts that replace each other, and sessions."""
    random, alice = Random(1), memhold.scope(user="alice")
    words, _ = vocabulary(random)
    now = datetime.now(UTC)

    async def tell(number: int) -> None:
        at = now - timedelta(days=random.random() * _DAYS)
        if number < FACTS:
            about = f"{words[number % 40]} {words[number % 7]}"
            await alice.remember(
                attribute=about, value=f"value {number}", subject=random.choice(_SUBJECTS), event_time=at
            )
        else:
            await alice.remember(f"{' '.join(random.choices(words, k=10))} {number}", event_time=at)

    for start in range(0, count, BATCH):
        await asyncio.gather(*(tell(number) for number in range(start, min(start + BATCH, count))))
        if start % 10_000 == 0:
            doing(f"{start:,} of {count:,} memories are in")
    for number in range(SESSIONS):
        said = [{"role": "user", "content": " ".join(random.choices(words, k=14))} for _ in range(40)]
        await memhold.scope(user="alice", session=f"session {number}").add(said)


async def _pages(client: httpx2.AsyncClient, alice: AsyncScope) -> Mapping[str, Ask]:
    """What a person loads and presses, by name."""
    page = (await client.get("/ui")).text
    found = re.search(r'name="form_token" value="([0-9a-f]{64})"', page)
    assert found is not None
    form = found[1]
    fact = (await alice.list(["fact"], subject="user", limit=1)).items[0]
    note = (await alice.list(["note"], limit=1)).items[0]
    word = note.text.split()[0]

    def get(path: str) -> Ask:
        return lambda: client.get(path)

    def post(path: str, **fields: str) -> Ask:
        headers = {"origin": "http://127.0.0.1", "hx-request": "true"}
        return lambda: client.post(path, data={"form_token": form, **fields}, headers=headers)

    cursor = re.search(r'name="cursor" value="([^"]*)"', page)
    return {
        "Now": get("/ui"),
        "Now, the next page": post("/ui/now", cursor=cursor[1] if cursor else ""),
        "Now, facts alone": post("/ui/now", kind="fact"),
        "Now, found by a word": post("/ui/now", q=word),
        "Now, noted by agents": post("/ui/now", origin="agent"),
        "Timeline of a fact": get(f"/ui/memories/{fact.id}"),
        "Timeline of a person": get(f"/ui/memories/{fact.id}/about"),
        "Recall, a question": post("/ui/recall", q=f"what about {word}"),
        "Recall, side by side with a miss": post("/ui/recall", q=word, beside="words", expect=note.text),
        "Sessions": get("/ui/sessions"),
        "Sessions, turns": post("/ui/sessions/turns", session="session 1"),
        "Sessions, context": post("/ui/sessions/context", session="session 1", q=f"and {word}?"),
        "To settle": get("/ui/settle"),
        "Forget": get("/ui/forget"),
        "Forget, what has a word": post("/ui/forget/plan", by="words", q=word),
        "Forget, one memory": get(f"/ui/memories/{note.id}/forget"),
        "Forget, everything (a plan)": post("/ui/forget/plan", by="everything"),
        "Health": get("/ui/health"),
        "Health, every three seconds": get("/ui/health/now"),
        "Health, size": get("/ui/health/size"),
    }


async def _timed(name: str, ask: Ask, bar: float) -> Row:
    doing(name)
    times, clock = [], []
    for _ in range(1 + ROUNDS):
        began, worked = time.perf_counter(), time.process_time()
        answer = await ask()
        clock.append(time.perf_counter() - began)
        times.append(time.process_time() - worked)
        if answer.status_code != 200:
            return Row(name=name, value=f"refused: {answer.status_code}", against=f"after {clock[-1]:.1f} s")
    median, first = percentile(times[1:], 0.5), times[0]
    told = f"the first time {first * 1000:.0f} ms; on the clock {percentile(clock[1:], 0.5) * 1000:.0f} ms"
    return Row(name=name, value=f"{median * 1000:.0f} ms", against=told, ratio=round(median, 3), bar=bar)
