"""Rows of a file that do not agree with their digests, or with each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

import apsw

from memhold.storage.sql.blocks import Row
from memhold.storage.sql.digests import (
    BLOCKS,
    CONTENT,
    KEYS,
    id_of,
    select_content,
    sound_row,
)
from memhold.storage.sqlite.connection import migrations, roll_back
from memhold.storage.sqlite.ledger import KEEPING
from memhold.values.errors import StoreCorrupt

__all__ = [
    "RESTORE",
    "altered_migrations",
    "altered_schema",
    "damaged_index",
    "damaged_rows",
    "mend_indexes",
    "of_index",
    "orphans",
    "undecoded",
    "unreadable_table",
]

_SHOWN = 5
_OF_INDEX = re.compile(r"(?:row \d+ missing from index |wrong # of entries in index |non-unique entry in index )(\w+)")

RESTORE = "stop what writes to it, then run 'memhold restore' with the newest backup"

_ALTERED = (
    "restore a backup of before; where another release made the file, export with that one and import into a new file"
)
# Each is a statement that lists what should not be, what that means, and what to do.
_ORPHANS = {
    "damaged_tombstones": ("marks of what was forgotten are damaged, so they keep nothing away", RESTORE),
    "lost_sources": ("memories name sources that are neither there nor marked as forgotten", RESTORE),
    "sources_of_nothing": ("sources belong to memories that are not there", RESTORE),
    "effects_of_nothing": ("changes touched memories that are neither there nor forgotten", RESTORE),
    "broken_revisions": ("memories have a gap in their revisions, or not exactly one current", RESTORE),
    "changes_of_messages_lost": ("messages name a change that is not there", RESTORE),
    "session_counters_behind": ("sessions count fewer messages than they have", RESTORE),
    "owner_counters_behind": ("scopes count fewer documents or sessions than they have", RESTORE),
    "change_counters_behind": ("namespaces count fewer changes than they have", RESTORE),
    "agents_missing": ("scopes have rows of agents that their words index does not know", "run 'memhold reindex'"),
    "owners_missing": ("scopes with rows are not in the list of scopes, so upkeep passes them over", RESTORE),
}


def damaged_rows(connection: apsw.Connection) -> Mapping[str, list[str]]:
    """The ids of damaged rows by table, whatever their scope; of a file of before the digests none.

    Raises:
        apsw.Error: pages cannot be read.
    """
    found: dict[str, list[str]] = {}
    for table in CONTENT:
        if not _has(connection, table, "crc"):
            continue
        select = select_content(table)
        try:
            rows = [id_of(table, row) for row in connection.execute(select) if not sound_row(table, row)]
        except UnicodeDecodeError:
            rows = [id_of(table, row) for row in undecoded(connection, select, {}) if not sound_row(table, row)]
        found[table] = rows
    return found


def altered_migrations(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    """What the file says of its migrations that this release knows otherwise, and what to do."""
    known = {migration.number: migration.sha256 for migration in migrations()}
    for number, sha256 in connection.execute(KEEPING["applied_migrations"]):
        if number in known and known[number] != sha256:
            yield f"migration {number} was another one when it was applied, or its mark is damaged", _ALTERED


def altered_schema(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    """Which tables and indexes of the file are not what its migrations make, and what to do.

    SQLite keeps a schema as the text that made it and reads it anew at each opening: a flipped bit in it renames a
    column or turns a condition, and no check of pages sees that.
    """
    expected = _schema_of(int(connection.pragma("user_version")))
    held = _schema_texts(connection)
    if names := sorted(name for name in expected.keys() | held.keys() if expected.get(name) != held.get(name)):
        yield f"its schema is not what its migrations make: {', '.join(names[:_SHOWN])}", RESTORE


@cache
def _schema_of(version: int) -> Mapping[str, str | None]:
    connection = apsw.Connection(":memory:")
    try:
        for migration in migrations():
            if migration.number <= version:
                connection.execute(migration.sql)
        return _schema_texts(connection)
    finally:
        connection.close()


def _schema_texts(connection: apsw.Connection) -> Mapping[str, str | None]:
    rows = connection.execute(KEEPING["schema_texts"])
    return {f"{kind} {name}": text for kind, name, text in rows}


def orphans(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    """Which rows name what is not there, whatever their scope, and what to do."""
    for name, (what, advice) in _ORPHANS.items():
        ids = [str(row[0]) for row in connection.execute(KEEPING[name])]
        if ids:
            yield f"{len(ids)} {what}: {', '.join(sorted(set(ids))[:_SHOWN])}", advice


def damaged_index(connection: apsw.Connection) -> str | None:
    """What has a block that does not agree with its digests: a words index, or vectors; None where nothing has."""
    for table, what in (("word_block", "words index"), ("vector_block", "vectors")):
        if _has(connection, table, BLOCKS[table]) and not all(
            sound_row(table, row) for row in connection.execute(select_content(table))
        ):
            return what
    return None


def unreadable_table(connection: apsw.Connection) -> str | None:
    """A table without digests in which a text is no UTF-8; None where there is none."""
    for (table,) in connection.execute(KEEPING["all_tables"]).fetchall():
        if table in KEYS:
            continue
        try:
            for _ in connection.execute(f'SELECT * FROM "{table}"'):  # noqa: S608 - a name from the schema
                pass
        except UnicodeDecodeError:
            return str(table)
    return None


def _has(connection: apsw.Connection, table: str, column: str) -> bool:
    asked = "SELECT 1 FROM pragma_table_info(?) WHERE name = ?"
    return bool(connection.execute(asked, (table, column)).fetchall())


def of_index(line: str) -> str | None:
    """The index that a line of `integrity_check` is about; None where building an index anew does not mend it."""
    found = _OF_INDEX.fullmatch(line)
    return found and found[1]


def mend_indexes(connection: apsw.Connection) -> int:
    """Build anew the indexes that do not agree with their tables, in one transaction; returns how many those were.

    Raises:
        StoreCorrupt: pages are damaged otherwise.
        apsw.Error: pages cannot be read, or others held the file.
    """
    lines = [str(line) for (line,) in connection.execute("PRAGMA integrity_check(10000)") if line != "ok"]
    named = [of_index(line) for line in lines]
    if None in named:
        raise StoreCorrupt(f"pages of it are damaged ({lines[named.index(None)]}); {RESTORE}")
    if not named:
        return 0
    with _alone(connection):
        _build_anew(connection)
    return len({*named})


@contextmanager
def _alone(connection: apsw.Connection) -> Iterator[None]:
    """One transaction in which nobody else writes: all of it stays, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


def _build_anew(connection: apsw.Connection) -> None:
    try:
        connection.execute("REINDEX")
    except apsw.ConstraintError:
        # Two rows of one number or id: the one that rotted goes. A schema that can be written to lets a row go that
        # its indexes do not have (sqlite.org/pragma.html#pragma_writable_schema).
        connection.execute("PRAGMA writable_schema = ON")
        try:
            for table in ("message", "memory"):
                select = f"{select_content(table)} NOT INDEXED".replace("SELECT ", "SELECT rowid, ", 1)
                damaged = [row[0] for row in undecoded(connection, select, {}) if not sound_row(table, row[1:])]
                connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", [(one,) for one in damaged])  # noqa: S608 - names of this module
        finally:
            connection.execute("PRAGMA writable_schema = OFF")
        connection.execute("REINDEX")


def undecoded(connection: apsw.Connection, sql: str, params: Mapping[str, object]) -> list[Row]:
    """The rows of a statement whose text is not UTF-8 any more: such text comes with lone surrogates."""
    names = [f"c{at}" for at in range(len(connection.execute(sql, params).description))]
    pairs = [f"CASE typeof({one}) WHEN 'text' THEN CAST({one} AS BLOB) ELSE {one} END, typeof({one})" for one in names]
    wrapped = f"WITH given({', '.join(names)}) AS ({sql}) SELECT {', '.join(pairs)} FROM given"  # noqa: S608 - statements of this package
    return [_decoded(row) for row in connection.execute(wrapped, params)]


def _decoded(row: Row) -> Row:
    """A row from its values and their types in turn."""
    return [
        value.decode("utf-8", "surrogateescape") if kind == "text" else value
        for value, kind in zip(row[::2], row[1::2], strict=True)
    ]
