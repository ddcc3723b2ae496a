"""The clock is turned by hours and by years, both ways, in the middle of what waits, rests, is kept or runs out.

Nothing stays frozen once the clock is right again, and nothing counts that had to be over.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from random import Random
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from memhold import AsyncMemhold
from memhold.errors import ModelError, ModelResting
from memhold.index.questions import Questions, TooSlow
from memhold.ports.models import Attempt, ChatRequest, Tally
from memhold.ports.stores import Store
from memhold.providers.breaker import Breaker
from memhold.providers.entry import Entry
from memhold.providers.link_health import Links
from memhold.testing import FakeClock, ScriptedChat, SeededIds
from memhold.upkeep.worker import Worker
from memhold.values.records import Scope

pytestmark = pytest.mark.asyncio

HOURS, YEARS = timedelta(hours=2), timedelta(days=75 * 365)
JUMPS = {"2 h ahead": HOURS, "2 h behind": -HOURS, "75 years ahead": YEARS, "75 years behind": -YEARS}
RIGHT = datetime.fromisoformat("2026-03-01T12:00:00+00:00")
MINE = Entry(name="mine", protocol="openai-chat", model="m", base_url="http://127.0.0.1:9/v1")
ALICE = Scope(user="alice")
jumps = pytest.mark.parametrize("jump", JUMPS.values(), ids=[*JUMPS])


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(RIGHT)


class Dead:
    """A model that has to be paid for."""

    name = "dead"

    def __init__(self) -> None:
        self.asked = 0

    async def chat(self, request: ChatRequest) -> Any:
        del request
        self.asked += 1
        raise ModelError("pay", model=self.name, cls="park", reason="no credit")


@jumps
async def test_a_link_rests_no_longer_than_its_rest(clock: FakeClock, jump: timedelta) -> None:
    model = Dead()
    link = Breaker(model, clock=clock)
    clock.advance(jump)
    with pytest.raises(ModelError, match="pay"):
        await link.chat(None)  # type: ignore[arg-type]
    with pytest.raises(ModelResting):
        await link.chat(None)  # type: ignore[arg-type]
    clock.advance(-jump)
    clock.advance(61)
    with pytest.raises(ModelError, match="pay"):
        await link.chat(None)  # type: ignore[arg-type]
    assert model.asked == 2


async def rounds() -> None:
    """Let what is due in this loop be done: the embedder is a future, and nothing else is waited for."""
    for _ in range(20):
        await asyncio.sleep(0)


@jumps
async def test_an_embedder_that_failed_is_tried_again(clock: FakeClock, jump: timedelta) -> None:
    answers: list[asyncio.Future[Any]] = []

    async def embed(text: str) -> Any:
        del text
        answers.append(asyncio.get_running_loop().create_future())
        return await answers[-1]

    questions = Questions(embed)
    clock.advance(jump)
    with pytest.raises(TooSlow):
        await questions.ask("tea", seconds=0, clock=clock)
    await asyncio.sleep(0)
    answers[0].set_exception(ModelError("gone", model="x", cls="retry", reason="gone"))
    await rounds()
    clock.advance(-jump)
    clock.advance(31)
    with pytest.raises(TooSlow):
        await questions.ask("tea", seconds=5, clock=clock)
    await asyncio.sleep(0)
    answers[1].set_result(np.zeros((1, 3), dtype=np.float32))
    await rounds()
    asked = asyncio.ensure_future(questions.ask("tea", seconds=5, clock=clock))
    await rounds()
    answers[2].set_result(np.zeros((1, 3), dtype=np.float32))
    assert (await asked).shape == (1, 3)


@pytest_asyncio.fixture
async def opened(lasting: str, clock: FakeClock) -> AsyncIterator[AsyncMemhold]:
    async with AsyncMemhold.open(lasting, worker=False, clock=clock, ids=SeededIds(1), embedding="none") as mem:
        yield mem


def store_of(mem: Any) -> Store:
    store: Store = mem._store._runtime.store
    return store


@jumps
async def test_how_a_link_fares_is_told_by_its_last_call(
    opened: AsyncMemhold, clock: FakeClock, jump: timedelta
) -> None:
    book = store_of(opened).links
    clock.advance(jump)
    links = Links({"mine": MINE}, clock=clock)
    links.note(Attempt(model="mine", cls="retry", reason="down"))
    await book.put(links.take())
    clock.advance(-jump + timedelta(minutes=10))
    links.note(Attempt(model="mine", cls=None))
    assert [one.failing_since for one in links.unwritten()] == [None]
    await book.put(links.take())
    [kept] = await book.read()
    assert (kept.failing_since, kept.seen_at) == (None, clock.now())
    # In a process that knows only what is kept, too.
    links = Links({"mine": MINE}, clock=clock, known=[kept])
    links.note(Attempt(model="mine", cls="auth", reason="wrong key"))
    assert [one.cls for one in links.take()] == ["auth"]


@pytest.mark.parametrize("jump", [YEARS, -YEARS], ids=["ahead", "behind"])
async def test_calls_of_another_day_are_not_of_todays_budget(lasting: str, clock: FakeClock, jump: timedelta) -> None:
    judge = ScriptedChat(otherwise={})
    opened = AsyncMemhold.open(lasting, worker=False, clock=clock, embedding="none", compaction=judge)
    async with opened as mem:
        clock.advance(jump)
        await store_of(mem).usage.add([Tally(day=clock.now().date(), model="m", purpose="compaction", calls=100)])
        assert (await mem.scope(user="alice").status()).compact_calls_left == 0
        clock.advance(-jump)
        assert (await mem.scope(user="alice").status()).compact_calls_left == 100


@jumps
async def test_a_token_that_runs_out_counts_no_longer(opened: AsyncMemhold, clock: FakeClock, jump: timedelta) -> None:
    tokens = opened.admin.tokens
    lasting = (await tokens.create(user="alice")).secret
    service = (await tokens.create(rights=("act", "read"))).secret
    before = (await tokens.create(user="alice", expires_in=timedelta(minutes=30))).secret
    clock.advance(jump)
    brief = (await tokens.create(user="alice", expires_in=timedelta(minutes=30))).secret
    taken = (await tokens.exchange(service, user="alice", expires_in=timedelta(minutes=30))).secret
    clock.advance(-jump + timedelta(minutes=31))
    assert await tokens.check(lasting) is not None
    late = max(timedelta(), min(jump, HOURS))
    if late:
        assert (await tokens.check(brief) is None) == (jump == YEARS)
        clock.advance(late)
    assert [await tokens.check(one) for one in (before, brief, taken)] == [None] * 3
    # And none counts again where the clock is turned back, for longer than it was turned by up to two hours.
    clock.advance(-YEARS)
    assert [await tokens.check(one) for one in (before, brief, taken)] == [None] * 3
    assert await tokens.check(lasting) is not None


@jumps
async def test_what_a_worker_put_off_or_held_is_done_by_the_right_clock(
    opened: AsyncMemhold, clock: FakeClock, jump: timedelta
) -> None:
    """Also where its process ended meanwhile, and another one begins."""
    store = store_of(opened)
    done: list[str] = []

    async def step(lease: Any) -> float | None:
        done.append(lease.due.ref)
        if len(done) == 1:
            raise ModelError("no", model="x", cls="retry", reason="no")
        return None

    def worker() -> Worker:
        return Worker(store, {"redo": step}, clock=clock, owner="me", random=Random(1))

    clock.advance(jump)
    await store.write(ALICE, lambda tx: (tx.put_due("redo", "failed", tx.now), tx.put_due("redo", "held", tx.now)))
    [_] = await store.upkeep.claim(owner="another", kinds=("redo",), limit=1, seconds=60)
    await worker().round()
    assert len(done) == 1
    clock.advance(-jump + timedelta(minutes=2))
    again = worker()
    await again.compare()
    await again.round()
    late = jump == HOURS
    assert len(done) == (1 if late else 3), "it waits for no longer than the clock was ahead"
    if late:
        clock.advance(jump)
        await again.round()
    assert sorted({*done}) == ["failed", "held"]
    assert await store.upkeep.pending(("redo",), later=True) == 0


@pytest.mark.parametrize("jump", [HOURS, YEARS], ids=["2 h", "75 years"])
async def test_a_worker_that_sees_its_clock_set_right_looks_at_all_that_waits(
    opened: AsyncMemhold, clock: FakeClock, jump: timedelta
) -> None:
    store = store_of(opened)
    done: list[str] = []

    async def step(lease: Any) -> float | None:
        done.append(lease.due.ref)
        return 600.0 if len(done) == 1 else None

    worker = Worker(store, {"redo": step, "expire": step}, clock=clock, owner="me", random=Random(1))
    clock.advance(jump)
    await worker.compare()
    end = clock.now() + timedelta(days=1)
    await store.write(ALICE, lambda tx: (tx.put_due("redo", "put off", tx.now), tx.put_due("expire", "dated", end)))
    await worker.round()
    clock.advance(-jump)
    await worker.compare()
    await worker.round()
    assert done == ["put off", "put off"]
    assert await store.upkeep.next_due(("expire",)) == end


@jumps
async def test_a_key_of_a_write_and_an_end_of_a_memory_stand_by_the_right_clock(
    opened: AsyncMemhold, clock: FakeClock, jump: timedelta
) -> None:
    alice = opened.scope(user="alice")
    ends = RIGHT + timedelta(days=10)
    lasting = (await alice.remember("lasting", expires_at=ends)).memory.id
    clock.advance(jump)
    first = await alice.add([{"role": "user", "content": "tea"}], idempotency_key="k")
    clock.advance(-jump)
    again = await alice.add([{"role": "user", "content": "tea"}], idempotency_key="k")
    # What was written 75 years ago by the clock is over by it; nobody can tell that from a clock that was wrong.
    assert (again.ids == first.ids, again.replayed) == (jump != -YEARS, jump != -YEARS)
    assert await opened.settle()
    assert (await alice.get(lasting)).state == "active"
    clock.advance(timedelta(days=11))
    assert await opened.settle()
    assert (await alice.get(lasting)).state == "expired"
    # After its thirty days a key is free again, at the latest when the clock says so that it was written by.
    clock.advance(max(jump, timedelta()) + timedelta(days=30))
    assert not (await alice.add([{"role": "user", "content": "tea"}], idempotency_key="k")).replayed
