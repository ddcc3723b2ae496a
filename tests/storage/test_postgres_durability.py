"""What a COMMIT waits for is looked at where a store is opened, and said by the doctor."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from memhold.storage.postgres.connection import connect, parsed
from memhold.storage.postgres.maintenance import PostgresMaintenance
from memhold.storage.postgres.store import PostgresStore
from memhold.wiring.system import SystemClock
from tests.postgres_server import Databases, Server


@pytest.fixture(scope="module")
def own() -> Iterator[Databases]:
    """A server whose settings this module may change."""
    server = Server(settings={"fsync": "on", "full_page_writes": "on", "autovacuum": "on"})
    try:
        yield Databases(server)
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("how", "standbys", "used", "said", "warned"),
    [
        ("off", "", "on", "Memhold's own sessions use 'on'", False),
        ("local", "", "local", "", False),
        ("on", "", "on", "", False),
        ("remote_apply", "", "remote_apply", "", False),
        # Ours are raised to 'on', which waits for the standby.
        ("off", "away", "on", "Memhold's own sessions use 'on'", False),
        ("local", "away", "local", "a failover can lose writes", True),
        ("on", "away", "on", "", False),
        ("remote_write", "away", "remote_write", "", False),
        ("remote_apply", "away", "remote_apply", "", False),
    ],
)
async def test_what_a_commit_waits_for_is_said(
    own: Databases, caplog: pytest.LogCaptureFixture, how: str, standbys: str, used: str, said: str, warned: object
) -> None:  # fmt: skip
    url = own.take()
    await (await PostgresStore.open(parsed(url), clock=SystemClock())).close()
    place = parsed(f"{url}&options=-csynchronous_commit%3D{how}")
    own.server.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{standbys}'")
    try:
        own.server.sql("SELECT pg_reload_conf()")
        while own.server.sql("SHOW synchronous_standby_names") != [(standbys,)]:
            pass
        with caplog.at_level(logging.WARNING, "memhold.storage"):
            # Opening a store that is there commits nothing, so it waits for no standby.
            await (await PostgresStore.open(place, clock=SystemClock())).close()
        assert ("loses writes" in caplog.text) is warned
        with connect(place, lock_timeout=5) as connection:
            assert connection.execute("SHOW synchronous_commit").fetchone() == (used,)
        found = await PostgresMaintenance(place, clock=SystemClock(), busy_timeout=5).examine()
        notes = [finding.what for finding in found if finding.check == "durability"]
        assert len(notes) == bool(said), notes
        assert said in "".join(notes)
    finally:
        own.server.sql("ALTER SYSTEM RESET synchronous_standby_names")
        own.server.sql("SELECT pg_reload_conf()")
