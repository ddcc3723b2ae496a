"""Verb suite: nobody reads, changes or counts another namespace's or user's memory, by any verb or id."""

from __future__ import annotations

from typing import Any

import pytest

from memhold.testing.verb_suite_base import Harness, Verbs, fields, user
from memhold.values.errors import InvalidScope, NotFound

__all__ = ["IsolationCases"]

OTHERS: tuple[dict[str, str], ...] = (
    {"user": "mallory"}, {"namespace": "other", "user": "alice"}, {}, {"namespace": "other"}, {"user": "Alice"},
    {"user": "alice."}, {"namespace": "default%", "user": "alice"}, {"user": "a%"}, {"user": "' OR 1=1 --"},
)  # fmt: skip
CANARY = "canary7f3a"


async def _reads(scope: Verbs) -> str:
    """Everything that a scope can say without an id."""
    said: list[Any] = [await scope.recall(CANARY, limit=100), await scope.recall(limit=100, include_superseded=True)]
    said += [await scope.list(states=None), await scope.messages(), await scope.status()]
    said.append(await scope.forget(everything=True, dry_run=True))
    return repr(said)


@pytest.mark.asyncio
class IsolationCases:
    """A canary in one scope, and every way out of it tried from the others."""

    async def test_the_canary_is_nowhere_else(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add(user(f"{CANARY} said", metadata={"k": CANARY}))
        await alice.remember(f"{CANARY} note", topics=[CANARY], entities=[CANARY])
        await alice.remember(attribute=CANARY, value=CANARY)
        await alice.end_session()
        for names in OTHERS:
            other = harness.scope(**names, session="s1")
            assert CANARY not in await _reads(other), names
            await other.add(user("hello"))
            assert CANARY not in await _reads(other), names
            assert (await other.recall(topics=[CANARY])).total == 0
            assert (await other.recall(metadata={"k": CANARY})).total == 0
        assert (await alice.recall(CANARY)).total == 4

    async def test_ids_of_another_scope_are_unknown_ids(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        [message] = (await alice.add(user("tea"))).ids
        told = await alice.remember(attribute="city", value="Porto")
        [change] = told.receipt.change_ids
        memory = told.memory.id
        for names in OTHERS:
            other = harness.scope(**names, session="s1")
            calls = [
                other.get(message), other.get(memory), other.history(message), other.history(memory), other.forget(message),
                other.forget(memory), other.forget(memory, dry_run=True), other.forget(memory, hard=False), other.pin(memory),
                other.unpin(memory), other.correct(memory, "x"), other.correct(memory, "x", rev=7), other.undo(change),
                other.undo(change, cascade=True), other.read_message(message),
            ]  # fmt: skip
            for call in calls:
                with pytest.raises(NotFound) as caught:
                    await call
                assert type(caught.value) is NotFound
        unknown = memory[:-4] + "0000"
        errors = []
        for item in (memory, unknown):
            with pytest.raises(NotFound) as caught:
                await harness.scope(user="mallory").get(item)
            errors.append(str(caught.value).replace(item, ""))
        assert errors[0] == errors[1]
        assert (await alice.get(memory)) == told.memory

    async def test_the_same_words_told_in_two_scopes_are_two_memories(self, harness: Harness) -> None:
        ids = set()
        for names in ({"user": "alice"}, *OTHERS):
            scope = harness.scope(**names)
            ids.add((await scope.remember("Likes tea", idempotency_key="k")).memory.id)
            ids.add((await scope.remember(attribute="city", value="Porto")).memory.id)
            assert (await scope.recall("tea")).total == 1
        assert len(ids) == 2 * (1 + len(OTHERS))

    async def test_forgetting_here_leaves_there(self, harness: Harness) -> None:
        scopes = [harness.scope(**names, session="s1") for names in ({"user": "alice"}, *OTHERS)]
        for scope in scopes:
            await scope.add(user("tea said"))
            await scope.remember("tea note", topics=["x"])
        await scopes[0].forget(session="s1")
        await scopes[1].forget(topics=["x"])
        await scopes[2].forget(everything=True)
        await harness.settle()
        assert [(await scope.recall("tea")).total for scope in scopes] == [0, 1, 0] + [2] * (len(scopes) - 3)

    async def test_anothers_text_changes_no_score(self, harness: Harness) -> None:
        alice, bob = harness.scope(user="alice"), harness.scope(user="bob")
        for text in ("green tea", "tea and milk", "green lawn"):
            await alice.remember(text)
        before = await alice.recall("green tea")
        await bob.add([user(f"green tea {n}") for n in range(50)])
        await harness.scope(namespace="other", user="alice").add([user("green " * 50)])
        after = await alice.recall("green tea")
        assert (fields(after, "id"), fields(after, "score")) == (fields(before, "id"), fields(before, "score"))

    async def test_two_spellings_of_a_name_are_one(self, harness: Harness) -> None:
        await harness.scope(user="jose\u0301", session="cafe\u0301").add(user("green tea"))
        found = await harness.scope(user="jos\u00e9").recall("tea", session="cafe\u0301")
        assert [hit.text for hit in found.hits] == ["green tea"]
        assert await harness.scope(user="jos\u00e9").forget(session="caf\u00e9")

    async def test_names_that_cannot_be_used_are_refused(self, harness: Harness) -> None:
        for names in ({"user": ""}, {"user": " "}, {"namespace": ""}, {"session": "\x00"}, {"agent": "a\nb"}):
            with pytest.raises(InvalidScope):
                harness.scope(**names)
        for name in ("x" * 257, "\ud800", "\x7f"):
            with pytest.raises(InvalidScope):
                harness.scope(user=name)
        for name in ("jos\u00e9 ", "jos\u00e9\u00a0", "jos\u200b\u00e9", "\u202ejos\u00e9"):
            with pytest.raises(InvalidScope, match="use 'jos\u00e9'"):
                harness.scope(user=name)
        odd = harness.scope(user="a/../b", namespace="../../etc", session="% _ '\"")
        await odd.add(user("tea"))
        assert (await odd.recall("tea", session="% _ '\"")).total == 1
