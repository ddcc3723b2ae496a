"""SIGKILL at the nth disk operation, or statement, of a process that consolidates: exactly one effect or none, and it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import pytest

from memhold.ports.stores import Store
from memhold.providers.chain import Chain, Link
from memhold.storage.postgres.connection import parsed
from memhold.storage.postgres.store import PostgresStore
from memhold.storage.sqlite.store import SqliteStore
from memhold.testing import FakeClock
from memhold.testing.scripted import ScriptedChat
from memhold.wiring.chains import ChainParts
from memhold.wiring.settings import Settings
from memhold.wiring.system import SystemClock
from tests.postgres_server import Databases
from tests.proofs.dying import run_dying
from tests.proofs.ledger import check_acknowledged, check_whole
from tests.proofs.test_consolidation import Run

CHILD = Path(__file__).with_name("consolidation_child.py")
LAST_POINT = 500
LAST_STATEMENT = 2200
"""A run on PostgreSQL without a kill sends about this many."""
OPENED = 80
"""By this disk operation the tables are there."""


def has_tables(path: Path) -> bool:
    """Whether the first migration was committed before the process died."""
    connection = apsw.Connection(str(path))
    try:
        return bool(connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'message'").get)
    finally:
        connection.close()


class Resumed(Run):
    """The checks of a run, over a store that a killed process left."""

    def __init__(self, store, clock, added) -> None:
        from memhold.wiring import Around, assemble

        self.clock = clock
        self.models = []
        chain = Chain([Link(model=ScriptedChat(name="after"))], clock=clock, dice=Random(0))
        settings = Settings(worker=False)
        self.runtimes = [
            assemble(store, Around(clock=clock, settings=settings, parts=ChainParts(chain=chain))) for _ in range(2)
        ]
        self.added = added


async def resumes(store: Store, clock: FakeClock) -> None:
    """What a killed process left is whole, and is done."""
    run = Resumed(store, clock, {})
    # What was committed and not acknowledged may be there too: the journal itself is the list.
    for name in ("s1", "s2"):
        run.added[name] = [message.id for message in await run.scope(name).messages()]
    await run.check()
    await run.recover_in(("s1", "s2"))
    await store.close()


def later() -> FakeClock:
    """A clock past every lease that a killed process held."""
    clock = FakeClock(SystemClock().now())
    clock.advance(120)
    return clock


def acknowledged(out: str) -> list[str]:
    return [one for line in out.splitlines() for one in line.split()[1:]]


@pytest.mark.proof
async def test_a_killed_process_leaves_one_effect_or_none(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    killed = 0
    for seed in runs(2, 100):
        path = tmp_path / f"{seed}.db"
        dies_at = Random(seed).randrange(20, LAST_POINT)
        code, out = await asyncio.to_thread(run_dying, CHILD, str(path), dies_at, seed)
        killed += code == -9
        if not path.exists() or path.stat().st_size == 0:
            continue
        if dies_at < OPENED and not has_tables(path):
            assert not out, "killed while the file was made: nothing was acknowledged"
            continue
        check_acknowledged(acknowledged(out), check_whole(path))
        clock = later()
        await resumes(SqliteStore(str(path), clock=clock), clock)
    assert killed > 0


@pytest.mark.proof
async def test_a_process_killed_on_postgresql_leaves_one_effect_or_none(
    databases: Databases, runs: Callable[[int, int], range]
) -> None:
    killed = 0
    for seed in runs(2, 100):
        url = databases.store()
        dies_at = Random(seed).randrange(1, LAST_STATEMENT)
        code, out = await asyncio.to_thread(run_dying, CHILD, url, dies_at, seed)
        killed += code == -9
        clock = later()
        store = await PostgresStore.open(parsed(url), clock=clock)
        check_acknowledged(acknowledged(out), check_whole(url))
        await resumes(store, clock)
        databases.give_back(url)
    assert killed > 0
