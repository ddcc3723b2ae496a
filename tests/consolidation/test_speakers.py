"""What an entry says of the assistant stands in the assistant's lines, and no word of the user's denies it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memhold.consolidate.grounding import Claim, Line, find

AT = datetime(2026, 3, 2, tzinfo=UTC)


def standing(sentence: str, *said: str) -> str | None:
    """How a sentence stands in lines that begin with `u:` or `a:`."""
    lines = [Line(place=place, text=line[3:], at=AT, own=line.startswith("u:")) for place, line in enumerate(said, 1)]
    return find(Claim(core=sentence, cited=tuple(line.place for line in lines)), lines).standing


BIKE = (
    "u: If the saddle is at 74 cm, should it go up while the knee won't bend?",
    "a: Raise the saddle by 5 mm and check the height after a week. Did the physio say anything about cleats?",
    "u: No. My knee hurts on the stairs.",
)
RAD = (
    "u: Soll der Sattel höher, wenn das Knie sich nicht beugt?",
    "a: Stell den Sattel 5 mm höher und prüfe die Höhe nach einer Woche.",
)
BICI = (
    "u: ¿Debo subir el sillín si la rodilla no dobla?",
    "a: Suba el sillín 5 mm y compruebe la altura en una semana.",
)


@pytest.mark.parametrize(
    ("sentence", "lines", "expected"),
    [
        ("The user was told to raise the saddle by 5 mm.", BIKE, "said"),
        ("The user was told that the knee hurts on the stairs.", BIKE, "inferred"),
        ("The user says that the knee hurts on the stairs.", BIKE, "said"),
        ("The user was asked if the saddle is at 74 cm.", BIKE, "inferred"),
        ("The user was asked about cleats, and what the physio said.", BIKE, "inferred"),
        ("The assistant said that the knee hurts on the stairs.", BIKE, "inferred"),
        ("The assistant said to raise the saddle by 50 mm.", BIKE, None),
        ("Der Nutzer wurde gefragt, ob das Knie sich nicht beugt.", RAD, "inferred"),
        ("Der Assistent riet, den Sattel 5 mm höher zu stellen und die Höhe nach einer Woche zu prüfen.", RAD, "said"),
        ("Al usuario se le preguntó si la rodilla no dobla.", BICI, "inferred"),
        ("El asistente dijo: suba el sillín 5 mm y compruebe la altura en una semana.", BICI, "said"),
    ],
)
def test_what_is_told_of_the_assistant_stands_in_what_they_said(
    sentence: str, lines: tuple[str, ...], expected: str | None
) -> None:
    assert standing(sentence, *lines) == expected


def test_a_no_of_the_users_takes_nothing_from_what_the_assistant_said() -> None:
    lines = ("a: Avoid running, and use the turbo trainer at home. Shall we skip the swimming?", "u: No, I like it.")
    assert standing("The user was advised to avoid running and to use the turbo trainer at home.", *lines) == "said"
    assert standing("The assistant asked about skipping the swimming.", *lines) == "inferred"
    assert standing("The user is skipping the swimming.", *lines) is None


@pytest.mark.parametrize(
    ("sentence", "line", "expected"),
    [
        ("The user was told by their doctor to avoid salt.", "u: I was told by my doctor to avoid salt.", "said"),
        ("User was offered a job at Bosch.", "u: I was offered a job at Bosch.", "said"),
        ("User was told they will be promoted.", "u: My boss told me I'll be promoted.", "said"),
        ("User was told to avoid salt.", "u: You told me to avoid salt.", "inferred"),
        ("The assistant told the user to avoid salt.", "u: I was told by my doctor to avoid salt.", "inferred"),
        ("Der Nutzer wurde gebeten, im Mai zu kommen.", "u: Ich wurde gebeten, im Mai zu kommen.", "said"),
        ("Se le recomendó evitar la sal.", "u: Ayer el médico me recomendó evitar la sal.", "said"),
    ],
)
def test_what_the_user_says_that_others_told_them_stands_in_the_users_lines(
    sentence: str, line: str, expected: str | None
) -> None:
    assert standing(sentence, line) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("User moved to Oslo in May.", "said"),
        ("USER moved to Oslo in May, and user can't stand onions.", "said"),
        ("User: moved to Oslo in May", "said"),
        ("The onions are out. User can't stand onions.", "said"),
        ("User Guide moved to Oslo in May.", None),
        ("Users moved to Oslo in May.", None),
        ("User moved to Bergen in May.", None),
    ],
)
def test_the_user_without_an_article_is_the_user_and_nobodys_name(sentence: str, expected: str | None) -> None:
    assert standing(sentence, "u: I moved to Oslo in May, and I can't stand onions: they are out.") == expected


@pytest.mark.parametrize(
    ("bare", "article", "line"),
    [
        ("Nutzer wohnt seit Mai in Graz.", "Der Nutzer wohnt seit Mai in Graz.", "u: Ich wohne seit Mai in Graz."),
        ("Usuario vive en Burgos.", "El usuario vive en Burgos.", "u: Vivo en Burgos desde mayo."),
        ("Utilisateur habite à Lyon.", "L'utilisateur habite à Lyon.", "u: J'habite à Lyon depuis mai."),
        ("User's cat is Momo.", "The user's cat is Momo.", "u: My cat is Momo."),
        ("Assistant asked whether Momo is well.", "The assistant asked whether Momo is well.", "a: Is Momo well?"),
    ],
)
def test_without_an_article_a_sentence_stands_as_with_it(bare: str, article: str, line: str) -> None:
    found = {standing(sentence, line, "u: That is all.") for sentence in (bare, article)}
    assert len(found) == 1
    assert None not in found
