"""Facts are found by what they are: a question that names no key asks for the concept all the same."""

from __future__ import annotations

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.facts.asked import _BEINGS, _NAMES, _asks, _kinds_of_beings, asked_concepts
from memhold.facts.keys.lexicon import LANGUAGES, lexicon
from memhold.facts.keys.text import lex


@pytest.mark.parametrize(
    ("question", "concept"),
    [
        ("Where do I live?", "residence"),
        ("where do i live", "address"),
        ("What do I do for a living?", "job"),
        ("Wo wohne ich?", "residence"),
        ("Où est-ce que j'habite ?", "residence"),
        ("Où est-ce que j’habite ?", "residence"),  # noqa: RUF001 - as phones write it
        ("¿Dónde vivo?", "residence"),
        ("나 어디 살아?", "residence"),
        ("私はどこに住んでいますか", "residence"),
        ("我住在哪里？", "residence"),  # noqa: RUF001 - the mark that Chinese writes
        ("Где я живу?", "residence"),
        ("Posso comer pão?", "allergy"),
        ("What is my sister called?", "sister"),
    ],
)
def test_a_question_asks_for_a_concept_in_the_words_of_its_language(question: str, concept: str) -> None:
    assert concept in asked_concepts(question)


@pytest.mark.parametrize("question", ["", "?", "What is the weather like?", "the", "Please write a poem about rust."])
def test_what_asks_for_nothing_of_a_profile_has_no_concept_of_a_home_or_a_job(question: str) -> None:
    assert not asked_concepts(question) & {"residence", "job", "thé", "spouse", "allergy"}


@pytest.mark.asyncio
async def test_the_fact_that_is_asked_for_stands_first_though_it_shares_no_word() -> None:
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as opened:
        scope = opened.scope(user="alice")
        for attribute, value in (("address", "Busan Haeundae"), ("job", "potter"), ("cat", "Miso"), ("tea", "oolong")):
            await scope.remember(attribute=attribute, value=value)
        assert (await scope.recall("Where do I live?")).hits[0].value == "Busan Haeundae"
        assert (await scope.recall("What do I do for a living?")).hits[0].value == "potter"
        assert (await scope.recall("어디 살아?")).hits[0].value == "Busan Haeundae"
        for attribute, value in (("город", "Тверь"), ("compagnon", "Luc"), ("住まい", "金沢")):
            await scope.remember(attribute=attribute, value=value, subject="other")
        assert "Тверь" in [hit.value for hit in (await scope.recall("Где я живу?", limit=3)).hits]
        assert "Luc" in [hit.value for hit in (await scope.recall("Qui partage ma vie ?", limit=3)).hits]
        text = (await scope.context([{"role": "user", "content": "Where do I live?"}])).as_text()
        assert all(value in text for value in ("Busan Haeundae", "potter", "Miso", "oolong")), "every current fact"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("question", "sure", "first"),
    [
        ("What is my wife's name?", True, "wife: Ann"),
        ("What is my job?", True, "job: nurse"),
        ("Where do I live with my wife?", True, None),
        ("What does Bob like to drink?", True, "Bob's favorite drink: beer"),
        ("What does my daughter like to eat?", False, None),
        ("What does Zoe like to eat?", False, None),
        ("What is my wife's job?", False, None),
        ("What does my husband do for a living?", False, None),
        ("Was ist der Beruf meiner Frau?", False, None),
        ("내 아내 직업이 뭐야?", False, None),
        ("How old is my daughter?", False, None),
        ("What is Zoe's job?", False, None),
    ],
)
async def test_somebody_elses_is_not_the_users(question: str, sure: bool, first: str | None) -> None:  # noqa: FBT001
    """The sure answers are above .7; what is known of the user alone says little of somebody else."""
    async with AsyncMemhold.open("memory://", worker=False) as opened:
        scope = opened.scope(user="alice")
        for attribute, value in (("favorite food", "ramen"), ("job", "nurse"), ("wife", "Ann"), ("age", "41")):
            await scope.remember(attribute=attribute, value=value)
        await scope.remember(subject="Bob", attribute="favorite drink", value="beer")
        await opened.settle()
        found = await scope.recall(question)
        assert found.confidence is not None
        assert (found.confidence > 0.7) is sure
        if first is not None:
            assert found.hits[0].text == first


def test_what_a_language_calls_a_being_is_what_any_language_does() -> None:
    """A question loads the lexicon of its own language alone; the few concepts that languages see otherwise are listed."""
    beings = {name: {s.id for s in lexicon(name).phrases.values() if s.kind in _BEINGS} for name in LANGUAGES}
    for name in LANGUAGES:
        known = {sense.id for sense in lexicon(name).phrases.values() if sense.kind in _NAMES}
        assert known & set().union(*beings.values()) == known & _kinds_of_beings(name), name
    ids = {one["ids"][0] for one in _asks().values()}
    assert ids & set().union(*beings.values()) == ids & _kinds_of_beings("en")


@pytest.mark.parametrize("phrase", ["home town", "doesn't like", "C++ level", "Ärzte", "wi fi", "a  b "])
def test_a_plain_phrase_is_taken_apart_as_any_other(phrase: str) -> None:
    assert [one.text for one in lex(phrase)] == [one.text for one in lex(f"{phrase}…")][: len(lex(phrase))]
