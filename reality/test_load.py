"""Two servers of two processes each over one store, 200 clients, and kills: 0 lost, 0 doubled; what a verb costs.

Only counts are judged. Times, processor time and the longest hold of the event loop are printed, and stand in
`make proof`'s page.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import httpx2
import pytest

from benchmarks.measure import percentile
from memhold import AsyncMemhold
from memhold.errors import ServerUnreachable
from tests.postgres_server import Databases, Server
from tests.proofs.conftest import FULL, NOTES
from tests.rest.test_serve_process import Running

CLIENTS = 200
SECONDS = 60.0 if FULL else 24.0
CALLS = 1000 if FULL else 150
TURNS = 5
FREE = dict.fromkeys(("MEMHOLD_RATE_PER_SECOND", "MEMHOLD_WORK_PER_SECOND"), "1000000")
T = TypeVar("T")
TICKS = os.sysconf("SC_CLK_TCK")


@pytest.fixture(params=["sqlite", "postgres"])
def locations(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Where a store is, and where the bare application keeps its rows."""
    if request.param == "sqlite":
        yield str(tmp_path / "memory.db"), str(tmp_path / "bare.db")
        return
    server = Server(settings={"max_connections": "200"})
    try:
        databases = Databases(server)
        yield databases.take(), databases.take()
    finally:
        server.stop()


class Served:
    """One server after another at one address, each a group of processes of its own."""

    def __init__(self, folder: Path, location: str, *options: str) -> None:
        self._folder, self._location, self._options = folder, location, options
        self.port = "0"
        self.longest = 0.0
        self.begin()

    def begin(self) -> None:
        """Start it where the one before stood."""
        command = [
            sys.executable, "-m", "memhold", "serve", "--json", "--log-format", "json", "--port", self.port,
            *self._options,
        ]  # fmt: skip
        self.child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self._folder,
            env={**os.environ, **FREE, "MEMHOLD_DB": self._location}, start_new_session=True,
        )  # fmt: skip
        self.running = Running(self.child)
        self.url = self.running.url
        self.port = self.url.rsplit(":", 1)[1]

    def workers(self) -> list[int]:
        """The processes that serve, as far as its log says."""
        lines = [line for line in list(self.running.lines) if isinstance(line, dict)]
        gone = {line["pid"] for line in lines if line["event"] in {"a worker has ended", "a worker died"}}
        return [line["pid"] for line in lines if line["event"] == "a worker serves" and line["pid"] not in gone]

    def kill(self) -> None:
        """End every process of it as a power cut would."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()

    def stop(self) -> None:
        """End it as an operator does; what its log tells of its loop is kept."""
        self.child.send_signal(signal.SIGTERM)
        assert self.running.ended() == 0
        for line in self.running.lines:
            if isinstance(line, dict) and "longest_seconds" in line:
                self.longest = max(self.longest, line["longest_seconds"])

    def again(self, end: Callable[[], None]) -> None:
        """End it so, and start another one where it stood."""
        end()
        self.close()
        self.begin()

    def end(self) -> None:
        """Leave nothing of it."""
        self.kill()
        self.close()

    def close(self) -> None:
        """Let go of its pipes."""
        for pipe in (self.child.stdout, self.child.stderr):
            if pipe is not None:
                pipe.close()


@contextmanager
def served(folder: Path, location: str, *options: str) -> Iterator[Served]:
    made = Served(folder, location, *options)
    try:
        yield made
    finally:
        made.end()


@dataclass
class Kept:
    """What one client was told is durable."""

    user: str
    token: str
    said: dict[str, str] = field(default_factory=dict)
    value: str | None = None


async def answered(call: Callable[[], Awaitable[T]]) -> T:
    """The answer of a call: while a server is away longer than the library tries, an application asks again."""
    while True:
        try:
            return await call()
        except ServerUnreachable:
            await asyncio.sleep(0.2)  # as an application would


async def lives(kept: Kept, url: str, over: asyncio.Event, took: dict[str, list[float]], random: Random) -> None:
    """One client: says things, states a fact anew, and reads back what it was told is there."""
    async with AsyncMemhold.open(url, token=kept.token, timeout=300.0) as mem:
        scope = mem.scope(user=kept.user, session="s")
        turn = 0
        while not over.is_set() or not kept.said:
            turn += 1
            key = f"{kept.user} {turn}"
            begun = time.perf_counter()
            verb = random.choice(["add", "add", "remember", "recall", "context"]) if kept.said else "add"
            if verb == "add":
                one = {"role": "user", "content": f"word{turn} of {kept.user}"}
                [item] = (await answered(partial(scope.add, one, idempotency_key=key))).ids
                kept.said[item] = one["content"]
            elif verb == "remember":
                await answered(partial(scope.remember, attribute="city", value=f"value {turn}", idempotency_key=key))
                kept.value = f"value {turn}"
            elif verb == "recall":
                item, text = next(reversed(kept.said.items()))
                found = await answered(partial(scope.recall, text, kinds=["message"], limit=50))
                assert item in {hit.id for hit in found.hits}, (text, found.degraded, found.total)
            else:
                asked = [{"role": "user", "content": "What did I say last?"}]
                await answered(partial(scope.context, asked, budget=2000))
            took[verb].append(time.perf_counter() - begun)


async def harmed(first: Served, second: Served, until: float) -> list[str]:
    """A worker killed, workers changed, a whole server killed and started again, the other stopped and started."""
    done = []

    async def then(what: str, act: Callable[[], object]) -> None:
        await asyncio.sleep(SECONDS / 8)  # between two harms
        await asyncio.to_thread(act)
        done.append(what)

    await then("worker killed", lambda: os.kill(first.workers()[0], signal.SIGKILL))
    await then("workers changed", lambda: second.child.send_signal(signal.SIGHUP))
    await asyncio.to_thread(second.running.logged, "reloaded")
    await then("server killed", lambda: second.again(second.kill))
    await then("server started anew", lambda: first.again(first.stop))
    await asyncio.sleep(max(0.0, until - time.monotonic()))
    return done


@pytest.mark.proof
@pytest.mark.alone
@pytest.mark.bound(600)
async def test_two_servers_bear_200_clients_and_kills(
    locations: tuple[str, str], tmp_path: Path, runs: Callable[[int, int], range], request: pytest.FixtureRequest
) -> None:
    location, _ = locations
    for seed in runs(1, 1):
        clients = [Kept(user=f"user{n}", token="") for n in range(CLIENTS)]
        async with AsyncMemhold.open(location, worker=False) as mem:
            for kept in clients:
                kept.token = (await mem.admin.tokens.create(user=kept.user)).secret
        took: dict[str, list[float]] = defaultdict(list)
        over = asyncio.Event()
        with (
            served(tmp_path, location, "--workers", "2") as first,
            served(tmp_path, location, "--workers", "2") as second,
        ):
            tasks = [
                asyncio.create_task(lives(kept, (first, second)[n % 2].url, over, took, Random(seed * 1000 + n)))
                for n, kept in enumerate(clients)
            ]
            while not all(kept.said for kept in clients) and not any(task.done() for task in tasks):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            done = await harmed(first, second, time.monotonic() + SECONDS)
            over.set()
            await asyncio.gather(*tasks)
            await asyncio.to_thread(first.stop)
            await asyncio.to_thread(second.stop)
            longest = max(first.longest, second.longest)
        lost, doubled = await compared(location, clients)
        assert (lost, doubled) == (0, 0)
        assert len(done) == 4
        NOTES[request.node.name] = note = told(clients, took, longest)
        print(json.dumps(note))


async def compared(location: str, clients: list[Kept]) -> tuple[int, int]:
    """How many acknowledged writes are not there, or not as they were told, and how many are there twice."""
    lost = doubled = 0
    async with AsyncMemhold.open(location, worker=False) as mem:
        for kept in clients:
            scope = mem.scope(user=kept.user, session="s")
            found = {message.id: message.text for message in await scope.messages(limit=10_000)}
            lost += sum(found.get(item) != text for item, text in kept.said.items())
            doubled += sum(times - 1 for times in Counter(found.values()).values())
            facts = (await scope.list(kinds=["fact"], limit=1000)).items
            cities = [memory.value for memory in facts if memory.attribute == "city"]
            lost += kept.value is not None and kept.value not in cities
            doubled += max(0, len(cities) - 1)
    return lost, doubled


def told(clients: list[Kept], took: dict[str, list[float]], longest: float) -> dict[str, Any]:
    """The figures, in milliseconds."""
    acknowledged = sum(len(kept.said) for kept in clients)
    found: dict[str, Any] = {"clients": len(clients), "messages": acknowledged, "lost": 0, "doubled": 0}
    for verb, times in sorted(took.items()):
        found |= {verb: len(times), f"{verb}_p95_ms": round(percentile(times, 0.95) * 1000)}
    return {**found, "longest_hold_ms": round(longest * 1000)}


# ------------------------------------------------------------------------------------------------ what a verb costs


def spent(pid: int) -> float:
    """Seconds of processor time of a process so far."""
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / TICKS


def milliseconds(asked: dict[str, tuple[int, Callable[[int], httpx2.Response]]]) -> dict[str, float]:
    """Processor time of one call of each process, one after the other on one connection.

    They take turns, so that what else the machine does falls on all of them; the first few calls are to warm up.
    """
    took = dict.fromkeys(asked, 0.0)
    for turn in range(TURNS + 1):
        for name, (pid, call) in asked.items():
            calls = range(20) if turn == 0 else range(20 + (turn - 1) * CALLS // TURNS, 20 + turn * CALLS // TURNS)
            before = spent(pid)
            for n in calls:
                assert call(n).is_success
            took[name] += 0.0 if turn == 0 else spent(pid) - before
    return {name: seconds / CALLS * 1000 for name, seconds in took.items()}


@contextmanager
def bare(location: str) -> Iterator[tuple[int, str]]:
    child = subprocess.Popen(
        [sys.executable, "-m", "reality.bare_app", location],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert child.stdout is not None
        yield child.pid, f"http://127.0.0.1:{int(child.stdout.readline())}"
    finally:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


def added(n: int) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": f"I moved to Lisbon in spring and work as a nurse, turn {n}."}]}


@pytest.mark.proof
@pytest.mark.alone
def test_what_a_verb_costs_the_processor(
    locations: tuple[str, str], tmp_path: Path, runs: Callable[[int, int], range], request: pytest.FixtureRequest
) -> None:
    """One process that serves, without upkeep: what is indexed behind the acknowledgement is not a request's."""
    assert len(runs(1, 1)) == 1
    location, other = locations
    with (
        bare(other) as (bare_pid, bare_url),
        served(tmp_path, location, "--no-upkeep", "--user", "alice", "--insecure-loopback") as server,
        httpx2.Client(base_url=bare_url, trust_env=False, timeout=60) as least,
        httpx2.Client(base_url=server.url, trust_env=False, timeout=60) as http,
    ):
        pid = server.child.pid
        asked = {"messages": [{"role": "user", "content": "Where do I live?"}], "budget": 2000}
        found = milliseconds(
            {
                "bare": (bare_pid, lambda n: least.post("/v1/messages?session=s", json=added(n))),
                "add": (pid, lambda n: http.post("/v1/messages?session=s", json=added(n))),
            }
        )
        verbs: dict[str, Callable[[int], httpx2.Response]] = {
            "remember": lambda n: http.post("/v1/memories", json={"attribute": "city", "value": f"town {n}"}),
            "recall": lambda n: http.post("/v1/recall", json={"query": f"where does she live, turn {n}"}),
            "context": lambda _: http.post("/v1/context?session=s", json=asked),
        }
        for verb, call in verbs.items():
            found |= milliseconds({verb: (pid, call)})
        count = http.get("/v1/status").json()["messages"]
        server.stop()
    assert count == CALLS + 20
    note = {f"{verb}_ms": round(value, 2) for verb, value in found.items()}
    NOTES[request.node.name] = note | {"add_over_bare": round(found["add"] / found["bare"], 2)}
    print(json.dumps(NOTES[request.node.name]))
