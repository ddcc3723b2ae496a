"""What a call through the chain costs beside a bare request and the bare OpenAI SDK, and what waiting calls weigh.

python benchmarks/model_calls.py [calls]. The server is the chaos server on loopback, without faults, on its own thread.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from random import Random

import httpx2

from holdfast.inference import ChatReply, ChatRequest, ChatTurn
from holdfast.providers.catalog import load_catalog
from holdfast.providers.chain import Chain, Link
from holdfast.providers.chat import chat_model
from holdfast.providers.pool import ChatPool
from holdfast.providers.wrappers import HostGates, Limited, Timed
from holdfast.system import SystemClock
from holdfast.testing.chaos import ChaosServer

TABLE = '[chains]\nconsolidation = "m"\n[models.m]\nmodel = "m"\nprotocol = "openai-chat"\nbase_url = "{url}"\n'
REQUEST = ChatRequest(system="", turns=(ChatTurn(role="user", text="I like sushi."),), purpose="test")
BODY = {"model": "m", "messages": [{"role": "user", "content": "I like sushi."}], "stream": True}


async def p50(calls: int, once: Callable[[], Awaitable[object]]) -> float:
    """The median milliseconds of `once`, after a warm-up."""
    for _ in range(20):
        await once()
    taken = []
    for _ in range(calls):
        begun = time.perf_counter()
        await once()
        taken.append((time.perf_counter() - begun) * 1000)
    return statistics.median(taken)


async def latencies(calls: int, url: str) -> dict[str, float]:
    """Median milliseconds of the same call, from the barest to the most dressed."""
    catalog = load_catalog("", TABLE.format(url=url))
    pool = ChatPool(catalog, keys=lambda _: None, clock=SystemClock(), dice=Random(1))
    chain = pool.chain("consolidation")
    bare = chat_model(catalog.models["m"], keys=lambda _: None)
    found = {}
    async with httpx2.AsyncClient(trust_env=False) as client:

        async def request() -> None:
            async with client.stream("POST", url + "/v1/chat/completions", json=BODY) as response:
                await response.aread()

        found["bare request"] = await p50(calls, request)
    found["adapter"] = await p50(calls, lambda: bare.chat(REQUEST))
    found["chain"] = await p50(calls, lambda: chain.chat(REQUEST))
    try:
        import openai
    except ImportError:
        print("openai SDK: not installed")
    else:
        client = openai.AsyncOpenAI(base_url=url + "/v1", api_key="k", max_retries=0)

        async def sdk() -> None:
            async for _ in await client.chat.completions.create(**BODY):
                pass

        found["openai SDK"] = await p50(calls, sdk)
        await client.close()
    await bare.close()
    await pool.close()
    return found


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
    entry = load_catalog("", TABLE.format(url="http://127.0.0.1:9")).models["m"]
    timed = Timed(model, clock=clock, seconds=60)
    chain = Chain([Link(model=Limited(timed, gate=HostGates(local=count).of(entry)))], clock=clock, dice=Random(1))
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tasks = [asyncio.ensure_future(chain.chat(REQUEST)) for _ in range(count)]
    await asyncio.sleep(0.5)
    after = tracemalloc.get_traced_memory()[0]
    model.go.set()
    await asyncio.gather(*tasks)
    return (after - before) / count / 1024


def main() -> None:
    """Print the figures."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    with ChaosServer() as server:
        for name, milliseconds in asyncio.run(latencies(calls, server.url)).items():
            print(f"{name:14} p50 {milliseconds:.3f} ms")
    print(f"1,000 concurrent waiting calls: {asyncio.run(weight(1_000)):.1f} KiB a call")


if __name__ == "__main__":
    main()
