"""Worker processes on one database, killed, frozen past their leases and cut off: each window takes effect exactly once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import psycopg
import pytest

from memhold import AsyncMemhold
from memhold.testing.scripted import ScriptedChat
from tests.postgres_server import Databases
from tests.proofs.children import ROOT, environment
from tests.proofs.conftest import FULL, NOTES
from tests.proofs.ledger import check_whole
from tests.proofs.networks import Link, links
from tests.proofs.workers_child import LEASE_SECONDS

CHILD = Path(__file__).with_name("workers_child.py")
WORKERS = 4 if FULL else 2
SESSIONS = 20_000 if FULL else 24
HOLDERS = 2
"""Workers that are frozen in a call and wake when everything is done."""
ALONE = 8
"""Sessions of the run that leaves the checks out."""
HARMS = 400 if FULL else 3
SECONDS = 4 * 3600 if FULL else 150
PAUSES = (2.0, 6.0) if FULL else (0.2, 1.0)
"""Seconds between two harms: a process that was begun again has to get to work before the next."""
NAMESPACES = 4
USERS = 5
MESSAGES = 4
HOLDS = LEASE_SECONDS * 2.5
"""A worker that is frozen, or whose link is cut, stays so past the end of its lease."""


def _child(url: str, *given: str, inside: Sequence[str] = ()) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*inside, sys.executable, str(CHILD), url, *given],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        cwd=ROOT, env=environment(),
    )  # fmt: skip


class Workers:
    """The processes, each in a network of its own where there is one, and what befell them."""

    def __init__(self, places: Sequence[tuple[str, Link | None]], random: Random) -> None:
        self._places, self._random, self._begun = places, random, 0
        self.befell = {"killed": 0, "frozen": 0, "cut off": 0}
        self.begun_again = 0
        self._ends: list[tuple[float, int, Callable[[], None]]] = []
        self._running = [self._begin(at) for at in range(len(places))]
        for one in self._running:
            assert one.stdout is not None
            assert one.stdout.readline() == "works\n"

    def _begin(self, at: int) -> subprocess.Popen[str]:
        self._begun += 1
        url, link = self._places[at]
        return _child(url, str(self._begun), inside=() if link is None else link.inside)

    def harm(self) -> None:
        """Kill one and begin another, freeze one for longer than a lease, or cut its link for as long."""
        held = {at for _, at, _ in self._ends}
        free = [at for at in range(len(self._running)) if at not in held]
        if not free:
            return
        at = self._random.choice(free)
        victim, link = self._running[at], self._places[at][1]
        what = self._random.choice(("killed", "frozen", "cut off"))
        if what == "cut off" and link is not None:
            link.cut()
            self._ends.append((time.monotonic() + HOLDS, at, link.mend))
        elif what == "frozen":
            victim.send_signal(signal.SIGSTOP)
            self._ends.append((time.monotonic() + HOLDS, at, lambda: victim.send_signal(signal.SIGCONT)))
        else:
            what = "killed"
            victim.kill()
            victim.communicate()
            self._running[at] = self._begin(at)
        self.befell[what] += 1

    def pass_by(self, now: float) -> None:
        """What has lasted long enough is over; a process that could not open the store is begun again."""
        for at, one in enumerate(self._running):
            if one.poll() is not None:
                one.communicate()
                self._running[at] = self._begin(at)
                self.begun_again += 1
        for end in [end for end in self._ends if end[0] <= now]:
            end[2]()
            self._ends.remove(end)

    @property
    def harms(self) -> int:
        return sum(self.befell.values())

    def stop(self) -> None:
        self.pass_by(float("inf"))
        for one in self._running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.communicate("", timeout=30)
            one.kill()
            one.communicate()


class Holder:
    """A worker that stopped itself in a model's call with leases in its hand; it wakes when others did the work."""

    def __init__(self, url: str, seed: int, how: str = "holds") -> None:
        self.process = _child(url, str(seed), how)
        assert self.process.stdout is not None
        while (said := self.process.stdout.readline()) != "stops\n":
            assert said == "works\n"

    def wake(self) -> str:
        """What came of the result that it had in its hand: `done`, or why it was not applied."""
        assert self.process.stdout is not None
        self.process.send_signal(signal.SIGCONT)
        while (said := self.process.stdout.readline().strip()) == "works":
            pass
        self.process.communicate("", timeout=60)
        assert self.process.returncode == 0
        return said

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def _holders(url: str, how: str = "holds") -> Iterator[list[Holder]]:
    holders = [Holder(url, number, how) for number in range(HOLDERS)]
    try:
        yield holders
    finally:
        for one in holders:
            one.kill()


@pytest.fixture
def apart() -> Iterator[list[Link]]:
    """A network for each worker, where the machine allows them."""
    with links(WORKERS) as made:
        yield made


async def _plant(url: str, sessions: int = SESSIONS) -> None:
    model = ScriptedChat(name="m")
    async with AsyncMemhold.open(url, worker=False, embedding="none", consolidation=model) as mem:

        async def one(number: int) -> None:
            namespace, user = f"n{number % NAMESPACES}", f"u{number // NAMESPACES % USERS}"
            scope = mem.scope(namespace=namespace, user=user, session=f"s{number}")
            turn = [{"role": "user", "content": f"{number} I live in Oslo {part}."} for part in range(MESSAGES)]
            await scope.add(turn)
            await scope.end_session()

        for first in range(0, sessions, 64):
            await asyncio.gather(*(one(number) for number in range(first, min(sessions, first + 64))))


def _ask(url: str, sql: str) -> list[tuple]:
    with psycopg.connect(url, user="postgres") as connection:
        return connection.execute(sql).fetchall()


LEFT = "SELECT count(*) FROM session WHERE cursor < last_seq"
STANDING = (
    "FROM memory_source AS s JOIN memory AS m ON m.namespace = s.namespace AND m.user_id = s.user_id"
    " AND m.id = s.memory_id WHERE m.kind IN ('summary', 'raw') AND m.unrecorded_at IS NULL"
    " AND m.state = 'active' AND s.source_id LIKE 'msg%'"
)


def _check_once(url: str, sessions: int = SESSIONS) -> None:
    check_whole(url)
    assert _ask(url, LEFT) == [(0,)]
    twice = _ask(url, f"SELECT s.source_id {STANDING} GROUP BY s.source_id HAVING count(*) <> 1")
    assert twice == [], "a message stands in exactly one window"
    covered = _ask(url, f"SELECT count(DISTINCT s.source_id) {STANDING}")
    assert covered == [(sessions * MESSAGES,)]
    # A window that took effect twice would have two changes, even where the second hid the first.
    changes = _ask(url, "SELECT count(*) FROM change WHERE verb = 'consolidate'")
    entries = _ask(url, "SELECT count(*) FROM memory WHERE kind IN ('summary', 'raw') AND rev = 1")
    assert changes == entries, "each effect is one summary, or one entry that is kept raw"


@pytest.mark.proof
async def test_each_window_takes_effect_once_whatever_befalls_its_workers(
    runs: Callable[[int, int], range], apart: list[Link], reached: Databases, request: pytest.FixtureRequest
) -> None:
    for seed in runs(1, 1):
        url = reached.take()
        await _plant(url)
        random = Random(seed)
        places = [(reached.at(url, link.ours), link) for link in apart]
        began, cut, left = time.monotonic(), 0, SESSIONS
        with _holders(url) as holders:
            workers = Workers(places or [(url, None)] * WORKERS, random)
            try:
                while left and time.monotonic() < began + SECONDS:
                    time.sleep(random.uniform(*PAUSES))  # noqa: ASYNC251 - the processes work meanwhile
                    workers.pass_by(time.monotonic())
                    if workers.harms < HARMS:
                        workers.harm()
                        cut += reached.cut_connections(0.2)
                    [(left,)] = _ask(url, LEFT)
            finally:
                workers.stop()
            woke = [one.wake() for one in holders]
            assert "done" not in woke, "what a holder had in its hand was somebody else's by then"
        seconds = time.monotonic() - began
        _check_once(url)
        seen = {
            "sessions": SESSIONS, "workers": WORKERS, "networks": len(apart), **workers.befell, "held": woke,
            "connections cut": cut, "begun again": workers.begun_again,
            "seconds": round(seconds), "sessions/s": round(SESSIONS / seconds, 1),
        }  # fmt: skip
        NOTES[request.node.name] = seen
        print(seen)
        assert all(workers.befell[what] for what in ("killed", "frozen")) or not FULL


@pytest.mark.proof
async def test_the_proof_sees_a_holder_that_checks_nothing(databases: Databases) -> None:
    """With token, cursor and revision taken out of the holders, the same run has effects twice."""
    url = databases.store()
    await _plant(url, ALONE)
    with _holders(url, "unguarded") as holders:
        other = _child(url, "9")
        try:
            until = time.monotonic() + 180
            while _ask(url, LEFT) != [(0,)] and time.monotonic() < until:
                time.sleep(0.1)  # noqa: ASYNC251 - the process works meanwhile
            _check_once(url, ALONE)
        finally:
            other.communicate("", timeout=30)
        assert [one.wake() for one in holders] == ["done"] * HOLDERS
    with pytest.raises(AssertionError):
        _check_once(url, ALONE)
    databases.give_back(url)
