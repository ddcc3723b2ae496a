"""Moving a store between SQLite and PostgreSQL: everything arrives, again and again, and nothing newer is overwritten."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from memhold import AsyncMemhold
from memhold.errors import Conflict, IdempotencyConflict, InvalidInput, NotAStore
from memhold.storage.copying import copy_store
from memhold.storage.postgres.connection import parsed
from memhold.storage.postgres.copying import PostgresSide
from memhold.storage.sqlite.copying import SqliteScoped, SqliteSide
from memhold.testing import FakeClock, ScriptedChat
from memhold.wiring.migrate import migrate
from tests.postgres_server import Databases


async def filled(location: str, clock: FakeClock) -> None:
    settings = {"clock": clock, "worker": False, "consolidation": ScriptedChat(name="m"), "consolidate_messages": 4}
    async with AsyncMemhold.open(location, **settings) as mem:
        for namespace, user in (("acme", "alice"), ("acme", "bob"), ("other", None)):
            scope = mem.scope(namespace=namespace, user=user, agent="planner", session="s1")
            for turn in range(6):
                clock.advance(60)
                batch = [{"role": "user", "content": f"{turn} I live in Oslo \x00 Grüße 漢字"}]
                await scope.add(batch, idempotency_key=f"k{turn}")
            await scope.remember(attribute="city", value="Oslo")
            told = await scope.remember(attribute="city", value="Bogotá")
            await scope.correct(told.memory.id, "Lima")
            await scope.forget((await scope.remember("gone for good")).memory.id)
            await scope.forget((await scope.remember("hidden")).memory.id, hard=False)
            await scope.end_session()
        assert await mem.settle(timeout=300)


@pytest.fixture
def database(bare_database: str) -> str:
    """A store moves to where none is yet."""
    return bare_database


async def seen(location: str, clock: FakeClock) -> list[object]:
    """What every verb says of every scope."""
    said: list[object] = []
    async with AsyncMemhold.open(location, clock=clock, worker=False) as mem:
        for namespace, user in (("acme", "alice"), ("acme", "bob"), ("other", None)):
            scope = mem.scope(namespace=namespace, user=user)
            listed = (await scope.list(states=None, limit=1000)).items
            said += [listed, [await scope.history(memory.id) for memory in listed]]
            said += [await scope.summaries(), replace(await scope.status(), store="")]
            for question in ("where do I live", "Oslo", "city", "漢字"):
                found = await scope.recall(question, limit=20)
                said += [(hit.id, hit.score, hit.why) for hit in found.hits]
            said.append(await scope.recall("city", as_of=clock.now()))
    return said


async def test_there_and_back_is_the_same_store(tmp_path: Path, database: str) -> None:
    clock = FakeClock()
    first, second = str(tmp_path / "a.db"), str(tmp_path / "b.db")
    await filled(first, clock)
    # Asking is evidence: the second time it is no longer new.
    await seen(first, clock)
    before = await seen(first, clock)
    there = await migrate(first, database)
    assert (there.scopes, there.copied, there.behind) == (3, 3, 0)
    assert there.rows == there.total > 100
    assert await seen(database, clock) == before
    back = await migrate(database, second)
    assert (back.copied, back.total, back.checksum) == (3, there.total, there.checksum)
    assert await seen(second, clock) == before
    again = await migrate(first, database)
    assert (again.copied, again.rows, again.checksum) == (0, 0, there.checksum), "nothing is copied twice"


async def test_keys_and_forgetting_move_along(tmp_path: Path, database: str) -> None:
    clock = FakeClock()
    path = str(tmp_path / "a.db")
    await filled(path, clock)
    await migrate(path, database)
    async with AsyncMemhold.open(database, clock=clock, worker=False) as mem:
        alice = mem.scope(namespace="acme", user="alice", agent="planner", session="s1")
        same = [{"role": "user", "content": "3 I live in Oslo \x00 Grüße 漢字"}]
        assert (await alice.add(same, idempotency_key="k3")).replayed
        with pytest.raises(IdempotencyConflict):
            await alice.add([{"role": "user", "content": "other"}], idempotency_key="k3")
        receipt = await alice.add([{"role": "user", "content": "new"}])
        assert receipt.ids


class Interrupted(Exception):
    pass


async def test_a_run_that_was_interrupted_goes_on(tmp_path: Path, database: str) -> None:
    clock = FakeClock()
    path = str(tmp_path / "a.db")
    await filled(path, clock)

    def stop(done: int, _: int) -> None:
        if done == 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        await migrate(path, database, progress=stop)
    done = await migrate(path, database)
    assert (done.copied, done.behind) == (1, 0), "two were there"
    await seen(path, clock)
    await seen(database, clock)
    assert await seen(database, clock) == await seen(path, clock)


class TornScope(SqliteScoped):
    """Ends in the middle of a table: comparing stopped before it, at the first that differs."""

    reads = 0

    def rows(self, table):
        for row in super().rows(table):
            yield row
            if table.name == "message" and self._whose == ("acme", "bob"):
                TornScope.reads += 1
                if TornScope.reads > 2:
                    raise Interrupted


class TornSide(SqliteSide):
    @contextmanager
    def reading(self, whose):
        with super().reading(whose) as scoped:
            yield TornScope(scoped._connection, whose)


async def test_a_scope_is_copied_whole_or_not_at_all(tmp_path: Path, database: str) -> None:
    clock = FakeClock()
    path = str(tmp_path / "a.db")
    await filled(path, clock)
    async with AsyncMemhold.open(database, clock=clock, worker=False):
        pass
    with (
        closing(TornSide(path, busy_timeout=1)) as source,
        closing(PostgresSide(parsed(database), busy_timeout=1)) as target,
        pytest.raises(Interrupted),
    ):
        copy_store(source, target)
    async with AsyncMemhold.open(database, clock=clock, worker=False) as mem:
        assert len(await mem.scope(namespace="acme", user="alice", session="s1").messages()) == 6
        assert await mem.scope(namespace="acme", user="bob", session="s1").messages() == ()
    assert (await migrate(path, database)).copied == 2


async def test_what_came_meanwhile_is_copied_by_a_further_run(tmp_path: Path, database: str) -> None:
    clock = FakeClock()
    path = str(tmp_path / "a.db")
    await filled(path, clock)
    await migrate(path, database)
    async with AsyncMemhold.open(path, clock=clock, worker=False) as mem:
        await mem.scope(namespace="acme", user="bob").remember("came later")
        await mem.scope(namespace="new", user="carol").remember("somebody new")
    done = await migrate(path, database)
    assert (done.scopes, done.copied) == (4, 2)
    async with AsyncMemhold.open(database, clock=clock, worker=False) as mem:
        found = await mem.scope(namespace="acme", user="bob").recall("later")
        assert [hit.text for hit in found.hits if hit.kind == "note"][:1] == ["came later"]


async def test_a_target_that_was_written_to_is_not_overwritten(tmp_path: Path, database: str) -> None:
    clock = FakeClock()
    path = str(tmp_path / "a.db")
    await filled(path, clock)
    await migrate(path, database)
    async with AsyncMemhold.open(database, clock=clock, worker=False) as mem:
        newer = (await mem.scope(namespace="acme", user="alice").remember("newer")).memory
    with pytest.raises(Conflict, match="written to"):
        await migrate(path, database)
    async with AsyncMemhold.open(database, clock=clock, worker=False) as mem:
        assert await mem.scope(namespace="acme", user="alice").get(newer.id) == newer


@pytest.mark.parametrize(("namespace", "user"), [("new", "carol"), ("acme", "bob")])
async def test_where_anybody_wrote_to_the_target_nothing_of_it_is_changed(
    tmp_path: Path, database: str, namespace: str, user: str
) -> None:
    """Who is new there is in no scope of the source; what they share with others would be put back all the same."""
    clock = FakeClock()
    path = str(tmp_path / "a.db")
    await filled(path, clock)
    await migrate(path, database)
    async with AsyncMemhold.open(path, clock=clock, worker=False) as mem:
        await mem.scope(namespace="acme", user="alice").remember("at the source")
    async with AsyncMemhold.open(database, clock=clock, worker=False) as mem:
        await mem.scope(namespace=namespace, user=user).remember("at the target")
    with pytest.raises(Conflict, match="written to"):
        await migrate(path, database)
    async with AsyncMemhold.open(database, clock=clock, worker=False) as mem:
        listed = await mem.scope(namespace="acme", user="alice").list(limit=1000)
    assert "at the source" not in {memory.text for memory in listed.items}


async def test_another_store_is_not_overwritten(tmp_path: Path, databases: Databases) -> None:
    clock = FakeClock()
    first, second = str(tmp_path / "a.db"), databases.take()
    await filled(first, clock)
    async with AsyncMemhold.open(second, clock=clock, worker=False) as mem:
        await mem.scope(user="alice").remember("mine")
    with pytest.raises(Conflict, match="another store"):
        await migrate(first, second)
    databases.give_back(second)


async def test_what_cannot_be_moved_is_said(tmp_path: Path, database: str) -> None:
    path = str(tmp_path / "a.db")
    with pytest.raises(NotAStore):
        await migrate(path, database)
    with pytest.raises(NotAStore):
        await migrate(database, path)
    await filled(path, FakeClock())
    with pytest.raises(InvalidInput, match="same"):
        await migrate(path, f"sqlite:///{path}")
    with pytest.raises(InvalidInput, match="memory"):
        await migrate(path, "memory://")


async def test_tokens_move_and_who_was_revoked_stays_out(tmp_path: Path, database: str) -> None:
    path = str(tmp_path / "a.db")
    async with AsyncMemhold.open(path, worker=False) as mem:
        await mem.scope(namespace="acme", user="alice").remember("Likes tea")
        made = [await mem.admin.tokens.create(namespace="acme", user="alice", label=name) for name in ("a", "b", "c")]
        await mem.admin.tokens.revoke(made[0].token.id)
    assert (await migrate(path, database)).tokens == 3
    async with AsyncMemhold.open(database, worker=False) as mem:
        assert [one.revoked_at is None for one in await mem.admin.tokens.list()] == [False, True, True]
        # The secret that a client holds opens the same door: the digest is keyed with the store's own secret.
        found = [await mem.admin.tokens.check(one.secret) for one in made]
        assert [one and (one.namespace, one.user) for one in found] == [None, ("acme", "alice"), ("acme", "alice")]
        await mem.admin.tokens.revoke(made[1].token.id)
        own = await mem.admin.tokens.create(namespace="acme", user="bob")
    async with AsyncMemhold.open(path, worker=False) as mem:
        await mem.admin.tokens.revoke(made[2].token.id)
    await migrate(path, database)
    async with AsyncMemhold.open(database, worker=False) as mem:
        held = {one.id: one.revoked_at for one in await mem.admin.tokens.list()}
        assert {name for name, revoked in held.items() if revoked is None} == {own.token.id}
        assert len(held) == 4


@pytest.mark.parametrize("newer", ["source", "target"])
async def test_a_database_with_more_columns_is_moved_by_their_names(
    tmp_path: Path, database: str, databases: Databases, newer: str
) -> None:
    """A later release's first step has added columns, also before the others."""
    clock, path, other = FakeClock(), str(tmp_path / "a.db"), str(tmp_path / "b.db")
    await filled(path, clock)
    if newer == "source":
        await migrate(path, database)
    else:
        async with AsyncMemhold.open(database, clock=clock, worker=False):
            pass
    for table, first in (("model_usage", "day"), ("generation", "number")):
        databases.server.sql(
            f"ALTER TABLE {table} RENAME COLUMN {first} TO gone; ALTER TABLE {table} ADD COLUMN added BIGINT DEFAULT 7,"  # noqa: S608
            f" ADD COLUMN {first} {'BIGINT' if first == 'number' else 'TEXT'};"
            f" UPDATE {table} SET {first} = gone; ALTER TABLE {table} DROP COLUMN gone",
            database.partition("@/")[2].partition("?")[0],
        )
    moved = await migrate(database, other) if newer == "source" else await migrate(path, database)
    assert moved.behind == 0
    sides = PostgresSide(parsed(database), busy_timeout=5.0), SqliteSide(path, busy_timeout=5.0)
    with closing(sides[0]) as ours, closing(sides[1]) as theirs:
        assert ours.globals().usage == theirs.globals().usage != ()
        assert ours.globals().generations == theirs.globals().generations != ()
    if newer == "source":
        with (
            closing(SqliteSide(other, busy_timeout=5.0)) as back,
            closing(SqliteSide(path, busy_timeout=5.0)) as before,
        ):
            assert back.globals().usage == before.globals().usage
            assert back.globals().generations == before.globals().generations
