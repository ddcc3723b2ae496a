"""Verb suite: `remember`, `correct`, `pin`: what was told is there at once, once, and explained."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memhold.testing.verb_suite_base import Harness, facts, found, texts, user
from memhold.values.errors import Conflict, InvalidInput, NotFound, RevisionConflict, WrongKind

__all__ = ["RememberCases"]


@pytest.mark.asyncio
class RememberCases:
    """Notes, facts, corrections and pins."""

    async def test_a_note_is_found_by_its_words_at_once(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        told = await alice.remember("Prefers window seats", topics=["travel"], entities=["Alice"], metadata={"n": 1})
        assert told.receipt.ids == (told.memory.id,)
        assert len(told.receipt.change_ids) == 1
        assert (told.memory.kind, told.memory.state, told.memory.text) == ("note", "active", "Prefers window seats")
        [hit] = (await alice.recall("which seats")).hits
        assert (hit.id, hit.topics, hit.entities, hit.metadata) == (told.memory.id, ("travel",), ("Alice",), {"n": 1})
        assert hit.why[0].signal == "words"
        assert (await alice.get(told.memory.id)) == told.memory

    async def test_the_same_note_again_is_the_same_memory(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        first = await alice.remember("Likes  tea", topics=["drinks"])
        again = await alice.remember("Likes tea ", topics=["Drinks", "home"], pinned=True)
        assert again.memory.id == first.memory.id
        assert again.memory.topics[0] == "drinks"
        assert "home" in again.memory.topics
        assert again.memory.pinned
        assert again.memory.tier == "long"
        assert (await alice.recall("tea")).total == 1
        unchanged = await alice.remember("Likes tea")
        assert unchanged.receipt.change_ids == ()
        assert unchanged.memory == again.memory

    async def test_a_topic_told_again_in_other_case_is_the_same_topic(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        await alice.remember("Likes tea", topics=["drinks"])
        again = await alice.remember("Likes tea", topics=["Drinks"])
        assert again.memory.topics == ("drinks",)

    async def test_a_fact_supersedes_what_its_attribute_said(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        old = await alice.remember(attribute="Favorite_Food", value="sushi")
        await harness.advance(timedelta(days=1))
        new = await alice.remember(attribute="favorite food", value="ramen")
        assert await facts(alice) == ["ramen"]
        past = await alice.get(old.memory.id)
        assert (past.state, past.superseded_by) == ("superseded", new.memory.id)
        assert past.valid_to == new.memory.valid_from
        assert "sushi" not in " ".join(texts(await alice.recall("favorite food")))
        assert "sushi" in " ".join(texts(await alice.recall("favorite food", include_superseded=True)))

    async def test_subjects_and_attributes_are_kept_apart(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        for subject in ("user", "Bob"):
            for attribute in ("likes", "dislikes"):
                await alice.remember(attribute=attribute, value=f"{subject} {attribute}", subject=subject)
        assert len(await facts(alice)) == 4

    async def test_add_stands_beside_and_remove_ends_one(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        for value in ("cat", "dog", "CAT"):
            await alice.remember(attribute="pets", value=value, operation="add")
        assert await facts(alice) == ["cat", "dog"]
        await harness.advance(timedelta(days=1))
        gone = await alice.remember(attribute="pets", value="cat", operation="remove")
        assert gone.memory.state == "superseded"
        assert await facts(alice) == ["dog"]
        nothing = await alice.remember(attribute="pets", value="horse", operation="remove")
        assert nothing.memory is None
        assert nothing.receipt.change_ids == ()
        await alice.remember(attribute="pets", value="none any more")
        assert await facts(alice) == ["none any more"]

    async def test_short_and_odd_values_are_kept(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        for value in ("A", "0", "none", "null", "'; DROP TABLE memory; --", "酒", "👍"):
            told = await alice.remember(attribute=f"attribute of {value}", value=value)
            assert (await alice.get(told.memory.id)).value == value

    async def test_a_correction_was_never_true(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        wrong = await alice.remember(attribute="city", value="Porto")
        await harness.advance(timedelta(days=1))
        right = await alice.correct(wrong.memory.id, "Lisbon", rev=1)
        assert await facts(alice) == ["Lisbon"]
        assert (await alice.get(wrong.memory.id)).state == "retracted"
        assert right.memory.valid_from == wrong.memory.valid_from
        answer = await alice.recall("city", as_of=wrong.memory.valid_from)
        assert texts(answer) == ["city: Lisbon"]
        known = await alice.recall("city", known_at=wrong.memory.recorded_at)
        assert texts(known) == ["city: Porto"]
        note = await alice.remember("Sits by the aisle")
        fixed = await alice.correct(note.memory.id, "Sits by the window")
        assert found(await alice.recall("sits")) == [fixed.memory.text]

    async def test_a_correction_needs_the_revision_it_read(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = await alice.remember(attribute="city", value="Porto")
        await alice.pin(told.memory.id, rev=1)
        with pytest.raises(RevisionConflict) as caught:
            await alice.correct(told.memory.id, "Lisbon", rev=1)
        assert (caught.value.expected, caught.value.actual) == (1, 2)
        assert await facts(alice) == ["Porto"]

    async def test_only_facts_and_notes_are_corrected(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        [message] = (await alice.add(user("hello there"))).ids
        [raw] = (await alice.end_session()).ids
        for item in (message, raw):
            with pytest.raises(WrongKind):
                await alice.correct(item, "x")
        with pytest.raises(NotFound):
            await alice.correct("mem_" + "0" * 32, "x")

    async def test_pins_hold_and_let_go(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = await alice.remember("Allergic to nuts")
        pinned = await alice.pin(told.memory.id)
        assert (pinned.memory.pinned, pinned.memory.tier) == (True, "long")
        assert (await alice.pin(told.memory.id)).receipt.change_ids == ()
        loose = await alice.unpin(told.memory.id, rev=pinned.memory.rev)
        assert (loose.memory.pinned, loose.memory.tier) == (False, "long")
        [hit] = (await alice.recall("nuts")).hits
        assert not hit.pinned
        with pytest.raises(WrongKind):
            await alice.pin("msg_" + "0" * 32)

    async def test_past_its_time_nothing_is_served_though_no_work_was_done(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        lasting = await alice.remember(attribute="job", value="baker")
        start = lasting.memory.recorded_at
        note = await alice.remember("The guest code is 4711", expires_at=start + timedelta(hours=1))
        fact = await alice.remember(attribute="mood", value="ill", expires_at=start + timedelta(hours=1))
        await harness.advance(timedelta(hours=2))
        assert [hit.id for hit in (await alice.recall("guest code mood job")).hits] == [lasting.memory.id]
        assert [memory.id for memory in (await alice.list(states=["active"])).items] == [lasting.memory.id]
        assert {(await alice.get(one.memory.id)).state for one in (note, fact)} == {"expired"}
        await harness.advance(timedelta(days=8))
        assert [hit.id for hit in (await alice.recall("job")).hits] == [lasting.memory.id], "unused, and still true"

    async def test_what_has_expired_leaves_the_present(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        start = (await alice.remember("Reading the tea book")).memory.recorded_at
        brief = await alice.remember("Has a tea cold", expires_at=start + timedelta(days=2))
        kept = await alice.remember("Has a tea pass", expires_at=start + timedelta(days=2), pinned=True)
        await harness.settle()
        assert (await alice.recall("tea")).total == 3
        await harness.advance(timedelta(days=3))
        await harness.settle()
        assert (await alice.get(brief.memory.id)).state == "expired"
        assert (await alice.get(kept.memory.id)).state == "active"
        assert (await alice.recall("tea")).total == 2
        assert (await alice.recall("cold", states=["expired"])).total == 1
        assert (await alice.recall("cold", as_of=start + timedelta(days=1))).total == 1

    async def test_a_note_told_again_is_not_lost_to_its_old_expiry(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        start = (await alice.remember("first")).memory.recorded_at
        door = await alice.remember("The door code is 4711", expires_at=start + timedelta(days=1))
        longer = await alice.remember("The door code is 4711", expires_at=start + timedelta(days=9))
        assert (longer.memory.id, longer.memory.expires_at) == (door.memory.id, start + timedelta(days=9))
        await harness.advance(timedelta(days=2))
        await harness.settle()
        assert found(await alice.recall("door")) == ["The door code is 4711"]
        await harness.advance(timedelta(days=8))
        anew = await alice.remember("The door code is 4711")
        await harness.settle()
        assert anew.memory.id != door.memory.id
        assert (await alice.get(door.memory.id)).state == "expired"
        assert (await alice.recall("door", limit=1)).hits[0].id == anew.memory.id
        await alice.undo(anew.receipt.change_ids[0])
        await harness.settle()
        assert (await alice.recall("door")).total == 0

    async def test_a_note_takes_no_subject_and_no_removal(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        await alice.remember("Likes tea")
        with pytest.raises(InvalidInput, match="forget"):
            await alice.remember("Likes tea", operation="remove")
        with pytest.raises(InvalidInput, match="subject"):
            await alice.remember("Likes tea", subject="bob")

    async def test_a_correction_expires_when_the_corrected_would_have(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        start = (await alice.remember("first")).memory.recorded_at
        wrong = await alice.remember("Has a cold", expires_at=start + timedelta(days=2))
        right = await alice.correct(wrong.memory.id, "Has the flu")
        await harness.advance(timedelta(days=3))
        await harness.settle()
        assert (await alice.get(right.memory.id)).state == "expired"

    async def test_an_unpinned_memory_expires_after_all(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        start = (await alice.remember("first")).memory.recorded_at
        told = await alice.remember("Has a cold", expires_at=start + timedelta(days=2), pinned=True)
        await harness.advance(timedelta(days=3))
        await harness.settle()
        await alice.unpin(told.memory.id)
        await harness.settle()
        assert (await alice.get(told.memory.id)).state == "expired"

    async def test_a_correction_to_a_note_that_is_there_makes_no_second(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        right = await alice.remember("Likes green tea")
        wrong = await alice.remember("Likes red tea")
        fixed = await alice.correct(wrong.memory.id, "Likes green tea")
        assert fixed.memory.id == right.memory.id
        assert texts(await alice.recall("tea")) == ["Likes green tea"]

    async def test_what_was_retracted_is_not_corrected_again(self, harness: Harness) -> None:
        """The correction stands in its place: correcting the retracted one would make a memory that is never seen."""
        alice = harness.scope(user="alice")
        wrong = await alice.remember(attribute="city", value="Porto")
        await alice.correct(wrong.memory.id, "Lisbon")
        with pytest.raises(Conflict, match="mem_"):
            await alice.correct(wrong.memory.id, "Faro")
        assert await facts(alice) == ["Lisbon"]

    async def test_facts_are_listed_by_what_they_are_about_and_counted_by_kind(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        own = (await alice.remember(attribute="job", value="baker")).memory
        hers = [
            (await alice.remember(attribute=name, value="x", subject="sister")).memory
            for name in ("job", "city", "pet")
        ]
        await alice.remember("a note about the sister")
        assert [one.id for one in (await alice.list(subject="user")).items] == [own.id]
        first = await alice.list(subject="sister", limit=2)
        rest = await alice.list(subject="sister", limit=2, cursor=first.cursor)
        assert [one.id for one in (*first.items, *rest.items)] == [one.id for one in hers]
        assert (await alice.list(subject="nobody")).items == ()
        await alice.correct(own.id, "cook")
        assert (await alice.status()).active == {"fact": 4, "note": 1}

    async def test_when_a_fact_was_last_asked_for_is_told_to_its_owner(self, harness: Harness) -> None:
        alice, bob = harness.scope(user="alice"), harness.scope(user="bob")
        asked = (await alice.remember(attribute="hobby", value="hiking")).memory
        never = (await alice.remember(attribute="employer", value="Acme")).memory
        ids = [asked.id, never.id, "mem_01980000000070008000000000000000"]
        assert await alice.last_recalled(ids) == {}
        await alice.recall("hobby", browse=True)
        assert await alice.last_recalled(ids) == {}, "to look is no use"
        await harness.advance(timedelta(days=1))
        await alice.recall("hobby", kinds=["fact"], limit=1)
        found = await alice.last_recalled(ids)
        assert set(found) == {asked.id}
        assert found[asked.id] >= asked.recorded_at + timedelta(days=1)
        assert await bob.last_recalled(ids) == {}
        with pytest.raises(InvalidInput):
            await alice.last_recalled([asked.id] * 1001)

    async def test_when_anything_was_last_asked_for_is_kept_to_the_day_and_changes_nothing(
        self, harness: Harness
    ) -> None:
        alice = harness.scope(user="alice")
        lasting = (await alice.remember(attribute="birthday", value="4 May")).memory
        note = (await alice.remember("Collects birthday cards of ships")).memory
        other = (await alice.remember("Prefers window seats")).memory
        ids = [lasting.id, note.id, other.id]
        assert lasting.tier == "long"
        await alice.recall("birthday", browse=True)
        assert await alice.last_recalled(ids) == {}, "to look is no use"
        before = [await alice.get(one) for one in ids]
        await alice.recall("birthday")
        first = await alice.last_recalled(ids)
        assert set(first) == {lasting.id, note.id}, "what fills the page is not used"
        await alice.recall("birthday")
        assert await alice.last_recalled(ids) == first
        await harness.advance(timedelta(days=2))
        await alice.recall("birthday")
        assert all(at >= first[one] + timedelta(days=2) for one, at in (await alice.last_recalled(ids)).items())
        assert [await alice.get(one) for one in ids] == before
        assert [len(await alice.history(one)) for one in ids] == [1, 1, 1]
