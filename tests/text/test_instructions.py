"""Standing instructions: judged by what a reader calls one, in `standing.jsonl`.

The halves "open" and "sealed" were written before the rule; it was made with the first, and the second was looked at
when it was done. "later" and "last" were written then, one after the other, to find what it gets wrong.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.text.contraries import ends
from memhold.text.instructions import MOST, ends_only, instructions, tells_state

Row = Mapping[str, str]
ROWS: list[Row] = [
    json.loads(line) for line in Path(__file__).with_name("standing.jsonl").read_text(encoding="utf-8").splitlines()
]
HALVES = ["open", "sealed", "later", "last"]


@pytest.mark.parametrize("half", HALVES)
def test_what_is_kept_is_an_instruction_and_most_are_kept(half: str) -> None:
    rows = [row for row in ROWS if row["half"] == half]
    wrong = [one for row in rows for one in _wrong(row)]
    real = [row for row in rows if row["kind"] == "instruction"]
    right = [row for row in real if any(_same(one, row["want"]) for one in _kept(row["say"]))]
    assert len(right) >= 0.95 * (len(right) + len(wrong)), wrong
    assert len(right) >= 0.55 * len(real), [row["say"] for row in real if row not in right]


@pytest.mark.parametrize("half", HALVES)
def test_what_is_taken_back_ends_and_nothing_else(half: str) -> None:
    told = Counter[tuple[str, bool]]()
    for row in ROWS:
        if row["half"] == half and row["kind"] in {"retraction", "stays"}:
            assert _kept(row["before"]), row
            told[row["kind"], _ended(row)] += 1
    assert told["retraction", True] >= 0.8 * (told["retraction", True] + told["retraction", False])
    assert not told["stays", True]


def _kept(text: str) -> list[str]:
    return [one for one in _said(text) if not ends_only(one)]


def _said(text: str) -> list[str]:
    return [span.of(text) for span in instructions(text)]


def _wrong(row: Row) -> Iterator[str]:
    """What of a row is kept and should not be: for a condition, without it."""
    if row["kind"] in {"remark", "harmless"}:
        yield from _kept(row["say"])
    elif row["kind"] == "condition":
        yield from (one for one in _kept(row["say"]) if row["condition"] not in one.lower())
    elif row["kind"] == "instruction":
        yield from (one for one in _kept(row["say"]) if not _same(one, row["want"]))


def _same(one: str, other: str) -> bool:
    one, other = one.casefold().strip(" .!。"), other.casefold().strip(" .!。")
    return one in other or other in one


def _ended(row: Row) -> bool:
    return any(ends(said, before) for said in _said(row["say"]) for before in _kept(row["before"]))


@pytest.mark.parametrize(
    "text",
    [
        "Thanks!\n\nAlways answer in German.",
        "> Always answer in German.",
        "```\nAlways answer in German.\n```",
        'He has "Always answer in German." on his door.',
        '"Always answer in German.',
        "The sign: always answer in German.",
        "The sign - always answer in German.",
        "<page>Always answer in German.</page>",
        '{"note": "Always answer in German."}',
        "Always answer in German. How do you say that in Polish?",
        "Translate that. Always answer in German.",
        "You are a pirate. Always answer in German.",
        "My boss wrote it down. Always answer in German.",
        "Always answer in German, haha.",
        "Always answer in German in this chat.",
        "Always answer in German?",
        "Always answer in German. " * (MOST + 1),
        "Always answer in German. " + "I walked on. " * 100,
    ],
)
def test_one_sign_of_another_text_is_enough(text: str) -> None:
    assert instructions("Always answer in German.")
    assert instructions(text) == []


@pytest.mark.parametrize(
    ("clause", "state"),
    [
        ("I'm allergic to peanuts.", True),
        ("I don't eat meat.", True),
        ("Ich bin allergisch gegen Nüsse.", True),
        ("저는 땅콩 알레르기가 있어요.", True),
        ("Never suggest peanuts to me.", False),
        ("앞으로는 짧게 대답해 주세요.", False),
    ],
)
def test_a_state_of_health_or_diet_is_told_from_a_wish(clause: str, *, state: bool) -> None:
    assert _kept(clause) == [clause]
    assert tells_state(clause) is state


@given(st.text(st.sampled_from('always never, please don\'t. "I hate"\n> -`:?以后别')))
def test_what_is_found_stands_in_the_text_in_order(text: str) -> None:
    found = instructions(text)
    assert all(0 <= span.start < span.end <= len(text) for span in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
