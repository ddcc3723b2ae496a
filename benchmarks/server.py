"""The server: requests a second and time to start, beside a bare endpoint of the same framework.

Both run as processes of their own and take turns; one client with several connections asks both in the same way.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, doing, percentile

__all__ = ["Asked", "per_second", "run", "served", "server"]

CONNECTIONS = 8
BARE = """
import sys, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
app = FastAPI()
class Body(BaseModel):
    text: str = ""
@app.post("/v1/recall")
async def recall(body: Body) -> dict[str, str]:
    return {"text": body.text}
class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print('{"url": "http://127.0.0.1:%d"}' % self.servers[0].sockets[0].getsockname()[1], flush=True)
Server(uvicorn.Config(app, port=0, log_config=None, access_log=False)).run()
"""
_SERVE = "import sys; from memhold.cli.main import main; sys.exit(main(sys.argv[1:]))"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to ask again and again."""

    name: str
    method: str
    path: str
    body: Any = None

    def wire(self) -> bytes:
        """The request as it crosses."""
        body = b"" if self.body is None else json.dumps(self.body).encode()
        head = f"{self.method} {self.path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


@contextlib.contextmanager
def served(*command: str, folder: Path) -> Iterator[tuple[int, float]]:
    """A server process: its port, and the seconds until it took requests."""
    begun = time.perf_counter()
    limits = dict.fromkeys(("MEMHOLD_RATE_PER_SECOND", "MEMHOLD_WORK_PER_SECOND"), "1000000")
    child = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        env={**os.environ, **limits},
    )
    try:
        assert child.stdout is not None
        port = int(json.loads(child.stdout.readline())["url"].rsplit(":", 1)[1])
        yield port, time.perf_counter() - begun
    finally:
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=60)


def memhold(folder: Path) -> tuple[str, ...]:
    """The command of a Memhold server on an empty store."""
    return server(str(folder / "memory.db"), user="bench")


def server(place: str, *, user: str | None = None) -> tuple[str, ...]:
    """The command of a Memhold server on a store; without a user each request names its own."""
    store = ("--db", place) if user is None else ("--db", place, "--user", user)
    return ("-c", _SERVE, "serve", "--json", "--port", "0", "--insecure-loopback", *store, "--log-format", "json")


async def per_second(port: int, asked: Asked, count: int) -> tuple[float, list[float]]:
    """Requests a second over some connections, and the seconds of each request."""
    wire, times = asked.wire(), []

    async def ask() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(count // CONNECTIONS):
            begun = time.perf_counter()
            writer.write(wire)
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            await reader.readexactly(int(length[1]) if length else 0)
            if not head.startswith(b"HTTP/1.1 2"):
                raise RuntimeError(f"{asked.name} was answered {head[:12]!r}; a measurement of errors says nothing")
            times.append(time.perf_counter() - begun)
        writer.close()
        await writer.wait_closed()

    begun = time.perf_counter()
    await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))
    return len(times) / (time.perf_counter() - begun), times


def run(*, quick: bool = False) -> list[Row]:
    """Requests a second and start-up, in turns."""
    count, rounds = (400, 2) if quick else (4000, 5)
    recall = Asked(name="bare endpoint", method="POST", path="/v1/recall", body={"query": "tea"})
    ours = (
        Asked(name="scope", method="GET", path="/v1/scope"),
        Asked(name="recall by words", method="POST", path="/v1/recall", body={"query": "tea", "kinds": ["message"]}),
        Asked(
            name="add one message, durable",
            method="POST",
            path="/v1/messages?session=s",
            body={"messages": {"role": "user", "content": "I like green tea in the morning."}},
        ),
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rates: dict[str, list[float]] = {one.name: [] for one in (recall, *ours)}
        times: dict[str, list[float]] = {one.name: [] for one in (recall, *ours)}
        with served("-c", BARE, folder=folder) as (bare, _), served(*memhold(folder), folder=folder) as (port, _):
            for turn in range(rounds):
                doing(f"requests, turn {turn + 1} of {rounds}")
                for asked in (recall, *ours):
                    where = bare if asked is recall else port
                    rate, spent = asyncio.run(per_second(where, asked, count // rounds))
                    rates[asked.name].append(rate)
                    times[asked.name] += spent
        rows = [_row(asked.name, rates, times, recall.name) for asked in ours]
        return [*rows, start_up(folder, rounds)]


def _row(name: str, rates: dict[str, list[float]], times: dict[str, list[float]], bare: str) -> Row:
    mine, theirs = statistics.median(rates[name]), statistics.median(rates[bare])
    p99 = percentile(times[name], 0.99) * 1000
    return Row(
        name=f"requests a second: {name}",
        value=f"{mine:,.0f}/s, p99 {p99:.1f} ms",
        against=f"bare endpoint {theirs:,.0f}/s ({mine / theirs:.2f} of it)",
        ratio=mine / theirs,
    )


def start_up(folder: Path, rounds: int) -> Row:
    """Seconds from the command to the first request taken, in turns with the bare server."""
    spent: dict[str, list[float]] = {"bare": [], "ours": []}
    for turn in range(rounds):
        for name in ("bare", "ours") if turn % 2 else ("ours", "bare"):
            command = ("-c", BARE) if name == "bare" else memhold(folder)
            with served(*command, folder=folder) as (_, seconds):
                spent[name].append(seconds)
    mine, theirs = (statistics.median(spent[name]) for name in ("ours", "bare"))
    return Row(
        name="start-up of memhold serve",
        value=f"{mine:.2f} s",
        against=f"bare FastAPI server {theirs:.2f} s",
        ratio=mine / theirs,
    )
