"""The second wall: with row-level security a forgotten predicate reaches nothing of anybody else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memhold import AsyncMemhold
from memhold.errors import InvalidInput
from memhold.storage.postgres import statements
from memhold.storage.postgres.statements import QUERIES
from tests.postgres_server import Databases
from tests.storage.test_sql_scope import SCOPED

ENTER = QUERIES["enter"]
CONTENT = sorted(SCOPED)


async def _planted(database: str) -> None:
    async with AsyncMemhold.open(database, worker=False) as mem:
        for namespace, user in (("acme", "alice"), ("acme", "bob"), ("other", "alice"), ("other", None)):
            scope = mem.scope(namespace=namespace, user=user, agent="planner", session="s")
            receipt = await scope.add(
                [{"role": "user", "content": f"canary of {namespace} {user}"}], idempotency_key="k"
            )
            await scope.remember(attribute="pet", value=f"canary of {namespace} {user}")
            await scope.forget((await scope.remember("gone")).memory.id)
            assert receipt.ids
        await mem.settle()


def _counts(connection, tables=CONTENT) -> dict[str, int]:
    counted = {table: f"SELECT count(*) FROM {table}" for table in tables}  # noqa: S608 - names of our own
    return {table: connection.execute(sql).fetchone()[0] for table, sql in counted.items()}


async def test_a_forgotten_predicate_shows_only_the_scope_that_was_entered(database: str, databases: Databases) -> None:
    await _planted(database)
    name = database.partition("@/")[2].partition("?")[0]
    with psycopg.connect(databases.server.url(name, "postgres")) as connection:
        everything = _counts(connection)
    assert everything["message"] == 4
    with psycopg.connect(database) as connection:
        assert set(_counts(connection).values()) == {0}, "without a scope a query returns nothing"
        connection.execute(ENTER, {"namespace": "acme", "user_id": "alice"})
        assert connection.execute("SELECT text FROM message").fetchall() == [("canary of acme alice",)]
        mine = _counts(connection)
        assert all(mine[table] < everything[table] for table in CONTENT if everything[table])
        # What is asked for by name is not there either.
        assert connection.execute("SELECT 1 FROM memory WHERE namespace = 'other'").fetchall() == []
        connection.rollback()
        assert set(_counts(connection).values()) == {0}, "the scope ends with its transaction"


_PREDICATE = re.compile(rb"(\w+\.)?(namespace|user_id) = %\((namespace|user_id)\)s")


def _forgetful(name: str, statement: bytes) -> bytes:
    """A statement that reads, without the predicates that name its scope."""
    return statement if name.startswith("enter") or not _reads(statement) else _PREDICATE.sub(b"true", statement)


def _reads(statement: bytes) -> bool:
    return statement.lstrip().startswith((b"SELECT", b"WITH")) and b"FOR UPDATE" not in statement


async def _told(url: str) -> str:
    """What the verbs that read say to one user."""
    async with AsyncMemhold.open(url, worker=False) as mem:
        alice = mem.scope(namespace="acme", user="alice", agent="planner", session="s")
        said = [
            await alice.messages(),
            await alice.list(states=None),
            await alice.recall("canary"),
            await alice.status(),
        ]
        said += [await alice.history(memory.id) for memory in said[1].items]
        said.append(await alice.context([{"role": "user", "content": "which canary?"}]))
        return repr(said)


async def test_verbs_whose_statements_forgot_their_scope_tell_nothing_of_others(
    database: str, databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _planted(database)
    forgetful = {name: _forgetful(name, statement) for name, statement in QUERIES.items()}
    assert sum(forgetful[name] != QUERIES[name] for name in QUERIES) > 40
    monkeypatch.setattr(statements, "QUERIES", forgetful)
    told = await _told(database)
    assert "canary of acme alice" in told
    assert "bob" not in told
    assert "of other" not in told
    # A role that the wall does not bind is told of everybody: it is the wall that held, and nothing else.
    name = database.partition("@/")[2].partition("?")[0]
    async with AsyncMemhold.open(databases.server.url(name, "postgres"), worker=False) as mem:
        alice = mem.scope(namespace="acme", user="alice", agent="planner", session="s")
        assert "canary of acme bob" in repr(await alice.messages())


async def test_nothing_is_written_into_another_scope(database: str) -> None:
    await _planted(database)
    with psycopg.connect(database) as connection:
        for statement in ("DELETE FROM message", "UPDATE memory SET text = 'x'", "DELETE FROM due"):
            connection.execute(ENTER, {"namespace": "acme", "user_id": "nobody"})
            assert connection.execute(statement).rowcount == 0
            connection.rollback()
        for table in ("tombstone", "agent"):
            connection.execute(ENTER, {"namespace": "acme", "user_id": "alice"})
            values = "'x', 0, 'c', NULL" if table == "tombstone" else "'x', 9"
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"INSERT INTO {table} VALUES ('acme', 'bob', {values})")  # noqa: S608 - two of our own
            connection.rollback()


async def test_upkeep_sees_due_work_and_scope_names_and_no_content(database: str) -> None:
    await _planted(database)
    with psycopg.connect(database) as connection:
        connection.execute(QUERIES["enter_upkeep"])
        seen = {table for table, count in _counts(connection).items() if count}
        assert seen <= {"due", "owner"}
        assert "owner" in seen
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO owner (namespace, user_id) VALUES ('acme', 'new')")


def _scans(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if plan.get("Relation Name") == "due":
        yield plan
    for below in plan.get("Plans", ()):
        yield from _scans(below)


@pytest.mark.parametrize("kinds", [",consolidate,", ",expire,mirror,"], ids=["its kind", "other kinds"])
@pytest.mark.parametrize("name", ["any_due", "find_due", "soonest_due"])
async def test_a_look_at_a_long_queue_reads_no_more_of_it_than_may_be_claimed(
    database: str, databases: Databases, name: str, kinds: str
) -> None:
    """The wall of upkeep looks to the planner as if it let nothing through; a look must not read all to sort it."""
    async with AsyncMemhold.open(database, worker=False):
        pass
    databases.server.sql(
        "INSERT INTO due (namespace, user_id, kind, ref, due_at)"
        " SELECT 'n' || item % 4, 'u' || item, 'consolidate', 'x', item FROM generate_series(1, 20000) AS item",
        database.partition("@/")[2].partition("?")[0],
    )
    asked = {"now": 10**15, "longest": 10**15 + 1, "kinds": kinds, "of_namespace": None, "of_user": None, "limit": 4}
    with psycopg.connect(database) as connection:
        connection.execute(QUERIES["enter_upkeep"])
        connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        [[[told]]] = connection.execute(b"EXPLAIN (ANALYZE, FORMAT JSON) " + QUERIES[name], asked).fetchall()
    scans = list(_scans(told["Plan"]))
    assert scans
    for scan in scans:
        assert scan["Node Type"] == "Index Scan"
        assert scan["Actual Rows"] + scan.get("Rows Removed by Filter", 0) <= 1000


async def test_every_table_with_a_scope_has_the_wall(database: str) -> None:
    async with AsyncMemhold.open(database, worker=False):
        pass
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT relname, relrowsecurity AND relforcerowsecurity, EXISTS (SELECT 1 FROM pg_policy WHERE polrelid = c.oid)"
            " FROM pg_class AS c WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
            " AND EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = c.oid AND attname = 'namespace')"
        ).fetchall()
        # The secret of its hashes stands in the table `store`, which no scope reaches: it is seen empty.
        assert connection.execute("SELECT * FROM store").fetchall() == []
    assert {name for name, _, _ in found} == {*CONTENT, "namespace", "token"}
    assert all(walled and policy for _, walled, policy in found)


async def test_residue_looks_through_every_value_of_every_table(database: str, tmp_path: Path) -> None:
    async with AsyncMemhold.open(database, worker=False, mirror=str(tmp_path / "mirror")) as mem:
        alice, other = mem.scope(user="alice", session="wépt"), mem.scope(namespace="acme", user="zoe", agent="canary")
        await alice.add([{"role": "user", "content": "the wépt sea"}])
        await alice.remember(attribute="wépt", value="Oslo")
        await other.remember("it is wépt for zoe")
        found = (await alice.residue("wépt")).found
        # As it is, in JSON with escapes, and in another namespace's rows.
        assert {name: found[name] for name in ("message", "memory", "session")} == {
            "message": 3,
            "memory": 4,
            "session": 1,
        }
        assert set((await other.residue("canary")).found) == {"agent", "memory"}
        with psycopg.connect(database) as connection:
            connection.execute("CREATE TABLE later (namespace text, note bytea)")
            connection.execute("INSERT INTO later VALUES ('acme', %s)", ("canary".encode("utf-16-le"),))
        assert (await other.residue("canary")).found["later"] == 1
        with pytest.raises(InvalidInput, match="at least 4"):
            await alice.residue("abc")
        await alice.forget(everything=True)
        left = await mem.scope(namespace="acme", user="zoe").residue("wépt")
        assert (set(left.found), left.files > 20) == ({"memory"}, True)
        await other.forget(everything=True)
        assert not (await other.residue("wépt")).found


async def test_doctor_tells_of_a_damaged_mark_of_what_was_forgotten(database: str, databases: Databases) -> None:
    async with AsyncMemhold.open(database, worker=False) as mem:
        alice = mem.scope(user="alice")
        await alice.forget((await alice.remember("gone")).memory.id)
        assert "orphans" not in {finding.check for finding in await mem.admin.doctor()}
        name = database.partition("@/")[2].partition("?")[0]
        databases.server.sql("UPDATE tombstone SET id = replace(id, 'mem_', 'mdm_')", name)
        found = [finding.what for finding in await mem.admin.doctor() if finding.check == "orphans"]
        assert [what for what in found if what.startswith("1 marks of what was forgotten are damaged")]


async def test_what_doctor_advises_for_damaged_rows_can_be_done_here(database: str, databases: Databases) -> None:
    async with AsyncMemhold.open(database, worker=False) as mem:
        alice = mem.scope(user="alice", session="s")
        await alice.add([{"role": "user", "content": "hello"}])
        memory = (await alice.remember("Prefers window seats")).memory
        assert memory is not None
        name = database.partition("@/")[2].partition("?")[0]
        for table, column in {"message": "text", "memory": "text", "change": "reason", "session": "metadata"}.items():
            databases.server.sql(f"UPDATE {table} SET {column} = {column} || ' '", name)  # noqa: S608 - names of this test
        found = {one.what.split(":")[0]: one.advice for one in await mem.admin.doctor() if one.check == "rows"}
        damaged = {"1 message": 1, "1 memory": 1, "2 change": 1, "1 session": 1}
        assert {
            what.replace("damaged in the table ", ""): advice.count("--repair rows") for what, advice in found.items()
        } == damaged
        await mem.admin.doctor(repair="rows")
        assert {one.check for one in await mem.admin.doctor() if one.severity == "wrong"} == {"durability"}
        assert [one.verb for one in (await alice.changes()).items] == ["damaged", "damaged", "forget"]
        assert (await alice.add([{"role": "user", "content": "hello again"}])).ids


async def test_doctor_says_where_the_wall_is_not_binding(database: str, databases: Databases) -> None:
    await _planted(database)
    async with AsyncMemhold.open(database, worker=False) as mem:
        checks = {finding.check for finding in await mem.admin.doctor()}
        assert checks == {"durability", "autovacuum"}, "the server of the tests has fsync and autovacuum off"
    name = database.partition("@/")[2].partition("?")[0]
    async with AsyncMemhold.open(databases.server.url(name, "postgres"), worker=False) as mem:
        assert {"role", "durability", "autovacuum"} == {finding.check for finding in await mem.admin.doctor()}
    databases.server.sql("ALTER TABLE memory NO FORCE ROW LEVEL SECURITY", name)
    async with AsyncMemhold.open(database, worker=False) as mem:
        wrong = [finding for finding in await mem.admin.doctor() if finding.check == "role"]
        assert [finding.severity for finding in wrong] == ["wrong"]
