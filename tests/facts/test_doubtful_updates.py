"""A doubtful update ends nothing: it is told beside the value that it would end, and a person settles it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest

from memhold import AsyncMemhold
from memhold.faces.agents.briefing import Whose, at_start
from memhold.faces.mcp.answers import answer_of
from memhold.testing.clock import FakeClock
from memhold.testing.scripted import ScriptedChat

AT = datetime(2026, 3, 4, 9, 15, tzinfo=UTC)
LINE = "If the rent goes up, I give up the shared studio."


def _reply(source: str = "m1", quote: str = LINE) -> dict[str, Any]:
    fact = {
        "subject": "user",
        "attribute": "workplace",
        "value": "the shared studio",
        "operation": "remove",
        "importance": "mid",
        "sources": [source],
        "quote": quote,
        "target": "f1",
    }
    return {"history_entry": "The user spoke about the studio.", "facts": [fact], "notes": []}


async def _consolidated(mem: AsyncMemhold, *lines: dict[str, Any]) -> Any:
    alice = mem.scope(user="alice", session="s")
    await alice.remember(attribute="workplace", value="the shared studio", event_time=AT - timedelta(days=9))
    await alice.add([{"event_time": AT, **one} for one in lines])
    await alice.consolidate()
    return alice


def _open(reply: dict[str, Any]) -> Any:
    return AsyncMemhold.open("memory://", worker=False, embedding="none", consolidation=[ScriptedChat([reply])])


@pytest.mark.asyncio
async def test_the_value_stands_with_its_doubt_beside_it() -> None:
    async with _open(_reply()) as mem:
        alice = await _consolidated(mem, {"role": "user", "content": LINE})
        [fact] = (await alice.list(kinds=["fact"])).items
        assert (fact.value, fact.state) == ("the shared studio", "active")
        [open_one] = await alice.suspicions()
        assert open_one.memory.doubtful
        assert open_one.memory.quote == LINE
        later = mem.scope(user="alice", session="t")
        window = await later.context([{"role": "user", "content": "Hello there"}], budget=2_000)
        systems = "".join(str(one["content"]) for one in window.messages if one["role"] == "system")
        below = "".join(str(one["content"]) for one in window.messages if one["role"] != "system")
        assert "the shared studio" in systems
        assert "perhaps no longer the shared studio" in below
        assert LINE in below
        assert "perhaps" not in systems
        hits = (await later.recall("Where is my workplace?", limit=3)).hits
        assert hits[0].value == "the shared studio"
        assert [one.quote for one in hits[0].together] == [LINE]


@pytest.mark.asyncio
async def test_whoever_reads_it_sees_the_doubt_and_the_words_beside_the_value() -> None:
    words = f"workplace: perhaps no longer the shared studio; the words were: “{LINE}”"
    async with _open(_reply()) as mem:
        alice = await _consolidated(mem, {"role": "user", "content": LINE})
        found = await alice.recall("Where is my workplace?", limit=5)
        fenced = answer_of("recall", {"query": "Where is my workplace?"}, found).recalled
        assert fenced is not None
        assert [line.partition(") ")[2] for line in fenced.lines][:2] == ["workplace: the shared studio", words]
        [note] = [one for one in found.hits if one.doubtful]
        [open_one] = await alice.suspicions()
        assert note.id == open_one.memory.id
        assert sum(note.id in line for line in fenced.lines) == 1
        whose = Whose(project=None, namespace="default", user="alice", agent=None, session="t")
        told = await at_start(mem, whose, 800, shown=set())
        assert words in told


@pytest.mark.asyncio
@pytest.mark.parametrize("verdict", ["same", "different"])
async def test_a_person_settles_it(verdict: Literal["same", "different"]) -> None:
    async with _open(_reply()) as mem:
        alice = await _consolidated(mem, {"role": "user", "content": LINE})
        [open_one] = await alice.suspicions()
        receipt = await alice.settle_suspicion(open_one.suspicion.id, verdict)
        now = await alice.get(open_one.other.id)
        assert now.state == ("superseded" if verdict == "same" else "active")
        note = await alice.get(open_one.memory.id)
        assert (note.state, note.doubtful) == (("active", False) if verdict == "same" else ("retracted", True))
        assert not (await alice.recall("workplace", limit=1)).hits[0].together
        await alice.undo(receipt.change_ids[0])
        assert (await alice.get(open_one.other.id)).state == "active"
        assert len(await alice.suspicions()) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("line", "writer", "active"),
    [
        ("I work from my brother's attic now.", "user", ["attic of the user's brother"]),
        ("I work from my brother's attic now.", "participant", ["the shared studio"]),
        ("They work from the attic of the user's brother now.", "participant", ["the shared studio"]),
        ("Shall I work from the attic of the user's brother?", "user", ["the shared studio"]),
        ("Translate: “I work from the attic of the user's brother now.”", "user", ["the shared studio"]),
    ],
)
async def test_what_quotes_the_users_own_line_is_their_word_in_other_words(
    line: str, writer: str, active: list[str]
) -> None:
    reply = _reply(quote=line.removeprefix("Translate: “").removesuffix("”"))
    reply["facts"][0] |= {"operation": "set", "value": "attic of the user's brother"}
    async with _open(reply) as mem:
        named = {"name": "Dana"} if writer == "participant" else {}
        alice = await _consolidated(mem, {"role": "user", "content": line, "written_by": writer, **named})
        facts = (await alice.list(kinds=["fact"])).items
        assert [one.value for one in facts if one.subject == "user"] == active


@pytest.mark.asyncio
@pytest.mark.parametrize(("value", "beside"), [("studio", 1), ("the garage", 0)])
async def test_the_end_of_a_value_in_other_words_stands_beside_it(value: str, beside: int) -> None:
    line = f"I gave up {value}."
    reply = _reply(quote=line)
    reply["facts"][0] |= {"value": value, "target": None}
    async with _open(reply) as mem:
        alice = await _consolidated(mem, {"role": "user", "content": line})
        [fact] = (await alice.list(kinds=["fact"])).items
        assert fact.state == "active"
        assert len((await alice.recall("workplace", limit=1)).hits[0].together) == beside
        assert [one.memory.doubts for one in await alice.suspicions()] == [("what holds is worded otherwise",)] * beside


@pytest.mark.asyncio
async def test_a_tool_casts_no_doubt_on_what_the_user_stated() -> None:
    page = "The user may give up the shared studio."
    result = {"role": "tool", "tool_call_id": "1", "content": page}
    call = {"id": "1", "type": "function", "function": {"name": "fetch", "arguments": "{}"}}
    async with _open(_reply("m3", page)) as mem:
        asked = {"role": "user", "content": "Look at the page."}
        alice = await _consolidated(mem, asked, {"role": "assistant", "content": None, "tool_calls": [call]}, result)
        [fact] = (await alice.list(kinds=["fact"])).items
        assert fact.state == "active"
        assert [one.memory.state for one in await alice.suspicions()] == ["retracted"]
        assert not (await alice.recall("workplace", limit=1)).hits[0].together


@pytest.mark.asyncio
async def test_the_doubt_goes_with_its_line() -> None:
    async with _open(_reply()) as mem:
        alice = await _consolidated(mem, {"role": "user", "content": LINE})
        [line] = await alice.messages()
        await alice.forget(line.id)
        [fact] = (await alice.list(kinds=["fact"])).items
        assert fact.state == "active"
        assert not (await alice.recall("workplace", limit=1)).hits[0].together
        assert await alice.suspicions() == ()


MARCH = datetime(2026, 3, 4, 9, 15, tzinfo=UTC)
DAY = datetime(2026, 3, 14, tzinfo=UTC)
PLAN = "I give up the shared studio on 14 March."
PERHAPS = "If the rent goes up, I give up the shared studio on 14 March."


def _plan(quote: str, source: str = "m1", **fields: Any) -> dict[str, Any]:
    [fact] = _reply(source, quote)["facts"]
    fact |= {"holds_from": "2026-03-14", **fields}
    return {"history_entry": "The user spoke about the studio.", "facts": [fact], "notes": []}


@asynccontextmanager
async def _planned(
    *replies: dict[str, Any], lines: Sequence[dict[str, Any]]
) -> AsyncIterator[tuple[AsyncMemhold, Any, FakeClock]]:
    clock = FakeClock(MARCH)
    model = ScriptedChat(list(replies))
    async with AsyncMemhold.open(
        "memory://", worker=False, embedding="none", consolidation=[model], clock=clock, rollups=False
    ) as mem:
        alice = mem.scope(user="alice", session="s")
        before = MARCH - timedelta(days=9)
        await alice.remember(attribute="workplace", value="the shared studio", event_time=before, pinned=True)
        await alice.add([{"event_time": MARCH, **one} for one in lines])
        await alice.consolidate()
        yield mem, alice, clock


async def _told(mem: AsyncMemhold) -> tuple[str, str]:
    """What a context says in its system message, and below it."""
    later = mem.scope(user="alice", session="t")
    window = await later.context([{"role": "user", "content": "Hello there"}], budget=2_000)
    systems = "".join(str(one["content"]) for one in window.messages if one["role"] == "system")
    return systems, "".join(str(one["content"]) for one in window.messages if one["role"] != "system")


@pytest.mark.asyncio
@pytest.mark.parametrize("line", [PLAN, PERHAPS])
async def test_a_plan_stands_beside_what_holds_and_is_settled_from_its_day_on(line: str) -> None:
    async with _planned(_plan(line), lines=[{"role": "user", "content": line}]) as (mem, alice, clock):
        systems, below = await _told(mem)
        perhaps = "perhaps " if line == PERHAPS else ""
        assert "workplace: the shared studio" in systems
        assert "2026-03-14" not in systems
        assert f"from 2026-03-14 {perhaps}no longer workplace: the shared studio" in below
        assert (f"the words were: “{line}”" in below) == (line == PERHAPS), "what is doubtful is told with its words"
        hits = (await alice.recall("Where is my workplace?", limit=3)).hits
        assert hits[0].value == "the shared studio"
        assert [one.quote for one in hits[0].together] == [line]
        assert await alice.suspicions() == ()
        clock.advance((DAY - MARCH).total_seconds() + 86_400)
        await mem.settle()
        [fact] = (await alice.list(kinds=["fact"])).items
        assert (fact.value, fact.state) == ("the shared studio", "active"), "its day ends nothing by itself"
        assert "workplace: the shared studio" in (await _told(mem))[0]
        [open_one] = await alice.suspicions()
        await alice.settle_suspicion(open_one.suspicion.id, "same")
        ended = await alice.get(fact.id)
        assert (ended.state, ended.valid_to) == ("superseded", DAY)


@pytest.mark.asyncio
async def test_a_plan_that_came_about_takes_the_place_of_what_held() -> None:
    gave_up = "I gave up the shared studio."
    came = _reply("m1", gave_up)
    async with _planned(_plan(PLAN), came, lines=[{"role": "user", "content": PLAN}]) as (mem, alice, clock):
        clock.advance((DAY - MARCH).total_seconds() + 86_400)
        later = mem.scope(user="alice", session="u")
        await later.add({"role": "user", "content": gave_up})
        await later.consolidate()
        assert (await alice.list(kinds=["fact"])).items == ()
        assert await alice.suspicions() == ()


@pytest.mark.asyncio
async def test_a_plan_without_a_target_stands_beside_the_value_of_its_key() -> None:
    line = "From 14 March I will perhaps work from home."
    plan = _plan(line, operation="set", value="home", target=None)
    async with _planned(plan, lines=[{"role": "user", "content": line}]) as (mem, alice, _):
        [hit] = [one for one in (await alice.recall("workplace", limit=5)).hits if one.value == "the shared studio"]
        assert [one.quote for one in hit.together] == [line]
        assert "workplace: the shared studio" in (await _told(mem))[0]


@pytest.mark.asyncio
async def test_a_tools_plan_casts_no_doubt_on_what_the_user_stated() -> None:
    page = "The user will give up the shared studio on 14 March."
    call = {"id": "1", "type": "function", "function": {"name": "fetch", "arguments": "{}"}}
    lines = [
        {"role": "user", "content": "Look at the page."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": page},
    ]
    async with _planned(_plan(page, "m3"), lines=lines) as (_, alice, clock):
        [hit] = [one for one in (await alice.recall("workplace", limit=5)).hits if one.value == "the shared studio"]
        assert not hit.together
        clock.advance((DAY - MARCH).total_seconds() + 86_400)
        assert await alice.suspicions() == ()
