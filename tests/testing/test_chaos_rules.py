"""The providers' message rules: what they refuse, in their words, and what they take."""

from __future__ import annotations

import pytest

from memhold.testing import check_anthropic, check_openai
from memhold.testing.chaos import openai_violations


def call(*ids):
    calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(identity, content="ok"):
    return {"role": "tool", "tool_call_id": identity, "content": content}


def one_call(**changed):
    """A call of `a`, with changes."""
    made = call("a")
    return {**made, "tool_calls": [{**made["tool_calls"][0], **changed}]}


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
USER = {"role": "user", "content": "hi"}
SYSTEM = {"role": "system", "content": "be brief"}


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [SYSTEM, USER, call("a"), result("a"), {"role": "assistant", "content": "done"}],
        [USER, call("a", "b"), result("b"), result("a")],
        [USER, call("call_0"), result("call_0"), USER, call("call_0"), result("call_0")],
        [USER, call("a"), result("a"), result("a", "second part")],
        [{"role": "user", "content": [{"type": "text", "text": "x"}]}, {"role": "assistant", "content": ""}],
        [USER, one_call(type="custom", custom={"name": "shell", "input": "ls"}), result("a")],
        [{"role": "user", "name": "Ada", "content": [IMAGE]}],
    ],
)
def test_openai_takes(messages):
    assert check_openai(messages) == []


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "empty array"),
        ([{"role": "wizard", "content": "x"}], "Invalid value: 'wizard'. Supported values are:"),
        ([SYSTEM, result("a"), USER], "messages with role 'tool' must be a response to a preceeding message"),
        ([USER, call("a"), USER], "did not have response messages: a"),
        ([USER, call("a", "b"), result("a")], "did not have response messages: b"),
        ([USER, call("a"), SYSTEM, result("a")], "did not have response messages: a"),
        ([USER, call("a"), result("z")], "'tool_call_id' of 'z' not found in 'tool_calls' of previous message"),
        ([USER, call("a"), result("a"), USER, result("a")], "must be a response to a preceeding message"),
        ([{"role": "user", "content": None}], "expected a string, got null"),
        ([{"role": "assistant", "content": None}], "expected a string, got null"),
        ([USER, {"role": "assistant", "content": "x", "tool_calls": []}], "empty array"),
        ([{"role": "user", "content": []}], "empty array"),
        ([USER, call("a", "a"), result("a")], "duplicate value 'a'"),
        ([USER, call("x" * 41), result("x" * 41)], "Expected a string with maximum length 40"),
        ([USER, one_call(type=None), result("a")], "Missing required parameter: 'messages[1].tool_calls[0].type'"),
        ([USER, one_call(function={"name": "a b", "arguments": ""}), result("a")], "string does not match pattern"),
        (
            [USER, one_call(function={"name": "a", "arguments": {}}), result("a")],
            "expected a string, but got an object",
        ),
        ([USER, one_call(type="custom", custom={"name": "a"}), result("a")], "Invalid type for"),
        ([USER, call("a"), result("a", [IMAGE])], "Image URLs are only allowed for messages with role 'user'"),
        ([{**USER, "name": "a b"}], "Invalid 'messages[0].name'"),
        ([USER, {"role": "function", "content": "x"}], "Missing required parameter: 'messages[1].name'"),
        ([USER, {"role": "assistant", "content": None, "function_call": {"arguments": ""}}], "function_call.name"),
    ],
)
def test_openai_refuses(messages, said):
    assert any(said in text for text in check_openai(messages)), check_openai(messages)


def test_openai_names_the_message():
    broken = openai_violations([SYSTEM, USER, result("a")])
    assert [one.param for one in broken] == ["messages.[2].role"]


def use(*ids, text=None):
    blocks = [{"type": "text", "text": text}] if text else []
    return {
        "role": "assistant",
        "content": [*blocks, *({"type": "tool_use", "id": i, "name": "f", "input": {}} for i in ids)],
    }


def blocks(role, *held):
    return {"role": role, "content": list(held)}


def failed(content):
    return {"type": "tool_result", "tool_use_id": "a", "content": content, "is_error": True}


def results(*ids, text=None, first=False):
    blocks = [{"type": "tool_result", "tool_use_id": one, "content": "ok"} for one in ids]
    words = [{"type": "text", "text": text}] if text else []
    return {"role": "user", "content": [*words, *blocks] if first else [*blocks, *words]}


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [USER, use("a", "b", text="wait"), results("b", "a", text="thanks")],
        [USER, use("call_0"), results("call_0"), use("call_0"), results("call_0")],
        [USER, {"role": "assistant", "content": ""}],
    ],
)
def test_anthropic_takes(messages):
    assert check_anthropic(messages, "be brief") == []


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "at least one message is required"),
        ([{"role": "assistant", "content": "x"}], 'first message must use the "user" role'),
        ([SYSTEM, USER], 'Unexpected role "system"'),
        ([{"role": "tool", "content": "x"}], "Input should be 'user' or 'assistant'"),
        ([USER, USER], 'found multiple "user" roles in a row'),
        ([{"role": "user", "content": ""}], "all messages must have non-empty content"),
        ([{"role": "user", "content": [{"type": "text", "text": ""}]}], "text content blocks must be non-empty"),
        ([{"role": "user", "content": " \n"}], "non-whitespace text"),
        ([USER, {"role": "assistant", "content": "so "}], "cannot end with trailing whitespace"),
        ([USER, use("a")], "`tool_use` ids were found without `tool_result` blocks immediately after: a."),
        ([USER, use("a", "b"), results("a")], "immediately after: b."),
        ([USER, use("a"), results("a", text="first", first=True)], "immediately after: a."),
        ([results("a")], "unexpected `tool_use_id` found in `tool_result` blocks: a."),
        ([USER, use("a"), results("a", "a")], "each tool_use must have a single result"),
        ([USER, use("a", "a"), results("a")], "`tool_use` ids must be unique"),
        ([USER, use("a b"), results("a b")], "String should match pattern"),
        ([USER, use(None), USER], "String should match pattern"),
        ([{**USER, "name": "Ada"}], "messages.0.name: Extra inputs are not permitted"),
        ([USER, blocks("assistant", {"type": "thinking", "thinking": "x"})], "thinking.signature: Field required"),
        ([blocks("user", {"type": "thinking", "signature": "s"})], "`thinking` blocks can only be in `assistant`"),
        ([USER, blocks("assistant", {"type": "image", "source": {}})], "`image` blocks can only be in `user`"),
        ([USER, blocks("assistant", {"type": "tool_use", "id": "a", "input": {}})], "tool_use.name: Field required"),
        ([USER, use("a"), blocks("user", failed(""))], "content cannot be empty if `is_error` is true"),
        ([USER, use("a"), blocks("user", failed(None))], "Input should be a valid list"),
    ],
)
def test_anthropic_refuses(messages, said):
    assert any(said in text for text in check_anthropic(messages)), check_anthropic(messages)


def test_an_empty_system_block_is_refused():
    assert check_anthropic([USER], [{"type": "text", "text": ""}]) == ["system: text content blocks must be non-empty"]
