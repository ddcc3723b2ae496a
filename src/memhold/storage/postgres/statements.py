"""The named statements of the PostgreSQL store, on one connection."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from memhold.storage.postgres.connection import Session
from memhold.storage.postgres.session import Answer, Statement
from memhold.storage.sql.blocks import Row, Rows, load_dialect
from memhold.storage.sql.row_batches import touching, writing
from memhold.values.errors import ReadTimeout, StoreCorrupt

__all__ = ["QUERIES", "PostgresStatements", "driver_text", "numbered"]

_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]\w*)")


def driver_text(sql: str) -> bytes:
    """A statement with `:name` as psycopg wants it: `%(name)s`."""
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%")).encode()


NAMED = load_dialect("memhold.storage.postgres")
QUERIES: Mapping[str, bytes] = MappingProxyType({name: driver_text(sql) for name, sql in NAMED.items()})
_TOUCHING = touching(NAMED)
_WRITING = writing(NAMED)


_LIKELY: Mapping[str, slice] = MappingProxyType(
    {
        "read_owner": slice(0, 3),
        "read_change_seq": slice(3, 4),
        "read_session": slice(4, 19),
        "read_word_tail": slice(19, 24),
    }
)
"""What `read_likely` answers, and in which of its columns."""


_MOST_AT_ONCE = 256
"""So many statements travel on one way: those of a large import wait nowhere twice."""


_MOST_AS_ONE = 12
"""So many statements travel as one: what a message writes, with what it makes due. The server prepares each kind."""


_WHOSE = ("namespace", "user_id")


@lru_cache(maxsize=256)
def _as_one(names: tuple[str, ...], *, of_one: bool) -> tuple[bytes, Sequence[tuple[int, str]]]:
    """Statements that give no rows as one, with the statement and the name that each of its parameters is of.

    It has numbers in the place of names (`$1`), which the driver sends on as they are. With `of_one` all are of one
    scope, which crosses once. None of them may touch a row that another one writes: of two changes of a row PostgreSQL
    makes one. What a group has gathered are rows apart.
    """
    places: dict[tuple[int, str], int] = {}

    def placed(at: int) -> str:
        def parameter(found: re.Match[str]) -> str:
            place = (0 if of_one and found[1] in _WHOSE else at, found[1])
            return f"${places.setdefault(place, len(places) + 1)}"

        return _PARAMETER.sub(parameter, NAMED[names[at]])

    texts = [placed(at) for at in range(len(names))]
    named = ", ".join(f"w{at} AS ({text})" for at, text in enumerate(texts[:-1]))
    return f"{f'WITH {named} ' if named else ''}{texts[-1]}".encode(), tuple(places)


def numbered(name: str, params: Mapping[str, Any]) -> Statement:
    """A named statement as it travels with others."""
    text, places = _as_one((name,), of_one=False)
    return text, [params[parameter] for _, parameter in places]


def _of_one(waiting: Sequence[tuple[str, Mapping[str, Any]]]) -> bool:
    """Whether what waits names one scope; the first says both parts of it, as what a group counts first does."""
    first = waiting[0][1]
    return all(name in first for name in _WHOSE) and all(
        params.get(name, first[name]) == first[name] for _, params in waiting for name in _WHOSE
    )


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
        self._waiting: list[tuple[str, Mapping[str, Any]]] = []
        self._ready: dict[str, tuple[Mapping[str, Any], Sequence[Row]]] = {}

    def mark(self) -> None:
        # Never released: the commit does it, and a savepoint of the same name stands over the one before.
        self.send()
        self.connection.execute("SAVEPOINT one")

    def prepare(
        self, scope: Mapping[str, Any], session: str, *, until: int, before: Sequence[Statement]
    ) -> tuple[list[Answer], int | None]:
        """Send what waits, `before`, and what nearly every write asks first; the answers of `before` and the clock.

        One statement reads all of it. An answer is given once, to exactly that question, and not after anything was
        written. The clock is the last that is not beyond `until`; None where the namespace is not there.
        """
        named = {**scope, "session_id": session}
        *answers, likely = self.send([*before, numbered("read_likely", {**named, "until": until})])
        found = likely.fetchone()
        if found is None:
            return answers, None
        parts = {name: found[part] for name, part in _LIKELY.items()}
        # The first column of each is never empty where there is a row.
        self._ready = {
            name: (named if name == "read_session" else scope, [] if part[0] is None else [part])
            for name, part in parts.items()
        }
        return answers, int(found[-1])

    def run(self, name: str, params: Mapping[str, Any]) -> Rows:
        self._check_time()
        if self._ready:
            if _WRITING[name]:
                self._ready = {}
            elif name in self._ready and self._ready[name][0] == params:
                return Answer(self._ready.pop(name)[1])
        self.send()
        # What reads is planned for its values each time: its filters are of all kinds.
        return self.connection.execute(QUERIES[name], params, prepare=None if self._holds else False)

    def composed(self, name: str, numbers: Mapping[str, int], params: Mapping[str, Any]) -> Rows:
        """Run a statement that holds `{name}` of these whole numbers."""
        self._check_time()
        text = QUERIES[name]
        for place, number in numbers.items():
            text = text.replace(f"{{{place}}}".encode(), str(int(number)).encode())
        self.send()
        return self.connection.execute(text, params)

    def each(self, name: str, params: Sequence[Mapping[str, Any]]) -> list[list[Row]]:
        if len(params) < 2:
            return [list(self.run(name, one)) for one in params]
        self._check_time()
        self.send()
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
        if self._together:
            self._waiting += [(name, one) for one in params]
        else:
            self._travel([numbered(name, one) for one in params])

    def send(self, then: Sequence[Statement] = ()) -> list[Answer]:
        """Send what waits to be written, and `then`, of which it gives the answers.

        What a small group writes goes as one statement, which is prepared once.
        """
        waiting, self._waiting = self._waiting, []
        statements: list[Statement] = []
        if len(waiting) > _MOST_AS_ONE:
            statements = [numbered(name, params) for name, params in waiting]
        elif waiting:
            text, places = _as_one(tuple(name for name, _ in waiting), of_one=_of_one(waiting))
            statements = [(text, [waiting[at][1][name] for at, name in places])]
        return self._travel([*statements, *then])[len(statements) :]

    def _travel(self, statements: Sequence[Statement]) -> list[Answer]:
        answers: list[Answer] = []
        for first in range(0, len(statements), _MOST_AT_ONCE):
            answers += self.connection.travel(statements[first : first + _MOST_AT_ONCE])
        return answers

    @contextmanager
    def together(self) -> Iterator[None]:
        if self._together:
            yield
            return
        self._together = True
        try:
            yield
            self.send()
        finally:
            self._together = False
            self._waiting.clear()

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
