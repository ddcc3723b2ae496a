"""SQLite files of other systems, read as they stand and never written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from memhold.transfer.source import WRONG_BYTES, Source

__all__ = ["SQLITE", "is_sqlite", "readable", "rows", "sqlite_file", "tables_of"]

SQLITE = b"SQLite format 3\0"
"""How each SQLite file begins."""
_LONGEST_VALUE = 64 * 1024 * 1024


def is_sqlite(source: Source) -> bool:
    """Whether the file begins as a SQLite file does."""
    with source.open_bytes() as file:
        return file.read(len(SQLITE)) == SQLITE


@contextmanager
def sqlite_file(source: Source) -> Iterator[sqlite3.Connection]:
    """The file, open for reading; its rows are dicts, its text has bytes that are not UTF-8 as half surrogates.

    Raises:
        UnreadableImport: it cannot be opened, or it is cut: SQLite takes what is missing of its last page for nothing.
    """
    _is_whole(source)
    try:
        base = sqlite3.connect(f"{Path(source.path).resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    except sqlite3.Error as error:
        raise source.unreadable(None, f"it cannot be opened as a SQLite file: {error}") from None
    with closing(base):
        base.execute("PRAGMA trusted_schema = OFF")  # what the file defines calls nothing of ours
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        base.row_factory = _by_name
        base.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
        yield base
    source.position = source.size


def _is_whole(source: Source) -> None:
    with source.open_bytes() as file:
        told = int.from_bytes(file.read(18)[16:], "big")
    page = 65_536 if told == 1 else told
    if page and source.size % page:
        why = (
            f"it is cut: it has {source.size:,} bytes, which is no whole number of its pages of {page:,}; copy it again"
        )
        raise source.unreadable(None, why)


def tables_of(source: Source, base: sqlite3.Connection) -> set[str]:
    """The names of its tables; a view is none, since what one asks can take for ever."""
    return {row["name"] for row in rows(source, base, "SELECT name FROM sqlite_master WHERE type = 'table'")}


def rows(
    source: Source, base: sqlite3.Connection, sql: str, *given: Any, of: str | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of a question; where they are `of` a whole table, the source is as far as the rows of it are.

    Raises:
        UnreadableImport: the file is damaged, locked, or of another make.
    """
    try:
        total = None if of is None else base.execute(f"SELECT count(*) AS n FROM {of}").fetchone()["n"]  # noqa: S608 - a name of ours
        for place, row in enumerate(base.execute(sql, given)):
            if total:
                source.position = max(source.position, source.size * min(place, total) // total)
            yield row
    except UnicodeError:
        raise source.unreadable(None, "it is damaged: its schema holds bytes that are not UTF-8") from None
    except (sqlite3.Error, OverflowError) as error:
        said = f"it cannot be read: {error}; where another program has it open, end that or copy the file with its -wal"
        raise source.unreadable(None, said) from None


def readable(
    source: Source, base: sqlite3.Connection, table: str, sql: str, *, of: str | None = None
) -> Iterator[dict[str, Any]]:
    """The rows whose text is text; the others are named by their `id`."""
    for row in rows(source, base, sql, of=of):
        if any(isinstance(value, str) and WRONG_BYTES.search(value) for value in row.values()):
            source.bad(None, f"row {row.get('id')!r:.40} of {table} holds bytes that are not UTF-8")
        else:
            yield row


def _by_name(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}
