"""The connections of one process: made when they are needed, kept while they are sound, one user at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg.pq import TransactionStatus

from memhold.storage.postgres.connection import Session
from memhold.values.errors import StoreClosed

__all__ = ["Pool"]


class Pool:
    """Connections to lend. As many are open as were ever in use at once; one that broke is let go of."""

    def __init__(self, connect: Callable[[], Session]) -> None:
        self._connect = connect
        self._idle: list[Session] = []
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def lend(self) -> Iterator[Session]:
        """A connection outside of any transaction; whatever is open on it at the end is rolled back.

        Raises:
            StoreUnreachable: there is none, and none can be made.
            StoreClosed: the pool was closed.
        """
        connection = self._take()
        try:
            yield connection
        finally:
            self._give_back(connection)

    @contextmanager
    def glance(self) -> Iterator[Session | None]:
        """A connection as `lend` gives it, of those that are there already; None where nobody is idle: no one waits.

        Raises:
            StoreClosed: the pool was closed.
        """
        connection = self._idle_one()
        try:
            yield connection
        finally:
            if connection is not None:
                self._give_back(connection)

    def _take(self) -> Session:
        return self._idle_one() or self._connect()

    def _idle_one(self) -> Session | None:
        with self._lock:
            if self._closed:
                raise StoreClosed("the store is closed; open it again")
            while self._idle:
                connection = self._idle.pop()
                if not connection.closed:
                    return connection
        return None

    def _give_back(self, connection: Session) -> None:
        if connection.info.transaction_status not in {TransactionStatus.IDLE, TransactionStatus.UNKNOWN}:
            with suppress(psycopg.Error):
                connection.roll_back()
        sound = connection.info.transaction_status == TransactionStatus.IDLE
        with self._lock:
            if sound and not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def forget_idle(self) -> None:
        """Let go of the connections that nobody uses: after one was lost, the others go to the same dead node."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Lend nothing more; what is lent is closed when it comes back."""
        with self._lock:
            self._closed = True
        self.forget_idle()
