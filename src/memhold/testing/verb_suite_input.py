"""Verb suite: bad input. It is refused with a clear error of its own class, and nothing of it is stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memhold.testing.verb_suite_base import Harness, user
from memhold.values.errors import InvalidInput, InvalidMessage, InvalidScope, NaiveTime, NotFound, TooLarge, WrongKind

__all__ = ["InputCases"]

FAR = datetime(2100, 1, 1, tzinfo=UTC)
NAIVE = datetime(2020, 1, 1)  # noqa: DTZ001 - the point of the test


@pytest.mark.asyncio
class InputCases:
    """Each line of what callers get wrong."""

    async def test_messages_that_say_nothing_or_are_none(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        wrong: list[Any] = [
            user(""), user(" \n\t "), {"role": "user"}, {"role": "user", "content": None}, {"role": "user", "content": []},
            {"role": "user", "content": [{"type": "text", "text": " "}]},
            {"role": "nonsense", "content": "x"}, {"role": "", "content": "x"}, {"role": None, "content": "x"},
            {"role": ["user"], "content": "x"}, {"content": "x"}, {}, {"role": "user", "content": 5},
            {"role": "user", "content": {"type": "text", "text": "x"}}, {"role": "user", "content": ["x"]},
            {"role": "tool", "content": "no call named"}, {"role": "tool", "tool_call_id": "", "content": "x"},
            {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
            {"role": "assistant", "tool_calls": "f()"}, "hello", 5, None, ["hello"], [["hello"]], b"bytes",
            user("x", extra=float("nan")), user("x", extra={1, 2}), user("x", extra=object()), {**user("x"), 5: "y"},
            user("x", metadata=[]), user("x", metadata={"k": object()}), user("x", embed="yes"), user("x", event_time=5),
            user("x", event_time="tomorrow"), user("x", event_time=FAR), user("x", event_time=FAR.isoformat()),
            [user("a", id="1"), user("b", id="1")], user("x", time="2026-01-01T00:00:00Z"), user("x", time=1767225600),
        ]  # fmt: skip
        for messages in wrong:
            with pytest.raises(InvalidInput) as caught:
                await alice.add(messages)
            assert isinstance(caught.value, InvalidMessage), messages
        assert (await alice.status()).messages == 0
        assert (await alice.add([])).ids == ()

    async def test_one_bad_message_refuses_its_batch_and_is_named(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        with pytest.raises(InvalidMessage) as caught:
            await alice.add([user("good"), user("good"), user(" ")], idempotency_key="k")
        assert caught.value.index == 2
        assert await alice.messages() == ()
        assert (await alice.recall("good")).total == 0
        assert not (await alice.add(user("good"), idempotency_key="k")).replayed

    async def test_a_result_without_its_call_is_kept(self, harness: Harness) -> None:
        """The journal is the truth: what it was taken from may have been cut before the call."""
        alice = harness.scope(user="alice", session="s1")
        orphan = {"role": "tool", "tool_call_id": "call_9", "content": "42"}
        block = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t9", "content": "43"}]}
        await alice.add([orphan, block])
        assert [message.body for message in await alice.messages()] == [orphan, block]

    async def test_times_need_a_zone(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        with pytest.raises(NaiveTime):
            await alice.add(user("x", event_time=NAIVE))
        with pytest.raises(NaiveTime):
            await alice.add(user("x", event_time="2020-01-01T00:00:00"))
        for name in ("event_time", "expires_at"):
            with pytest.raises(NaiveTime):
                await alice.remember("x", **{name: NAIVE})
        for name in ("since", "until", "as_of", "known_at"):
            with pytest.raises(NaiveTime):
                await alice.recall("x", **{name: NAIVE})
        assert (await alice.recall()).total == 0

    async def test_a_fact_of_the_future_is_refused_as_a_message_of_it_is(self, harness: Harness) -> None:
        """It would be served as current before its time, and displace what holds now."""
        alice = harness.scope(user="alice")
        with pytest.raises(InvalidInput):
            await alice.remember(attribute="city", value="Porto", event_time=FAR)
        with pytest.raises(InvalidInput):
            await alice.remember("x", event_time=FAR)
        told = await alice.remember("x")
        close = told.memory.event_time + timedelta(hours=1)
        assert (await alice.remember("y", event_time=close)).memory.event_time == close

    async def test_nothing_expires_before_it_begins(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        start = (await alice.remember("first")).memory.event_time
        for begins, ends in ((start, start), (start, start - timedelta(days=1)), (None, start - timedelta(days=1))):
            with pytest.raises(InvalidInput):
                await alice.remember("x", event_time=begins, expires_at=ends)

    async def test_what_cannot_be_meant_is_refused_before_anything_is_done(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = (await alice.remember("Likes tea")).memory
        for rev in ("1", True, 1.0):
            with pytest.raises(InvalidInput):
                await alice.correct(told.id, "Likes coffee", rev=rev)
        for wait in (float("nan"), float("inf"), -1, "1"):
            with pytest.raises(InvalidInput):
                await alice.forget(told.id, wait=wait)
        for session in ("\ud800", "a\nb", "x" * 300):
            with pytest.raises(InvalidScope):
                await alice.forget(session=session)
            with pytest.raises(InvalidScope):
                await alice.recall("tea", session=session)
        assert (await alice.get(told.id)) == told

    async def test_fifty_megabytes_are_refused_with_the_limit(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        for content in (
            "x" * 50_000_000,
            [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 50_000_000}}],
        ):
            with pytest.raises(TooLarge) as caught:
                await alice.add({"role": "user", "content": content})
            assert caught.value.size > caught.value.limit > 0
        with pytest.raises(TooLarge):
            await alice.remember("x" * 200_000)
        with pytest.raises(TooLarge):
            await alice.remember(attribute="a", value="x" * 200_000)
        assert (await alice.recall()).total == 0

    async def test_ten_thousand_messages_are_one_write(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        batch = [user(f"line {n} about tea number {n % 97}") for n in range(10_000)]
        receipt = await alice.add(batch)
        assert len(set(receipt.ids)) == 10_000
        assert len(receipt.change_ids) == 1
        found = await alice.messages(after=9_990)
        assert [message.seq for message in found] == list(range(9_991, 10_001))
        assert (await alice.recall("number 42")).total > 0
        with pytest.raises(TooLarge) as caught:
            await alice.add([*batch, user("one more")])
        assert caught.value.limit == 10_000

    async def test_what_cannot_be_remembered_is_refused(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        deep: Any = 1
        for _ in range(200):
            deep = [deep]
        wrong: list[dict[str, Any]] = [
            {"text": "\u200b\ufeff"}, {"attribute": "home", "value": "\u200b"}, {"attribute": "\u2060", "value": "x"},
            {}, {"text": ""}, {"text": " \n"}, {"text": "x", "attribute": "a", "value": "b"}, {"attribute": "a"},
            {"attribute": "a", "value": " "}, {"attribute": " ", "value": "x"}, {"attribute": "a", "value": "b", "subject": ""},
            {"text": "x", "value": "b"}, {"text": 5}, {"attribute": "a", "value": 5}, {"text": "x", "operation": "nonsense"},
            {"text": "x", "importance": "nonsense"}, {"text": "x", "importance": 3}, {"text": "a\x00b"}, {"text": "a\ud800"},
            {"text": "x", "topics": "tea"}, {"text": "x", "topics": [""]}, {"text": "x", "topics": [5]},
            {"text": "x", "topics": [str(n) for n in range(51)]}, {"text": "x", "metadata": {"k": object()}},
            {"text": "x", "metadata": {"k": {1}}}, {"text": "x", "metadata": {"k": float("nan")}}, {"text": "x", "metadata": {5: "k"}},
            {"text": "x", "metadata": {"k": deep}}, {"text": "x", "metadata": [1]}, {"text": "x", "expires_at": "soon"},
            {"text": "x", "event_time": "2020-13-01"}, {"text": "x", "pinned": "yes"},
            {"text": "x", "idempotency_key": ""}, {"text": "x", "idempotency_key": "k" * 513}, {"text": "x", "idempotency_key": 5},
        ]  # fmt: skip
        for told in wrong:
            with pytest.raises(InvalidInput):
                await alice.remember(**told)
        kept = await alice.remember("a note")
        for value in ("", " ", 5, "a\x00", None):
            with pytest.raises(InvalidInput):
                await alice.correct(kept.memory.id, value)
        assert (await alice.recall()).total == 1

    async def test_what_is_no_id_is_refused(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        for take in (alice.get, alice.history, alice.forget, alice.undo, alice.pin):
            with pytest.raises(InvalidInput):
                await take(7)
            with pytest.raises((NotFound, WrongKind)):
                await take("\ud800")
            with pytest.raises((NotFound, WrongKind)):
                await take("mem_\ud800")

    async def test_an_empty_filter_lets_nothing_through(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        await alice.remember("Likes tea")
        for name in ("kinds", "roles", "states", "tiers"):
            assert (await alice.recall("tea", **{name: []})).total == 0
        for wrong in ({"limit": 1.5}, {"limit": "5"}, {"offset": None}):
            with pytest.raises(InvalidInput):
                await alice.recall("tea", **wrong)
