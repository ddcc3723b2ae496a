"""How sure an answer is: what is known is, what was never told is doubted, and each figure speaks in its direction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.recall.confidence import THRESHOLD, Evidence, Said, confidence, said_of, shortfall
from memhold.recall.sought import holds, sought

EVIDENCE = Evidence(rows=(0,), share=0.6, cosine=0.4, documents=400)
PLAIN = Said(named=None, fits=True)


def test_each_figure_speaks_in_its_direction() -> None:
    sure = confidence(EVIDENCE, PLAIN)
    for better in (replace(EVIDENCE, share=0.9), replace(EVIDENCE, cosine=0.6), replace(EVIDENCE, told=1.0)):
        assert confidence(better, PLAIN) > sure
    assert confidence(replace(EVIDENCE, short=0.2), PLAIN) < sure
    assert (
        confidence(EVIDENCE, Said(named=False, fits=True)) < sure <= confidence(EVIDENCE, Said(named=True, fits=True))
    )
    few = replace(EVIDENCE, documents=6)
    unnamed, plain = (confidence(few, Said(named=named, fits=True)) for named in (False, None))
    assert unnamed < 0.7 * plain, "of a few things all were looked at"
    some = replace(EVIDENCE, share=0.35, cosine=0.25, documents=120)
    assert confidence(some, Said(named=False, fits=True)) < THRESHOLD < confidence(some, PLAIN), "and of a hundred too"
    assert confidence(EVIDENCE, Said(named=None, fits=False)) < sure
    assert confidence(replace(EVIDENCE, rows=()), PLAIN) == 0
    assert (shortfall(0.0, 0.0), shortfall(0.0, 1.0), shortfall(1.0, 1.0), shortfall(0.5, 1.0)) == (0, 1, 0, 0.5)


@pytest.mark.parametrize(
    ("question", "kind", "has", "lacks"),
    [
        ("How much did the bike fit cost me?", "money", "It came to 140 pounds.", "The saddle is at 73.8 now."),
        ("Wie viele Kinder habe ich?", "number", "Ich habe zwei Kinder.", "Die Kinder schlafen."),
        ("When is the baby shower?", "time", "It is on Sunday.", "It will be at her place."),
        ("What is my dentist called?", "name", "I go to Mara for that.", "My dentist is nice."),
        ("¿Cuándo nos mudamos?", "time", "El lunes.", "Con mi hermana."),
        ("내 월세가 얼마였지?", "money", "월세는 45만 원이에요.", "월세가 올랐어요."),
        ("What is the rent on the flat?", "money", "We pay 900 a month.", "It has 3 rooms."),
        ("¿Cuánto me costó el arreglo?", "money", "Fueron 120 euros.", "Tardó 3 días."),
        ("How many metres is the fence?", "number", "It is 40 m long.", "It took 3 weeks."),
        ("How many guests are coming?", "number", "There will be 12.", "It costs 300 euros."),
        ("What colour is the new car?", "colour", "It is dark green.", "It is fast."),
        ("Welche Farbe hat das Rad?", "colour", "Es ist blau.", "Es ist neu."),
        ("무슨 색으로 칠했어?", "colour", "회색으로 칠했어요.", "거실을 칠했어요."),
    ],
)
def test_the_kind_of_thing_that_is_asked_for_is_looked_for(question: str, kind: str, has: str, lacks: str) -> None:
    found = sought(question)
    assert found == kind
    assert holds(has, found, question)
    assert not holds(lacks, found, question)


def test_a_question_that_asks_for_anything_fits_every_text() -> None:
    assert sought("What do I like to eat?") is None
    assert said_of("What do I do in the evening?", ["I knit."], dated=False).fits
    assert said_of("I slept badly again. How many pills may I take?", ["I knit."], dated=False).fits, "of several"
    assert not holds("We bought the Brompton.", "name", "Who sold us the Brompton?"), (
        "the question has that name itself"
    )


def test_what_is_asked_for_is_named_by_its_words_or_by_the_way_people_tell_of_it() -> None:
    asked = "What is the rent on the new flat?"
    assert said_of(asked, ["The rent went up."], dated=False).named
    assert said_of(asked, ["The painters have overrun at the flat."], dated=False).named is False
    assert said_of("Where do I live?", ["I moved to Busan, that is where I live now."], dated=False).named
    assert said_of("What did Ann say of it?", ["Nothing."], dated=False).named is None, (
        "nothing that has a name is asked for"
    )


@pytest.mark.asyncio
async def test_the_only_thing_that_was_told_is_no_answer_to_everything(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    await scope.remember("Likes tea")
    await memhold.settle()
    assert ((await scope.recall("zeppelin")).confidence or 0) < THRESHOLD
    assert ((await scope.recall("Which tea does she like?")).confidence or 0) > THRESHOLD


def test_what_is_asked_for_stands_in_one_sentence_and_a_message_has_its_own_time() -> None:
    apart = ["The flat costs us nerves. We waited 40 days for the keys."]
    assert not said_of("How much does the flat cost?", apart, dated=True).fits
    assert said_of("How much does the flat cost?", ["We pay 900 for it."], dated=True).fits
    assert said_of("When did we move?", ["We have moved!"], dated=True).fits
    assert not said_of("When did we move?", ["We have moved!"], dated=False).fits


@pytest.mark.asyncio
async def test_a_number_of_something_else_is_no_answer(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    turns = (
        "The bike fit was on Tuesday, the saddle is at 73.8 now.",
        "I paid 140 pounds for the new wheels.",
        "My sister visits us in May.",
        "The knee is fine again.",
    )
    await scope.add([{"role": "user", "content": text} for text in turns])
    await memhold.settle()
    told = (await scope.recall("How much were the new wheels?")).confidence or 0
    untold = (await scope.recall("What colour is the saddle of the bike?")).confidence or 0
    assert told > THRESHOLD > untold


@pytest.mark.asyncio
async def test_a_known_fact_stands_first_and_is_sure_and_what_was_never_told_is_not(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    await scope.remember(attribute="home", value="Oslo", subject="user")
    await scope.remember(attribute="favorite food", value="ramen", subject="user")
    turns = (
        ("user", "I just bought a new kettle."),
        ("assistant", "Nice! How do you like it?"),
        ("user", "It's fine. My sister Ada is visiting on Friday."),
        ("assistant", "What would you like to do with her?"),
    )
    await scope.add([{"role": role, "content": text} for role, text in turns])
    await memhold.settle()
    for question, value in {
        "Where do I live?": "Oslo",
        "어디 살아?": "Oslo",
        "wo wohne ich": "Oslo",
        "What do I like to eat?": "ramen",
        "was esse ich am liebsten": "ramen",
    }.items():
        answer = await scope.recall(question)
        assert answer.hits[0].value == value, question
        assert (answer.confidence or 0) > 0.75, question
    for question in ("What do I do for a living?", "How tall am I?", "What is my blood type?"):
        assert ((await scope.recall(question)).confidence or 0) < THRESHOLD, question


@pytest.mark.asyncio
async def test_a_fact_that_is_asked_for_is_found_among_many(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    await scope.remember(attribute="address", value="Busan Haeundae", subject="user")
    for number in range(80):
        await scope.remember(attribute=f"shelf {number}", value="where do we live, a novel", subject="user")
    [found] = [hit for hit in (await scope.recall("Where do I live?", limit=100)).hits if hit.attribute == "address"]
    assert "key" in {reason.signal for reason in found.why}, "more facts than are read say the question's words"


@pytest.mark.asyncio
async def test_function_words_of_an_attribute_are_no_evidence(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    await scope.remember(attribute="hours for the game", value="7", subject="user")
    answer = await scope.recall("who does the tiles for me")
    assert "key" not in {reason.signal for hit in answer.hits for reason in hit.why}


@pytest.mark.asyncio
async def test_a_later_page_is_as_sure_as_the_first(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    await scope.add([{"role": "user", "content": f"My kettle number {number} is red."} for number in range(12)])
    await memhold.settle()
    first = await scope.recall("Which of my kettles is red?", limit=4)
    later = await scope.recall("Which of my kettles is red?", limit=4, cursor=first.cursor)
    assert later.confidence == first.confidence == (await scope.recall("Which of my kettles is red?")).confidence
