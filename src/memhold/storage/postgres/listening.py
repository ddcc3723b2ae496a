"""Wakes across processes: LISTEN on a connection of its own, and NOTIFY after commits.

A NOTIFY inside a transaction makes all such commits of the database wait for one lock, so it is sent afterwards, at
most ten times a second, and may be lost: workers poll as well.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import threading
import time
from collections.abc import Callable

import psycopg

from memhold.storage.postgres.connection import Session
from memhold.values.errors import MemholdError

__all__ = ["Bell"]

CHANNEL = "memhold_due"
LEAST_SECONDS = 0.1
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0


class Bell:
    """A thread that hears other processes make work due, and tells them when this one does."""

    def __init__(self, connect: Callable[[], Session], *, heard: Callable[[], None]) -> None:
        self._connect = connect
        self._heard = heard
        self._me = secrets.token_hex(8)
        self._read, self._write = os.pipe()
        self._ring = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="memhold-bell", daemon=True)
        self._thread.start()

    def ring(self) -> None:
        """Tell the other processes soon; from any thread."""
        if not self._ring.is_set():
            self._ring.set()
            with contextlib.suppress(OSError):
                os.write(self._write, b"!")

    def close(self) -> None:
        """Stop listening."""
        self._closed = True
        with contextlib.suppress(OSError):
            os.write(self._write, b"!")
        self._thread.join(timeout=2 * LONGEST_WAIT)
        if not self._thread.is_alive():
            os.close(self._read)
            os.close(self._write)

    def _run(self) -> None:
        wait = FIRST_WAIT
        while not self._closed:
            try:
                with contextlib.closing(self._connect()) as connection:
                    connection.execute(f"LISTEN {CHANNEL}".encode())
                    wait = FIRST_WAIT
                    # What was made due while nobody listened is found by looking once.
                    self._heard()
                    self._listen(connection)
            except (psycopg.Error, MemholdError, OSError):
                self._rest(wait)
                wait = min(LONGEST_WAIT, wait * 2)

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._closed and (left := until - time.monotonic()) > 0:
            if select.select([self._read], [], [], left)[0]:
                os.read(self._read, 4096)

    def _listen(self, connection: Session) -> None:
        while not self._closed:
            # A ring whose byte was read while it rested is still to be passed on; the next one writes no byte.
            ready = select.select([connection.fileno(), self._read], [], [], 0 if self._ring.is_set() else None)[0]
            if self._read in ready:
                os.read(self._read, 4096)
            others = [note for note in connection.notifies(timeout=0) if note.payload != self._me]
            if others:
                self._heard()
            if self._ring.is_set() and not self._closed:
                self._ring.clear()
                connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, self._me))
                self._rest(LEAST_SECONDS)
