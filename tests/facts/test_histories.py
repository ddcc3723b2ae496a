"""Random histories of one attribute: whatever order they arrive in, time and evidence decide."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from memhold import AsyncMemhold
from memhold.ports.transaction import ReadTx
from memhold.testing import FakeClock, SeededIds

T0 = datetime(2025, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
Said = tuple[int, str, str]
"""Day, operation, value."""

PHASES = (Phase.explicit, Phase.generate)
WORDINGS = ("favorite food", "favourite food", "most favorite food")
said = st.tuples(
    st.integers(0, 9), st.sampled_from(["set", "set", "set", "add"]), st.sampled_from(["rice", "soup", "bread"])
)
one_a_day = st.lists(said, min_size=1, max_size=9, unique_by=lambda one: one[0])


def model(history: Sequence[Said], day: float) -> set[str]:
    """What held on a day, by brute force: the statements in order of time, later told last."""
    held: set[str] = set()
    for at, operation, value in sorted(history, key=lambda one: one[0]):
        if at > day:
            break
        match operation:
            case "set":
                held = {value}
            case "add":
                held |= {value}
            case _:
                held -= {value}
    return held


async def opened() -> AsyncMemhold:
    return await AsyncMemhold.open("memory://", worker=False, clock=FakeClock(), ids=SeededIds(3))


async def tell(scope, one: Said, wording: str = WORDINGS[0]) -> None:
    day, operation, value = one
    await scope.remember(attribute=wording, value=value, operation=operation, event_time=T0 + day * DAY)


async def assert_agrees(scope, history: Sequence[Said]) -> None:
    facts = (await scope.list(kinds=("fact",))).items
    assert sorted(memory.value for memory in facts) == sorted(model(history, 10**6))
    days = [half / 2 for half in range(-1, 31)]

    def held(tx: ReadTx) -> list[list[str | None]]:
        return [sorted(m.value for m in tx.held(as_of=T0 + day * DAY, known_at=None)) for day in days]

    found = await scope._tx.read(held)
    assert found == [sorted(model(history, day)) for day in days], history


@seed(20260101)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=PHASES)
@given(history=one_a_day, data=st.data())
def test_any_order_of_arrival(history: list[Said], data: st.DataObject) -> None:
    """Any order, with duplicates, in any wording: the present and every instant of the past are as brute force says."""
    arrival = data.draw(st.permutations(history + data.draw(st.lists(st.sampled_from(history), max_size=4))))
    wordings = data.draw(st.lists(st.sampled_from(WORDINGS), min_size=len(arrival), max_size=len(arrival)))

    async def run() -> None:
        async with await opened() as memhold:
            scope = memhold.scope(user="alice")
            for one, wording in zip(arrival, wordings, strict=True):
                await tell(scope, one, wording)
            await assert_agrees(scope, history)
            told = {(memory.valid_from, memory.value) for memory in (await scope.list(states=None, limit=1000)).items}
            values = {value for _, value in told}
            assert values == {value for _, _, value in history}

    asyncio.run(run())


@seed(20260104)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=PHASES)
@given(history=one_a_day, data=st.data())
def test_what_was_known_at_every_instant(history: list[Said], data: st.DataObject) -> None:
    """On both axes: what was known after each arrival of every day, as a history of only what had arrived gives it."""
    arrival = data.draw(st.permutations(history))
    wordings = data.draw(st.lists(st.sampled_from(WORDINGS), min_size=len(arrival), max_size=len(arrival)))

    async def run() -> None:
        clock = FakeClock()
        async with await AsyncMemhold.open("memory://", worker=False, clock=clock, ids=SeededIds(3)) as memhold:
            scope = memhold.scope(user="alice")
            knew = [clock.now()]
            for one, wording in zip(arrival, wordings, strict=True):
                clock.advance(60)
                await tell(scope, one, wording)
                clock.advance(60)
                knew.append(clock.now())
            days = [half / 2 for half in range(-1, 21)]
            pairs = [(known, T0 + day * DAY) for known in knew for day in days]

            def held(tx: ReadTx) -> list[list[str]]:
                return [sorted(m.value for m in tx.held(as_of=at, known_at=known)) for known, at in pairs]

            wanted = [sorted(model(arrival[:count], day)) for count in range(len(knew)) for day in days]
            assert await scope._tx.read(held) == wanted, arrival

    asyncio.run(run())


@seed(20260102)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=PHASES)
@given(history=one_a_day, data=st.data())
def test_two_workers(history: list[Said], data: st.DataObject) -> None:
    """Two tellers at once, each with a part, some of it told by both."""
    mine = data.draw(st.lists(st.sampled_from(history), max_size=9))
    theirs = data.draw(st.permutations([one for one in history if one not in mine] + mine[:2]))

    async def run() -> None:
        async with await opened() as memhold:

            async def work(part: Sequence[Said], name: str) -> None:
                for one in part:
                    await tell(memhold.scope(user="alice", session=name), one)

            await asyncio.gather(work(mine, "a"), work(theirs, "b"))
            await assert_agrees(memhold.scope(user="alice"), history)

    asyncio.run(run())


@seed(20260103)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=PHASES)
@given(history=st.lists(said, min_size=1, max_size=8, unique_by=lambda one: one[0]), data=st.data())
def test_removals_and_late_words(history: list[Said], data: st.DataObject) -> None:
    """A value that was ended stays ended from then on, also where it is told late of an earlier day."""
    order = data.draw(st.permutations(history))
    day, value = data.draw(st.integers(10, 14)), data.draw(st.sampled_from(["rice", "soup", "bread"]))
    late = [(at, operation, other) for at, operation, other in order[len(order) // 2 :]]

    async def run() -> None:
        async with await opened() as memhold:
            scope = memhold.scope(user="alice")
            known = order[: len(order) // 2]
            for one in known:
                await tell(scope, one)
            removed = await scope.remember(
                attribute=WORDINGS[1], value=value, operation="remove", event_time=T0 + day * DAY
            )
            every = list(history)
            if removed.memory is not None:
                every.append((day, "remove", value))
            for one in late:
                await tell(scope, one)
            await assert_agrees(scope, every)

    asyncio.run(run())


@pytest.mark.asyncio
async def test_undoing_each_step_brings_back_each_present(memhold: AsyncMemhold, clock: FakeClock) -> None:
    """Back and forth through a story told in three wordings, with a recall between the steps."""
    scope = memhold.scope(user="alice")
    changes = []
    for number, value in enumerate(("rice", "soup", "bread")):
        clock.advance(DAY)
        told = await scope.remember(attribute=WORDINGS[number], value=value)
        changes += told.receipt.change_ids
        await scope.recall("favorite food")
    for change, left in zip(reversed(changes), (["soup"], ["rice"], []), strict=True):
        await scope.undo(change)
        assert [memory.value for memory in (await scope.list(kinds=("fact",))).items] == left
