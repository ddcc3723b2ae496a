"""A SQLite file as the source or the target of a move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import apsw

from memhold.storage.copying import BATCH_ROWS, GENERATION, LINK, USAGE, VOLATILE, Globals, Table, Whose
from memhold.storage.sql.blocks import Row
from memhold.storage.sql.digests import facts_digest
from memhold.storage.sqlite.connection import connect, roll_back, translated

__all__ = ["SqliteScoped", "SqliteSide"]

_GENERATION, _USAGE, _LINK = ", ".join(GENERATION), ", ".join(USAGE), ", ".join(LINK)


class SqliteSide:
    """`Side` over a file that a store made or migrated before."""

    def __init__(self, path: str, *, busy_timeout: float, key: str = "") -> None:
        self.shown = path
        self._connection = connect(path, busy_timeout=busy_timeout, key=key)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def tables(self) -> Mapping[str, Table]:
        found: dict[str, list[tuple[str, int]]] = {}
        rows = self._connection.execute(
            "SELECT t.name, c.name, c.pk FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'"
        )
        for table, column, place in rows:
            found.setdefault(str(table), []).append((str(column), int(place)))
        made = {}
        for name, columns in found.items():
            names = tuple(sorted(column for column, _ in columns))
            if {"namespace", "user_id"} <= set(names):
                key = tuple(column for place, column in sorted((place, column) for column, place in columns if place))
                made[name] = Table(name=name, columns=names, key=key)
        return made

    def scopes(self) -> list[Whose]:
        found = self._connection.execute("SELECT namespace, user_id FROM owner ORDER BY namespace, user_id")
        return [(str(namespace), str(user)) for namespace, user in found]

    def globals(self) -> Globals:
        facts: dict[str, Any] = {
            str(name): value for name, value in self._connection.execute("SELECT name, value FROM store")
        }
        return Globals(
            id=str(facts["id"]),
            secret=facts["secret"],
            created_at=int(facts["created_at"]),
            clock=int(facts["clock"]),
            lease=int(facts["lease"]),
            generations=tuple(self._connection.execute(f"SELECT {_GENERATION} FROM generation ORDER BY number")),  # noqa: S608
            usage=tuple(self._connection.execute(f"SELECT {_USAGE} FROM model_usage ORDER BY day, model, purpose")),  # noqa: S608
            links=tuple(self._connection.execute(f"SELECT {_LINK} FROM model_link ORDER BY model, url")),  # noqa: S608
        )

    def adopt(self, found: Globals) -> None:
        connection = self._connection
        with translated(self.shown), connection:
            for name, value in _adopted(found).items():
                connection.execute("UPDATE store SET value = ? WHERE name = ?", (value, name))
            for name, value in {"clock": found.clock, "lease": found.lease}.items():
                connection.execute("UPDATE store SET value = max(value, ?) WHERE name = ?", (value, name))
            connection.execute("DELETE FROM generation")
            marks = ", ".join("?" * len(GENERATION))
            connection.executemany(f"INSERT INTO generation ({_GENERATION}) VALUES ({marks})", found.generations)  # noqa: S608
            connection.execute("DELETE FROM model_usage")
            marks = ", ".join("?" * len(USAGE))
            connection.executemany(f"INSERT INTO model_usage ({_USAGE}) VALUES ({marks})", found.usage)  # noqa: S608
            connection.execute("DELETE FROM model_link")
            marks = ", ".join("?" * len(LINK))
            connection.executemany(f"INSERT INTO model_link ({_LINK}) VALUES ({marks})", found.links)  # noqa: S608

    @contextmanager
    def reading(self, whose: Whose) -> Iterator[SqliteScoped]:
        """A snapshot of the scope."""
        yield from self._transaction(whose, "BEGIN", "ROLLBACK")

    @contextmanager
    def writing(self, whose: Whose) -> Iterator[SqliteScoped]:
        """A transaction that holds the file's lock."""
        yield from self._transaction(whose, "BEGIN IMMEDIATE", "COMMIT")

    def _transaction(self, whose: Whose, begin: str, end: str) -> Iterator[SqliteScoped]:
        with translated(self.shown):
            self._connection.execute(begin)
            try:
                yield SqliteScoped(self._connection, whose)
            except BaseException:
                roll_back(self._connection)
                raise
            self._connection.execute(end)


class SqliteScoped:
    """One scope of the file, inside a transaction."""

    def __init__(self, connection: apsw.Connection, whose: Whose) -> None:
        self._connection = connection
        self._whose = whose

    def rows(self, table: Table) -> Iterator[Row]:
        volatile = VOLATILE.get(table.name, {})
        columns = ", ".join(volatile.get(column, f'"{column}"') for column in table.columns)
        order = ", ".join(f'"{column}"' for column in table.key)
        sql = f'SELECT {columns} FROM "{table.name}" WHERE namespace = ? AND user_id = ? ORDER BY {order}'  # noqa: S608
        yield from self._connection.execute(sql, self._whose)

    def change_seq(self) -> int:
        row = self._connection.execute(
            "SELECT change_seq FROM namespace WHERE namespace = ?", self._whose[:1]
        ).fetchone()
        return int(row[0]) if row else 0

    def has_change(self, seq: int, change_id: str) -> bool:
        sql = "SELECT 1 FROM change WHERE namespace = ? AND user_id = ? AND seq = ? AND id = ?"
        return self._connection.execute(sql, (*self._whose, seq, change_id)).fetchone() is not None

    def last_change(self) -> tuple[int, str] | None:
        sql = "SELECT seq, id FROM change WHERE namespace = ? AND user_id = ? ORDER BY seq DESC LIMIT 1"
        row = self._connection.execute(sql, self._whose).fetchone()
        return None if row is None else (int(row[0]), str(row[1]))

    def replace(self, tables: Sequence[Table], rows: Callable[[Table], Iterable[Row]], change_seq: int) -> int:
        for table in reversed(tables):
            self._connection.execute(f'DELETE FROM "{table.name}" WHERE namespace = ? AND user_id = ?', self._whose)  # noqa: S608
        count = 0
        for table in tables:
            names, marks = ", ".join(f'"{column}"' for column in table.columns), ", ".join("?" * len(table.columns))
            found = iter(rows(table))
            while batch := list(islice(found, BATCH_ROWS)):
                self._connection.executemany(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})', batch)  # noqa: S608
                count += len(batch)
        self._connection.execute(
            "INSERT INTO namespace (namespace, change_seq) VALUES (?, ?)"
            " ON CONFLICT (namespace) DO UPDATE SET change_seq = max(change_seq, excluded.change_seq)",
            (self._whose[0], change_seq),
        )
        return count


def _adopted(found: Globals) -> Mapping[str, Any]:
    digest = facts_digest(found.id, found.secret)
    return {"id": found.id, "secret": found.secret, "created_at": found.created_at, "digest": digest}
