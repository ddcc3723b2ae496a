"""The ten scenarios through `add`, a consolidation over HTTP and recall: keys worded otherwise on each turn."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from memhold import AsyncMemhold
from memhold.testing import ChaosServer, FakeClock, SeededIds
from memhold.testing.chaos.faults import Answer, Fault
from tests.consolidation.chains import http_chain
from tests.facts.ten import AT_THE_END, ENGLISH, KOREAN, Scenario, Step

pytestmark = pytest.mark.asyncio

BOTH = [pytest.param(scenarios, language, id=language) for scenarios, language in ((ENGLISH, "en"), (KOREAN, "ko"))]
EACH = [
    pytest.param(scenario, language, id=f"{language}-{scenario.name}")
    for scenarios, language in ((ENGLISH, "en"), (KOREAN, "ko"))
    for scenario in scenarios
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


def sentence(step: Step, language: str) -> str:
    return f"My {step.attribute}: {step.value}." if language == "en" else f"{step.attribute}: {step.value}"


def reply(step: Step, language: str) -> Fault:
    """What the model saves of one turn: the key in that turn's words, the value, and a line of history."""
    fact = {"subject": "user", "attribute": step.attribute, "value": step.value, "operation": "set"}
    saved = {
        "history_entry": f"[2026-01-01 00:00] {sentence(step, language)}",
        "facts": [{**fact, "importance": "mid", "sources": ["m1"]}],
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


async def say(world, scenario: Scenario, number: int, language: str, folder: Path):
    """One turn: said, consolidated, and the old value is nowhere current."""
    memhold, server, clock = world
    step = scenario.steps[number]
    name = f"{scenario.name}-{number if scenario.sessions else 1}"
    scope = memhold.scope(user="alice", session=name)
    before = {memory.id: memory for memory in (await scope.list(kinds=("fact",), limit=1000)).items}
    await scope.add([{"role": "user", "content": sentence(step, language)}, {"role": "assistant", "content": "OK."}])
    server.script([reply(step, language)])
    await scope.end_session()
    assert await memhold.settle()
    facts = (await scope.list(kinds=("fact",), limit=1000)).items
    [told] = [one for one in facts if one.id not in before]
    assert (told.value, told.state, told.origin, told.trust) == (step.value, "active", "model", "user")
    if step.replaces is not None:
        await assert_nowhere(memhold, told, step, folder)
    clock.advance(HOUR)
    return told


async def assert_nowhere(memhold: AsyncMemhold, told, step: Step, folder: Path) -> None:
    """No surface serves what a step replaced as current."""
    scope = memhold.scope(user="alice", session="another")
    every = (await scope.list(kinds=("fact",), states=None, limit=1000)).items
    [old] = [one for one in every if one.superseded_by == told.id]
    assert (old.value, old.state, old.key) == (step.replaces, "superseded", told.key)
    listed = [one for one in (await scope.list(kinds=("fact",), limit=1000)).items if one.key == told.key]
    assert [one.value for one in listed] == [step.value]
    stale = f"{old.attribute}: {old.value}"
    for hit in (await scope.recall("", limit=100)).hits:
        assert hit.id != old.id
        assert not hit.text.endswith((f"{stale}.", stale)) or hit.superseded_by is not None, hit
    # A question that returns the fact would be evidence for it: what else there is, is asked for apart.
    for hit in (await scope.recall(step.attribute, kinds=["message", "summary", "note"], limit=100)).hits:
        assert hit.id != old.id
        assert not hit.text.endswith((f"{stale}.", stale)) or hit.superseded_by is not None, hit
    context = await scope.context([{"role": "user", "content": f"{step.attribute}?"}], budget=4000)
    shown = context.as_text()
    said = [line for line in shown.splitlines() if re.search(re.escape(stale) + r"(?!\w)", line)]
    assert all("no longer so: " in line for line in said), said
    assert step.value in shown
    await scope.export(folder / "page", format="markdown")
    pages = [path.read_text("utf-8") for path in (folder / "page").rglob("MEMORY.md")]
    assert pages
    assert not any(
        f"**: {old.value} " in line and line.startswith(f"- **{old.attribute}")
        for page in pages
        for line in page.splitlines()
    )
    summaries = (await scope.summaries(limit=100)).hits
    assert not any(hit.text.endswith((f"{stale}.", stale)) and hit.superseded_by is None for hit in summaries)


@pytest.mark.parametrize(("scenario", "language"), EACH)
async def test_each_alone(world, tmp_path: Path, scenario: Scenario, language: str) -> None:
    memhold, _, _ = world
    pieces: dict[str, int] = {}
    for number, step in enumerate(scenario.steps):
        told = await say(world, scenario, number, language, tmp_path)
        pieces[told.key] = pieces[told.key] + 1 if step.replaces else 0
        tier = "long" if scenario.lasting or pieces[told.key] >= 2 else "mid"
        assert (told.tier, told.evidence) == (tier, pieces[told.key])
    alice = memhold.scope(user="alice", session="asks")
    answer = await alice.recall(scenario.asks, kinds=["fact"])
    assert {hit.value for hit in answer.hits} == set(scenario.holds)
    for memory in (await alice.list(kinds=("fact",))).items:
        asked = pieces[memory.key] + (not (scenario.lasting or pieces[memory.key] >= 2))
        assert (memory.evidence, memory.tier) == (asked, "long" if scenario.lasting or asked >= 2 else "mid")


@pytest.mark.parametrize(("scenarios", "language"), BOTH)
async def test_all_ten_on_one_user(world, tmp_path: Path, scenarios: tuple[Scenario, ...], language: str) -> None:
    memhold, server, clock = world
    alice = memhold.scope(user="alice")
    for scenario in scenarios:
        before = (await alice.list(kinds=("fact",), limit=1000)).items
        touched = {(await say(world, scenario, n, language, tmp_path)).key for n in range(len(scenario.steps))}
        after = {memory.id: memory for memory in (await alice.list(kinds=("fact",), limit=1000)).items}
        assert all(after[memory.id] == memory for memory in before if memory.key not in touched)
        answer = await alice.recall(scenario.asks, kinds=["fact"], limit=100)
        assert set(scenario.holds) <= {hit.value for hit in answer.hits}
        clock.advance(HOUR)
    held = (await alice.list(kinds=("fact",), limit=1000)).items
    assert {memory.value for memory in held} == AT_THE_END[language]
    assert len(held) == len(AT_THE_END[language])
    assert (await alice.status()).open_suspicions == 0
    assert len(server.asked(path="/chat/completions")) == sum(len(scenario.steps) for scenario in scenarios)
