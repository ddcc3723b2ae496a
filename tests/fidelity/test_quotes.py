"""A quote is verbatim but for white space, case, width and quotation marks."""

from __future__ import annotations

import pytest

from memhold.fidelity.quotes import in_line

# ruff: noqa: RUF001 - quotation marks and widths of every script

LINE = "My doctor said “the iron is low” — and that I should take 65 mg, every other day, with orange juice. Only hazelnuts."
OTHER = "The user is vegetarian and lives in Ulm."
PROMPT = "Save what should be remembered. The conversation:"


@pytest.mark.parametrize(
    ("quote", "line", "found"),
    [
        ("take 65 mg, every other day", LINE, True),
        ("TAKE 65 MG,\n  every   other day", LINE, True),
        ('said "the iron is low" - and', LINE, True),
        ("said «the iron is low» – and", LINE, True),
        ("ｔａｋｅ　６５　ｍｇ", LINE, True),
        ("take 65 mg, every", "ｔａｋｅ　６５　ｍｇ， ｅｖｅｒｙ other day", True),
        ("ﾌﾞﾛｯｺﾘｰ", "毎朝ブロッコリーを食べます", True),
        ("下午三点，在北楼", "客户会议改到后天下午三点,在北楼502", True),
        ("I don't eat 'em", "I don’t eat ‘em", True),
        ("I don’t eat ´em", "I don't eat 'em", True),
        ("„the iron is low‟", LINE, True),
        ("take 65 mg … with orange juice", LINE, True),
        ("take 65 mg [...] Only hazelnuts", LINE, True),
        ("…take 65 mg...", LINE, True),
        ("Only hazelnuts … take 65 mg", LINE, False),  # both parts, in the other order
        ("take 65 mg … with apple juice", LINE, False),
        ("lives in Ulm", LINE, False),  # of another line
        ("take 65 mg … lives in Ulm", LINE, False),  # half of it of another line
        ("should be remembered", LINE, False),  # of the prompt
        ("[m1 user] My doctor said", LINE, False),
        ("", LINE, False),
        ("   ", LINE, False),
        ("…", LINE, False),
        ("“”.", LINE, False),
        ("возьми 65 мг", LINE, False),  # in another script
        ("tаke 65 mg", LINE, False),  # a Cyrillic letter that looks the same
        (LINE + " And more.", LINE, False),  # longer than the line
        ("take 65mg", LINE, False),
        ("take 65 mg daily", LINE, False),
    ],
)
def test_what_a_quote_may_differ_in(quote: str, line: str, *, found: bool) -> None:
    assert in_line(quote, line) is found


def test_a_quote_is_of_its_own_line() -> None:
    assert in_line("lives in Ulm", OTHER)
    assert not in_line("lives in Ulm", PROMPT)
