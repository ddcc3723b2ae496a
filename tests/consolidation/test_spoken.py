"""Whether a person said a value, and whether an entry has the form that was asked for. Pure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memhold.consolidate.entry import slips
from memhold.facts.quotes import Quoted, spoken
from memhold.messages.fences import fence, find_quotes
from tests.consolidation.test_window import SECRET, message

SAID = {
    ("I moved to Oslo last week. It rains.", "Oslo"): "I moved to Oslo last week.",
    ("i moved to OSLO", "Oslo"): "i moved to OSLO",
    ("My blood type is A.", "A"): "My blood type is A.",
    ("\uc81c \ud608\uc561\ud615\uc740 A\ud615\uc774\uc5d0\uc694.", "A"): "\uc81c \ud608\uc561\ud615\uc740 A\ud615\uc774\uc5d0\uc694.",
    ("\uc800\ub294 \uac04\ud638\uc0ac\uc608\uc694. \ud53c\uace4\ud574\uc694.", "\uac04\ud638\uc0ac"): "\uc800\ub294 \uac04\ud638\uc0ac\uc608\uc694.",
    ("\u79c1\u306f\u6771\u4eac\u306b\u4f4f\u3093\u3067\u3044\u307e\u3059\u3002\u96e8\u3067\u3059\u3002", "\u6771\u4eac"): "\u79c1\u306f\u6771\u4eac\u306b\u4f4f\u3093\u3067\u3044\u307e\u3059\u3002",
    ("I work as a software engineer, at Acme.", "software engineer at Acme"): "I work as a software engineer, at Acme.",
    ("Version 3.2 runs in /srv/app", "/srv/app"): "Version 3.2 runs in /srv/app",
}  # fmt: skip
NOT_SAID = [
    ("A cat sat on the mat. I am at home.", "t"),
    ("I have a cat", "A"),
    ("I am tired today", "red"),
    ("I moved to the capital of Norway", "Oslo"),
    ("", "Oslo"),
    ("Oslo", " "),
]


@pytest.mark.parametrize(("text", "value"), SAID)
def test_what_a_person_said_is_found_in_its_sentence(text: str, value: str) -> None:
    assert spoken([message(1, "user", text)], value) == Quoted(own_words=True, sentence=SAID[text, value])


@pytest.mark.parametrize(("text", "value"), NOT_SAID)
def test_what_nobody_said_is_not_found(text: str, value: str) -> None:
    assert not spoken([message(1, "user", text)], value).own_words


def test_the_newest_counts_and_recalled_text_does_not() -> None:
    old, new = message(1, "user", "Oslo was home."), message(2, "user", "Back in Oslo now.")
    assert spoken([old, new], "Oslo").sentence == "Back in Oslo now."
    text = fence(["mem_1"], ["home: Oslo"], secret=SECRET).text + "\nWhere do I live?"
    quoting = replace(message(3, "user", text), quotes=find_quotes(text, SECRET))
    assert not spoken([quoting], "Oslo").own_words


def test_slips_are_named_and_nothing_correct_is_one() -> None:
    korean = [
        "\uc800\ub294 \uc11c\uc6b8\uc5d0 \uc0b4\uace0 \uac04\ud638\uc0ac\ub85c \uc77c\ud574\uc694. \ub2e4\uc74c \uc8fc\uc5d0 \uc774\uc0ac\ud574\uc694."
    ]
    right = "[2026-01-02 10:00] \uc0ac\uc6a9\uc790\ub294 \uc11c\uc6b8\uc5d0 \uc0b4\uba70 \uac04\ud638\uc0ac\ub85c \uc77c\ud55c\ub2e4. \ub2e4\uc74c \uc8fc\uc5d0 \uc774\uc0ac\ud55c\ub2e4."
    assert slips(right, korean) == []
    wrong = "[2026-01-02 10:00] The user lives in Seoul. They work as a nurse."
    assert slips(wrong, korean) == ["written in latin, the user writes hangul"]
    assert slips("It was one long day at work for them all", ["We talked about work all day"]) == ["1 sentences"]
    assert slips("One. Two. Three. Four. Five. Six.", ["x"]) == ["6 sentences"]
    # Code and names decide nothing, nor does a mixture.
    mixed = ["이거 왜 안 돼? for (int i = 0; i < n; i++) { total += values[i]; return total; }"]
    assert slips(right, mixed) == []
    assert slips(wrong, mixed) == []
    assert slips("They met. It rained.", ["ok"]) == []
