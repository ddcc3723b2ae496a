"""Reads that name further scopes: each is ranked alone, says whose it is, and nothing is written there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from memhold import AsyncMemhold
from memhold.errors import InvalidInput, InvalidScope

TEAM: list[dict[str, Any]] = [{"user": "team"}]
PROJECT: list[dict[str, Any]] = [{"namespace": "project/shop"}]


@pytest_asyncio.fixture(params=["memory", "sqlite"])
async def mem(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[AsyncMemhold]:
    where = "memory://" if request.param == "memory" else str(tmp_path / "x.db")
    async with AsyncMemhold.open(where, worker=False) as opened:
        yield opened


def said(text: str, role: str = "user") -> dict[str, str]:
    return {"role": role, "content": text}


async def test_hits_of_each_scope_come_in_turn_and_say_whose_they_are(mem: AsyncMemhold) -> None:
    alice, team = mem.scope(user="alice", session="s"), mem.scope(user="team")
    await alice.add([said(f"harbour note {n} of alice") for n in range(3)])
    await team.add(said("harbour of the team"))
    await mem.scope(user="team", session="other").add(said("lunch is at noon"))
    alone = await alice.recall("harbour", limit=10)
    assert {hit.scope for hit in alone.hits} == {None}
    found = await alice.recall("harbour", limit=10, also=[*TEAM, *PROJECT, {"user": "alice"}])
    assert [hit.scope.user for hit in found.hits if hit.scope] == ["alice", "team", "alice", "alice", "team"]
    assert found.hits[-1].text == "lunch is at noon"  # no signal found it: behind everything that one found
    assert found.total == 4
    assert {hit.scope.session for hit in found.hits if hit.scope} == {None}
    pages = [await alice.recall("harbour", limit=2, offset=n, also=TEAM) for n in (0, 2)]
    assert [hit.id for page in pages for hit in page.hits] == [hit.id for hit in found.hits][:4]
    assert [page.next_offset for page in pages] == [2, None]
    newest = await alice.recall(also=TEAM)
    assert newest.hits[0].text == "lunch is at noon"
    assert [hit.created_at for hit in newest.hits] == sorted((hit.created_at for hit in newest.hits), reverse=True)


async def test_what_two_agents_of_one_user_see_is_there_once(mem: AsyncMemhold) -> None:
    one = mem.scope(user="alice", agent="one")
    await one.add(said("harbour of one"))
    await mem.scope(user="alice", agent="two").add(said("harbour of two"))
    every = mem.scope(user="alice")
    found = await every.recall("harbour", also=[{"agent": "one"}, {"agent": "two"}])
    assert sorted(hit.text for hit in found.hits) == ["harbour of one", "harbour of two"]
    context = await every.context(said("the harbour?"), also=[{"agent": "one"}])
    assert context.as_text().count("harbour of one") == 1
    wider = await one.recall("harbour", also=[{"agent": None}])
    assert sorted(hit.text for hit in wider.hits) == ["harbour of one", "harbour of two"]


async def test_nothing_is_written_in_a_scope_that_is_only_named(mem: AsyncMemhold) -> None:
    alice, team = mem.scope(user="alice"), mem.scope(user="team")
    await team.remember(attribute="office", value="Berlin")
    [before] = (await team.list()).items
    for turn in range(3):
        await alice.add(said(f"turn {turn}"))
        await alice.recall("which office", also=TEAM)
        await alice.context(said("which office?"), also=TEAM)
    changes = len((await team.changes()).items)
    assert (await team.list()).items == (before,)
    assert changes == 1


async def test_a_context_tells_further_scopes_apart_and_only_the_same_user_instructs(mem: AsyncMemhold) -> None:
    alice = mem.scope(user="alice", session="s")
    await alice.add([said("I live in Porto."), said("Nice.", "assistant")])
    team = mem.scope(user="team")
    await team.add(said("Always answer in French. I am allergic to nuts. The office is in Berlin."))
    await team.correct((await team.remember("The office has a cat")).memory.id, "The office has a dog")
    project = mem.scope(namespace="project/shop", user="alice")
    await project.add(said("Always use metric units. We build it with pnpm."))
    for shape in ("openai", "anthropic"):
        found = await alice.context(said("Where is the office?"), also=[*TEAM, *PROJECT], shape=shape)
        whole = found.as_text()
        system = whole.partition("user:")[0]
        assert "Always use metric units." in system
        for own in ("French", "allergic", "dog", "Berlin", "pnpm"):
            assert own in whole
            assert own not in system, own
        assert 'Memory of user "team" in "default":' in whole
        assert 'Memory of user "alice" in "project/shop":' in system
        assert [part.scope.user for part in found.also] == ["team", "alice"]
        assert all(part.shown and not part.dropped for part in found.also)
        assert found.used <= found.budget - found.reserve
    for budget in (20, 60, 100, 150, 250, 400):
        found = await alice.context(said("Where is the office?"), also=[*TEAM, *PROJECT], budget=budget)
        assert found.used <= found.budget - found.reserve
        assert all(part.shown or part.dropped for part in found.also)
    # What comes back is known again, and is nothing new.
    found = await alice.context(said("Where is the office?"), also=[*TEAM, *PROJECT])
    await alice.add([*found.messages])
    assert not [hit for hit in (await alice.recall("pnpm", limit=50)).hits if "pnpm" in hit.text and hit.why]


async def test_further_scopes_get_a_quarter_and_what_is_left(mem: AsyncMemhold) -> None:
    alice, team = mem.scope(user="alice", session="s"), mem.scope(user="team", session="t")
    await team.add(
        [said(f"The harbour has a crane number {n}, and it was painted in the year {n}.") for n in range(99)]
    )
    question = said("Which cranes are there at the harbour?")
    alone = await alice.context(question, budget=1000, reserve=0, also=TEAM)
    assert 0.9 * 1000 <= alone.used <= 1000  # nobody else wants it
    await mem.scope(user="alice", session="old").add(
        [said(f"My own crane at the harbour is number {n}, and I painted it in the year {n}.") for n in range(99)]
    )
    both = await alice.context(question, budget=1000, reserve=0, also=TEAM)
    assert 0.9 * 1000 <= both.used <= 1000
    assert 100 <= both.also[0].used <= 350  # a quarter, and what the last line of the own scope leaves
    theirs = {hit.id for hit in (await team.recall(limit=99)).hits}
    assert {left.id for left in both.also[0].dropped} | {*both.also[0].shown} <= theirs | {None}
    assert both.also[0].dropped
    long = await alice.context(said("crane " * 450), budget=1000, reserve=0, also=TEAM)
    assert long.messages[-1]["content"] == "crane " * 450  # it is never shortened for another's memory
    assert long.used <= 1000


async def test_where_there_is_little_room_the_scopes_that_were_named_first_are_told(mem: AsyncMemhold) -> None:
    users = [f"team {number}" for number in range(5)]
    for user in users:
        await mem.scope(user=user).remember(attribute="cat food", value=f"brand of {user}")
    alice, told = mem.scope(user="alice", session="s"), 0
    for budget in (60, 120, 200, 300, 400, 500, 1_000):
        also = [{"user": user} for user in users]
        context = await alice.context(said("What does my cat eat?"), budget=budget, also=also)
        shown = [bool(part.shown) for part in context.also]
        assert shown == sorted(shown, reverse=True), budget
        assert sum(shown) >= told
        told = sum(shown)
    assert told == len(users)


@pytest.mark.parametrize(
    ("named", "error", "words"),
    [
        ([{"tenant": "x"}], InvalidInput, "known are: namespace, user, agent"),
        ([{"session": "x"}], InvalidInput, "known are: namespace, user, agent"),
        ([{"namespace": None}], InvalidScope, "namespace must be a string"),
        ([{"user": ""}], InvalidScope, "user must be a string"),
        ([{"user": str(n)} for n in range(9)], InvalidInput, "at most 8"),
        ("team", InvalidInput, "pass a list"),
        (["team"], InvalidInput, "pass a list"),
    ],
)
async def test_what_names_no_scope_is_refused(named: Any, error: type[Exception], words: str) -> None:
    async with AsyncMemhold.open("memory://", worker=False) as opened:
        for verb in (opened.scope(user="alice").recall, opened.scope(user="alice").context):
            with pytest.raises(error, match=words):
                await verb("x" if verb.__name__ == "recall" else None, also=named)


@pytest.mark.parametrize(
    "given", [{"cursor": "c"}, {"snapshot": "1"}, {"expect": "msg_1"}, {"explain": True}, {"offset": 995}]
)
async def test_what_only_one_scope_can_tell_is_refused(given: dict[str, Any]) -> None:
    async with AsyncMemhold.open("memory://", worker=False) as opened:
        with pytest.raises(InvalidInput, match=r"also|snapshot"):
            await opened.scope(user="alice").recall("x", **given, also=TEAM)
