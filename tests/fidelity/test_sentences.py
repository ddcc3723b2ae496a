"""Sentences: abbreviations, ordinals and figures end none."""

from __future__ import annotations

import pytest

from memhold.fidelity.sentences import sentences

# ruff: noqa: RUF001 - letters of every script


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        (
            "de",
            [
                "Sie muss bis spätestens 19. April kündigen; geplant ist der 15. April.",
                "Dr. Lohmann weiß es.",
                "Es kostet 3.5 Mio. Euro, bzw. mehr.",
            ],
        ),
        ("en", ["Dr. Sandhu comes at 5 p.m. on Friday.", "It costs 2.50.", "I said no.", "See app.py, e.g. line 3."]),
        ("en", ["Dr. Kim met Ana at 9.30 a.m. in St. Gallen.", "They agreed on v1.2.3, e.g. the fix."]),
        ("en", ["She asked: why?", "He said “no.”", "That was it…", "Done."]),
        ("fr", ["M. Dupont vient à 15h30.", "Le 1er déc. il part.", "Mme. Edwige reste."]),
        ("es", ["El Sr. Ibarra vive en la Avda. Sol.", "La Dra. Ruiz viene a las 5 p. m. el lunes."]),
        ("it", ["Il dott. Rossi arriva il 3 gen. alle 9.", "Poi parte."]),
        ("pt", ["O Sr. Silva mora na Av. Brasil.", "Ele trabalha lá."]),
        ("ru", ["Встреча 19 апр. в г. Москве.", "Он живёт на ул. Ленина, д. 5.", "Всё."]),
        ("ko", ["내일 미팅이 있다.", "3.5km를 뛰었다."]),
    ],
)
def test_sentences_end_where_they_do(code: str, parts: list[str]) -> None:
    assert sentences(" ".join(parts), (code,)) == parts


@pytest.mark.parametrize("code", ["zh", "ja"])
def test_without_blanks(code: str) -> None:
    assert sentences("体重は3.5です。明日！本当？", (code,)) == ["体重は3.5です。", "明日！", "本当？"]


def test_a_script_without_a_file_has_its_own_marks() -> None:
    assert sentences("مرحبا؟ نعم.", ()) == ["مرحبا؟", "نعم."]


def test_everything_is_kept() -> None:
    text = "One...\n\nTwo?! (Three.) end"
    assert "".join("".join(sentences(text, ())).split()) == "".join(text.split())
