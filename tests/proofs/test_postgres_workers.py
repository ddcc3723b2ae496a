"""Worker processes on one database, killed, frozen past their leases and cut off: each window takes effect exactly once."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import psycopg
import pytest

from holdfast import AsyncHoldfast
from holdfast.testing.scripted import ScriptedChat
from tests.postgres_server import Databases
from tests.proofs.conftest import FULL
from tests.proofs.ledger import check_whole
from tests.proofs.workers_child import LEASE_SECONDS

CHILD = Path(__file__).with_name("workers_child.py")
ROOT = Path(__file__).parents[2]
WORKERS = 4 if FULL else 2
SESSIONS = 20_000 if FULL else 30
USERS = 5
MESSAGES = 4


class Workers:
    """The processes, and what befell them."""

    def __init__(self, url: str, random: Random) -> None:
        self._url, self._random, self._begun = url, random, 0
        self.killed = self.frozen = 0
        self._running = [self._begin() for _ in range(WORKERS)]

    def _begin(self) -> subprocess.Popen[str]:
        self._begun += 1
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        return subprocess.Popen(
            [sys.executable, str(CHILD), self._url, str(self._begun)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
            cwd=ROOT, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip

    def harm(self) -> None:
        """Kill one and begin another, or freeze one for longer than a lease, or both."""
        place = self._random.randrange(len(self._running))
        victim = self._running[place]
        if self._random.random() < 0.5:
            victim.kill()
            victim.communicate()
            self.killed += 1
            self._running[place] = self._begin()
        else:
            victim.send_signal(signal.SIGSTOP)
            time.sleep(LEASE_SECONDS * 1.5)
            victim.send_signal(signal.SIGCONT)
            self.frozen += 1

    def stop(self) -> None:
        for one in self._running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.communicate("", timeout=30)
            one.kill()
            one.communicate()


async def _plant(url: str) -> None:
    model = ScriptedChat(name="m")
    async with AsyncHoldfast.open(url, worker=False, embedding="none", consolidation=model) as hf:
        for number in range(SESSIONS):
            scope = hf.scope(user=f"u{number % USERS}", session=f"s{number}")
            turn = [{"role": "user", "content": f"{number} I live in Oslo {part}."} for part in range(MESSAGES)]
            await scope.add(turn)
            await scope.end_session()


def _ask(url: str, sql: str) -> list[tuple]:
    with psycopg.connect(url, user="postgres") as connection:
        return connection.execute(sql).fetchall()


PENDING = "SELECT count(*) FROM due WHERE kind = 'consolidate'"
LEFT = "SELECT count(*) FROM session WHERE cursor < last_seq"


@pytest.mark.proof
async def test_each_window_takes_effect_once_whatever_befalls_its_workers(
    runs: Callable[[int, int], range], databases: Databases
) -> None:
    for seed in runs(1, 1):
        url = databases.take()
        await _plant(url)
        random = Random(seed)
        workers = Workers(url, random)
        until = time.monotonic() + (3600 if FULL else 150)
        cut = 0
        try:
            while _ask(url, LEFT) != [(0,)] and time.monotonic() < until:
                time.sleep(random.uniform(0.2, 1.0))  # noqa: ASYNC251 - the processes work meanwhile
                if workers.killed + workers.frozen < (2000 if FULL else 4):
                    workers.harm()
                cut += len(_ask(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                                     " WHERE usename = 'holdfast' AND random() < 0.2"))  # fmt: skip
        finally:
            workers.stop()
        assert _ask(url, LEFT) == [(0,)]
        check_whole(url)
        twice = _ask(
            url,
            "SELECT s.source_id FROM memory_source AS s JOIN memory AS m USING (namespace, user_id)"
            " WHERE m.id = s.memory_id AND m.kind IN ('summary', 'raw') AND m.unrecorded_at IS NULL"
            " AND m.state = 'active' AND s.source_id LIKE 'msg%' GROUP BY s.source_id HAVING count(*) <> 1",
        )
        assert twice == [], "a message stands in exactly one window"
        covered = _ask(
            url,
            "SELECT count(DISTINCT s.source_id) FROM memory_source AS s JOIN memory AS m USING (namespace, user_id)"
            " WHERE m.id = s.memory_id AND m.kind IN ('summary', 'raw') AND s.source_id LIKE 'msg%'",
        )
        assert covered == [(SESSIONS * MESSAGES,)]
        print(f"{SESSIONS} sessions, {workers.killed} killed, {workers.frozen} frozen, {cut} connections cut")
        databases.give_back(url)
