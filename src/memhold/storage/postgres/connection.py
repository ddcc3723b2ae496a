"""Connecting: whose words errors carry, what a connection is set to, and what of a location may be shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from struct import pack, unpack
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import errors as pg
from psycopg.adapt import Buffer, Dumper
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Format
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumperUnknown, TextLoader

from memhold.storage.postgres.session import Session
from memhold.values.errors import (
    InvalidInput,
    MemholdError,
    ReadTimeout,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)

__all__ = [
    "Location",
    "Reals",
    "Session",
    "connect",
    "in_our_words",
    "is_lost",
    "is_race",
    "parsed",
    "parsed_standby",
    "translated",
    "unwaited",
]


_MARK = "\x1a"
_UNSTORABLE = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]{4})")


class Location:
    """Where a store is: how to connect, and `shown`, which names it without password and may stand in any message."""

    __slots__ = ("_conninfo", "shown")

    def __init__(self, conninfo: str, shown: str) -> None:
        self._conninfo = conninfo
        self.shown = shown

    def __repr__(self) -> str:
        return f"Location({self.shown})"

    def __str__(self) -> str:
        return self.shown

    @property
    def conninfo(self) -> str:
        """What libpq connects with; it may hold a password."""
        return self._conninfo

    @property
    def secret(self) -> bool:
        """Whether it does."""
        return not {"password", "sslpassword", "oauth_client_secret"}.isdisjoint(conninfo_to_dict(self._conninfo))


def parsed(location: str) -> Location:
    """Read `postgresql://…`, with everything that libpq understands in it; several hosts name the nodes of a cluster.

    Raises:
        InvalidInput: it cannot be read; the message does not repeat it, since it may hold a password.
    """
    try:
        given = conninfo_to_dict(location)
    except psycopg.Error:
        # The driver's message may quote the password.
        raise InvalidInput(
            "cannot read the location; pass postgresql://user@host:port/database (a password with / or @ as %2F, %40)"
        ) from None
    # Of several nodes the one that takes writes; a standby that was promoted becomes that one.
    settings = {
        "target_session_attrs": "read-write",
        "application_name": "memhold",
        "connect_timeout": 10,
        "tcp_user_timeout": 15_000,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        **given,
    }
    return Location(make_conninfo("", **settings), _shown(given))


def parsed_standby(location: str) -> Location:
    """The location of a standby: read as `parsed` does, and whoever answers there is taken, or nobody soon.

    Raises:
        InvalidInput: it cannot be read; the message does not repeat it.
    """
    place = parsed(location)
    given = conninfo_to_dict(location)
    mine: dict[str, Any] = {"target_session_attrs": "any", "connect_timeout": 2, "tcp_user_timeout": 3_000}
    return Location(make_conninfo(place.conninfo, **{**mine, **given}), place.shown)


def _shown(given: Mapping[str, Any]) -> str:
    user = f"{quote(str(given['user']), safe='')}@" if given.get("user") else ""
    hosts, ports = str(given.get("host") or "").split(","), str(given.get("port") or "").split(",")
    if len(ports) < len(hosts):
        ports = ports * len(hosts)
    named = ",".join(
        quote(host, safe=".:[]-") + (f":{port}" if port else "") for host, port in zip(hosts, ports, strict=False)
    )
    return f"postgresql://{user}{named}/{quote(str(given.get('dbname') or ''), safe='')}"


class Reals(bytes):
    """Little-endian float32, as a vector is kept, that goes to the server as an array of `real`."""


class _Reals(Dumper):
    """The header of an array of one dimension, then each number with its length before it, all big-endian."""

    format = Format.BINARY
    oid = 1021

    def dump(self, obj: Reals) -> Buffer | None:
        count = len(obj) // 4
        lengths = [4] * (2 * count)
        lengths[1::2] = unpack(f"<{count}I", obj)
        return pack(f">iiIii{2 * count}I", 1, 0, 700, count, 1, *lengths)


class _Text(StrDumperUnknown):
    """Text as UTF-8; what no column of PostgreSQL can hold (NUL, half a surrogate) goes in as an escape."""

    def dump(self, obj: str) -> Buffer | None:
        return (_UNSTORABLE.sub(_escaped, obj) if _UNSTORABLE.search(obj) else obj).encode()


class _Read(TextLoader):
    """The inverse."""

    def load(self, data: Buffer) -> str | bytes:
        text = super().load(data)
        return _ESCAPED.sub(_restored, text) if isinstance(text, str) and _MARK in text else text


def _escaped(found: re.Match[str]) -> str:
    return f"{_MARK}{ord(found[0]):04x}"


def _restored(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


def connect(location: Location, *, lock_timeout: float) -> Session:
    """A connection with the settings that every one of ours has.

    `lock_timeout` is how many seconds a statement waits for a lock that somebody else holds.

    Raises:
        StoreUnreachable: with what the server or the network said.
    """
    try:
        connection = Session.connect(location.conninfo, autocommit=True, client_encoding="utf8")
    except psycopg.OperationalError as error:
        # Before a session there is no statement that its words could quote; libpq never repeats the password.
        reason = str(error).strip().splitlines()[-1].rpartition("FATAL:")[2].strip()
        raise StoreUnreachable(f"{location.shown} cannot be reached: {reason}") from None
    try:
        _configure(connection, lock_timeout=lock_timeout)
    except BaseException:
        connection.close()
        raise
    return connection


def _configure(connection: Session, *, lock_timeout: float) -> None:
    """Give a new connection our settings."""
    connection.prepare_threshold = 2
    # Every integer as bigint: one prepared statement serves all sizes.
    connection.adapters.register_dumper(int, Int8Dumper)
    connection.adapters.register_dumper(str, _Text)
    connection.adapters.register_dumper(Reals, _Reals)
    connection.adapters.register_loader("text", _Read)
    # A process that is frozen inside a transaction holds the lock of its namespace half as long as others wait for it.
    connection.execute(
        "SELECT set_config('lock_timeout', %s, false), set_config('idle_in_transaction_session_timeout', %s, false),"
        " set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'"
        " ELSE current_setting('synchronous_commit') END, false), set_config('client_min_messages', 'warning', false)",
        (f"{int(lock_timeout * 1000)}ms", f"{max(1000, int(lock_timeout * 500))}ms"),
    )


def unwaited(connection: Session) -> bool:
    """Whether a failover can lose acknowledged writes: standbys are named as synchronous, and commits wait for none."""
    row = connection.execute(
        "SELECT current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') = 'local'"
    ).fetchone()
    return row is not None and bool(row[0])


def is_lost(error: BaseException) -> bool:
    """Whether the connection, or the node behind it, went away: nothing that was not committed stands."""
    if isinstance(error, (pg.AdminShutdown, pg.CrashShutdown, pg.CannotConnectNow, pg.IdleInTransactionSessionTimeout)):
        return True
    # What stood behind a statement that failed: that one's error says why.
    if isinstance(error, pg.PipelineAborted):
        return False
    # A standby that was taken for the primary, or a primary that was demoted, answers so.
    if isinstance(error, pg.ReadOnlySqlTransaction):
        return True
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and error.sqlstate is None


def is_race(error: BaseException) -> bool:
    """Whether the transaction lost a race that the same transaction may win when it is run again."""
    return isinstance(error, pg.SerializationFailure | pg.DeadlockDetected)


@contextmanager
def translated(shown: str) -> Iterator[None]:
    """Turn PostgreSQL's errors into ours, with what to do and without what was in the statement."""
    try:
        yield
    except MemholdError:
        raise
    except psycopg.Error as error:
        raise in_our_words(shown, error) from _bare(error)


def in_our_words(shown: str, error: BaseException) -> BaseException:
    """A driver's error as ours; any other as it is."""
    return _ours(shown, error) if isinstance(error, psycopg.Error) else error


def _bare(error: psycopg.Error) -> Exception:
    """The error without its text: a server's message may quote the row, that is, content."""
    return RuntimeError(f"{type(error).__name__} ({error.sqlstate or 'no answer'})")


def _ours(shown: str, error: psycopg.Error) -> StoreError:
    name = f"{type(error).__name__} ({error.sqlstate or 'no answer'})"
    match error:
        case pg.LockNotAvailable() | pg.SerializationFailure() | pg.DeadlockDetected():
            return StoreBusy(f"{shown} was busy with others' writes for too long; try again")
        case pg.QueryCanceled():
            return ReadTimeout(f"a read of {shown} took too long and was stopped; narrow it or raise read_timeout")
        case pg.DiskFull():
            return StoreFull(f"no room left on the disk of {shown}; nothing of this call was stored, make room")
        case pg.TooManyConnections():
            return StoreBusy(f"{shown} has no connection left for us; raise max_connections or close others")
        case pg.InvalidPassword() | pg.InvalidAuthorizationSpecification() | pg.InvalidCatalogName():
            return StoreUnreachable(f"{shown} refused us with {name}; check user, password and database")
        case pg.InsufficientPrivilege():
            return StoreReadOnly(f"{shown} does not allow us that ({name}); grant our role its tables")
        case _ if is_lost(error):
            return StoreUnreachable(f"{shown} cannot be reached ({name}); nothing was stored, try again")
        case _:
            return StoreError(f"{shown}: PostgreSQL failed with {name}; nothing was stored, try again")
