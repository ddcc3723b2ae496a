"""Words of change: found in what reports one, in several languages, and not in what only talks."""

from __future__ import annotations

import pytest

from memhold.text.change import changes

SAID = [
    "I moved to Leeds",
    "we are no longer together",
    "I don't drink coffee anymore",
    "it turned out that she is his aunt",
    "the call is at four instead",
    "they put me on nights",
    "we gave up the garden",
    "Ich arbeite nicht mehr dort",
    "Wir sind nach Ulm umgezogen",
    "J'ai déménagé à Lyon",
    "Ya no como carne",
    "Mudei de emprego",
    "Ho cambiato lavoro",
    "Ik werk er niet meer",
    "Я больше не курю",
    "이제 부산에 살아요",
    "我搬到杭州了",
    "仕事を辞めた",
]
ONLY_TALK = [
    "I live in Leeds",
    "my sister has two dogs",
    "how long does bread keep?",
    "we talked about the garden, and filled the kettle",
    "Ich wohne in Ulm",
    "Vivo en Lima",
    "我住在杭州",
    "犬が二匹いる",
    "부산에 살아요",
]


@pytest.mark.parametrize("text", SAID)
def test_a_report_of_a_change_has_a_word_of_it(text: str) -> None:
    assert changes(text)


@pytest.mark.parametrize("text", ONLY_TALK)
def test_what_only_talks_has_none(text: str) -> None:
    assert not changes(text)
