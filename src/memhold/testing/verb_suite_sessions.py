"""Verb suite: the journal, sessions, agents: what was said comes back equal, where it was said."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memhold.testing.verb_suite_base import Harness, fields, found, texts, user
from memhold.values.errors import InvalidInput, NotFound, TooLarge, WrongKind

__all__ = ["SHAPES", "SessionCases"]

SHAPES: tuple[dict[str, Any], ...] = (
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Grüße, 酒, \u202e, \x00 and \ud800 at the end ", "name": "Ann"},
    {"role": "user", "content": [{"type": "text", "text": "what is it"}, {"type": "image_url", "image_url": {"url": "https://x.org/a.png"}}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "call_0", "type": "function", "function": {"name": "find", "arguments": '{ "q":  1.0}'}}]},
    {"role": "tool", "tool_call_id": "call_0", "content": ""},
    {"role": "assistant", "content": "done", "refusal": None, "annotations": [], "x_unknown": {"b": 1, "a": [None, True, 1e300, 2**70]}},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "I look"}, {"type": "tool_use", "id": "t1", "name": "find", "input": {"q": "x", "n": 0.1}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "found it"}]}, {"type": "text", "text": "go on"}]},
    {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}]},
)  # fmt: skip
"""One message of each kind, in both shapes; a result without its call is among them by position."""


@pytest.mark.asyncio
class SessionCases:
    """`add`, `messages`, `read_message`, `end_session`, `status`, and whose rows an agent sees."""

    async def test_messages_come_back_equal(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        sent = copy.deepcopy(SHAPES)
        receipt = await alice.add(list(sent))
        assert sent == SHAPES
        found = await alice.messages()
        assert [message.body for message in found] == list(SHAPES)
        assert [list(message.body) for message in found] == [list(body) for body in SHAPES]
        assert [message.id for message in found] == list(receipt.ids)
        assert [message.seq for message in found] == list(range(1, len(SHAPES) + 1))
        assert found[3].tool_calls[0]["id"] == "call_0"
        assert found[4].tool_call_id == "call_0"
        assert {message.shape for message in found} == {"openai", "anthropic"}

    async def test_what_an_application_keeps_beside_a_session(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        assert await alice.session_metadata() == {}
        kept = {"title": "Grüße 酒", "ui": {"size": [1, None, True]}}
        assert await alice.set_session_metadata(kept) == kept
        await alice.add(user("hello"))
        assert await alice.session_metadata() == kept
        for other in (harness.scope(user="alice", session="s2"), harness.scope(user="bob", session="s1")):
            assert await other.session_metadata() == {}
        assert texts(await alice.recall("Grüße title size")) == ["hello"], "no question finds it"
        assert (await alice.changes()).items[-1].verb == "add", "and no change records it"
        with pytest.raises(TooLarge):
            await alice.set_session_metadata({"x": "a" * 300_000})
        assert await alice.session_metadata() == kept
        assert await alice.set_session_metadata({}) == {}
        # Forgetting a session takes what is kept beside it.
        await alice.set_session_metadata({"title": "gone soon"})
        await alice.forget(session="s1")
        assert await alice.session_metadata() == {}

    async def test_own_fields_are_taken_off_and_kept(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        said = datetime(2020, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)
        body = user("hello", event_time=said.isoformat(), metadata={"k": [1]}, embed=False)
        receipt = await alice.add(body)
        [message] = await alice.messages()
        assert message.body == {"role": "user", "content": "hello"}
        assert (message.event_time, message.metadata, message.embed) == (said, {"k": [1]}, False)
        assert message.recorded_at > said
        assert receipt.visibility.meaning is False
        assert receipt.visibility.recent
        assert receipt.visibility.words
        [hit] = (await alice.recall("hello", metadata={"k": [1]})).hits
        assert hit.event_time == said

    async def test_nobody_changes_what_is_stored_through_a_value(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        parts = [{"type": "text", "text": "as it was"}]
        metadata = {"k": ["as it was"]}
        await alice.add({"role": "user", "content": parts, "metadata": metadata})
        told = await alice.remember("a note", metadata=metadata)
        parts[0]["text"] = "changed"
        metadata["k"].append("changed")
        [message] = await alice.messages()
        message.metadata["k"].append("changed by a reader")
        told.memory.metadata["k"].append("changed by a reader")
        [message] = await alice.messages()
        assert message.body["content"] == [{"type": "text", "text": "as it was"}]
        assert message.metadata == {"k": ["as it was"]}
        assert (await alice.get(told.memory.id)).metadata == {"k": ["as it was"]}

    async def test_sessions_are_windows_and_recall_looks_across(self, harness: Harness) -> None:
        one, two = (harness.scope(user="alice", session=name) for name in ("s1", "s2"))
        unnamed = harness.scope(user="alice")
        await one.add(user("tea one"))
        await two.add(user("tea two"))
        await unnamed.add(user("tea three"))
        assert [message.text for message in await one.messages()] == ["tea one"]
        assert [message.text for message in await unnamed.messages()] == ["tea three"]
        assert (await one.recall("tea")).total == 3
        assert texts(await one.recall("tea", session="s2")) == ["tea two"]
        assert texts(await one.recall("tea", session="")) == ["tea three"]
        assert fields(await one.recall("tea", session="s2"), "session") == ["s2"]
        assert (await one.recall("tea", session="s3")).total == 0

    async def test_a_note_told_before_any_message_is_of_its_session(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.remember("Likes tea")
        assert found(await alice.recall("tea", session="s1")) == ["Likes tea"]
        await alice.add(user("hello"))
        assert found(await alice.recall("tea", session="s1")) == ["Likes tea"]
        assert [memory.text for memory in (await alice.list(session="s1")).items] == ["Likes tea"]

    async def test_messages_page_by_seq(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add([user(f"line {n}") for n in range(7)])
        found = await alice.messages(limit=3)
        assert [message.seq for message in found] == [1, 2, 3]
        assert [message.seq for message in await alice.messages(after=3, limit=3)] == [4, 5, 6]
        assert await alice.messages(after=7) == ()
        with pytest.raises(InvalidInput):
            await alice.messages(limit=0)

    async def test_a_huge_message_is_read_in_pieces(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        text = "".join(f"word{n} " for n in range(30_000)).strip()
        [item] = (await alice.add(user(text))).ids
        pieces, at = [], 0
        while piece := await alice.read_message(item, offset=at, limit=50_000):
            pieces.append(piece)
            at += len(piece)
        assert "".join(pieces) == text
        assert len(pieces) > 1
        with pytest.raises(NotFound):
            await alice.read_message("msg_" + "0" * 32)

    async def test_reading_a_message_takes_only_messages_and_whole_ranges(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        told = await alice.remember("a note")
        [item] = (await alice.add(user("abcdef"))).ids
        with pytest.raises(WrongKind):
            await alice.read_message(told.memory.id)
        for wrong in ({"offset": -1}, {"limit": 0}, {"limit": -5}):
            with pytest.raises(InvalidInput):
                await alice.read_message(item, **wrong)

    async def test_an_ended_session_is_kept_raw_and_begins_clean(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        receipt = await alice.add([user("I moved to Lisbon"), {"role": "assistant", "content": "Noted."}])
        ended = await alice.end_session()
        [raw] = ended.ids
        memory = await alice.get(raw)
        assert (memory.kind, memory.sources, memory.session) == ("raw", receipt.ids, "s1")
        assert "I moved to Lisbon" in memory.text
        assert raw in fields(await alice.recall("lisbon", kinds=["raw"]), "id")
        assert (await alice.end_session()).ids == ()
        await alice.add(user("and now to Faro"))
        [second] = (await alice.end_session()).ids
        assert "Lisbon" not in (await alice.get(second)).text
        status = await alice.status()
        assert (status.messages, status.sessions, status.raw) == (3, 1, 2)
        [change] = await alice.history(raw)
        assert change.verb == "consolidate"
        assert change.effects[0].after.text == memory.text

    async def test_ending_a_session_that_never_was_changes_nothing(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="never")
        assert (await alice.end_session()).ids == ()
        assert (await alice.status()).messages == 0

    async def test_a_long_window_is_whole_in_several_memories(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        receipt = await alice.add([user(f"line {n} " + "x" * 3000) for n in range(20)])
        ids = (await alice.end_session()).ids
        assert len(ids) > 1
        held = [await alice.get(item) for item in ids]
        assert [source for memory in held for source in memory.sources] == list(receipt.ids)
        assert all(len(memory.text) <= 20_000 for memory in held)

    async def test_status_counts_what_is_there(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add([user("one"), user("two")])
        await alice.remember("note", importance="high")
        await alice.remember(attribute="city", value="Porto")
        await alice.remember(attribute="city", value="Lisbon")
        await harness.scope(user="bob").remember("not hers")
        status = await alice.status()
        assert status.messages == 2
        assert status.memories == {"note": 1, "fact": 2}
        assert status.states == {"active": 2, "superseded": 1}
        assert status.tiers == {"long": 1, "mid": 2}
        assert status.last_error is None

    async def test_an_agent_reads_its_own_and_agentless_rows(self, harness: Harness) -> None:
        nobody, one, two = (harness.scope(user="alice", agent=name, session="s") for name in (None, "one", "two"))
        ids: dict[str, tuple[str, str]] = {}
        for name, scope in (("nobody", nobody), ("one", one), ("two", two)):
            [said] = (await scope.add(user(f"tea said to {name}"))).ids
            ids[name] = (said, (await scope.remember(f"tea note of {name}")).memory.id)
        for name, scope in (("one", one), ("two", two)):
            seen = {*ids["nobody"], *ids[name]}
            assert set(fields(await scope.recall("tea"), "id")) == seen
            assert set(fields(await scope.recall(), "id")) == seen
            assert {memory.id for memory in (await scope.list()).items} == seen & {m for _, m in ids.values()}
            assert {message.id for message in await scope.messages()} == seen & {m for m, _ in ids.values()}
            for item in seen:
                assert (await scope.get(item)).id == item
        assert len((await nobody.recall("tea")).hits) == 6

    async def test_an_agent_cannot_reach_anothers_rows_by_id(self, harness: Harness) -> None:
        one, two = (harness.scope(user="alice", agent=name, session="s") for name in ("one", "two"))
        told = await one.remember(attribute="city", value="Porto")
        [said] = (await one.add(user("hello"))).ids
        for item in (told.memory.id, said):
            for verb in (two.get, two.history, two.forget):
                with pytest.raises(NotFound):
                    await verb(item)
        with pytest.raises(NotFound):
            await two.read_message(said)
        with pytest.raises(NotFound):
            await two.correct(told.memory.id, "Faro")
        with pytest.raises(NotFound):
            await two.pin(told.memory.id)
        assert (await one.get(told.memory.id)) == told.memory

    async def test_agents_have_timelines_of_their_own(self, harness: Harness) -> None:
        one, two = (harness.scope(user="alice", agent=name) for name in ("one", "two"))
        await one.remember(attribute="tone", value="formal")
        await two.remember(attribute="tone", value="casual")
        assert texts(await one.recall("tone")) == ["tone: formal"]
        assert texts(await two.recall("tone")) == ["tone: casual"]
        await harness.advance(timedelta(days=1))
        await two.remember(attribute="tone", value="warm")
        assert texts(await one.recall("tone")) == ["tone: formal"]
