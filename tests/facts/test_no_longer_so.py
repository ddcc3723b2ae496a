"""What only a value supports that no longer holds is served by no surface, however that value came to its end."""

from __future__ import annotations

import json

import pytest
import pytest_asyncio

from memhold import AsyncMemhold
from memhold.testing import FakeClock, ScriptedChat, SeededIds

pytestmark = pytest.mark.asyncio
SAID = "I have a desk at Fit4U."


@pytest_asyncio.fixture
async def world(location: str, clock: FakeClock):
    model = ScriptedChat(name="m")
    async with AsyncMemhold.open(location, worker=False, clock=clock, ids=SeededIds(3), consolidation=model) as opened:
        yield opened, model, clock


def fact(value: str, attribute: str = "desk", operation: str = "set", **more):
    given = {"subject": "user", "attribute": attribute, "value": value, "operation": operation}
    return {**given, "importance": "mid", "sources": ["m1"], **more}


async def say(world, session: str, text: str, *facts) -> None:
    memhold, model, clock = world
    scope = memhold.scope(user="alice", session=session)
    await scope.add([{"role": "user", "content": text}])
    model.script([{"history_entry": f"[2026-01-01 00:00] {text}", "facts": list(facts), "notes": []}])
    await scope.end_session()
    assert await memhold.settle()
    clock.advance(3600)


async def served(memhold: AsyncMemhold, question: str = "desk Fit4U") -> list[str]:
    """Each text that recall or context serves as current."""
    scope = memhold.scope(user="alice", session="asks")
    found = [hit.text for text in ("", question) for hit in (await scope.recall(text, limit=100)).hits]
    context = await scope.context([{"role": "user", "content": question}], budget=4000)
    return [*found, json.dumps(list(context.messages)[:-1], default=str)]


def stale(texts: list[str], said: str = SAID) -> list[str]:
    return [text for text in texts if said in text]


async def current(memhold: AsyncMemhold):
    [memory] = (await memhold.scope(user="alice").list(kinds=("fact",))).items
    return memory


async def test_a_value_that_was_removed(world) -> None:
    memhold = world[0]
    await say(world, "one", SAID, fact("Fit4U"))
    assert stale(await served(memhold))
    await say(world, "two", "I cancelled that desk.", fact("Fit4U", operation="remove", target="f1"))
    texts = await served(memhold)
    assert not stale(texts)
    assert any("I cancelled that desk." in text for text in texts)
    asked = await memhold.scope(user="alice").recall("desk Fit4U", include_superseded=True)
    assert stale([hit.text for hit in asked.hits])


async def test_a_value_that_was_corrected(world) -> None:
    memhold = world[0]
    await say(world, "one", SAID, fact("Fit4U"))
    old = await current(memhold)
    corrected = await memhold.scope(user="alice").correct(old.id, "Hub7")
    assert not stale(await served(memhold))
    await memhold.scope(user="alice").undo(corrected.receipt.change_ids[0])
    assert stale(await served(memhold))


async def test_a_message_that_says_more_names_what_was_corrected(world) -> None:
    memhold = world[0]
    await say(world, "one", f"{SAID} My locker is 12.", fact("Fit4U"), fact("12", attribute="locker"))
    alice = memhold.scope(user="alice")
    [old] = [one for one in (await alice.list(kinds=("fact",))).items if one.value == "Fit4U"]
    corrected = await alice.correct(old.id, "Hub7")
    [hit] = [hit for hit in (await alice.recall("desk Fit4U", kinds=["message"])).hits if SAID in hit.text]
    assert hit.superseded_by == corrected.memory.id


@pytest.mark.parametrize("hard", [True, False])
async def test_a_value_whose_successor_is_forgotten(world, *, hard: bool) -> None:
    memhold = world[0]
    await say(world, "one", SAID, fact("Fit4U"))
    await say(world, "two", "My desk is at Hub7.", fact("Hub7"))
    await memhold.scope(user="alice").forget((await current(memhold)).id, hard=hard)
    await memhold.settle()
    assert not stale(await served(memhold))


async def test_an_undone_consolidation_takes_no_message_away(world) -> None:
    memhold = world[0]
    await say(world, "one", SAID, fact("Fit4U"))
    memory = await current(memhold)
    await memhold.scope(user="alice").undo((await memhold.scope(user="alice").history(memory.id))[-1].id)
    assert stale(await served(memhold))


async def test_past_values_that_are_asked_for_name_what_replaced_them_and_stand_behind_it(world) -> None:
    memhold = world[0]
    await say(world, "one", SAID, fact("Fit4U"))
    await say(world, "two", "My desk is at Hub7 now.", fact("Hub7"))
    await say(world, "three", "My desk is at Quay9 now.", fact("Quay9"))
    scope = memhold.scope(user="alice")
    # Words of the oldest value: by them alone it would stand first.
    found = (await scope.recall("desk Fit4U Hub7", include_superseded=True, limit=50)).hits
    facts = {hit.value: hit for hit in found if hit.kind == "fact"}
    assert [value for value in (hit.value for hit in found) if value] == ["Quay9", "Hub7", "Fit4U"]
    assert facts["Fit4U"].superseded_by == facts["Hub7"].id
    said = {hit.text: (place, hit) for place, hit in enumerate(found) if hit.kind == "message"}
    newest, oldest = said["My desk is at Quay9 now."], said[SAID]
    assert newest[1].superseded_by is None
    assert newest[1].outdated == ()
    assert (oldest[1].superseded_by, oldest[1].outdated) == (facts["Hub7"].id, (facts["Fit4U"].id,))
    assert newest[0] < oldest[0]
    only = (await scope.recall("desk Fit4U Hub7", include_superseded=True, kinds=["message"])).hits
    assert [hit.text for hit in only if "desk" in hit.text] == [newest[1].text, "My desk is at Hub7 now.", SAID]


async def test_a_message_that_says_more_is_marked_for_a_value_that_was_removed(world) -> None:
    memhold = world[0]
    await say(world, "one", f"{SAID} My locker is 12.", fact("Fit4U"), fact("12", attribute="locker"))
    alice = memhold.scope(user="alice")
    [old] = [one for one in (await alice.list(kinds=("fact",))).items if one.value == "Fit4U"]
    await say(world, "two", "I cancelled that desk.", fact("Fit4U", operation="remove", target="f1"))
    assert (await alice.get(old.id)).state == "superseded"
    [hit] = [hit for hit in (await alice.recall("desk Fit4U", kinds=["message"])).hits if SAID in hit.text]
    assert (hit.superseded_by, hit.outdated) == (None, (old.id,))


@pytest.mark.parametrize("operation", ["set", "add"])
async def test_that_there_are_none_ends_every_value_and_ends_with_the_next(world, operation: str) -> None:
    async def held() -> list[str | None]:
        return [memory.value for memory in (await world[0].scope(user="alice").list(kinds=("fact",))).items]

    await say(world, "one", "I am allergic to nuts.", fact("nuts", "allergies", "add"))
    await say(world, "two", "And to cats too.", fact("cats", "allergies", "add"))
    assert sorted(map(str, await held())) == ["cats", "nuts"]
    await say(world, "three", "I have no allergies any more.", fact("none", "allergies", operation))
    assert await held() == ["none"]
    assert not any("nuts" in text for text in await served(world[0], "allergies"))
    await say(world, "four", "I am allergic to pollen now.", fact("pollen", "allergies", "add"))
    assert await held() == ["pollen"]
