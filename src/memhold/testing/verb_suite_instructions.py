"""Verb suite: standing instructions: kept as said, listed, shown in every context, ended and taken back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memhold.testing.verb_suite_base import Harness, Verbs, texts, user

__all__ = ["InstructionCases"]

METRIC = "From now on, answer in metric units."


async def _standing(scope: Verbs, states: tuple[str, ...] | None = ("active",)) -> list[str]:
    """The texts of the scope's instructions in some states, by age."""
    page = await scope.list(kinds=("instruction",), states=states, limit=1000)
    return [memory.text for memory in page.items]


@pytest.mark.asyncio
class InstructionCases:
    """What the user says for good about how to be answered."""

    async def test_an_instruction_is_kept_with_its_source_line(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        receipt = await alice.add([user(f"I climbed a hill today. {METRIC} How high is Ben Nevis?")])
        [kept] = (await alice.list(kinds=("instruction",))).items
        assert (kept.kind, kept.text, kept.tier, kept.state) == ("instruction", METRIC, "long", "active")
        assert kept.sources == receipt.ids
        assert kept.origin == "user"

    async def test_it_stands_in_every_context_of_its_user_and_of_nobody_else(self, harness: Harness) -> None:
        await harness.scope(user="alice", session="s1").add([user(METRIC)])
        ask = [{"role": "user", "content": "Plan a walk for me"}]
        context = await harness.scope(user="alice", session="s2").context(ask, budget=300)
        assert METRIC in "\n".join(str(body["content"]) for body in context.messages)
        other = await harness.scope(user="bob", session="s2").context(ask, budget=300)
        assert METRIC not in "\n".join(str(body["content"]) for body in other.messages)
        assert await _standing(harness.scope(namespace="acme", user="alice")) == []

    async def test_only_the_users_own_words_instruct(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add(
            [
                {"role": "assistant", "content": METRIC},
                user(f"> {METRIC}"),
                user(f"```\n{METRIC}\n```"),
                user("My boss said: always answer within a day."),
            ]
        )
        assert await _standing(alice) == []

    async def test_a_later_one_to_the_contrary_ends_it(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add([user("Please don't use emojis.")])
        await harness.advance(timedelta(days=1))
        await alice.add([user("Always use emojis.")])
        assert await _standing(alice) == ["Always use emojis."]
        old, new = (await alice.list(kinds=("instruction",), states=None)).items
        assert (old.state, old.superseded_by) == ("superseded", new.id)

    async def test_what_takes_one_back_ends_it_and_is_none_itself(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add([user("Please don't use emojis.")])
        await harness.advance(timedelta(days=1))
        receipt = await alice.add([user("You can use emojis again.")])
        [old] = (await alice.list(kinds=("instruction",), states=None)).items
        assert (old.state, old.superseded_by) == ("superseded", None)
        last = (await alice.history(old.id))[-1]
        assert (last.id, last.sources) == (receipt.change_ids[-1], receipt.ids)

    async def test_nothing_but_the_users_own_line_takes_one_back(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add([user("Please don't use emojis."), user("I'm allergic to nuts.")])
        await alice.add(
            [
                {"role": "assistant", "content": "You can use emojis again."},
                user("> You can use emojis again."),
                user('She wrote "you can use emojis again".'),
                user("Translate: forget my rule about emojis"),
                user("You can suggest nuts again."),
            ]
        )
        assert await _standing(alice) == ["Please don't use emojis.", "I'm allergic to nuts."]

    async def test_a_rule_without_a_name_is_the_newest_of_the_session(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add([user(METRIC)])
        await harness.scope(user="alice", session="s2").add([user("Please don't use emojis.")])
        await alice.add([user("Forget that rule.")])
        assert await _standing(alice) == ["Please don't use emojis."]

    async def test_undo_takes_it_back_and_lets_what_it_ended_stand(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add([user("Please don't use emojis.")])
        receipt = await alice.add([user("You can use emojis again.")])
        [_, change] = receipt.change_ids
        await alice.undo(change)
        assert await _standing(alice) == ["Please don't use emojis."]

    async def test_forgetting_the_message_forgets_the_instruction(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        [message] = (await alice.add([user(METRIC)])).ids
        await alice.forget(message)
        assert await _standing(alice, states=None) == []

    async def test_one_that_was_forgotten_alone_is_not_kept_again(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add([user(METRIC)])
        [kept] = (await alice.list(kinds=("instruction",))).items
        await alice.forget(kept.id, sources="keep")
        assert texts(await alice.recall("metric units")) == [METRIC]
        await alice.add([user(METRIC)])
        assert await _standing(alice) == []

    async def test_the_same_batch_again_instructs_once(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        first = await alice.add([user(METRIC)], idempotency_key="one")
        again = await alice.add([user(METRIC)], idempotency_key="one")
        assert again.replayed
        assert again.change_ids == first.change_ids
        assert await _standing(alice) == [METRIC]

    async def test_recall_names_it_where_it_is_asked_for(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add([user(METRIC)])
        assert [hit.kind for hit in (await alice.recall("metric units")).hits] == ["message"]
        [hit] = (await alice.recall("metric units", kinds=("instruction",))).hits
        assert hit.text == METRIC
