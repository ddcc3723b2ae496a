"""A filter removes hits: it moves no score, and the confidence is that of what it leaves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from memhold.errors import InvalidInput
from memhold.faces.python.open import AsyncMemhold
from memhold.testing.clock import FakeClock
from memhold.values.answers import Query

_RULES = '[models.rules]\nprotocol = "rules"\nmodel = "rules"\nlabel = "rules"\n'


@pytest_asyncio.fixture
async def learning(clock: FakeClock, tmp_path: Path) -> AsyncIterator[AsyncMemhold]:
    """An empty store that consolidates by rules, without a worker."""
    models = tmp_path / "models.toml"
    models.write_text(_RULES, encoding="utf-8")
    chosen = {"consolidation": "rules", "models": str(models)}
    async with AsyncMemhold.open("memory://", worker=False, clock=clock, **chosen) as opened:
        yield opened


async def _learnt(learning: AsyncMemhold, clock: FakeClock, *said: tuple[str, str]) -> None:
    for name, text in said:
        scope = learning.scope(user="alice", session=name)
        await scope.add([{"role": "user", "content": text, "name": name}])
        clock.advance(3600)
    await learning.scope(user="alice").consolidate()


@pytest.mark.asyncio
async def test_what_was_replaced_keeps_its_score_where_a_filter_leaves_out_the_replacement(
    learning: AsyncMemhold, clock: FakeClock
) -> None:
    both = "My favorite tea is oolong. My favorite city is Lisbon."
    await _learnt(learning, clock, ("Ann", both), ("Ann", "tea with the dog"), ("Bob", "My favorite tea is mint."))
    scope = learning.scope(user="alice")
    question = "What is Ann's favorite tea?"
    whole = {hit.id: hit.score for hit in (await scope.recall(question)).hits}
    narrowed = await scope.recall(question, session="Ann", kinds=["message"])
    assert any(hit.outdated for hit in narrowed.hits)
    assert {hit.id: hit.score for hit in narrowed.hits}.items() <= whole.items()


@pytest.mark.asyncio
async def test_that_it_ranks_behind_makes_nobody_doubt_who_said_it(learning: AsyncMemhold, clock: FakeClock) -> None:
    both = "My favorite tea is oolong. My favorite city is Lisbon."
    await _learnt(learning, clock, ("Ann", both), ("Bob", "My favorite tea is mint."))
    await learning.settle()
    answer = await learning.scope(user="alice").recall("What is Ann's favorite tea?", kinds=["message"])
    assert [hit.session for hit in answer.hits] == ["Bob", "Ann"]
    assert (answer.confidence or 0) > 0.5


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "narrow", [{"metadata": {"shelf": 9}}, {"topics": ("none",)}, {"states": ("merged",)}, {"session": "never"}]
)
async def test_where_a_filter_leaves_nothing_there_is_no_confidence(memhold: AsyncMemhold, narrow: Any) -> None:
    scope = memhold.scope(user="alice", session="s")
    await scope.add([{"role": "user", "content": "The red kettle is on the stove."}])
    await memhold.settle()
    assert ((await scope.recall("Where is the red kettle?")).confidence or 0) > 0.5
    answer = await scope.recall("Where is the red kettle?", **narrow)
    assert (answer.hits, answer.total, answer.confidence) == ((), 0, 0.0)


@pytest.mark.asyncio
async def test_the_first_page_is_filled_with_what_a_filter_leaves_that_no_signal_found(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    said = ("My dentist is called Mara.", *(f"Rain number {number} in the garden." for number in range(300)))
    await scope.add([{"role": "user", "content": text, "metadata": {"at": at}} for at, text in enumerate(said)])
    await scope.add([{"role": "user", "content": "Soup for supper.", "metadata": {"rare": True}}])
    await memhold.settle()
    answer = await scope.recall("What is my dentist called?", limit=20)
    assert answer.hits[0].text == said[0]
    assert len(answer.hits) == 20
    assert answer.total < 20
    assert answer.next_offset is None, "pages end with what was found"
    assert answer.cursor is None
    rare = await scope.recall("What is my dentist called?", metadata={"rare": True})
    assert [hit.text for hit in rare.hits] == ["Soup for supper."]
    assert rare.total == 0


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "wrong",
    [
        {"cursor": 5},
        {"snapshot": 5},
        {"snapshot": "n1.t" + "9" * 30},
        {"snapshot": "n" + "9" * 30 + ".t1"},
        {"neighbours": "2"},
        {"since": "2025-01-01"},
    ],
)
async def test_what_is_no_number_time_or_text_is_refused_by_name(memhold: AsyncMemhold, wrong: Any) -> None:
    scope = memhold.scope(user="alice")
    with pytest.raises(InvalidInput):
        await scope.recall(Query(text="tea", **wrong))


@pytest.mark.asyncio
async def test_nothing_is_found_for_being_near_where_a_filter_leaves_nothing_that_a_signal_found(
    memhold: AsyncMemhold,
) -> None:
    near = "She plays music in a band", "The boat leaves at noon", "I cooked soup with beans", "Rent is due on Friday"
    said = [{"role": "user", "content": "My oboe, my dentist, my budget and my lentils", "metadata": {"of": "list"}}]
    scope = memhold.scope(user="alice", session="monday")
    await scope.add(said)
    scope = memhold.scope(user="alice", session="tuesday")
    await scope.add([{"role": "user", "content": text, "metadata": {"of": "talk"}} for text in near])
    await memhold.settle()
    everything = await scope.recall("lentils")
    assert everything.total > 1
    for narrow in ({"session": "tuesday"}, {"metadata": {"of": "talk"}}):
        answer = await scope.recall("lentils", **narrow)
        assert (answer.total, len(answer.hits)) == (0, len(near))
