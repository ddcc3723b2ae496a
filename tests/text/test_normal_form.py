"""Normal forms in processor time that grows with the text: a ratio of two sizes is judged, the best of several runs."""

from __future__ import annotations

import unicodedata
from time import thread_time
from typing import Any

import pytest

from memhold.text.normal_form import MOST_MARKS, normal_form

SHORT, LONG = 8_000, 64_000
BOUND = 24.0
"""Between 8 (linear) and 64 (quadratic)."""


def best(form: Any, text: str) -> float:
    taken = []
    for _ in range(5):
        begun = thread_time()
        normal_form(form, text)
        taken.append(thread_time() - begun)
    return min(taken)


@pytest.mark.parametrize("marks", ["\u0301\u0327", "\u0f73", "\uff9e\u0301", "\u0344\u0323"], ids=ascii)
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_marks_are_put_in_order_in_time_that_grows_with_them(form: Any, marks: str) -> None:
    assert best(form, "a" + marks * LONG) < BOUND * best(form, "a" + marks * SHORT)


def test_what_people_write_keeps_its_form() -> None:
    for text in ("josé " * 500, "e\u0301" * 800, "한국어 " * 500, "e" + "\u0301" * MOST_MARKS + "x" * 2000):
        for form in ("NFC", "NFD", "NFKC", "NFKD"):
            assert normal_form(form, text) == unicodedata.normalize(form, text)
    long = "a" + "\u0301\u0327" * 10_000 + "b" * 2000
    kept = "a" + "\u0301\u0327" * (MOST_MARKS // 2) + "b" * 2000
    assert normal_form("NFC", long) == unicodedata.normalize("NFC", kept)
