"""Bringing the HNSW index up to date: rows of large scopes, and one index a generation and partition."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from psycopg import errors as pg
from psycopg import sql as quoted

from memhold.ports.stores import Priority
from memhold.ports.vector_blocks import Generation
from memhold.storage.postgres.connection import Session
from memhold.storage.postgres.reading import PostgresRead
from memhold.storage.postgres.writing import PostgresWrite

if TYPE_CHECKING:
    from memhold.ports.transaction import ReadTx, WriteTx
    from memhold.values.records import Scope

__all__ = ["PGVECTOR_LEAST", "NearUpkeep", "pgvector"]

T = TypeVar("T")
log = logging.getLogger("memhold.storage")

LOCK = 0x4E454152
"""`NEAR`: the advisory lock under which one process at a time makes or drops an index."""
PGVECTOR_LEAST = (0, 8)
"""From this version on a filter does not make the index return too few (`hnsw.iterative_scan`)."""
MOST_DIMENSIONS = 4000
"""What pgvector's HNSW takes of `halfvec`."""
LINKS = 24
"""pgvector's `m`. With its default of 16 the index of 200,000 made-up messages lost 1.7 % of the nearest ten, with this
0.3 %, and is 14 % larger (docs/scaling.md). A greater `ef_construction` than its default only took longer."""
ROWS, ROWS_WITH_INDEX = 128, 8
"""Rows a transaction; where there is an index each takes some 9 ms, and the namespace is locked meanwhile."""
SPELL_SECONDS = 10.0
BUSY_SECONDS = 30.0
"""Another process makes the index: look again after this."""
NOT_CREATED = "pgvector is not created in this database; an administrator does: CREATE EXTENSION vector"

_INDEXES = (
    "SELECT t.oid::regclass::text, c.relname, i.indisvalid"
    " FROM pg_class AS t LEFT JOIN pg_inherits AS h ON h.inhrelid = t.oid"
    " LEFT JOIN (pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid AND c.relname LIKE 'hnsw%')"
    " ON i.indrelid = t.oid"
    " WHERE t.relkind = 'r' AND to_regclass('near_vector') IN (t.oid, h.inhparent)"
)


class Reads(Protocol):
    """Runs a unit of work on a snapshot of its scope."""

    async def __call__(self, scope: Scope, work: Callable[[ReadTx], T]) -> T: ...


class Writes(Protocol):
    """Runs a unit of work in a transaction on its scope."""

    async def __call__(
        self, scope: Scope, work: Callable[[WriteTx], T], *, priority: Priority = Priority.INTERACTIVE
    ) -> T: ...


class Calls(Protocol):
    """Runs something on a connection of its own, outside any transaction."""

    async def __call__(self, work: Callable[[Session], T]) -> T: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Indexes:
    """What there is: the tables that need an index of a generation, and the indexes that nobody needs."""

    missing: tuple[str, ...]
    useless: tuple[str, ...]


def pgvector(connection: Session) -> str | None:
    """Why this connection cannot use pgvector as Memhold does; None where it can."""
    row = connection.execute(
        "SELECT a.installed_version, a.default_version, to_regtype('halfvec') IS NOT NULL"
        " FROM pg_available_extensions AS a WHERE a.name = 'vector'"
    ).fetchone()
    if row is None:
        return "pgvector is not installed on the server"
    version = str(row[0] or row[1])
    if tuple(int(part) for part in version.split(".")[:2]) < PGVECTOR_LEAST:
        return f"pgvector is {version}; {'.'.join(map(str, PGVECTOR_LEAST))} or newer is needed"
    if row[0] is None:
        return NOT_CREATED
    return None if row[2] else "pgvector is in a schema that is not on the search_path of our role"


class NearUpkeep:
    """`Upkeep.index_near`; `least` is the number of documents from which on a scope has it, 0 for never."""

    def __init__(self, *, read: Reads, write: Writes, call: Calls, least: int) -> None:
        self._read = read
        self._write = write
        self._call = call
        self._least = least
        self._building: Session | None = None

    async def index_near(self, scope: Scope, generation: Generation) -> float | None:
        """Bring a scope's rows and the generation's index up to date, for some ten seconds of rows at a time."""
        if not self._least or generation.dimension > MOST_DIMENSIONS:
            return None
        ready = await self._read(scope, lambda tx: self._state(tx, generation))
        if ready is None:
            return None
        found = await self._call(lambda connection: _indexes(connection, generation))
        if found is None:
            return None
        until = time.monotonic() + SPELL_SECONDS
        most = ROWS if found.missing else ROWS_WITH_INDEX
        while await self._write(scope, lambda tx: _extend(tx, generation, most), priority=Priority.WORKER):
            if time.monotonic() > until:
                return 0.0
        if (found.missing or found.useless) and not await self._call(lambda one: self._build(one, generation)):
            return BUSY_SECONDS
        if not ready:
            await self._write(scope, lambda tx: _ready(tx, generation), priority=Priority.WORKER)
        return None

    def close(self) -> None:
        """Give up an index that is being made; the next to come makes it anew."""
        building = self._building
        if building is not None:
            building.cancel_safe(timeout=2)

    def _state(self, tx: ReadTx, generation: Generation) -> bool | None:
        """Whether the index serves the scope; None where it is too small to have one."""
        assert isinstance(tx, PostgresRead)  # noqa: S101 - what this store runs
        if _retired(tx, generation):
            return None
        near = tx.near(generation.number)
        if near is not None:
            return near[1]
        return False if tx.document_count() >= self._least else None

    def _build(self, connection: Session, generation: Generation) -> bool:
        """Make what is missing and drop what is useless; False where another process is at it."""
        row = connection.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchone()
        if row is None or not row[0]:
            return False
        # What was not whole before this lock was somebody's who was at it, and may be whole now.
        found = _indexes(connection, generation)
        if found is None:
            return False
        # A concurrent build waits for every older transaction; how long is theirs to say.
        connection.execute("SET lock_timeout = 0")
        self._building = connection
        try:
            for name in found.useless:
                connection.execute(quoted.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(quoted.Identifier(name)))
            for number, table in enumerate(found.missing):
                _make(connection, generation, table, f"hnsw_{generation.number}_{number}_{table}"[:63])
        finally:
            self._building = None
        # The end of the connection gives it back too, a moment later: whoever comes at once would find it taken.
        connection.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))
        return True


def _indexes(connection: Session, generation: Generation) -> _Indexes | None:
    """What there is of indexes; None where pgvector cannot be used."""
    why = pgvector(connection)
    if why == NOT_CREATED:
        # Where our role may do it; in most databases only an administrator may.
        with suppress(pg.InsufficientPrivilege, pg.UniqueViolation):
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            why = None
    if why is not None:
        log.warning("no index of nearest neighbours: %s", why)
        return None
    retired = [int(row[0]) for row in connection.execute("SELECT number FROM generation WHERE state = 'retired'")]
    rows: Sequence[tuple[str, str | None, bool | None]] = connection.execute(_INDEXES).fetchall()
    mine = f"hnsw_{generation.number}_"
    served = {table for table, name, valid in rows if name is not None and valid and name.startswith(mine)}
    old = tuple(f"hnsw_{number}_" for number in retired)
    # One that is not valid is what a build left that did not come to its end.
    left = {name for _, name, valid in rows if name is not None and name.startswith(mine) and not valid}
    useless = left | {name for _, name, _ in rows if name is not None and name.startswith(old)}
    return _Indexes(missing=tuple(sorted({table for table, _, _ in rows} - served)), useless=tuple(sorted(useless)))


def _make(connection: Session, generation: Generation, table: str, name: str) -> None:
    statement = quoted.SQL(
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS {} ON {} USING hnsw ((vector::halfvec({})) halfvec_ip_ops)"
        " WITH (m = {}) WHERE generation = {}"
    ).format(
        quoted.Identifier(name),
        quoted.SQL(table),  # as the server quotes it
        quoted.Literal(generation.dimension),
        quoted.Literal(LINKS),
        quoted.Literal(generation.number),
    )
    connection.execute(statement)


def _retired(tx: ReadTx, generation: Generation) -> bool:
    return not any(one.number == generation.number and one.state != "retired" for one in tx.generations())


def _extend(tx: WriteTx, generation: Generation, most: int) -> bool:
    assert isinstance(tx, PostgresWrite)  # noqa: S101 - what this store runs
    # It may have been retired, and its rows cleared, since the last batch.
    return not _retired(tx, generation) and tx.extend_near(generation.number, most)


def _ready(tx: WriteTx, generation: Generation) -> None:
    assert isinstance(tx, PostgresWrite)  # noqa: S101 - what this store runs
    tx.near_is_ready(generation.number)
