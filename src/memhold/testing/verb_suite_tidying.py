"""Verb suite: `compact` and `retain`, as far as they need no model."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memhold.testing.verb_suite_base import Harness, Verbs
from memhold.values.errors import InvalidInput

__all__ = ["TidyingCases"]

DAY = timedelta(days=1)


async def _notes(scope: Verbs) -> set[str]:
    return {memory.id for memory in (await scope.list(kinds=("note",))).items}


@pytest.mark.asyncio
class TidyingCases:
    """Compaction keeps to its scope and its place; what is past the rules is hidden, and can be undone."""

    async def test_what_was_told_twice_is_no_work(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        for text in ("the kite is red", "the kite is red", "the boat is in the harbour"):
            await alice.remember(text)
        before = await _notes(alice)
        for dry_run in (True, False):
            done = await alice.compact(dry_run=dry_run)
            assert (done.groups, done.merged, done.dry_run, done.last_error) == ((), 0, dry_run, None)
        assert await _notes(alice) == before
        assert len(before) == 2

    async def test_compaction_stays_in_its_scope(self, harness: Harness) -> None:
        owners = [
            harness.scope(),
            harness.scope(user="alice"),
            harness.scope(user="bob"),
            harness.scope(user="bob", agent="helper"),
            harness.scope(namespace="other", user="alice"),
        ]
        told = [(await owner.remember("the kite is red")).memory.id for owner in owners]
        for owner in owners:
            assert (await owner.compact()).groups == ()
        for owner, memory_id in zip(owners, told, strict=True):
            assert memory_id in await _notes(owner)

    async def test_retention_lists_then_hides_and_can_be_undone(self, harness: Harness) -> None:
        alice, bob = harness.scope(user="alice"), harness.scope(user="bob")
        old = (await alice.remember("an old note")).memory.id
        kept = (await alice.remember("an old pinned note", pinned=True)).memory.id
        others = (await bob.remember("an old note of another")).memory.id
        await harness.advance(40 * DAY)
        new = (await alice.remember("a new note")).memory.id
        rules = {"kinds": ("note",), "older_than": 30 * DAY}
        assert [(one.id, one.kind, one.rule, one.change_id) for one in await alice.retain(**rules)] == [
            (old, "note", "age", None)
        ]
        assert await _notes(alice) == {old, kept, new}
        [gone] = await alice.retain(**rules, dry_run=False)
        assert (gone.id, await _notes(alice), await _notes(bob)) == (old, {kept, new}, {others})
        assert await alice.retain(**rules, dry_run=False) == ()
        await alice.undo(gone.change_id)
        assert await _notes(alice) == {old, kept, new}
        assert [one.rule for one in await alice.retain(kinds=("note",), unused_for=30 * DAY)] == ["inactivity"]
        assert [(one.id, one.rule) for one in await alice.retain(kinds=("note",), most=1)] == [(old, "count")]

    async def test_rules_that_cannot_be_meant_are_refused(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        await alice.remember("a note")
        for rules in ({}, {"most": -1}, {"older_than": timedelta(0)}, {"most": 0, "kinds": ("summary",)}):
            with pytest.raises(InvalidInput):
                await alice.retain(**rules, dry_run=False)
        assert await alice.retain(older_than=timedelta.max) == ()
        assert len(await _notes(alice)) == 1
