"""Answers that no provider documents and servers give: odd shapes, odd line ends, no end, keys that are no header."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pickle
import traceback

import pytest
from chain_fakes import a_request
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhold.errors import ModelError
from memhold.providers import body
from memhold.providers.chat import chat_model
from memhold.providers.chat.anthropic import _Collected as AnthropicCollected
from memhold.providers.chat.openai import _Collected as OpenAICollected
from memhold.providers.entry import Entry

SSE = "text/event-stream"


@contextlib.asynccontextmanager
async def serving(kind, parts, *, endless=False):
    """A server that answers every request with these parts, byte for byte."""
    sent = 0

    async def answer(reader, writer):
        nonlocal sent
        with contextlib.suppress(ConnectionError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(one.split(b":")[1]) for one in head.split(b"\r\n") if b"content-length" in one.lower())
            await reader.readexactly(length)
            writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n".encode())
            while True:
                for part in parts:
                    writer.write(part)
                    sent += len(part)
                    await writer.drain()
                if not endless:
                    break
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", lambda: sent


async def asked(url, protocol="openai-chat", key=None):
    entry = Entry(name="m", protocol=protocol, model="m", base_url=url, api_key_env="KEY" if key else None)
    model = chat_model(entry, keys=lambda _: key)
    try:
        return await model.chat(a_request())
    finally:
        await model.close()


def events(*values, end="\n\n"):
    said = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values)
    return "".join(f"data: {one}{end}" for one in said).encode()


def chunk(delta, finish=None):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\r\r"])
@pytest.mark.parametrize("size", [1, 2, 10_000])
async def test_lines_end_where_the_standard_says_and_nowhere_else(end, size):
    said = "a\u2028b\u2029c\x85d\x0ce 좋아하는 😀"
    whole = b": comment\n\n" + events(chunk({"content": said}), chunk({}, "stop"), end=end)
    async with serving(SSE, [whole[at : at + size] for at in range(0, len(whole), size)]) as (url, _):
        assert (await asked(url)).text == said


async def test_reasoning_that_comes_in_pieces_is_left_out():
    said = [chunk({"content": part}) for part in ("<thi", "nk>sec", "ret</th", "ink>", "Yes.")]
    async with serving(SSE, [events(*said, chunk({"reasoning_content": "secret"}), chunk({}, "stop"))]) as (url, _):
        assert (await asked(url)).text == "Yes."


TOLD = '{"attribute": "home", "value": "Oslo"}, '
THOUGHT = "Wait, let me think about that again. "
CIRCLES = {
    "openai-chat text": (SSE, "openai-chat", [], chunk({"content": TOLD})),
    "openai-chat parts": (SSE, "openai-chat", [], chunk({"content": [{"type": "text", "text": TOLD}]})),
    "openai-chat call": (
        SSE,
        "openai-chat",
        [],
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": TOLD}}]}),
    ),
    "openai-chat thoughts": (SSE, "openai-chat", [], chunk({"reasoning_content": THOUGHT})),
    "openai-chat reasoning": (SSE, "openai-chat", [], chunk({"reasoning": THOUGHT})),
    **{
        f"anthropic-messages {kind}": (
            SSE,
            "anthropic-messages",
            [
                {"type": "message_start", "message": {}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": block}},
            ],
            {"type": "content_block_delta", "index": 0, "delta": {"type": kind, field: said}},
        )
        for kind, block, field, said in (
            ("text_delta", "text", "text", TOLD),
            ("input_json_delta", "tool_use", "partial_json", TOLD),
            ("thinking_delta", "thinking", "thinking", THOUGHT),
        )
    },
    "ollama-chat text": ("application/x-ndjson", "ollama-chat", [], {"message": {"content": TOLD}}),
    "ollama-chat thoughts": ("application/x-ndjson", "ollama-chat", [], {"message": {"thinking": THOUGHT}}),
}


@pytest.mark.parametrize("name", CIRCLES)
async def test_a_reply_that_repeats_itself_is_cut_in_every_protocol(name):
    kind, protocol, begin, again = CIRCLES[name]
    once = events if kind == SSE else lambda *values: "".join(json.dumps(one) + "\n" for one in values).encode()
    async with serving(kind, [once(*begin, *[again] * 4000), once(*[again] * 4000)], endless=True) as (url, _):
        with pytest.raises(ModelError) as caught:
            await asked(url, protocol)
    assert (caught.value.cls, caught.value.code) == ("next", "repeats")


async def test_thoughts_that_repeat_themselves_cost_no_answer_that_came_whole():
    message = {"content": "Yes.", "reasoning_content": THOUGHT * 40}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    async with serving("application/json", [json.dumps(answer).encode()]) as (url, _):
        assert (await asked(url)).text == "Yes."


async def test_calls_of_tools_that_come_interleaved_or_under_one_index():
    def call(index, **values):
        return chunk({"tool_calls": [{"index": index, **values}]})

    woven = [
        call(0, id="a", function={"name": "one", "arguments": ""}),
        call(1, id="b", function={"name": "two", "arguments": '{"y"'}),
        call(0, function={"arguments": '{"x": 1}'}),
        call(1, id="b", function={"arguments": ": 2}"}),
    ]
    # Gemini's OpenAI endpoint has sent each of several calls whole, and all under index 0.
    piled = [
        call(0, id="a", function={"name": "one", "arguments": '{"x": 1}'}),
        call(0, id="b", function={"name": "two", "arguments": '{"y": 2}'}),
    ]
    for said in (woven, piled):
        async with serving(SSE, [events(*said, chunk({}, "tool_calls"))]) as (url, _):
            reply = await asked(url)
        assert [(one.id, one.name, one.arguments) for one in reply.tool_calls] == [
            ("a", "one", {"x": 1}),
            ("b", "two", {"y": 2}),
        ]


async def test_an_error_event_is_an_error_whatever_it_holds():
    for data in ('{"message": "down", "code": 503}', "down", '{"a":\ndata: 1}'):
        said = events(chunk({"content": "half"})) + f"event: error\ndata: {data}\n\n".encode()
        async with serving(SSE, [said + events(chunk({}, "stop"), "[DONE]")]) as (url, _):
            with pytest.raises(ModelError) as raised:
                await asked(url)
            assert raised.value.cls == "resample"


@pytest.mark.parametrize("protocol", ["openai-chat", "anthropic-messages", "ollama-chat"])
@pytest.mark.parametrize(
    ("kind", "part"), [(SSE, b"data: x"), (SSE, b"data: {}\n\n"), ("application/json", b'{"a": 1, "b": "')]
)
async def test_an_answer_without_an_end_is_let_go(monkeypatch, protocol, kind, part):
    monkeypatch.setattr(body, "ANSWER_LIMIT", 200_000)
    async with serving(kind, [part * 1000], endless=True) as (url, sent):
        with pytest.raises(ModelError) as raised:
            await asked(url, protocol)
        assert raised.value.cls == "resample"
        assert sent() < 20_000_000


@pytest.mark.parametrize(
    ("protocol", "kind"), [("openai-chat", SSE), ("openai-chat", "application/json"), ("ollama-chat", SSE)]
)
async def test_an_answer_of_other_bytes_is_none(protocol, kind):
    """A replacement character in the place of what was lost would be stored as what the model said."""
    said = b'{"choices": [{"message": {"content": "caf\xe9"}, "delta": {"content": "caf\xe9"}}]}'
    async with serving(kind, [b"data: " + said + b"\n\n" if kind == SSE and "chat" in protocol else said]) as (url, _):
        with pytest.raises(ModelError) as raised:
            await asked(url, protocol)
    assert (raised.value.cls, raised.value.code) == ("resample", "garbled")


@pytest.mark.parametrize("key", ["sk-sécret", "sk-se\ncret", "sk-\x00secret"])
async def test_a_key_that_is_no_header_is_named_and_not_shown(key):
    async with serving(SSE, []) as (url, sent):
        with pytest.raises(ModelError) as raised:
            await asked(url, key=key)
    assert (raised.value.cls, raised.value.code, sent()) == ("auth", "bad_key", 0)
    shown = "".join(traceback.format_exception(raised.value)) + repr(pickle.dumps(raised.value))
    assert "KEY" in shown
    assert "cret" not in shown


async def test_a_key_that_brings_the_end_of_its_line_works():
    async with serving(SSE, [events(chunk({"content": "Yes."}), chunk({}, "stop"))]) as (url, _):
        assert (await asked(url, key="sk-1\n")).text == "Yes."


NAMES = st.sampled_from(
    [
        "choices",
        "delta",
        "message",
        "content",
        "tool_calls",
        "function",
        "arguments",
        "name",
        "id",
        "index",
        "finish_reason",
        "usage",
        "prompt_tokens",
        "type",
        "text",
        "partial_json",
        "content_block",
        "input",
        "stop_reason",
        "error",
        "done",
        "eval_count",
        "x_groq",
        "refusal",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.text("a<{", max_size=3)
    | st.sampled_from(["text", "tool_use", "text_delta", "message_start", "content_block_start", "message_delta"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=4), max_size=3), st.booleans())
def test_no_shape_of_an_event_breaks_the_collecting(values, whole):
    openai, anthropic = OpenAICollected(), AnthropicCollected()
    for value in values:
        openai.take({"choices": [value], **value}, whole=whole)
        (anthropic.take_whole if whole else anthropic.take)(value)
    for reply in (openai.reply("m"), anthropic.reply("m")):
        assert isinstance(reply.text, str)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=4), min_size=1, max_size=3), st.integers(0, 2))
def test_any_json_gives_an_answer_or_a_plain_error(values, which):
    protocol = ("openai-chat", "anthropic-messages", "ollama-chat")[which]
    kind = SSE if which < 2 else "application/x-ndjson"
    said = events(*values) if which < 2 else "".join(json.dumps(value) + "\n" for value in values).encode()

    async def once():
        async with serving(kind, [said]) as (url, _):
            with contextlib.suppress(ModelError):
                await asked(url, protocol)

    asyncio.run(once())
