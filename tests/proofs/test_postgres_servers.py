"""`memhold serve` on many machines, one database: written through one, read through another, whatever befalls them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import psycopg
import pytest

from memhold import AsyncMemhold, Memhold
from memhold.errors import OutcomeUnknown, ServerUnreachable, StoreUnreachable
from tests.postgres_server import Databases
from tests.proofs.conftest import FULL, NOTES
from tests.proofs.ledger import check_acknowledged, check_whole
from tests.proofs.networks import Link, links
from tests.rest.test_serve_process import Running

SERVERS = 4 if FULL else 2
WRITERS = 8 if FULL else 3
WRITES = 500 if FULL else 12
HARMS = 40 if FULL else 2
PORT = 8484
_LIMITS = ("RATE_PER_SECOND", "WORK_PER_SECOND")


class Served:
    """One server process after another at one address."""

    def __init__(self, folder: Path, database: str, link: Link | None, number: int) -> None:
        where = ("--host", "127.0.0.1" if link is None else link.theirs, "--port", "0" if link is None else str(PORT))
        self._command = [
            *(() if link is None else link.inside), sys.executable, "-m", "memhold", "serve", "--json",
            "--behind-proxy", "--log-format", "json", "--db", database, *where,
        ]  # fmt: skip
        self._folder = folder / str(number)
        self._folder.mkdir()
        self.link = link
        self.begin()

    def begin(self) -> None:
        limits = {f"MEMHOLD_{name}": "100000" for name in _LIMITS}
        self._child = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self._folder,
            env={**os.environ, **limits},
        )  # fmt: skip
        self.url = Running(self._child).url

    def signal(self, sign: signal.Signals) -> None:
        self._child.send_signal(sign)

    def kill(self) -> None:
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdout, self._child.stderr):
            with contextlib.suppress(OSError, ValueError):
                if pipe is not None:
                    pipe.close()


class Writer:
    """Writes through any server until it is acknowledged, and reads each through another one."""

    def __init__(self, servers: Sequence[Served], token: str, number: int) -> None:
        self._servers, self._token, self._number = servers, token, number
        self._random = Random(number)
        self.acknowledged: dict[str, tuple[str, ...]] = {}
        self.again = 0
        self.failed: BaseException | None = None

    def run(self) -> None:
        try:
            for turn in range(WRITES):
                key = f"w{self._number}t{turn}"
                message = {"role": "user", "content": f"{key} the kettle is on"}
                ids = self._asked(lambda scope, m=message, k=key: scope.add(m, idempotency_key=k).ids)
                self.acknowledged[key] = ids
                assert [self._asked(lambda scope, one=one: scope.get(one).id) for one in ids] == list(ids)
        except BaseException as error:  # noqa: BLE001 - a thread's edge: the test raises it
            self.failed = error

    def _asked(self, ask: Callable) -> tuple[str, ...]:
        until = time.monotonic() + 120
        while True:
            try:
                # A short patience: one that is frozen is left for the next.
                with Memhold.open(self._random.choice(self._servers).url, token=self._token, timeout=3.0) as mem:
                    return ask(mem.scope(user="alice", session=f"s{self._number}"))
            except (ServerUnreachable, StoreUnreachable, OutcomeUnknown):
                assert time.monotonic() < until
                self.again += 1


@pytest.fixture
def apart() -> Iterator[list[Link]]:
    """A network for each server, where the machine allows them."""
    with links(SERVERS) as made:
        yield made


async def _token(url: str) -> str:
    async with AsyncMemhold.open(url, worker=False) as mem:
        return (await mem.admin.tokens.create(user="alice", rights=("read", "write"))).secret


def _harm(servers: Sequence[Served], random: Random, databases: Databases) -> str:
    """Kill one and begin it again, freeze one, cut its network, or cut what it has open to the database."""
    one = random.choice(servers)
    what = random.choice(("killed", "killed", "frozen", "cut off", "connections cut"))
    match what:
        case "frozen":
            one.signal(signal.SIGSTOP)
            time.sleep(random.uniform(0.5, 4))
            one.signal(signal.SIGCONT)
        case "cut off" if one.link is not None:
            one.link.cut()
            time.sleep(random.uniform(0.5, 4))
            one.link.mend()
        case "connections cut":
            databases.cut_connections(0.5)
        case _:
            one.kill()
            one.begin()
            return "killed"
    return what


@pytest.mark.proof
def test_nothing_acknowledged_is_lost_between_servers(
    tmp_path: Path, runs: Callable[[int, int], range], apart: list[Link], reached: Databases,
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    for seed in runs(1, 1):
        random, url = Random(seed), reached.take()
        token = asyncio.run(_token(url))
        inside = [(reached.at(url, link.ours), link) for link in apart]
        servers: list[Served] = []
        befell: dict[str, int] = {}
        try:
            for number, (database, link) in enumerate(inside or [(url, None)] * SERVERS):
                servers.append(Served(tmp_path, database, link, number))
            writers = [Writer(servers, token, number) for number in range(WRITERS)]
            threads = [threading.Thread(target=writer.run) for writer in writers]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads) and sum(befell.values()) < HARMS:
                time.sleep(random.uniform(0.2, 1.0))
                what = _harm(servers, random, reached)
                befell[what] = befell.get(what, 0) + 1
            for thread in threads:
                thread.join()
        finally:
            for one in servers:
                one.kill()
        assert [writer.failed for writer in writers] == [None] * WRITERS
        ids = [one for writer in writers for told in writer.acknowledged.values() for one in told]
        check_acknowledged(ids, check_whole(url))
        with psycopg.connect(url, user="postgres") as connection:
            assert connection.execute("SELECT count(*) FROM message").fetchall() == [(WRITERS * WRITES,)]
        assert len(set(ids)) == WRITERS * WRITES, "each was written once, however often it was sent"
        seen = {
            "servers": SERVERS, "networks": len(apart), "writes": len(ids),
            "asked again": sum(writer.again for writer in writers), **befell,
        }  # fmt: skip
        NOTES[request.node.name] = seen
        print(seen)
