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

NEWEST = migrations()[-1].number
NEXT = NEWEST + 1
OURS = [(step.number, step.stage) for step in migrations() if step.stage == "pre" or step.number < NEWEST]


@pytest.fixture
def database(bare_database: str) -> str:
    """Here a store is made."""
    return bare_database


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
    assert _ledger(database) == OURS


def _steps(*, serves: int):
    """This release's steps and those of one that comes after it."""
    first = migrations()[-1]
    gone = "ALTER TABLE model_usage DROP COLUMN note"
    return (
        *migrations(),
        replace(first, number=NEXT, name="notes", sql="ALTER TABLE model_usage ADD COLUMN note TEXT", serves=serves),
        replace(first, number=NEXT, name="notes", stage="post", sql=gone, serves=NEXT),
    )


def test_the_last_release_works_on_the_schema_of_the_next(database: str) -> None:
    location = parsed(database)
    with closing(connect(location, lock_timeout=5)) as connection:
        create_or_migrate(connection, location, partitions=0, now=NOW)
        facts = create_or_migrate(connection, location, partitions=0, now=NOW, known=_steps(serves=NEWEST))
    assert facts.schema == NEXT
    assert _ledger(database) == [*OURS, (NEXT, "pre")], "what the last release needs is not taken away yet"
    with Memhold.open(database, worker=False) as mem:
        mem.scope(user="alice").remember("works")
    after = (
        *_steps(serves=NEWEST),
        replace(migrations()[-1], number=NEXT + 1, name="more", sql="SELECT 1", serves=NEXT),
    )
    with closing(connect(location, lock_timeout=5)) as connection:
        create_or_migrate(connection, location, partitions=0, now=NOW, known=after)
    assert _ledger(database) == [*OURS, (NEXT, "pre"), (NEXT, "post"), (NEXT + 1, "pre")]
    with pytest.raises(NewerStore) as caught:
        Memhold.open(database)
    assert (caught.value.found, caught.value.supported) == (NEXT + 1, NEWEST)


def test_vectors_of_whole_texts_are_made_anew_from_sentences(database: str) -> None:
    location = parsed(database)
    with closing(connect(location, lock_timeout=5)) as connection:
        create_or_migrate(
            connection,
            location,
            partitions=0,
            now=NOW,
            known=[step for step in migrations() if step.name != "sentence_vectors"],
        )
    enter = "SELECT set_config('memhold.namespace', 'default', false), set_config('memhold.user_id', 'alice', false)"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(enter)
        connection.execute("INSERT INTO generation VALUES (1, 'old', 2, 'current', 0)")
        connection.execute("INSERT INTO owner (namespace, user_id, documents) VALUES ('default', 'alice', 3)")
        connection.execute(
            "INSERT INTO vector_block (namespace, user_id, generation, first, rev, marks, vectors)"
            " VALUES ('default', 'alice', 1, 0, 1, 'a', 'b')"
        )
    with closing(connect(location, lock_timeout=5)) as connection:
        create_or_migrate(connection, location, partitions=0, now=NOW)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(enter)
        assert connection.execute("SELECT state FROM generation").fetchall() == [("retired",)]
        assert connection.execute("SELECT count(*) FROM vector_block").fetchall() == [(0,)]
        assert connection.execute("SELECT kind, ref, due_at FROM due").fetchall() == [("index", "vectors", 0)]


async def test_every_verb_of_the_last_release_works_where_each_table_has_grown(database: str) -> None:
    location = parsed(database)
    with closing(connect(location, lock_timeout=5)) as connection:
        create_or_migrate(connection, location, partitions=0, now=NOW)
    grown = "; ".join(f"ALTER TABLE {name} ADD COLUMN later TEXT NOT NULL DEFAULT 'x'" for name in _tables(database))
    made = f"{grown}; CREATE TABLE later (id TEXT)"
    step = replace(migrations()[-1], number=NEXT, name="later", sql=made, serves=NEWEST)
    with closing(connect(location, lock_timeout=5)) as connection:
        create_or_migrate(connection, location, partitions=0, now=NOW, known=(*migrations(), step))
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
        create_or_migrate(connection, location, partitions=0, now=NOW, known=_steps(serves=NEXT))
    before = _tables(database)
    with pytest.raises(NewerStore, match=f"schema {NEXT}"):
        Memhold.open(database)
    assert _tables(database) == before


def test_a_step_that_fails_leaves_nothing(database: str) -> None:
    location = parsed(database)
    [first] = [step for step in migrations() if step.number == 1]
    broken = replace(first, sql=first.sql + "; SELECT 1 / 0")
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
