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


def test_a_day_that_says_less_holds_none() -> None:
    note = ("Mum's 70th birthday is June 9.", AT)
    assert lost("Her mother turns 70 on 9 June.", AT, [note]) == ()
    assert "june 9" in lost("Her mother turns 70 in June.", AT, [note])


LATER = datetime(2026, 6, 8, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("survivor", "older", "newer", "gone"),
    [
        ("The standup is at 10:15.", "The standup is at 9:30.", "The standup moved from 9:30 to 10:15.", ()),
        ("She lives in Porto.", "The user lives in Berlin.", "She moved to Porto.", ()),
        ("Room 20.", "The store is room 12, phone 4711.", "The store is room 20 now.", ("4711",)),
        ("Tea with Ruth.", "Tea at 9:30 with Maja.", "It is with Ruth now.", ("at 9:30",)),
        ("It costs 45 euros.", "It takes 3 hours.", "It costs 45 euros.", ("3",)),
    ],
)
def test_of_what_is_replaced_a_detail_goes_for_another_of_its_kind(
    survivor: str, older: str, newer: str, gone: tuple[str, ...]
) -> None:
    told = [(older, AT), (newer, LATER)]
    assert lost(survivor, LATER, told, newer=told) == gone
    assert lost(survivor, LATER, told)
    assert set(lost(older, LATER, told, newer=told)), "an older note stands for no newer one"


def test_a_language_that_only_a_word_suggests_takes_no_name_away() -> None:
    """ "Due in August" has a word of German, where no capital shows a name."""
    assert lost("Sister is pregnant, due in August.", AT, [("Her sister Marnie is pregnant, due in August.", AT)])
