"""The ten scenarios: what is current, where it lives and on what evidence, after each step and on every surface."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memhold import AsyncMemhold
from memhold.testing import FakeClock
from memhold.transfer.markdown import memory_markdown
from tests.facts.ten import ENGLISH, KOREAN, Scenario

pytestmark = pytest.mark.asyncio

EVERYWHERE = {2, 5}
"""Which scenarios run on every store: one that changes twice, and one that lasts."""
PLACED = [
    pytest.param(place, scenario, id=f"{place}-{language}-{scenario.name}")
    for scenarios, language in ((ENGLISH, "en"), (KOREAN, "ko"))
    for number, scenario in enumerate(scenarios)
    for place in (("memory", "sqlite", "postgresql") if number in EVERYWHERE else ("memory",))
]
HOUR = 3600.0


def named(scenario: Scenario) -> str:
    """A question in the words of the keys."""
    return " ".join(step.attribute for step in scenario.steps)


async def current(scope) -> list[str]:
    return [memory.value for memory in (await scope.list(kinds=("fact",), limit=1000)).items]


async def tell(memhold: AsyncMemhold, scenario: Scenario, number: int, clock: FakeClock):
    """Tell one step; no surface that is no evidence serves what it replaces as current."""
    step = scenario.steps[number]
    scope = memhold.scope(user="alice", session=f"s{number}")
    told = (await scope.remember(attribute=step.attribute, value=step.value)).memory
    assert (told.state, told.value) == ("active", step.value)
    if step.replaces is None:
        return told
    facts = (await scope.list(kinds=("fact",), states=None, limit=1000)).items
    [before] = [one for one in facts if one.superseded_by == told.id and one.value == step.replaces]
    assert (before.state, before.key, before.valid_to) == ("superseded", told.key, told.valid_from)
    assert (await scope.get(before.id)).state == "superseded"
    listed = (await scope.list(kinds=("fact",), limit=1000)).items
    assert [one.value for one in listed if one.key == told.key] == [step.value]
    page = memory_markdown(listed, now=clock.now())
    assert f"{told.attribute}**: {step.value} ".replace("_", "\\_") in page
    assert f"{before.attribute}**: {step.replaces} " not in page
    last = {e.memory_id: e.after for change in await scope.history(before.id) for e in change.effects}
    assert [one.value for one in last.values() if one.state == "active"] == [step.value]
    newest = (await scope.recall("", kinds=["fact"], limit=100)).hits
    assert step.replaces not in [hit.value for hit in newest if hit.attribute in {before.attribute, told.attribute}]
    return told


# All ten on one user run on every store.
@pytest.mark.parametrize(("location", "scenario"), PLACED, indirect=["location"])
async def test_each_alone(memhold: AsyncMemhold, clock: FakeClock, scenario: Scenario) -> None:
    """A first mention has no evidence, a changed value one piece more; the second piece moves it to the long tier."""
    alice = memhold.scope(user="alice")
    pieces: dict[str, int] = {}
    for number, step in enumerate(scenario.steps):
        told = await tell(memhold, scenario, number, clock)
        pieces[told.key] = pieces[told.key] + 1 if step.replaces else 0
        tier = "long" if scenario.lasting or pieces[told.key] >= 2 else "mid"
        assert (told.tier, told.evidence) == (tier, pieces[told.key])
        assert told.expires_at == (None if tier == "long" else clock.now() + timedelta(days=7))
        clock.advance(HOUR)
    answer = await alice.recall(named(scenario), kinds=["fact"])
    assert {hit.value for hit in answer.hits} == {*scenario.holds, *scenario.also_holds}
    for memory in (await alice.list(kinds=("fact",))).items:
        told_long = scenario.lasting or pieces[memory.key] >= 2
        asked = pieces[memory.key] if told_long else pieces[memory.key] + 1
        assert memory.evidence == asked
        assert memory.tier == ("long" if scenario.lasting or asked >= 2 else "mid")
        assert (memory.expires_at is None) == (memory.tier == "long")


@pytest.mark.parametrize("scenarios", [pytest.param(ENGLISH, id="en"), pytest.param(KOREAN, id="ko")])
async def test_all_ten_on_one_user(memhold: AsyncMemhold, clock: FakeClock, scenarios: tuple[Scenario, ...]) -> None:
    alice = memhold.scope(user="alice")
    for scenario in scenarios:
        before = (await alice.list(kinds=("fact",))).items
        touched = set()
        for number in range(len(scenario.steps)):
            touched.add((await tell(memhold, scenario, number, clock)).key)
            clock.advance(HOUR)
        after = {memory.id: memory for memory in (await alice.list(kinds=("fact",))).items}
        for memory in before:
            if memory.key not in touched:
                assert after[memory.id] == memory, "what was said earlier changed"
        answer = await alice.recall(scenario.asks, kinds=["fact"], limit=100)
        assert set(scenario.holds) <= {hit.value for hit in answer.hits}
        clock.advance(HOUR)
    gone = {"도예", "pottery"}  # the hobby of the first scenario, which the fourth replaces
    held = {value for one in scenarios for value in (*one.holds, *one.also_holds)} - gone
    assert sorted(await current(alice)) == sorted(held)
    assert (await alice.status()).open_suspicions == 0


@pytest.mark.parametrize("scenario", [ENGLISH[6], KOREAN[6], ENGLISH[8], KOREAN[8]], ids=lambda one: one.name)
async def test_as_an_agent_does_it(memhold: AsyncMemhold, clock: FakeClock, scenario: Scenario) -> None:
    """Seven and nine: recall, forget, remember from another session; the forgotten value is nowhere."""
    first, second = scenario.steps
    await memhold.scope(user="alice", session="one").remember(attribute=first.attribute, value=first.value)
    clock.advance(HOUR)
    other = memhold.scope(user="alice", session="two")
    [hit] = (await other.recall(scenario.asks, kinds=["fact"])).hits
    await other.forget(hit.id)
    clock.advance(HOUR)
    told = (await other.remember(attribute=second.attribute, value=second.value)).memory
    assert (told.state, told.evidence, told.tier) == ("active", 0, "long" if scenario.lasting else "mid")
    every = await other.recall(scenario.asks, include_superseded=True, limit=100)
    assert [hit.value for hit in every.hits] == [second.value]
    assert [memory.value for memory in (await other.list(states=None)).items] == [second.value]
