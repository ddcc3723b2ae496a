"""Seeded runs: faults, killed workers, messages and forgets during calls, two workers, several sessions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

from memhold.errors import ModelError
from memhold.journal.archive import NOTHING
from memhold.ports.models import ChatReply, ToolCall
from memhold.ports.stores import Lease
from memhold.ports.transaction import Listing
from memhold.providers.chain import Chain, Link
from memhold.providers.wrappers import Backoff
from memhold.storage.inmemory import InMemoryStore
from memhold.storage.postgres.connection import parsed
from memhold.storage.postgres.store import PostgresStore
from memhold.storage.sqlite.store import SqliteStore
from memhold.testing import FakeClock
from memhold.testing.scripted import sensible_reply
from memhold.upkeep.worker import Worker
from memhold.values.records import Scope
from memhold.verbs.local_scope import local_scope
from memhold.verbs.scope import AsyncScope
from memhold.wiring import Around, assemble
from memhold.wiring.chains import ChainParts
from memhold.wiring.settings import Settings
from memhold.wiring.system import TimeOrderedIds
from tests.postgres_server import Databases

SESSIONS = ("s1", "s2", "")
ERRORS = ("retry", "resample", "next", "park", "auth", "shorten")


class Unsteady:
    """A model that fails at a rate, in every way that a reply or an error can, and takes its time."""

    def __init__(self, name: str, random: Random, rate: float) -> None:
        self.name, self.random, self.rate = name, random, rate

    async def chat(self, request):
        for _ in range(self.random.randrange(6)):
            await asyncio.sleep(0)
        good = sensible_reply(request, model=self.name)
        if self.random.random() >= self.rate:
            return good
        how = self.random.choice((*ERRORS, "prose", "empty", "null", "other tool", "cut", "list", "unknown source"))
        call = good.tool_calls[0]
        match how:
            case "prose":
                return ChatReply(model=self.name, text="I noted it.")
            case "empty":
                return self._called(call, {})
            case "null":
                return self._called(call, dict.fromkeys(call.arguments))
            case "other tool":
                return self._called(ToolCall(id="x", name="other", arguments={}), call.arguments)
            case "cut":
                return ChatReply(model=self.name, text="", tool_calls=good.tool_calls, finish="length")
            case "list":
                return self._called(call, [call.arguments])
            case "unknown source":
                note = {"text": "x", "importance": "mid", "sources": ["m999"]}
                return self._called(call, {**call.arguments, "notes": [note]})
            case _:
                raise ModelError("scripted", model=self.name, cls=how, reason="scripted")

    def _called(self, call, arguments):
        made = ToolCall(id=call.id, name=call.name, arguments=arguments)
        return ChatReply(model=self.name, text="", tool_calls=(made,), finish="tool")


class Killed(Worker):
    """A worker that gives nothing back when it is cancelled, as a process that was killed."""

    async def _give_back(self, _: Lease) -> None:
        return None


def messages(random: Random, mark: str) -> list[dict]:
    home = random.choice(("Oslo", "Paris", "서울", "Bogotá"))
    kinds = [
        [{"role": "user", "content": f"{mark} I live in {home}."}, {"role": "assistant", "content": "Noted."}],
        [
            {"role": "user", "content": f"{mark} 제 이름은 민수예요."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_0", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "call_0", "content": "x" * random.randrange(1, 4000)},
            {"role": "assistant", "content": f"{mark} voilà"},
        ],
        [{"role": "user", "content": f"{mark} " + "word " * random.randrange(1, 300)}],
    ]
    return random.choice(kinds)


class Run:
    """One seeded run over one store."""

    def __init__(self, seed: int, store, clock: FakeClock) -> None:
        self.random = Random(seed)
        self.clock = clock
        self.models = [Unsteady(name, self.random, 0.15) for name in ("a", "b")]
        chain = Chain(
            [Link(model=self.models[0], window=self.random.choice((None, 3000))), Link(model=self.models[1])],
            clock=clock,
            dice=Random(seed),
            backoff=Backoff(attempts=1),
        )
        settings = Settings(worker=False, consolidate_messages=6)
        parts = ChainParts(chain=chain)
        self.runtimes = [assemble(store, Around(clock=clock, settings=settings, parts=parts)) for _ in range(2)]
        for runtime in self.runtimes:
            runtime.worker.__class__ = Killed
        self.added: dict[str, list[str]] = {name: [] for name in SESSIONS}
        self.kills = 0

    def scope(self, session: str) -> AsyncScope:
        return local_scope(self.runtimes[0], Scope(user="alice", session=session or None))

    async def act(self, turn: int) -> None:
        name = self.random.choice(SESSIONS)
        what = self.random.choice(("add", "add", "add", "end", "ask", "forget", "wait"))
        scope = self.scope(name)
        if what == "add":
            batch = messages(self.random, f"t{turn}")
            self.added[name] += (await scope.add(batch)).ids
        elif what == "end":
            await scope.end_session()
        elif what == "forget" and self.added[name]:
            gone = self.random.choice(self.added[name])
            await scope.forget(gone, wait=0)
            self.added[name].remove(gone)
        elif what == "wait":
            self.clock.advance(self.random.choice((1, 70, 2000)))
        else:
            worker = self.runtimes[self.random.randrange(2)].worker
            await worker.round()

    async def work(self) -> None:
        """Both workers at once, with messages arriving; one of them may be killed between any two awaits."""
        tasks = [asyncio.create_task(runtime.worker.round()) for runtime in self.runtimes]
        steps = self.random.randrange(40)
        for step in range(steps):
            await asyncio.sleep(0)
            if step % 13 == 5:
                await self.act(1000 + step)
        if self.random.random() < 0.5:
            tasks[0].cancel()
            self.kills += 1
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def check(self) -> dict[str, int]:
        """Each message is in one window, in a RAW entry, pending, or the model said that it says nothing.

        And nothing that was forgotten is there.
        """

        def look(tx):  # at one moment: a worker that was killed may still be writing
            told = {name: (tx.messages(name), tx.session(name)) for name in self.added}
            return tx.list_memories(Listing(states=None)), tx.changes(), told

        memories, changes, told = await self.scope("")._tx.read(look)
        windows = [set(m.sources) for m in memories if m.kind == "summary" and m.state == "active"]
        raw = [source for m in memories if m.kind == "raw" and m.state == "active" for source in m.sources]
        nothing = {source for change in changes if change.reason == NOTHING for source in change.sources}
        counts = {"summary": 0, "raw": 0, "pending": 0, "nothing": 0}
        every: set[str] = set()
        for name, ids in self.added.items():
            held, session = told[name]
            assert [m.id for m in held] == ids
            every |= set(ids)
            for message in held:
                pending = message.seq > session.cursor
                # The double finds nothing in a window only where all but a tool's output was forgotten.
                empty = message.role == "tool" and message.id in nothing
                places = (sum(message.id in w for w in windows), int(message.id in raw), int(pending), int(empty))
                torn = session.torn and sum(places) == 0
                assert sum(places) == 1 or torn, (name, message.seq, places)
                counts["summary"] += places[0]
                counts["raw"] += places[1]
                counts["pending"] += places[2]
                counts["nothing"] += places[3]
        stray = {source for m in memories for source in m.sources} - every
        assert not stray, "a memory names what was forgotten"
        facts = [(m.subject, m.key, m.value) for m in memories if m.kind == "fact" and m.state == "active"]
        assert len(facts) == len(set(facts))
        return counts

    async def recover(self) -> None:
        """The faults stop: RAW and pending go to zero."""
        for model in self.models:
            model.rate = 0.0
        await self.recover_in(SESSIONS)

    async def recover_in(self, sessions: Sequence[str]) -> None:
        for name in sessions:
            await self.scope(name).end_session()
        self.clock.advance(120)  # what a killed worker held falls due
        worker = self.runtimes[1].worker
        assert await asyncio.wait_for(worker.settle(), 60)
        counts = await self.check()
        assert counts["raw"] == counts["pending"] == 0
        assert counts["summary"] + counts["nothing"] == sum(len(ids) for ids in self.added.values())


async def one_run(seed: int, store, clock: FakeClock) -> int:
    run = Run(seed, store, clock)
    for turn in range(14):
        await run.act(turn)
        if turn % 3 == 2:
            await run.work()
            await run.check()
    await run.recover()
    await store.close()
    return run.kills


@pytest.mark.proof
async def test_consolidation_never_loses_and_never_doubles(
    tmp_path: Path, runs: Callable[[int, int], range], databases: Databases
) -> None:
    kills = 0
    for seed in runs(9, 500):
        clock = FakeClock()
        url = ""
        match seed % 3:
            case 0:
                store = InMemoryStore(clock, TimeOrderedIds())
            case 1:
                store = SqliteStore(str(tmp_path / f"{seed}.db"), clock=clock)
            case _:
                url = databases.store()
                store = await PostgresStore.open(parsed(url), clock=clock)
        try:
            kills += await one_run(seed, store, clock)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            await store.close()
            raise
        (tmp_path / f"{seed}.db").unlink(missing_ok=True)
        if url:
            databases.give_back(url)
    assert kills > 0
