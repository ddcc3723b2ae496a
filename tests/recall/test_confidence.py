"""How sure an answer is: what is known is, what was never told is doubted, and each figure speaks in its direction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.recall.confidence import THRESHOLD, Evidence, Said, confidence, said_of, shortfall
from memhold.text.sought import holds, sought

EVIDENCE = Evidence(rows=(0,), share=0.6, cosine=0.4, documents=400)
PLAIN = Said(named=None, fits=True)


def test_each_figure_speaks_in_its_direction() -> None:
    sure = confidence(EVIDENCE, PLAIN)
    for better in (replace(EVIDENCE, share=0.9), replace(EVIDENCE, cosine=0.6), replace(EVIDENCE, told=1.0)):
        assert confidence(better, PLAIN) > sure
    assert confidence(replace(EVIDENCE, short=0.2), PLAIN) < sure
    said = [Said(named=False, fits=True), PLAIN, Said(named=True, fits=True)]
    told = [confidence(EVIDENCE, one) for one in said]
    assert told == sorted(told)
    assert confidence(EVIDENCE, Said(named=None, fits=False)) < sure
    assert confidence(replace(EVIDENCE, rows=()), PLAIN) == 0
    assert (shortfall(0.0, 0.0), shortfall(0.0, 1.0), shortfall(1.0, 1.0), shortfall(0.5, 1.0)) == (0, 1, 0, 0.5)


@pytest.mark.parametrize(
    ("question", "kind", "has", "lacks"),
    [
        ("How much did the bike fit cost me?", "number", "It came to 140 pounds.", "The fit was fine."),
        ("Wie viele Kinder habe ich?", "number", "Ich habe zwei Kinder.", "Die Kinder schlafen."),
        ("When is the baby shower?", "time", "It is on Sunday.", "It will be at her place."),
        ("What is my dentist called?", "name", "I go to Mara for that.", "My dentist is nice."),
        ("¿Cuándo nos mudamos?", "time", "El lunes.", "Con mi hermana."),
        ("내 월세가 얼마였지?", "number", "월세는 45만 원이에요.", "월세가 올랐어요."),
    ],
)
def test_the_kind_of_thing_that_is_asked_for_is_looked_for(question: str, kind: str, has: str, lacks: str) -> None:
    found = sought(question)
    assert found == kind
    assert holds(has, found, question)
    assert not holds(lacks, found, question)


def test_a_question_that_asks_for_anything_fits_every_text() -> None:
    assert sought("What do I like to eat?") is None
    assert said_of("What do I do in the evening?", ["I knit."], ["I knit."]).fits
    assert not holds("We bought the Brompton.", "name", "Who sold us the Brompton?"), (
        "the question has that name itself"
    )


def test_what_is_asked_for_is_named_by_its_words_or_by_the_way_people_tell_of_it() -> None:
    asked = "What is the rent on the new flat?"
    assert said_of(asked, ["The rent went up."], []).named
    assert said_of(asked, ["The painters have overrun at the flat."], []).named is False
    assert said_of("Where do I live?", ["I moved to Busan, that is where I live now."], []).named
    assert said_of("What did Ann say of it?", ["Nothing."], []).named is None, "nothing that has a name is asked for"


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
    for number in range(40):
        await scope.remember(attribute=f"shelf {number}", value="where do we live, a novel", subject="user")
    answer = await scope.recall("Where do I live?", limit=3)
    assert answer.hits[0].value == "Busan Haeundae"


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
