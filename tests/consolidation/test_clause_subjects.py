"""Of whom a clause is: the speaker by their own pronoun, else the subject that stands there, else the one before it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.consolidate.clause_subjects import names_in, own_names_in, whose_clauses


def who(text: str, language: str = "english", *known: str) -> list[tuple[str, set[str]]]:
    return [
        (one.text.strip(), set(one.who)) for one in whose_clauses(text, language, frozenset({"liis"}), frozenset(known))
    ]


def test_what_the_speaker_says_by_a_pronoun_is_theirs_and_a_possessed_noun_is_not() -> None:
    assert who("My landlady is a retired judge, I like her.") == [
        ("My landlady is a retired judge", {"landlady"}),
        ("I like her.", set()),
    ]


def test_a_clause_without_a_subject_goes_on_and_a_pronoun_takes_up_the_last() -> None:
    found = who("Marek, the caretaker, used to be a paramedic. He helps. I rest.")
    assert [sorted(people) for _, people in found] == [["caretaker", "marek"]] * 4 + [[]]


def test_what_one_person_is_called_by_is_one() -> None:
    [first, second, *_] = whose_clauses(
        "My brother Joost is a carpenter. Joost lives in Ghent.", "english", known=frozenset({"joost"})
    )
    assert first.who == second.who == {"brother", "joost"}


def test_a_name_at_the_beginning_counts_where_it_is_one_elsewhere_and_the_speakers_own_never() -> None:
    assert who("Bartek still smokes.", "english") == [("Bartek still smokes.", set())]
    assert who("Bartek still smokes.", "english", "bartek") == [("Bartek still smokes.", {"bartek"})]
    assert who("Liis works here.", "english", "liis") == [("Liis works here.", set())]


@pytest.mark.parametrize(
    ("text", "language", "subject"),
    [
        ("Mein Nachbar Yilmaz ist Schreiner.", "german", "nachbar"),
        ("Por la tarde mi vecina Elsa da clases de piano.", "spanish", "vecina"),
        ("Ma femme Odile est institutrice.", "french", "femme"),
        ("Mijn huisgenoot is advocaat.", "dutch", "huisgenoot"),
        ("Mia sorella lavora a Bari.", "italian", "sorella"),
    ],
)
def test_a_possessed_noun_is_a_subject_in_any_language(text: str, language: str, subject: str) -> None:
    assert subject in whose_clauses(text, language)[0].who


def test_an_object_is_no_subject_and_a_dated_thing_is_the_speakers() -> None:
    assert who("With my uncle in the shop.")[0][1] == set()
    assert who("My flight is at 9.")[0][1] == set()


def test_own_names_are_those_that_the_speaker_gives() -> None:
    assert own_names_in(["Hi, I'm Liis.", "Ich heiße Alwin.", "Grace here."]) == {"liis", "alwin", "grace"}
    assert names_in(["I saw Marek in Tartu."]) >= {"marek", "tartu"}


@given(st.text(max_size=300), st.sampled_from(["english", "german", "french", "spanish", "japanese", "?"]))
def test_every_word_stands_in_some_clause_and_nothing_raises(text: str, language: str) -> None:
    found = whose_clauses(text, language)
    assert all(one.text in text for one in found)
    assert all(not (one.first and one.who) for one in found)


def test_what_is_measured_is_the_speakers_own_whatever_the_clause_before_was_about() -> None:
    assert who("My favorite color is red and my number is 7")[-1] == ("my number is 7", set())


def test_a_korean_clause_is_about_what_has_its_particle() -> None:
    assert who("아니다, AB형이야") == [("아니다", set()), ("AB형이야", set())]
    assert who("Anna는 교사야", "english", "anna는")[0][1] == {"anna는"}
