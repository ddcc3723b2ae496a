"""Keys that words leave open: an embedding beyond its threshold, a model in the grey band, a person for the rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Literal

import numpy as np
import pytest
import pytest_asyncio
from numpy.typing import NDArray

from memhold import AsyncMemhold
from memhold.errors import ModelError
from memhold.facts import keys_step as likeness_module
from memhold.facts.remember import Writer
from memhold.facts.state import Statement, state_fact
from memhold.facts.suspicions import list_suspicions
from memhold.testing import FakeClock, ScriptedChat, SeededIds
from memhold.values.records import Author

pytestmark = pytest.mark.asyncio
DAY = 86_400.0


class Cosines:
    """An embedding whose keys have a cosine that the test says; `hangs` never answers."""

    fingerprint = "test:cosines"
    dimension = 2

    def __init__(self, cosine: float, *, hangs: bool = False, error: Exception | None = None) -> None:
        self.cosine, self.hangs, self.error = cosine, hangs, error
        self.asked: list[tuple[str, ...]] = []

    async def embed(self, texts: Sequence[str], *, purpose: Literal["document", "query"]) -> NDArray[np.float32]:
        assert purpose in {"document", "query"}
        self.asked.append(tuple(texts))
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        first = (1.0, 0.0)
        second = (self.cosine, (1 - self.cosine**2) ** 0.5)
        return np.array([second if "vocation" in text else first for text in texts], dtype=np.float32)

    @property
    def keys_asked(self) -> list[tuple[str, ...]]:
        return [texts for texts in self.asked if all("wife" in text and " is " not in text for text in texts)]


@pytest_asyncio.fixture
async def opening(location: str, clock: FakeClock) -> AsyncIterator:
    opened: list[AsyncMemhold] = []

    async def open_with(**given) -> AsyncMemhold:
        settings = {"worker": False, "clock": clock, "ids": SeededIds(len(opened) + 5), "key_threshold": 0.9, **given}
        opened.append(await AsyncMemhold.open(location, **settings))
        return opened[-1]

    yield open_with
    for one in opened:
        await one.close()


async def two_keys(memhold: AsyncMemhold, clock: FakeClock):
    alice = memhold.scope(user="alice")
    first = (await alice.remember(attribute="wife's job", value="teacher")).memory
    clock.advance(DAY)
    second = (await alice.remember(attribute="wife's vocation", value="baker")).memory
    assert first.key != second.key, "the words decide at once, and keep them apart"
    return alice, first, second


async def values(scope) -> list[str]:
    return sorted(memory.value for memory in (await scope.list(kinds=("fact",))).items)


def verdict(word: str) -> dict[str, str]:
    return {"verdict": word}


async def test_beyond_the_threshold_they_are_one_in_one_change(opening, clock: FakeClock) -> None:
    embedding = Cosines(0.95)
    memhold = await opening(embedding=embedding)
    alice, first, second = await two_keys(memhold, clock)
    assert embedding.asked == [], "what is told waits for no embedding"
    assert await memhold.settle()
    assert await values(alice) == ["baker"]
    assert (await alice.get(first.id)).superseded_by == second.id
    assert [set(texts) for texts in embedding.keys_asked] == [{"wife job", "wife vocation"}]
    [*_, change] = await alice.history(first.id)
    assert (change.verb, change.by.origin, change.by.name, change.by.version) == (
        "settle",
        "rules",
        "likeness",
        "test:cosines",
    )
    assert "similarity 0.95" in change.reason
    await alice.undo(change.id)
    await memhold.settle()
    assert await values(alice) == ["baker", "teacher"], "what a person took back is not done again"
    assert len(await alice.suspicions()) == 1


async def test_far_below_it_they_are_two_and_nobody_is_asked(opening, clock: FakeClock) -> None:
    judge = ScriptedChat(otherwise=verdict("same"))
    memhold = await opening(embedding=Cosines(0.5), adjudication=judge)
    alice, _, _ = await two_keys(memhold, clock)
    await memhold.settle()
    assert await values(alice) == ["baker", "teacher"]
    assert (await alice.suspicions(), judge.asked) == ((), [])


async def test_in_the_grey_band_it_stays_for_a_person(opening, clock: FakeClock) -> None:
    embedding = Cosines(0.85)
    memhold = await opening(embedding=embedding)
    alice, _, _ = await two_keys(memhold, clock)
    await memhold.settle()
    await memhold.settle()
    assert await values(alice) == ["baker", "teacher"]
    assert (await alice.status()).open_suspicions == 1
    assert len(embedding.keys_asked) == 1, "it was looked at once"


@pytest.mark.parametrize("word", ["same", "different"])
async def test_in_the_grey_band_a_model_decides_once_and_for_ever(opening, clock: FakeClock, word: str) -> None:
    judge = ScriptedChat([verdict(word)], name="judge")
    memhold = await opening(embedding=Cosines(0.85), adjudication=judge)
    alice, _first, _ = await two_keys(memhold, clock)
    assert judge.asked == [], "what is told waits for no model"
    assert await memhold.settle()
    assert await values(alice) == (["baker"] if word == "same" else ["baker", "teacher"])
    [asked] = judge.asked
    assert (asked.purpose, asked.tool.name) == ("adjudication", "judge_keys")
    assert not any(value in str(asked) for value in ("teacher", "baker")), "keys, never values"
    [doubt] = await alice.suspicions(settled=True)
    change = await memhold._store._runtime.store.read(
        alice.scope, lambda tx: tx.find_change(doubt.suspicion.settled_by)
    )
    assert (change.by.origin, change.by.name, change.by.version) == ("model", "judge", "adjudicate/1")
    clock.advance(DAY)
    await alice.remember(attribute="wife's vocation", value="poet")
    clock.advance(DAY)
    await alice.remember(attribute="wife's job", value="judge")
    await memhold.settle()
    assert len(judge.asked) == 1
    assert await values(alice) == (["judge"] if word == "same" else ["judge", "poet"])


@pytest.mark.parametrize(
    "reply", ["They are the same.", {"verdict": "maybe"}, {}, {"verdict": "SAME"}, {"verdict": ["same"]}]
)
async def test_an_answer_that_is_none_settles_nothing(opening, clock: FakeClock, reply) -> None:
    judge = ScriptedChat(otherwise=reply)
    memhold = await opening(embedding="none", adjudication=judge)
    alice, _, _ = await two_keys(memhold, clock)
    assert await memhold.settle() is False
    assert await values(alice) == ["baker", "teacher"]
    assert (await alice.status()).open_suspicions == 1


async def test_an_unknown_embedding_lifts_nothing(opening, clock: FakeClock) -> None:
    embedding = Cosines(1.0)
    memhold = await opening(embedding=embedding, key_threshold=0)
    alice, _, _ = await two_keys(memhold, clock)
    await memhold.settle()
    assert await values(alice) == ["baker", "teacher"]
    assert embedding.keys_asked == []


async def test_a_veto_is_not_lifted(opening, clock: FakeClock) -> None:
    memhold = await opening(embedding=Cosines(1.0))
    alice = memhold.scope(user="alice")
    for attribute in ("wife's vocation", "ex-wife's vocation", "wife's former vocation", "wife's dream vocation"):
        clock.advance(DAY)
        await alice.remember(attribute=attribute, value=attribute)
    await memhold.settle()
    assert len(await values(alice)) == 4


async def test_stored_vectors_of_keys_are_used_again_until_something_is_forgotten(opening, clock: FakeClock) -> None:
    embedding = Cosines(0.85)
    memhold = await opening(embedding=embedding)
    alice, first, _ = await two_keys(memhold, clock)
    await memhold.settle()
    for attribute, texts in (("wife's trade", {"wife trade"}), ("wife's livelihood", {"wife livelihood"})):
        clock.advance(DAY)
        await alice.remember(attribute=attribute, value="x")
        await memhold.settle()
        assert set(embedding.keys_asked[-1]) == texts, "one call for a new key, and only for it"
    assert len(embedding.keys_asked) == 3
    await alice.forget(first.id)
    held = await memhold._store._runtime.store.read(alice.scope, lambda tx: tx.key_vectors("test:cosines"))
    assert held == {}


async def test_an_embedding_that_hangs_or_fails_holds_up_nobody(
    opening, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likeness_module, "EMBED_SECONDS", 0.05)
    embedding = Cosines(0.95)
    memhold = await opening(embedding=embedding)
    alice, _, _ = await two_keys(memhold, clock)
    await alice.remember("a note", expires_at=clock.now() + clock_delta(60))
    embedding.hangs = True
    clock.advance(DAY)
    step = memhold._store._runtime.worker
    async with asyncio.timeout(60):
        [lease] = await memhold._store._runtime.store.upkeep.claim(owner="t", kinds=["alike"], limit=1, seconds=60)
        with pytest.raises(TimeoutError):
            await step.steps["alike"](lease)
        await memhold._store._runtime.store.upkeep.put_off(lease, at=clock.now(), error=None, attempt=False)
        assert (await alice.remember(attribute="city", value="Porto")).memory.state == "active"
    embedding.hangs, embedding.error = False, ModelError("down", model="m", cls="park", reason="down", rule="t")
    assert await memhold.settle() is False
    assert await values(alice) == ["Porto", "baker", "teacher"]
    embedding.error = None
    clock.advance(DAY)
    await memhold.settle()
    assert await values(alice) == ["Porto", "baker"]


def clock_delta(seconds: float):
    from datetime import timedelta

    return timedelta(seconds=seconds)


async def test_a_model_that_comes_later_is_asked_about_what_was_left_open(opening, clock: FakeClock) -> None:
    memhold = await opening(embedding=Cosines(0.85))
    _alice, _, _ = await two_keys(memhold, clock)
    await memhold.settle()
    if memhold._store._runtime.store.facts.backend != "sqlite":
        return
    await memhold.close()
    judge = ScriptedChat([verdict("same")])
    again = await opening(embedding=Cosines(0.85), adjudication=judge)
    await again.settle()
    assert await values(again.scope(user="alice")) == ["baker"]


async def test_uniting_never_ends_what_the_user_told_on_a_models_word(opening, clock: FakeClock) -> None:
    """A model's key turns out to be that of something the user told: the user's value stays, with a suspicion."""
    memhold = await opening(embedding=Cosines(0.95))
    alice = memhold.scope(user="alice")
    await alice.remember(attribute="wife's job", value="teacher")
    clock.advance(DAY)
    runtime = memhold._store._runtime
    writer = Writer(ids=runtime.ids, secret=runtime.store.facts.secret, author=Author(origin="model", name="m"))

    def learn(tx):
        said = Statement(
            subject="user", attribute="wife's vocation", value="baker", at=tx.now, trust="assistant", own_words=False
        )
        return state_fact(tx, said, writer=writer, change_id=runtime.ids.new("chg"))

    await runtime.store.write(alice.scope, learn)
    await memhold.settle()
    assert await values(alice) == ["teacher"]
    [doubt] = await runtime.store.read(alice.scope, list_suspicions)
    assert (doubt.suspicion.kind, doubt.memory.value, doubt.other.value) == ("contradiction", "baker", "teacher")
