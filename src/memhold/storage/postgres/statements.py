"""The named statements of the PostgreSQL store, on one connection."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from memhold.storage.postgres.connection import Session
from memhold.storage.sql.blocks import Row, Rows, load_dialect
from memhold.storage.sql.row_batches import touching, writing
from memhold.values.errors import ReadTimeout, StoreCorrupt

__all__ = ["QUERIES", "Answer", "PostgresStatements", "driver_text"]

_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]\w*)")


def driver_text(sql: str) -> bytes:
    """A statement with `:name` as psycopg wants it: `%(name)s`."""
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%")).encode()


NAMED = load_dialect("memhold.storage.postgres")
QUERIES: Mapping[str, bytes] = MappingProxyType({name: driver_text(sql) for name, sql in NAMED.items()})
_TOUCHING = touching(NAMED)
_WRITING = writing(NAMED)


class Answer:
    """`Rows` that have arrived."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = iter(rows)

    def fetchone(self) -> Row | None:
        return next(self._rows, None)

    def fetchall(self) -> Sequence[Row]:
        return list(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return self._rows


class PostgresStatements:
    """`Statements` of one connection.

    After `until` (of the monotonic clock) nothing more is begun. With `holds` the transaction has a lock that others
    wait for, so it must not outlive a process that is frozen.
    """

    refused = psycopg.IntegrityError
    touching = _TOUCHING
    writing = _WRITING

    def __init__(self, connection: Session, *, until: float | None = None, holds: bool = False) -> None:
        self.connection = connection
        self._holds = holds
        self._until = until
        self._together = False
        self._ready: dict[str, tuple[Mapping[str, Any], Sequence[Row]]] = {}

    def mark(self) -> None:
        # Never released: the commit does it, and a savepoint of the same name stands over the one before.
        self.connection.execute("SAVEPOINT one")

    def prepare(self, asked: Mapping[str, Mapping[str, Any]]) -> Callable[[], None]:
        """Ask what is likely to be asked next, together with what else travels; call the result when it has arrived.

        An answer is given once, to exactly that question, and not after anything was written.
        """
        cursors = {name: self.connection.execute(QUERIES[name], params) for name, params in asked.items()}

        def arrived() -> None:
            self._ready = {name: (asked[name], cursor.fetchall()) for name, cursor in cursors.items()}

        return arrived

    def run(self, name: str, params: Mapping[str, Any]) -> Rows:
        self._check_time()
        if self._ready:
            if _WRITING[name]:
                self._ready = {}
            elif name in self._ready and self._ready[name][0] == params:
                return Answer(self._ready.pop(name)[1])
        return self.connection.execute(QUERIES[name], params)

    def composed(self, name: str, numbers: Mapping[str, int], params: Mapping[str, Any]) -> Rows:
        """Run a statement that holds `{name}` of these whole numbers."""
        self._check_time()
        text = QUERIES[name]
        for place, number in numbers.items():
            text = text.replace(f"{{{place}}}".encode(), str(int(number)).encode())
        return self.connection.execute(text, params)

    def each(self, name: str, params: Sequence[Mapping[str, Any]]) -> list[list[Row]]:
        if len(params) < 2:
            return [list(self.run(name, one)) for one in params]
        self._check_time()
        # All of them travel together: one way to the server and back.
        with self.connection.pipeline():
            cursors = [self.connection.execute(QUERIES[name], one) for one in params]
            found: list[list[Row]] = [list(cursor.fetchall()) for cursor in cursors]
        self.rest()
        return found

    def undecoded(self, name: str, params: Mapping[str, Any]) -> list[Row]:
        del params
        raise StoreCorrupt(f"the server sent text that is not UTF-8 ({name}); run 'memhold doctor', then restore it")

    def many(self, name: str, params: Sequence[Mapping[str, Any]]) -> None:
        self._check_time()
        self._ready = {}
        if len(params) == 1:
            self.connection.execute(QUERIES[name], params[0])
            return
        with self.together():
            for one in params:
                self.connection.execute(QUERIES[name], one)

    @contextmanager
    def together(self) -> Iterator[None]:
        if self._together:
            yield
            return
        self._together = True
        try:
            with self.connection.pipeline():
                yield
        finally:
            self._together = False
        self.rest()

    def rest(self) -> None:
        """End a pipeline so that the server counts the time in which nothing more comes.

        The driver ends one with a flush, which stops the clock of `idle_in_transaction_session_timeout`; a statement of
        its own starts it again.
        """
        if self._holds and self.connection.info.transaction_status == TransactionStatus.INTRANS:
            self.connection.execute(b"")

    def _check_time(self) -> None:
        if self._until is not None and time.monotonic() > self._until:
            raise ReadTimeout("a read took too long and was stopped; narrow it or raise read_timeout")
