"""The ten scenarios the plain way: said in messages, consolidated over HTTP, asked in a new session in plain words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from memhold import AsyncMemhold, Memory
from memhold.facts.quotes import stands
from memhold.testing import ChaosServer, FakeClock, SeededIds
from memhold.testing.chaos.faults import Answer, Fault
from tests.consolidation.chains import http_chain
from tests.facts.ten import ENGLISH, KOREAN, Said, Scenario, Step

pytestmark = pytest.mark.asyncio

BOTH = [pytest.param(scenarios, id=language) for scenarios, language in ((ENGLISH, "en"), (KOREAN, "ko"))]
EVERYWHERE = {2, 5}
"""Which scenarios run on every store: one that changes twice, and one that lasts."""
PLACED = [
    pytest.param(place, scenario, id=f"{place}-{language}-{scenario.name}")
    for scenarios, language in ((ENGLISH, "en"), (KOREAN, "ko"))
    for number, scenario in enumerate(scenarios)
    for place in (("memory", "sqlite", "postgresql") if number in EVERYWHERE else ("memory",))
]
HOUR = 3600.0


@pytest_asyncio.fixture
async def world(location: str, clock: FakeClock) -> AsyncIterator[tuple[AsyncMemhold, ChaosServer, FakeClock]]:
    async with ChaosServer() as server:
        chain = http_chain(server, "gpt-test")
        try:
            async with AsyncMemhold.open(
                location, worker=False, clock=clock, ids=SeededIds(7), consolidation=chain, rollups=False
            ) as opened:
                yield opened, server, clock
        finally:
            await chain.close()


def reply(said: Said) -> Fault:
    """What the model saves of one message: keys in words of its own, values, a line of history, and what no line says."""
    given = [*((step.attribute, step.value, said.text) for step in said.steps), *((*one, "") for one in said.beside)]
    fact = {"subject": "user", "operation": "set", "importance": "mid", "sources": ["m1"]}
    saved = {
        "history_entry": f"[2026-01-01 00:00] {said.text}",
        "facts": [
            {**fact, "attribute": attribute, "value": value, "quote": quote} for attribute, value, quote in given
        ],
        "notes": [],
    }
    call = {"name": "save_memory", "arguments": json.dumps(saved, ensure_ascii=False)}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
    }
    body = {
        "id": "c1",
        "object": "chat.completion",
        "model": "gpt-test",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20},
    }
    act = Answer(status=200, body=json.dumps(body, ensure_ascii=False), headers={"content-type": "application/json"})
    return Fault(name="saved", act=act)


async def say(world, scenario: Scenario, number: int, folder: Path) -> list[tuple[Step, Memory]]:
    """One message in a session of its own: consolidated, and the old values are nowhere current."""
    memhold, server, clock = world
    said = scenario.said[number]
    scope = memhold.scope(user="alice", session=f"{scenario.name}{number}")
    before = {memory.id for memory in (await scope.list(kinds=("fact",), limit=1000)).items}
    await scope.add([{"role": "user", "content": said.text}, {"role": "assistant", "content": "OK."}])
    server.script([reply(said)])
    await scope.end_session()
    assert await memhold.settle()
    made = [one for one in (await scope.list(kinds=("fact",), limit=1000)).items if one.id not in before]
    fresh = {one.value: one for one in made if one.value in {step.value for step in said.steps}}
    assert len(fresh) == len(said.steps)
    beside = [one for one in made if one not in fresh.values()]
    assert {one.standing for one in beside} <= {"doubtful"}, "nothing else is stated"
    assert {(one.state, one.origin, one.trust) for one in fresh.values()} == {("active", "model", "user")}
    for step in said.steps:
        if step.replaces is not None:
            await assert_nowhere(memhold, fresh[step.value], step, folder)
    clock.advance(HOUR)
    return [(step, fresh[step.value]) for step in said.steps]


async def assert_nowhere(memhold: AsyncMemhold, told: Memory, step: Step, folder: Path) -> None:
    """No surface serves what a step replaced as current; what was said of it is marked, and stays."""
    scope = memhold.scope(user="alice", session="another")
    every = (await scope.list(kinds=("fact",), states=None, limit=1000)).items
    [old] = [one for one in every if one.superseded_by == told.id]
    assert (old.value, old.state, old.key) == (step.replaces, "superseded", told.key)
    listed = [one for one in (await scope.list(kinds=("fact",), limit=1000)).items if one.key == told.key]
    assert [one.value for one in listed] == [step.value]
    sources = {one.id: one.text for one in (await scope.list(kinds=("summary",), limit=1000)).items}
    # A question that returns the fact would be evidence for it: what else there is, is asked for apart.
    found = [(await scope.recall("", limit=100)), (await scope.summaries(limit=100))]
    found += [await scope.recall(step.attribute, kinds=["message", "summary", "note"], limit=100)]
    for hit in (hit for answer in found for hit in answer.hits):
        assert hit.id != old.id
        tells = set(old.sources) & {hit.id, *hit.sources} and hit.kind in {"message", "summary"}
        assert not tells or hit.superseded_by is not None or not stands(old.value, hit.text), hit
    context = (await scope.context([{"role": "user", "content": f"{step.attribute}?"}], budget=4000)).as_text()
    assert step.value in context
    spoken = [one for one in sources.values() if stands(old.value, one) and not stands(step.value, one)]
    lines = [line for line in context.splitlines() if any(line.endswith(one) for one in spoken)]
    assert all("no longer so: " in line for line in lines), lines
    await scope.export(folder / "page", format="markdown")
    pages = [path.read_text("utf-8") for path in (folder / "page").rglob("MEMORY.md")]
    assert pages
    assert not any(f"**: {old.value} " in line for page in pages for line in page.splitlines() if old.attribute in line)


# All ten on one user run on every store.
@pytest.mark.parametrize(("location", "scenario"), PLACED, indirect=["location"])
async def test_each_alone(world, tmp_path: Path, scenario: Scenario) -> None:
    memhold, _, _ = world
    pieces: dict[str, int] = {}
    for number in range(len(scenario.said)):
        for step, told in await say(world, scenario, number, tmp_path):
            pieces[told.key] = pieces[told.key] + 1 if step.replaces else 0
            tier = "long" if scenario.lasting or pieces[told.key] >= 2 else "mid"
            assert (told.tier, told.evidence) == (tier, pieces[told.key])
    await assert_answered(memhold, scenario)


async def assert_answered(memhold: AsyncMemhold, scenario: Scenario) -> None:
    """A new session asks in plain words: recall has it among the first five facts, and the context has it."""
    asks = memhold.scope(user="alice", session=f"{scenario.name} asks")
    facts = {hit.value for hit in (await asks.recall(scenario.asks, kinds=["fact"], limit=5)).hits}
    assert set(scenario.holds) <= facts
    assert not {step.replaces for step in scenario.steps} & facts
    context = (await asks.context([{"role": "user", "content": scenario.asks}], budget=4000)).as_text()
    assert all(any(value in line for line in current(context)) for value in scenario.holds)


def current(context: str) -> list[str]:
    """The lines of a context that are told as what is so."""
    return [line for line in context.splitlines() if "no longer so: " not in line]


@pytest.mark.parametrize("scenarios", BOTH)
async def test_all_ten_on_one_user(world, tmp_path: Path, scenarios: tuple[Scenario, ...]) -> None:
    memhold, server, clock = world
    alice = memhold.scope(user="alice")
    for scenario in scenarios:
        before = (await alice.list(kinds=("fact",), limit=1000)).items
        told = [one for number in range(len(scenario.said)) for one in await say(world, scenario, number, tmp_path)]
        after = {memory.id: memory for memory in (await alice.list(kinds=("fact",), limit=1000)).items}
        touched = {memory.key for _, memory in told}
        assert all(after[memory.id] == memory for memory in before if memory.key not in touched)
        await assert_answered(memhold, scenario)
        clock.advance(HOUR)
    facts = (await alice.list(kinds=("fact",), limit=1000)).items
    held = sorted(memory.value for memory in facts if memory.standing == "stated")
    gone = {"도예", "pottery"}  # the hobby of the first scenario, which the fourth replaces
    assert held == sorted({value for one in scenarios for value in (*one.holds, *one.also_holds)} - gone)
    assert (await alice.status()).open_suspicions == 0
    assert len(server.asked(path="/chat/completions")) == sum(len(scenario.said) for scenario in scenarios)
