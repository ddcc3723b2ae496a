"""Opening a file: is it ours, is it ours to open, and with which settings."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import apsw

from memhold.ports.descriptors import refuse_crowd
from memhold.ports.durable_files import make_folder, sync_folder
from memhold.storage.sql.digests import (
    BLOCKS,
    FILLED,
    KEYS,
    columns_of,
    digests_of,
    facts_digest,
    select_content,
    update_digests,
)
from memhold.storage.sqlite.log_files import file_at
from memhold.storage.sqlite.raw import head
from memhold.values.errors import (
    InvalidSetting,
    MemholdError,
    NewerStore,
    NotAStore,
    ReadTimeout,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
)

__all__ = [
    "APPLICATION_ID",
    "Migration",
    "can_encrypt",
    "check_key",
    "check_readable",
    "connect",
    "connect_to_read",
    "create_or_migrate",
    "is_named",
    "migrations",
    "no_room",
    "roll_back",
    "translated",
    "unlocked",
]

APPLICATION_ID = 0x4D454D48
"""`HOLD` in the file header: how a file of ours is recognised without opening it."""

_HEADER = struct.Struct(">60xI4xI28x")
_MAGIC = b"SQLite format 3\0"
READ_ONLY = "read_only=True (MEMHOLD_READ_ONLY=1)"
_JOURNAL = bytes.fromhex("d9d505f920a163d7")
_LOG_HEADER = 32
_LOGS = (bytes.fromhex("377f0682"), bytes.fromhex("377f0683"))
_MIGRATION_NAME = re.compile(r"^(\d{4})_(\w+)\.sql$")

# FULL: NORMAL lost 50 of 50 acknowledged commits at a power cut. secure_delete: forgotten bytes are overwritten.
_PRAGMAS = """
PRAGMA synchronous = FULL;
PRAGMA fullfsync = ON;
PRAGMA checkpoint_fullfsync = ON;
PRAGMA foreign_keys = ON;
PRAGMA secure_delete = ON;
PRAGMA temp_store = MEMORY;
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
PRAGMA cache_size = -32768;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One forward step of the schema."""

    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """What the ledger keeps of it."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def migrations() -> tuple[Migration, ...]:
    """The migrations that this release knows, in order."""
    found = []
    for entry in (Path(__file__).parent / "migrations").iterdir():
        match = _MIGRATION_NAME.match(entry.name)
        if match:
            found.append(Migration(number=int(match[1]), name=match[2], sql=entry.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.number))


class translated:  # noqa: N801 - used as a statement, like `suppress`
    """Turn SQLite's errors into ours, with what to do, for what is done inside; `connection` knows its errno."""

    __slots__ = ("_connection", "_path")

    def __init__(self, path: str, connection: apsw.Connection | None = None) -> None:
        self._path = path
        self._connection = connection

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, apsw.Error):
            full = isinstance(error, apsw.IOError) and self._connection is not None and no_room(self._connection)
            if isinstance(error, apsw.CantOpenError | apsw.IOError):
                refuse_crowd(self._path)
            raise _ours(apsw.FullError() if full else error, self._path) from error
        if isinstance(error, UnicodeDecodeError):
            raise StoreCorrupt(f"{self._path} is damaged: a text of it is none; run 'memhold doctor'") from error


def no_room(connection: apsw.Connection) -> bool:
    """Whether an I/O error is for want of room: some file systems say so only when they sync."""
    return connection.system_errno in {errno.ENOSPC, errno.EDQUOT}


def _ours(error: apsw.Error, path: str) -> MemholdError:
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(f"{path} was held by another process for too long; try again")
        case apsw.FullError():
            return StoreFull(f"no room left on the disk of {path}; nothing of this call was stored, make room")
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.AuthError():
            return StoreReadOnly(
                f"{path} cannot be written; check its owner and mode (it should be 0600), or open it with {READ_ONLY}"
            )
        case apsw.CantOpenError():
            return StoreReadOnly(
                f"{path} cannot be opened; check that its folder exists and can be written, or open it with {READ_ONLY}"
            )
        case apsw.CorruptError() if getattr(error, "extendedresult", 0) == apsw.SQLITE_CORRUPT_INDEX:
            return StoreCorrupt(f"an index of {path} does not agree with its rows; run 'memhold doctor --repair rows'")
        case apsw.CorruptError() | apsw.NotADBError():
            return StoreCorrupt(f"{path} is damaged; run 'memhold doctor', then 'memhold restore'")
        case apsw.ConstraintError() | apsw.SQLError():
            # Our statements and values are right by construction: what they meet is not what was written.
            return StoreCorrupt(
                f"rows or the schema of {path} are not what was written ({error}); nothing of this call was stored, "
                "run 'memhold doctor'"
            )
        case apsw.InterruptError():
            return ReadTimeout(f"a read of {path} took too long and was stopped; narrow it or raise read_timeout")
        case apsw.IOError() if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHORT_READ:
            return StoreError(
                f"{path}-wal, or the file itself, was removed or cut short while a program had it open; nothing was"
                " stored, close every program that has it open, then open it again"
            )
        case _:
            code = getattr(error, "extendedresult", 0)
            return StoreError(
                f"{path}: SQLite failed with {type(error).__name__} ({code}); nothing was stored, try again"
            )


def can_encrypt() -> bool:
    """Whether the SQLite that is installed encrypts: `apsw-sqlite3mc` in the place of `apsw`."""
    return hasattr(apsw, "mc_version")


def check_key(key: str) -> None:
    """Refuse a key that cannot be used.

    Raises:
        InvalidSetting: the file is to be encrypted and the SQLite that is installed cannot, or the key holds NUL.
    """
    if "\0" in key:
        raise InvalidSetting("key holds NUL, behind which SQLite reads nothing; use another", name="key")
    if key and not can_encrypt():
        raise InvalidSetting(
            "key asks for encryption, which plain apsw cannot do; run: pip uninstall apsw; pip install apsw-sqlite3mc",
            name="key",
        )


def unlocked(connection: apsw.Connection, key: str) -> apsw.Connection:
    """The connection, with the key of its file where there is one."""
    check_key(key)
    if key:
        connection.pragma("key", key)
    return connection


def connect(
    path: str,
    *,
    busy_timeout: float,
    vfs: str | None = None,
    readonly: bool = False,
    key: str = "",
    uri: bool = False,
) -> apsw.Connection:
    """A connection with the settings that every one of ours has.

    Args:
        path: the file.
        busy_timeout: seconds to wait for a lock that another process holds.
        vfs: the name of a registered VFS; None for the system's.
        readonly: refuse writes.
        key: what the file is encrypted with; empty for a plain file.
        uri: `path` is a `file:` URI.
    """
    flags = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE
    flags |= apsw.SQLITE_OPEN_URI if uri else 0
    connection = unlocked(apsw.Connection(path, flags=flags, vfs=vfs, statementcachesize=256), key)
    connection.set_busy_timeout(int(busy_timeout * 1000))
    connection.execute(_PRAGMAS)
    return connection


def connect_to_read(path: str, *, busy_timeout: float, key: str = "") -> apsw.Connection:
    """A connection that changes nothing, not even where no lock can be taken (a mount that is only read).

    Raises:
        StoreReadOnly: the log holds writes that cannot be read without writing beside the file.
    """
    try:
        connection = connect(path, busy_timeout=busy_timeout, readonly=True, key=key)
        connection.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018 - the first look takes the lock
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        if _holds_writes(f"{path}-wal"):
            raise StoreReadOnly(
                f"{path}-wal holds writes that can only be read where something can be written; copy both files there"
            ) from error
        return connect(
            f"{Path(path).as_uri()}?immutable=1", busy_timeout=busy_timeout, readonly=True, key=key, uri=True
        )
    return connection


def check_readable(connection: apsw.Connection, path: str) -> int:
    """The schema number of a file that is only read.

    Raises:
        NotAStore, NewerStore: as `create_or_migrate`.
        StoreReadOnly: an older Memhold wrote it, and it is first to be brought up to date.
    """
    supported = migrations()[-1].number
    _check_ours(connection, path, supported)
    found = int(connection.pragma("user_version"))
    if found != supported:
        raise StoreReadOnly(
            f"{path} has schema {found} and this Memhold reads {supported}; open it once where it can be written"
        )
    return found


def roll_back(connection: apsw.Connection) -> None:
    """End a transaction without what it did. SQLite has ended it by itself where the disk failed or was full."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def create_or_migrate(path: str, *, busy_timeout: float, now: int, vfs: str | None = None, key: str = "") -> int:
    """Make the file ours and current; returns the schema number.

    A new file is made with mode 0600 before SQLite sees it, so that its WAL inherits that mode.

    Raises:
        NotAStore: a folder, or a file that is something else or encrypted with another key; it is left untouched.
        NewerStore: a newer Memhold wrote it; it is left untouched.
        StoreReadOnly: the file or its folder cannot be written.
        StoreError: a log stands there without its file, or the file was moved here without its log.
    """
    known = migrations()
    check_key(key)
    if vfs is None:
        _refuse_lone_log(path)
        _create_file(path)
        _check_header(path, supported=known[-1].number, encrypted=bool(key))
    with translated(path):
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, vfs=vfs)
    try:
        with translated(path, connection):
            unlocked(connection, key).set_busy_timeout(int(busy_timeout * 1000))
            try:
                schema = _migrate(connection, path, known, now)
            except apsw.NotADBError as error:
                raise _unreadable(path, encrypted=bool(key)) from error
            if vfs is None:
                _note_place(connection, path)
            if connection.pragma("journal_mode") != "wal" and connection.pragma("journal_mode", "wal") != "wal":
                raise StoreError(f"{path} cannot use a write-ahead log there; move it to a local disk")
    finally:
        connection.close()
    return schema


def _holds_writes(log: str) -> bool:
    """Whether a write-ahead log has more than a header."""
    return _begins(log, *_LOGS) and Path(log).stat().st_size > _LOG_HEADER


def _refuse_lone_log(path: str) -> None:
    """SQLite throws away a log that it finds beside a new file."""
    if _size(path) == 0 and _holds_writes(f"{path}-wal"):
        raise StoreError(
            f"{path}-wal holds writes of a file that is not there; move it along with its file, or remove it"
        )


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _note_place(connection: apsw.Connection, path: str) -> None:
    """Note where the file stands, and refuse one that was moved here without the log that holds its last writes.

    It is the same file where the inode is the same: a copy's log is not its own.
    """
    here = _place(path)
    held: bytes = connection.execute("SELECT CAST(value AS BLOB) FROM store WHERE name = 'place'").get or b""
    noted = held.decode("utf-8", "replace")
    if noted == here:
        return
    before, _, place = noted.partition(" ")
    if here.startswith(f"{before} ") and not Path(place).exists() and _holds_writes(f"{place}-wal"):
        raise StoreError(
            f"{path} was moved here without its last writes, which stand in {place}-wal;"
            f" move that to {path}-wal, or remove it to go on without them"
        )
    connection.execute("INSERT OR REPLACE INTO store VALUES ('place', ?)", (here,))


def _place(path: str) -> str:
    """Which file it is, and where it stands."""
    found = file_at(path)
    return f"{0 if found is None else found[1]} {path}"


def is_named(path: str) -> bool:
    """Whether SQLite can be told of a path: it takes UTF-8 alone."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _create_file(path: str) -> None:
    target = Path(path)
    if not is_named(path):
        raise NotAStore(f"the name {path!a} has bytes that are no UTF-8; name another file", path=path)
    if target.is_dir():
        raise NotAStore(f"{path} is a folder; name a file in it, for example {target / 'memory.db'}", path=path)
    if target.parent.exists() and not target.parent.is_dir():
        raise NotAStore(f"{target.parent} is not a folder; name a file in a folder", path=path)
    try:
        make_folder(target.parent, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        sync_folder(target.parent)
    except FileExistsError:
        if not stat.S_ISREG(target.stat().st_mode):
            raise NotAStore(f"{path} is not a regular file; name another one", path=path) from None
        if not os.access(path, os.R_OK | os.W_OK) or not os.access(target.parent, os.W_OK):
            raise StoreReadOnly(
                f"{path} or its folder cannot be written; check owner and modes, or open it with {READ_ONLY}"
            ) from None
    except NotADirectoryError as error:
        raise NotAStore(f"{target.parent} is not a folder; name a file in a folder", path=path) from error
    except OSError as error:
        refuse_crowd(path, error)
        raise StoreReadOnly(f"{path} cannot be created ({error.strerror}); check its folder") from error


def _check_header(path: str, *, supported: int, encrypted: bool) -> None:
    with translated(path):
        header = head(path, 100)
    if not header:
        # SQLite takes a file of one byte for an empty one, and would write over it.
        if _size(path) == 1:
            raise _unreadable(path, encrypted=False)
        return
    if encrypted:
        if header.startswith(_MAGIC):
            raise NotAStore(f"{path} is not encrypted; open it without a key", path=path)
        return
    if len(header) < 100 or not header.startswith(_MAGIC):
        if _recovers(path):
            return
        raise _unreadable(path, encrypted=False)
    user_version, application = _HEADER.unpack(header)
    if application not in {0, APPLICATION_ID}:
        raise NotAStore(f"{path} is another program's SQLite file; it was left untouched, name another one", path=path)
    if application == APPLICATION_ID:
        _check_version(path, user_version, supported)


def _unreadable(path: str, *, encrypted: bool) -> NotAStore:
    what = (
        "cannot be read with this key; it was left untouched, pass the one it was made with"
        if encrypted
        else "is not a Memhold file, or an encrypted one; it was left untouched, name another or pass key"
    )
    return NotAStore(f"{path} {what}", path=path)


def _recovers(path: str) -> bool:
    """Whether SQLite brings back the first page, which a power cut kept from the disk, out of what stands beside it."""
    with translated(path):
        return _begins(f"{path}-journal", _JOURNAL) or _begins(f"{path}-wal", *_LOGS)


def _begins(path: str, *magics: bytes) -> bool:
    return Path(path).is_file() and head(path, 8).startswith(magics)


def _check_version(path: str, found: int, supported: int) -> None:
    if found > supported:
        raise NewerStore(
            f"{path} was written by a newer Memhold (schema {found}, this one knows {supported}); upgrade memhold",
            found=found,
            supported=supported,
        )


def _migrate(connection: apsw.Connection, path: str, known: tuple[Migration, ...], now: int) -> int:
    # A foreign file with a WAL must not be changed by our closing it.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.execute("BEGIN")  # what is looked at is of one moment: another process may be making the file just now
    try:
        _check_ours(connection, path, known[-1].number)
    finally:
        roll_back(connection)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    if int(connection.pragma("user_version")) == known[-1].number:
        return known[-1].number
    connection.pragma("synchronous", "FULL")
    connection.execute("BEGIN EXCLUSIVE")
    try:
        _check_ours(connection, path, known[-1].number)
        version = int(connection.pragma("user_version"))
        for migration in known:
            if migration.number > version:
                connection.execute(migration.sql)
                _fill_digests(connection, FILLED.get(migration.number, ()))
                connection.execute(
                    "INSERT INTO migration VALUES (?, ?, ?, ?)",
                    (migration.number, migration.name, migration.sha256, now),
                )
        if version == 0:
            _found(connection, path, now)
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", known[-1].number)
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise
    return known[-1].number


def _fill_digests(connection: apsw.Connection, tables: Sequence[str]) -> None:
    """Give the rows that are there their digests. One whose text is no text keeps none, and counts as damaged."""
    for table in tables:
        key = KEYS[table]
        change = update_digests(table, "?")
        there = {name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")}
        lacking = {*columns_of(table)} - there
        rows = connection.execute(f"{select_content(table, lacking)} WHERE {BLOCKS.get(table, 'crc')} IS NULL")
        while True:
            try:
                row = next(rows, None)
            except UnicodeDecodeError:
                continue
            if row is None:
                break
            connection.execute(change, (*digests_of(table, row), *row[: len(key)]))
    if tables:
        _digest_facts(connection)


def _check_ours(connection: apsw.Connection, path: str, supported: int) -> None:
    application = int(connection.pragma("application_id"))
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    if application != APPLICATION_ID and (application or tables):
        raise NotAStore(f"{path} is another program's SQLite file; it was left untouched, name another one", path=path)
    _check_version(path, int(connection.pragma("user_version")), supported)


def _found(connection: apsw.Connection, path: str, now: int) -> None:
    store_id, secret = secrets.token_hex(16), secrets.token_bytes(32)
    rows = {"id": store_id, "secret": secret, "created_at": now, "clock": 0, "lease": 0, "place": _place(path)}
    connection.executemany("INSERT INTO store VALUES (?, ?)", list(rows.items()))
    _digest_facts(connection)


def _digest_facts(connection: apsw.Connection) -> None:
    facts = dict(connection.execute("SELECT name, value FROM store WHERE name IN ('id', 'secret')"))
    if facts:
        digest = facts_digest(facts["id"], facts["secret"])
        connection.execute("INSERT OR REPLACE INTO store VALUES ('digest', ?)", (digest,))
