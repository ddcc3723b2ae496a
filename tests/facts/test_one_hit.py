"""A fact and the message that it quotes help to find each other and are one hit; past values come where asked for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import pytest_asyncio

from memhold import AsyncMemhold
from memhold.testing import FakeClock, ScriptedChat, SeededIds

pytestmark = pytest.mark.asyncio
DRESS = "Found one at last, and it was 240 euros."
GYM = "I pay 39 euros a month at the gym, what does one wear there?"


@pytest_asyncio.fixture
async def world(location: str, clock: FakeClock):
    model = ScriptedChat(name="m")
    async with AsyncMemhold.open(location, worker=False, clock=clock, ids=SeededIds(3), consolidation=model) as opened:
        yield opened, model


def fact(subject: str, attribute: str, value: str, quote: str, target: str | None = None):
    given = {"subject": subject, "attribute": attribute, "value": value, "operation": "set", "target": target}
    return {**given, "importance": "mid", "sources": ["m1"], "quote": quote}


async def say(world, session: str, text: str, *facts, role: str = "user", notes=()) -> None:
    memhold, model = world
    scope = memhold.scope(user="alice", session=session)
    at = datetime.fromisoformat(f"{session}T08:00:00+00:00")
    await scope.add([{"role": role, "content": text, "event_time": at}])
    model.script([{"history_entry": f"[{session} 08:00] {text}", "facts": [*facts], "notes": [*notes]}])
    await scope.end_session()
    assert await memhold.settle()


async def asked(world, question: str, **more):
    return (await world[0].scope(user="alice", session="asks").recall(question, **more)).hits


async def test_a_fact_brings_its_message_along_and_stands_for_it(world) -> None:
    await say(world, "2025-12-01", GYM, fact("user", "gym cost", "39 euros a month", "39 euros a month at the gym"))
    await say(world, "2025-12-02", DRESS, fact("user", "dress price", "240 euros", "it was 240 euros"))
    first = (await asked(world, "What did the dress cost?"))[0]
    assert first.value == "240 euros"
    [message] = await asked(world, "What did the dress cost?", kinds=["message"], limit=1)
    assert message.text == DRESS, "no word of the question stands in it"
    assert [reason.signal for reason in message.why if reason.signal == "follows"]
    hits = await asked(world, "What did the dress cost?", limit=50)
    assert message.id in first.sources
    assert message.id not in {hit.id for hit in hits}, "together they are one hit"
    kept = await world[0].scope(user="alice").recall("What did the dress cost?", expect=message.id)
    assert (kept.expected.kept_out, kept.expected.by) == ("repeats", first.id)


async def test_pages_hold_what_one_page_holds(world) -> None:
    await say(world, "2025-12-01", GYM, fact("user", "gym cost", "39 euros a month", "39 euros a month at the gym"))
    await say(world, "2025-12-02", DRESS, fact("user", "dress price", "240 euros", "it was 240 euros"))
    scope = world[0].scope(user="alice")
    whole = await scope.recall("What did the dress cost?", limit=50)
    paged, cursor = [], None
    while len(paged) < whole.total:
        page = await scope.recall("What did the dress cost?", limit=1, cursor=cursor)
        paged, cursor = [*paged, *page.hits], page.cursor
    assert [hit.id for hit in paged] == [hit.id for hit in whole.hits][: whole.total]


async def test_a_value_of_another_kind_is_no_answer(world) -> None:
    married = "My sister's wedding is on 4 July, her fiancé is called Tomas."
    await say(
        world,
        "2025-12-01",
        married,
        fact("sister's wedding", "fiancé", "Tomas", "her fiancé is called Tomas"),
        fact("sister", "celebration", "4 July 2026", "wedding is on 4 July"),
    )
    assert "4 July" in (await asked(world, "When is my sister's wedding?"))[0].text


async def test_a_memory_is_of_whoever_said_what_it_quotes(world) -> None:
    advice = "I suggest a red kayak for the lake trip."
    note = {"text": "The assistant suggested a red kayak for the lake trip.", "importance": "mid", "sources": ["m1"]}
    await say(world, "2025-12-01", advice, role="assistant", notes=[{**note, "quote": advice, "kind": "note"}])
    for question, preferred in ("Which boat did I take to the lake?", False), ("What did you suggest?", True):
        [hit] = await asked(world, question, kinds=["note"])
        assert ("role" in {reason.signal for reason in hit.why}) is preferred, question


async def test_a_message_is_as_good_as_it_was_for_what_else_it_says(world) -> None:
    both = "My desk is at Fit4U and my locker number is 12."
    told = fact("user", "desk", "Fit4U", "My desk is at Fit4U"), fact("user", "locker number", "12", "number is 12")
    await say(world, "2025-12-01", both, *told)
    await say(world, "2025-12-02", "My desk is at Hub7 now.", fact("user", "desk", "Hub7", "desk is at Hub7", "f1"))
    [first, *_] = await asked(world, "What is my locker number?", kinds=["message"])
    assert first.text == both
    [first, *_] = await asked(world, "Where is my desk?", kinds=["message"])
    assert first.text == "My desk is at Hub7 now."
    [first, *_] = await asked(world, "Who is at Fit4U?", kinds=["message"])
    assert first.text == "My desk is at Hub7 now.", "in the words of what was so"


async def test_a_question_that_names_a_time_gets_the_value_that_held_then(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="nadia")
    for day, value in ("2025-03-02", "81.6 kg"), ("2025-04-13", "79.9 kg"), ("2025-08-17", "76.4 kg"):
        at = datetime.fromisoformat(f"{day}T07:00:00+00:00")
        await scope.remember(attribute="weight", value=value, event_time=at)
        await scope.remember(attribute="gym", value=f"trained on {day}", event_time=at)
    await memhold.settle()
    held = (await scope.recall("What was my weight on 20 April 2025?")).hits
    assert [(hit.value, hit.state) for hit in held if hit.attribute == "weight"] == [
        ("79.9 kg", "superseded"),
        ("76.4 kg", "active"),
    ]
    assert held[0].value == "79.9 kg"
    today = [hit.value for hit in (await scope.recall("What is my weight?")).hits if hit.attribute == "weight"]
    assert today == ["76.4 kg"]
    began = (await scope.recall("What was my weight in August 2025?")).hits
    assert [hit.value for hit in began if hit.attribute == "weight"] == ["76.4 kg"]


@pytest.mark.parametrize(
    "question",
    ["How has my weight changed?", "Wie hat sich mein Gewicht (weight) entwickelt?", "体重 weight はどう変わってきた?"],
)
async def test_how_something_changed_gets_its_values_the_newest_first(memhold: AsyncMemhold, question: str) -> None:
    scope = memhold.scope(user="nadia", session="asks")
    for month, value in enumerate(("81.6 kg", "79.9 kg", "76.4 kg"), 3):
        await scope.remember(attribute="weight", value=value, event_time=datetime(2025, month, 2, tzinfo=UTC))
    await scope.remember(attribute="weight of the bike", value="9 kg")
    await memhold.settle()
    hits = [hit for hit in (await scope.recall(question)).hits if hit.attribute == "weight"]
    assert [hit.value for hit in hits] == ["76.4 kg", "79.9 kg", "81.6 kg"]
    assert [hit.event_time.month for hit in hits] == [5, 4, 3]
    told = (await scope.context([{"role": "user", "content": question}], budget=2000)).as_text()
    assert all(hit.value in told for hit in hits)
    assert "no longer so: 81.6 kg since 2025-04-02 (now 76.4 kg)" in told
