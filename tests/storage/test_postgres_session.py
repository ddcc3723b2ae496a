"""Statements that travel together: what is prepared stays so, and what fails leaves a connection that can be used."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from memhold.storage.postgres import session
from memhold.storage.postgres.connection import connect, is_lost, parsed
from memhold.storage.postgres.session import Session
from memhold.storage.postgres.store import PostgresStore
from memhold.testing import FakeClock

BEGIN = (b"BEGIN", ())
DOUBLED = b"SELECT $1::bigint * 2, $2::text"
PREPARED = "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'memhold%'"


@pytest.fixture
def line(database: str) -> Iterator[Session]:
    with closing(connect(parsed(database), lock_timeout=10)) as made:
        yield made


def prepared(line: Session) -> int:
    row = line.execute(PREPARED).fetchone()
    assert row is not None
    return row[0]


def test_answers_come_in_the_order_of_the_statements(line: Session) -> None:
    given = [(DOUBLED, (n, None if n == 3 else f"\0{n}")) for n in range(600)]
    begun, *answers, ended = line.travel([BEGIN, *given, (b"COMMIT", ())])
    assert (begun.said, ended.said) == (b"BEGIN", b"COMMIT")
    assert [answer.fetchall() for answer in answers] == [[(2 * n, None if n == 3 else f"\0{n}")] for n in range(600)]
    assert prepared(line) == 3
    [large] = line.travel([(b"SELECT $1::bytea", (b"x" * 5_000_000,))])
    assert large.fetchall() == [(b"x" * 5_000_000,)]


def test_what_is_prepared_outlives_a_rollback_and_a_failure(line: Session) -> None:
    for _ in range(4):
        line.execute("SELECT 3")  # the driver has prepared something of its own
    for _ in range(3):
        with pytest.raises(psycopg.errors.DivisionByZero):
            line.travel([BEGIN, (DOUBLED, (1, "a")), (b"SELECT 1 / $1::bigint", (0,)), (b"SELECT 2", ())])
        line.roll_back()
    # What stood behind the failure was passed over.
    assert prepared(line) == 4
    line.travel([BEGIN, (b"SAVEPOINT one", ()), (DOUBLED, (1, "a"))])
    line.roll_back(savepoint="one")
    assert line.travel([(DOUBLED, (2, "b")), (b"ROLLBACK", ())])[0].fetchall() == [(4, "b")]


def test_a_further_statement_than_is_kept_is_read_anew(line: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_MOST_PREPARED", 2)
    for _ in range(2):
        answers = line.travel([(b"SELECT %d" % n, ()) for n in range(4)])
        assert [answer.fetchall() for answer in answers] == [[(n,)] for n in range(4)]
    assert prepared(line) == 2


def test_a_value_that_cannot_be_sent_leaves_nothing_behind(line: Session) -> None:
    with pytest.raises(psycopg.ProgrammingError):
        line.travel([BEGIN, (DOUBLED, (object(), "a"))])
    assert line.travel([(DOUBLED, (1, "a"))])[0].fetchall() == [(2, "a")]


def test_a_server_that_forgot_what_was_prepared_costs_the_connection(line: Session) -> None:
    line.travel([(DOUBLED, (1, "a"))])
    line.execute("DEALLOCATE ALL")
    with pytest.raises(psycopg.OperationalError) as lost:
        line.travel([(DOUBLED, (1, "a"))])
    assert is_lost(lost.value)
    assert line.closed


async def test_the_server_counts_the_silence_behind_what_travelled(line: Session, database: str) -> None:
    line.travel([(b"SELECT set_config('idle_in_transaction_session_timeout', '20ms', false)", ()), BEGIN])
    with psycopg.connect(database, autocommit=True) as other:
        there = "SELECT 1 FROM pg_stat_activity WHERE pid = %s"
        while other.execute(there, (line.info.backend_pid,)).fetchone():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    with pytest.raises(psycopg.Error) as lost:
        line.travel([(b"COMMIT", ())])
    assert is_lost(lost.value)


async def test_a_glance_answers_on_the_loop_and_one_that_is_given_up_leaves_no_answer_behind(line: Session) -> None:
    for n in range(3):
        assert [answer.fetchall() for answer in await line.glance([(DOUBLED, (n, "x" * 3_000_000))])] == [
            [(2 * n, "x" * 3_000_000)]
        ]
    with pytest.raises(psycopg.errors.DivisionByZero):
        await line.glance([(b"SELECT 1 / $1::bigint", (0,))])
    assert not line.closed
    waits = asyncio.create_task(line.glance([(b"SELECT pg_sleep(20)", ())]))
    await asyncio.sleep(0)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    assert line.closed


async def test_a_token_is_found_where_the_idle_connection_was_lost(database: str) -> None:
    store = await PostgresStore.open(parsed(database), clock=FakeClock())
    assert await store.tokens.find("tok_none") is None
    with psycopg.connect(database, autocommit=True) as other:
        ended = other.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'memhold'"
        )
        assert ended.fetchall()[:1] == [(True,)]
    assert await store.tokens.find("tok_none") is None
    await store.close()
