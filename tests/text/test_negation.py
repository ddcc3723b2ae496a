"""A no is heard in every language that is read, and not in what only looks like one."""

from __future__ import annotations

import pytest

from memhold.text.negation import negates

# ruff: noqa: RUF001 - texts of several scripts


@pytest.mark.parametrize(
    "text",
    ["Das Treffen ist am 3. Mai.", "Le séminaire a lieu en mai 2026.", "公司未来计划在非洲扩展业务，非常特别。",
     "他喜欢鱼，不过价格不错。", "민지는 연못에서 잘못 걸었다.", "Ele mora no Rio.",
     "无线网络很快", "我们讨论了这个话题"],
)  # fmt: skip
def test_words_that_only_look_like_a_no_are_none(text: str) -> None:
    assert not negates(text)


@pytest.mark.parametrize(
    "text",
    ["Hunden sover alltid i sin korg vid dörren", "Mijn pas is verlopen", "Le bureau est à deux pas de la gare", "O carro dele fica no centro",
     "J'habite à Lyon depuis mai.", "Elle revient mi-mai", "Jeg har bodd i Oslo siden mai",
     "Keinosen auto on punainen", "Ne ho due, e li uso ogni giorno per il lavoro", "Gestern kam die Inga zu mir"],
)  # fmt: skip
def test_a_word_of_another_language_is_no_no(text: str) -> None:
    assert not negates(text)


@pytest.mark.parametrize(
    "text",
    ["El coche no está en el taller", "Ana no come carne roja", "Je mange pas de viande", "Nada funciona aqui",
     "El informe va sin anexos", "Non lavora mai il lunedì", "Nie pije mleka", "Er kommt nie", "No sugar",
     "Das ist keineswegs sicher", "Es gibt keinerlei Fehler", "Das gilt keinesfalls"],
)  # fmt: skip
def test_a_no_is_heard_beside_its_homographs(text: str) -> None:
    assert negates(text)
