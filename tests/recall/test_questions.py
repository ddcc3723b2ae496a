"""A slow embedder costs one question its time, not every one: words alone answer until it is back."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import numpy as np
import pytest

from memhold import AsyncMemhold
from memhold.index.questions import Questions, TooSlow
from memhold.testing.clock import FakeClock
from memhold.values.errors import ModelError

VECTOR = np.ones(3, dtype=np.float32)


class Embedder:
    """Answers when it is let; counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.let = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self, _: str) -> np.ndarray:
        self.asked += 1
        await self.let.wait()
        if self.error is not None:
            raise self.error
        return VECTOR


async def test_after_one_slow_answer_nobody_waits_until_it_came() -> None:
    embedder, clock = Embedder(), FakeClock()
    questions = Questions(embedder)
    with pytest.raises(TooSlow):
        await questions.ask("a", seconds=0.01, clock=clock)
    for _ in range(5):
        with pytest.raises(TooSlow):
            await questions.ask("b", seconds=3600.0, clock=clock)
    assert embedder.asked == 1, "the first call goes on; nothing else is sent"
    embedder.let.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    with pytest.raises(TooSlow):  # it answers, too late as far as anybody knows: this question has it tried
        await questions.ask("c", seconds=3600.0, clock=clock)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (await questions.ask("d", seconds=3600.0, clock=clock) == VECTOR).all()


async def test_who_is_always_too_slow_is_waited_for_once() -> None:
    embedder, clock = Embedder(), FakeClock()
    told: list[float] = []
    questions = Questions(embedder, told.append)
    with pytest.raises(TooSlow):
        await questions.ask("a", seconds=0.01, clock=clock)
    embedder.let.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert told == [0.01, 0.01], "when it did not come, and when it came too late"
    for asked in (2, 2, 3):
        if asked == 3:
            clock.advance(timedelta(seconds=31))
        questions.answers()  # vectors of texts come, at their own pace
        with pytest.raises(TooSlow):
            await questions.ask("b", seconds=0.0, clock=clock)  # no answer comes within that time
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (embedder.asked, len(told), bool(questions.resting)) == (asked, asked + 1, True)
    await questions.close()


async def test_after_a_failure_vectors_of_texts_show_that_the_embedder_is_back() -> None:
    embedder, clock = Embedder(), FakeClock()
    embedder.error = ModelError("refused", model="m", cls="retry")
    embedder.let.set()
    questions = Questions(embedder)
    with pytest.raises(ModelError):
        await questions.ask("a", seconds=3600.0, clock=clock)
    embedder.error = None
    questions.answers()
    assert (await questions.ask("b", seconds=3600.0, clock=clock) == VECTOR).all()


async def test_a_probe_that_fails_is_not_repeated_before_its_time() -> None:
    embedder, clock = Embedder(), FakeClock()
    questions = Questions(embedder)
    with pytest.raises(TooSlow):
        await questions.ask("a", seconds=0.01, clock=clock)
    embedder.error = ModelError("gone", model="m", cls="retry")
    embedder.let.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    for expected in (1, 1, 2):
        if expected == 2:
            clock.advance(timedelta(seconds=31))
        with pytest.raises(TooSlow):
            await questions.ask("b", seconds=3600.0, clock=clock)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert embedder.asked == expected
    await questions.close()


async def test_after_a_quick_failure_nobody_waits_and_one_call_behind_a_question_tries_it() -> None:
    embedder, clock = Embedder(), FakeClock()
    embedder.error = ModelError("refused", model="m", cls="retry")
    embedder.let.set()
    questions = Questions(embedder)
    with pytest.raises(ModelError):
        await questions.ask("a", seconds=1.0, clock=clock)
    for _ in range(5):
        with pytest.raises(TooSlow, match="failed"):
            await questions.ask("b", seconds=1.0, clock=clock)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert embedder.asked == 2, "one probe, and no more before its time"
    embedder.error = None
    clock.advance(timedelta(seconds=31))
    with pytest.raises(TooSlow):
        await questions.ask("c", seconds=1.0, clock=clock)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (await questions.ask("d", seconds=1.0, clock=clock) == VECTOR).all()


async def test_closing_lets_go_of_a_call_that_hangs() -> None:
    embedder, clock = Embedder(), FakeClock()
    questions = Questions(embedder)
    with pytest.raises(TooSlow):
        await questions.ask("a", seconds=0.01, clock=clock)
    await questions.close()
    await questions.close()


async def test_status_names_what_a_recall_goes_without_while_the_embedder_is_left_alone() -> None:
    class Slow(Embedder):
        fingerprint, dimension, max_input = "slow", 3, 1000

        async def embed(self, texts: list[str], *, purpose: str = "document") -> np.ndarray:
            if purpose == "query":
                await self("")
            return np.stack([VECTOR / np.sqrt(3, dtype=np.float32) for _ in texts])

    embedder = Slow()
    async with AsyncMemhold.open("memory://", worker=False, embedding=embedder, recall_timeout=0.5) as mem:
        alice = mem.scope(user="alice")
        await alice.add([{"role": "user", "content": "I live in Oslo."}])
        await mem.settle()
        assert (await alice.status()).degraded == ()
        assert (await alice.recall("Oslo")).degraded == (await alice.status()).degraded == ("meaning",)
        embedder.let.set()
        while (await alice.recall("Oslo")).degraded:
            assert (await alice.status()).models == {}
            await asyncio.sleep(0)
        assert (await alice.status()).degraded == ()
