"""Chains over real HTTP to a chaos server, patient for milliseconds; and the ledger of what must never be lost."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from memhold.ports.models import ChatModel
from memhold.providers.chain import Chain, Link
from memhold.providers.chat import chat_model
from memhold.providers.entry import Entry
from memhold.providers.wrappers import Backoff, Timed
from memhold.testing import ChaosServer
from memhold.values.records import Memory
from memhold.wiring.system import SystemClock


class HttpChain(Chain):
    """A chain whose connections can be closed; the first model has `seconds` a call, the others `then`, if given."""

    def __init__(
        self,
        models: Sequence[ChatModel],
        seconds: float = 2.0,
        then: float | None = None,
        attempts: int = 2,
        seed: int = 0,
    ) -> None:
        clock = SystemClock()
        self._bare = models
        backoff = Backoff(attempts=attempts, first=0.001, jitter=0.0, patience=0.01)
        waits = [seconds, *[seconds if then is None else then] * len(models)]
        links = [Link(model=Timed(one, clock=clock, seconds=wait)) for one, wait in zip(models, waits, strict=False)]
        super().__init__(links, clock=clock, dice=Random(seed), name="consolidation", backoff=backoff)

    async def close(self) -> None:
        for model in self._bare:
            await model.close()


def http_chain(server: ChaosServer, *names: str, protocol: str = "openai-chat", **options) -> HttpChain:
    entries = [
        Entry(name=name, protocol=protocol, model=name, base_url=server.url, structured="tool") for name in names
    ]
    clock = SystemClock()
    return HttpChain([chat_model(entry, keys=lambda _: None, clock=clock) for entry in entries], **options)


def patience(name: str) -> float:
    """Seconds for a call while a server has that fault: short only where the fault is that it takes for ever."""
    return 0.5 if name in {"hang", "drip"} else 20.0


async def check_whole(scope, added: Sequence[str]) -> dict[str, int]:
    """Each message is in exactly one consolidated window, or in a RAW entry, or still pending; returns how many."""
    memories = await everything(scope)
    summed = [m for m in memories if m.kind == "summary" and m.state == "active"]
    raws = [m for m in memories if m.kind == "raw" and m.state == "active"]
    held = {message.id: message for message in await scope.messages(limit=10_000)}
    assert list(held) == list(added), "the journal is what was added"
    pending = set(await unconsolidated(scope))
    counts = {"summary": 0, "raw": 0, "pending": 0}
    windows = [set(m.sources) for m in summed]
    raw = {source for m in raws for source in m.sources}
    for one in added:
        places = sum(one in window for window in windows) + (one in raw) + (one in pending)
        assert places == 1, f"{one} (seq {held[one].seq}) is in {places} places"
        kind = "raw" if one in raw else "pending" if one in pending else "summary"
        counts[kind] += 1
    for memory in raws:
        assert all(
            held[source].text[:40] in memory.text or memory.text in held[source].text
            for source in memory.sources
            if len(memory.sources) > 1
        )
    return counts


async def unconsolidated(scope) -> list[str]:
    name = scope.scope.session or ""

    def work(tx):
        session = tx.session(name)
        return [] if session is None else [m.id for m in tx.messages(name, after=session.cursor)]

    return await scope._tx.read(work)


async def everything(scope) -> list[Memory]:
    page = await scope.list(states=None, limit=1000)
    return list(page.items)


async def check_facts_once(scope) -> None:
    """No value stands twice under one attribute."""
    active = [m for m in await everything(scope) if m.kind == "fact" and m.state == "active"]
    said = [(m.agent, m.subject, m.key, (m.value or "").casefold()) for m in active]
    assert len(said) == len(set(said))
