"""What one process holds while many users are asked in turn: the library, and a server over HTTP, by `cache_mb`."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from benchmarks.core import sentences, vocabulary
from benchmarks.measure import Row, doing, percentile
from benchmarks.server import server
from memhold.faces.python.open import AsyncMemhold
from memhold.wiring.settings import Settings

__all__ = ["run"]

AT_ONCE = 50
"""Users who are filled in beside each other."""
LOOKS = 4
"""How often the memory is looked at in one turn of all users."""
BESIDE = 64
"""MB that may come on top of the cache: what words were read as (a number of them), and the allocator's pieces."""
_DAY = 24 * 3600.0


def run(
    *, users: int = 2000, messages: int = 50, cache_mb: int = 32, db: str | None = None, quick: bool = False
) -> list[Row]:
    """Resident memory of the library and of a server as users are asked, with the default cache and with a small one.

    Each user is asked once, one after the other, and then all of them again. A user's first question, which reads what
    is kept of them, and the same one asked again are timed in the library.

    Args:
        users: how many.
        messages: of each, 10 to 30 made-up words.
        cache_mb: the small cache.
        db: a file to use, and to fill up; left out: a new one, removed at the end.
        quick: small enough for a test.
    """
    if quick:
        users, messages, cache_mb = 60, 30, 1
    with tempfile.TemporaryDirectory(prefix="memhold-") as folder:
        place = db or str(Path(folder) / "memory.db")
        asyncio.run(_filled(place, users, messages))
        rows = []
        for megabytes in (Settings().cache_mb, cache_mb):
            doing(f"the library, a cache of {megabytes} MB")
            rows += _library(place, users, megabytes)
            doing(f"a server, a cache of {megabytes} MB")
            rows.append(_server(place, users, megabytes, Path(folder)))
        return rows


async def _filled(place: str, users: int, messages: int) -> None:
    async with AsyncMemhold.open(place, worker=False) as mem:
        texts = sentences(Random(2), users * messages)

        async def tell(user: int) -> None:
            scope = mem.scope(user=f"user-{user:05}", session="s")
            if not (await scope.status()).messages:
                await scope.add([{"role": "user", "content": next(texts)} for _ in range(messages)])

        for start in range(0, users, AT_ONCE):
            await asyncio.gather(*(tell(user) for user in range(start, min(start + AT_ONCE, users))))
        doing(f"{users:,} users have {messages} messages each; words and vectors are made")
        await mem.settle(timeout=_DAY)


def _questions(users: int) -> Iterator[tuple[int, str]]:
    """Everybody in turn, twice."""
    words, weights = vocabulary(Random(1))
    random = Random(3)
    for _ in range(2):
        for user in range(users):
            yield user, " ".join(random.choices(words, weights, k=6))


def _looks(users: int) -> frozenset[int]:
    """After how many questions the memory is looked at."""
    return frozenset(max(1, users * look // LOOKS) for look in range(1, 2 * LOOKS + 1))


def _resident(pid: int) -> float:
    """MB of a process that are in memory now."""
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(told.stdout) / 1024


async def _asked(pid: int, users: int, ask: Callable[[int, str], Awaitable[None]]) -> list[float]:
    """The memory of a process before the first question, after a part of the users, and so on."""
    await ask(0, "what is known")  # what is loaded once is no growth
    found, looks = [_resident(pid)], _looks(users)
    for count, (user, question) in enumerate(_questions(users), 1):
        await ask(user, question)
        if count in looks:
            found.append(_resident(pid))
    return found


def _row(name: str, users: int, megabytes: int, found: list[float]) -> Row:
    grown = max(found) - found[0]
    after = ", ".join(f"{one:,.0f}" for one in found[1 : LOOKS + 1])
    return Row(
        name=f"{name}, cache_mb = {megabytes}",
        value=f"{found[0]:,.0f} MB before; {after} MB after each quarter of {users:,} users",
        against=f"{found[-1]:,.0f} MB when all were asked again",
        ratio=round(grown / (megabytes + BESIDE), 2),
        bar=1.0,
    )


def _library(place: str, users: int, megabytes: int) -> list[Row]:
    child = subprocess.run(
        [sys.executable, "-m", "benchmarks.turns", place, str(users), str(megabytes)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = json.loads(child.stdout)
    fresh, again = (percentile(told[name], 0.5) * 1e3 for name in ("first", "again"))
    loads = Row(
        name="a user's first question",
        value=f"{fresh:.1f} ms of a processor",
        against=f"{again:.1f} ms asked again",
        ratio=round(fresh / again, 2),
    )
    cached = f"; the cache says {told['cached'] / 1024 / 1024:,.0f} MB"
    row = _row("the library", users, megabytes, told["resident"])
    return [Row(name=row.name, value=row.value, against=row.against + cached, ratio=row.ratio, bar=row.bar), loads]


def _server(place: str, users: int, megabytes: int, folder: Path) -> Row:
    with _serving(place, megabytes, folder) as (port, pid):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)

        async def ask(user: int, question: str) -> None:
            headers = {"content-type": "application/json", "x-memhold-user": f"user-{user:05}"}
            connection.request("POST", "/v1/recall", json.dumps({"query": question}), headers)
            answer = connection.getresponse()
            told = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"a recall was answered {answer.status}: {told[:200]!r}")

        found = asyncio.run(_asked(pid, users, ask))
        connection.close()
    return _row("a server", users, megabytes, found)


@contextmanager
def _serving(place: str, megabytes: int, folder: Path) -> Iterator[tuple[int, int]]:
    """A server on the store that lets each request name its user: its port and its process."""
    unlimited = dict.fromkeys(("MEMHOLD_RATE_PER_SECOND", "MEMHOLD_WORK_PER_SECOND"), "1000000")
    child = subprocess.Popen(
        [sys.executable, *server(place)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder,
        env={**os.environ, **unlimited, "MEMHOLD_CACHE_MB": str(megabytes)},
    )  # fmt: skip
    try:
        assert child.stdout is not None
        yield int(json.loads(child.stdout.readline())["url"].rsplit(":", 1)[1]), child.pid
    finally:
        child.terminate()
        child.communicate(timeout=60)


async def _in_turn(place: str, users: int, megabytes: int) -> None:
    """In a child: ask through the library, and print the memory, the seconds of a question, and what the cache says."""
    first, again = list[float](), list[float]()
    async with AsyncMemhold.open(place, worker=False, cache_mb=megabytes) as mem:

        async def ask(user: int, question: str) -> None:
            for times in (first, again):
                began = time.process_time()
                await mem.scope(user=f"user-{user:05}").recall(question)
                times.append(time.process_time() - began)

        resident = await _asked(os.getpid(), users, ask)
        cached = (await mem.admin.ready()).cached_bytes
    print(
        json.dumps(
            {"resident": resident, "first": first[1 : users + 1], "again": again[1 : users + 1], "cached": cached}
        )
    )


if __name__ == "__main__":
    asyncio.run(_in_turn(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
