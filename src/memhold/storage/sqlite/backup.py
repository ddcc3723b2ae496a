"""A backup: a copy of the store at one moment, with a manifest that was compared with the copy before it counts.

It is a folder with `memory.db` and `manifest.json`. It is made under a temporary name beside its place and renamed when
all of it was written, read back and found equal, so a folder of that name is a whole backup or is not there.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from itertools import chain
from pathlib import Path

import apsw

from memhold.ports.durable_files import make_folder, sync_folder
from memhold.ports.maintenance import Manifest
from memhold.ports.unfinished import noted
from memhold.storage.sqlite.connection import (
    APPLICATION_ID,
    connect,
    is_named,
    migrations,
    no_room,
    translated,
    unlocked,
)
from memhold.storage.sqlite.ledger import KEEPING, identity
from memhold.storage.sqlite.rot import (
    altered_migrations,
    altered_schema,
    damaged_index,
    damaged_rows,
    orphans,
    unreadable_table,
)
from memhold.values.errors import (
    BackupDamaged,
    InvalidInput,
    MemholdError,
    NotAStore,
    StoreCorrupt,
    StoreFull,
    StoreReadOnly,
)
from memhold.values.jsonable import from_jsonable, iso

__all__ = [
    "COPY",
    "MANIFEST",
    "count_rows",
    "hash_file",
    "read_manifest",
    "sound",
    "verify",
    "write_backup",
]

FORMAT = "memhold-backup"
VERSION = 1
COPY = "memory.db"
MANIFEST = "manifest.json"
_PAGES = 512
_SHOWN = 5
_CHUNK = 1024 * 1024

Report = Callable[[int, int], None]
"""Called with pages copied and pages in all."""


def write_backup(
    path: str,
    target: Path,
    *,
    now: datetime,
    release: tuple[str, int],
    busy_timeout: float,
    progress: Report | None,
    key: str = "",
) -> Manifest:
    """Copy the store into a new folder while others write, and return once the copy was verified.

    `release` is what makes it: Memhold's version, and that of the schema.

    Raises:
        InvalidInput: there is something at the target already, or SQLite can make nothing of its name.
        BackupDamaged: the copy does not agree with its manifest (a failing disk); it was removed.
        StoreCorrupt: the store itself is damaged: pages, or rows that do not agree with their digests.
        StoreFull, StoreReadOnly: the target's disk or folder; nothing is left there.
    """
    if target.exists():
        raise InvalidInput(f"{target} is there already; name a new folder for each backup")
    if not is_named(str(target)):
        raise InvalidInput(f"the name {str(target)!a} has bytes that are no UTF-8; name another folder")
    part = target.with_name(f".{target.name}.part-{secrets.token_hex(4)}")
    try:
        with noted(Path(path), part):
            try:
                make_folder(target.parent, mode=0o700)
                part.mkdir(mode=0o700)
                _copy(path, part / COPY, busy_timeout=busy_timeout, progress=progress, key=key)
                if wrong := _wrong_with(part / COPY, key):
                    raise StoreCorrupt(f"{path} is damaged: {wrong}; no backup was made of it, run 'memhold doctor'")
                manifest = _described(part / COPY, now=now, memhold=release[0], schema=release[1], key=key)
                _write(part / MANIFEST, _manifest_text(manifest))
                verify(part, key=key)
                sync_folder(part)
                part.rename(target)
                sync_folder(target.parent)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        kind = StoreFull if full else StoreReadOnly
        raise kind(f"the backup {target} cannot be written: {error.strerror}; nothing is left there") from error
    return manifest


def _copy(path: str, copy: Path, *, busy_timeout: float, progress: Report | None, key: str) -> None:
    os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with translated(path):
        source = connect(path, busy_timeout=busy_timeout, key=key)
        goal = unlocked(apsw.Connection(str(copy)), key)
        try:
            # An open read holds the moment: without it each commit of another process starts the copy anew.
            source.execute("BEGIN")
            source.execute(KEEPING["store_facts"]).fetchall()
            with goal.backup("main", source, "main") as backup:
                while not backup.done:
                    backup.step(_PAGES)
                    if progress is not None:
                        progress(backup.page_count - backup.remaining, backup.page_count)
            source.execute("ROLLBACK")
            # It belongs to another place, and is one file, without a log beside it.
            goal.execute("DELETE FROM store WHERE name = 'place'")
            goal.pragma("journal_mode", "delete")
        except (apsw.FullError, apsw.IOError) as error:
            # The store is only read: what is full is the disk that the copy goes to.
            if isinstance(error, apsw.FullError) or no_room(goal):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
            raise
        finally:
            source.close()
            goal.close()
    with copy.open("rb") as file:
        os.fsync(file.fileno())


def _wrong_with(copy: Path, key: str) -> str | None:
    """The first thing that `doctor` would call wrong about the copy; None when nothing is."""
    with translated(str(copy)):
        connection = _opened(copy, key)
        try:
            # Rows of another schema cannot be read.
            schema = next((what for what, _ in altered_schema(connection)), None)
            rest = chain(altered_migrations(connection), orphans(connection))
            return schema or sound(connection) or next((what for what, _ in rest), None)
        finally:
            connection.close()


def _described(copy: Path, *, now: datetime, memhold: str, schema: int, key: str) -> Manifest:
    with translated(str(copy)):
        connection = _opened(copy, key)
        try:
            store = identity(connection).id
            counts = count_rows(connection)
        finally:
            connection.close()
    return Manifest(
        format=FORMAT,
        version=VERSION,
        memhold=memhold,
        store=store,
        schema=schema,
        created_at=now,
        file=COPY,
        bytes=copy.stat().st_size,
        sha256=hash_file(copy),
        counts=counts,
    )


def _manifest_text(manifest: Manifest) -> str:
    record = {**asdict(manifest), "created_at": iso(manifest.created_at), "counts": dict(manifest.counts)}
    return json.dumps(record, indent=2) + "\n"


def _write(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a backup.

    Raises:
        BackupDamaged: it is not there or cannot be read, or a newer Memhold wrote it.
    """
    try:
        manifest = from_jsonable(Manifest, json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, MemholdError) as error:
        raise _damaged(folder, f"its {MANIFEST} cannot be read ({error})") from None
    if manifest.format != FORMAT or manifest.version != VERSION or manifest.file != COPY:
        raise _damaged(folder, f"its {MANIFEST} is not that of a Memhold backup that this version can read")
    return manifest


def verify(folder: Path, *, key: str = "") -> Manifest:
    """Read a whole backup back and compare it with its manifest: size, checksum, integrity, schema, counts.

    Raises:
        BackupDamaged: it does not agree, or is no backup; the message says in what.
    """
    manifest = read_manifest(folder)
    copy = folder / COPY
    try:
        size = copy.stat().st_size
        if size != manifest.bytes:
            raise _damaged(folder, f"{COPY} has {size} bytes, the manifest says {manifest.bytes}")
        if hash_file(copy) != manifest.sha256:
            raise _damaged(folder, f"the checksum of {COPY} is not the manifest's")
    except OSError as error:
        raise _damaged(folder, f"{COPY} cannot be read ({error.strerror})") from error
    _agrees(folder, copy, manifest, key)
    return manifest


def _agrees(folder: Path, copy: Path, manifest: Manifest, key: str) -> None:
    try:
        connection = _opened(copy, key)
    except apsw.Error as error:
        raise _damaged(folder, f"{COPY} cannot be opened ({type(error).__name__})") from error
    try:
        if wrong := sound(connection):
            raise _damaged(folder, f"{COPY} is damaged: {wrong}")
        if connection.pragma("user_version") != manifest.schema:
            raise _damaged(folder, f"{COPY} has schema {connection.pragma('user_version')}, not {manifest.schema}")
        counts = count_rows(connection)
        if counts != dict(manifest.counts):
            other = sorted(name for name in counts if counts[name] != manifest.counts.get(name))
            raise _damaged(folder, f"the counts of {', '.join(other)} are not the manifest's")
        if identity(connection).id != manifest.store:
            raise _damaged(folder, "it is a copy of another store than the manifest names")
    except apsw.Error as error:
        if isinstance(error, apsw.NotADBError):  # its bytes are the manifest's
            why = "cannot be read with this key" if key else "is encrypted"
            said = f"{folder / COPY} {why}; nothing was restored from it, pass the key of the store that it is of"
            raise NotAStore(said, path=str(folder)) from error
        raise _damaged(folder, f"{COPY} cannot be read ({type(error).__name__})") from error
    finally:
        connection.close()
    if manifest.schema > migrations()[-1].number:
        raise _damaged(folder, "a newer Memhold wrote it; upgrade memhold")


def _opened(copy: Path, key: str) -> apsw.Connection:
    """The copy, read-only and taken as it is: reading leaves nothing beside it."""
    uri = f"{copy.absolute().as_uri()}?immutable=1"
    return unlocked(apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI), key)


def sound(connection: apsw.Connection) -> str | None:
    """What SQLite finds wrong with a file (pages, indexes, foreign keys, whose it is); None when nothing is."""
    if connection.pragma("application_id") != APPLICATION_ID:
        return "it is not a Memhold file"
    (first,) = connection.execute("PRAGMA integrity_check(1)").fetchone() or ("no answer",)
    if first != "ok":
        return str(first)
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        return f"a row of {broken[0]} names a row of {broken[2]} that is not there"
    if (what := damaged_index(connection)) is not None:
        return f"of its {what}; 'memhold reindex' builds that anew"
    if (table := unreadable_table(connection)) is not None:
        return f"a text in its table {table} is none"
    damaged = [one for ids in damaged_rows(connection).values() for one in ids]
    return f"{len(damaged)} of its rows are ({', '.join(damaged[:_SHOWN])})" if damaged else None


def count_rows(connection: apsw.Connection) -> Mapping[str, int]:
    """Rows by table, whatever tables the schema has."""
    tables = [str(row[0]) for row in connection.execute(KEEPING["all_tables"])]
    return {table: int(connection.execute(f'SELECT count(*) FROM "{table}"').get) for table in tables}  # noqa: S608 - a name from the schema


def hash_file(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _damaged(folder: Path, why: str) -> BackupDamaged:
    return BackupDamaged(
        f"the backup {folder}: {why}; nothing was restored from it, use another backup", path=str(folder)
    )
