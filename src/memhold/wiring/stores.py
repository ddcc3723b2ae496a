"""Locations and what stands there: opening a store, looking at it from outside, putting a backup in its place."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memhold._version import __version__
from memhold.ports.data_home import data_home
from memhold.ports.store_factory import STORES, OpenedStore
from memhold.ports.stores import Clock, Ids, Store
from memhold.ports.unfinished import unfinished_files
from memhold.values.errors import InvalidInput, InvalidSetting
from memhold.verbs.runtime import abandoned
from memhold.wiring.postgres import examine_postgres, is_postgres, open_postgres, residue_of
from memhold.wiring.settings import Settings, load_settings
from memhold.wiring.system import SystemClock, TimeOrderedIds

if TYPE_CHECKING:
    from memhold.ports.maintenance import Finding, Lost, Restoration
    from memhold.storage.sqlite.store import SqliteStore
    from memhold.values.answers import Residue

__all__ = [
    "data_files",
    "examine_file",
    "no_files",
    "open_kept",
    "open_memory_store",
    "open_postgres_store",
    "open_sqlite_store",
    "open_store",
    "restore",
    "scheme_of",
    "sqlite_path",
    "store_at",
]

log = logging.getLogger("memhold")
SQLITE = "sqlite:///"


def sqlite_path(location: str) -> str:
    """The file that a location names: a path, or `sqlite:///path`. Links are followed: one file, one name.

    Raises:
        InvalidInput: the location is empty, of a scheme that is not known, in the home folder of nobody, or SQLite's
            name for no file.
    """
    path = location.removeprefix(SQLITE)
    if (name := Path(path).name) == ":memory:":  # a file of that name would keep what its user meant to be gone
        raise _cannot_open(name, "pass memory:// for a store that keeps nothing on the disk")
    if not path or "://" in path or "\0" in path:
        raise _cannot_open(location, "pass a file path or sqlite:///path")
    try:
        return str(Path(path).expanduser().resolve())
    except RuntimeError as error:  # a `~` of nobody's, or links that go round
        raise _cannot_open(location, f"that names no file ({error}); pass its whole path") from None


def scheme_of(location: str) -> str:
    """What stands before `://` in a location, in lower case; `sqlite` for a plain path."""
    scheme, mark, _ = location.partition("://")
    return scheme.lower() if mark else "sqlite"


def _cannot_open(location: str, instead: str) -> InvalidInput:
    """The error for a location that names nothing; of one with a scheme no more is told, as it may hold a password."""
    named = f"{location.partition('://')[0]!r:.40}:" if "://" in location else f"{location!r:.80}"
    return InvalidInput(f"cannot open {named}; {instead}")


def data_files(path: str) -> list[Path]:
    """Every file that a SQLite store keeps content in: the file and what stands beside it under its name.

    Not the shared memory of the log: it holds frame numbers, and reading it would let go of SQLite's locks.
    """
    target = Path(path)
    found = (entry for entry in target.parent.iterdir() if entry.name.startswith(target.name) and entry.is_file())
    beside = {entry for entry in found if entry.name != f"{target.name}-shm"}
    return sorted(beside | set(unfinished_files(target)))


async def open_store(location: str, settings: Settings, clock: Clock, ids: Ids) -> Store:
    """The bare store at a location; close it."""
    return (await open_kept(location, settings, clock, ids)).store


async def store_at(location: str, clock: Clock, ids: Ids) -> Store:
    """The bare store at a location, found by its scheme as `Memhold.open` finds it, with default settings; close it.

    Raises:
        InvalidInput: no store is known for the scheme.
    """
    return await open_store(location, Settings(), clock, ids)


async def open_kept(location: str, settings: Settings, clock: Clock, ids: Ids) -> OpenedStore:
    """The store at a location, with what looks after it; close it.

    Raises:
        InvalidInput: the location is empty, or no store is registered for its scheme.
    """
    await abandoned()
    own = _OWN.get(scheme_of(location))
    if settings.read_only and own is not open_sqlite_store:
        raise InvalidSetting("read_only is for a store in a file; open this one without it", name="read_only")
    if own is not None:
        return await own(location, settings=settings, clock=clock, ids=ids)
    from memhold.wiring.foreign_stores import foreign_factory

    factory = foreign_factory(scheme_of(location), _OWN)
    opened = await factory(location, settings=settings, clock=clock, ids=ids)
    if not isinstance(opened, OpenedStore):
        raise InvalidInput(
            f"what is registered as {scheme_of(location)!r} under {STORES!r} gave a {type(opened).__name__};"
            " make it return an OpenedStore"
        )
    return opened


async def open_memory_store(location: str, *, settings: Settings, clock: Clock, ids: Ids) -> OpenedStore:
    """A new store in memory, which is gone when it is closed. It has no settings."""
    if location != "memory://":
        raise _cannot_open(location, "a store in memory has no name: pass memory://")
    del settings
    from memhold.storage.inmemory.store import InMemoryStore

    return OpenedStore(store=InMemoryStore(clock, ids))


async def open_postgres_store(location: str, *, settings: Settings, clock: Clock, ids: Ids) -> OpenedStore:
    """The store in a PostgreSQL database; its own secret takes the place of `ids`."""
    del ids
    store, maintenance = await open_postgres(location, settings, clock)
    return OpenedStore(
        store=store, residue=partial(_residue_of_rows, location, settings.mirror), maintenance=maintenance
    )


async def open_sqlite_store(location: str, *, settings: Settings, clock: Clock, ids: Ids) -> OpenedStore:
    """The store in a file; its own secret takes the place of `ids`."""
    del ids
    from memhold.storage.sqlite.maintenance import SqliteMaintenance
    from memhold.storage.sqlite.store import SqliteStore

    path = sqlite_path(location)
    if not settings.read_only:
        _say_new_folder(Path(path).parent)
    make = partial(
        SqliteStore,
        path,
        clock=clock,
        busy_timeout=settings.busy_timeout,
        read_timeout=settings.read_timeout,
        key=settings.key,
        read_only=settings.read_only,
    )
    # Another process may hold the file for seconds: whoever shares this loop is answered meanwhile.
    opening = asyncio.ensure_future(asyncio.to_thread(make))
    try:
        store = await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_closed)
        raise
    maintenance = SqliteMaintenance(
        path,
        clock=clock,
        schema=store.facts.schema,
        release=__version__,
        busy_timeout=settings.busy_timeout,
        key=settings.key,
    )
    return OpenedStore(store=store, residue=partial(_residue, path, settings.mirror), maintenance=maintenance)


def _say_new_folder(folder: Path) -> None:
    """Say that a folder is made, for its name may be mistyped. That of the default store is made without a word."""
    if not folder.exists() and not folder.is_relative_to(data_home().resolve()):
        log.warning("the folder %s did not exist and is made for the new store", folder)


def _closed(opening: asyncio.Future[SqliteStore]) -> None:
    """Close a store that nobody waits for any more."""
    if not opening.cancelled() and opening.exception() is None:
        opening.get_loop().create_task(opening.result().close())


# Registered as entry points too; looked up here, so that opening a file reads no metadata of installed packages.
_OWN = {
    "memory": open_memory_store,
    "postgres": open_postgres_store,
    "postgresql": open_postgres_store,
    "sqlite": open_sqlite_store,
}


def _residue(path: str, mirror: str, text: str) -> Residue:
    """Where a text's bytes still are in the files of a SQLite store and in those of its mirror."""
    return _scanned({file: file.name for file in data_files(path)}, mirror, text)


def _scanned(files: Mapping[Path, str], mirror: str, text: str) -> Residue:
    from memhold.storage.residue import scan
    from memhold.storage.sqlite.raw import chunks
    from memhold.transfer.mirror import mirror_files

    return scan({**files, **(mirror_files(Path(mirror).expanduser()) if mirror else {})}, text, chunks=chunks)


def _residue_of_rows(location: str, mirror: str, text: str) -> Residue:
    """Where a text still is in the rows of a store on PostgreSQL and in the files of its mirror."""
    from memhold.values.answers import Residue

    rows, files = residue_of(location, text), _scanned({}, mirror, text)
    found = {**rows.found, **files.found}
    return Residue(found=found, files=rows.files + files.files, bytes=rows.bytes + files.bytes)


def examine_file(location: str) -> tuple[Finding, ...]:
    """What is wrong with a store's file or database, without opening it as a store: it may be damaged, or not there."""
    if is_postgres(location):
        return examine_postgres(location)
    if scheme_of(location) != "sqlite":
        # A store of another package is looked at once it is open.
        return ()
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
