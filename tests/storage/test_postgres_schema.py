"""Making a database ours: empty, somebody else's, an older and a newer one, by many at once, in parts."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace

import psycopg
import pytest

from memhold import AsyncMemhold, Memhold
from memhold.errors import InvalidInput, InvalidSetting, NewerStore, NotAStore, StoreUnreachable
from memhold.storage.postgres.connection import connect, parsed
from memhold.storage.postgres.schema import create_or_migrate, migrations
from memhold.testing import FakeClock
from tests.storage.test_migrate import filled, seen

NOW = 0
OURS = tuple(step for step in migrations() if step.stage == "pre")
LAST = max(step.number for step in OURS)
"""The newest schema that this release knows."""


def _made() -> list[tuple[int, str]]:
    return [(step.number, "pre") for step in OURS]


def _ledger(database: str) -> list[tuple[int, str]]:
    with psycopg.connect(database) as connection:
        return connection.execute("SELECT number, stage FROM migration ORDER BY number, stage DESC").fetchall()


def _tables(database: str) -> set[str]:
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
        )
        return {name for (name,) in found}


def test_the_database_of_another_program_is_left_alone(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE message (text TEXT)")
    with pytest.raises(NotAStore, match="another program"):
        Memhold.open(database)
    assert _tables(database) == {"message"}


async def test_many_who_open_an_empty_database_make_one_store(database: str) -> None:
    async def opened(number: int) -> bytes:
        async with AsyncMemhold.open(database, worker=False) as mem:
            await mem.scope(user="alice").remember(f"note {number}")
            return mem._store._runtime.store.facts.secret

    secrets = await asyncio.gather(*(opened(number) for number in range(6)))
    assert len(set(secrets)) == 1
    async with AsyncMemhold.open(database, worker=False) as mem:
        assert len((await mem.scope(user="alice").list()).items) == 6
    assert _ledger(database) == _made()


def _steps(*, serves: int):
    """This release's steps and those of one that comes after it."""
    gone, following = "ALTER TABLE model_usage DROP COLUMN note", LAST + 1
    added = "ALTER TABLE model_usage ADD COLUMN note TEXT"
    return (
        *OURS,
        replace(OURS[-1], number=following, name="notes", sql=added, serves=serves),
        replace(OURS[-1], number=following, name="notes", stage="post", sql=gone, serves=following),
    )


def test_the_last_release_works_on_the_schema_of_the_next(database: str) -> None:
    location = parsed(database)
    with closing(connect(location, lock_timeout=5)) as connection:
        create_or_migrate(connection, location, partitions=0, now=NOW)
        facts = create_or_migrate(connection, location, partitions=0, now=NOW, known=_steps(serves=LAST))
    assert facts.schema == LAST + 1
    assert _ledger(database) == [*_made(), (LAST + 1, "pre")], "what the last release needs is not taken away yet"
    with Memhold.open(database, worker=False) as mem:
        mem.scope(user="alice").remember("works")
    more = replace(OURS[-1], number=LAST + 2, name="more", sql="SELECT 1", serves=LAST + 1)
    after = (*_steps(serves=LAST), more)
    with closing(connect(location, lock_timeout=5)) as connection:
        create_or_migrate(connection, location, partitions=0, now=NOW, known=after)
    assert _ledger(database) == [*_made(), (LAST + 1, "pre"), (LAST + 1, "post"), (LAST + 2, "pre")]
    with pytest.raises(NewerStore) as caught:
        Memhold.open(database)
    assert (caught.value.found, caught.value.supported) == (LAST + 2, LAST)


async def test_every_verb_of_the_last_release_works_where_each_table_has_grown(database: str) -> None:
    location = parsed(database)
    with closing(connect(location, lock_timeout=5)) as connection:
        create_or_migrate(connection, location, partitions=0, now=NOW)
    grown = "; ".join(f"ALTER TABLE {name} ADD COLUMN later TEXT NOT NULL DEFAULT 'x'" for name in _tables(database))
    step = replace(OURS[-1], number=LAST + 1, name="later", sql=f"{grown}; CREATE TABLE later (id TEXT)", serves=LAST)
    with closing(connect(location, lock_timeout=5)) as connection:
        create_or_migrate(connection, location, partitions=0, now=NOW, known=(*OURS, step))
    # What the last release writes and reads, through everything that a store has, is as on a schema of its own.
    clock = FakeClock()
    await filled(database, clock)
    await seen(database, clock)
    async with AsyncMemhold.open(database, clock=clock, worker=False) as mem:
        assert {finding.check for finding in await mem.admin.doctor()} == {"durability", "autovacuum"}
        assert (await mem.admin.tokens.create(namespace="acme", user="alice")).secret
        assert len(await mem.admin.usage()) == 2
        await mem.admin.model_usage()


def test_a_newer_schema_is_refused_and_left_alone(database: str) -> None:
    location = parsed(database)
    with closing(connect(location, lock_timeout=5)) as connection:
        create_or_migrate(connection, location, partitions=0, now=NOW, known=_steps(serves=LAST + 1))
    before = _tables(database)
    with pytest.raises(NewerStore, match=f"schema {LAST + 1}"):
        Memhold.open(database)
    assert _tables(database) == before


def test_a_step_that_fails_leaves_nothing(database: str) -> None:
    location = parsed(database)
    broken = replace(OURS[0], sql=OURS[0].sql + "; SELECT 1 / 0")
    with closing(connect(location, lock_timeout=5)) as connection:
        with pytest.raises(psycopg.Error):
            create_or_migrate(connection, location, partitions=0, now=NOW, known=(broken,))
        assert _tables(database) == set()
        create_or_migrate(connection, location, partitions=0, now=NOW)


async def test_tables_in_parts_hold_the_same(database: str) -> None:
    async with AsyncMemhold.open(database, worker=False, postgres_partitions=4) as mem:
        for tenant in range(8):
            scope = mem.scope(namespace=f"tenant {tenant}", user="alice", session="s")
            await scope.add([{"role": "user", "content": f"the blue house of {tenant}"}])
            await scope.remember(attribute="city", value=f"Oslo {tenant}")
        await mem.settle()
        for tenant in range(8):
            scope = mem.scope(namespace=f"tenant {tenant}", user="alice")
            found = await scope.recall("blue house")
            assert [hit.text for hit in found.hits if hit.kind == "message"] == [f"the blue house of {tenant}"]
    with psycopg.connect(database) as connection:
        parts = connection.execute("SELECT count(*) FROM pg_inherits WHERE inhparent = 'message'::regclass").fetchone()
        assert parts == (4,)
        assert connection.execute("SELECT count(*) FROM message_0").fetchone() == (0,), "no part shows rows by itself"
    async with AsyncMemhold.open(database, worker=False) as mem:
        assert (await mem.scope(namespace="tenant 3", user="alice").status()).messages == 1


@pytest.mark.parametrize(
    "location",
    [
        "postgresql://alice:geheim@/x?nonsense=geheim",
        "postgresql://alice:geheim@[::1/x",
        "mysql://alice:geheim@host/x",
    ],
)
def test_a_location_that_cannot_be_read_is_not_repeated(location: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Memhold.open(location)
    seen = f"{caught.value} {caught.value.values} {caught.value.__cause__}"
    assert "geheim" not in seen


def test_a_password_is_shown_nowhere(database: str, caplog: pytest.LogCaptureFixture) -> None:
    import traceback

    secret = database.replace("memhold@", "memhold:geheim@") + "&sslpassword=geheim"
    with Memhold.open(secret, worker=False) as mem:
        assert "geheim" not in repr(mem.admin.doctor())
    away = "postgresql://alice:geheim@127.0.0.1:1/x"
    with pytest.raises(StoreUnreachable) as caught:
        Memhold.open(away)
    assert "geheim" not in "".join(traceback.format_exception(caught.value)) + str(caught.value.values)
    assert "127.0.0.1:1" in str(caught.value)
    assert "geheim" not in repr(parsed(away)) + caplog.text


def test_settings_have_bounds(database: str) -> None:
    with pytest.raises(InvalidInput, match="partitions"):
        Memhold.open(database, postgres_partitions=5000)
    with pytest.raises(InvalidSetting):
        Memhold.open(database, postgres_partitions=-1)
