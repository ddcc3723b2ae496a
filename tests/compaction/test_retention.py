"""Retention: the user's choice, listed first, undone at will; pinned stays, and never used is not worthless at once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memhold.errors import Forgotten, IdempotencyConflict, InvalidInput
from tests.compaction.conftest import Opened
from tests.compaction.worlds import living

DAY = timedelta(days=1)


async def test_by_age_inactivity_and_count_per_kind(opened: Opened, clock) -> None:
    alice = (await opened()).scope(user="alice")
    old = (await alice.remember("an old note")).memory.id
    pinned = (await alice.remember("an old pinned note", pinned=True)).memory.id
    fact = (await alice.remember(attribute="favorite tea", value="oolong", importance="high")).memory.id
    unused = (await alice.remember(attribute="shoe size", value="43", importance="high")).memory.id
    clock.advance(40 * DAY)
    new = (await alice.remember("a new note")).memory.id
    assert (await alice.recall("favorite tea", kinds=["fact"])).hits[0].id == fact
    assert {one.id for one in await alice.retain(kinds=["note"], older_than=30 * DAY)} == {old}
    assert {one.id for one in await alice.retain(kinds=["fact"], unused_for=30 * DAY)} == {unused}
    assert [(one.id, one.rule) for one in await alice.retain(kinds=["note"], most=1)] == [(old, "count")]
    assert await alice.retain(unused_for=41 * DAY) == (), "never used is not worthless at once"
    assert {memory.id for memory in await living(alice)} == {old, pinned, fact, unused, new}, "only listed"
    hidden = await alice.retain(kinds=["note"], older_than=30 * DAY, dry_run=False)
    assert [one.id for one in hidden] == [old]
    assert {memory.id for memory in await living(alice)} == {pinned, fact, unused, new}
    assert old not in {hit.id for hit in (await alice.recall("old note", include_superseded=True)).hits}
    assert await alice.retain(kinds=["note"], older_than=30 * DAY) == ()
    await alice.undo(hidden[0].change_id)
    assert old in {memory.id for memory in await living(alice)}


@pytest.mark.parametrize(
    "rules", [{}, {"most": -1}, {"older_than": timedelta(0)}, {"most": 1, "kinds": ["summary"]}, {"most": True}]
)
async def test_rules_that_cannot_be_meant(opened: Opened, rules) -> None:
    with pytest.raises(InvalidInput):
        await (await opened()).scope(user="alice").retain(**rules)


async def test_the_same_key_tells_what_the_first_call_hid(opened: Opened) -> None:
    alice = (await opened()).scope(user="alice")
    for number in range(3):
        await alice.remember(f"note number {number}")
    first = await alice.retain(kinds=["note"], most=1, dry_run=False, idempotency_key="k")
    assert len(first) == 2
    await alice.remember("another note")
    assert await alice.retain(kinds=["note"], most=1, dry_run=False, idempotency_key="k") == first
    assert len(await living(alice)) == 2
    with pytest.raises(IdempotencyConflict):
        await alice.retain(kinds=["note"], most=2, dry_run=False, idempotency_key="k")
    await alice.undo(first[0].change_id)
    assert await alice.retain(kinds=["note"], most=1, dry_run=False, idempotency_key="k") == first
    assert await alice.retain(kinds=["note"], most=1, idempotency_key="k") != first, "a look has no key"


async def test_a_hide_stands_in_the_history_of_what_it_hid(opened: Opened) -> None:
    alice = (await opened()).scope(user="alice")
    note = (await alice.remember("an old note")).memory
    await alice.remember("a newer note")
    [hidden] = await alice.retain(kinds=["note"], most=1, dry_run=False)
    undone = await alice.undo(hidden.change_id)
    assert [change.verb for change in await alice.history(note.id)] == ["remember", "hide", "undo"]
    await alice.undo(undone.change_ids[0])
    assert note.id not in {memory.id for memory in await living(alice)}
    [again] = [c.id for c in (await alice.changes()).items if c.undoes == undone.change_ids[0]]
    await alice.undo(again)
    assert note in await living(alice), "at the revision that it had"


async def test_a_hide_of_what_was_forgotten_cannot_be_undone(opened: Opened) -> None:
    alice = (await opened()).scope(user="alice")
    await alice.remember("an old note")
    await alice.remember("a newer note")
    [hidden] = await alice.retain(kinds=["note"], most=1, dry_run=False)
    await alice.forget(everything=True)
    with pytest.raises(Forgotten):
        await alice.undo(hidden.change_id)
