"""Kin of whom no line speaks, and names that a line gives to other kin, in languages with and without spaces."""

import pytest

from memhold.text.kin import kin_in, names_of_kin, other_kin, strangers


@pytest.mark.parametrize(
    ("claim", "said", "language", "who"),
    [
        ("The user's grandfather skippered it.", "My father skippered it.", "english", {"grandfather"}),
        ("The user's mother moved.", "Mum moved to Leeds.", "english", set()),
        ("The user has a child.", "My daughter starts school.", "english", set()),
        ("Die Tante der Nutzerin wohnt dort.", "Meine Oma wohnt dort.", "german", {"aunt"}),
        ("Le père de l'utilisatrice vient.", "Ma grand-mère vient.", "french", {"father"}),
        ("사용자의 이모는 디자이너이다.", "여자친구는 디자이너예요.", "korean", {"aunt"}),
        ("ユーザーの娘は大学生だ。", "息子は大学生です。大丈夫。", "japanese", {"daughter"}),
        ("a kind of jam", "strawberry", "english", set()),
        ("딸기를 좋아한다", "과일을 좋아해요", "korean", set()),
    ],
)
def test_a_stranger_is_kin_that_no_line_has(claim: str, said: str, language: str, who: set[str]) -> None:
    assert strangers(claim, said, language) == who


def test_a_name_is_the_kin_that_a_line_says_it_is() -> None:
    assert other_kin(
        "Bastien est le frère de l'utilisatrice.", "Avec mon compagnon Bastien. Mon frère vient.", "french"
    )
    assert other_kin("The user's brother Ravi drives.", "My nephew Ravi drives.", "english")
    assert not other_kin("The user's husband Tom drives.", "My partner Tom drives.", "english")
    assert not other_kin("Ravi is the user's nephew.", "My nephew Ravi drives.", "english")
    assert names_of_kin(frozenset({"wife"}), "My wife Orla sings. My aunt Ada cooks.", "english") == {"orla"}


def test_a_language_without_words_for_kin_is_judged_as_before() -> None:
    assert kin_in("min mormor", "swedish") == frozenset()
    assert strangers("min mormor", "min far", "swedish") == frozenset()
