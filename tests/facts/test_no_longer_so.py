"""What says a value that no longer holds is marked and ranks behind what came after, however that value ended."""

from __future__ import annotations

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


async def say(world, session: str, text: str, *facts, entry: str = "") -> None:
    memhold, model, clock = world
    scope = memhold.scope(user="alice", session=session)
    await scope.add([{"role": "user", "content": text}])
    model.script([{"history_entry": f"[2026-01-01 00:00] {entry or text}", "facts": list(facts), "notes": []}])
    await scope.end_session()
    assert await memhold.settle()
    clock.advance(3600)


async def served(memhold: AsyncMemhold, question: str = "desk Fit4U") -> list[str]:
    """Each text that recall or context serves as current; what is marked there is in all of them, and never hidden."""
    scope = memhold.scope(user="alice", session="asks")
    hits = [hit for text in ("", question) for hit in (await scope.recall(text, limit=100)).hits]
    marked = [hit for hit in hits if hit.outdated]
    context = (await scope.context([{"role": "user", "content": question}], budget=4000)).as_text()
    lines = [line for line in context.splitlines() if "no longer so: " in line]
    assert bool(marked) == bool(lines)
    assert {hit.text for hit in marked if hit.kind == "message"} <= {line.split(": ", 2)[-1] for line in lines}
    return [*(hit.text for hit in hits if not hit.outdated), *(set(context.splitlines()[:-1]) - set(lines))]


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


async def test_a_message_that_a_replaced_fact_quotes_says_what_replaced_it(world) -> None:
    memhold = world[0]
    await say(world, "one", f"Hi! {SAID}", fact("Fit4U", quote=SAID))
    old = await current(memhold)
    assert [quote.text for quote in old.quotes] == [SAID]
    await say(world, "two", "My desk is at Hub7 now.", fact("Hub7", quote="desk is at Hub7 now", target="f1"))
    new = await current(memhold)
    hits = (await memhold.scope(user="alice").recall("Where is my desk?", kinds=["message"])).hits
    marks = {hit.id: (hit.superseded_by, [one.fact for one in hit.outdated]) for hit in hits}
    assert marks == {old.quotes[0].message_id: (new.id, [old.id]), new.quotes[0].message_id: (None, [])}


async def test_without_a_model_no_message_is_marked(location: str, clock: FakeClock) -> None:
    async with AsyncMemhold.open(location, worker=False, clock=clock, ids=SeededIds(3)) as memhold:
        alice = memhold.scope(user="alice", session="s")
        for text in ("I live in Oslo.", "I live in Ghent now.", "We switched from Slack to Teams.", "We use Slack."):
            await alice.add([{"role": "user", "content": text}])
            clock.advance(3600)
        await alice.remember(attribute="home city", value="Ghent")
        assert await memhold.settle()
        hits = (await alice.recall("Where do I live, and what do we use?", include_superseded=True)).hits
        assert len(hits) == 5
        assert {(hit.superseded_by, hit.outdated) for hit in hits} == {(None, ())}
        context = (await alice.context([{"role": "user", "content": "Where do I live?"}], budget=4000)).as_text()
        assert "no longer so" not in context


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
    told = facts["Quay9"].sources
    found = (await scope.recall("desk Fit4U Hub7", include_superseded=True, kinds=["message"], limit=50)).hits
    said = {hit.text: (place, hit) for place, hit in enumerate(found)}
    newest, oldest = said["My desk is at Quay9 now."], said[SAID]
    assert newest[1].id in told, "a fact and the message that it quotes are one hit"
    assert newest[1].superseded_by is None
    assert newest[1].outdated == ()
    [ended] = oldest[1].outdated
    assert (ended.fact, ended.value, ended.now) == (facts["Fit4U"].id, "Fit4U", "Quay9")
    assert ended.since == facts["Hub7"].valid_from
    assert oldest[1].superseded_by == facts["Hub7"].id
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
    assert (hit.superseded_by, [(one.fact, one.now) for one in hit.outdated]) == (None, [(old.id, None)])


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


async def test_what_else_a_message_said_is_found_and_a_summary_says_what_holds_no_longer(world) -> None:
    memhold = world[0]
    said = "I live in Oslo with my cat Mina."
    await say(world, "one", said, fact("Oslo", "city"))
    await say(world, "two", "We moved to Bergen last week.", fact("Bergen", "city", target="f1"))
    alice = memhold.scope(user="alice", session="asks")
    now = await current(memhold)
    hits = (await alice.recall("Where do I live, and what is my cat called?", limit=50)).hits
    places = {(hit.kind, hit.text.endswith(said)): place for place, hit in enumerate(hits)}
    assert ("fact", False) not in places, "the newer message tells its fact, which has no name that is asked for"
    for kind in ("message", "summary"):
        hit = hits[places[kind, True]]
        assert places["message", False] < places[kind, True], "it ranks behind what replaced it"
        assert hit.superseded_by == now.id
        assert [(one.value, one.since, one.now) for one in hit.outdated] == [("Oslo", now.valid_from, "Bergen")]
        assert not hits[places[kind, False]].outdated
    one = memhold.scope(user="alice", session="one")
    lines = (await one.context([{"role": "user", "content": "What is my cat called?"}], budget=4000)).as_text()
    marked = [line for line in lines.splitlines() if "no longer so: now Bergen" in line]
    assert [line.endswith(said) for line in marked] == [True, True], "the summary of the session, and the message"


async def test_a_value_that_holds_again_and_a_summary_that_tells_the_change_are_not_marked(world) -> None:
    memhold = world[0]
    for session, value in (("one", "Oslo"), ("two", "Bergen"), ("three", "Oslo")):
        await say(world, session, f"I live in {value} now.", fact(value, "city"))
    await say(world, "four", "I was in Oslo and live in Turku now.", fact("Turku", "city"))
    await memhold.scope(user="alice").undo(
        (await memhold.scope(user="alice").history((await current(memhold)).id))[-1].id
    )
    hits = (await memhold.scope(user="alice", session="asks").recall("Where do I live?", limit=50)).hits
    marked = {hit.text.removeprefix("[2026-01-01 00:00] ") for hit in hits if hit.outdated}
    assert marked == {"I live in Bergen now."}


@pytest.mark.parametrize(
    ("answer", "stands"),
    [
        ("The user lived in Oslo until 2026-01-01, with the cat Mina; the user lives in Bergen now.", True),
        ("The user lives in Oslo with the cat Mina.", False),
        ("The user lives in Bergen now.", False),
        ("The user lived in Oslo until 2026-01-01 with the cats Mina and Rex, and lives in Bergen now.", False),
        ("", False),
    ],
)
async def test_a_summary_that_says_what_no_longer_holds_is_told_anew(world, answer: str, *, stands: bool) -> None:
    memhold, model, clock = world
    alice = memhold.scope(user="alice", session="one")
    entry = "The user lives in Oslo with the cat Mina."
    await say(world, "one", "I live in Oslo with my cat Mina.", fact("Oslo", "city"), entry=entry)
    await say(world, "two", "We moved to Bergen last week.", fact("Bergen", "city", target="f1"))
    now = await current(memhold)
    for _ in range(2):
        model.script([{"text": answer}] if not asked_anew(model) else [])
        clock.advance(86400)
        assert await memhold.settle()
    [told] = [hit for hit in (await alice.recall("Mina", kinds=["summary"])).hits if "Mina" in hit.text]
    assert told.text == f"[2026-01-01 00:00] {answer if stands else entry}"
    assert (not told.outdated, now.id in told.sources) == (stands, stands)
    assert asked_anew(model) == 1, "and no model is asked about it again"
    if stands:
        await alice.forget(now.id)
        assert "Bergen" not in str([hit.text for hit in (await alice.recall("", limit=100)).hits])


def asked_anew(model: ScriptedChat) -> int:
    return sum(request.tool is not None and request.tool.name == "tell_anew" for request in model.asked)
