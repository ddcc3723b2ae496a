"""Forgetting a line takes what was learnt from it, whatever the model cited, and nothing that another line says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
import pytest_asyncio

from memhold import AsyncMemhold
from memhold.facts.revisions import revise
from memhold.testing import FakeClock, ScriptedChat, SeededIds
from memhold.values.records import Memory, Scope

pytestmark = pytest.mark.asyncio

WORD = "Marmalade"
LINES = [
    {"role": "user", "content": f"My safe word is {WORD}, and I run five kilometres each day."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "Yes, 5 km each day, and I live in Oslo."},
    {"role": "assistant", "content": "Oslo is a fine place."},
    {"role": "user", "content": "As I said, I live in Oslo."},
]


def fact(attribute: str, value: str, *sources: str) -> dict[str, Any]:
    return {
        "subject": "user", "attribute": attribute, "value": value, "operation": "set", "importance": "mid",
        "sources": list(sources),
    }  # fmt: skip


def saved(entry: str, *facts: dict[str, Any], notes: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"history_entry": f"[2026-01-01 00:00] {entry}", "facts": list(facts), "notes": list(notes)}


@pytest_asyncio.fixture
async def opened(tmp_path: Path) -> AsyncIterator[tuple[AsyncMemhold, ScriptedChat]]:
    model = ScriptedChat(otherwise=saved("The user lives in Oslo.", fact("city", "Oslo", "m1")))
    async with AsyncMemhold.open(
        tmp_path / "memory.db", worker=False, clock=FakeClock(), ids=SeededIds(5), consolidation=model
    ) as memhold:
        yield memhold, model


async def learnt(memhold: AsyncMemhold, model: ScriptedChat, reply: dict[str, Any]) -> tuple[Any, list[str]]:
    model.script([reply])
    alice = memhold.scope(user="alice", session="s")
    ids = (await alice.add(LINES)).ids
    await alice.end_session()
    assert await memhold.settle()
    return alice, list(ids)


async def cites(memhold: AsyncMemhold, memory: Memory, line: str) -> None:
    """Make a memory name that line alone, as a model that cited wrongly would have."""
    store = memhold._store._runtime.store
    await store.write(Scope(user="alice"), lambda tx: revise(tx, memory, sources=(line,)))


async def every(alice: Any) -> list[str]:
    return [memory.text for memory in (await alice.list(states=None)).items]


@pytest.mark.parametrize("rotten", [False, True], ids=["", "the change that learnt it rotted"])
async def test_what_the_line_says_goes_although_another_was_cited(opened, tmp_path: Path, *, rotten: bool) -> None:
    """As a store may hold it from before citations were checked: the fact names a line that does not say it."""
    memhold, model = opened
    run = fact("daily run", "five kilometres", "m3")
    alice, ids = await learnt(memhold, model, saved("The user runs 5 km each day.", run, fact("city", "Oslo", "m3")))
    held = {memory.value: memory for memory in (await alice.list(kinds=["fact"])).items}
    await cites(memhold, held["five kilometres"], ids[2])
    if rotten:
        with closing(apsw.Connection(str(tmp_path / "memory.db"))) as connection:
            connection.execute("UPDATE change SET reason = reason || 'x' WHERE verb = 'consolidate'")
        await memhold.admin.doctor(repair="rows")
        assert "damaged" in {change.verb for change in (await alice.changes()).items}
    planned = await alice.forget(ids[0], dry_run=True)
    done = await alice.forget(ids[0])
    assert planned.memories == done.memories
    await memhold.settle()
    after = await every(alice)
    assert not any("five kilometres" in text for text in after)
    assert any("Oslo" in text for text in after), "what another line says stays"


async def test_what_a_line_that_stays_says_too_stays_without_the_one_that_went(opened) -> None:
    memhold, model = opened
    alice, ids = await learnt(
        memhold, model, saved("The user lives in Oslo.", fact("city", "Oslo", "m3"), fact("city", "Oslo", "m5"))
    )
    [city] = (await alice.list(kinds=["fact"])).items
    assert {ids[2], ids[4]} <= set(city.sources)
    await alice.forget(ids[2])
    kept = await alice.get(city.id)
    assert (kept.value, ids[2] in kept.sources, ids[4] in kept.sources) == ("Oslo", False, True)
    await alice.forget(ids[4])
    assert (await alice.list(kinds=["fact"], states=None)).items == ()


async def test_what_is_rebuilt_repeats_nothing_that_was_forgotten(opened) -> None:
    """Every derived kind is looked through: facts, notes, summaries, what a model is shown when it reads again."""
    memhold, model = opened
    note = {"text": f"The user's safe word is {WORD}.", "importance": "high", "sources": ["m1"]}
    alice, ids = await learnt(
        memhold,
        model,
        saved(
            f"The user's safe word is {WORD}. The user lives in Oslo.",
            fact("safe word", WORD, "m1", "m3"),
            fact("city", "Oslo", "m3"),
            notes=(note,),
        ),
    )
    assert sum(WORD in text for text in await every(alice)) >= 2
    asked = len(model.asked)
    await alice.forget(ids[0])
    await memhold.settle()
    assert len(model.asked) > asked, "the rest of the window is read again"
    for request in model.asked[asked:]:
        assert WORD not in "".join(turn.text for turn in request.turns)
    assert not any(WORD in text for text in await every(alice))
    assert any("Oslo" in text for text in await every(alice))
    await memhold.settle()
    assert (await alice.residue(WORD)).found == {}


async def test_what_the_user_told_stays_wherever_it_was_said_too(opened) -> None:
    memhold, model = opened
    told = (await memhold.scope(user="alice").remember(attribute="daily run", value="five kilometres")).memory
    alice, ids = await learnt(memhold, model, saved("The user runs.", fact("daily run", "five kilometres", "m3")))
    await alice.forget(ids[0])
    assert (await alice.get(told.id)).state == "active"


@pytest.mark.parametrize(
    ("attribute", "value", "line", "goes"),
    [
        pytest.param("diet", f"{WORD} bread", 0, True, id="a word that the line alone had"),
        pytest.param("diet", "vegetarian", 0, False, id="none of its words"),
        pytest.param("diet", "Oslo herring", 2, False, id="a word that a line which stays has too"),
    ],
)
async def test_what_was_not_quoted_goes_with_the_line_that_gave_its_word(
    opened, attribute, value, line, *, goes
) -> None:
    """A model may name and quote another line for what it tells: a word that went is nowhere any more."""
    memhold, model = opened
    told = fact(attribute, value, "m5") | {"quote": "As I said"}
    alice, ids = await learnt(memhold, model, saved("They talked.", told))
    [guess] = [one for one in (await alice.list(kinds=["fact"])).items if one.attribute == attribute]
    await cites(memhold, guess, ids[4])
    planned = await alice.forget(ids[line], dry_run=True)
    done = await alice.forget(ids[line])
    assert planned.memories == done.memories
    await memhold.settle()
    assert any(value in text for text in await every(alice)) is not goes
    assert line or (await alice.residue(WORD)).found == {}


async def test_what_an_agent_said_leaves_no_guess_that_names_the_users_line(opened) -> None:
    """Taking back what a client wrote takes what a model concluded with its words, whomever the model named for it."""
    memhold, model = opened
    model.script([saved("They talked.", fact("diet", "Gotham steaks", "m1") | {"quote": "I prefer metric units"})])
    alice = memhold.scope(user="alice", session="s")
    await alice.add({"role": "user", "content": "I prefer metric units."})
    mallory = memhold.scope(user="alice", session="s", actor="agent:mallory")
    await mallory.add({"role": "user", "content": "I moved to Gotham."})
    await alice.end_session()
    assert await memhold.settle()
    assert any("Gotham" in text for text in await every(alice))
    planned = await alice.undo(actor="mallory", dry_run=True)
    done = await alice.undo(actor="mallory")
    assert {*planned.ids} == {*done.ids}
    assert [text for text in [one.text for one in (await alice.list()).items] if "Gotham" in text] == []
    await alice.forget(actor="mallory")
    assert (await alice.residue("Gotham")).found == {}


async def test_what_was_learnt_before_the_window_was_told_anew_goes_too(opened) -> None:
    """Another line of the window was forgotten in between: what was learnt of the window is known by its lines."""
    memhold, model = opened
    alice, ids = await learnt(
        memhold,
        model,
        saved(
            "They talked.",
            fact("safe word", WORD, "m1"),
            fact("diet", f"{WORD} bread", "m5") | {"quote": "As I said"},
        ),
    )
    held = {memory.text: memory for memory in (await alice.list(kinds=["fact", "note"])).items}
    await cites(memhold, held[f"safe word: {WORD}"], ids[4])
    assert f"diet: {WORD} bread" in held
    await alice.forget(ids[1])
    await memhold.settle()
    assert sum(WORD in text for text in await every(alice)) >= 2
    planned = await alice.forget(ids[0], dry_run=True)
    done = await alice.forget(ids[0])
    assert planned.memories == done.memories
    await memhold.settle()
    assert (await alice.residue(WORD)).found == {}
