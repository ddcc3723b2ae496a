"""Verb suite: `recall`, `list`, `get`: filters narrow, pages join, totals are true, the ranking is explained."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memhold.testing.verb_suite_base import Harness, Verbs, fields, found, texts, user
from memhold.values.answers import Query
from memhold.values.errors import InvalidInput, NotFound, TooLarge, WrongKind

__all__ = ["RecallCases"]


async def _shelf(harness: Harness) -> tuple[Verbs, dict[str, str]]:
    """A scope with one row of each kind, all with the word "tea"; returns it with ids by name."""
    alice = harness.scope(user="alice", session="s1")
    ids = {}
    [ids["question"]] = (await alice.add(user("tea question", metadata={"lang": "en"}))).ids
    await harness.advance(timedelta(days=1))
    [ids["answer"]] = (await alice.add({"role": "assistant", "content": "tea answer"})).ids
    [ids["raw"]] = (await alice.end_session()).ids
    await harness.advance(timedelta(days=1))
    note = await alice.remember("tea note", topics=["Drinks", "home"], entities=["Ann"], metadata={"lang": "en"})
    ids["note"] = note.memory.id
    await harness.advance(timedelta(days=1))
    other = harness.scope(user="alice", session="s2")
    ids["long"] = (await other.remember("tea rule", importance="high", topics=["drinks"])).memory.id
    ids["old"] = (await alice.remember(attribute="tea", value="green")).memory.id
    await harness.advance(timedelta(days=1))
    ids["fact"] = (await alice.remember(attribute="tea", value="black")).memory.id
    return alice, ids


@pytest.mark.asyncio
class RecallCases:
    """Each filter against everything else that is there."""

    async def test_metadata_is_asked_by_values_lists_and_operators(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        for name, held in {"old": 2020, "new": 2026, "none": None}.items():
            told = {"name": name, "tags": [name, "tea"]} | ({} if held is None else {"year": held})
            await alice.remember(f"{name} tea", metadata=told)
        cases: list[tuple[dict[str, Any], set[str]]] = [
            ({"year": 2026}, {"new"}),
            ({"name": ["old", "none"]}, {"old", "none"}),
            ({"name": {"$in": ["old", "new"]}}, {"old", "new"}),
            ({"year": {"$gte": 2020, "$lt": 2026}}, {"old"}),
            ({"year": {"$lte": 2026}}, {"old", "new"}),
            ({"year": {"$ne": 2020}}, {"new", "none"}),
            ({"tags": ["new", "tea"]}, {"new"}),
            ({"tags": {"$contains": "tea"}, "year": {"$exists": False}}, {"none"}),
            ({"$or": [{"year": {"$gt": 2025}}, {"name": "none"}]}, {"new", "none"}),
            ({"$or": []}, set()),
        ]
        for asked, wanted in cases:
            hits = (await alice.recall("tea", metadata=asked)).hits
            assert {hit.metadata["name"] for hit in hits} == wanted, asked
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"year": {"gte": 2020}}, r"has 'gte'; write \$gte"),
            ({"year": {"$regex": "2"}}, r"unknown operator '\$regex'; known are \$eq"),
            ({"$and": [{"year": 2020}]}, "where a member belongs"),
            ({"$or": {"year": 2020}}, "takes a list of filters"),
            ({"year": {"$in": 2020}}, "takes a list of values"),
        ]
        for asked, said in wrong:
            with pytest.raises(InvalidInput, match=said):
                await alice.recall("tea", metadata=asked)

    async def test_a_context_is_asked_by_a_text_as_a_recall_is(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s")
        await alice.remember("likes green tea")
        asked = await alice.context("Which tea do I like?")
        assert asked.messages[-1] == {"role": "user", "content": "Which tea do I like?"}
        assert asked.messages == (await alice.context([user("Which tea do I like?")])).messages
        assert "green tea" in asked.as_text()
        assert (await alice.messages()) == ()

    async def test_each_filter_narrows_to_what_it_names(self, harness: Harness) -> None:
        alice, ids = await _shelf(harness)
        everything = {"question", "answer", "raw", "note", "long", "fact"}
        start = (await alice.get(ids["question"])).event_time
        cases: list[tuple[dict[str, Any], set[str]]] = [
            ({}, everything),
            ({"kinds": ["message"]}, {"question", "answer"}),
            ({"kinds": ["note", "fact"]}, {"note", "long", "fact"}),
            ({"kinds": ["raw"]}, {"raw"}),
            ({"kinds": ["summary"]}, set()),
            ({"states": ["superseded"]}, {"old"}),
            ({"states": ["superseded", "active"], "kinds": ["fact"]}, {"old", "fact"}),
            ({"tiers": ["long"]}, {"long"}),
            ({"tiers": ["mid"], "kinds": ["note"]}, {"note"}),
            ({"roles": ["user"]}, {"question"}),
            ({"roles": ["assistant", "user"]}, {"question", "answer"}),
            ({"session": "s2"}, {"long"}),
            ({"session": "s1"}, everything - {"long"}),
            ({"topics": ["drinks"]}, {"note", "long"}),
            ({"topics": ["DRINKS", "home"]}, {"note"}),
            ({"entities": ["ann"]}, {"note"}),
            ({"entities": ["bob"]}, set()),
            ({"metadata": {"lang": "en"}}, {"question", "note"}),
            ({"metadata": {"lang": "en"}, "kinds": ["note"]}, {"note"}),
            ({"metadata": {"lang": "fr"}}, set()),
            ({"since": start + timedelta(days=2)}, {"note", "long", "fact"}),
            ({"until": start + timedelta(days=1)}, {"question", "raw"}),
            ({"since": start + timedelta(days=1), "until": start + timedelta(days=2)}, {"answer"}),
            ({"include_superseded": True}, everything | {"old"}),
            ({"include_superseded": True, "kinds": ["fact"]}, {"old", "fact"}),
        ]
        for asked, wanted in cases:
            for text in ("tea", ""):
                answer = await alice.recall(text, limit=100, **asked)
                found = {name for name, item in ids.items() if item in fields(answer, "id")}
                assert found == wanted, (text, asked)
                assert answer.total == len(wanted), (text, asked)
                assert answer.next_offset is None

    async def test_pages_join_to_the_whole_and_totals_are_true(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        for n in range(23):
            await alice.remember(f"tea number {n}", topics=["even" if n % 2 == 0 else "odd"])
            await harness.advance(timedelta(minutes=1))
        cases: list[tuple[str, dict[str, Any], int]] = [("tea", {}, 23), ("", {}, 23), ("tea", {"topics": ["odd"]}, 11)]
        for text, asked, total in cases:
            whole = await alice.recall(text, limit=100, **asked)
            assert (len(whole.hits), whole.total, whole.next_offset) == (total, total, None)
            joined: list[Any] = []
            offset: int | None = 0
            while offset is not None:
                page = await alice.recall(text, limit=5, offset=offset, **asked)
                assert page.total == total
                joined += page.hits
                offset = page.next_offset
            assert [hit.id for hit in joined] == fields(whole, "id")
            assert [hit.score for hit in joined] == fields(whole, "score")
        past = await alice.recall("tea", offset=100)
        assert (past.hits, past.total, past.next_offset) == ((), 23, None)

    async def test_an_empty_question_lists_the_newest_first(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        for n in range(4):
            await alice.remember(f"note {n}")
            await harness.advance(timedelta(minutes=1))
        assert texts(await alice.recall()) == ["note 3", "note 2", "note 1", "note 0"]
        assert texts(await alice.recall("  \n ", limit=1)) == ["note 3"]

    async def test_messages_do_not_mark_each_other(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        await alice.add([user("I live in Oslo."), user("I live in Ghent now.")])
        hits = (await alice.recall("Where do I live?")).hits
        assert [(hit.superseded_by, hit.outdated) for hit in hits] == [(None, ())] * 2

    async def test_nothing_found_is_an_answer(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        await alice.remember("Likes tea")
        answer = await alice.recall("zeppelin")
        assert (texts(answer), answer.total, answer.degraded) == (["Likes tea"], 0, ()), "the nearest, and no find"
        assert (answer.next_offset, answer.cursor) == (None, None)
        assert (answer.confidence or 0) < 0.5
        assert (await harness.scope(user="bob").recall("zeppelin")).hits == (), "an empty scope"

    async def test_scores_fall_and_are_explained(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        for text in ("green tea", "tea with milk and honey", "coffee", "green lawn"):
            await alice.remember(text)
        answer = await alice.recall("green tea")
        assert texts(answer)[0] == "green tea"
        scores = fields(answer, "score")
        assert scores == sorted(scores, reverse=True)
        ranks = [hit.why[0].rank for hit in answer.hits[: answer.total]]
        assert ranks == list(range(1, answer.total + 1))
        assert "coffee" not in found(answer)

    async def test_two_character_words_of_cjk_are_found(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        await alice.add([user("我喜欢日本酒和寿司"), user("저는 서울에 살아요"), user("plain")])
        assert texts(await alice.recall("寿司"))[0] == "我喜欢日本酒和寿司"
        assert texts(await alice.recall("서울"))[0] == "저는 서울에 살아요"
        assert (await alice.recall("東京")).total == 0

    async def test_operators_and_quotes_are_words(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        await alice.remember("red and blue paint")
        for text in (
            'red AND "blue', "red OR", "NOT red", "red NEAR/3 blue", "red*", "col:red", "(red", "red'; DROP TABLE memory;--",
            "^red", "-red", "{red}", '"', "'", "*", "AND", "\x00red", "\ud800 red", "%red_", "red\\",
        ):  # fmt: skip
            # What holds no word asks for the newest, as an empty question does.
            assert (await alice.recall(text)).total == 1, text
        for text in ("purple AND pink", '"purple"', "red_and_blue_purple*"):
            assert (await alice.recall(text)).total == ("red" in text), text

    async def test_a_query_value_asks_the_same(self, harness: Harness) -> None:
        alice, _ = await _shelf(harness)
        asked = await alice.recall("tea", kinds=["note"], limit=1)
        assert await alice.recall(Query(text="tea", kinds=("note",), limit=1)) == asked
        turns = [{"role": "user", "content": "About the tea:"}, {"role": "assistant", "content": "Yes?"}]
        went_on = await alice.recall("what about it?", messages=turns)
        said = ("user: About the tea:", "assistant: Yes?")
        assert await alice.recall(Query(text="what about it?", conversation=said)) == went_on
        with pytest.raises(InvalidInput, match="origin"):
            Query(text="tea", origin="agent")

    async def test_list_pages_and_filters(self, harness: Harness) -> None:
        alice, ids = await _shelf(harness)
        seen, cursor = [], None
        while True:
            page = await alice.list(states=None, limit=2, cursor=cursor)
            assert len(page.items) <= 2
            seen += [memory.id for memory in page.items]
            if (cursor := page.cursor) is None:
                break
        assert seen == [ids[name] for name in ("raw", "note", "long", "old", "fact")]
        assert [memory.id for memory in (await alice.list(["fact"])).items] == [ids["fact"]]
        assert [memory.id for memory in (await alice.list(states=["superseded"])).items] == [ids["old"]]
        assert [memory.id for memory in (await alice.list(session="s2")).items] == [ids["long"]]

    async def test_get_and_history_take_messages_and_memories_only(self, harness: Harness) -> None:
        alice, ids = await _shelf(harness)
        [change, *_] = await alice.history(ids["note"])
        for verb in (alice.get, alice.history, alice.forget):
            for wrong in (change.id, "ses_" + "0" * 32):
                with pytest.raises(WrongKind) as caught:
                    await verb(wrong)
                assert caught.value.id == wrong
            for unknown in (
                "msg_" + "0" * 32,
                "mem_" + "0" * 32,
                "mem_",
                "nonsense",
                "",
                "mem_' OR 1=1 --",
                "mem_\x00",
            ):
                with pytest.raises(NotFound):
                    await verb(unknown)
        for wrong in (ids["note"], ids["question"], "nonsense", ""):
            with pytest.raises(WrongKind):
                await alice.undo(wrong)

    async def test_questions_that_cannot_be_asked_are_refused(self, harness: Harness) -> None:
        alice, _ = await _shelf(harness)
        wrong: list[dict[str, Any]] = [
            {"limit": 0}, {"limit": 1001}, {"offset": -1}, {"kinds": ["nonsense"]}, {"kinds": "fact"},
            {"states": ["nonsense"]}, {"tiers": ["nonsense"]}, {"roles": ["nonsense"]}, {"topics": "tea"}, {"topics": [""]},
        ]  # fmt: skip
        for asked in wrong:
            with pytest.raises(InvalidInput):
                await alice.recall("tea", **asked)
        with pytest.raises(TooLarge):
            await alice.recall("tea " * 10_000)
        bad_lists: list[dict[str, Any]] = [
            {"kinds": ["message"]}, {"kinds": "fact"}, {"states": ["nonsense"]}, {"limit": 0}, {"limit": 1001},
            {"cursor": "nonsense"}, {"cursor": ""}, {"cursor": "n-1"},
        ]  # fmt: skip
        for asked in bad_lists:
            with pytest.raises(InvalidInput):
                await alice.list(**asked)
