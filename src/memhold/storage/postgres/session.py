"""A connection that sends several statements on one way to the server and back, each prepared once.

The driver's own pipeline makes a cursor of each statement, looks for parameters in its text, and asks for each answer
apart, which was most of what a small transaction cost the processor. This says the same to the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import InvalidSqlStatementName, error_from_result
from psycopg.generators import fetch_many, send
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGconn, PGresult
from psycopg.waiting import Ready, Wait

from memhold.storage.sql.blocks import Row

__all__ = ["Answer", "Session", "Statement"]

T = TypeVar("T")

Statement = tuple[bytes, Sequence[Any]]
"""A text with its parameters as `$1`, `$2`, and their values."""

_Kind = tuple[bytes, Sequence[int]]
"""What is prepared: a text, and the types of its parameters."""
_MOST_PREPARED = 256
"""So many statements the server keeps for a connection; a further one it reads anew each time."""


class Answer:
    """`Rows` that have arrived; `said` is the tag of a command that gives none, such as `COMMIT`."""

    def __init__(self, rows: Sequence[Row], said: bytes = b"") -> None:
        self._rows = iter(rows)
        self.said = said

    def fetchone(self) -> Row | None:
        return next(self._rows, None)

    def fetchall(self) -> Sequence[Row]:
        return list(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return self._rows


class Session(psycopg.Connection[tuple[Any, ...]]):
    """A connection of ours: in autocommit, with the settings of `connect`."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._adapting = Transformer(self)
        self._prepared_here: dict[_Kind, bytes] = {}

    def travel(self, statements: Sequence[Statement]) -> list[Answer]:
        """Run statements one after the other; their answers.

        Outside of a transaction they are one. Behind the last the server counts how long it hears nothing
        (`idle_in_transaction_session_timeout`), which the driver's pipeline stops.

        Raises:
            psycopg.OperationalError: the connection is lost, and closed.
            psycopg.Error: what the first one that failed says; those behind it were passed over.
        """
        sent = self._sent(statements)
        with self._closed_if_broken():
            arrived = self.wait(_arrived(self.pgconn, len(sent)))
            self.pgconn.exit_pipeline_mode()
        return self._answers(sent, arrived)

    async def glance(self, statements: Sequence[Statement]) -> list[Answer]:
        """`travel` on the running loop, which waits for the answers without being held up.

        Not on loops that watch no sockets of others (Windows). Raises as `travel` does.
        """
        sent = self._sent(statements)
        with self._closed_if_broken():
            arrived = await _on_loop(_arrived(self.pgconn, len(sent)), self.pgconn.socket)
            self.pgconn.exit_pipeline_mode()
        return self._answers(sent, arrived)

    def _sent(self, statements: Sequence[Statement]) -> list[tuple[_Kind, bytes] | None]:
        """Give statements to libpq: for each answer to come what it says is prepared, None for a statement's own."""
        pgconn, adapting, prepared = self.pgconn, self._adapting, self._prepared_here
        ready = []
        for text, values in statements:
            # All values before anything is sent: one that cannot be sent leaves nothing behind.
            given = adapting.dump_sequence(values, [PyFormat.AUTO] * len(values))
            ready.append(((text, adapting.types or ()), given, adapting.formats))
        named: dict[_Kind, bytes] = {}
        sent: list[tuple[_Kind, bytes] | None] = []
        with self._closed_if_broken():
            pgconn.enter_pipeline_mode()
            for kind, given, formats in ready:
                name = prepared.get(kind) or named.get(kind)
                if name is None and len(prepared) + len(named) < _MOST_PREPARED:
                    name = named[kind] = b"memhold_%d" % (len(prepared) + len(named))
                    pgconn.send_prepare(name, *kind)
                    sent.append((kind, name))
                if name is None:
                    pgconn.send_query_params(kind[0], given, kind[1], formats)
                else:
                    pgconn.send_query_prepared(name, given, formats)
                sent.append(None)
            pgconn.pipeline_sync()
        return sent

    @contextmanager
    def _closed_if_broken(self) -> Iterator[None]:
        """Answers that nobody read would be taken for those of what comes next."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _answers(self, sent: Sequence[tuple[_Kind, bytes] | None], arrived: Sequence[PGresult]) -> list[Answer]:
        for one, result in zip(sent, arrived, strict=True):
            if one is not None and result.status == ExecStatus.COMMAND_OK:
                self._prepared_here[one[0]] = one[1]
        if (failed := _failure(arrived)) is not None:
            if isinstance(failed, InvalidSqlStatementName):
                # Somebody had the server forget what it had prepared; a new connection begins anew.
                self.close()
                raise psycopg.OperationalError("the server forgot the connection's statements") from failed
            raise failed
        return [self._answer(result) for one, result in zip(sent, arrived, strict=True) if one is None]

    def _answer(self, result: PGresult) -> Answer:
        if result.status != ExecStatus.TUPLES_OK:
            return Answer((), result.command_status or b"")
        self._adapting.set_pgresult(result)
        return Answer(self._adapting.load_rows(0, result.ntuples, tuple))

    def roll_back(self, *, savepoint: str = "") -> None:
        """Roll the transaction back, or to a savepoint.

        Where the driver itself sends a rollback it has the server forget all that is prepared, here too.
        """
        self.travel([(f"ROLLBACK TO SAVEPOINT {savepoint}".encode() if savepoint else b"ROLLBACK", ())])


def _arrived(pgconn: PGconn, count: int) -> Generator[Any, Any, list[PGresult]]:
    """Send what waits, and the results of so many; fewer where the server said why it went away."""
    yield from send(pgconn)
    arrived: list[PGresult] = []
    try:
        while len(arrived) < count:
            arrived.append((yield from _next(pgconn)))
        # The mark of the end.
        yield from _next(pgconn)
    except psycopg.OperationalError:
        if (failed := _failure(arrived)) is not None:
            raise failed from None
        raise
    return arrived


def _next(pgconn: PGconn) -> Generator[Any, Any, PGresult]:
    results: list[PGresult] = yield from fetch_many(pgconn)
    if not results:
        raise psycopg.OperationalError("the connection is lost")
    return results[-1]


async def _on_loop(steps: Generator[Any, Any, T], socket: int) -> T:
    """Run one of the driver's generators to its end, each wait of it on the running loop."""
    loop = asyncio.get_running_loop()
    ready: Any = None
    while True:
        try:
            wanted = steps.send(ready)
        except StopIteration as end:
            result: T = end.value
            return result
        came: asyncio.Future[int] = loop.create_future()
        if wanted & Wait.R:
            loop.add_reader(socket, _came, came, Ready.R)
        if wanted & Wait.W:
            loop.add_writer(socket, _came, came, Ready.W)
        try:
            ready = await came
        finally:
            loop.remove_reader(socket)
            if wanted & Wait.W:
                loop.remove_writer(socket)


def _came(future: asyncio.Future[int], what: int) -> None:
    if not future.done():
        future.set_result(what)


def _failure(arrived: Sequence[PGresult]) -> psycopg.Error | None:
    failed = next((result for result in arrived if result.status == ExecStatus.FATAL_ERROR), None)
    return None if failed is None else error_from_result(failed)
