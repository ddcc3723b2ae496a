"""Reasoning never reaches a memory, and arguments are what they say."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.providers.chat.text import arguments_of, without_reasoning


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("<think>plan</think>Yes.", "Yes."),
        ("<think>\nplan\n</think>\n\nYes.", "Yes."),
        ("Yes.<think>never closed", "Yes."),
        ("opened in the prompt</think>Yes.", "Yes."),
        ("<thinking>a</thinking>Y<reasoning x='1'>b</reasoning>es.", "Yes."),
        ("<THINK>a</THINK>Yes.", "Yes."),
        ("<think>a<think>b</think>c</think>Yes.", "Yes."),
        (
            "<|channel|>analysis<|message|>plan<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>",
            "Yes.",
        ),
        ("<|channel|>analysis<|message|>only this", ""),
        ("1 < 2 and <b>bold</b>", "1 < 2 and <b>bold</b>"),
        ("I think so.", "I think so."),
        ("", ""),
    ],
)
def test_reasoning_goes(said, answer):
    assert without_reasoning(said) == answer


@given(st.lists(st.sampled_from(["<think>", "</think>", "secret", "<thinking>", "</thinking>", " "]), max_size=12))
def test_no_tag_is_left_and_nothing_between_tags(parts):
    text = without_reasoning("".join(parts))
    assert "think" not in text
    if parts and parts[0] == "<think>" and parts[-1] == "</think>" and len(parts) > 1:
        assert "secret" not in text or parts.count("</think>") > 1


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("  ", {}),
        ({"a": 1}, {"a": 1}),
        (None, None),
        ("[1]", [1]),
        ('"{}"', "{}"),
        ('<think>hm</think>{"a": 1}', {"a": 1}),
        ('{"a": ', '{"a": '),
        ('```json\n{"a": 1}\n```', '```json\n{"a": 1}\n```'),
    ],
)
def test_arguments(sent, value):
    assert arguments_of(sent) == value


@pytest.mark.parametrize("part", ["<think>", "<think ", "<think><reasoning>", "</think><think>", "<|channel|>analysis"])
def test_a_reply_full_of_tags_is_read_once(part):
    # One block searched for each of 20,000 beginnings took 45 s, and nothing else ran meanwhile.
    begun = time.process_time()
    without_reasoning(part * 60_000)
    assert time.process_time() - begun < 30
