"""One transaction of a writer: it holds its namespace, enters one scope after the other, and leaves a mark."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from memhold.ports.stores import Clock
from memhold.storage.open_state import STEADY, StoreTime, store_time
from memhold.storage.postgres.connection import Session, in_our_words, is_lost, is_race
from memhold.storage.postgres.session import Answer, Statement
from memhold.storage.postgres.statements import QUERIES, PostgresStatements, numbered
from memhold.storage.postgres.writing import PostgresWrite
from memhold.storage.sql.row_batches import RowBatch
from memhold.values.errors import StoreError
from memhold.values.records import Scope, from_micros, micros

__all__ = ["UnansweredError", "WriteTransaction", "committed"]

_BEGIN = b"BEGIN ISOLATION LEVEL READ COMMITTED"
MARK_BYTES = 16
MARKS_BYTES = 256
"""What a namespace keeps of marks (see `lock_with_mark`)."""


class UnansweredError(Exception):
    """A COMMIT was sent and the connection lost; `before` are the marks that stood when the transaction began."""

    def __init__(self, namespace: str, mark: bytes, before: bytes) -> None:
        super().__init__("a commit without an answer")
        self.namespace = namespace
        self.mark = mark
        self.before = before


class WriteTransaction:
    """A transaction that has the lock of its namespace, from the first statement to the commit."""

    def __init__(self, connection: Session, scope: Scope, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._namespace = scope.namespace
        self._user = scope.user or ""
        self._mark = secrets.token_bytes(MARK_BYTES)
        self._before = b""
        self._sql = PostgresStatements(connection, holds=True)
        self._gathered = RowBatch(self._sql)
        self._now = self._begin(scope)

    def _begin(self, scope: Scope) -> StoreTime:
        held = self._locked(scope, begin=True)
        if held is None:
            held = self._locked(scope, begin=False)
        if held is None:
            raise StoreError("the namespace cannot be locked; run 'memhold doctor'")
        self._before, last = held
        # Read under the lock: dated after what this namespace committed last.
        return store_time(self._clock.now(), from_micros(last))

    def _locked(self, scope: Scope, *, begin: bool) -> tuple[bytes, int] | None:
        """Lock the namespace: the marks before, and the clock; None where it is new and its row is not to be made."""
        whose = {"namespace": self._namespace, "user_id": self._user}
        first = [(_BEGIN, ()), numbered("enter", whose)] if begin else [numbered("add_namespace", whose)]
        marking = numbered("lock_with_mark", {"namespace": self._namespace, "mark": self._mark})
        (*_, held), last = self._prepare(scope, [*first, marking])
        row = held.fetchone()
        return None if row is None or last is None else (bytes(row[0])[MARK_BYTES:], last)

    def run(self, scope: Scope, work: Callable[[Any], Any], shown: str) -> tuple[Any, BaseException | None, bool]:
        """Run one unit in its savepoint: its result or its error, and whether it made work due.

        Raises:
            psycopg.Error: the whole transaction is lost, or lost a race.
        """
        self._now = store_time(self._clock.now(), self._now.dated)
        self._enter(scope)
        self._gathered.begin()
        tx = PostgresWrite(self._gathered, scope, self._now)
        try:
            result = work(tx)
        except BaseException as error:
            if not self._taken_back(tx, error):
                raise
            return None, in_our_words(shown, error), False
        finally:
            tx.end()
        self._gathered.end()
        if tx.set_back:
            self._now = StoreTime(dated=self._now.clock, clock=self._now.clock)
        return result, None, tx.woke

    def _taken_back(self, tx: PostgresWrite, error: BaseException) -> bool:
        """Go back to where a unit began; False where that takes the whole transaction."""
        if isinstance(error, psycopg.Error) and (is_lost(error) or is_race(error)):
            return False
        status = self._connection.info.transaction_status
        if status != TransactionStatus.INTRANS and not (tx.marked and status == TransactionStatus.INERROR):
            return False
        if tx.marked:
            self._connection.roll_back(savepoint="one")
        self._gathered = self._gathered.taken_back()
        return True

    def _enter(self, scope: Scope) -> None:
        user = scope.user or ""
        if user == self._user:
            return
        with self._sql.together():
            # Rows that wait are the former user's: they are written before its scope is left.
            self._gathered.flush()
            self._prepare(scope, [numbered("enter", {"namespace": self._namespace, "user_id": user})])
        self._user = user

    def _prepare(self, scope: Scope, before: Sequence[Statement]) -> tuple[list[Answer], int | None]:
        bound = {"namespace": scope.namespace, "user_id": scope.user or ""}
        until = micros(self._clock.now() + STEADY)
        return self._sql.prepare(bound, scope.session or "", until=until, before=before)

    def commit(self) -> None:
        """Write what was gathered and the clock, and commit, all in one way to the server and back.

        Raises:
            UnansweredError: the connection was lost when the COMMIT may have been sent.
        """
        try:
            with self._sql.together():
                self._gathered.flush()
                self._sql.many(
                    "write_clock", [{"now": micros(self._now.dated), "until": micros(self._now.clock + STEADY)}]
                )
                # What fails before it makes the server pass it over.
                [answer] = self._sql.send([(b"COMMIT", ())])
        except psycopg.Error as error:
            if is_lost(error):
                raise UnansweredError(self._namespace, self._mark, self._before) from None
            raise
        if answer.said != b"COMMIT":
            raise StoreError("PostgreSQL rolled the transaction back; nothing was stored, try again")


def committed(connection: Session, unanswered: UnansweredError) -> bool | None:
    """Whether the transaction that left no answer took effect; None where nothing tells any more.

    It waits for the namespace's lock: a transaction that is still committing holds it. The row of a new namespace is
    still its own, and cannot be seen; to add the same waits for it too.
    """
    connection.execute("BEGIN")
    try:
        connection.execute(QUERIES["enter"], {"namespace": unanswered.namespace, "user_id": ""})
        connection.execute(QUERIES["add_namespace"], {"namespace": unanswered.namespace})
        row = connection.execute(QUERIES["lock_namespace"], {"namespace": unanswered.namespace}).fetchone()
    finally:
        connection.roll_back()
    marks = b"" if row is None else bytes(row[0])
    standing = {marks[at : at + MARK_BYTES] for at in range(0, len(marks), MARK_BYTES)}
    if unanswered.mark in standing:
        return True
    # The list is whole, or still reaches back to what stood before: then ours would be in it.
    if len(marks) < MARKS_BYTES or unanswered.before[:MARK_BYTES] in standing:
        return False
    return None
