"""Pages while others write and forget, every filter in every combination, and what rests on a superseded value."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhold.faces.python.open import AsyncMemhold, Memhold
from memhold.testing.clock import FakeClock
from memhold.values.answers import Query, Recall

EVERYTHING = 1000
START = datetime(2025, 1, 1, tzinfo=UTC)
QUESTION = "green tea with the dog in Lisbon"
TEXTS = ("green tea", "the dog in Lisbon", "tea for the dog", "rain in Lisbon", "green", "a dog", "tea, green tea")


async def _told(memhold: AsyncMemhold, count: int = 40) -> list[str]:
    scope, ids = memhold.scope(user="alice", session="s"), []
    for number in range(count):
        text = f"{TEXTS[number % len(TEXTS)]} {number}"
        receipt = await scope.add([{"role": "user", "content": text, "event_time": START + timedelta(days=number)}])
        ids += receipt.ids
    await memhold.settle()
    return ids


@pytest.mark.asyncio
@pytest.mark.parametrize("question", [QUESTION, ""])
async def test_pages_visit_each_once_while_others_write_and_forget(memhold: AsyncMemhold, question: str) -> None:
    ids = await _told(memhold)
    scope = memhold.scope(user="alice", session="s")
    first = await scope.recall(question, limit=EVERYTHING)
    whole = [hit.id for hit in first.hits][: first.total]
    seen: list[str] = []
    page: Recall = await scope.recall(question, limit=4)
    gone = set[str]()
    while True:
        seen += [hit.id for hit in page.hits]
        if page.cursor is None:
            break
        await scope.add([{"role": "user", "content": f"green tea with the dog in Lisbon, again {len(seen)}"}])
        if len(seen) == 8:
            # One that a later page would have had: it must be on none, and none may be lost for it.
            gone = {whole[-1]}
            await scope.forget(whole[-1])
        await memhold.settle()
        page = await scope.recall(question, limit=4, cursor=page.cursor)
    assert len(seen) == len(set(seen))
    assert set(seen) == set(whole) - gone
    assert set(whole) <= set(ids)


_FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "kinds": st.lists(st.sampled_from(["message", "fact", "note"]), max_size=2).map(tuple),
        "roles": st.lists(st.sampled_from(["user", "assistant", "tool"]), max_size=2).map(tuple),
        "states": st.lists(st.sampled_from(["active", "superseded"]), min_size=1, max_size=2).map(tuple),
        "tiers": st.lists(st.sampled_from(["mid", "long"]), max_size=2).map(tuple),
        "session": st.sampled_from(["s1", "s2", "never"]),
        "topics": st.sampled_from([("food",), ("food", "travel"), ("none",)]),
        "metadata": st.sampled_from([{"even": True}, {"even": False}, {"odd": 1}]),
        "since": st.integers(0, 10).map(lambda day: START + timedelta(days=day)),
        "until": st.integers(0, 10).map(lambda day: START + timedelta(days=day)),
    },
)


@pytest.fixture(scope="module")
def filled():
    """A store with messages, notes and facts of all sorts, one fact superseded."""
    clock = FakeClock()
    with Memhold.open("memory://", worker=False, clock=clock) as memhold:
        for name in ("s1", "s2"):
            scope = memhold.scope(user="alice", session=name)
            for day, text in enumerate(TEXTS):
                role = ("user", "assistant")[day % 2]
                at = START + timedelta(days=day)
                message = {"role": role, "content": f"{text} {name}", "event_time": at}
                scope.add([message | {"metadata": {"even": day % 2 == 0}}])
        scope = memhold.scope(user="alice")
        scope.remember("green tea is good", topics=["food"])
        scope.remember("a dog in Lisbon", topics=["travel", "food"], metadata={"even": True})
        for value in ("green tea", "mint tea"):
            scope.remember(attribute="favorite drink", value=value, topics=["food"])
            clock.advance(60)
        memhold.settle()
        yield scope


@given(filters=_FILTERS, more=_FILTERS)
@settings(max_examples=120, deadline=None, derandomize=True)
def test_each_further_filter_only_narrows_and_moves_no_score(filled, filters, more) -> None:
    wide = Query(text=QUESTION, limit=EVERYTHING, **filters)
    # `states` opens past states where it stands first; as a further filter it may only close.
    added = {name: value for name, value in more.items() if name not in filters and name != "states"}
    narrow = replace(wide, **added)
    before = {hit.id: hit.score for hit in filled.recall(wide).hits}
    answer = filled.recall(narrow)
    after = {hit.id: hit.score for hit in answer.hits}
    assert after.items() <= before.items()
    assert answer.total <= len(after)
    pages: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = filled.recall(replace(narrow, limit=3, offset=offset))
        pages += [hit.id for hit in page.hits]
        offset = page.next_offset
    assert pages == [hit.id for hit in answer.hits][: max(answer.total, min(3, len(after)))], "found, or the first page"


@pytest.mark.asyncio
async def test_the_same_text_many_times_is_one_hit_with_the_best_of_its_copies(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    for _ in range(3):
        await scope.add([{"role": "user", "content": "ok, green tea"}] * 50)
    await scope.add([{"role": "user", "content": "black coffee and green tea"}])
    answer = await scope.recall("green tea", limit=1)
    assert answer.total == 2
    second = await scope.recall("green tea", limit=1, offset=1, snapshot=answer.snapshot)
    folded = next(hit for hit in (*answer.hits, *second.hits) if hit.text == "ok, green tea")
    assert len(folded.sources) == 100
    assert folded.id not in folded.sources
