"""Reads under load while standbys lag, freeze, go and come back, and one is promoted: none is older than what was written."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest

from memhold import AsyncMemhold
from tests.postgres_server import Databases, Server

SETTINGS = {"max_wal_senders": "8", "hot_standby": "on", "synchronous_commit": "on"}
USERS = 6
FAULTS = 6


async def _user(mem: AsyncMemhold, number: int, stop: asyncio.Event) -> int:
    """Write and read until it is over; every read has all that was acknowledged before it. How many reads those were."""
    scope = mem.scope(user=f"u{number}", session="s")
    told: list[str] = []
    reads = 0
    while not stop.is_set():
        if reads % 4 == 0:
            told.append(f"word{number}x{len(told)}")
            await scope.add([{"role": "user", "content": f"the {told[-1]} of it"}])
        found = [message.text for message in await scope.messages(limit=10_000)]
        assert found == [f"the {word} of it" for word in told]
        hits = (await scope.recall(told[-1], limit=3)).hits
        assert f"the {told[-1]} of it" in [hit.text for hit in hits]
        reads += 2
    return reads


async def _harm(standby: Server, random: Random) -> None:
    """One thing that befalls a standby, and its end."""
    match random.choice(("lag", "freeze", "kill")):
        case "lag":
            standby.sql("SELECT pg_wal_replay_pause()")
            await asyncio.sleep(random.uniform(0.1, 0.5))
            standby.sql("SELECT pg_wal_replay_resume()")
        case "freeze":
            frozen = standby.family()
            for one in frozen:
                os.kill(one, signal.SIGSTOP)
            await asyncio.sleep(random.uniform(0.1, 0.5))
            for one in frozen:
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGCONT)
        case _:
            await asyncio.to_thread(standby.kill)
            await asyncio.sleep(random.uniform(0.0, 0.3))
            await asyncio.to_thread(standby.start)


@pytest.mark.proof
async def test_no_read_is_older_than_what_was_written(
    runs: Callable[[int, int], range], record_property: Callable[[str, object], None]
) -> None:
    for seed in runs(1, 20):
        random = Random(seed)
        primary = Server(settings=SETTINGS)
        servers = [primary]
        try:
            databases = Databases(primary)
            heir = Server(settings=SETTINGS | {"cluster_name": "heir"}, copy_of=primary)
            servers.append(heir)
            other = Server(settings=SETTINGS, copy_of=primary)
            servers.append(other)
            # What is acknowledged is on the disk of the one that will be promoted, replayed there or not.
            primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'heir'")
            primary.sql("SELECT pg_reload_conf()")
            url = databases.store()
            place = str(primary.folder)
            both = url.replace(f"host={place}", f"host={place},{heir.folder}")
            read_urls = " ".join(url.replace(place, str(one.folder)) for one in (heir, other))
            async with AsyncMemhold.open(both, embedding="none", read_urls=read_urls) as mem:
                stop = asyncio.Event()
                users = [asyncio.create_task(_user(mem, number, stop)) for number in range(USERS)]
                try:
                    for _ in range(FAULTS):
                        await asyncio.sleep(random.uniform(0.1, 0.4))
                        await _harm(other, random)
                    await asyncio.to_thread(primary.kill)
                    await asyncio.to_thread(heir.promote)
                    await asyncio.sleep(0.5)
                finally:
                    stop.set()
                reads = sum(await asyncio.gather(*users))
                served = mem._store._runtime.store.standbys.served
            said = {"reads": reads, "by standbys": sum(served)}
            record_property("reads", str(said))
            print(f"seed {seed}: {said}")
            assert reads
        finally:
            for server in servers:
                server.stop()
