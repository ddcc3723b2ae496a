"""What more workers bring: sessions consolidated a second by 1, 2 and 4 processes on one store."""

from __future__ import annotations

import asyncio
import resource
import sys
import time
from collections.abc import Sequence

from benchmarks.children import told_to_begin, waiting
from benchmarks.measure import Row
from memhold.faces.python.open import AsyncMemhold
from memhold.ports.models import ChatReply, ChatRequest
from memhold.testing.scripted import ScriptedChat

__all__ = ["throughput", "work"]

NAMESPACES = 8
MESSAGES = 4
LOOK_SECONDS = 0.02


class Steady:
    """A chat model that takes the same time for each answer, and none of this machine's."""

    name = "steady"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._model = ScriptedChat(name=self.name)

    async def chat(self, request: ChatRequest) -> ChatReply:
        """A sensible answer, when its time has passed."""
        await asyncio.sleep(self._seconds)
        return await self._model.chat(request)


def work(place: str, seconds: float) -> None:
    """Be a worker in this process until standard input ends; told when to begin, it says when it could."""

    async def until_told() -> None:
        model = Steady(seconds)
        # What is loaded at the first opening is no part of the work.
        async with AsyncMemhold.open(place, worker=False, embedding="none", consolidation=model):
            pass
        await told_to_begin()
        async with AsyncMemhold.open(place, embedding="none", consolidation=model):
            await asyncio.to_thread(sys.stdin.read)

    asyncio.run(until_told())


async def _plant(place: str, mark: str, sessions: int) -> None:
    """Sessions that have ended and wait: their window is due, and nothing else."""
    async with AsyncMemhold.open(place, worker=False, embedding="none", consolidation=Steady(0)) as mem:

        async def one(number: int) -> None:
            scope = mem.scope(namespace=f"{mark} {number % NAMESPACES}", user="bench", session=f"s{number}")
            await scope.add([{"role": "user", "content": f"I live in Oslo, part {part}."} for part in range(MESSAGES)])
            await scope.end_session()

        for first in range(0, sessions, 64):
            await asyncio.gather(*(one(number) for number in range(first, min(sessions, first + 64))))


async def _finished(place: str, mark: str) -> None:
    async with AsyncMemhold.open(place, worker=False, embedding="none", consolidation=Steady(0)) as mem:
        for number in range(NAMESPACES):
            scope = mem.scope(namespace=f"{mark} {number}", user="bench")
            while (await scope.status()).pending:  # noqa: ASYNC110 - another process does the work
                await asyncio.sleep(LOOK_SECONDS)


def _rate(place: str, processes: int, sessions: int, seconds: float) -> tuple[float, float]:
    """Sessions a second of that many processes, and the seconds of processor time that the processes took for each."""
    mark = f"work{processes}"
    asyncio.run(_plant(place, mark, sessions))
    code = f"from benchmarks.workers import work; work({place!r}, {seconds})"
    before = _processor_seconds()
    with waiting([code] * processes) as begin:
        began = time.perf_counter()
        begin()
        asyncio.run(_finished(place, mark))
        rate = sessions / (time.perf_counter() - began)
    return rate, (_processor_seconds() - before) / sessions


def _processor_seconds() -> float:
    """What ended processes of this one took: start-up included."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def throughput(places: Sequence[str], counts: Sequence[int], sessions: int, seconds: float) -> list[Row]:
    """A row for each count of processes: PostgreSQL, with SQLite beside it."""
    rates = {count: [_rate(place, count, sessions, seconds) for place in places] for count in counts}
    one = rates[counts[0]][0][0]
    return [
        Row(
            name=f"{count} worker processes, a model of {seconds * 1e3:.0f} ms",
            value=f"{ours:,.1f} sessions/s, {spent * 1e3:.0f} ms of processor time each",
            against=f"SQLite {file:,.1f} sessions/s, {theirs * 1e3:.0f} ms",
            ratio=ours / one,
        )
        for count, ((ours, spent), (file, theirs)) in rates.items()
    ]
