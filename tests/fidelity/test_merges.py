"""A text that stands for notes holds every hard detail of each."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memhold.fidelity.merges import lost

AT = datetime(2026, 5, 4, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("survivor", "notes"),
    [
        (
            "Runs 5 km along the canal every Tuesday.",
            ["The user runs five kilometres every Tuesday.", "On Tuesdays she does her 5 km canal run."],
        ),
        (
            "The thesis is due on 18 September.",
            ["Thesis must be handed in by 18 September.", "Submission deadline for the thesis: 18/9."],
        ),
        (
            "Renate ist gegen Haselnüsse allergisch.",
            ["Renate verträgt keine Haselnüsse.", "Wegen Renates Allergie keine Haselnüsse."],
        ),
    ],
)
def test_the_same_in_other_words_loses_nothing(survivor: str, notes: list[str]) -> None:
    assert lost(survivor, AT, [(note, AT) for note in notes]) == ()


@pytest.mark.parametrize(
    ("survivor", "note", "detail"),
    [
        ("Runs 5 miles every Tuesday.", "Runs 5 km every Tuesday.", "5"),
        ("Runs 5 km every Thursday.", "Runs 5 km every Tuesday.", "tuesday"),
        ("The sister is pregnant, due in August.", "The user's sister Marnie is due in August.", "Marnie"),
        ("The server has an extension.", "The server has extension DX-41.", "dx-41"),
        ("Logs are kept.", "Logs are kept in /var/log/shopd.", "/var/log/shopd"),
    ],
)
def test_what_is_lost_is_named(survivor: str, note: str, detail: str) -> None:
    assert detail in lost(survivor, AT, [(note, AT)])
