"""The conversation is part of the question: "it" is what was talked about, and a question that stands alone stays so."""

from __future__ import annotations

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.recall.conversation import MOST_CHARS, TURNS, carried, last_turns, points_back
from memhold.values.errors import InvalidInput, InvalidMessage

SECRET = b"s" * 32
TOLD = (
    "The cello was built in Cremona by an old master.",
    "My bicycle was built in Ulm by two brothers.",
    "I cook rice on Sundays.",
)


@pytest.mark.parametrize(
    ("question", "back"),
    [
        ("where was it built?", True),
        ("what did he say about the visa?", True),
        ("and what is that?", True),
        ("was it?", True),
        ("what about the second one?", True),
        ("그건 어디서 샀지?", True),
        ("那个在哪里?", True),
        ("where was my cello built?", False),
        ("which book that I read was the best?", False),
        ("", False),
    ],
)
def test_a_question_that_points_back_is_known(question: str, back: bool) -> None:  # noqa: FBT001 - a case
    assert points_back(question) is back


def test_what_stands_alone_takes_no_words_along() -> None:
    assert carried("where was my cello built?", ("user: I love my bicycle",)) == ()
    assert [word.word for word in carried("where is it?", ("user: I love my bicycle", "assistant: Oh nice"))] == [
        "love",
        "bicycle",
    ]


def test_only_the_last_turns_are_looked_at() -> None:
    turns = last_turns([{"role": "user", "content": f"turn {n} " + "x" * 5000} for n in range(10_000)], SECRET)
    assert len(turns) == TURNS
    assert all(len(turn) == MOST_CHARS + len("user: ") for turn in turns)
    assert last_turns({"role": "user", "content": "alone"}, SECRET) == ("user: alone",)
    assert last_turns(None, SECRET) == ()


@pytest.mark.asyncio
async def test_it_is_what_was_talked_about(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="ann", session="s")
    for text in TOLD:
        await scope.add([{"role": "user", "content": text}])
    for subject, told in (("cello", TOLD[0]), ("bicycle", TOLD[1])):
        talk = [
            {"role": "user", "content": f"Tell me something of my {subject}"},
            {"role": "assistant", "content": "Sure."},
        ]
        answer = await scope.recall("where was it built?", messages=talk)
        assert answer.hits[0].text == told
    alone = await scope.recall("where was my cello built?")
    with_talk = await scope.recall("where was my cello built?", messages=[{"role": "user", "content": "My bicycle!"}])
    assert [(hit.id, hit.score) for hit in alone.hits] == [(hit.id, hit.score) for hit in with_talk.hits]


@pytest.mark.asyncio
async def test_a_context_asks_with_the_talk_before(memhold: AsyncMemhold) -> None:
    told = memhold.scope(user="ann", session="old")
    for text in TOLD:
        await told.add([{"role": "user", "content": text + " The weather was fine." * 40}])
    scope = memhold.scope(user="ann", session="new")
    for subject, wanted in (("cello", TOLD[0]), ("bicycle", TOLD[1])):
        talk = [
            {"role": "user", "content": f"Tell me something of my {subject}"},
            {"role": "assistant", "content": "Sure."},
            {"role": "user", "content": "where was it built?"},
        ]
        context = await scope.context(talk, budget=200)  # room for one of them
        assert wanted in context.as_text()


@pytest.mark.asyncio
@pytest.mark.parametrize("messages", ["text", 5, [5], [{"role": "user"}], [{"content": "no role"}]])
async def test_what_is_no_conversation_is_refused(memhold: AsyncMemhold, messages: object) -> None:
    with pytest.raises((InvalidInput, InvalidMessage)):
        await memhold.scope(user="ann").recall("it", messages=messages)


@pytest.mark.asyncio
async def test_a_cursor_is_of_the_question_with_its_talk(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="ann", session="s")
    await scope.add([{"role": "user", "content": text} for text in TOLD])
    talk = [{"role": "user", "content": "my cello"}]
    page = await scope.recall("where was it built?", messages=talk, limit=1)
    assert page.cursor is not None
    await scope.recall("where was it built?", messages=talk, limit=1, cursor=page.cursor)
    with pytest.raises(InvalidInput):
        await scope.recall("where was it built?", limit=1, cursor=page.cursor)
