"""What single signals prefer: answers over questions, the speaker over the name, a time only where it is asked about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.recall import half_of, sureness
from memhold.faces.python.open import AsyncMemhold
from memhold.faces.ui.demo_memory import DEMO_USER, put_demo
from memhold.index.documents import ASKING, asks
from memhold.recall.confidence import THRESHOLD
from memhold.recall.fusion import SIGNALS
from memhold.recall.signals import ASKS, REPLIES, STATES, understood
from memhold.values.answers import Query, Recall
from memhold.values.records import Scope

NOW = datetime(2026, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("Shall we?", 3),
        ("Really?! 😀", 2),
        ('He said "why?"', 3),
        ("¿Dónde vives?", 3),
        ("あなたは誰ですか？", 3),  # noqa: RUF001 - the mark that Japanese writes
        ("أين تسكن؟", 3),
        ("What is this?\n[image: a red house]", 3),
        ("I moved to Lisbon. How is the weather?", 2),
        ("Why? I never knew.", 1),
        ("I live here.", 0),
        ("", 0),
        ("[image: why not?] all good", 1),
    ],
)
def test_what_asks_is_told_by_its_question_mark(text: str, times: int) -> None:
    assert asks(text) == ({ASKING: times} if times else {})


def test_a_text_of_brackets_alone_ends() -> None:
    assert asks("?" + "[]" * 50_000) == {ASKING: 3}


def _part(answer: Recall, text: str, signal: str) -> float:
    [hit] = [hit for hit in answer.hits if hit.text.endswith(text)]
    return next((reason.score for reason in hit.why if reason.signal == signal), 0.0)


@pytest.mark.asyncio
async def test_an_answer_stands_before_the_question_that_has_the_words(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    told = ("I had a long day.", "Which instrument do you play?", "I play the cello.", "Nice, do you play it often?")
    for place, text in enumerate(told):
        role, name = ("assistant", "Bea") if place % 2 else ("user", "Ann")
        await scope.add([{"role": role, "name": name, "content": text}])
    answer = await scope.recall("What does she play?")
    assert answer.hits[0].text == "Ann: I play the cello."
    assert _part(answer, told[1], "reply") == pytest.approx(STATES - ASKS)
    assert _part(answer, told[2], "reply") == pytest.approx(STATES + REPLIES)


@pytest.mark.asyncio
async def test_what_stood_behind_a_forgotten_turn_answers_nothing(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    texts = ("Do you play?", "I was out.", "I play the cello.")
    receipt = await scope.add([_said("Ann", text) for text in texts])
    assert _part(await scope.recall("was out"), "out.", "reply") == pytest.approx(STATES + REPLIES)
    await scope.forget(receipt.ids[1])
    assert _part(await scope.recall("cello"), "cello.", "reply") == pytest.approx(STATES)


@pytest.mark.asyncio
async def test_a_session_begins_with_no_answer(memhold: AsyncMemhold) -> None:
    await memhold.scope(user="alice", session="one").add([_said("Ann", "Do you play?")])
    await memhold.scope(user="alice", session="two").add([_said("Bea", "I play the cello.")])
    answer = await memhold.scope(user="alice").recall("cello")
    assert _part(answer, "cello.", "reply") == pytest.approx(STATES)


@pytest.mark.asyncio
async def test_the_users_words_are_preferred_and_where_the_assistants_are_asked_for_those(
    memhold: AsyncMemhold,
) -> None:
    scope = memhold.scope(user="alice", session="s")
    for role in ("user", "assistant"):
        await scope.add([{"role": role, "content": f"{role}: the blue tent for the mountain trip"}])
    assert (await scope.recall("Which tent do I take to the mountain?")).hits[0].role == "user"
    assert (await scope.recall("Which tent did you suggest for the mountain?")).hits[0].role == "assistant"
    assert (await scope.recall("Which tent, mountain trip")).hits[0].role == "user", "asked plainly"
    assert {hit.role for hit in (await scope.recall("my tent")).hits} == {"user", "assistant"}, "softly"


@pytest.mark.asyncio
async def test_an_answer_to_a_question_counts_only_where_people_with_names_talk(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    await scope.add([{"role": "user", "content": "Do you know tea?"}, {"role": "assistant", "content": "Tea, yes."}])
    answer = await scope.recall("tea")
    assert "reply" not in {reason.signal for hit in answer.hits for reason in hit.why}


@pytest.mark.asyncio
async def test_words_count_as_far_as_they_say_what_is_asked(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    told = (
        "The twins start nursery on Monday, name labels are to be sewn in.",
        "We keep some money tucked away for a rainy day.",
        "The dishwasher flooded half the kitchen.",
    )
    for text in told:
        await scope.add([{"role": "user", "content": text}])
    await memhold.settle()
    # "day" is all that any of them shares with this question, and it does not say what is meant.
    answer = await scope.recall("When is the first day of daycare for my toddlers?")
    assert answer.hits[0].text == told[0]
    assert 0 < _part(answer, told[1], "words") < 0.5
    whole = await scope.recall("rainy day money")
    assert whole.hits[0].text == told[1]
    assert _part(whole, told[1], "words") == 1
    # Where nothing else is asked what is meant, words are all there is.
    alone = await scope.recall(
        Query(text="When is the first day of daycare for my toddlers?", signals=("words", "role"))
    )
    assert _part(alone, told[1], "words") == 1
    # Function words are all that such a question has.
    assert _part(await scope.recall("where is the"), told[2], "words") > 0


@pytest.mark.asyncio
async def test_of_several_long_sentences_words_count_whole_and_the_mean_of_them_less(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    told = "We keep some money tucked away for a rainy day."
    await scope.add([{"role": "user", "content": told}])
    await scope.add([{"role": "user", "content": "The dishwasher flooded half the kitchen."}])
    await memhold.settle()
    asked = "When is the first day of daycare for my toddlers?"
    alone = await scope.recall(asked, explain=True)
    brief = await scope.recall(f"They were so tired of us yesterday. {asked}", explain=True)
    assert 0 < _part(brief, told, "words") < 1, "a short question of two sentences is one question"
    more = "They were so tired of us yesterday, after breakfast, naps, swings, slides, puddles, ducks, two ice creams and a long walk home through the park."
    answer = await scope.recall(f"{more} {asked}", explain=True)
    assert _part(answer, told, "words") == 1
    assert alone.account is not None
    assert answer.account is not None
    first, second = (
        {name: found["weight"] for name, found in each.account["signals"].items()} for each in (alone, answer)
    )
    assert second["meaning"] < first["meaning"]
    assert second["words"] == first["words"]


def _said(name: str, text: str) -> dict[str, str]:
    return {"role": "user", "name": name, "content": text}


@pytest.mark.asyncio
async def test_a_name_counts_for_who_speaks_more_than_for_who_is_spoken_to(memhold: AsyncMemhold) -> None:
    for session, said in {
        "one": _said("Ann", "The marathon went well for me and my knee."),
        "two": _said("Bea", "Thank you Ann, dear Ann!"),
        "three": _said("Bea", "The weather was grey all week."),
        "four": _said("Bea", "I cooked a large pot of soup."),
    }.items():
        await memhold.scope(user="alice", session=session).add([said])
    answer = await memhold.scope(user="alice").recall("How was the marathon of Ann?")
    assert _part(answer, "my knee.", "words") == 1
    assert 0 < _part(answer, "dear Ann!", "words") < 0.35
    alone = await memhold.scope(user="alice").recall("What about Ann?")
    assert _part(alone, "dear Ann!", "words") > 0.5, "where a question has no other word, the name is one"


@pytest.mark.asyncio
async def test_what_another_said_is_no_sure_answer(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    for turn in (
        _said("Ann", "I adopted a greyhound called Pepper last spring."),
        _said("Bea", "How lovely! I have been busy with the garden."),
        _said("Ann", "The garden sounds nice."),
    ):
        await scope.add([turn])
    await memhold.settle()
    hers = (await scope.recall("What is the greyhound that Ann adopted called?")).confidence
    another = (await scope.recall("What is the greyhound that Bea adopted called?")).confidence
    assert hers is not None
    assert another is not None
    assert another < THRESHOLD < hers
    await scope.remember(subject="Bea", attribute="adopted greyhound name", value="Pepper")
    await memhold.settle()
    learnt = (await scope.recall("What is the greyhound that Bea adopted called?")).confidence
    assert learnt is not None
    assert learnt > another, "a memory is nobody's words"


def test_a_time_counts_where_it_is_asked_about() -> None:
    assert [one.text for one in understood("What did she say last week?", NOW).times] == ["last week"]
    told = understood("I slept badly last night. What did she say last week?", NOW)
    assert [one.text for one in told.times] == ["last week"]
    assert not understood("I slept badly last night. What did she say?", NOW).times
    assert understood("I slept badly last night. Tell me more.", NOW).times, "where nothing asks, all of it counts"


def test_a_half_is_the_same_for_a_name_and_both_are_there() -> None:
    names = [f"conversation-{number}" for number in range(40)]
    halves = [half_of(name) for name in names]
    assert halves == [half_of(name) for name in names]
    assert set(halves) == {"first", "second"}


def test_calibration_is_zero_where_confidence_is_the_share() -> None:
    even = sureness({"answerable": [0.75] * 3, "strangers": [0.75]})
    assert even == {"answerable_below": 0.0, "strangers_below": 0.0, "ece": 0.0}
    assert sureness({"answerable": [0.1], "strangers": [0.9]})["ece"] == 0.9


async def test_naming_all_signals_is_naming_none_and_without_meaning_is_without_an_embedding(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    async with AsyncMemhold.open(path, worker=False) as memhold:
        await put_demo(memhold, Scope())
        await memhold.settle(30)
    async with AsyncMemhold.open(path, worker=False) as full, AsyncMemhold.open(path, embedding="none") as bare:
        for text in ("where does she live", "what is her favorite food", "tea"):
            asked = Query(text=text, explain=True, browse=True)
            whole = await full.scope(user=DEMO_USER).recall(asked)
            named = tuple(name for name in (whole.account or {})["signals"] if name in SIGNALS)
            again = await full.scope(user=DEMO_USER).recall(replace(asked, signals=named))
            assert (again.total, again.hits) == (whole.total, whole.hits)
            left = tuple(name for name in named if name not in {"meaning", "surroundings"})
            without = await full.scope(user=DEMO_USER).recall(replace(asked, signals=left))
            other = await bare.scope(user=DEMO_USER).recall(asked)
            assert [(hit.id, hit.score) for hit in without.hits] == [(hit.id, hit.score) for hit in other.hits]
            assert without.total == other.total


@pytest.mark.asyncio
async def test_what_one_told_of_oneself_is_preferred_where_advice_is_asked_for(memhold: AsyncMemhold) -> None:
    wish = "I follow a strict vegan diet."
    others = ("Where is the manual of my boiler?", "List three captivating titles for a podcast.")
    for place, text in enumerate((wish, *others)):
        await memhold.scope(user="alice", session=f"s{place}").add([{"role": "user", "content": text}])
    await memhold.settle()
    scope = memhold.scope(user="alice")
    answer = await scope.recall("I'm visiting Spain soon. Which dishes would you recommend?")
    assert answer.hits[0].text == wish
    assert [_part(answer, text, "advice") for text in (wish, *others)] == [1, 0, 0]
    plain = await scope.recall("Which titles did the podcast have?")
    assert _part(plain, wish, "advice") == 0, "no advice is asked for"


@pytest.mark.asyncio
async def test_order_words_ask_for_the_last_or_the_first_of_what_matches(memhold: AsyncMemhold) -> None:
    trips = ("Back from our trip to Ghent.", "Weekend trip to Leipzig with Tom.", "Home from the trip to Riga.")
    for place, text in enumerate((*trips, "The boiler was repaired.")):
        at = datetime(2025, 1, 1 + place, tzinfo=UTC)
        message = {"role": "user", "content": text, "event_time": at}
        await memhold.scope(user="alice", session=f"s{place}").add([message])
    await memhold.settle()
    scope = memhold.scope(user="alice")
    last = await scope.recall("What was my latest trip?")
    assert last.hits[0].text == trips[2]
    assert _part(last, "boiler was repaired.", "order") == 0, "it is no trip"
    assert (await scope.recall("Where did the first trip go?")).hits[0].text == trips[0]
    advised = await scope.recall("Which trip should I take first?")
    assert _part(advised, trips[0], "order") == 0, "the order is of what is to come"
