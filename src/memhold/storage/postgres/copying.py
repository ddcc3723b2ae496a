"""A PostgreSQL database as the source or the target of a move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from psycopg import sql as quoted

from memhold.storage.copying import BATCH_ROWS, GENERATION, LINK, USAGE, VOLATILE, Globals, Table, Whose
from memhold.storage.postgres.connection import Location, Session, connect, translated
from memhold.storage.postgres.statements import QUERIES
from memhold.storage.sql.blocks import Row

__all__ = ["PostgresScoped", "PostgresSide"]

_OWN = ("near_vector", "near_scope")
"""Derived from what is copied; upkeep makes them anew."""
_GENERATION, _USAGE, _LINK = ", ".join(GENERATION), ", ".join(USAGE), ", ".join(LINK)


class PostgresSide:
    """`Side` over a database that a store made or migrated before."""

    def __init__(self, location: Location, *, busy_timeout: float) -> None:
        self.shown = location.shown
        self._connection = connect(location, lock_timeout=busy_timeout)

    def close(self) -> None:
        """Let go of the database."""
        self._connection.close()

    def tables(self) -> Mapping[str, Table]:
        rows = self._connection.execute(
            "SELECT c.relname, a.attname, array_position(i.indkey::int2[], a.attnum)"
            " FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
            " JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary"
            " WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition"
            " AND c.relnamespace = current_schema()::regnamespace"
        ).fetchall()
        found: dict[str, dict[str, int | None]] = {}
        for table, column, place in rows:
            found.setdefault(str(table), {})[str(column)] = place
        made = {}
        for name, columns in found.items():
            if {"namespace", "user_id"} <= columns.keys():
                key = tuple(
                    column for _, column in sorted((place, c) for c, place in columns.items() if place is not None)
                )
                made[name] = Table(name=name, columns=tuple(sorted(columns)), key=key)
        return made

    def scopes(self) -> list[Whose]:
        with self._connection.transaction():
            self._connection.execute(QUERIES["enter_upkeep"])
            found = self._connection.execute(QUERIES["read_scopes"]).fetchall()
        return [(str(namespace), str(user)) for namespace, user in found]

    def globals(self) -> Globals:
        ask = self._connection.execute
        with self._connection.transaction():
            ask(QUERIES["enter_upkeep"])
            facts: dict[str, Any] = {str(name): value for name, value in ask("SELECT name, value FROM store")}
        clock = ask(QUERIES["read_clock"], {"until": 2**62}).fetchone()
        lease = ask("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM lease_token").fetchone()
        return Globals(
            id=facts["id"],
            secret=bytes.fromhex(facts["secret"]),
            created_at=int(facts["created_at"]),
            clock=0 if clock is None else int(clock[0]),
            lease=0 if lease is None else int(lease[0]),
            generations=tuple(ask(f"SELECT {_GENERATION} FROM generation ORDER BY number".encode()).fetchall()),  # noqa: S608
            usage=tuple(ask(f"SELECT {_USAGE} FROM model_usage ORDER BY day, model, purpose".encode()).fetchall()),  # noqa: S608
            links=tuple(ask(f"SELECT {_LINK} FROM model_link ORDER BY model, url".encode()).fetchall()),  # noqa: S608
        )

    def adopt(self, found: Globals) -> None:
        connection = self._connection
        with translated(self.shown), connection.transaction():
            named = {"id": found.id, "secret": found.secret.hex(), "created_at": str(found.created_at)}
            connection.execute(QUERIES["enter_upkeep"])
            for name, value in named.items():
                connection.execute("UPDATE store SET value = %s WHERE name = %s", (value, name))
            connection.execute(
                "UPDATE clock SET value = %s WHERE stripe = 0 AND value < %s", (found.clock, found.clock)
            )
            connection.execute(
                "SELECT setval('lease_token', greatest((SELECT last_value FROM lease_token), %s))",
                (max(found.lease, 1),),
            )
            connection.execute("DELETE FROM generation")
            marks = ", ".join(["%s"] * len(GENERATION))
            for row in found.generations:
                connection.execute(f"INSERT INTO generation ({_GENERATION}) VALUES ({marks})".encode(), row)  # noqa: S608
            connection.execute("DELETE FROM model_usage")
            marks = ", ".join(["%s"] * len(USAGE))
            for row in found.usage:
                connection.execute(f"INSERT INTO model_usage ({_USAGE}) VALUES ({marks})".encode(), row)  # noqa: S608
            connection.execute("DELETE FROM model_link")
            marks = ", ".join(["%s"] * len(LINK))
            for row in found.links:
                connection.execute(f"INSERT INTO model_link ({_LINK}) VALUES ({marks})".encode(), row)  # noqa: S608

    @contextmanager
    def reading(self, whose: Whose) -> Iterator[PostgresScoped]:
        """A snapshot of the scope."""
        yield from self._transaction(whose, b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", b"ROLLBACK", lock=False)

    @contextmanager
    def writing(self, whose: Whose) -> Iterator[PostgresScoped]:
        """A transaction that holds the lock of the namespace."""
        yield from self._transaction(whose, b"BEGIN", b"COMMIT", lock=True)

    def _transaction(self, whose: Whose, begin: bytes, end: bytes, *, lock: bool) -> Iterator[PostgresScoped]:
        connection = self._connection
        with translated(self.shown):
            connection.execute(begin)
            try:
                # Copying a large scope may wait for the other side between two statements.
                connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                connection.execute(QUERIES["enter"], {"namespace": whose[0], "user_id": whose[1]})
                if lock:
                    connection.execute(QUERIES["add_namespace"], {"namespace": whose[0]})
                    connection.execute(QUERIES["lock_namespace"], {"namespace": whose[0]})
                yield PostgresScoped(connection, whose)
            except BaseException:
                if not connection.closed:
                    connection.execute("ROLLBACK")
                raise
            connection.execute(end)


class PostgresScoped:
    """One scope of the database, inside a transaction that has entered it."""

    def __init__(self, connection: Session, whose: Whose) -> None:
        self._connection = connection
        self._whose = whose

    def rows(self, table: Table) -> Iterator[Row]:
        volatile = VOLATILE.get(table.name, {})
        columns = quoted.SQL(", ").join(
            quoted.SQL("NULL") if column in volatile else quoted.Identifier(column) for column in table.columns
        )
        order = quoted.SQL(", ").join(quoted.Identifier(column) for column in table.key)
        statement = quoted.SQL("SELECT {} FROM {} WHERE namespace = %s AND user_id = %s ORDER BY {}").format(
            columns, quoted.Identifier(table.name), order
        )
        with self._connection.cursor(name="copying") as cursor:
            cursor.itersize = BATCH_ROWS
            cursor.execute(statement, self._whose)
            yield from cursor

    def change_seq(self) -> int:
        row = self._connection.execute(
            "SELECT change_seq FROM namespace WHERE namespace = %s", self._whose[:1]
        ).fetchone()
        return 0 if row is None else int(row[0])

    def has_change(self, seq: int, change_id: str) -> bool:
        found = self._connection.execute(
            "SELECT 1 FROM change WHERE namespace = %s AND user_id = %s AND seq = %s AND id = %s",
            (*self._whose, seq, change_id),
        )
        return found.fetchone() is not None

    def last_change(self) -> tuple[int, str] | None:
        row = self._connection.execute(
            "SELECT seq, id FROM change WHERE namespace = %s AND user_id = %s ORDER BY seq DESC LIMIT 1", self._whose
        ).fetchone()
        return None if row is None else (int(row[0]), str(row[1]))

    def replace(self, tables: Sequence[Table], rows: Callable[[Table], Iterable[Row]], change_seq: int) -> int:
        for name in (*(table.name for table in reversed(tables)), *_OWN):
            self._connection.execute(
                quoted.SQL("DELETE FROM {} WHERE namespace = %s AND user_id = %s").format(quoted.Identifier(name)),
                self._whose,
            )
        count = 0
        with self._connection.cursor() as cursor:
            for table in tables:
                names = quoted.SQL(", ").join(map(quoted.Identifier, table.columns))
                marks = quoted.SQL(", ").join([quoted.Placeholder()] * len(table.columns))
                statement = quoted.SQL("INSERT INTO {} ({}) VALUES ({})").format(
                    quoted.Identifier(table.name), names, marks
                )
                batch: list[Row] = []
                for row in rows(table):
                    batch.append(row)
                    if len(batch) == BATCH_ROWS:
                        cursor.executemany(statement, batch)
                        count, batch = count + len(batch), []
                if batch:
                    cursor.executemany(statement, batch)
                    count += len(batch)
        self._connection.execute(
            "UPDATE namespace SET change_seq = greatest(change_seq, %s) WHERE namespace = %s",
            (change_seq, self._whose[0]),
        )
        return count
