"""Locations and what stands there: opening a store, looking at it from outside, putting a backup in its place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memhold._version import __version__
from memhold.ports.stores import Clock, Ids, Store
from memhold.values.errors import InvalidInput
from memhold.wiring.postgres import examine_postgres, is_postgres, no_residue, open_postgres
from memhold.wiring.settings import Settings, load_settings
from memhold.wiring.system import SystemClock, TimeOrderedIds

if TYPE_CHECKING:
    from memhold.ports.maintenance import Finding, Lost, Maintenance, Restoration
    from memhold.values.answers import Residue

__all__ = ["data_files", "examine_file", "no_files", "open_kept", "open_store", "restore", "sqlite_path"]

SQLITE = "sqlite:///"


def sqlite_path(location: str) -> str:
    """The file that a location names: a path, or `sqlite:///path`. Links are followed: one file, one name.

    Raises:
        InvalidInput: the location is empty or of a scheme that is not known.
    """
    path = location.removeprefix(SQLITE)
    if not path or "://" in path or "\0" in path:
        # Not repeated where it may hold a password.
        named = f"{path.partition('://')[0]!r:.40}:" if "://" in path else f"{location!r:.80}"
        known = "a file path, sqlite:///path, postgresql://host/database or memory://"
        raise InvalidInput(f"cannot open {named}; pass {known}")
    return str(Path(path).expanduser().resolve())


def data_files(path: str) -> list[Path]:
    """Every file that a SQLite store keeps content in: the file and what stands beside it under its name.

    Not the shared memory of the log: it holds frame numbers, and reading it would let go of SQLite's locks.
    """
    target = Path(path)
    found = (entry for entry in target.parent.iterdir() if entry.name.startswith(target.name) and entry.is_file())
    return sorted(entry for entry in found if entry.name != f"{target.name}-shm")


async def open_store(location: str, settings: Settings, clock: Clock, ids: Ids) -> Store:
    """The bare store at a location; close it."""
    store, _, _ = await open_kept(location, settings, clock, ids)
    return store


async def open_kept(
    location: str, settings: Settings, clock: Clock, ids: Ids
) -> tuple[Store, Callable[[str], Residue], Maintenance | None]:
    """The store at a location, what looks for bytes in its files, and what looks after it.

    Raises:
        InvalidInput: the location is empty or of a scheme that is not known.
    """
    if location == "memory://":
        from memhold.storage.inmemory.store import InMemoryStore

        return InMemoryStore(clock, ids), no_files, None
    if is_postgres(location):
        store, maintenance = await open_postgres(location, settings, clock)
        return store, no_residue, maintenance
    return _sqlite_store(location, settings, clock)


def _sqlite_store(
    location: str, settings: Settings, clock: Clock
) -> tuple[Store, Callable[[str], Residue], Maintenance | None]:
    from memhold.storage.sqlite.maintenance import SqliteMaintenance
    from memhold.storage.sqlite.store import SqliteStore

    path = sqlite_path(location)
    store = SqliteStore(
        path,
        clock=clock,
        busy_timeout=settings.busy_timeout,
        read_timeout=settings.read_timeout,
        close_timeout=settings.close_timeout,
        key=settings.key,
    )
    schema = store.facts.schema
    maintenance = SqliteMaintenance(
        path,
        clock=clock,
        schema=schema,
        release=__version__,
        busy_timeout=settings.busy_timeout,
        key=settings.key,
    )
    return store, partial(_residue, path), maintenance


def _residue(path: str, text: str) -> Residue:
    """Where a text's bytes still are in the files of a SQLite store."""
    from memhold.storage.residue import scan
    from memhold.storage.sqlite.raw import chunks

    return scan(data_files(path), text, chunks=chunks)


def examine_file(location: str) -> tuple[Finding, ...]:
    """What is wrong with a store's file, without opening it as a store: it may be damaged, or not be there."""
    if is_postgres(location):
        return examine_postgres(location)
    from memhold.storage.sqlite.doctor import examine

    settings = load_settings({})
    now = SystemClock().now()
    return examine(sqlite_path(location), now=now, busy_timeout=settings.busy_timeout, key=settings.key)


def restore(backup: str | Path, target: str, *, force: bool = False, key: str | None = None) -> Restoration:
    """Put a backup in the place of a store; see `Memhold.restore`."""
    if is_postgres(target):
        raise InvalidInput(
            "a store on PostgreSQL is restored with PostgreSQL's tools (pg_restore, or a base backup and its log);"
            " to move a file's content there, run 'memhold migrate'"
        )
    secret = load_settings({}).key if key is None else key
    from memhold.history.reforget import forget_again
    from memhold.storage.sqlite.ledger import ledger_path
    from memhold.storage.sqlite.restore import restore_backup
    from memhold.storage.sqlite.store import SqliteStore

    async def forgotten(copy: str, lost: tuple[Lost, ...]) -> int:
        store = SqliteStore(copy, clock=SystemClock(), key=secret)
        try:
            done = 0
            for each in lost:
                work = partial(forget_again, tombstones=each.tombstones, ids=TimeOrderedIds())
                done += await store.write(each.scope, work)
            await store.upkeep.scrub()
            return done
        finally:
            await store.close()
            ledger_path(copy).unlink(missing_ok=True)

    return restore_backup(
        Path(backup).expanduser().absolute(),
        sqlite_path(target),
        force=force,
        forget_again=lambda copy, lost: asyncio.run(forgotten(copy, lost)),
        key=secret,
    )


def no_files(text: str) -> Residue:
    """Refuse to look for bytes where there are no files."""
    raise InvalidInput(
        f"this store keeps no files of its own to look for {len(text)} characters in; open a file for that"
    )
