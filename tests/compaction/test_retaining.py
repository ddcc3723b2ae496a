"""Retention by the settings: the worker hides once a day, and leaves alone what a person brought back or pinned."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from memhold.errors import Forgotten, InvalidSetting, NotFound
from memhold.wiring.settings import load_settings
from tests.compaction.conftest import Opened
from tests.compaction.worlds import Judge, living, merged

DAY = timedelta(days=1)


async def ids(scope: Any) -> set[str]:
    return {memory.id for memory in await living(scope)}


async def test_nothing_goes_by_itself_by_default(opened: Opened, clock) -> None:
    mem = await opened()
    alice = mem.scope(user="alice")
    told = (await alice.remember("an old note")).memory.id
    clock.advance(4000 * DAY)
    assert await mem.settle(timeout=300)
    assert await ids(alice) == {told}
    assert not {"retain"} & {*(await alice.status()).due, *(await alice.status()).waiting}


async def test_the_worker_hides_what_the_settings_do_not_keep(opened: Opened, clock) -> None:
    mem = await opened(retain_days=30.0, retain_kinds="note")
    alice, bob = mem.scope(user="alice"), mem.scope(user="bob")
    old = (await alice.remember("an old note")).memory.id
    others = (await bob.remember("an old note of another")).memory.id
    pinned = (await alice.remember("an old pinned note", pinned=True)).memory.id
    fact = (await alice.remember(attribute="shoe size", value="43", importance="high")).memory.id
    assert await mem.settle(timeout=300)
    assert await ids(alice) == {old, pinned, fact}
    clock.advance(31 * DAY)
    new = (await alice.remember("a new note")).memory.id
    assert await mem.settle(timeout=300)
    assert (await ids(alice), await ids(bob)) == ({pinned, fact, new}, set())
    assert old not in {hit.id for hit in (await alice.recall("old note")).hits}
    [hidden] = [change for change in (await alice.changes()).items if change.verb == "hide"]
    assert (hidden.by.origin, hidden.by.name, hidden.reason) == ("rules", "retention", "hidden by retention: age")
    assert hidden.sources == (old,)
    await alice.undo(hidden.id)
    clock.advance(2 * DAY)
    assert await mem.settle(timeout=300)
    assert await ids(alice) == {old, pinned, fact, new}, "what a person brought back stays"
    assert others not in await ids(alice)
    clock.advance(31 * DAY)
    assert await mem.settle(timeout=300)
    assert await ids(alice) == {old, pinned, fact}, "it is due again every day"


async def test_what_is_used_or_pinned_behind_the_look_stays(opened: Opened, clock) -> None:
    from memhold.facts.remember import Writer
    from memhold.history.retention import Retention, hide
    from memhold.values.answers import Retained
    from memhold.values.records import Author, Scope
    from memhold.wiring.system import TimeOrderedIds

    mem = await opened()
    alice, store = mem.scope(user="alice"), mem._store._runtime.store
    fact = (await alice.remember(attribute="favorite tea", value="oolong", importance="high")).memory.id
    note = (await alice.remember("an old note")).memory.id
    clock.advance(40 * DAY)
    rules = Retention(unused_for=30 * DAY, most=1)
    listed = await alice.retain(unused_for=30 * DAY)
    assert {one.id for one in listed} == {fact, note}
    await alice.recall("favorite tea", kinds=["fact"])
    await alice.pin(note)
    await alice.status()

    async def hidden(one: Retained) -> str | None:
        writer = Writer(secret=store.facts.secret, ids=TimeOrderedIds(), author=Author(origin="user"))
        return await store.write(Scope(user="alice"), lambda tx: hide(tx, one, rules, writer=writer))

    assert [await hidden(one) for one in listed] == [None, None]
    assert await hidden(Retained(id=note, kind="note", rule="count")) is None
    assert await ids(alice) == {fact, note}


async def test_by_inactivity_and_count_and_in_batches(opened: Opened, clock, monkeypatch) -> None:
    from memhold.history import retention_step as retention

    monkeypatch.setattr(retention, "BATCH", 3)
    mem = await opened(retain_most=2, retain_unused_days=300.0)
    alice = mem.scope(user="alice")
    told = [(await alice.remember(f"note {n} of the {n} kites")).memory.id for n in range(9)]
    assert await mem.settle(timeout=300)
    assert await ids(alice) == set(told[-2:])
    clock.advance(301 * DAY)
    assert await mem.settle(timeout=300)
    assert await ids(alice) == set()
    # Nothing is left that it could be due for.
    assert "retain" not in {*(await alice.status()).due, *(await alice.status()).waiting}


async def test_two_workers_hide_each_once(lasting: str) -> None:
    from memhold import AsyncMemhold

    given: dict[str, Any] = {"worker": False, "embedding": "none", "retain_most": 1}
    async with AsyncMemhold.open(lasting, **given) as one, AsyncMemhold.open(lasting, **given) as two:
        alice = one.scope(user="alice")
        for n in range(12):
            await alice.remember(f"note {n} of the {n} kites")
        assert await asyncio.gather(one.settle(), two.settle()) == [True, True]
        assert len(await living(alice)) == 1
        assert len([change for change in (await alice.changes()).items if change.verb == "hide"]) == 11


async def test_a_merged_memory_goes_whole_and_comes_back_whole(opened: Opened, clock) -> None:
    judge = Judge(lambda _: merged("the kite is red and old"))
    mem = await opened(judge, bounds={"word_distance": 0.9}, retain_days=30.0)
    alice = mem.scope(user="alice")
    for text in ("the kite is red", "the kite is old"):
        await alice.remember(text)
    assert (await alice.compact()).merged == 2
    [whole] = await ids(alice)
    clock.advance(31 * DAY)
    assert await mem.settle(timeout=300)
    assert await ids(alice) == set(), "what it stands for does not come back in its place"
    [hidden] = [change for change in (await alice.changes()).items if change.verb == "hide"]
    await alice.undo(hidden.id)
    clock.advance(2 * DAY)
    assert await mem.settle(timeout=300)
    assert await ids(alice) == {whole}


async def test_forgetting_what_retention_hid_is_for_good(opened: Opened, clock) -> None:
    mem = await opened(retain_days=30.0)
    alice = mem.scope(user="alice")
    old = (await alice.remember("an old note")).memory.id
    clock.advance(31 * DAY)
    assert await mem.settle(timeout=300)
    [hidden] = [change for change in (await alice.changes()).items if change.verb == "hide"]
    await alice.forget(everything=True)
    with pytest.raises(Forgotten):
        await alice.undo(hidden.id)
    assert await mem.settle(timeout=300)
    assert await ids(alice) == set()
    with pytest.raises(NotFound):
        await alice.get(old)


@pytest.mark.parametrize(
    "wrong",
    [
        {"retain_kinds": "summary"}, {"retain_kinds": ""}, {"retain_days": -1.0}, {"retain_unused_days": float("inf")},
        {"retain_most": -1}, {"retain_days": 1e12},
    ],
)  # fmt: skip
def test_settings_that_cannot_be_meant(tmp_path, wrong) -> None:
    with pytest.raises(InvalidSetting, match=next(iter(wrong))):
        load_settings(wrong, environment={}, folder=tmp_path)
