"""A store of the first schema: it opens, its rows get their digests, and what stops it in the middle leaves it whole."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import psycopg
import pytest

from memhold import AsyncMemhold
from memhold.errors import MemholdError
from memhold.storage.copying import PARENTS
from memhold.storage.postgres.connection import parsed
from memhold.storage.postgres.schema import create_or_migrate as create_or_migrate_database
from memhold.storage.postgres.schema import migrations as steps
from memhold.storage.sqlite.connection import APPLICATION_ID, create_or_migrate, migrations
from memhold.testing.disk import FaultyDisk, Operation
from tests.proofs.dying import run_dying

CHILD = Path(__file__).with_name("scrub_child.py")
MIGRATED = 90
"""By about this disk operation all migrations of a file of the first schema are there."""
PLAIN = {"worker": False, "embedding": "none"}
DIGESTS = {
    "message": ("crc",),
    "memory": ("crc",),
    "change": ("crc", "detail_crc"),
    "word_block": ("records_crc", "entries_crc"),
    "session": ("crc",),
    "vector_block": ("marks_crc", "vectors_crc"),
}


async def filled(location: str) -> list[str]:
    async with AsyncMemhold.open(location, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        for turn in range(40):
            await scope.add([{"role": "user", "content": f"{turn} gardening in Grünau"}])
        await scope.remember(attribute="town", value="Lisbon")
        await scope.remember(attribute="town", value="Oslo")
        await scope.forget((await scope.remember("gone")).memory.id)
        return await said(mem)


async def said(mem: AsyncMemhold) -> list[str]:
    scope = mem.scope(user="alice", session="s")
    told = [message.text for message in await scope.messages()]
    told += [memory.text for memory in (await scope.list(states=None)).items]
    told += sorted(hit.text for hit in (await scope.recall("gardening", limit=50)).hits)
    return told + [change.reason for change in (await scope.changes()).items]


def as_of_the_first(path: Path) -> None:
    """Put the rows of a file into one that only the first migration has made."""
    old = path.with_name("old.part")
    connection = apsw.Connection(str(old))
    connection.execute(migrations()[0].sql)
    connection.execute("ATTACH ? AS newest", (str(path),))
    for (table,) in connection.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'").fetchall():
        kept = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
        there = {row[1] for row in connection.execute(f"PRAGMA newest.table_info({table})")}
        names = ", ".join(f'"{name}"' for name in kept if name in there)
        connection.execute(f"INSERT INTO main.{table} ({names}) SELECT {names} FROM newest.{table}")  # noqa: S608
    connection.execute("DELETE FROM main.store WHERE name = 'digest'; DELETE FROM main.migration WHERE number > 1")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1")
    connection.close()
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    old.chmod(0o600)
    old.replace(path)


async def check(path: Path, before: list[str]) -> None:
    async with AsyncMemhold.open(str(path), **PLAIN) as mem:
        assert await said(mem) == before
        assert await mem.admin.doctor() == ()
    connection = apsw.Connection(str(path))
    for table, columns in DIGESTS.items():
        for column in columns:
            assert not connection.execute(f"SELECT count(*) FROM {table} WHERE {column} IS NULL").get  # noqa: S608
    assert connection.execute("SELECT count(*) FROM migration").get == len(migrations())
    connection.close()


async def test_a_file_of_the_first_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    before = await filled(str(path))
    as_of_the_first(path)
    await check(path, before)


async def test_a_row_that_was_damaged_before_it_had_a_digest_stays_named(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await filled(str(path))
    as_of_the_first(path)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE message SET text = CAST(x'ff41' AS TEXT) WHERE seq = 3")
    [(item,)] = connection.execute("SELECT id FROM message WHERE seq = 3")
    connection.close()
    async with AsyncMemhold.open(str(path), **PLAIN) as mem:
        assert len(await mem.scope(user="alice", session="s").messages()) == 39
        assert [finding.check for finding in await mem.admin.doctor() if item in finding.what] == ["rows"]


async def test_a_later_migration_makes_no_rot_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions got their digests last: what was damaged in other rows by then stays so."""
    path = tmp_path / "memory.db"
    await filled(str(path))
    as_of_the_first(path)
    before = migrations()[: next(at for at, one in enumerate(migrations()) if one.name == "session_digests")]
    with monkeypatch.context() as patched:
        patched.setattr("memhold.storage.sqlite.connection.migrations", lambda: before)
        create_or_migrate(str(path), busy_timeout=1, now=0)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE message SET text = replace(text, 'garden', 'gardfn') WHERE seq = 3")
    [(item,)] = connection.execute("SELECT id FROM message WHERE seq = 3")
    connection.close()
    async with AsyncMemhold.open(str(path), **PLAIN) as mem:
        assert (await mem.scope(user="alice", session="s").recall("gardening", limit=50)).damaged == (item,)


@pytest.mark.proof
async def test_a_process_that_is_killed_while_it_migrates(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    """SIGKILL at the nth disk operation: the next process opens it as of the first schema or of the newest, whole."""
    old = tmp_path / "old.db"
    before = await filled(str(old))
    as_of_the_first(old)
    killed = 0
    for seed in runs(2, 200):
        path = tmp_path / f"{seed}.db"
        shutil.copy(old, path)
        code, out = await asyncio.to_thread(run_dying, CHILD, str(path), Random(seed).randrange(1, MIGRATED), seed)
        killed += code == -9 and "opened" not in out
        await check(path, before)
    assert killed > 0


@pytest.mark.proof
async def test_a_migration_that_is_stopped_is_not_begun(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    """Killed or cut at each of its operations: the store is of the first schema or of the newest, and whole."""
    old = tmp_path / "old.db"
    before = await filled(str(old))
    as_of_the_first(old)
    stopped = 0
    for seed in runs(12, 300):
        random = Random(seed)
        path = tmp_path / f"{seed}.db"
        shutil.copy(old, path)
        disk, at = FaultyDisk(volatile=bool(seed % 2)), random.randrange(90)

        def on(
            operation: Operation, count: int, disk: FaultyDisk = disk, at: int = at, random: Random = random
        ) -> None:
            del operation
            if count == at:
                disk.cut_power(random)
                raise apsw.IOError("the power is off")

        disk.on = on
        try:
            create_or_migrate(str(path), busy_timeout=1, now=0, vfs=disk.name)
        except (MemholdError, apsw.Error):
            stopped += 1
        disk.dead = True
        await check(path, before)
    assert stopped


async def test_a_database_of_the_first_schema_is_brought_up_to_date(database: str) -> None:
    before = await filled(database)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA old; SET search_path TO old")
        location = parsed(database)
        create_or_migrate_database(connection, location, partitions=0, now=0, known=steps()[:1])
        names = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
        connection.execute("DELETE FROM store; DELETE FROM migration; DELETE FROM clock")
        found = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'old'::regnamespace"
        )
        tables = sorted((name for (name,) in found), key=lambda name: (name not in PARENTS, name))
        bound = "SELECT relname FROM pg_class WHERE relforcerowsecurity AND relnamespace = 'old'::regnamespace"
        forced = [name for (name,) in connection.execute(bound)]
        for table in tables:
            connection.execute(f"ALTER TABLE old.{table} NO FORCE ROW LEVEL SECURITY")
            connection.execute(f"ALTER TABLE public.{table} NO FORCE ROW LEVEL SECURITY")
            kept = [one for (one,) in connection.execute(names, (f"old.{table}",)).fetchall()]
            there = {one for (one,) in connection.execute(names, (f"public.{table}",)).fetchall()}
            common = ", ".join(f'"{one}"' for one in kept if one in there)
            connection.execute(f"INSERT INTO old.{table} ({common}) SELECT {common} FROM public.{table}")  # noqa: S608
        for table in forced:
            connection.execute(f"ALTER TABLE old.{table} FORCE ROW LEVEL SECURITY")
        connection.execute("DELETE FROM migration WHERE number > 1")
        connection.execute("DROP SCHEMA public CASCADE; ALTER SCHEMA old RENAME TO public")
    async with AsyncMemhold.open(database, **PLAIN) as mem:
        assert await said(mem) == before
        assert not [finding for finding in await mem.admin.doctor() if finding.check in {"rows", "words", "due"}]
    with psycopg.connect(database) as connection:
        forced = connection.execute("SELECT relname FROM pg_class WHERE relrowsecurity AND NOT relforcerowsecurity")
        assert forced.fetchall() == []
