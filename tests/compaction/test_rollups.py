"""Roll-ups: days, weeks and months of summaries, made once, never stale, gone with what they tell."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhold.compact.rollup.apply import history_of
from memhold.compact.rollup.contract import read_rollup
from memhold.compact.rollup.plan import Wanted, planned
from memhold.context.gather import chosen_rollups
from memhold.errors import ModelError
from memhold.facts.rollups import withdraw
from memhold.index.documents import index_memories
from memhold.journal import windows
from memhold.ports.models import ChatReply, ChatRequest
from memhold.upkeep.periods import LATE, LEVELS, Period, day_of
from memhold.values.records import Author, Change, Effect, Memory
from tests.compaction.conftest import Opened
from tests.compaction.worlds import IDS, call, shown, united

# ruff: noqa: RUF001 - texts of several scripts

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW = MONDAY + timedelta(days=50)


class Teller:
    """A model that rolls up: the words of all parts, unless told otherwise."""

    name = "writer"

    def __init__(
        self,
        decide: Callable[[list[str]], Any] | None = None,
        meanwhile: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._decide = decide or (lambda texts: {"text": united(texts)})
        self._meanwhile = meanwhile
        self.asked: list[list[str]] = []

    async def chat(self, request: ChatRequest) -> ChatReply:
        assert request.tool is not None
        self.asked.append(shown(request))
        if self._meanwhile is not None:
            await self._meanwhile()
        made = self._decide(self.asked[-1])
        if isinstance(made, BaseException):
            raise made
        return made if isinstance(made, ChatReply) else call(made, name=request.tool.name, model=self.name)


async def summary(scope: Any, text: str, at: datetime, **fields: Any) -> Memory:
    """A window of one message and the summary that a consolidation made of it."""
    added = await scope.add([{"role": "user", "content": f"Said: {text}", "event_time": at}])

    def work(tx: Any) -> Memory:
        memory = Memory(
            id=IDS.new("mem"), number=tx.take_numbers(1), kind="summary", text=text, agent=scope.scope.agent, session="",
            sources=tuple(added.ids), event_time=at, valid_from=at, created_at=tx.now, recorded_at=tx.now, **fields,
        )  # fmt: skip
        tx.put_memory(memory, digest=memory.id.encode())
        index_memories(tx, [memory])
        tx.add_change(
            Change(
                id=IDS.new("chg"), seq=0, verb="consolidate", reason="t", by=Author(origin="model"), at=tx.now,
                sources=memory.sources, effects=(Effect(memory_id=memory.id, rev_before=0, rev_after=1),),
            )
        )  # fmt: skip
        return memory

    return await scope._tx.runtime.store.write(scope.scope, work)


async def rollups(scope: Any, level: str | None = None) -> list[Memory]:
    found = (await scope.list(kinds=["rollup"], limit=1000)).items
    return [one for one in found if level in {None, one.metadata["level"]}]


async def sound(scope: Any) -> None:
    """No roll-up stands on what does not stand, and no period of an agent has two."""
    standing = await scope._tx.runtime.store.read(scope.scope, history_of)
    ids = {one.id for one in standing}
    for one in standing:
        if one.kind == "rollup":
            assert ids.issuperset(one.sources), f"{one.id} stands on what is gone"
    names = [(one.agent, one.metadata["level"], one.metadata["period"]) for one in standing if one.kind == "rollup"]
    assert len(names) == len(set(names))


@pytest.fixture
def clock() -> Any:
    from memhold.testing import FakeClock

    return FakeClock(start=NOW)


TOLD = (
    "The user asked for a seat to Porto and got 14C on flight TP123.",
    "The user moved the dentist to Tuesday and asked Marta to call back.",
    "The build broke on release 4.2 and the user pinned openssl 3.1.",
    "The user chose the blue sofa from Lind and paid 890 euro.",
)


async def weeks(scope: Any, days: int, a_day: int = 2) -> list[Memory]:
    return [
        await summary(scope, TOLD[(day + place) % 4], MONDAY + timedelta(days=day, hours=place))
        for day in range(days)
        for place in range(a_day)
    ]


# ------------------------------------------------------------------------------------------------ what is made


async def test_days_weeks_and_months_are_made_once_with_links_down(opened: Opened) -> None:
    judge = Teller()
    scope = (await opened(judge)).scope(user="alice")
    parts = await weeks(scope, 9)
    done = await scope.compact()
    assert done.counts["rolled_up"] == 9 + 2 + 1
    [month] = await rollups(scope, "month")
    assert (month.metadata["period"], month.event_time) == ("2026-03", MONDAY)
    below = {one.id: one for one in await rollups(scope)} | {one.id: one for one in parts}
    leaves = [leaf for week in month.sources for day in below[week].sources for leaf in below[day].sources]
    assert leaves == [one.id for one in parts], "every window once, in order"
    assert [one.state for one in (await scope.list(kinds=["summary"], limit=100)).items] == ["active"] * 18
    calls = len(judge.asked)
    assert not (await scope.compact()).groups
    assert len(judge.asked) == calls, "the same period is never asked about twice"
    await sound(scope)


async def test_one_summary_is_told_by_itself(opened: Opened) -> None:
    judge = Teller()
    scope = (await opened(judge)).scope(user="alice")
    parts = await weeks(scope, 3, a_day=1)
    await scope.compact()
    assert [one.metadata["level"] for one in await rollups(scope)] == ["week"]
    [week] = await rollups(scope)
    assert list(week.sources) == [one.id for one in parts]


async def test_a_period_that_is_not_over_waits_and_is_due_then(opened: Opened, clock: Any) -> None:
    judge = Teller()
    memhold = await opened(judge)
    scope = memhold.scope(user="alice")
    for text in TOLD[:2]:
        await summary(scope, text, NOW)
    assert await memhold.settle(timeout=60)
    assert not judge.asked
    clock.advance(timedelta(days=1, hours=3))
    assert await memhold.settle(timeout=60)
    assert [one.metadata["level"] for one in await rollups(scope)] == ["day"]


async def test_users_and_agents_are_told_apart(opened: Opened) -> None:
    memhold = await opened(Teller())
    for user, agent in (("alice", None), ("alice", "scout"), ("bob", None)):
        for text in TOLD[:2]:
            await summary(memhold.scope(user=user, agent=agent), text, MONDAY)
    await memhold.scope(user="alice").compact()
    assert sorted(str(one.agent) for one in await rollups(memhold.scope(user="alice"))) == ["None", "scout"]
    assert not await rollups(memhold.scope(user="bob"))


@pytest.mark.parametrize("settings", [{"rollups": False}, {"compaction": "none"}], ids=["off", "no chain"])
async def test_it_can_be_switched_off(opened: Opened, settings: Any) -> None:
    memhold = await opened(None if "compaction" in settings else Teller(), **settings)
    scope = memhold.scope(user="alice")
    await weeks(scope, 2)
    assert await memhold.settle(timeout=60)
    await scope.compact()
    assert not await rollups(scope)


async def test_a_dry_run_names_the_days_and_asks_nobody(opened: Opened) -> None:
    judge = Teller()
    scope = (await opened(judge)).scope(user="alice")
    await weeks(scope, 2)
    planned_first = await scope.compact(dry_run=True)
    assert [one.outcome for one in planned_first.groups] == ["rolled_up", "rolled_up"]
    assert "day 2026-03-02" in planned_first.groups[0].reason
    assert not judge.asked
    assert not await rollups(scope)


# ------------------------------------------------------------------------------------------------ never stale


async def test_a_late_summary_makes_them_anew(opened: Opened) -> None:
    scope = (await opened(Teller())).scope(user="alice")
    await weeks(scope, 2)
    await scope.compact()
    before = {one.id for one in await rollups(scope)}
    late = await summary(scope, "The user told Ines that the keys are at Rua Nova 7.", MONDAY + timedelta(hours=5))
    await scope.compact()
    after = await rollups(scope)
    [day] = [one for one in after if one.metadata["period"] == "2026-03-02" and one.metadata["level"] == "day"]
    assert late.id in day.sources
    old = (await scope.list(kinds=["rollup"], states=["superseded"])).items
    assert [one.superseded_by for one in old if one.metadata["level"] == "day"] == [day.id]
    assert len(before & {one.id for one in after}) == 1, "the other day stays, the week is made anew"
    await sound(scope)


async def test_forgetting_a_message_reaches_every_level_and_the_rest_is_told_anew(opened: Opened) -> None:
    memhold = await opened(Teller())
    scope = memhold.scope(user="alice")
    parts = await weeks(scope, 2, a_day=3)
    await scope.compact()
    gone = parts[0].sources[0]
    await scope.forget(gone)
    await sound(scope)
    assert [one.metadata["period"] for one in await rollups(scope)] == ["2026-03-03"], "its day and its week went"
    await memhold.settle(timeout=60)
    assert {one.metadata["level"] for one in await rollups(scope)} == {"day", "week"}
    assert all(parts[0].id not in one.sources for one in await rollups(scope))
    assert "Porto" not in " ".join(one.text for one in await rollups(scope) if one.metadata["period"] == "2026-03-02")


async def test_forgetting_a_rollup_takes_what_it_tells_down_to_the_messages(opened: Opened) -> None:
    memhold = await opened(Teller())
    scope = memhold.scope(user="alice")
    await weeks(scope, 2)
    await scope.compact()
    [week] = await rollups(scope, "week")
    await scope.forget(week.id)
    assert not (await scope.list(states=None, limit=100)).items
    assert not (await scope.recall("", limit=50)).hits


async def test_hiding_and_showing_a_window_again(opened: Opened) -> None:
    memhold = await opened(Teller())
    scope = memhold.scope(user="alice")
    parts = await weeks(scope, 2, a_day=3)
    await scope.compact()
    hidden = await scope.forget(parts[0].sources[0], hard=False)
    await memhold.settle(timeout=60)
    await sound(scope)
    assert all(parts[0].id not in one.sources for one in await rollups(scope))
    await scope.undo(hidden.change_id)
    await memhold.settle(timeout=60)
    await sound(scope)
    [day] = [one for one in await rollups(scope, "day") if one.metadata["period"] == "2026-03-02"]
    assert parts[0].id in day.sources


async def test_showing_a_window_again_leaves_one_telling_of_its_day_at_once(opened: Opened) -> None:
    judge = Teller()
    memhold = await opened(judge)
    scope = memhold.scope(user="alice")
    parts = await weeks(scope, 2, a_day=3)
    await scope.compact()
    before = sorted(one.id for one in await rollups(scope))
    change = (await scope.forget(parts[0].id, hard=False, sources="keep")).change_id
    await memhold.settle(timeout=60)
    for stands in (True, False, True):
        [change] = (await scope.undo(change)).change_ids
        await sound(scope)
        assert (sorted(one.id for one in await rollups(scope)) == before) is stands
        await memhold.settle(timeout=60)
        await sound(scope)
    calls = len(judge.asked)
    assert not (await scope.compact()).groups
    assert len(judge.asked) == calls


async def test_showing_windows_again_leaves_one_telling_of_their_day_also_where_the_two_tell_nothing_in_common(
    opened: Opened,
) -> None:
    scope = (await opened(Teller())).scope(user="alice")
    one, other = await weeks(scope, 1)
    await scope.compact()
    [first] = await rollups(scope)
    hides = [await scope.forget(part.id, hard=False, sources="keep") for part in (one, other)]
    for hour, text in enumerate(TOLD[2:]):
        await summary(scope, text, MONDAY + timedelta(hours=6 + hour))
    await scope.compact()
    [between] = await rollups(scope)
    assert not set(first.sources) & set(between.sources)
    for hide in reversed(hides):
        await scope.undo(hide.change_id)
        await sound(scope)
    assert [made.id for made in await rollups(scope)] == [first.id]
    await scope.compact()
    [last] = await rollups(scope)
    assert set(last.sources) == {*first.sources, *between.sources}


async def test_a_telling_that_an_undo_brings_back_while_the_models_think_has_no_other_beside_it(opened: Opened) -> None:
    undone: list[str] = []

    async def meanwhile() -> None:
        if len(judge.asked) == 2:
            for hide in reversed(hides):
                undone.extend((await scope.undo(hide.change_id)).change_ids)

    judge = Teller(meanwhile=meanwhile)
    scope = (await opened(judge)).scope(user="alice")
    parts = await weeks(scope, 1)
    await scope.compact()
    hides = [await scope.forget(part.id, hard=False, sources="keep") for part in parts]
    for hour, text in enumerate(TOLD[2:]):
        await summary(scope, text, MONDAY + timedelta(hours=6 + hour))
    await scope.compact()
    assert len(undone) == 2
    await sound(scope)
    await scope.compact()
    await sound(scope)
    [last] = await rollups(scope)
    assert len(last.sources) == 4


async def test_a_pin_stays_on_the_telling_of_a_period(opened: Opened) -> None:
    scope = (await opened(Teller())).scope(user="alice")
    await weeks(scope, 2)
    await scope.compact()
    [week] = await rollups(scope, "week")
    await scope.pin(week.id)
    await summary(scope, "The user told Ines that the keys are at Rua Nova 7.", MONDAY + timedelta(hours=5))
    await scope.compact()
    assert [one.pinned for one in await rollups(scope, "week")] == [True]
    assert [one.pinned for one in await rollups(scope, "day")] == [False, False]


async def test_undoing_a_consolidation_takes_its_rollups_away_at_once(opened: Opened) -> None:
    scope = (await opened(Teller())).scope(user="alice")
    parts = await weeks(scope, 2)
    await scope.compact()
    made = (await scope.history(parts[0].id))[0]
    undone = await scope.undo(made.id)
    await sound(scope)
    assert [one.metadata["period"] for one in await rollups(scope)] == ["2026-03-03"]
    await scope.undo(undone.change_ids[0])
    assert len(await rollups(scope)) == 3, "redone: they stand again"
    await sound(scope)


async def test_what_a_person_undid_stays_undone(opened: Opened) -> None:
    judge = Teller()
    scope = (await opened(judge)).scope(user="alice")
    parts = await weeks(scope, 1)
    await scope.compact()
    [day] = await rollups(scope)
    [made] = [one for one in await scope.history(day.id) if one.verb == "roll_up"]
    assert made.id in [one.id for one in await scope.history(parts[0].id)], "links up, too"
    undone = await scope.undo(made.id)
    assert not await rollups(scope)
    calls = len(judge.asked)
    await scope.compact()
    assert not await rollups(scope)
    assert len(judge.asked) == calls
    await scope.undo(undone.change_ids[0])
    assert [one.id for one in await rollups(scope)] == [day.id]


# ------------------------------------------------------------------------------------------------ the models

BAD: dict[str, Any] = {
    "an empty reply": ChatReply(model="writer", text="", tool_calls=(), finish="stop"),
    "prose": ChatReply(model="writer", text="Here is your summary.", tool_calls=(), finish="stop"),
    "no text": {"text": ""},
    "an error message": {"text": "Error: could not get response"},
    "another tool": call({"text": "x"}, name="save_memory"),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
async def test_a_bad_answer_goes_to_the_next_model_and_else_nothing_is_made(opened: Opened, bad: Any) -> None:
    failing, well = Teller(lambda _: bad), Teller()
    failing.name = "failing"
    memhold = await opened([failing, well])
    scope = memhold.scope(user="alice")
    await weeks(scope, 1)
    await scope.compact()
    assert (len(failing.asked), len(well.asked)) == (1, 1)
    assert len(await rollups(scope)) == 1
    alone = memhold.scope(user="bob")
    await weeks(alone, 1)
    well._decide = lambda _: bad
    done = await alone.compact()
    assert done.counts == {"kept_apart": 1}, "it says so"
    calls = len(well.asked)
    assert not (await alone.compact()).counts
    assert len(well.asked) == calls, "and is not asked again"
    assert not await rollups(alone)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"{TOLD[0]} The dentist is at 9:15.", f"{TOLD[0]} The dentist is at 9:15."),
        (f"{TOLD[0]} They took flight TP999.", TOLD[0]),
        ("They took flight TP999 and seat 22F. TP999 was late.", f"{TOLD[0]} {TOLD[1]}"),
    ],
    ids=["what no part says and none contradicts", "a sentence less", "the parts' own words"],
)
async def test_a_sentence_goes_whose_detail_the_parts_contradict(opened: Opened, text: str, kept: str) -> None:
    judge = Teller(lambda _: {"text": text})
    scope = (await opened(judge)).scope(user="alice")
    await weeks(scope, 1)
    await scope.compact()
    assert [one.text for one in await rollups(scope)] == [kept]
    assert len(judge.asked) == 1


async def test_models_that_cannot_be_asked_leave_it_due(opened: Opened) -> None:
    down = ModelError("down", model="writer", cls="park", reason="no model loaded")
    judge = Teller(lambda _: down)
    memhold = await opened(judge)
    scope = memhold.scope(user="alice")
    await weeks(scope, 1)
    done = await scope.compact()
    assert done.counts == {"failed": 1}
    assert done.last_error
    assert (await scope.status()).waiting["rollup"] == 1
    judge._decide = Teller()._decide
    await scope.compact()
    assert len(await rollups(scope)) == 1


async def test_a_period_over_the_size_gate_is_said_and_not_asked(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "PART_TOKENS", 30)
    judge = Teller()
    scope = (await opened(judge)).scope(user="alice")
    await weeks(scope, 1, a_day=4)
    assert (await scope.compact()).counts == {"too_long": 1}
    assert not judge.asked


async def test_a_run_for_one_agent_leaves_what_others_wait_for_due(opened: Opened) -> None:
    memhold = await opened(Teller())
    assert await memhold.settle(timeout=60)
    one, other = memhold.scope(user="alice", agent="scout"), memhold.scope(user="alice", agent="scribe")
    await weeks(one, 1)
    await weeks(other, 1)
    await one.compact()
    assert [found.agent for found in await rollups(memhold.scope(user="alice"))] == ["scout"]
    assert await memhold.settle(timeout=60)
    assert sorted(str(found.agent) for found in await rollups(memhold.scope(user="alice"))) == ["scout", "scribe"]


async def test_a_store_at_rest_is_looked_at_without_a_call_or_a_write(opened: Opened, clock: Any) -> None:
    judge = Teller()
    memhold = await opened(judge)
    scope = memhold.scope(user="alice")
    await weeks(scope, 9)
    clock.advance(timedelta(days=1))
    assert await memhold.settle(timeout=60)
    calls, written = len(judge.asked), []
    store, write = scope._tx.runtime.store, scope._tx.runtime.store.write

    async def counted(*args: Any, **more: Any) -> Any:
        written.append(args)
        return await write(*args, **more)

    object.__setattr__(store, "write", counted)
    for _ in range(20):
        clock.advance(timedelta(hours=6, minutes=1))
        assert await memhold.settle(timeout=60)
    assert (len(judge.asked) - calls, len(written)) == (0, 0)


async def test_the_calls_of_a_run_are_bounded_and_the_rest_follows(opened: Opened) -> None:
    judge = Teller()
    scope = (await opened(judge, bounds={"calls": 3})).scope(user="alice")
    await weeks(scope, 7)
    first = await scope.compact()
    assert (first.counts, first.more) == ({"rolled_up": 3}, True)
    while (await scope.compact()).more:
        pass
    assert len(await rollups(scope)) == 8


async def test_a_run_whose_calls_end_with_a_level_says_that_more_is_left(opened: Opened) -> None:
    scope = (await opened(Teller(), bounds={"calls": 2})).scope(user="alice")
    await weeks(scope, 2)
    assert (await scope.compact()).more, "the week is wanted now"
    assert not (await scope.compact()).more
    assert len(await rollups(scope)) == 3


async def test_a_look_reads_the_changes_of_no_more_periods_than_it_may_ask_about() -> None:
    parts = [
        Memory(
            id=f"mem_{at}", number=at, kind="summary", text="t", event_time=MONDAY + timedelta(hours=12 * at),
            valid_from=MONDAY, created_at=MONDAY, recorded_at=MONDAY,
        )
        for at in range(200)
    ]  # fmt: skip
    looked: list[Any] = []
    plan = planned(parts, MONDAY + timedelta(days=300), lambda found: bool(looked.append(found)), most=5)
    assert len(plan.wanted) == len(looked) == 5
    assert [one.period for one in plan.wanted] == sorted(one.period for one in plan.wanted)


async def test_windows_of_an_old_day_that_come_one_by_one_are_told_once(opened: Opened, clock: Any) -> None:
    """An import, or a model that is back: a call for each of them would cost far more than the day is worth."""
    judge = Teller()
    memhold = await opened(judge)
    scope = memhold.scope(user="alice")
    assert await memhold.settle(timeout=60)
    for hour, text in enumerate(TOLD):
        await summary(scope, text, MONDAY + timedelta(hours=hour))
        clock.advance(timedelta(minutes=1))
        assert await memhold.settle(timeout=60)
    clock.advance(LATE)
    assert await memhold.settle(timeout=60)
    assert [len(texts) for texts in judge.asked] == [4]


async def test_two_workers_make_one(opened: Opened, clock: Any) -> None:
    judge = Teller()
    scope = (await opened(judge)).scope(user="alice")
    await weeks(scope, 2)
    both = asyncio.gather(scope.compact(), scope.compact())
    while not both.done():  # who waits for the other's lease waits on the clock, which may run past the lease here
        clock.advance(0.02)
        await asyncio.sleep(0)
    while (await scope.compact()).more:
        pass
    assert len(await rollups(scope)) == 3
    assert len((await scope.list(kinds=["rollup"], states=None)).items) == 3, "nothing was made twice"
    await sound(scope)


async def test_a_run_that_ends_anywhere_is_taken_up(opened: Opened) -> None:
    """The process is gone after each of its calls in turn: what was made stands, the rest follows, nothing is twice."""
    for last in range(1, 4):
        dying = Teller()

        def die(texts: list[str], model: Teller = dying, last: int = last) -> Any:
            return asyncio.CancelledError() if len(model.asked) == last else {"text": united(texts)}

        dying._decide = die
        memhold = await opened(dying)
        scope = memhold.scope(user=f"u{last}")
        await weeks(scope, 2)
        with pytest.raises(asyncio.CancelledError):
            await scope.compact()
        assert len(await rollups(scope)) == last - 1
        await sound(scope)
        assert await memhold.settle(timeout=60)
        assert len(await rollups(scope)) == 3
        assert len(dying.asked) == 4
        await sound(scope)


async def test_what_changes_during_the_call_is_not_applied(opened: Opened) -> None:
    memhold: Any = None
    parts: list[Memory] = []

    class Meddling(Teller):
        async def chat(self, request: ChatRequest) -> ChatReply:
            if len(self.asked) == 0:
                await memhold.scope(user="alice").forget(parts[0].sources[0])
            return await super().chat(request)

    memhold = await opened(Meddling())
    scope = memhold.scope(user="alice")
    parts += await weeks(scope, 1, a_day=3)
    first = await scope.compact()
    assert (first.counts, first.more) == ({"stale": 1}, True)
    assert not await rollups(scope)
    await scope.compact()
    await sound(scope)
    assert all("Porto" not in one.text for one in await rollups(scope))
    assert [len(one.sources) for one in await rollups(scope)] == [2]


# ------------------------------------------------------------------------------------------------ who shows them


async def test_summaries_shows_a_level_with_its_links(opened: Opened) -> None:
    from memhold.errors import InvalidInput

    scope = (await opened(Teller())).scope(user="alice")
    parts = await weeks(scope, 2)
    await scope.compact()
    found = await scope.summaries(level="day")
    assert [hit.metadata["period"] for hit in found.hits] == ["2026-03-03", "2026-03-02"]
    assert list(found.hits[1].sources) == [parts[0].id, parts[1].id]
    assert found.total == 2
    assert {hit.kind for hit in (await scope.summaries()).hits} == {"summary"}
    assert {hit.kind for hit in (await scope.recall("Porto")).hits} == {"message", "summary"}, "not told twice"
    assert {hit.kind for hit in (await scope.recall("Porto", kinds=["rollup"])).hits} == {"rollup"}
    with pytest.raises(InvalidInput):
        await scope.summaries(level="year")
    with pytest.raises(InvalidInput):
        await scope.summaries(level="day", session="s1")


async def test_a_telling_of_what_no_longer_holds_says_so(opened: Opened) -> None:
    """As a message or a summary does that says more than the old value; what tells nothing of it says nothing."""
    scope = (await opened(Teller())).scope(user="alice")
    old = await summary(scope, "The user's bank is Fortis.", MONDAY)
    await weeks(scope, 2)
    await scope.compact()
    fact = (await scope.remember(attribute="bank", value="Fortis", event_time=MONDAY)).memory

    def of_the_window(tx: Any) -> None:
        tx.put_memory(replace(fact, sources=old.sources, rev=fact.rev + 1))

    await scope._tx.runtime.store.write(scope.scope, of_the_window)
    new = (await scope.remember(attribute="bank", value="Lind & Co")).memory
    found = {hit.metadata["period"]: hit.superseded_by for hit in (await scope.recall("", kinds=["rollup"])).hits}
    assert found == {"2026-03-02": new.id, "2026-W10": new.id, "2026-03-03": None}


async def test_a_context_tells_nothing_twice(opened: Opened) -> None:
    memhold = await opened(Teller())
    scope = memhold.scope(user="alice", session="s9")
    await weeks(memhold.scope(user="alice"), 9)
    await memhold.scope(user="alice").compact()
    asked = [{"role": "user", "content": "hello again"}]
    found = await scope.context(asked, budget=8000)
    month = (await rollups(scope, "month"))[0]
    text = str(found.messages)
    assert month.text[:40] in text
    assert all(one.id not in text for one in await rollups(scope) if one.id != month.id)
    own = await memhold.scope(user="alice").context(asked, budget=8000)
    assert month.id not in str(own.messages), "that session's own windows stand there themselves"


async def test_the_prefix_of_a_context_does_not_follow_what_is_asked(opened: Opened) -> None:
    memhold = await opened(Teller())
    scope = memhold.scope(user="alice", session="s9")
    windows = {one.id: one for one in await weeks(memhold.scope(user="alice"), 9)}
    await memhold.scope(user="alice").compact()
    month = (await rollups(scope, "month"))[0]
    asked = ("hello again", next(iter(windows.values())).text)
    found = [await scope.context({"role": "user", "content": words}) for words in asked]
    assert windows.keys() & set(found[1].shown), "the second finds windows of it"
    assert all(month.id in one.shown for one in found)
    assert found[0].messages[0] == found[1].messages[0]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2)), max_size=40), st.integers(0, 60), st.randoms())
def test_the_plan_settles_and_tells_every_window_once(
    windows: list[tuple[int, int]], later: int, rng: random.Random
) -> None:
    made: list[Memory] = []
    number = 0

    def put(kind: Any, at: datetime, sources: tuple[str, ...] = (), **metadata: Any) -> Memory:
        nonlocal number
        number += 1
        return Memory(
            id=f"mem_{number}", number=number, kind=kind, text="t", sources=sources, metadata=metadata, event_time=at,
            valid_from=at, created_at=at, recorded_at=at,
        )  # fmt: skip

    for day, hour in windows:
        made.append(put("summary", MONDAY + timedelta(days=day, hours=hour)))
    now = MONDAY + timedelta(days=later)
    refused: set[frozenset[str]] = set()
    for _ in range(200):
        plan = planned(made, now, lambda parts: frozenset(one.id for one in parts) in refused)
        if not plan.wanted:
            break
        one = rng.choice(plan.wanted)
        assert not any(wanted.period == one.period.within for wanted in plan.wanted), "a level waits for those below"
        if rng.random() < 0.2:
            refused.add(frozenset(part.id for part in one.parts))
            continue
        ids = tuple(part.id for part in one.parts)
        made = [old for old in made if old not in one.stale]
        made.append(put("rollup", one.parts[0].event_time, ids, level=one.period.level, period=one.period.name))
    else:
        raise AssertionError("it never settles")
    assert not plan.orphans
    rolled = [one for one in made if one.kind == "rollup"]
    by_id = {one.id: one for one in made}
    shown_now = [one for one in made if one.kind == "summary" and rng.random() < 0.1]
    some = [one for one in rolled if rng.random() < 0.8]
    visible = chosen_rollups(some, shown_now, most=1000)

    def leaves(one: Memory) -> list[str]:
        return [leaf for id_ in one.sources for leaf in (leaves(by_id[id_]) if by_id[id_].sources else [id_])]

    every = [leaf for one in visible for leaf in leaves(one)]
    assert len(every) == len(set(every)), "nothing is told twice"
    assert set(every).isdisjoint(one.id for one in shown_now)
    if not shown_now and len(some) == len(rolled):
        assert set(every) == {leaf for one in rolled for leaf in leaves(one)}, "and nothing is left out"


@given(st.dates(date(2, 1, 1), date(9998, 12, 31)))
def test_periods_nest_without_a_gap(one: date) -> None:
    day = day_of(datetime.combine(one, time(12), UTC))
    assert day is not None
    week, month = day.within, day.within.within if day.within else None
    assert week is not None
    assert month is not None
    assert week.first <= day.first < day.end <= week.end
    assert month.first <= week.first < week.end <= month.end
    assert month.within is None
    assert (week.first.weekday(), month.first.weekday(), month.end.weekday()) == (0, 0, 0)
    following = Period("week", month.end, month.end + timedelta(days=7)).within
    assert following is not None
    assert following.first == month.end
    assert following.name != month.name


def test_names_are_those_of_iso_8601() -> None:
    names = []
    for given_day in (date(2026, 11, 20), date(2027, 1, 1), date(2026, 12, 31), date(2026, 10, 31)):
        period: Period | None = day_of(datetime(given_day.year, given_day.month, given_day.day, tzinfo=UTC))
        row = []
        while period is not None:
            row.append(period.name)
            period = period.within
        names.append(row)
    assert names == [
        ["2026-11-20", "2026-W47", "2026-11"],
        ["2027-01-01", "2026-W53", "2026-12"],
        ["2026-12-31", "2026-W53", "2026-12"],
        ["2026-10-31", "2026-W44", "2026-10"],
    ]
    assert LEVELS == ("day", "week", "month")


@pytest.mark.parametrize(
    ("texts", "honest"),
    [
        (
            TOLD[:2],
            "On Monday the user took seat 14C to Porto (TP123), then moved the dentist to Tuesday; Marta calls.",
        ),
        (
            (
                "Der Nutzer hat den Zug nach Graz um 8:15 gebucht.",
                "Anna schickt am Dienstag den Vertrag an Herrn Lutz.",
            ),
            "Am Montag im März buchte der Nutzer den Zug nach Graz (8:15); Anna schickt Lutz den Vertrag.",
        ),
        (
            ("사용자는 서울행 KTX 표를 예매했다.", "사용자는 치과 예약을 화요일로 옮겼다."),
            "사용자는 서울행 KTX 표를 예매하고 치과 예약을 화요일로 옮겼다.",
        ),
        (
            ("用户订了去上海的高铁票 G123。", "用户把牙医预约改到星期二。"),
            "用户订了去上海的 G123 高铁票，并把牙医预约改到星期二。",
        ),
    ],
)
def test_honest_rollups_pass(texts: tuple[str, ...], honest: str) -> None:
    parts = tuple(
        Memory(
            id=f"mem_{at}", number=at, kind="summary", text=text, event_time=MONDAY, valid_from=MONDAY,
            created_at=MONDAY, recorded_at=MONDAY,
        )
        for at, text in enumerate(texts)
    )  # fmt: skip
    day = day_of(MONDAY)
    assert day is not None
    found = read_rollup(call({"text": honest}, name="roll_up"), Wanted(agent=None, period=day, parts=parts))
    assert getattr(found, "text", found) == honest


async def test_withdrawing_reaches_all_above(opened: Opened) -> None:
    scope = (await opened(Teller())).scope(user="alice")
    parts = await weeks(scope, 9)
    await scope.compact()
    effects = await scope._tx.runtime.store.write(scope.scope, lambda tx: withdraw(tx, [parts[0].id]))
    assert len(effects) == 3
