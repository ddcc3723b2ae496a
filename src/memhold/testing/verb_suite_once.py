"""Verb suite: idempotency keys. The same write twice is one write; other content under the same key is a conflict."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from memhold.testing.verb_suite_base import Harness, facts, user
from memhold.values.errors import IdempotencyConflict

__all__ = ["OnceCases"]


@pytest.mark.asyncio
class OnceCases:
    """Keys: unique for namespace, user and verb; kept 30 days; a replay returns the first receipt."""

    async def test_an_add_sent_twice_is_one(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        batch = [user("one"), user("two")]
        first = await alice.add(batch, idempotency_key="k")
        again = await alice.add(batch, idempotency_key="k")
        assert (again.ids, again.change_ids, again.replayed) == (first.ids, first.change_ids, True)
        assert not first.replayed
        assert not again.forgotten
        assert len(await alice.messages()) == 2

    async def test_items_to_which_a_kit_gives_one_made_up_id_are_each_a_message(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s")
        for text in ("Of course.", "Done.", "Of course."):
            await alice.add({"id": "__fake_id__", "type": "message", "role": "assistant", "content": text})
        assert [one.text for one in await alice.messages()] == ["Of course.", "Done.", "Of course."]

    async def test_a_message_with_an_id_of_its_application_is_one_however_often_it_is_sent(
        self, harness: Harness
    ) -> None:
        alice = harness.scope(user="alice", session="s1")
        first = await alice.add([user("one", id="m1"), user("two", id="m2")])
        again = await alice.add([user("two", id="m2"), user("between"), user("three", id="m3")])
        assert again.ids[0] == first.ids[1]
        assert not again.replayed
        assert [message.text for message in await alice.messages()] == ["one", "two", "between", "three"]
        assert len((await alice.recall("two", kinds=["message"], roles=["user"])).hits) >= 1
        replay = await alice.add(user("one", id="m1"))
        assert (replay.ids, replay.replayed, replay.forgotten) == (first.ids[:1], True, False)
        with pytest.raises(IdempotencyConflict, match="message id 'm1' came before with other content") as caught:
            await alice.add([user("never"), user("another one", id="m1")])
        assert caught.value.key == "m1"
        await harness.scope(user="alice", session="s2").add(user("elsewhere", id="m1"))
        await harness.scope(user="bob", session="s1").add(user("of another", id="m1"))
        await alice.forget(first.ids[0])
        gone = await alice.add(user("one", id="m1"))
        assert (gone.ids, gone.replayed, gone.forgotten) == (first.ids[:1], True, True)
        assert [message.text for message in await alice.messages()] == ["two", "between", "three"]

    async def test_a_batch_that_can_be_read_once_is_replayed_too(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        batch = [user("one"), user("two")]
        first = await alice.add(tuple(batch), idempotency_key="k")
        assert (await alice.add(list(batch), idempotency_key="k")).ids == first.ids
        assert len(await alice.messages()) == 2

    async def test_other_content_is_a_conflict(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add(user("one"), idempotency_key="k")
        for other in (user("two"), user("one", metadata={"a": 1}), [user("one"), user("one")]):
            with pytest.raises(IdempotencyConflict) as caught:
                await alice.add(other, idempotency_key="k")
            assert caught.value.key == "k"
        with pytest.raises(IdempotencyConflict):
            await harness.scope(user="alice", session="s2").add(user("one"), idempotency_key="k")
        assert len(await alice.messages()) == 1

    async def test_another_agent_or_session_is_another_write(self, harness: Harness) -> None:
        """A replay across agents would hand one agent the memory of another."""
        mine = harness.scope(user="alice", agent="a", session="s")
        await mine.remember("told to a", idempotency_key="k")
        with pytest.raises(IdempotencyConflict):
            await harness.scope(user="alice", agent="b", session="s").remember("told to a", idempotency_key="k")
        await mine.add(user("said to a"), idempotency_key="k")
        with pytest.raises(IdempotencyConflict):
            await harness.scope(user="alice", agent="b", session="s").add(user("said to a"), idempotency_key="k")

    async def test_verbs_users_and_namespaces_have_keys_of_their_own(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        await alice.add(user("one"), idempotency_key="k")
        told = await alice.remember("one", idempotency_key="k")
        assert not told.receipt.replayed
        for other in (harness.scope(user="bob"), harness.scope(namespace="n", user="alice"), harness.scope()):
            assert not (await other.add(user("other"), idempotency_key="k")).replayed

    async def test_remember_correct_and_undo_replay(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = await alice.remember(attribute="city", value="Porto", topics=["t"], idempotency_key="r")
        assert (await alice.remember(attribute="city", value="Porto", topics=["t"], idempotency_key="r")) == told_again(
            told
        )
        fixed = await alice.correct(told.memory.id, "Lisbon", idempotency_key="c")
        assert (await alice.correct(told.memory.id, "Lisbon", idempotency_key="c")).receipt.ids == fixed.receipt.ids
        [change] = fixed.receipt.change_ids
        undone = await alice.undo(change, idempotency_key="u")
        again = await alice.undo(change, idempotency_key="u")
        assert (again.replayed, again.change_ids) == (True, undone.change_ids)
        assert await facts(alice) == ["Porto"]
        with pytest.raises(IdempotencyConflict):
            await alice.remember(attribute="city", value="Porto", topics=["other"], idempotency_key="r")

    async def test_a_replay_after_a_forget_says_so_and_writes_nothing(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        [message] = (await alice.add(user("one"), idempotency_key="k")).ids
        told = await alice.remember("a note", idempotency_key="k")
        await alice.forget(message)
        await alice.forget(told.memory.id)
        again = await alice.add(user("one"), idempotency_key="k")
        assert (again.replayed, again.forgotten, again.ids) == (True, True, (message,))
        replay = await alice.remember("a note", idempotency_key="k")
        assert (replay.memory, replay.receipt.forgotten) == (None, True)
        assert await alice.messages() == ()
        assert (await alice.recall()).total == 0

    async def test_a_write_that_failed_leaves_its_key_free(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        with pytest.raises(LookupError):
            await alice.correct("mem_" + "0" * 32, "x", idempotency_key="k")
        told = await alice.remember("a note")
        await alice.correct(told.memory.id, "another", idempotency_key="k")

    async def test_keys_are_kept_thirty_days(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        await alice.add(user("one"), idempotency_key="k")
        await harness.advance(timedelta(days=29))
        assert (await alice.add(user("one"), idempotency_key="k")).replayed
        await harness.advance(timedelta(days=2))
        assert not (await alice.add(user("two"), idempotency_key="k")).replayed

    async def test_many_at_once_are_one(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        receipts = await asyncio.gather(*(alice.add(user("one"), idempotency_key="k") for _ in range(32)))
        assert len({receipt.ids for receipt in receipts}) == 1
        assert sum(not receipt.replayed for receipt in receipts) == 1
        assert len(await alice.messages()) == 1

    async def test_one_text_told_at_once_by_many_is_one_memory(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = await asyncio.gather(*(alice.remember("Likes tea") for _ in range(32)))
        assert len({one.memory.id for one in told}) == 1
        assert (await alice.status()).memories == {"note": 1}
        stated = await asyncio.gather(*(alice.remember(attribute="tea", value=str(n)) for n in range(32)))
        assert len({one.memory.id for one in stated}) == 32
        assert len(await facts(alice)) == 1


def told_again(told: object) -> object:
    """What a replay of a `remember` must equal: the same but for the mark."""
    from dataclasses import replace

    return replace(told, receipt=replace(told.receipt, replayed=True))  # type: ignore[type-var,attr-defined]
