"""The form in which a link is asked: schemas for local servers, one form down once, and replies that go in circles."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from memhold.errors import ModelError
from memhold.ports.models import ChatReply, ChatRequest
from memhold.providers.chat import chat_model
from memhold.providers.chat.forms import Forms, RepeatWatch, schema_of
from memhold.providers.entry import Entry
from memhold.testing import ChaosServer
from tests.providers.chain_fakes import TOOL, a_request
from tests.scripted_server import Answer, Asked, ScriptedServer

LOCAL = Entry(name="m", protocol="openai-chat", model="m", base_url="http://127.0.0.1:9/v1")
HOSTED = Entry(name="m", protocol="openai-chat", model="m", base_url="https://api.example.com/v1")
GOOD = json.dumps({"history_entry": "x"})


class Server:
    """What a server answers in each form: a text, or an error."""

    def __init__(self, **answers: str | ModelError) -> None:
        self.answers, self.asked = answers, []  # type: ignore[var-annotated]

    async def __call__(self, _: ChatRequest, form: str) -> ChatReply:
        self.asked.append(form)
        answer = self.answers[form]
        if isinstance(answer, ModelError):
            raise answer
        return ChatReply(model="m", text=answer)


def refusal(rule: str) -> ModelError:
    return ModelError("no", model="m", cls="next", status=400, rule=rule)


def test_a_local_server_is_asked_by_a_schema_and_a_hosted_one_by_a_tool() -> None:
    assert (LOCAL.form, HOSTED.form) == ("schema", "tool")


async def test_arguments_in_a_text_are_the_call() -> None:
    reply = await Forms(LOCAL).ask(a_request(), Server(schema=GOOD))
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("save_memory", {"history_entry": "x"})]


@pytest.mark.parametrize("first", ["Sure, noted!", refusal("schema"), refusal("parameter")])
async def test_a_form_that_fails_is_followed_by_the_next_once_and_for_good(first: Any) -> None:
    forms, server = Forms(LOCAL), Server(schema=first, object=GOOD)
    for _ in range(2):
        assert (await forms.ask(a_request(), server)).tool_calls
    assert server.asked == ["schema", "object", "object"]


async def test_forms_that_the_server_refuses_are_passed_until_one_is_taken() -> None:
    learned: list[str] = []
    forms = Forms(HOSTED, learned=learned.append)
    server = Server(tool=refusal("no-tools"), schema=refusal("form"), object=refusal("parameter"), text=GOOD)
    for _ in range(2):
        assert (await forms.ask(a_request(), server)).tool_calls
    assert server.asked == ["tool", "schema", "object", "text", "text"]
    assert learned == ["text"], "told once, and only of the one that is taken"


async def test_a_server_that_refuses_every_form_is_asked_once_in_each_and_none_is_learned() -> None:
    learned: list[str] = []
    forms = Forms(HOSTED, learned=learned.append)
    server = Server(**dict.fromkeys(("tool", "schema", "object", "text"), refusal("form")))
    with pytest.raises(ModelError):
        await forms.ask(a_request(), server)
    assert server.asked == ["tool", "schema", "object", "text"]
    assert (forms.form, learned) == ("tool", [])


async def test_a_refusal_and_an_answer_without_arguments_are_one_other_form_for_the_model() -> None:
    server = Server(schema=refusal("form"), object="prose", text="prose")
    learned: list[str] = []
    forms = Forms(LOCAL, learned=learned.append)
    assert not (await forms.ask(a_request(), server)).tool_calls
    assert server.asked == ["schema", "object", "text"], "the model itself was asked in two forms"
    assert (forms.form, learned) == ("schema", []), "a form without arguments is not the one to begin with"


async def test_one_other_form_a_request_and_none_where_the_user_named_it() -> None:
    server = Server(schema="prose", object="prose", text=GOOD)
    assert not (await Forms(LOCAL).ask(a_request(), server)).tool_calls
    assert server.asked == ["schema", "object"]
    fixed = Entry(name="m", protocol="openai-chat", model="m", base_url=LOCAL.base_url, structured="schema")
    server = Server(schema="prose")
    assert not (await Forms(fixed).ask(a_request(), server)).tool_calls
    assert server.asked == ["schema"]


@pytest.mark.parametrize("rule", ["status", "auth", "context-length"])
async def test_another_failure_is_the_links(rule: str) -> None:
    server = Server(schema=refusal(rule))
    with pytest.raises(ModelError):
        await Forms(LOCAL).ask(a_request(), server)
    assert server.asked == ["schema"]


async def test_over_http_the_schema_is_sent_without_formats_and_the_answer_is_a_call() -> None:
    async with ChaosServer() as server:
        model = chat_model(Entry(name="m", protocol="openai-chat", model="m", base_url=server.url), keys=lambda _: None)
        reply = await model.chat(a_request())
        await model.close()
        [request] = server.asked(model="m")
    assert reply.tool_calls[0].name == "save_memory"
    assert "tools" not in request.body
    assert request.body["response_format"]["json_schema"]["schema"]["additionalProperties"] is False


def test_a_schema_for_a_grammar_is_closed_and_has_no_formats() -> None:
    found = schema_of(TOOL)
    assert found["additionalProperties"] is False
    given = {
        "type": "object",
        "properties": {"at": {"type": "string", "format": "date-time"}, "format": {"type": "string"}},
    }
    kept = schema_of(type(TOOL)(name="t", description="", parameters=given))
    assert kept["properties"] == {"at": {"type": "string"}, "format": {"type": "string"}}


@pytest.mark.parametrize(
    ("unit", "circles"), [("[", True), ('{"text": "the same"}, ', True), ("a" * 90 + "b" * 200, True)]
)
def test_a_reply_that_goes_in_circles_is_seen(unit: str, circles: bool) -> None:  # noqa: FBT001
    watch = RepeatWatch()
    assert any(watch.circles(unit) for _ in range(2000)) is circles


def test_a_reply_that_goes_on_is_not_cut() -> None:
    watch = RepeatWatch()
    text = "".join(f'{{"attribute": "port of host {n}", "value": "{n * 7919 % 1000}"}}, ' for n in range(400))
    assert not any(watch.circles(text[at : at + 7]) for at in range(0, len(text), 7))


BEGUN = '{"history_entry": "The user moved to Oslo. '


def in_circles(asked: Asked) -> Answer:
    """A stream of either protocol that begins an entry and then says one sentence over and over, without an end."""
    pieces = [BEGUN, *["They asked for a map. "] * 400]
    if asked.path.endswith("/api/chat"):
        lines = [json.dumps({"message": {"content": piece}, "done": False}) for piece in pieces]
        return Answer(type="application/x-ndjson", body="\n".join(lines).encode())
    if asked.path.endswith("/messages"):
        told = [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": one}} for one in pieces
        ]
        begun = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        events = [json.dumps(one) for one in ({"type": "message_start", "message": {}}, begun, *told)]
    else:
        events = [json.dumps({"choices": [{"delta": {"content": piece}}]}) for piece in pieces]
    return Answer(type="text/event-stream", body="".join(f"data: {event}\n\n" for event in events).encode())


@pytest.mark.parametrize("protocol", ["openai-chat", "ollama-chat", "anthropic-messages"])
async def test_a_reply_in_circles_is_none_but_for_a_request_that_takes_what_came_before(protocol: Any) -> None:
    with ScriptedServer(in_circles) as server:
        model = chat_model(Entry(name="m", protocol=protocol, model="m", base_url=server.url), keys=lambda _: None)
        with pytest.raises(ModelError, match="repeats itself") as raised:
            await model.chat(a_request())
        cut = await model.chat(replace(a_request(), partial=True))
        await model.close()
    assert raised.value.cls == "next"
    assert (cut.finish, cut.tool_calls) == ("length", ())
    assert cut.text.startswith(BEGUN)
    assert len(cut.text) < 2000, "the rest was not waited for"


def thinks_in_circles(asked: Asked) -> Answer:
    """A stream of either protocol in which a model thinks one sentence over and over, and says nothing."""
    pieces = ["They asked for a map. "] * 400
    if asked.path.endswith("/api/chat"):
        lines = [json.dumps({"message": {"content": "", "thinking": piece}, "done": False}) for piece in pieces]
        return Answer(type="application/x-ndjson", body="\n".join(lines).encode())
    if asked.path.endswith("/messages"):
        told = [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": one}}
            for one in pieces
        ]
        events = [json.dumps(one) for one in ({"type": "message_start", "message": {}}, *told)]
    else:
        events = [json.dumps({"choices": [{"delta": {"reasoning_content": piece}}]}) for piece in pieces]
    return Answer(type="text/event-stream", body="".join(f"data: {event}\n\n" for event in events).encode())


@pytest.mark.parametrize("protocol", ["openai-chat", "ollama-chat", "anthropic-messages"])
async def test_thoughts_in_circles_are_no_answer_whatever_the_request_takes(protocol: Any) -> None:
    with ScriptedServer(thinks_in_circles) as server:
        model = chat_model(Entry(name="m", protocol=protocol, model="m", base_url=server.url), keys=lambda _: None)
        with pytest.raises(ModelError, match="repeats itself") as raised:
            await model.chat(replace(a_request(), partial=True))
        await model.close()
    assert raised.value.cls == "next"
