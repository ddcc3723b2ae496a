"""Each fault of the chaos server, seen over real HTTP."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest

from memhold.errors import InvalidInput
from memhold.testing import ChaosServer, FakeClock
from memhold.testing.chaos import (
    FAULTS,
    OK,
    Character,
    Machine,
    Reply,
    answer,
    calling,
    fault,
    fault_names,
    rows,
    rows_of,
    serve_chaos,
)
from tests.rest.serving import NO_TLS

PARAMETERS = {
    "type": "object",
    "properties": {"history_entry": {"type": "string"}, "importance": {"enum": ["low", "mid"]}},
    "required": ["history_entry"],
}
TOOL = {"type": "function", "function": {"name": "save_memory", "parameters": PARAMETERS}}
MESSAGES = [{"role": "user", "content": "I moved to Oslo"}]


@pytest.fixture
async def client():
    async with httpx2.AsyncClient(timeout=10, trust_env=False, verify=NO_TLS) as made:
        yield made


@pytest.fixture
async def server():
    async with ChaosServer() as made:
        yield made


async def chat(client, server, path="/v1/chat/completions", **more):
    body = {"model": "m", "messages": MESSAGES, "tools": [TOOL], **more}
    return await client.post(server.url + path, json=body)


async def embed(client, server, texts=("a", "b", "c"), model="e"):
    return await client.post(server.url + "/v1/embeddings", json={"model": model, "input": list(texts)})


def message_of(response):
    return response.json()["choices"][0]["message"]


def arguments_of(response):
    return json.loads(message_of(response)["tool_calls"][0]["function"]["arguments"])


def events_of(text):
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ") and line != "data: [DONE]"]


# ------------------------------------------------------------------------------------------- answers


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/chat/completions", "/openai/v1/chat/completions"])
async def test_openai_chat_calls_the_tool(client, server, path):
    response = await chat(client, server, path)
    assert arguments_of(response) == {"history_entry": "I moved to Oslo", "importance": "mid"}
    assert response.json()["choices"][0]["finish_reason"] == "tool_calls"


async def test_openai_stream_adds_up_to_the_same(client, server):
    response = await chat(client, server, stream=True, stream_options={"include_usage": True})
    events = events_of(response.text)
    parts = [
        call["function"].get("arguments", "")
        for event in events
        for choice in event["choices"]
        for call in choice["delta"].get("tool_calls", ())
    ]
    assert json.loads("".join(parts))["history_entry"] == "I moved to Oslo"
    assert events[-1]["usage"]["total_tokens"] > 0
    assert response.text.endswith("data: [DONE]\n\n")


async def test_anthropic_answers_whole_and_streamed(client, server):
    body = {
        "model": "c",
        "max_tokens": 500,
        "messages": MESSAGES,
        "tools": [{"name": "save_memory", "input_schema": PARAMETERS}],
        "tool_choice": {"type": "tool", "name": "save_memory"},
    }
    whole = (await client.post(server.url + "/v1/messages", json=body)).json()
    assert (whole["stop_reason"], whole["content"][0]["input"]["history_entry"]) == ("tool_use", "I moved to Oslo")
    streamed = await client.post(server.url + "/v1/messages", json={**body, "stream": True})
    events = events_of(streamed.text)
    parts = [one["delta"]["partial_json"] for one in events if one["type"] == "content_block_delta"]
    assert json.loads("".join(parts)) == whole["content"][0]["input"]
    assert [events[0]["type"], events[-1]["type"]] == ["message_start", "message_stop"]


@pytest.mark.parametrize(
    ("thinking", "seen"),
    [
        ({"type": "enabled", "budget_tokens": 1024}, True),
        ({"type": "adaptive"}, True),
        ({"type": "adaptive", "display": "omitted"}, False),
        ({"type": "disabled"}, None),
    ],
)
async def test_anthropic_thinks_where_it_is_asked_to(client, server, thinking, seen):
    """A block of its own, signed, before all else; whole and streamed the same, and fit to be sent back."""
    tools = [{"name": "save_memory", "input_schema": PARAMETERS}]
    body = {"model": "c", "max_tokens": 2048, "messages": MESSAGES, "tools": tools, "thinking": thinking}
    whole = (await client.post(server.url + "/v1/messages", json=body)).json()
    thoughts = [block for block in whole["content"] if block["type"] == "thinking"]
    assert [bool(block["thinking"]) for block in thoughts] == ([] if seen is None else [seen])
    assert whole["content"][: len(thoughts)] == thoughts
    assert all(block["signature"] for block in thoughts)
    assert {"cache_creation_input_tokens", "cache_read_input_tokens"} <= whole["usage"].keys()
    streamed = await client.post(server.url + "/v1/messages", json={**body, "stream": True})
    deltas = [one["delta"] for one in events_of(streamed.text) if one["type"] == "content_block_delta"]
    said = "".join(one["thinking"] for one in deltas if one["type"] == "thinking_delta")
    assert [said] * len(thoughts) == [block["thinking"] for block in thoughts]
    assert sum(one["type"] == "signature_delta" for one in deltas) == len(thoughts)
    (call,) = [block for block in whole["content"] if block["type"] == "tool_use"]
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "kept"}
    later = [*MESSAGES, {"role": "assistant", "content": whole["content"]}, {"role": "user", "content": [result]}]
    assert (await client.post(server.url + "/v1/messages", json={**body, "messages": later})).status_code == 200


async def test_anthropic_refuses_what_does_not_go_with_thinking(client, server):
    body = {
        "model": "c",
        "max_tokens": 2048,
        "messages": MESSAGES,
        "tools": [{"name": "save_memory", "input_schema": PARAMETERS}],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    forced = await client.post(server.url + "/v1/messages", json={**body, "tool_choice": {"type": "any"}})
    assert (forced.status_code, "forces tool use" in forced.text) == (400, True)
    small = await client.post(server.url + "/v1/messages", json={**body, "max_tokens": 1024})
    assert (small.status_code, "budget_tokens" in small.text) == (400, True)


async def test_anthropic_answers_in_a_schema_counts_tokens_and_carries_out_its_own_tools(client, server):
    own = {"type": "web_search_20250305", "name": "web_search"}
    body = {"model": "c", "max_tokens": 500, "messages": MESSAGES, "tools": [own]}
    plain = (await client.post(server.url + "/v1/messages", json=body)).json()
    assert [block["type"] for block in plain["content"]] == ["text"]
    formed = {"format": {"type": "json_schema", "schema": PARAMETERS}}
    shaped = (await client.post(server.url + "/v1/messages", json={**body, "output_config": formed})).json()
    assert json.loads(shaped["content"][0]["text"])["history_entry"] == "I moved to Oslo"
    counted = await client.post(server.url + "/v1/messages/count_tokens", json={"model": "c", "messages": MESSAGES})
    assert counted.json()["input_tokens"] == plain["usage"]["input_tokens"]


@pytest.mark.parametrize(
    ("path", "tools"),
    [
        ("/v1/messages", [{"name": f"mcp__{s}__find", "input_schema": {"type": "object"}} for s in ("web", "notes")]),
        (
            "/v1/responses",
            [
                {"type": "namespace", "name": f"mcp__{s}", "tools": [{"type": "function", "name": "find"}]}
                for s in ("web", "notes")
            ],
        ),
        (
            "/v1/chat/completions",
            [{"type": "function", "function": {"name": f"{s}_find", "parameters": {}}} for s in ("web", "notes")],
        ),
    ],
)
async def test_a_script_calls_the_tool_of_an_mcp_server_by_its_own_name(client, server, path, tools):
    server.say(calling([("find", {"query": "tea"}), ("lost", {})], server="notes", then="Done."))
    body = {"model": "c", "max_tokens": 500, "tools": tools}
    begun = [{"role": "user", "content": "Find it."}]
    key = "input" if path.endswith("responses") else "messages"
    text = (await client.post(server.url + path, json={**body, key: begun})).text
    assert "tea" in text
    assert "notes" in text
    assert "web" not in text
    match path:
        case "/v1/messages":
            call = {"type": "tool_use", "id": "t1", "name": "mcp__notes__find", "input": {}}
            result = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
            later = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        case "/v1/responses":
            call = {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"}
            later = [call, {"type": "function_call_output", "call_id": "c1", "output": "x"}]
        case _:
            call = {"id": "c1", "type": "function", "function": {"name": "notes_find", "arguments": "{}"}}
            later = [{"role": "assistant", "content": None, "tool_calls": [call]}]
            later.append({"role": "tool", "tool_call_id": "c1", "content": "x"})
    missing = (await client.post(server.url + path, json={**body, key: [*begun, *later]})).text
    assert "I was offered no tool lost." in missing
    # Another turn begins anew.
    turns = [*begun, *later, {"role": "assistant", "content": "Well."}, {"role": "user", "content": "Again."}]
    assert "tea" in (await client.post(server.url + path, json={**body, key: turns})).text
    server.say(calling([("find", {})], server="notes", then="Done."))
    assert "Done." in (await client.post(server.url + path, json={**body, key: [*begun, *later]})).text


async def test_ollama_answers_whole_and_streamed(client, server):
    body = {"model": "o", "messages": MESSAGES, "tools": [TOOL], "stream": False}
    whole = (await client.post(server.url + "/api/chat", json=body)).json()
    assert whole["message"]["tool_calls"][0]["function"]["arguments"]["history_entry"] == "I moved to Oslo"
    streamed = await client.post(server.url + "/api/chat", json={**body, "stream": True})
    last = json.loads(streamed.text.splitlines()[-1])
    assert (last["done"], last["done_reason"]) == (True, "stop")
    tags = (await client.get(server.url + "/api/tags")).json()
    assert [one["name"] for one in tags["models"]] == ["o"]
    assert (await client.post(server.url + "/api/show", json={"model": "o"})).status_code == 200
    assert (await client.post(server.url + "/api/show", json={"model": "x"})).status_code == 404


async def test_without_tools_it_talks_and_json_is_json(client, server):
    body = {"model": "m", "messages": MESSAGES}
    plain = await client.post(server.url + "/v1/chat/completions", json=body)
    assert "I moved to Oslo" in message_of(plain)["content"]
    formed = {"type": "json_schema", "json_schema": {"name": "x", "schema": PARAMETERS}}
    shaped = await client.post(server.url + "/v1/chat/completions", json={**body, "response_format": formed})
    assert json.loads(message_of(shaped)["content"])["history_entry"] == "I moved to Oslo"


async def test_embeddings_in_three_shapes_agree(client, server):
    vectors = [one["embedding"] for one in (await embed(client, server)).json()["data"]]
    own = await client.post(server.url + "/api/embed", json={"model": "e", "input": ["a", "b", "c"]})
    old = await client.post(server.url + "/api/embeddings", json={"model": "e", "prompt": "b"})
    assert own.json()["embeddings"] == vectors
    assert old.json()["embedding"] == vectors[1]


async def test_max_tokens_cuts(client, server):
    response = await chat(client, server, max_tokens=3)
    assert response.json()["choices"][0]["finish_reason"] == "length"
    with pytest.raises(json.JSONDecodeError):
        arguments_of(response)


# ------------------------------------------------------------------------------------------- rules


async def test_message_rules_are_enforced_in_the_providers_words(client, server):
    orphan = [*MESSAGES, {"role": "tool", "tool_call_id": "a", "content": "x"}]
    refused = await client.post(server.url + "/v1/chat/completions", json={"model": "m", "messages": orphan})
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "messages.[1].role"
    twice = {"model": "c", "max_tokens": 5, "messages": MESSAGES * 2}
    refused = await client.post(server.url + "/v1/messages", json=twice)
    assert (refused.status_code, refused.json()["error"]["type"]) == (400, "invalid_request_error")
    assert "roles must alternate" in refused.json()["error"]["message"]


async def test_what_a_server_is_like(client):
    like = Character(
        models=("m", "e", "plain", "free"), api_key="k", max_input_tokens=10, refuses=("BAD",), no_tools=("plain",),
        no_forcing=("free",),
    )  # fmt: skip
    async with ChaosServer(character=like) as server:
        assert (await chat(client, server)).status_code == 401
        client.headers["authorization"] = "Bearer k"
        assert (await chat(client, server)).status_code == 200
        assert (await chat(client, server, model="x")).status_code == 404
        assert "does not support tools" in (await chat(client, server, model="plain")).text
        assert "tool_choice" in (await chat(client, server, model="free", tool_choice="required")).text
        assert (await chat(client, server, model="free")).status_code == 200
        long = await chat(client, server, messages=[{"role": "user", "content": "word " * 20}])
        assert long.json()["error"]["code"] == "context_length_exceeded"
        assert (await embed(client, server, ["fine", "BAD"])).status_code == 400
        too_long = {"model": "e", "input": ["word " * 20], "truncate": False}
        assert (await client.post(server.url + "/api/embed", json=too_long)).status_code == 400
        del too_long["truncate"]
        assert (await client.post(server.url + "/api/embed", json=too_long)).status_code == 200
        assert [one["id"] for one in (await client.get(server.url + "/v1/models")).json()["data"]] == list(like.models)


# ------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
async def test_every_row_is_answered_as_it_is(client, server, row):
    server.script([row.name, OK])
    response = await (embed if row.kind == "embedding" else chat)(client, server)
    assert (response.status_code, response.text) == (row.status, row.body)
    assert {name: response.headers[name] for name in row.headers} == dict(row.headers)
    assert (await chat(client, server)).status_code == 200


async def test_connections_break_in_each_way(client, server):
    for name in ("reset", "disconnect", "cut"):
        server.script([name])
        with pytest.raises((httpx2.NetworkError, httpx2.RemoteProtocolError)):
            await embed(client, server)
    assert (await embed(client, server)).status_code == 200
    assert [one.fault for one in server.requests] == ["reset", "disconnect", "cut", "ok"]


async def test_refused_until_it_accepts_again(client):
    clock = FakeClock()
    async with ChaosServer(clock=clock) as server:
        server.script(["refuse"])
        with pytest.raises(httpx2.NetworkError):
            await embed(client, server)
        with pytest.raises(httpx2.ConnectError):
            await embed(client, server)
        await clock.elapse(1.0)
        assert (await embed(client, server)).status_code == 200
        server.refuse()
        async with httpx2.AsyncClient(trust_env=False) as other:
            with pytest.raises(httpx2.ConnectError):
                await embed(other, server)
        server.accept()
        assert (await embed(client, server)).status_code == 200


async def test_a_hang_ends_when_released(client, server):
    server.script(["hang"])
    came = asyncio.Event()
    server.watch(lambda _: came.set())
    task = asyncio.create_task(embed(client, server))
    await came.wait()
    done, _ = await asyncio.wait([task], timeout=0.02)
    assert not done
    server.release()
    assert (await task).status_code == 200


async def test_a_drip_pauses_between_a_few_bytes(client):
    clock = FakeClock()
    async with ChaosServer(clock=clock) as server:
        server.script(["drip"])
        task = asyncio.create_task(embed(client, server, ["a"]))
        pauses = 0
        while not task.done():
            if clock.sleepers:
                pauses += 1
                clock.advance(0.05)
            await asyncio.sleep(0)
        body = task.result().content
        assert pauses == -(-len(body) // 8)
        assert json.loads(body)["data"][0]["index"] == 0


async def test_damage_under_status_200(client, server):
    server.script(["truncated-json", "error-in-200", "html", "sse-error", "sse-cut"])
    cut = await chat(client, server)
    assert cut.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        cut.json()
    assert "error" in (await chat(client, server)).json()
    assert "<html>" in (await chat(client, server)).text
    broken = await chat(client, server, stream=True)
    assert "error" in events_of(broken.text)[-1]
    assert "choices" in events_of(broken.text)[0]
    early = await chat(client, server, stream=True)
    assert "[DONE]" not in early.text
    assert events_of(early.text)


async def test_replies_that_are_no_success(client, server):
    names = (
        "prose", "wrong-tool", "empty-arguments", "null-arguments", "fenced-json", "arguments-string", "arguments-list",
        "arguments-broken", "arguments-object", "cut-at-limit", "two-calls", "refusal-text", "refusal",
        "content-filter", "empty-reply", "error-text",
    )  # fmt: skip
    server.script(names)
    got = {name: await chat(client, server) for name in names}
    good = {"history_entry": "I moved to Oslo", "importance": "mid"}
    assert "tool_calls" not in message_of(got["prose"])
    assert message_of(got["wrong-tool"])["tool_calls"][0]["function"]["name"] != "save_memory"
    assert arguments_of(got["empty-arguments"]) == {}
    assert arguments_of(got["null-arguments"]) == dict.fromkeys(good)
    assert message_of(got["fenced-json"])["content"].startswith("```json\n{")
    assert json.loads(arguments_of(got["arguments-string"])) == good
    assert arguments_of(got["arguments-list"]) == [good]
    assert message_of(got["arguments-object"])["tool_calls"][0]["function"]["arguments"] == good
    for name in ("arguments-broken", "cut-at-limit"):
        with pytest.raises(json.JSONDecodeError):
            arguments_of(got[name])
    finishes = {name: response.json()["choices"][0]["finish_reason"] for name, response in got.items()}
    assert (finishes["cut-at-limit"], finishes["content-filter"]) == ("length", "content_filter")
    assert len(message_of(got["two-calls"])["tool_calls"]) == 2
    assert "can't help" in message_of(got["refusal-text"])["content"]
    assert "can't help" in message_of(got["refusal"])["refusal"]
    assert message_of(got["empty-reply"])["content"] == ""
    assert message_of(got["error-text"])["content"].startswith("Error:")


async def test_anthropic_refuses_with_its_stop_reason(client, server):
    server.script(["refusal"])
    body = {"model": "c", "max_tokens": 50, "messages": MESSAGES}
    assert (await client.post(server.url + "/v1/messages", json=body)).json()["stop_reason"] == "refusal"


async def test_vectors_that_do_not_fit(client, server):
    good = (await embed(client, server)).json()["data"]
    names = [name for name in FAULTS if FAULTS[name].act.__class__.__name__ == "Misbind"]
    server.script(names)
    got = {name: (await embed(client, server)).json()["data"] for name in names}
    assert got["fewer-vectors"] == good[:2]
    assert got["shuffled-vectors"] == good[::-1]
    assert [one["index"] for one in got["duplicate-index"]] == [0, 0, 0]
    assert "index" not in got["no-index"][0]
    assert got["null-vector"][2]["embedding"] is None
    assert got["nan-vector"][2]["embedding"][0] != got["nan-vector"][2]["embedding"][0]
    assert set(got["zero-vector"][2]["embedding"]) == {0.0}
    assert len(got["other-dimension"][0]["embedding"]) == len(good[0]["embedding"]) + 1
    assert got["empty-vectors"] == []


async def test_another_dimension_after_a_restart(client, server):
    before = (await embed(client, server)).json()["data"][0]["embedding"]
    server.change(dimension=32)
    assert (len(before), len((await embed(client, server)).json()["data"][0]["embedding"])) == (64, 32)


async def test_a_model_unloads_while_idle_and_is_still_listed(client):
    clock = FakeClock()
    async with ChaosServer(clock=clock, machine=Machine(idle_unload=60, warm_up=5)) as server:
        assert (await embed(client, server)).status_code == 200
        clock.advance(61)
        gone = await embed(client, server)
        assert (gone.status_code, "Model was unloaded" in gone.text) == (400, True)
        assert [one["id"] for one in (await client.get(server.url + "/v1/models")).json()["data"]] == ["e"]
        clock.advance(1)
        loading = await embed(client, server)
        assert "Failed to load model" in loading.text
        assert "Operation canceled" in loading.text
        clock.advance(5)
        assert (await embed(client, server)).status_code == 200


async def test_one_gpu_evicts_the_other_model(client):
    async with ChaosServer(machine=Machine(one_gpu=True)) as server:
        assert (await chat(client, server)).status_code == 200
        assert [(await embed(client, server)).status_code for _ in range(2)] == [400, 200]
        assert [(await chat(client, server)).status_code for _ in range(2)] == [400, 200]


# ------------------------------------------------------------------------------------------- scripts and chance


async def test_scripts_by_model_and_path_and_what_does_not_fit_waits(client, server):
    server.script(["prose"])
    server.script(["html-502"], model="other")
    server.script(["rate-limit"], path="/v1/models")
    assert (await embed(client, server)).status_code == 200
    assert (await client.get(server.url + "/v1/models")).status_code == 429
    assert (await chat(client, server, model="other")).status_code == 502
    assert server.plan.waiting == 1
    assert "tool_calls" not in message_of(await chat(client, server))
    assert server.plan.waiting == 0
    server.always("rate-limit", model="m")
    assert [(await chat(client, server)).status_code for _ in range(2)] == [429, 429]
    assert (await embed(client, server)).status_code == 200
    server.plan.clear()
    assert (await chat(client, server)).status_code == 200


async def test_chance_is_seeded_by_model(client):
    async def run(seed, models):
        async with ChaosServer(seed=seed) as server:
            server.fail_rate(0.3, ["html-502"])
            found = {"a": [], "b": []}
            for model in models:
                found[model].append((await embed(client, server, ["x"], model)).status_code)
            return found

    one = await run(7, ["a", "b"] * 40)
    other = await run(7, ["a"] * 40 + ["b"] * 40)
    assert one == other
    assert one["a"] != one["b"]
    assert one != await run(8, ["a", "b"] * 40)
    failed = sum(code == 502 for codes in one.values() for code in codes)
    assert 10 <= failed <= 40


def test_names_and_rows():
    assert len(set(fault_names())) == len(fault_names())
    assert [fault(name).name for name in fault_names()] == fault_names()
    with pytest.raises(InvalidInput, match="chaos --list"):
        fault("nonsense")
    with pytest.raises(InvalidInput, match="line 2"):
        rows_of(['{"status": 500, "body": "x"}', '{"status": 500}'])


def test_a_row_of_a_file_is_a_fault(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"status": 418, "body": {"error": "teapot"}, "name": "tea"}\n')
    assert fault(f"{path}:1").act.status == 418


# ------------------------------------------------------------------------------------------- life


def test_it_runs_on_a_thread_and_takes_its_port_again():
    with ChaosServer() as server, httpx2.Client(trust_env=False) as client:
        assert client.get(server.url + "/v1/models").status_code == 200
        server.refuse()
        with httpx2.Client(trust_env=False) as other, pytest.raises(httpx2.ConnectError):
            other.get(server.url + "/v1/models")
        server.accept()
        assert client.get(server.url + "/v1/models").status_code == 200
        port = int(server.url.rpartition(":")[2])
    with ChaosServer(port=port) as again, httpx2.Client(trust_env=False) as client:
        assert client.get(again.url + "/models").status_code == 200


def test_a_taken_port_is_an_error_in_the_caller():
    with ChaosServer() as server, pytest.raises(OSError, match="in use"):
        ChaosServer(port=int(server.url.rpartition(":")[2])).__enter__()


async def test_it_records_what_it_was_asked(client, server):
    await client.post(server.url + "/v1/embeddings", json={"model": "e", "input": "x"}, headers={"x-mark": "1"})
    (one,) = server.asked(model="e", path="/embeddings")
    assert (one.method, one.body["input"], one.headers["x-mark"], one.fault) == ("POST", "x", "1", "ok")


async def test_it_stands_in_front_of_another_server(client, server):
    async with ChaosServer(upstream=server.url + "/v1") as proxy:
        straight, through = await chat(client, server), await chat(client, proxy)
        assert arguments_of(through) == arguments_of(straight)
        streamed = await chat(client, proxy, stream=True)
        assert streamed.text.endswith("data: [DONE]\n\n")
        before = len(server.requests)
        proxy.script(["rate-limit", "prose", "truncated-json", "shuffled-vectors", answer(418, {"a": 1})])
        assert (await chat(client, proxy)).status_code == 429
        assert "tool_calls" not in message_of(await chat(client, proxy))
        assert len(server.requests) == before
        with pytest.raises(json.JSONDecodeError):
            (await chat(client, proxy)).json()
        assert [one["index"] for one in (await embed(client, proxy)).json()["data"]] == [2, 1, 0]
        assert (await chat(client, proxy)).json() == {"a": 1}
        assert [one.path for one in server.requests[before:]] == ["/v1/chat/completions", "/v1/embeddings"]
        server.refuse()
    async with ChaosServer(upstream=server.url) as proxy:
        assert (await embed(client, proxy)).status_code == 502


async def test_the_command_says_its_url_and_each_request(client):
    said, serving, stop = [], asyncio.Event(), asyncio.Event()

    def say(line):
        said.append(line)
        serving.set()

    task = asyncio.create_task(serve_chaos(faults=["html-502"], say=say, stop=stop))
    await serving.wait()
    response = await client.post(f"{said[0]}/v1/embeddings", json={"model": "e", "input": "x"})
    stop.set()
    await task
    assert response.status_code == 502
    assert said[1] == "POST /v1/embeddings e html-502"


async def test_responses_answer_whole_and_streamed(client, server):
    """The API that Codex speaks; the tools of an MCP server come as a namespace."""
    inner = {"type": "function", "name": "save_memory", "parameters": PARAMETERS}
    body = {
        "model": "r",
        "instructions": "Be brief.",
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "I moved to Oslo"}]}],
        "tools": [{"type": "namespace", "name": "mcp__memhold", "tools": [inner]}, {"type": "web_search"}],
    }
    whole = (await client.post(server.url + "/v1/responses", json=body)).json()
    (called,) = whole["output"]
    assert (called["type"], called["name"], called["namespace"]) == ("function_call", "save_memory", "mcp__memhold")
    assert json.loads(called["arguments"])["history_entry"] == "I moved to Oslo"
    streamed = await client.post(server.url + "/v1/responses", json={**body, "stream": True})
    events = events_of(streamed.text)
    assert [one["sequence_number"] for one in events] == list(range(len(events)))
    assert [events[0]["type"], events[-1]["type"]] == ["response.created", "response.completed"]
    parts = [one["delta"] for one in events if one["type"] == "response.function_call_arguments.delta"]
    done = [one["item"] for one in events if one["type"] == "response.output_item.done"]
    assert "".join(parts) == called["arguments"] == done[0]["arguments"]
    assert events[-1]["response"]["usage"]["total_tokens"] > 0
    result = {"type": "function_call_output", "call_id": called["call_id"], "output": "saved"}
    spoken = {**body, "input": [*body["input"], called, result]}
    (said,) = (await client.post(server.url + "/v1/responses", json=spoken)).json()["output"]
    assert said["content"][0]["type"] == "output_text"
    server.script(["refusal", "cut-at-limit", answer(500, {"error": {"type": "server_error"}})])
    (refused,) = (await client.post(server.url + "/v1/responses", json=body)).json()["output"]
    assert refused["content"][0]["type"] == "refusal"
    cut = (await client.post(server.url + "/v1/responses", json=body)).json()
    assert (cut["status"], cut["incomplete_details"]["reason"]) == ("incomplete", "max_output_tokens")
    assert (await client.post(server.url + "/v1/responses", json=body)).json()["error"]["type"] == "server_error"


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/chat/completions", "/v1/messages", "/api/chat"])
async def test_what_a_model_says_can_be_given(client, server, path):
    """Whatever the protocol, who scripts the model sees what was asked and says what it answers."""
    seen = []

    def said(asked):
        seen.append(asked.texts[-1])
        return Reply(text="pomelo") if "fruit" in asked.texts[-1][1] else None

    server.say(said)
    for text, expected in (("which fruit?", True), ("which tree?", False)):
        turn = {"role": "user", "content": text}
        body = {"model": "m", "messages": [turn], "input": [turn], "stream": False, "max_tokens": 100}
        answer = await client.post(server.url + path, json=body)
        assert ("pomelo" in answer.text) is expected
    assert seen == [("user", "which fruit?"), ("user", "which tree?")]
    server.say(None)
    assert "pomelo" not in (await client.post(server.url + path, json=body)).text
