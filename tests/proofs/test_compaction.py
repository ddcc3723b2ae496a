"""Seeded runs of compaction: faults, killed workers, forgets and undos between and during; then what is still there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from memhold.errors import MemholdError, ModelError
from memhold.fidelity.merges import lost
from memhold.ports.models import ChatReply
from memhold.providers.chain import Chain, Link
from memhold.providers.wrappers import Backoff
from memhold.storage.inmemory.store import InMemoryStore
from memhold.storage.postgres.connection import parsed
from memhold.storage.postgres.store import PostgresStore
from memhold.storage.sqlite.store import SqliteStore
from memhold.testing import FakeClock
from memhold.testing.scripted import HashEmbedding
from memhold.values.records import Scope
from memhold.verbs.local_scope import local_scope
from memhold.wiring import Around, assemble
from memhold.wiring.chains import ChainParts
from memhold.wiring.settings import Settings
from memhold.wiring.system import TimeOrderedIds
from tests import constants
from tests.compaction.worlds import APART, call, merged, shown, united, whole
from tests.postgres_server import Databases
from tests.proofs.test_consolidation import Killed

SUBJECTS = ("the garden gate", "the billing job", "our piano", "the north cabin")
SAYS = ("squeaks", "was painted", "needs oil", "stands open", "is old", "is loved")


def hard(text: str) -> set[str]:
    """The words that no merge may lose: those that have a digit, or are not in small letters."""
    words = (word.rstrip(".,") for word in text.split())
    return {word for word in words if not word.islower() or any(map(str.isdigit, word))}


def together(texts: list[str]) -> str:
    """What a good editor at his laziest writes: each text once, as it is."""
    return ". ".join(dict.fromkeys(texts))


class Unsteady:
    """A judge that merges what it is shown, and fails at a rate in every way that a reply or an error can."""

    def __init__(self, name: str, random: Random, rate: float) -> None:
        self.name, self.random, self.rate = name, random, rate

    async def chat(self, request) -> ChatReply:
        for _ in range(self.random.randrange(6)):
            await asyncio.sleep(0)
        texts = shown(request)
        if request.tool.name == "roll_up":
            return self._told(texts)
        if self.random.random() >= self.rate:
            return call(APART if self.random.random() < 0.2 else merged(together(texts)), model=self.name)
        how = self.random.choice(("retry", "next", "park", "prose", "empty", "cut", "lossy", "error text"))
        match how:
            case "prose" | "empty":
                return ChatReply(model=self.name, text="NO_MERGE" if how == "prose" else "")
            case "cut":
                return ChatReply(model=self.name, text="", tool_calls=call(merged("x")).tool_calls, finish="length")
            case "lossy":
                return call(merged(texts[0].split()[0]), model=self.name)
            case "error text":
                return call(merged("Error: could not get response"), model=self.name)
            case _:
                raise ModelError("scripted", model=self.name, cls=how, reason="scripted")

    def _told(self, texts: list[str]) -> ChatReply:
        """A roll-up, or a reply or an error that is none."""
        if self.random.random() >= self.rate:
            return call({"text": together(texts)}, name="roll_up", model=self.name)
        how = self.random.choice(("retry", "next", "park", "prose", "empty", "invented"))
        if how in {"retry", "next", "park"}:
            raise ModelError("scripted", model=self.name, cls=how, reason="scripted")
        if how == "prose":
            return ChatReply(model=self.name, text="It was a good day.")
        return call({"text": "" if how == "empty" else "Zacharias paid 77 euro"}, name="roll_up", model=self.name)


class Failing(HashEmbedding):
    """An embedding that fails at a rate."""

    def __init__(self, random: Random, rate: float) -> None:
        super().__init__()
        self.random, self.rate = random, rate

    async def embed(self, texts, *, purpose):
        if self.random.random() < self.rate:
            raise ModelError("scripted", model="hash", cls=self.random.choice(("retry", "shorten")), reason="scripted")
        return await super().embed(texts, purpose=purpose)


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    constants.bounds(monkeypatch, memories=3, distance=0.5)


class Run:
    """One seeded run over one store, with two workers."""

    def __init__(self, seed: int, store, clock: FakeClock) -> None:
        self.random, self.clock = Random(seed), clock
        self.judges = [Unsteady(name, self.random, 0.3) for name in ("a", "b")]
        self.embedding = Failing(self.random, 0.2)
        chain = Chain(
            [Link(model=judge) for judge in self.judges], clock=clock, dice=Random(seed), backoff=Backoff(attempts=1)
        )
        settings = Settings(worker=False)
        self.runtimes = [
            assemble(store, Around(clock=clock, settings=settings, judge=ChainParts(chain=chain), model=self.embedding))
            for _ in range(2)
        ]
        for runtime in self.runtimes:
            runtime.worker.__class__ = Killed
        self.alice = local_scope(self.runtimes[0], Scope(user="alice"))
        self.told: dict[str, str] = {}
        self.kills = 0

    async def act(self) -> None:
        what = self.random.choice(("tell", "tell", "tell", "tell", "forget", "undo", "pin", "wait"))
        ids = list(self.told)
        match what:
            case "tell":
                text = f"{self.random.choice(SUBJECTS)} {self.random.choice(SAYS)} {self.random.randrange(100, 999)}"
                self.clock.advance(1)
                made = (await self.alice.remember(text)).memory
                self.told[made.id] = text
            case "forget" if ids:
                gone = self.random.choice(ids)
                await self.alice.forget(gone, wait=0)
                del self.told[gone]
            case "undo":
                changes = await self.alice._tx.read(lambda tx: [c for c in tx.changes() if c.verb == "compact"])
                standing = [change for change in changes if change.undone_by is None]
                if standing:
                    with contextlib.suppress(MemholdError):
                        await self.alice.undo(self.random.choice(standing).id)
            case "pin" if ids:
                await self.alice.pin(self.random.choice(ids))
            case _:
                self.clock.advance(self.random.choice((1, 70, 2000)))

    async def work(self) -> None:
        """Both workers at once; one of them may be killed between any two awaits."""
        tasks = [asyncio.create_task(runtime.worker.round()) for runtime in self.runtimes]
        for step in range(self.random.randrange(60)):
            await asyncio.sleep(0)
            if step % 17 == 11:
                await self.act()
        if self.random.random() < 0.5:
            tasks[0].cancel()
            self.kills += 1
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def check(self) -> None:
        """What was told and not forgotten is there itself or in what stands for it, number by number; nothing else is."""
        await whole(self.alice)
        every = {memory.id: memory for memory in (await self.alice.list(states=None, limit=1000)).items}
        for one, text in self.told.items():
            end = every[one]
            while end.state in {"merged", "superseded"}:
                end = every[end.superseded_by]
            assert end.state == "active", (one, end.state)
            assert hard(text) <= hard(end.text), (text, end.text)
        for memory in every.values():
            named = [source for source in memory.sources if source.startswith("mem_")]
            assert all(source in every for source in named), "a memory names what was forgotten"
            leaves = {source for source in named if source in self.told}
            if memory.state == "active" and leaves:
                held = {detail for one in leaves for detail in hard(self.told[one])}
                assert hard(memory.text) <= held, "a forgotten detail"

    async def recover(self) -> None:
        """The faults stop: everything that is near comes to rest, and asks nothing more."""
        for judge in self.judges:
            judge.rate = 0.0
        self.embedding.rate = 0.0
        self.clock.advance(10_000)
        for _ in range(6):
            if await asyncio.wait_for(self.runtimes[1].worker.settle(), 60):
                break
            self.clock.advance(10_000)
        else:
            raise AssertionError("it does not come to rest")
        await self.check()


async def one_run(seed: int, store, clock: FakeClock) -> tuple[int, int]:
    run = Run(seed, store, clock)
    for turn in range(16):
        await run.act()
        if turn % 3 == 2:
            await run.work()
            await run.check()
    await run.recover()
    merges = await run.alice._tx.read(lambda tx: sum(change.verb == "compact" for change in tx.changes()))
    await store.close()
    return run.kills, merges


@pytest.mark.proof
async def test_sources_are_there_or_the_merged_memory_is(
    tmp_path: Path, runs: Callable[[int, int], range], databases: Databases
) -> None:
    kills = merges = 0
    for seed in runs(6, 500):
        clock = FakeClock()
        path, url = tmp_path / f"{seed}.db", ""
        match seed % 3:
            case 0:
                store = InMemoryStore(clock, TimeOrderedIds())
            case 1:
                store = SqliteStore(str(path), clock=clock)
            case _:
                url = databases.store()
                store = await PostgresStore.open(parsed(url), clock=clock)
        try:
            killed, made = await one_run(seed, store, clock)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
        kills, merges = kills + killed, merges + made
        path.unlink(missing_ok=True)
        if url:
            databases.give_back(url)
    print(f"{merges} merges, {kills} workers killed")
    assert kills > 0
    assert merges > 0


Told = tuple[str, datetime]


@pytest.mark.proof
def test_no_unaccounted_detail_in_a_hundred_generations(runs: Callable[[int, int], range]) -> None:
    """A model that forgets one detail in ten, over 100 generations of random merges: none of them goes unseen."""
    caught = passed = 0
    for seed in runs(2, 20):
        random = Random(seed)
        pool = [_fresh(random) for _ in range(12)]
        for generation in range(100):
            first, second = random.sample(range(len(pool)), 2)
            sources = [pool[first], pool[second]]
            words = united([text for text, _ in sources]).split()
            every = {detail for said, _ in sources for detail in hard(said)}
            text = " ".join(word for word in words if hard(word).isdisjoint(every) or random.random() >= 0.1)
            gone = every - hard(text)
            at = max(at for _, at in sources)
            if lost(text, at, sources):
                caught += bool(gone)
                # Refused: they stay apart; now and then an old one makes room for a new one.
                if random.random() < 0.5:
                    pool[first] = _fresh(random)
                continue
            passed += 1
            pool[first] = (text, at) if len(text) < 1500 else _fresh(random)
            pool[second] = _fresh(random)
            assert not gone, (seed, generation, gone)
    print(f"100 generations: {caught} merges with a forgotten detail caught, {passed} let through")
    assert caught > 0
    assert passed > 0


def _fresh(random: Random) -> Told:
    kinds = (
        lambda: str(random.randrange(100, 99_999)),
        lambda: f"v{random.randrange(9)}.{random.randrange(40)}.{random.randrange(9)}",
        lambda: f"/srv/app{random.randrange(999)}/config.toml",
        lambda: f"{random.getrandbits(48):012x}",
        lambda: f"2025-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}",
        lambda: random.choice(("Marguerite", "Oslo", "Светлана", "Kowalski", "トヨタ")),
        lambda: f"https://x{random.randrange(99)}.example/p",
    )
    said = [random.choice(kinds)() for _ in range(random.randrange(1, 4))]
    text = f"{random.choice(SUBJECTS)} {random.choice(SAYS)} {' '.join(said)}"
    return text, datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=random.randrange(10**5))
