"""What is wrong with a store's files and rows, as far as SQL can tell; nothing is changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import apsw

from memhold.ports.file_modes import open_to_others
from memhold.ports.maintenance import CLOCK_ADVICE, Finding, rotten
from memhold.ports.unfinished import left_behind
from memhold.storage.sql.digests import ADVICE
from memhold.storage.sqlite.connection import APPLICATION_ID, connect, migrations
from memhold.storage.sqlite.ledger import KEEPING, identity, ledger_path, read_ledger, readable, scope_mark
from memhold.storage.sqlite.rot import RESTORE, altered_migrations, altered_schema, damaged_rows, of_index, orphans
from memhold.values.records import ROTTEN, from_micros, micros

__all__ = ["examine", "examine_trees"]

LARGE_LOG = 64 * 1024 * 1024
"""A write-ahead log this large means that a reader has kept it from being folded in."""
CLOCK_SLACK = timedelta(minutes=5)
REPAIR = "run 'memhold doctor --repair rows': it builds the file's indexes anew and erases rows that cannot be read"
_SHOWN = 5
_PROGRESS_STEPS = 50_000
_NOT_NOW = (apsw.BusyError, apsw.LockedError, apsw.FullError, apsw.NoMemError, apsw.InterruptError)
"""What says nothing of what is in the file."""


def examine(path: str, *, now: datetime, busy_timeout: float, key: str = "") -> tuple[Finding, ...]:
    """Everything that can be found without knowing what texts mean: files, pages, keys, orphans, ledger, clock.

    A file that cannot be opened is a finding, never an error.
    """
    found = [*_files(path)]
    try:
        connection = connect(path, busy_timeout=busy_timeout, key=key)
    except apsw.Error as error:
        return (*found, _unopened(error, path))
    try:
        if connection.pragma("application_id") != APPLICATION_ID:
            return (*found, _wrong("open", "it is not a Memhold file", "name the file of a store", path))
        pages = list(_pages(connection, path))
        found += pages
        if not pages:
            for check in (_schema, _rows, _rotten, _orphans, _clock):
                found += check(connection, path, now)
            found += _ledger(connection, path)
    except _NOT_NOW as error:
        found.append(_unopened(error, path))
    except (apsw.Error, UnicodeDecodeError) as error:
        found.append(_wrong("integrity", f"reading stopped with {type(error).__name__}", RESTORE, path))
    finally:
        connection.close()
    return tuple(found)


def examine_trees(
    path: str, *, busy_timeout: float, key: str = "", stopped: Callable[[], bool] = lambda: False
) -> tuple[Finding, ...]:
    """What of it no reader of rows can see: pages, indexes, keys, the schema, orphans. Ends soon once it is `stopped`.

    Raises:
        apsw.Error: it cannot be opened or read now, which says nothing of what is in it; or it was `stopped`.
    """
    try:
        with closing(connect(path, busy_timeout=busy_timeout, key=key)) as connection:
            connection.set_progress_handler(stopped, _PROGRESS_STEPS)
            pages = tuple(_pages(connection, path))
            return pages or (*_altered(connection, path), *_orphaned(connection, path))
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as error:
        return (_wrong("integrity", f"reading stopped with {type(error).__name__}", RESTORE, path),)


def _unopened(error: apsw.Error, path: str) -> Finding:
    if isinstance(error, apsw.ReadOnlyError | apsw.CantOpenError | apsw.PermissionsError):
        # What is in it may be whole; a backup in its place would lose what came after it.
        return _wrong("open", "it or its folder cannot be read and written", "check owner and modes", path)
    if isinstance(error, _NOT_NOW):
        what = f"it cannot be read now ({type(error).__name__})"
        return _wrong("open", what, "look again once whoever holds it is done, and there is room", path)
    if isinstance(error, apsw.NotADBError):
        what = "it is no SQLite file: something else, an encrypted store, or one whose first bytes are damaged"
        return _wrong("open", what, f"name the file of a store, pass its key, or else {RESTORE}", path)
    return _wrong("open", f"SQLite cannot open it ({type(error).__name__})", RESTORE, path)


def _wrong(check: str, what: str, advice: str, where: str = "") -> Finding:
    return Finding(check=check, severity="wrong", what=what, advice=advice, where=where)


def _note(check: str, what: str, advice: str, where: str = "") -> Finding:
    return Finding(check=check, severity="note", what=what, advice=advice, where=where)


def _files(path: str) -> Iterator[Finding]:
    target = Path(path)
    for file in (target, *(Path(path + end) for end in ("-wal", "-shm")), ledger_path(path)):
        if not file.exists():
            continue
        mode = open_to_others(file)
        if mode is not None:
            yield _wrong("modes", f"others can reach it (mode {mode:04o})", f"chmod 600 {file}", str(file))
    if target.parent.exists() and open_to_others(target.parent, 0o022) is not None:
        yield _wrong("modes", "others can write to its folder", f"chmod go-w {target.parent}", str(target.parent))
    for rest in sorted(
        {*target.parent.glob(f"{target.name}.restore-*"), *target.parent.glob(f"{target.name}.before-*")}
    ):
        yield _wrong("files", "an interrupted restore left it, with content", f"look at it, then rm {rest}", str(rest))
    for rest in left_behind(target):
        what = "an interrupted backup, export, upload or restore left it, with content"
        yield _wrong("files", what, "run 'memhold settle', or open the store: both remove it", str(rest))
    log = Path(path + "-wal")
    if log.exists() and log.stat().st_size > LARGE_LOG:
        size = log.stat().st_size // (1024 * 1024)
        yield _note("log", f"the write-ahead log has {size} MiB", "close readers that stay open for long", str(log))
    if not target.exists():
        return
    free, needed = shutil.disk_usage(target.parent).free, target.stat().st_size
    if free < max(needed // 10, 64 * 1024 * 1024):
        what = f"{free // (1024 * 1024)} MiB are left on its disk"
        yield _wrong("disk", what, "make room: writing stops when there is none", str(target.parent))
    elif free < needed:
        yield _note("disk", "its disk has less room than a copy of it needs", "keep backups elsewhere", str(target))


def _pages(connection: apsw.Connection, path: str) -> Iterator[Finding]:
    found = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_SHOWN})")]
    for line in found:
        if line != "ok":
            yield _wrong("integrity", line, REPAIR if of_index(line) else RESTORE, path)
    broken: dict[str, int] = {}
    for row in connection.execute("PRAGMA foreign_key_check"):
        broken[f"{row[0]} to {row[2]}"] = broken.get(f"{row[0]} to {row[2]}", 0) + 1
    for where, count in broken.items():
        yield _wrong("keys", f"{count} rows name a row that is not there ({where})", RESTORE, path)


def _altered(connection: apsw.Connection, path: str) -> Iterator[Finding]:
    for what, advice in altered_schema(connection):
        yield _wrong("integrity", what, advice, path)


def _schema(connection: apsw.Connection, path: str, _: datetime) -> Iterator[Finding]:
    yield from _altered(connection, path)
    for what, advice in altered_migrations(connection):
        yield _wrong("versions", what, advice, path)
    found, newest = connection.pragma("user_version"), migrations()[-1].number
    if found != newest:
        yield _note("versions", f"schema {found}; this release has {newest}", "it is migrated when it is opened", path)


def _rows(connection: apsw.Connection, path: str, _: datetime) -> Iterator[Finding]:
    for table, ids in damaged_rows(connection).items():
        if ids:
            yield _wrong("rows", f"{len(ids)} damaged in the table {table}: {', '.join(ids)}", ADVICE[table], path)


def _rotten(connection: apsw.Connection, path: str, _: datetime) -> Iterator[Finding]:
    ids = [str(row[0]) for row in connection.execute(KEEPING["rotten_changes"], {"verb": ROTTEN})]
    if ids:
        yield rotten(ids, path)


def _orphaned(connection: apsw.Connection, path: str) -> Iterator[Finding]:
    for what, advice in orphans(connection):
        yield _wrong("orphans", what, advice, path)


def _orphans(connection: apsw.Connection, path: str, _: datetime) -> Iterator[Finding]:
    yield from _orphaned(connection, path)
    left = [str(row[0]) for row in connection.execute(KEEPING["lost_successors"])]
    if left:
        what = f"{len(left)} replaced memories name a successor that is not here"
        yield _note("orphans", what, "nothing, where they came from an export; it had been forgotten there", path)


def _clock(connection: apsw.Connection, path: str, now: datetime) -> Iterator[Finding]:
    last = from_micros(identity(connection).clock)
    if last > now + CLOCK_SLACK:
        what = f"the newest write is of {last:%Y-%m-%d %H:%M} UTC, this machine's clock says {now:%Y-%m-%d %H:%M}"
        yield _wrong("clock", what, CLOCK_ADVICE, path)
        return
    ahead = connection.execute(KEEPING["rows_ahead"], {"until": micros(now + CLOCK_SLACK)}).get
    if ahead:
        yield _wrong("clock", f"{ahead} rows are dated after what this machine's clock says", CLOCK_ADVICE, path)


def _ledger(connection: apsw.Connection, path: str) -> Iterator[Finding]:
    store = identity(connection)
    there = {(entry.scope, entry.tombstone.id) for entry in read_ledger(path, store.id)}
    rows: list[Any] = connection.execute(KEEPING["all_tombstones"], {"since": 0}).fetchall()
    missing = sum((scope_mark(store.secret, row[0], row[1]), row[2]) not in there for row in rows if readable(row))
    if missing:
        what = f"{missing} forgotten items are not in the ledger, so an old backup would bring them back"
        yield _wrong("ledger", what, "run 'memhold settle'; opening the store mends it too", str(ledger_path(path)))
