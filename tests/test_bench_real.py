"""`python -m benchmarks real`: kept replies are replayed, peers are asked in a process of their own, questions scored."""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from benchmarks.losses.page import page, real_cost_table
from benchmarks.losses.run import Results, run_real_costs
from benchmarks.real import Recorded, Window, everyday_windows, run
from benchmarks.real_answers import scored
from benchmarks.real_relay import Relay
from memhold.ports.models import ChatReply, ChatRequest
from memhold.values.errors import FailureClass, ModelError
from tests.scripted_server import Answer, ScriptedServer

SAID = ["I keep two goats, Pia and Bo.", "How nice!", "And I moved to Oslo in May."]
WORLD = {
    "name": "goats",
    "lang": "en",
    "sessions": [
        {
            "id": "s1",
            "messages": [
                {"id": f"m{n}", "role": "user" if n != 2 else "assistant", "content": text, "time": f"2026-05-0{n}T09:00:00+00:00"}
                for n, text in enumerate(SAID, 1)
            ],
        }
    ],
    "questions": [{"q": "Where does she live?", "kind": "paraphrase", "gold": ["m3"], "answer": "in Oslo"}],
}  # fmt: skip
MODULE = """
class Memory:
    @classmethod
    def from_config(cls, config):
        cls.url = config["llm"]["config"]["openai_base_url"]
        return cls()
    def add(self, messages, user_id):
        self.held = [{"memory": one["content"]} for one in messages if one["role"] == "user"] + [{"memory": "Has 9 dogs"}]
        return {"results": self.held}
    def get_all(self, filters, top_k):
        return {"results": self.held}
    def search(self, query, filters, top_k):
        return {"results": self.held}
"""


class Upstream(Relay):
    """A model that answers every request in OpenAI's shape, and counts them in `failed`."""

    def answered(self, body: dict[str, Any]) -> tuple[int, Any]:
        self.failed += 1
        entry = {"history_entry": "The user keeps two goats and moved to Oslo in May.", "facts": [], "notes": []}
        text = json.dumps(entry) if body.get("tools") or body.get("response_format") else "Oslo"
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        return 200, {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


@pytest.fixture
def upstream(tmp_path: Path) -> Any:
    with Upstream(None, tmp_path / "upstream") as model:
        yield model


@pytest.fixture
def windows(tmp_path: Path) -> tuple[Path, list[Window]]:
    path = tmp_path / "worlds.json"
    path.write_text(json.dumps([WORLD]), encoding="utf-8")
    return path, everyday_windows(path, 5)


def test_what_is_kept_is_replayed_and_peers_answer_beside_us(
    upstream: Any, windows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mem0.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    path, chosen = windows
    peers = {"mem0": Path(sys.executable)}
    line = f"{upstream.url}#model"
    rows = {row.name: row for row in run(line, tmp_path / "keep", chosen, data=path, peers=peers, questions=5)}
    assert rows["windows taken"].value == "1 of 1"
    assert rows["left out: unfounded"].value == "0"
    assert rows["answers held"].value == "1 of 1"
    assert rows["mem0: memories, of which doubtful"].value == "3, 1"
    answered = {name: row.value for name, row in rows.items() if name.startswith("answered")}
    assert set(answered.values()) == {"1 of 1 hold the answer"}
    assert len(answered) == 4, "our context, the newest messages, BM25, and the peer"
    asked = upstream.failed
    again = {row.name: row for row in run(line, tmp_path / "keep", chosen, data=path, peers=peers, questions=5)}
    assert upstream.failed == asked, "all of it was kept"
    assert again["windows taken"] == rows["windows taken"]


def test_the_same_replies_are_read_as_text_too(upstream: Any, windows: Any, tmp_path: Path) -> None:
    rows = {row.name: row for row in run(f"{upstream.url}#model", tmp_path / "keep", windows[1], bare=True)}
    assert rows["windows taken"].value == "1 of 1"


def test_what_a_sample_costs_with_a_real_model_is_measured_once(upstream: Any, tmp_path: Path) -> None:
    line = f"{upstream.url}#small"
    first = run_real_costs(tmp_path, line, 2, ["memhold"], pid=os.getpid()).held["real"]["memhold"]
    assert first["messages"] == 4
    assert first["calls"] == upstream.failed > 0
    assert (first["tokens_in"], first["tokens_out"]) == (100 * first["calls"], 10 * first["calls"])
    assert first["failed"] == first["refused"] == 0
    asked = upstream.failed
    again = run_real_costs(tmp_path, line, 2, ["memhold"])
    assert (upstream.failed, again.held["real"]["memhold"]) == (asked, first), "it is measured once"
    again.held["real"]["memhold"] = first | {"processor": 12.0, "seconds": 60.0, "size": 250_000}
    head, row = real_cost_table(again)
    cells = dict(zip(head, row, strict=True))
    assert (cells["messages"], cells["model calls"]) == ("4", f"{250 * asked:,}")
    assert (cells["the model's processor, min"], cells["its answers, min"]) == ("50", "250")
    assert cells["MB of the sample"] == "0.25", "most of it is an empty store: it is not scaled"
    assert "| Memhold | 4 |" in page(Results.all(tmp_path))


def test_a_reply_that_nobody_waits_for_is_kept_and_not_counted(
    upstream: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.dumps({"messages": [{"role": "user", "content": "Hello"}]}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with Relay(upstream.url, tmp_path / "keep", pid=os.getpid()) as relay:
        caller = socket.create_connection(("127.0.0.1", urlsplit(relay.url).port or 0))
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        answered = Upstream.answered

        def answered_late(model: Upstream, asked: dict[str, Any]) -> tuple[int, Any]:
            caller.close()
            return answered(model, asked)

        monkeypatch.setattr(Upstream, "answered", answered_late)
        caller.sendall(head + body)
        until = time.monotonic() + 20
        while not relay.given_up and time.monotonic() < until:
            time.sleep(0.01)
        assert (relay.given_up, relay.seconds, relay.processor) == (1, [], [])
        status, _ = relay.answered(json.loads(body))
        assert (status, upstream.failed, len(relay.seconds), len(relay.processor)) == (200, 1, 1, 1)


def test_who_gives_up_on_vectors_takes_no_reply_out_of_the_figures(
    upstream: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.dumps({"input": ["Hello"]}).encode()
    head = f"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with Relay(upstream.url, tmp_path / "keep") as relay:
        relay.answered({"messages": [{"role": "user", "content": "Hello"}]})
        caller = socket.create_connection(("127.0.0.1", urlsplit(relay.url).port or 0))
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        serving: list[threading.Thread] = []

        def embedded_late(_: Relay, body: dict[str, Any]) -> Any:
            caller.close()
            serving.append(threading.current_thread())
            return body

        monkeypatch.setattr(Relay, "embedded", embedded_late)
        caller.sendall(head + body)
        until = time.monotonic() + 20
        while not serving and time.monotonic() < until:
            time.sleep(0.01)
        serving[0].join(60)
        assert (relay.given_up, len(relay.seconds)) == (0, 1)


def streamed(pieces: list[dict[str, Any]]) -> Answer:
    """A server's stream of these pieces of an answer, with its count at the end."""
    events = [{"choices": [{"delta": piece}]} for piece in pieces]
    events += [{"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": len(pieces)}}]
    return Answer(type="text/event-stream", body="".join(f"data: {json.dumps(one)}\n\n" for one in events).encode())


def test_a_streamed_reply_is_put_together_and_one_in_circles_is_cut(tmp_path: Path) -> None:
    call = [
        {"tool_calls": [{"index": 0, "function": one}]}
        for one in ({"name": "save"}, {"arguments": "{"}, {"arguments": "}"})
    ]
    endless = [{"content": "It rains again. "}] * 400
    for name, pieces in {"whole": [{"content": "Yes. "}, *call], "endless": endless}.items():
        with (
            ScriptedServer(lambda _, pieces=pieces: streamed(pieces)) as server,  # type: ignore[misc]
            Relay(server.url, tmp_path / name) as relay,
        ):
            status, reply = relay.answered({"messages": [{"role": "user", "content": "Hello"}]})
            [choice] = reply["choices"]
            assert status == 200
            if name == "whole":
                assert choice["message"]["content"] == "Yes. "
                assert [one["function"] for one in choice["message"]["tool_calls"]] == [
                    {"name": "save", "arguments": "{}"}
                ]
                assert (relay.read, relay.written) == ([9], [4])
            else:
                assert choice["finish_reason"] == "length"
                assert len(choice["message"]["content"]) < 1_000, "the rest was not waited for"
                assert relay.read[0] > 0 < relay.written[0] < 400


class Failing:
    """A model whose answers are none; it counts how often it is asked."""

    name = "failing"

    def __init__(self, cls: FailureClass) -> None:
        self.cls, self.asked = cls, 0

    async def chat(self, _: ChatRequest) -> ChatReply:
        self.asked += 1
        raise ModelError("no", model="failing", cls=self.cls, rule="repeats", reason="the reply repeats itself")

    async def close(self) -> None: ...


@pytest.mark.parametrize(("cls", "asked"), [("next", 1), ("resample", 1), ("retry", 2)])
async def test_an_answer_that_is_none_is_kept_and_nobodys_answer_is_not(
    tmp_path: Path, cls: FailureClass, asked: int
) -> None:
    model = Failing(cls)
    recorded = Recorded(model, tmp_path)
    for _ in range(2):
        with pytest.raises(ModelError) as raised:
            await recorded.chat(ChatRequest(system="", turns=(), purpose="consolidation"))
        assert (raised.value.cls, raised.value.reason) == (cls, "the reply repeats itself")
    assert model.asked == asked


def test_a_peers_vectors_come_from_the_built_in_embedding(tmp_path: Path) -> None:
    with Relay(None, tmp_path) as relay:
        request = urllib.request.Request(  # noqa: S310 - our own server
            f"{relay.url}/embeddings",
            data=json.dumps({"input": ["tea", "tea", "a bridge"]}).encode(),
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - our own server
            first, second, third = (one["embedding"] for one in json.loads(answer.read())["data"])
    assert first == second != third


def test_answers_are_scored_by_the_words_that_they_share() -> None:
    assert scored("She lives in Oslo.", "Oslo") > scored("She lives in Bergen.", "Oslo") == 0.0
    assert scored("Oslo", "in Oslo") == 1.0
