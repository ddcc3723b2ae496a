"""Many clients at once while models fail and the worker dies: every acknowledged write is there, and no read is stale."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.measure import percentile
from memhold import AsyncMemhold
from memhold.testing import ChaosServer
from tests.proofs.conftest import FULL, NOTES
from tests.rest.test_serve_process import Running, running

CLIENTS = 200 if FULL else 20
SECONDS = 60.0 if FULL else 4.0
WORKER_LIVES = 12.0 if FULL else 1.5
FAILING = 0.3
CATALOG = """[models.failing]
label = "Fails"
protocol = "openai-chat"
model = "m"
base_url = "{url}/v1"
timeout = 2

[chains]
consolidation = "failing"
"""


@dataclass
class Kept:
    """What one client was told is durable: messages by id, the last value of its fact, and how long each call took."""

    user: str
    token: str
    messages: dict[str, str] = field(default_factory=dict)
    value: str | None = None
    writes: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)


async def lives(kept: Kept, url: str, until: float, random: Random) -> None:
    """One client: says things, states a fact anew, and reads back what it was told is there."""
    async with AsyncMemhold.open(url, token=kept.token, timeout=30.0) as mem:
        scope = mem.scope(user=kept.user, session="s")
        turn = 0
        while time.monotonic() < until:
            turn += 1
            begun = time.perf_counter()
            match random.randrange(4):
                case 0:
                    text = f"word{turn} of {kept.user}"
                    [item] = (await scope.add({"role": "user", "content": text})).ids
                    kept.messages[item] = text
                    kept.writes.append(time.perf_counter() - begun)
                case 1:
                    value = f"value {turn}"
                    await scope.remember(attribute="city", value=value)
                    kept.value = value
                    kept.writes.append(time.perf_counter() - begun)
                case 2:
                    found = await scope.list(kinds=["fact"], limit=1000)
                    kept.reads.append(time.perf_counter() - begun)
                    assert cities(found) == ([] if kept.value is None else [kept.value])
                case _ if kept.messages:
                    item, text = next(reversed(kept.messages.items()))
                    answer = await scope.recall(text, kinds=["message"], limit=50)
                    kept.reads.append(time.perf_counter() - begun)
                    assert item in {hit.id for hit in answer.hits}, (text, answer.total)


def settings(folder: Path) -> dict[str, str]:
    """Small windows, so that there is much to consolidate."""
    small = {"MEMHOLD_CONSOLIDATE_MESSAGES": "2"}
    return {**small, "MEMHOLD_MODELS": str(folder / "models.toml")}


async def worker_dies_and_comes_back(folder: Path, until: float, random: Random) -> int:
    """A worker process that is killed again and again, and one more that is left alive until the end."""
    deaths = 0
    command = [
        sys.executable,
        "-m",
        "memhold",
        "worker",
        "--db",
        str(folder / "memory.db"),
        "--consolidation",
        "failing",
    ]
    env = {**os.environ, **settings(folder)}
    while time.monotonic() < until or deaths < 2:
        child = await asyncio.create_subprocess_exec(*command, env=env, cwd=folder, stderr=subprocess.DEVNULL)
        await asyncio.sleep(WORKER_LIVES * random.uniform(0.8, 1.5))
        child.send_signal(signal.SIGKILL)
        await child.wait()
        deaths += 1
    return deaths


def resident(server: Running) -> float:
    """Megabytes that the server process holds."""
    for line in Path(f"/proc/{server.child.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


@pytest.mark.proof
async def test_nothing_acknowledged_is_lost_under_load(
    tmp_path: Path, runs: Callable[[int, int], range], request: pytest.FixtureRequest
) -> None:
    for seed in runs(1, 1):
        async with ChaosServer(seed=seed) as chaos:
            chaos.fail_rate(FAILING)
            (tmp_path / "models.toml").write_text(CATALOG.format(url=chaos.url))
            clients = [Kept(user=f"user{n}", token="") for n in range(CLIENTS)]
            async with AsyncMemhold.open(str(tmp_path / "memory.db"), worker=False) as mem:
                for kept in clients:
                    kept.token = (await mem.admin.tokens.create(user=kept.user)).secret
            with running(
                tmp_path, "--no-upkeep", "--consolidation", "failing", alone=True, **settings(tmp_path)
            ) as server:
                until = time.monotonic() + SECONDS
                deaths, *_ = await asyncio.gather(
                    worker_dies_and_comes_back(tmp_path, until, Random(seed)),
                    *(lives(kept, server.url, until, Random(seed * 1000 + n)) for n, kept in enumerate(clients)),
                )
                megabytes = resident(server)
                server.child.send_signal(signal.SIGTERM)
                assert await asyncio.to_thread(server.ended) == 0
            await check(tmp_path, clients)
            statuses = [
                line["status"] for line in server.lines if isinstance(line, dict) and line["event"] == "request"
            ]
            assert not [status for status in statuses if status >= 500]
            assert deaths >= 2
            if FULL:
                assert chaos.requests
            NOTES[request.node.name] = told(clients, deaths, megabytes)
            print(json.dumps(NOTES[request.node.name]))


def cities(page: Any) -> list[str]:
    """What was told; a model may have made other facts of what was said."""
    return [memory.value for memory in page.items if memory.attribute == "city"]


async def check(folder: Path, clients: list[Kept]) -> None:
    """Every acknowledged write is there, once, in the store itself."""
    async with AsyncMemhold.open(str(folder / "memory.db"), worker=False) as mem:
        for kept in clients:
            scope = mem.scope(user=kept.user, session="s")
            found = {message.id: message.text for message in await scope.messages(limit=10_000)}
            assert found == kept.messages
            current = await scope.list(kinds=["fact"], limit=1000)
            assert cities(current) == ([] if kept.value is None else [kept.value])


def told(clients: list[Kept], deaths: int, megabytes: float) -> dict[str, Any]:
    """The figures, in milliseconds."""
    found: dict[str, Any] = {
        "clients": len(clients),
        "seconds": SECONDS,
        "workers_killed": deaths,
        "server_mb": round(megabytes),
    }
    for name in ("writes", "reads"):
        times = [spent for kept in clients for spent in getattr(kept, name)]
        found[name] = len(times)
        found |= {f"{name}_p{share}_ms": round(percentile(times, share / 100) * 1000, 1) for share in (50, 95, 99)}
    return found
