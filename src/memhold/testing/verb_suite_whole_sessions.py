"""Verb suite: sessions as a whole: listed, read from the end, copied, forgotten below a prefix; items without a role."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memhold.testing.verb_suite_base import Harness, found, texts, user
from memhold.values.errors import Conflict, InvalidInput, InvalidMessage, NotFound
from memhold.values.sessions import SessionOrder

__all__ = ["WholeSessionCases"]

ITEMS: tuple[dict[str, Any], ...] = (
    {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"q": "oolong"}', "id": "fc_1"},
    {"type": "custom-title", "metadata": {"k": None}, "event_time": "not a time", "embed": "neither", "content": 3},
)
"""Items that have a type and no role: of OpenAI's Responses, and of a transcript; Memhold's own keys mean nothing."""


@pytest.mark.asyncio
class WholeSessionCases:
    """`sessions`, `copy_session`, `messages` from the end, `forget` below a prefix."""

    async def test_items_are_kept_as_they_are_and_are_no_turns(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add([user("tea one"), *ITEMS, {"role": "assistant", "content": "noted"}])
        only = await alice.add(list(ITEMS))
        held = await alice.messages()
        assert [message.body for message in held][1:3] == list(ITEMS)
        assert [message.role for message in held] == ["user", "", "", "assistant", "", ""]
        assert (only.visibility.words, only.visibility.meaning, only.visibility.recent) == (False, False, True)
        assert sorted(texts(await alice.recall(""))) == ["noted", "tea one"]
        assert found(await alice.recall("oolong find custom-title")) == []
        shown = (await alice.context(user("and now"), budget=2000)).messages
        assert [message["content"] for message in shown if "now" not in str(message)] == ["tea one", "noted"]
        [hit] = (await alice.recall("noted", neighbours=3, limit=1)).hits
        assert [message.text for message in hit.neighbours] == ["tea one"]
        await alice.end_session()
        assert "oolong" not in str((await alice.list(kinds=["raw"])).items)
        assert [message.body for message in await alice.messages()][4:] == list(ITEMS)
        await harness.settle()
        assert (await alice.status()).pending == 0
        await alice.forget(session="s1")
        assert await alice.messages() == ()
        for neither in ({"content": "no role and no type"}, {"type": " "}, {"type": "x", "role": None}):
            with pytest.raises(InvalidMessage):
                await alice.add(neither)

    async def test_a_session_of_items_alone_waits_for_nothing(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        for _ in range(30):
            await alice.add(ITEMS[0])
        await alice.end_session()
        await harness.settle()
        status = await alice.status()
        assert (status.messages, status.raw, status.memories) == (30, 0, {})

    async def test_the_newest_are_read_from_the_end(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add([user(f"line {n}") for n in range(1, 8)])

        async def seqs(**asked: Any) -> list[int]:
            return [message.seq for message in await alice.messages(**asked)]

        assert await seqs(newest=True, limit=3) == [5, 6, 7]
        assert await seqs(newest=True, limit=3, before=5) == [2, 3, 4]
        assert await seqs(newest=True, limit=3, before=2) == [1]
        assert await seqs(newest=True, after=5) == [6, 7]
        assert await seqs(before=4) == [1, 2, 3]
        agents = harness.scope(user="alice", session="s1", agent="one")
        await harness.scope(user="alice", session="s1", agent="two").add([user("its own"), user("its own")])
        assert [message.seq for message in await agents.messages(newest=True, limit=2)] == [6, 7]

    async def test_sessions_are_listed_with_counts_and_times_a_page_at_a_time(self, harness: Harness) -> None:
        for name in ("chat/b", "chat/a", "other"):
            await harness.scope(user="alice", session=name).add([user("one"), user("two"), ITEMS[0]])
            await harness.advance(timedelta(seconds=1))
        alice = harness.scope(user="alice", session="chat/b")
        await alice.set_session_metadata({"title": "b"})
        [item] = (await alice.add(user("later"))).ids
        await harness.scope(user="bob", session="chat/c").add(user("not hers"))

        async def names(order: SessionOrder = "began", prefix: str = "") -> list[str]:
            listed, cursor = [], None
            while True:
                page = await alice.sessions(prefix, order=order, limit=1, cursor=cursor)
                listed += [one.name for one in page.items]
                cursor = page.cursor
                if cursor is None:
                    return listed

        assert await names() == ["chat/b", "chat/a", "other"]
        assert await names("newest") == ["chat/b", "other", "chat/a"]
        assert await names("oldest") == ["chat/a", "other", "chat/b"]
        assert await names("name", "chat/") == ["chat/a", "chat/b"]
        one = (await alice.sessions("chat/b")).items[0]
        assert (one.messages, one.metadata, one.ended_at) == (4, {"title": "b"}, None)
        assert one.created_at < one.last_at
        await alice.forget(item)
        await alice.end_session()
        one = (await alice.sessions("chat/b")).items[0]
        assert one.messages == 3
        assert one.ended_at is not None
        page = await alice.sessions(limit=1)
        for wrong in ({"order": "size"}, {"limit": 0}, {"cursor": "none"}, {"cursor": page.cursor, "order": "name"}):
            with pytest.raises(InvalidInput):
                await alice.sessions(**wrong)

    async def test_everything_below_a_prefix_is_forgotten(self, harness: Harness) -> None:
        for name in ("p/s1", "p/s1/a", "p/s10", "q"):
            scope = harness.scope(user="alice", session=name)
            await scope.add([user(f"said in {name}"), ITEMS[0]])
            await scope.remember(f"noted in {name}")
            await scope.set_session_metadata({"in": name})
        alice = harness.scope(user="alice")
        await harness.scope(user="bob", session="p/s1/a").add(user("not hers"))
        planned = await alice.forget(session_prefix="p/s1/", dry_run=True)
        assert (len(planned.messages), len(planned.memories)) == (2, 1)
        hidden = await alice.forget(session_prefix="p/s1/", hard=False)
        assert len(hidden.hidden) == 3
        await alice.undo(hidden.change_id or "")
        await alice.forget(session_prefix="p/s1")
        assert [one.name for one in (await alice.sessions()).items] == ["q"]
        assert [memory.text for memory in (await alice.list()).items] == ["noted in q"]
        assert len(await harness.scope(user="bob", session="p/s1/a").messages()) == 1
        for wrong in ({"session_prefix": ""}, {"session_prefix": "p", "session": "q"}):
            with pytest.raises(InvalidInput):
                await alice.forget(**wrong)

    async def test_a_copy_goes_on_apart_and_is_found_once(self, harness: Harness) -> None:
        alice, copied = (harness.scope(user="alice", session=name) for name in ("s1", "s2"))
        ids = (await alice.add([user("tea one"), ITEMS[0], user("tea two"), user("tea three")])).ids
        await alice.set_session_metadata({"title": "tea"})
        done = await alice.copy_session("s2", until=3, idempotency_key="k")
        assert (await alice.copy_session("s2", until=3, idempotency_key="k")).ids == done.ids
        bodies = [message.body for message in await alice.messages()]
        assert [message.body for message in await copied.messages()] == bodies[:3]
        assert [message.event_time for message in await copied.messages()] == [
            message.event_time for message in (await alice.messages())[:3]
        ]
        assert await copied.session_metadata() == {"title": "tea"}
        await copied.add(user("another way"))
        shown = [message["content"] for message in (await copied.context(user("now"), budget=2000)).messages]
        assert [str(shown).count(text) for text in ("tea one", "tea two", "tea three")] == [1, 1, 1], shown
        assert sorted(found(await alice.recall("tea"))) == ["tea one", "tea three", "tea two"]
        await copied.end_session()
        await harness.settle()
        assert "tea" not in str([one.text for one in (await alice.list(kinds=["raw", "summary"])).items])
        with pytest.raises(Conflict):
            await alice.copy_session("s2")
        with pytest.raises(Conflict):
            await alice.copy_session("s1")
        with pytest.raises(NotFound):
            await harness.scope(user="bob", session="s1").copy_session("s3")
        await copied.copy_session("s3")
        hidden = await alice.forget(ids[0], hard=False)
        assert [message.text for message in await copied.messages()] == ["", "tea two", "another way"]
        await alice.undo(hidden.change_id or "")
        third = harness.scope(user="alice", session="s3")
        await alice.forget(ids[2])
        for scope in (copied, third):
            assert [message.text for message in await scope.messages()] == ["tea one", "", "another way"]
        await third.forget((await third.messages())[0].id)
        assert sorted(texts(await alice.recall("", kinds=["message"]))) == ["another way", "tea three"]
        await alice.forget(session="s3")
        assert [message.text for message in await copied.messages()] == ["", "another way"]

    async def test_what_is_kept_beside_a_session_is_hidden_and_goes_with_its_copies(self, harness: Harness) -> None:
        alice, copied = (harness.scope(user="alice", session=name) for name in ("s1", "s2"))
        titled = harness.scope(user="alice", session="s3")

        async def shown() -> list[object]:
            return [(one.name, one.metadata) for one in (await alice.sessions()).items]

        await alice.add([user("tea")])
        await alice.set_session_metadata({"title": "Allergies"})
        await titled.set_session_metadata({"title": "of its own"})
        await alice.copy_session("s2")
        await alice.copy_session("s3")
        before = await shown()
        assert before == [
            ("s1", {"title": "Allergies"}), ("s3", {"title": "of its own"}), ("s2", {"title": "Allergies"}),
        ]  # fmt: skip
        hidden = await alice.forget(session="s1", hard=False)
        assert sorted(map(str, await shown())) == ["('s1', {})", "('s2', {})", "('s3', {'title': 'of its own'})"]
        await alice.undo(hidden.change_id or "")
        assert await shown() == before
        await alice.forget(session="s1", hard=False)
        await alice.add([user("coffee")])
        await alice.copy_session("s4")
        assert (await shown())[-1] == ("s4", {})
        await copied.add([user("milk")])
        await alice.forget(session="s1")
        assert sorted(map(str, await shown())) == ["('s2', {})", "('s3', {'title': 'of its own'})"]
        assert [message.text for message in await copied.messages()] == ["milk"]

    async def test_a_copy_continues_the_window_where_it_stands(self, harness: Harness) -> None:
        alice, copied = (harness.scope(user="alice", session=name) for name in ("s1", "s2"))
        await alice.add([user("before it ended"), user("and this")])
        await alice.end_session()
        await alice.add([user("behind it")])
        await alice.copy_session("s2")
        shown = (await copied.context(user("now"), budget=2000)).messages
        said = [one["content"] for one in shown if "memhold-recall" not in str(one)]
        assert said == ["behind it", "now"]
