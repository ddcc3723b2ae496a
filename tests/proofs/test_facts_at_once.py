"""One key, many at once: threads and tasks beside an embedding that hangs, and processes beside each other."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memhold import Memhold
from tests.postgres_server import Databases

CHILD = Path(__file__).with_name("facts_at_once_child.py")
WORDINGS = ("favorite food", "favourite food", "most favorite food", "Favourite_Food")
THREADS = 100
TASKS = 100
BOUND = 60.0
"""Seconds after which one call counts as stuck; each takes milliseconds."""


class Hanging:
    """An embedding that never answers."""

    fingerprint = "test:hanging"
    dimension = 4

    def __init__(self) -> None:
        self.asked = threading.Event()

    async def embed(self, texts: Sequence[str], *, purpose: str) -> Any:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError((texts, purpose))


@pytest.mark.proof
def test_two_hundred_on_one_key_while_the_embedding_hangs(lasting: str, runs: Callable[[int, int], range]) -> None:
    """Threads and tasks tell one concept in four wordings; a run is a second of it. Everybody gets an answer."""
    seconds = len(runs(2, 30))
    embedding = Hanging()
    with Memhold.open(lasting, embedding=embedding, key_threshold=0.9, recall_timeout=0.05, poll_seconds=0.05) as mem:
        alice = mem.scope(user="alice", session="s")
        alice.remember(attribute="wife's job", value="teacher")
        alice.remember(attribute="wife's vocation", value="baker")
        end = time.monotonic() + seconds
        told = [0] * (THREADS + TASKS)

        def thread(number: int) -> None:
            scope = mem.scope(user="alice", session=f"t{number % 7}")
            while not told[number] or time.monotonic() < end:
                scope.remember(attribute=WORDINGS[told[number] % 4], value=f"{number}/{told[number]}")
                told[number] += 1

        async def task(number: int, core: Any) -> None:
            while not told[number] or time.monotonic() < end:
                await core.remember(attribute=WORDINGS[told[number] % 4], value=f"{number}/{told[number]}")
                told[number] += 1

        async def tasks() -> None:
            core = alice._core
            async with asyncio.timeout(seconds + BOUND):
                await asyncio.gather(*(task(n, core) for n in range(THREADS, THREADS + TASKS)))

        def others() -> int:
            done = 0
            bob = mem.scope(user="bob", session="s")
            while not done or time.monotonic() < end:
                begun = time.monotonic()
                bob.add({"role": "user", "content": f"hello {done}"})
                bob.recall("hello", limit=3)
                alice.context([{"role": "user", "content": "food?"}])
                assert time.monotonic() - begun < BOUND
                done += 1
            return done

        with ThreadPoolExecutor(THREADS + 2) as pool:
            running = [pool.submit(thread, n) for n in range(THREADS)]
            beside = pool.submit(others)
            mem._loop.run(tasks())
            for one in running:
                one.result(seconds + BOUND)
            assert beside.result(seconds + BOUND) > 0
        assert embedding.asked.is_set(), "the embedding was waited for by somebody"
        assert min(told) > 0, "nobody starved"
        facts = [m for m in _facts(alice) if "Food" in m.attribute or "food" in m.attribute]
        assert [m.state for m in facts].count("active") == 1
        assert len({m.key for m in facts}) == 1
        assert sum(told) == len(facts)


def _facts(scope: Any) -> list[Any]:
    found, cursor = [], None
    while True:
        page = scope.list(kinds=("fact",), states=None, limit=1000, cursor=cursor)
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return found


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_processes_on_one_concept(
    tmp_path: Path, runs: Callable[[int, int], range], databases: Databases, kind: str
) -> None:
    """Each tells half of one history in its own words, some of it twice: the newest word is current, once."""
    for seed in runs(1, 10):
        path = str(tmp_path / f"{seed}.db") if kind == "sqlite" else databases.store()
        running = [
            subprocess.Popen(
                [sys.executable, str(CHILD), path, str(part), str(seed)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for part in range(2)
        ]
        answers = [one.communicate(timeout=120) for one in running]
        assert [one.returncode for one in running] == [0, 0], answers
        history = {tuple(line.split("\t")) for out, _ in answers for line in out.splitlines()}
        days = sorted(history, key=lambda one: int(one[0]))
        with Memhold.open(path, worker=False) as mem:
            alice = mem.scope(user="alice")
            facts = _facts(alice)
            assert len({m.key for m in facts}) == 1
            assert [m.value for m in facts if m.state == "active"] == [days[-1][1]]
            assert sorted(m.value for m in facts) == sorted(value for _, value in history)
            ordered = sorted(facts, key=lambda m: m.valid_from)
            assert [m.value for m in ordered] == [value for _, value in days]
            assert [m.valid_to for m in ordered[:-1]] == [m.valid_from for m in ordered[1:]]
