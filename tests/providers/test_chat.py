"""The chat adapters over real HTTP, against the chaos server."""

from __future__ import annotations

import asyncio
import json
import warnings
from dataclasses import replace

import pytest
from chain_fakes import TOOL, a_request

from memhold.errors import InvalidSetting, ModelError
from memhold.ports.models import ChatRequest, ChatTurn
from memhold.providers.chat import chat_model
from memhold.providers.entry import Entry
from memhold.testing.chaos import ChaosServer, answer
from memhold.wiring.system import SystemClock

PROTOCOLS = ("openai-chat", "anthropic-messages", "ollama-chat")
KEYS = {"KEY_A": "key-a", "KEY_B": "key-b"}


def an_entry(server, protocol="openai-chat", **values):
    return Entry(**{"name": "link", "protocol": protocol, "model": "m1", "base_url": server.url, **values})


async def asked(entry, request=None):
    model = chat_model(entry, keys=KEYS.get, clock=SystemClock())
    try:
        return await model.chat(request or a_request())
    finally:
        await model.close()


@pytest.fixture
async def server():
    async with ChaosServer() as running:
        yield running


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_the_tool_is_called_streamed_and_whole(server, protocol, stream):
    reply = await asked(an_entry(server, protocol, stream=stream))
    assert reply.finish == "tool"
    assert [call.name for call in reply.tool_calls] == ["save_memory"]
    assert isinstance(reply.tool_calls[0].arguments, dict)
    assert reply.tool_calls[0].id
    assert reply.model == "link"
    assert reply.usage.input_tokens > 0 < reply.usage.output_tokens
    assert bool(server.requests[-1].body.get("stream")) is stream


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_text_turns_and_settings_arrive(server, protocol):
    turns = (
        ChatTurn(role="user", text="one"),
        ChatTurn(role="assistant", text="two"),
        ChatTurn(role="user", text="three"),
    )
    request = ChatRequest(system="be brief", turns=turns, purpose="test", max_tokens=77, temperature=0.25)
    reply = await asked(an_entry(server, protocol, options={"seed": 5}), request)
    assert reply.text
    assert reply.finish == "stop"
    sent = json.dumps(server.requests[-1].body)
    for part in ('"one"', '"two"', '"three"', "be brief", "77", "0.25", '"seed": 5'):
        assert part in sent


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_reasoning_is_left_out(server, protocol):
    server.script(["thinking"])
    reply = await asked(an_entry(server, protocol), a_request(tool=None))
    assert reply.text
    assert "think" not in reply.text.lower()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("fault", "cls"),
    [
        ("sse-error", "resample"),
        ("sse-cut", "resample"),
        ("cut", "resample"),
        ("truncated-json", "resample"),
        ("rate-limit", "retry"),
        ("reset", "retry"),
        ("disconnect", "retry"),
        ("html-502", "retry"),
        ("error-in-200", "retry"),
        ("openai-key", "auth"),
        ("openai-quota", "park"),
        ("openai-context", "shorten"),
        ("openai-orphan", "poison"),
        ("openai-policy", "next"),
        ("gateway-wrapped", "poison"),
    ],
)
async def test_every_way_to_fail_becomes_a_plain_error(server, protocol, fault, cls):
    server.script([fault])
    with pytest.raises(ModelError) as caught:
        await asked(an_entry(server, protocol))
    assert caught.value.cls == cls
    assert caught.value.model == "link"
    assert len(server.asked(model="m1")) == 1


async def test_a_server_that_is_not_there():
    entry = Entry(name="link", protocol="openai-chat", model="m", base_url="http://127.0.0.1:1")
    with pytest.raises(ModelError) as caught:
        await asked(entry)
    assert (caught.value.cls, caught.value.status, caught.value.cause) == ("retry", None, "ConnectError")


@pytest.mark.parametrize(
    ("fault", "finish"),
    [("cut-at-limit", "length"), ("refusal", "refusal"), ("content-filter", "refusal"), ("prose", "stop")],
)
async def test_what_looks_like_success_is_told_as_it_is(server, fault, finish):
    server.script([fault])
    assert (await asked(an_entry(server))).finish == finish


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("arguments-broken", str), ("arguments-string", str), ("arguments-list", list), ("empty-arguments", dict)],
)
async def test_arguments_are_what_the_model_sent(server, fault, kind):
    server.script([fault])
    reply = await asked(an_entry(server))
    assert isinstance(reply.tool_calls[0].arguments, kind)


@pytest.mark.parametrize("protocol", ["openai-chat", "anthropic-messages"])
async def test_forcing_is_dropped_once_and_for_good_where_it_is_refused(server, protocol):
    server.script([answer(400, {"error": {"message": "tool_choice is not supported with this model"}})])
    model = chat_model(an_entry(server, protocol, structured="tool"), keys=KEYS.get)
    for _ in range(2):
        assert (await model.chat(a_request())).finish == "tool"
    await model.close()
    sent = [request.body.get("tool_choice") for request in server.asked(model="m1")]
    choices = [choice.get("type") if isinstance(choice, dict) else choice for choice in sent]
    # llama.cpp and LM Studio take the word alone.
    forced = {"openai-chat": "required", "anthropic-messages": "tool"}[protocol]
    free = {"openai-chat": None, "anthropic-messages": "auto"}[protocol]
    assert choices == [forced, free, free]


REFUSED_TEMPERATURES = (
    {"message": "Unsupported value: 'temperature' does not support 0 with this model.", "code": "unsupported_value"},
    {"type": "invalid_request_error", "message": "`temperature` may only be set to 1 when thinking is enabled."},
)


@pytest.mark.parametrize("refusal", REFUSED_TEMPERATURES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_temperature_is_left_out_once_and_for_good_where_it_is_refused(server, protocol, refusal):
    server.script([answer(400, {"error": refusal})])
    model = chat_model(an_entry(server, protocol), keys=KEYS.get)
    for _ in range(2):
        assert (await model.chat(replace(a_request(), temperature=0.0))).finish == "tool"
    await model.close()
    sent = [request.body.get("options", request.body) for request in server.asked(model="m1")]
    assert ["temperature" in one for one in sent] == [True, False, False]


async def test_a_temperature_that_was_not_sent_is_not_left_out(server):
    server.always(answer(400, {"error": REFUSED_TEMPERATURES[0]}))
    with pytest.raises(ModelError):
        await asked(an_entry(server))
    assert len(server.asked(model="m1")) == 1


async def test_the_limit_goes_by_its_other_name_once_and_for_good_where_one_is_refused(server):
    refusal = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    server.script([answer(400, {"error": {"message": refusal, "code": "unsupported_parameter"}})])
    model = chat_model(an_entry(server), keys=KEYS.get)
    for _ in range(2):
        assert (await model.chat(replace(a_request(), max_tokens=77))).finish == "tool"
    await model.close()
    names = [
        [name for name in ("max_tokens", "max_completion_tokens") if name in request.body]
        for request in server.asked(model="m1")
    ]
    assert names == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]
    assert server.asked(model="m1")[-1].body["max_completion_tokens"] == 77


async def test_a_limit_that_is_refused_under_both_names_ends_there(server):
    refusal = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    server.always(answer(400, {"error": {"message": refusal}}))
    with pytest.raises(ModelError):
        await asked(an_entry(server))
    assert len(server.asked(model="m1")) == 2


async def test_another_400_is_one_request(server):
    server.always(answer(400, {"error": {"message": "something else", "type": "invalid_request_error"}}))
    with pytest.raises(ModelError):
        await asked(an_entry(server))
    assert len(server.asked(model="m1")) == 1


async def test_a_link_inherits_nothing(server):
    async with ChaosServer() as other:
        first = an_entry(server, api_key_env="KEY_A", headers={"x-first": "1"})
        second = an_entry(other, "anthropic-messages", api_key_env="KEY_B", model="m2")
        third = an_entry(other, "ollama-chat", model="m3")
        for entry in (first, second, third):
            await asked(entry)
        one, (two, three) = server.requests[-1], other.requests[-2:]
        assert (one.headers["authorization"], one.headers["x-first"]) == ("Bearer key-a", "1")
        assert one.path == "/v1/chat/completions"
        assert two.headers["x-api-key"] == "key-b"
        assert two.path == "/v1/messages"
        assert not {"authorization", "x-first"} & set(two.headers)
        assert three.path == "/api/chat"
        assert not {"authorization", "x-first", "x-api-key"} & set(three.headers)


async def test_a_key_that_is_not_set_is_named_and_nothing_is_sent(server):
    with pytest.raises(ModelError) as caught:
        await asked(an_entry(server, api_key_env="ACME_KEY"))
    assert (caught.value.cls, caught.value.code) == ("auth", "no_key")
    assert "ACME_KEY" in str(caught.value)
    assert not server.requests


async def test_a_refused_key_names_its_variable_and_not_its_value(server):
    server.script(["openai-key"])
    with pytest.raises(ModelError) as caught:
        await asked(an_entry(server, api_key_env="KEY_A"))
    assert "KEY_A" in str(caught.value)
    assert "key-a" not in str(caught.value) + repr(caught.value.values)


async def test_a_sample_of_the_providers_words_is_shown_only_when_asked_for(server, monkeypatch, capsys):
    said = {"error": {"message": "no such thing as alice@example.com " + "x" * 400}}
    server.always(answer(500, said))
    with pytest.raises(ModelError):
        await asked(an_entry(server))
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("MEMHOLD_DEBUG_CONTENT", "1")
    with pytest.raises(ModelError) as caught:
        await asked(an_entry(server))
    shown = capsys.readouterr().err
    assert "no such thing as ***" in shown
    assert len(shown) < 300
    assert "such thing" not in str(caught.value) + repr(caught.value.values)


async def test_auto_takes_the_model_that_is_served(server):
    reply = await asked(an_entry(server, model="auto"))
    assert reply.finish == "tool"
    assert server.requests[0].path == "/v1/models"
    assert "embed" not in server.requests[-1].body["model"]


async def test_a_base_url_with_a_version_works_too(server):
    await asked(an_entry(server, base_url=server.url + "/v1/"))
    assert server.requests[-1].path == "/v1/chat/completions"


async def test_cancelling_closes_the_request(server):
    server.script(["hang"])
    arrived, loop = asyncio.Event(), asyncio.get_running_loop()
    server.watch(lambda _: loop.call_soon_threadsafe(arrived.set))
    task = asyncio.ensure_future(asked(an_entry(server)))
    await arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    server.release()


def test_an_entry_that_is_no_chat_model():
    with pytest.raises(InvalidSetting, match="rules"):
        chat_model(Entry(name="r", protocol="rules", model="rules"), keys=KEYS.get)


# ------------------------------------------------------------------------------------------------ pydantic-ai


async def test_the_adapter_for_every_other_provider():
    pytest.importorskip("pydantic_ai")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pydantic_ai.exceptions import ModelHTTPError
        from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
        from pydantic_ai.models.function import FunctionModel

        from memhold.providers.chat.pydantic_ai import PydanticAIChat
    seen = []

    def respond(messages, info):
        seen.append((messages, info))
        if len(seen) == 2:
            raise ModelHTTPError(status_code=429, model_name="m", body={"error": {"code": "insufficient_quota"}})
        if len(seen) == 3:
            raise ModelHTTPError(400, "m", {"message": "tool_choice is not supported by this model"})
        if len(seen) == 5:
            raise TimeoutError
        call = ToolCallPart(tool_name=TOOL.name, args='{"history_entry": "x"}', tool_call_id="c1")
        return ModelResponse(parts=[ThinkingPart("hm"), TextPart("<think>no</think>yes"), call])

    entry = Entry(name="link", protocol="pydantic-ai", model="other:m", options={"top_p": 0.5})
    model = PydanticAIChat(entry, keys=KEYS.get, model=FunctionModel(respond))
    reply = await model.chat(a_request())
    assert (reply.text, reply.finish, reply.tool_calls[0].arguments) == ("yes", "tool", {"history_entry": "x"})
    assert seen[0][1].allow_text_output is False
    assert [tool.name for tool in seen[0][1].function_tools] == [TOOL.name]
    with pytest.raises(ModelError) as caught:
        await model.chat(a_request())
    assert (caught.value.cls, caught.value.status, caught.value.code) == ("park", 429, "insufficient_quota")
    assert (await model.chat(a_request())).finish == "tool"
    assert seen[3][1].allow_text_output is True
    with pytest.raises(ModelError) as late:
        await model.chat(a_request())
    assert (late.value.cls, late.value.slow, late.value.cause) == ("retry", True, "TimeoutError")


async def test_a_server_that_serves_another_model_by_now_is_asked_again(server):
    entry = an_entry(server, model="auto")
    model = chat_model(entry, keys=KEYS.get, clock=SystemClock())
    try:
        await model.chat(a_request())
        listed = len(server.asked(path="/models"))
        server.script([answer(404, {"error": {"message": "The model does not exist", "code": "model_not_found"}})])
        with pytest.raises(ModelError):
            await model.chat(a_request())
        await model.chat(a_request())
        assert len(server.asked(path="/models")) == listed + 1
    finally:
        await model.close()
