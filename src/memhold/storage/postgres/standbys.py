"""Reading from standbys: which of them is as new as what this process has written and read, and whether it answers.

A read of a scope goes to a standby only where that has replayed everything that this process wrote to the scope and has
read of it (a position in the log, an LSN); else it goes to the primary. Positions of two timelines cannot be compared:
a standby that still follows a primary from before a failover may stand further in a log that is no longer ours. So
the timeline is a row of the store, and only a standby that has replayed that row is asked.
"""

from __future__ import annotations

import logging
import math
import select
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import psycopg
from psycopg.pq import ExecStatus

from memhold.storage.postgres.connection import Location, Session, connect, is_lost, is_race
from memhold.storage.postgres.pool import Pool
from memhold.storage.postgres.statements import QUERIES
from memhold.values.errors import MemholdError, StoreUnreachable
from memhold.values.records import Scope

__all__ = ["Positions", "Standbys"]

T = TypeVar("T")
Whose: TypeAlias = tuple[str, str]
log = logging.getLogger("memhold.storage")

ANSWER_SECONDS = 1.0
"""A standby that has not said by then how new it is, is passed over: it is frozen, or the network to it is gone."""
FIRST_WAIT, LONGEST_WAIT = 0.1, 10.0
"""Seconds between two looks at a standby that does not serve."""
MOST_SCOPES = 10_000
"""Scopes whose positions are kept apart; beyond, the newest of them holds for all."""

# What is committed is flushed; what is inserted besides may wait there for long, and no standby has it.
_WRITTEN = b"SELECT pg_current_wal_flush_lsn() - '0/0'::pg_lsn, left(pg_walfile_name(pg_current_wal_flush_lsn()), 8)"
_REPLAYED = b"SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() - '0/0'::pg_lsn"


class Positions:
    """Up to where in the log a standby must have come, by scope. Any thread may ask and tell."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scopes: dict[Whose, int] = {}
        self._least: float = 0
        self._losses = 0
        self.timeline = 0

    def needed(self, scope: Scope) -> float:
        """What serves this scope must have replayed up to here; infinite while nobody knows what was written."""
        return max(self._least, self._scopes.get(_whose(scope), 0))

    @property
    def losses(self) -> int:
        """How often a commit's position got lost; see `seen`."""
        return self._losses

    def begun(self, timeline: int, position: int) -> None:
        """The primary has begun another timeline: what survived of the one before stands before this position."""
        with self._lock:
            self.timeline, self._least = timeline, position
            self._scopes.clear()

    def lost(self) -> None:
        """A commit whose position nobody learnt: until the primary says where its log ends only that one is asked."""
        with self._lock:
            self._least = math.inf
            self._losses += 1

    def seen(self, scopes: Sequence[Scope], position: int, *, losses: int | None = None) -> None:
        """What was written or read of these scopes, or of any where there are none, stands before this position.

        `losses` are those that were known before the primary was asked for it: a later one is not answered by it.
        """
        with self._lock:
            if math.isinf(self._least) and losses == self._losses:
                self._least = position
            if not scopes:
                self._least = max(self._least, position)
            for scope in scopes:
                self._scopes[_whose(scope)] = max(position, self._scopes.get(_whose(scope), 0))
            if len(self._scopes) > MOST_SCOPES:
                self._least = max(self._least, *self._scopes.values())
                self._scopes.clear()

    def ask(self, primary: Session, scopes: Sequence[Scope]) -> None:
        """Note where the primary's log ends, after a commit or a read of these scopes (of any where there are none).

        Raises:
            psycopg.Error: it does not say.
        """
        losses = self.losses
        timeline, position = _end_of_log(primary)
        if timeline != self.timeline:
            with primary.transaction():
                primary.execute(QUERIES["enter_upkeep"])
                primary.execute(QUERIES["put_timeline"], {"timeline": str(timeline)})
            self.begun(*_end_of_log(primary))
        self.seen(scopes, position, losses=losses)


def _end_of_log(primary: Session) -> tuple[int, int]:
    """The timeline of the primary and the end of its log: everything that is committed stands before it."""
    [(position, timeline)] = primary.execute(_WRITTEN).fetchall()
    return int(timeline, 16), int(position)


def _whose(scope: Scope) -> Whose:
    return scope.namespace, scope.user or ""


@dataclass(slots=True)
class _Standby:
    """One of them: its connections, how far its timeline is known, and whether it serves."""

    location: Location
    pool: Pool
    serves: bool = False
    timeline: int = 0
    served: int = 0
    told: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class Standbys:
    """The standbys of one store. Reads of a scope go to the same one while it serves, which so has its pages at hand.

    One that is gone, frozen, promoted, or on another timeline is looked at again by a thread of its own, from 0.1 s on,
    at most every 10 s; no read waits for that.
    """

    def __init__(
        self, locations: Sequence[Location], *, lock_timeout: float, store_id: str, positions: Positions
    ) -> None:
        self._store_id = store_id
        self._positions = positions
        self._closed = threading.Event()

        def connecting(location: Location) -> Callable[[], Session]:
            return lambda: connect(location, lock_timeout=lock_timeout)

        self._all = [_Standby(location=one, pool=Pool(connecting(one))) for one in locations]
        for standby in self._all:
            self._watch(standby)

    @property
    def served(self) -> tuple[int, ...]:
        """How many reads each of them has answered."""
        return tuple(standby.served for standby in self._all)

    @property
    def serving(self) -> tuple[bool, ...]:
        """Which of them are asked now."""
        return tuple(standby.serves for standby in self._all)

    def read(self, scope: Scope, unit: Callable[[Session], T]) -> tuple[T] | None:
        """What the unit makes of a standby that is new enough; None where none is, or the one that was asked failed.

        What the unit itself raises goes to the caller. A query that a standby gives up for the sake of its replay, and
        a connection that breaks, are no answer: the primary is asked.
        """
        begin = hash(_whose(scope)) % len(self._all)
        for standby in (*self._all[begin:], *self._all[:begin]):
            if not standby.serves:
                continue
            try:
                with standby.pool.lend() as connection:
                    if self._is_new_enough(standby, connection, scope):
                        result = unit(connection)
                        self._note(connection, scope)
                        standby.served += 1
                        return (result,)
            except psycopg.Error as error:
                if is_race(error):
                    return None
                if not is_lost(error):
                    raise
                self._set_aside(standby, "it went away")
            except StoreUnreachable:
                self._set_aside(standby, "it cannot be reached")
        return None

    def _is_new_enough(self, standby: _Standby, connection: Session, scope: Scope) -> bool:
        # Asked before the snapshot is taken, which so holds everything up to there.
        said = _answer(connection, _REPLAYED, ANSWER_SECONDS)
        if said is None:
            connection.close()
            raise StoreUnreachable(f"{standby.location} does not answer")
        if said[0] != b"t" or standby.timeline < self._positions.timeline:
            self._set_aside(standby, "it follows the primary no longer, or not yet")
            return False
        return said[1] is not None and int(said[1]) >= self._positions.needed(scope)

    def _note(self, connection: Session, scope: Scope) -> None:
        """No later read of the scope may be older than this one, whoever answers it."""
        said = _answer(connection, _REPLAYED, ANSWER_SECONDS)
        if said is None or said[1] is None:
            raise StoreUnreachable("a standby broke off")
        self._positions.seen([scope], int(said[1]))

    def _set_aside(self, standby: _Standby, why: str) -> None:
        with standby.lock:
            if not standby.serves:
                return
            standby.serves = False
        standby.pool.forget_idle()
        if not standby.told:
            standby.told = True
            log.warning("the standby %s is not read from: %s; the primary answers", standby.location, why)
        self._watch(standby)

    def _watch(self, standby: _Standby) -> None:
        threading.Thread(target=self._wait_for, args=(standby,), name="memhold-standby", daemon=True).start()

    def _wait_for(self, standby: _Standby) -> None:
        wait = 0.0
        while not self._closed.wait(wait):
            if self._can_serve(standby):
                standby.serves = True
                if standby.told:
                    standby.told = False
                    log.warning("the standby %s is read from again", standby.location)
                return
            wait = min(LONGEST_WAIT, max(FIRST_WAIT, 2 * wait))

    def _can_serve(self, standby: _Standby) -> bool:
        """Whether it is a standby of this store, on the timeline that was written to."""
        try:
            with standby.pool.lend() as connection:
                said = _answer(connection, _REPLAYED, ANSWER_SECONDS)
                if said is None:
                    connection.close()
                    return False
                with connection.transaction():
                    connection.execute(QUERIES["enter_upkeep"])
                    rows = connection.execute("SELECT name, value FROM store WHERE name IN ('id', 'timeline')")
                    facts = {str(name): str(value) for name, value in rows}
        except (psycopg.Error, MemholdError):
            return False
        standby.timeline = int(facts.get("timeline", "0"))
        return said[0] == b"t" and facts.get("id") == self._store_id and standby.timeline >= self._positions.timeline

    def close(self) -> None:
        """Ask none of them any more."""
        self._closed.set()
        for standby in self._all:
            standby.pool.close()


def _answer(connection: Session, statement: bytes, seconds: float) -> list[bytes | None] | None:
    """The first row of a statement's answer, as text; None where it does not come in that time.

    The driver waits for an answer for as long as the network holds a connection, which a frozen server never drops.

    Raises:
        StoreUnreachable: the connection is broken, or the server refuses.
    """
    wire, until = connection.pgconn, time.monotonic() + seconds
    with suppress(psycopg.OperationalError):
        wire.send_query(statement)
        while True:
            wire.flush()
            if not select.select([wire.socket], [], [], max(0.0, until - time.monotonic()))[0]:
                return None
            wire.consume_input()
            if not wire.is_busy():
                break
        first = wire.get_result()
        while wire.get_result() is not None:
            pass
        if first is not None and first.status == ExecStatus.TUPLES_OK and first.ntuples:
            return [first.get_value(0, column) for column in range(first.nfields)]
    raise StoreUnreachable("a standby broke off")
