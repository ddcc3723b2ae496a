"""What a call through a chain costs beside the same request made bare, and what waiting calls weigh.

The server is the chaos server on loopback, without faults, on its own thread.
"""

from __future__ import annotations

import asyncio
import statistics
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from importlib import import_module
from random import Random
from typing import Any, Final

import httpx2

from benchmarks.measure import Row
from memhold.ports.models import ChatReply, ChatRequest, ChatTurn
from memhold.providers.catalog import load_catalog
from memhold.providers.chain import Chain, Link
from memhold.providers.chat import chat_model
from memhold.providers.entry import Entry
from memhold.providers.pool import ChatPool
from memhold.providers.wrappers import HostGates, Limited, Timed
from memhold.testing.chaos import ChaosServer
from memhold.wiring.system import SystemClock

__all__ = ["run"]

TABLE: Final = '[chains]\nconsolidation = "m"\n[models.m]\nmodel = "m"\nprotocol = "openai-chat"\nbase_url = "{url}"\n'
REQUEST: Final = ChatRequest(system="", turns=(ChatTurn(role="user", text="I like sushi."),), purpose="test")
BODY: Final[dict[str, Any]] = {
    "model": "m",
    "messages": [{"role": "user", "content": "I like sushi."}],
    "stream": True,
}
Once = Callable[[], Awaitable[object]]


async def latencies(calls: int, url: str) -> dict[str, float]:
    """Median milliseconds of the same call from the barest to the most dressed; they take turns, so noise is shared.

    The OpenAI SDK is among them where it is installed.
    """
    catalog = load_catalog("", TABLE.format(url=url))
    pool = ChatPool(catalog, keys=lambda _: None, clock=SystemClock(), dice=Random(1))
    chain = pool.chain("consolidation")
    adapter = chat_model(catalog.models["m"], keys=lambda _: None)
    client = httpx2.AsyncClient(trust_env=False)

    async def request() -> None:
        async with client.stream("POST", url + "/v1/chat/completions", json=BODY) as response:
            await response.aread()

    ways: dict[str, Once] = {
        "bare request": request,
        "adapter": lambda: adapter.chat(REQUEST),
        "chain": lambda: chain.chat(REQUEST),
    }
    closers: list[Once] = [client.aclose, adapter.close, pool.close]
    try:
        openai: Any = import_module("openai")
    except ImportError:
        pass
    else:
        sdk = openai.AsyncOpenAI(base_url=url + "/v1", api_key="k", max_retries=0)

        async def streamed() -> None:
            async for _ in await sdk.chat.completions.create(**BODY):
                pass

        ways["OpenAI SDK"] = streamed
        closers.append(sdk.close)
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(calls + 5):
        for name, once in ways.items():
            begun = time.perf_counter()
            await once()
            if turn >= 5:  # the first open connections
                taken[name].append((time.perf_counter() - begun) * 1000)
    for close in closers:
        await close()
    return {name: statistics.median(times) for name, times in taken.items()}


class Waiting:
    """A model that answers when it is let go."""

    name = "m"

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Wait, then answer."""
        await self.go.wait()
        return ChatReply(model=self.name, text=request.purpose)


async def weight(count: int) -> float:
    """KiB that one of `count` calls holds while it waits for its answer."""
    model = Waiting()
    clock = SystemClock()
    entry = Entry(name="m", protocol="openai-chat", model="m", base_url="http://127.0.0.1:9")
    timed = Timed(model, clock=clock, seconds=60)
    chain = Chain([Link(model=Limited(timed, gate=HostGates(local=count).of(entry)))], clock=clock, dice=Random(1))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tasks = [asyncio.ensure_future(chain.chat(REQUEST)) for _ in range(count)]
        await asyncio.sleep(0.5)
        after = tracemalloc.get_traced_memory()[0]
        model.go.set()
        await asyncio.gather(*tasks)
    finally:
        tracemalloc.stop()
    return (after - before) / count / 1024


def run(*, quick: bool = False) -> list[Row]:
    """Every row of the table; `quick` makes it small enough for a test."""
    calls, waiting = (20, 100) if quick else (500, 1_000)
    with ChaosServer() as server:
        found = asyncio.run(latencies(calls, server.url))
    rows = []
    for other in found.keys() - {"chain"}:
        over = found["chain"] - found[other]
        value, against = f"{found['chain']:.2f} ms, {over:+.2f}", f"{other} {found[other]:.2f} ms"
        rows.append(
            Row(name="a call through the chain, p50", value=value, against=against, ratio=found["chain"] / found[other])
        )
    kib = asyncio.run(weight(waiting))
    rows.append(Row(name=f"{waiting:,} waiting calls", value=f"{kib:.1f} KiB a call"))
    return sorted(rows, key=lambda row: (row.name, row.against))
