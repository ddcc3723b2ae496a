"""What happens after a commit makes no refusal of it: the store fails at each step behind the commit of each verb."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memhold import AsyncMemhold
from memhold.errors import StoreUnreachable
from memhold.storage.postgres import upkeep
from memhold.testing import FakeClock
from memhold.values.answers import Erasure
from memhold.values.errors import MemholdError


class Cut:
    """A store that answers nobody from some step after a commit on."""

    def __init__(self, store: Any, after: int) -> None:
        self._store = store
        self._after = after
        self._committed = False
        self.upkeep = _CutUpkeep(store.upkeep, self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def step(self) -> None:
        if self._committed:
            self._after -= 1
            if self._after < 0:
                raise StoreUnreachable("cut")

    async def read(self, *given: Any) -> Any:
        self.step()
        return await self._store.read(*given)

    async def write(self, *given: Any, **named: Any) -> Any:
        self.step()
        done = await self._store.write(*given, **named)
        self._committed = True
        return done


class _CutUpkeep:
    def __init__(self, upkeep: Any, cut: Cut) -> None:
        self._upkeep = upkeep
        self._cut = cut

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._upkeep, name)

        async def called(*given: Any, **named: Any) -> Any:
            self._cut.step()
            return await found(*given, **named)

        return called


def _said(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


@dataclass
class There:
    """A scope, ids of what stands in it, and a file to import."""

    scope: Any
    fact: str
    note: str
    change: str
    message: str
    file: Path


VERBS: Mapping[str, Callable[[There], Awaitable[Any]]] = {
    "add": lambda one: one.scope.add(_said("one more")),
    "remember": lambda one: one.scope.remember("a note"),
    "correct": lambda one: one.scope.correct(one.fact, "Porto"),
    "pin": lambda one: one.scope.pin(one.note),
    "unpin": lambda one: one.scope.unpin(one.note),
    "confirm": lambda one: one.scope.confirm(one.fact),
    "drop": lambda one: one.scope.drop(one.fact),
    "undo": lambda one: one.scope.undo(one.change),
    "forget": lambda one: one.scope.forget(one.message),
    "hide": lambda one: one.scope.forget(one.note, hard=False),
    "forget everything": lambda one: one.scope.forget(everything=True),
    "copy_session": lambda one: one.scope.copy_session("copy"),
    "set_session_metadata": lambda one: one.scope.set_session_metadata({"a": "b"}),
    "end_session": lambda one: one.scope.end_session(),
    "put": lambda one: one.scope.documents.put(["a"], "text"),
    "move": lambda one: one.scope.documents.move(["there"], ["elsewhere"]),
    "delete": lambda one: one.scope.documents.delete(["there"]),
    "import_file": lambda one: one.scope.import_file(one.file),
}


@pytest.mark.parametrize("steps", range(3))
@pytest.mark.parametrize("verb", VERBS)
async def test_a_failure_after_the_commit_is_no_refusal(location: str, tmp_path: Path, verb: str, steps: int) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text('{"role": "user", "content": "from a file"}\n')
    clock = FakeClock()
    async with AsyncMemhold.open(location, worker=False, embedding="none", clock=clock) as mem:
        scope = mem.scope(user="alice", session="s")
        fact = await scope.remember(attribute="city", value="Lisbon")
        note = await scope.remember("likes tea")
        added = await scope.add(_said("the quokka sleeps"))
        await scope.documents.put(["there"], "a text")
        there = There(
            scope=scope,
            fact=fact.memory.id,
            note=note.memory.id,
            change=note.receipt.change_ids[0],
            message=added.ids[0],
            file=file,
        )
        runtime = mem._store._runtime
        whole = runtime.store
        object.__setattr__(runtime, "store", Cut(whole, steps))
        try:
            done = await VERBS[verb](there)
        finally:
            object.__setattr__(runtime, "store", whole)
        if isinstance(done, Erasure) and done.hard:
            assert done.erased == (done.waiting_for is None)
            assert done.waiting_for in {None, "store"}
        clock.advance(3600)  # a lease that could not be given back ends by itself
        assert await mem.settle(timeout=60)
        if verb == "forget" and location != "memory://":
            assert not (await scope.residue("quokka")).found


async def test_a_vacuum_that_loses_its_connection_is_told_and_done_later(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    vacuumed = upkeep._vacuumed

    def cut(connection: Any, *, briefly: bool) -> str | None:
        with psycopg.connect(database.replace("memhold@", "postgres@", 1), autocommit=True) as keeper:
            keeper.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
        return vacuumed(connection, briefly=briefly)

    async with AsyncMemhold.open(database, worker=False, embedding="none") as mem:
        alice = mem.scope(user="alice", session="s")
        said = (await alice.add(_said("the quokka sleeps"))).ids[0]
        monkeypatch.setattr(upkeep, "_vacuumed", cut)
        done = await alice.forget(said, idempotency_key="once")
        assert (done.messages, done.erased, done.waiting_for) == ((said,), False, "store")
        monkeypatch.undo()
        assert (await alice.forget(said, idempotency_key="once")).replayed
        assert await mem.settle(timeout=120)
        with pytest.raises(MemholdError):
            await alice.get(said)
