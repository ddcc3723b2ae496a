"""A value under an attribute that says nothing of it is kept as the sentence in which the user said it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.consolidate.attributes import own_sentence
from memhold.consolidate.grounding import Claim, Line

DAY = datetime(2026, 3, 2, 9, tzinfo=UTC)

SAYS_NOTHING = [
    # attribute, value, the message, the sentence that is kept instead
    (
        "request",
        "the 9:40",
        "The 9:40 please, I'm slow in the mornings. Thanks.",
        "The 9:40 please, I'm slow in the mornings.",
    ),
    ("level", "4", "Nobody finishes. My level 4 was impossible.", "My level 4 was impossible."),
    ("lengths", "forty lengths", "I swim forty lengths there.", "I swim forty lengths there."),  # it names itself
    ("kids", "kids", "I start once the kids are in bed.", "I start once the kids are in bed."),
    (
        "sensible",
        "I stand, at the press, all day",
        "Sensible. I stand, at the press, all day.",
        "Sensible. I stand, at the press, all day.",
    ),
    ("drum kit", "a red Ludwig", "My drum kit is a red Ludwig.", None),
    ("grade", "4", "Nobody finishes. My level 4 was impossible.", None),  # a word of the lexicon that names something
    ("stage", "level 4", "Nobody finishes. My level 4 was impossible.", "My level 4 was impossible."),
    ("date", "the 14th", "We fly on the 14th. Mum meets us.", "We fly on the 14th."),
    ("date", "금요일", "금요일에 이모가 와. 방을 치워야 해.", "금요일에 이모가 와."),
    ("current status", "two weeks late", "The tiler is two weeks late again.", "The tiler is two weeks late again."),
    ("rate", ".13 euros", "They pay .13 euros a word.", "They pay .13 euros a word."),
    ("language", "Danish", "I translate from Danish.", None),
    ("interest", "owls", "I draw owls.", None),
    ("sings", "Marisol", "Marisol sings.", None),
    ("name", "newt", "First creature is in, the blind newt.", "First creature is in, the blind newt."),
    ("name", "Odalys", "Odalys is doing the tiles.", "Odalys is doing the tiles."),
    ("name", "Mina", "Morning. I'm Mina Seo, by the way.", None),
    ("name", "mina", "my name is mina", None),
    ("date", "the 14th", "Do we fly on the 14th?", None),  # only asked
    ("date", "14 March", "We fly on the 14th.", None),  # not in these words: the check decides
]

YES_OR_NO = [
    ("nut allergy", "yes", "No cake for me. I have a nut allergy.", "I have a nut allergy."),
    ("phone calls", "no", "No phone calls, ever. Write instead.", "No phone calls, ever."),
    ("window seat preference", "Yes", "I always take the window seat.", "I always take the window seat."),
    ("poodle licence renewal", "yes", "The poodle barks.", None),  # a third of its words
    ("nut allergy", "yes", "My son comes too. He has a nut allergy.", "My son comes too. He has a nut allergy."),
    ("smoker", "yes", "I bake at night.", None),
    ("window seat", "yes", "Is a window seat free?", None),
]


@pytest.mark.parametrize(("attribute", "value", "text", "kept"), [*SAYS_NOTHING, *YES_OR_NO])
def test_a_value_whose_attribute_says_nothing_is_the_users_own_sentence(
    attribute: str, value: str, text: str, kept: str | None
) -> None:
    assert kept_of("", attribute, value, text) == kept


def kept_of(about: str, attribute: str, value: str, text: str, above: str = "") -> str | None:
    before = Line(place=1, text=above, at=DAY, own=False) if above else None
    return own_sentence(
        Claim(core=value, frame=attribute, about=about, value=True), Line(place=2, text=text, at=DAY), before
    )


def test_a_measure_of_something_with_a_name_says_of_what() -> None:
    assert kept_of("tidewatch", "status", "late", "It runs late again.") is None
    assert kept_of("", "status", "late", "It runs late again.") == "It runs late again."


def test_an_answer_of_its_value_alone_keeps_the_attribute_that_the_question_gave() -> None:
    assert kept_of("", "writes in", "Danish", "Danish.", above="What do you write in?") is None
    assert kept_of("", "city", "Jena", "Jena, for six years now.", above="Where do you live?") is None
    assert (
        kept_of("", "city", "Jena", "Jena has the better trams.", above="Anything else?")
        == "Jena has the better trams."
    )


def test_a_number_that_counts_something_else_is_the_sentence_that_says_what() -> None:
    assert kept_of("", "age", "3", "I worry, 3 terms are left.") == "I worry, 3 terms are left."
    assert kept_of("", "age", "41", "I'm 41 years old.") is None


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20), st.text(max_size=120))
def test_what_is_kept_instead_stands_in_the_message(subject: str, attribute: str, value: str, text: str) -> None:
    kept = kept_of(subject, attribute, value, text)
    assert kept is None or (kept in " ".join(text.split()) and kept)
