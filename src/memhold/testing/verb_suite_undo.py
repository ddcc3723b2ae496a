"""Verb suite: `history`, `undo`, redo, cascade and conflict."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memhold.testing.verb_suite_base import Harness, Verbs, facts, texts, user
from memhold.values.errors import Forgotten, NotFound, UndoConflict

__all__ = ["UndoCases"]

DAY = timedelta(days=1)


async def _cities(scope: Verbs, *values: str) -> list[str]:
    """Tell the city as many times as there are values; the change of each."""
    changes = []
    for value in values:
        changes += (await scope.remember(attribute="city", value=value)).receipt.change_ids
    return changes


@pytest.mark.asyncio
class UndoCases:
    """Undo is a new change; undoing it is redo; what stands on a change blocks."""

    async def test_undo_and_redo_and_undo_again(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        _, second = await _cities(alice, "Porto", "Lisbon")
        await harness.advance(DAY)
        for _ in range(3):
            [undone] = (await alice.undo(second)).change_ids
            assert await facts(alice) == ["Porto"]
            assert texts(await alice.recall("city")) == ["city: Porto"]
            await harness.advance(DAY)
            await alice.undo(undone)
            assert await facts(alice) == ["Lisbon"]
            assert texts(await alice.recall("city")) == ["city: Lisbon"]

    async def test_undoing_a_redo_is_undoing(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        change = (await _cities(alice, "Porto", "Lisbon"))[1]
        for wanted in ("Porto", "Lisbon", "Porto", "Lisbon"):
            [change] = (await alice.undo(change)).change_ids
            assert await facts(alice) == [wanted]

    async def test_step_by_step_back_to_the_beginning(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        changes = await _cities(alice, "Porto", "Lisbon", "Faro")
        for change, left in zip(reversed(changes), (["Lisbon"], ["Porto"], []), strict=True):
            await alice.undo(change)
            assert await facts(alice) == left

    async def test_later_changes_block_and_cascade_undoes_them_first(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        first, second, third = await _cities(alice, "Porto", "Lisbon", "Faro")
        with pytest.raises(UndoConflict) as caught:
            await alice.undo(second)
        assert list(caught.value.blocking) == [third]
        assert await facts(alice) == ["Faro"]
        undone = (await alice.undo(second, cascade=True)).change_ids
        assert len(undone) == 2
        assert await facts(alice) == ["Porto"]
        await alice.undo(first)
        assert await facts(alice) == []

    async def test_an_undo_undone_elsewhere_does_not_block(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = await alice.remember("Likes tea")
        [pin] = (await alice.pin(told.memory.id)).receipt.change_ids
        [unpinned] = (await alice.undo(pin)).change_ids
        await alice.undo(unpinned)
        with pytest.raises(UndoConflict) as caught:
            await alice.undo(told.receipt.change_ids[0])
        assert list(caught.value.blocking) == [pin]
        await alice.undo(pin)
        await alice.undo(told.receipt.change_ids[0])
        assert (await alice.list()).items == ()

    async def test_a_redo_does_not_bring_back_a_second_current_value(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        [first] = await _cities(alice, "Porto")
        [undone] = (await alice.undo(first)).change_ids
        [second] = await _cities(alice, "Lisbon")
        with pytest.raises(UndoConflict) as caught:
            await alice.undo(undone)
        assert list(caught.value.blocking) == [second]
        assert await facts(alice) == ["Lisbon"]
        await alice.undo(undone, cascade=True)
        assert await facts(alice) == ["Porto"]

    async def test_a_redo_does_not_make_a_second_of_the_same_note(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        first = await alice.remember("Likes tea")
        [undone] = (await alice.undo(first.receipt.change_ids[0])).change_ids
        second = await alice.remember("Likes tea")
        with pytest.raises(UndoConflict) as caught:
            await alice.undo(undone)
        assert list(caught.value.blocking) == list(second.receipt.change_ids)
        assert (await alice.recall("tea")).total == 1

    async def test_undoing_what_a_late_fact_leans_on_conflicts(self, harness: Harness) -> None:
        """The late one ends where the newer begins: without the newer nothing would hold any more."""
        alice = harness.scope(user="alice")
        told = await alice.remember(attribute="city", value="Faro")
        now = told.memory.valid_from
        late = await alice.remember(attribute="city", value="Porto", event_time=now - DAY)
        with pytest.raises(UndoConflict) as caught:
            await alice.undo(told.receipt.change_ids[0])
        assert list(caught.value.blocking) == list(late.receipt.change_ids)
        assert await facts(alice) == ["Faro"]

    async def test_undone_memories_were_never_true(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = await alice.remember("Likes tea")
        then = told.memory.recorded_at
        await harness.advance(DAY)
        await alice.undo(told.receipt.change_ids[0])
        assert (await alice.get(told.memory.id)).state == "retracted"
        assert (await alice.recall("tea")).total == 0
        assert (await alice.recall("tea", as_of=then)).total == 0
        assert (await alice.recall("tea", known_at=then)).total == 1
        assert (await alice.recall("tea", include_superseded=True)).total == 0

    async def test_corrections_and_pins_are_undone(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = await alice.remember(attribute="city", value="Porto")
        fixed = await alice.correct(told.memory.id, "Lisbon")
        await alice.undo(fixed.receipt.change_ids[0])
        assert await facts(alice) == ["Porto"]
        pinned = await alice.pin(told.memory.id)
        await alice.undo(pinned.receipt.change_ids[0])
        memory = await alice.get(told.memory.id)
        assert (memory.pinned, memory.tier) == (False, "mid")

    async def test_an_undone_expiry_date_counts_again(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        start = (await alice.remember("first")).memory.recorded_at
        told = await alice.remember(attribute="mood", value="ill", expires_at=start + 2 * DAY)
        newer = await alice.remember(attribute="mood", value="well")
        await harness.advance(3 * DAY)
        await harness.settle()
        await alice.undo(newer.receipt.change_ids[0])
        await harness.settle()
        assert (await alice.get(told.memory.id)).state == "expired"

    async def test_an_undone_consolidation_opens_the_window_again(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add(user("one"))
        first = await alice.end_session()
        await alice.add(user("two"))
        second = await alice.end_session()
        with pytest.raises(UndoConflict):
            await alice.undo(first.change_ids[0])
        await alice.undo(second.change_ids[0])
        [undone] = (await alice.undo(first.change_ids[0])).change_ids
        assert (await alice.status()).raw == 0
        await alice.undo(undone)
        assert (await alice.status()).raw == 1
        [again] = (await alice.end_session()).ids
        assert "two" in (await alice.get(again)).text
        assert "one" not in (await alice.get(again)).text

    async def test_what_cannot_be_undone_is_refused(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        added = await alice.add(user("hello"))
        with pytest.raises(UndoConflict):
            await alice.undo(added.change_ids[0])
        told = await alice.remember("Likes tea")
        [change] = told.receipt.change_ids
        [undone] = (await alice.undo(change)).change_ids
        with pytest.raises(UndoConflict) as caught:
            await alice.undo(change)
        assert list(caught.value.blocking) == [undone]
        other = await alice.remember("Likes coffee")
        gone = await alice.forget(other.memory.id)
        with pytest.raises(Forgotten):
            await alice.undo(gone.change_id)
        with pytest.raises(Forgotten):
            await alice.undo(other.receipt.change_ids[0])
        with pytest.raises(NotFound):
            await alice.undo("chg_" + "0" * 32)

    async def test_history_tells_each_step_with_before_and_after(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = await alice.remember("Likes tea")
        await alice.pin(told.memory.id)
        fixed = await alice.correct(told.memory.id, "Likes coffee")
        story = await alice.history(told.memory.id)
        assert [change.verb for change in story] == ["remember", "pin", "correct"]
        assert [change.seq for change in story] == sorted(change.seq for change in story)
        assert all(change.by.origin == "user" and change.reason for change in story)
        pin = story[1].effects[0]
        assert (pin.before.pinned, pin.after.pinned) == (False, True)
        assert {effect.memory_id for effect in story[2].effects} == {told.memory.id, fixed.memory.id}
        [added] = (await alice.add(user("hello"))).ids
        assert [change.verb for change in await alice.history(added)] == ["add"]
