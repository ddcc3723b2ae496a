"""What the user told of a change stands above what it may have changed, where the question asks how it is now."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.index.documents import CHANGED, SHORT, tells_of_change
from memhold.text.change import asks_past
from memhold.values.records import Message, Passage, WrittenBy

SAID_AT = datetime(2026, 5, 1, tzinfo=UTC)

# ruff: noqa: RUF001 - signs of every script

OLD = "I live in Leeds."
NEW = "We moved to Hull, and I live in a house there."
NEW_HOUSE = "We moved again, and I live in a house with a garden."
ON = " and then we went on and on about the weather" * 4


@pytest.mark.parametrize(
    ("writer", "text", "times"),
    [
        ("user", "We moved to Hull.", 2),
        ("user", "We live in Hull.", 0),
        ("assistant", "You moved to Hull.", 0),
        ("tool", "moved", 0),
        ("user", "We moved to Hull." + " It rains a lot here." * SHORT, 1),
        ("user", "이제 부산에 살아요", 2),
        ("user", "Busy week. We moved to Leeds. How are you?" + ON, 2),
        ("user", "We moved to Leeds" + ON, 1),
        ("user", "```\nthe cache moved to redis\n```", 1),
        # A plan is no news of how it is.
        ("user", "I'm moving to Bergen next spring, maybe", 0),
        ("user", "We'll be moving in May.", 0),
        ("user", "She is moving to Cottbus in September.", 2),
        ("user", "We moved to Hull, and next month I'm changing jobs.", 2),
    ],
)
def test_a_word_of_change_of_the_user_is_marked(writer: WrittenBy, text: str, times: int) -> None:
    message = Message(
        id="msg_1",
        number=1,
        session="s",
        seq=1,
        role="user",
        body={"role": "user", "content": text},
        shape="openai",
        text=text,
        event_time=SAID_AT,
        recorded_at=SAID_AT,
        change_id="chg_1",
        passages=(Passage(start=0, end=len(text), written_by=writer),),
    )
    assert tells_of_change(message, text) == ({CHANGED: times} if times else {})


@pytest.mark.parametrize(
    ("question", "past"),
    [
        ("Where do I live?", False),
        ("Where did I live before?", True),
        ("What was my first job?", True),
        ("Where do I live now?", False),
        ("Wo habe ich früher gewohnt?", True),
        ("원래 어디 살았지?", True),
    ],
)
def test_a_question_for_what_was_before_is_known(question: str, past: bool) -> None:  # noqa: FBT001 - a case
    assert asks_past(question) is past


RAIN = (
    "It rained today: cards, comics, bread, bicycle repair, photo albums, soup, naps, puzzles, tea, chess, early night."
)
"""Told before a question: a text of so many words goes on with a conversation."""


async def _told(memhold: AsyncMemhold, *said: tuple[str, str]) -> list[str]:
    """Tell messages, each in a session of its own; their ids."""
    ids: list[str] = []
    for place, (role, text) in enumerate(said):
        receipt = await memhold.scope(user="ann", session=f"s{place}").add([{"role": role, "content": text}])
        ids += receipt.ids
    return ids


@pytest.mark.asyncio
async def test_the_newer_stands_above_the_older(memhold: AsyncMemhold) -> None:
    old, new, _ = await _told(memhold, ("user", OLD), ("user", NEW), ("user", "My sister plays chess."))
    scope = memhold.scope(user="ann")
    assert [hit.id for hit in (await scope.recall("Where do I live?")).hits[:2]] == [new, old]
    before = await scope.recall("Where did I live before?")
    assert [hit.id for hit in before.hits[:2]] == [old, new]


@pytest.mark.asyncio
async def test_nothing_is_lifted_where_somebody_tells_and_then_asks(memhold: AsyncMemhold) -> None:
    old, new = await _told(memhold, ("user", OLD), ("user", NEW_HOUSE))
    scope = memhold.scope(user="ann")
    # By the words alone the older one is first; only the lift puts the newer above it.
    assert (await scope.recall("Where do I live?", signals=("words",))).hits[0].id == new
    assert (await scope.recall(f"{RAIN} Where do I live?", signals=("words",))).hits[0].id == old


@pytest.mark.asyncio
async def test_a_change_is_preferred_where_a_question_stands_alone(memhold: AsyncMemhold) -> None:
    await _told(memhold, ("user", OLD), ("user", NEW))
    scope = memhold.scope(user="ann")

    async def signals(question: str) -> set[str]:
        return {one.signal for hit in (await scope.recall(question)).hits for one in hit.why}

    assert "change" in await signals("Where do I live?")
    assert "change" not in await signals(f"{RAIN} Where do I live?"), "it says what holds now"
    assert "change" in await signals("It rained today. Where do I live?"), "a short question of two sentences is one"


@pytest.mark.asyncio
async def test_what_the_assistant_says_of_a_change_lifts_nothing(memhold: AsyncMemhold) -> None:
    old, _ = await _told(memhold, ("user", OLD), ("assistant", NEW))
    assert (await memhold.scope(user="ann").recall("Where do I live?")).hits[0].id == old


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "other",
    [
        "We changed our bank, and the demo was late.",
        "We moved the desk. The demo of the puzzle game comes out some day." + ON * 2,
    ],
    ids=["of something else", "one in a long message"],
)
async def test_a_change_that_only_shares_a_word_is_not_put_above_the_answer(memhold: AsyncMemhold, other: str) -> None:
    answer, _, _, later = await _told(
        memhold,
        ("user", "The demo of my puzzle game comes out on 12 June."),
        ("user", "The demo of my puzzle game is for my niece."),
        ("user", other),
        ("user", "I changed my mind, the demo of the puzzle game comes out on 3 July."),
    )
    scope = memhold.scope(user="ann")
    asked = "When does the demo of my puzzle game come out?"
    assert [hit.id for hit in (await scope.recall(asked)).hits[:2]] == [later, answer]
    await scope.forget(later)
    assert (await scope.recall(asked)).hits[0].id == answer


@pytest.mark.asyncio
async def test_an_older_change_is_not_lifted_over_what_came_later(memhold: AsyncMemhold) -> None:
    _, later = await _told(memhold, ("user", NEW), ("user", OLD))
    # Both are about the same; the later one says where it ended.
    answer = await memhold.scope(user="ann").recall("Where do I live?", signals=("words",))
    assert answer.hits[0].id == later


@pytest.mark.asyncio
async def test_pages_hold_each_hit_once_also_where_one_was_lifted(memhold: AsyncMemhold) -> None:
    ids = await _told(memhold, ("user", OLD), ("user", NEW), *(("user", f"I live for tea, cup {n}.") for n in range(6)))
    scope, shown, cursor = memhold.scope(user="ann"), [], None
    while True:
        page = await scope.recall("Where do I live?", limit=3, cursor=cursor)
        shown += [hit.id for hit in page.hits]
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(shown) == sorted(ids)
    assert shown.index(ids[1]) < shown.index(ids[0])


@pytest.mark.asyncio
async def test_what_only_stands_beside_the_words_is_not_lifted(memhold: AsyncMemhold) -> None:
    texts = ("My sister has a dog called Rex.", "The car has new tyres.")
    await memhold.scope(user="ann", session="s").add([{"role": "user", "content": text} for text in texts])
    assert (await memhold.scope(user="ann").recall("sister's dog")).hits[0].text == texts[0]


@pytest.mark.asyncio
async def test_a_change_of_something_else_is_no_answer(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    told = (
        "Our beagle chewed through another cable last night.",
        "The rent has gone up to 1,150 euros now.",
        "We have moved the sofa to the other wall.",
        "Saturday is my long run along the river.",
    )
    for text in told:
        await scope.add([{"role": "user", "content": text}])
    await memhold.settle()
    # No word of these questions stands anywhere, so no change that was told is of what they ask for.
    answer = await scope.recall("Do you know any dogs?")
    assert answer.hits[0].text == told[0]
    [sofa] = [hit for hit in answer.hits if hit.text == told[2]]
    assert {reason.signal: reason.score for reason in sofa.why}.get("change", 0.0) < 1
    assert not [hit for hit in (await scope.recall("Which sport?")).hits if "change" in {one.signal for one in hit.why}]


@pytest.mark.asyncio
async def test_a_plan_stands_behind_what_came_about(memhold: AsyncMemhold) -> None:
    moved, plan = await _told(
        memhold, ("user", "I moved to Ghent last month."), ("user", "I'm moving to Bergen next spring, maybe.")
    )
    answer = await memhold.scope(user="ann").recall("Where do I live?", signals=("words", "role", "change"))
    assert [hit.id for hit in answer.hits] == [moved, plan]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (
            "I pay 950 a month in rent for the flat.",
            "Rent went up to 1020 as of this month.",
            "How much rent do I pay?",
        ),
        ("我女儿在学钢琴。", "她不学钢琴了，现在学画画。", "我女儿在学什么？"),
    ],
    ids=["English", "Chinese"],
)
async def test_of_all_that_came_later_what_answers_best_stands_above(
    memhold: AsyncMemhold, old: str, new: str, question: str
) -> None:
    _, later, *_ = await _told(
        memhold,
        ("user", old),
        ("user", new),
        ("user", "It rained all weekend."),
        ("user", "I saw a film about whales."),
    )
    await memhold.settle()
    assert (await memhold.scope(user="ann").recall(question)).hits[0].id == later
