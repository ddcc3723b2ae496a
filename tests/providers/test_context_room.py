"""A context that is too small for what we ask: seen in a refusal, told by the server, or written in the entry."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from chain_fakes import Scripted, a_request, failure
from click.testing import CliRunner

from memhold import Memhold
from memhold.asking.room import least_context
from memhold.cli.main import cli
from memhold.errors import ModelError
from memhold.ports.models import ChatTurn
from memhold.providers.chain import Chain, Link
from memhold.providers.chat.ollama import OllamaChat
from memhold.providers.context_room import CONTEXT_TOO_SMALL, Roomed, needed, told_by_server
from memhold.providers.entry import Entry
from memhold.providers.failures.classify import classify
from memhold.providers.link_health import Links, healths
from memhold.testing.clock import FakeClock
from memhold.values.errors import Attempt
from tests.scripted_server import Answer, Asked, ScriptedServer, sent

MINE = Entry(name="mine", protocol="openai-chat", model="qwen3", base_url="http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    ("said", "context"),
    [
        ("request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it", 8192),
        ("This model's maximum context length is 128000 tokens. However, you requested 200000 tokens", 128_000),
        ("the model is loaded with context length of only 4096 tokens, which is not enough", 4096),
        ("prompt is too long: 208310 tokens > 200000 maximum", 200_000),
        ("the input length exceeds the context length", None),
        ("maximum context length is 99999999999999999999 tokens", 10**9),
    ],
)
def test_the_context_that_a_refusal_tells_is_read(said: str, context: int | None) -> None:
    verdict = classify("chat", 400, {}, {"error": {"message": said}})
    assert (verdict.cls, verdict.context) == ("shorten", context)


@pytest.mark.parametrize(
    ("context", "words", "code"),
    [
        (2_048, 5, CONTEXT_TOO_SMALL),
        (8_192, 5, None),  # this question was too long, a smaller one is not
        (None, 5, CONTEXT_TOO_SMALL),  # no smaller one will come
        (None, 20_000, None),
    ],
)
async def test_only_what_no_smaller_question_cures_is_a_context_that_is_too_small(context, words, code) -> None:
    model = Roomed(Scripted("mine", failure("shorten", status=400, context=context)), MINE)
    request = replace(a_request(), turns=(ChatTurn(role="user", text="word " * words),))
    with pytest.raises(ModelError) as caught:
        await model.chat(request)
    assert (caught.value.cls, caught.value.code) == ("shorten", code)
    if code:
        assert f"{needed(MINE):,} tokens or more" in caught.value.reason


async def test_a_link_with_a_larger_context_is_asked_all_the_same() -> None:
    small = Roomed(Scripted("mine", failure("shorten", status=400, context=512)), MINE)
    chain = Chain([Link(model=small, window=512), Link(model=Scripted("large"))], clock=FakeClock(), dice=None)
    assert (await chain.chat(a_request())).text == "fine"


def test_it_is_told_of_an_entry_before_anybody_asked_and_of_a_link_that_showed_it() -> None:
    written = replace(MINE, context_window=2_048)
    told = healths([written], [], {})["mine"]
    assert told.answers is False
    assert "takes 2,048 tokens" in told.told
    assert "llama.cpp: `-c`" in told.told
    assert healths([replace(MINE, context_window=8_192)], [], {})["mine"].answers is None
    seen = Links({"mine": MINE}, clock=FakeClock())
    seen.note(Attempt(model="mine", cls="shorten", status=400, reason="too long for now"))
    assert healths([MINE], seen.take(), {})["mine"].answers is True
    seen.note(Attempt(model="mine", cls="shorten", status=400, code=CONTEXT_TOO_SMALL, reason="its context …"))
    assert healths([MINE], seen.take(), {})["mine"].answers is False


def test_less_is_needed_where_a_model_is_asked_turn_by_turn() -> None:
    small = replace(MINE, model="qwen2.5-1.5b")
    assert needed(small) == least_context(by_turns=True) < needed(MINE) == least_context(by_turns=False)


PLACES = {
    "/v1/models": {"models": [{"name": "a.gguf"}], "data": [{"id": "a.gguf", "meta": {"n_ctx": 2048}}]},
    "/api/v0/models": {"data": [{"id": "other"}, {"id": "qwen3", "loaded_context_length": 4096}]},
    "/api/ps": {"models": [{"name": "qwen3:latest", "context_length": 2048}]},
    "vllm": {"data": [{"id": "served", "max_model_len": 2048}]},
    "nothing": {"data": [{"id": "qwen3"}, {"id": "other"}]},
    "no number": {"data": [{"id": "qwen3", "max_model_len": "many", "meta": [1]}]},
}


async def test_servers_of_four_kinds_tell_their_context() -> None:
    path = ""

    def reply(asked: Asked) -> Answer:
        wanted = path if path.startswith("/") else "/v1/models"
        return sent(PLACES[path] if asked.path == wanted else {"error": "unknown path"})

    with ScriptedServer(reply) as server:
        entry = replace(MINE, base_url=f"{server.url}/v1")
        found = {}
        for path in PLACES:
            found[path] = await told_by_server(entry)
        assert await told_by_server(replace(entry, local=False)) is None, "a hosted one is asked nothing"
    assert found == {
        "/v1/models": 2048,
        "/api/v0/models": 4096,
        "/api/ps": 2048,
        "vllm": 2048,
        "nothing": None,
        "no number": None,
    }


@pytest.mark.parametrize(
    ("given", "window"),
    [
        ({}, 16_384),
        ({"context_window": 8_192}, 8_192),
        ({"options": {"num_ctx": 4_096}, "context_window": 8_192}, 4_096),
    ],
)
async def test_ollama_is_sent_the_context_that_is_counted_on(given: dict[str, Any], window: int) -> None:
    sent_there: list[dict[str, Any]] = []

    def reply(asked: Asked) -> Answer:
        sent_there.append(asked.body)
        return sent({"message": {"content": "fine"}, "done": True, "done_reason": "stop"})

    with ScriptedServer(reply) as server:
        entry = replace(MINE, protocol="ollama-chat", base_url=server.url, **given)
        model = OllamaChat(entry, keys=lambda _: None)
        await model.chat(a_request(tool=None))
        await model.close()
    assert entry.window == window
    assert sent_there[0]["options"]["num_ctx"] == window


async def test_a_server_that_is_not_there_tells_nothing() -> None:
    assert await told_by_server(MINE) is None


def test_models_test_says_what_was_seen_and_what_is_needed_and_doctor_says_it_then(tmp_path) -> None:
    def reply(asked: Asked) -> Answer:
        if asked.body is None:
            return sent(PLACES["/v1/models"])
        call = {"choices": [{"message": {"content": '{"food": "sushi"}'}, "finish_reason": "stop"}]}
        return sent(call)

    runner = CliRunner()
    with ScriptedServer(reply) as server:
        Memhold.open(str(tmp_path / "memory.db"), worker=False).close()
        db, line = ["--db", str(tmp_path / "memory.db")], f"{server.url}/v1#qwen3"
        done = runner.invoke(cli, [*db, "models", "test", line, "--json"])
        [row] = json.loads(done.stdout)["models"]
        assert (done.exit_code, row["reachable"], row["tools"], row["context"]) == (1, True, True, 2048)
        assert "takes 2,048 tokens, and the least that it is asked takes 5,100" in row["text"]
        mine = {"MEMHOLD_CONSOLIDATION": line}
        found = json.loads(runner.invoke(cli, [*db, "doctor", "--json"], env=mine).stdout)
        [finding] = [one for one in found["findings"] if one["check"] == "models"]
        assert "takes 2,048 tokens" in finding["what"]
        assert "5,100 tokens or more" in finding["advice"]
