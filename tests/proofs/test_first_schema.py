"""A store of the first schema: it opens, its rows get their digests, and what stops it in the middle leaves it whole."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import psycopg
import pytest

from memhold import AsyncMemhold
from memhold.errors import MemholdError
from memhold.storage.sqlite.connection import create_or_migrate, migrations
from memhold.testing.disk import FaultyDisk, Operation

PLAIN = {"worker": False, "embedding": "none"}
# What later migrations add to tables of the first.
ADDED = {
    "message": ("crc",),
    "memory": ("crc",),
    "change": ("crc", "detail_crc"),
    "word_block": ("records_crc", "entries_crc"),
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
    """Take away what later schemas added."""
    connection = apsw.Connection(str(path))
    for table, columns in ADDED.items():
        for column in columns:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.execute("DROP TABLE model_link")
    connection.execute("DELETE FROM store WHERE name = 'digest'")
    connection.execute("DELETE FROM migration WHERE number > 1")
    connection.execute("PRAGMA user_version = 1")
    connection.close()


async def check(path: Path, before: list[str]) -> None:
    async with AsyncMemhold.open(str(path), **PLAIN) as mem:
        assert await said(mem) == before
        assert await mem.admin.doctor() == ()
    connection = apsw.Connection(str(path))
    for table, columns in ADDED.items():
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


@pytest.mark.proof
async def test_a_migration_that_is_stopped_is_not_begun(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    """Killed or cut at each of its operations: the store is of the first schema or of the newest, and whole."""
    old = tmp_path / "old.db"
    before = await filled(str(old))
    as_of_the_first(old)
    stopped = 0
    for seed in runs(24, 300):
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
    with psycopg.connect(database) as connection:
        for table, columns in ADDED.items():
            for column in columns:
                connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.execute("DROP TABLE model_link")
        connection.execute("DELETE FROM migration WHERE number > 1")
    async with AsyncMemhold.open(database, **PLAIN) as mem:
        assert await said(mem) == before
        assert not [finding for finding in await mem.admin.doctor() if finding.check in {"rows", "words", "due"}]
    with psycopg.connect(database) as connection:
        forced = connection.execute("SELECT relname FROM pg_class WHERE relrowsecurity AND NOT relforcerowsecurity")
        assert forced.fetchall() == []
