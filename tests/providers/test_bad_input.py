"""What a user's model can be instead of one: each says in a sentence what to do, and the window waits whole."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memhold import Memhold
from memhold.errors import InvalidInput, InvalidSetting, ModelError
from memhold.providers.chat import chat_model
from memhold.providers.embedding.openai import OpenAIEmbedding
from memhold.providers.entry import Entry
from memhold.providers.failures.classify import LATE
from memhold.wiring.system import SystemClock
from tests.providers.chain_fakes import a_request
from tests.scripted_server import Answer, Asked, ScriptedServer, sent

SAID = [{"role": "user", "content": f"I live in Oslo, and this is message {n} of mine."} for n in range(4)]


def reply(_: Asked | None = None) -> Answer:
    held = {"history_entry": "I live in Oslo.", "facts": [], "notes": []}
    message = {"role": "assistant", "content": json.dumps(held)}
    return sent({"choices": [{"message": message, "finish_reason": "stop"}]})


ONE = sent({"data": [{"id": "one"}]})


class Server(ScriptedServer):
    """Has a list of models (`models`) and answers questions (`reply`), both as a test sets them."""

    def __init__(self) -> None:
        self.models = ONE
        self.reply: Callable[[Asked], Answer] = reply
        self.asked: list[dict[str, object]] = []
        super().__init__(self._answer)
        self.url += "/v1"

    def _answer(self, asked: Asked) -> Answer:
        if asked.body is None:
            return self.models
        self.asked.append(asked.body)
        return self.reply(asked)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


PAGE = Answer(type="text/html", body=b"<!doctype html><html><title>Welcome</title><body>It works!</body></html>")
THREE = sent({"data": [{"id": "alpha"}, {"id": "beta"}, {"id": "gamma"}]})
SMALL = {
    "error": {
        "code": 400,
        "message": "request (5023 tokens) exceeds the available context size (512 tokens), try increasing it",
        "type": "exceed_context_size_error",
    }
}
CASES: dict[str, tuple[Answer | None, Answer | None, tuple[str, ...]]] = {
    # The list of models, the answer to a question, and what is said of them.
    "a page at the list of models": (PAGE, None, ("web page", "check the base URL")),
    "a page in place of an answer": (None, PAGE, ("web page", "check the base URL")),
    "no model loaded": (sent({"data": []}), None, ("no chat model loaded", "load one")),
    "no model loaded, said late": (
        None,
        sent({"error": "No models loaded. Please load a model in the developer page."}, 400),
        ("not loaded", "no models loaded"),
    ),
    "three models and none loaded": (
        THREE,
        None,
        ("lists 3 chat models", "name one (alpha, beta, gamma), as in http://127.0.0.1:", "/v1#alpha"),
    ),
    "an error in an answer of success": (
        None,
        sent({"error": {"message": "The model has crashed", "type": "server_error"}}),
        ("it said: the model has crashed",),
    ),
    "a path that is none, told with success": (
        None,
        sent({"error": "Unexpected endpoint or method. (POST /v1/v1/chat/completions)"}),
        ("the base URL does not lead to the provider's API",),
    ),
    **{
        f"{name} in place of an answer": (None, Answer(type=kind, body=body), (words, "see what the server says"))
        for name, kind, body, words in (
            ("no choice", "application/json", b'{"choices": []}', "holds no choice"),
            ("a null", "application/json", b'{"choices": null}', "holds no choice"),
            ("half of a body", "application/json", b'{"choices": [{"message": {"con', "not complete or cannot be read"),
            ("nothing", "application/json", b"", "not complete or cannot be read"),
            ("a list", "application/json", b"[1, 2]", "not complete or cannot be read"),
            ("bytes", "application/json", b"\x00\xff{{", "no UTF-8"),
            ("a stream of bytes", "text/event-stream", b"data: {{{{\n\ndata: \xff\xfe\x00\n\n", "no UTF-8"),
            ("a stream of nothing", "text/event-stream", b"data: [DONE]\n\n", "holds no choice"),
        )
    },
    "a context smaller than the prompt": (
        None,
        sent(SMALL, 400),
        ("larger context", "exceeds the available context size"),
    ),
    "it stops in the middle": (
        None,
        Answer(type="text/event-stream", body=b'data: {"choices":[{"delta":{"content":"{"}}]}\n\n', missing=500),
        ("stopped in the middle",),
    ),
    "it stops in the middle of a whole answer": (
        None,
        Answer(body=b'{"choices": [{"message": {"role": "assist', missing=500),
        ("stopped in the middle",),
    ),
    "it stops in the middle of its list of models": (Answer(body=b'{"data": [', missing=50), None, ("stopped in the",)),
    "a page that is not there": (
        None,
        Answer(status=404, type="text/html", body=PAGE.body),
        ("the model or the address does not exist",),
    ),
}


def _said_of_the_context(mem: Memhold, server: Server) -> None:
    """Status says what was seen, how much is needed, and what to set."""
    health = mem.scope(user="alice").status().models[server.url]
    assert health.answers is False
    assert "takes 512 tokens, and the least that it is asked takes 5,100" in health.reason
    assert "5,100 tokens or more (llama.cpp: `-c`" in health.advice


@pytest.mark.parametrize("case", CASES)
def test_the_window_waits_whole_and_a_sentence_says_what_to_do(server: Server, case: str) -> None:
    models, answer, words = CASES[case]
    server.models = models or ONE
    server.reply = (lambda _: answer) if answer else reply
    options = {"worker": False, "consolidation": server.url, "model_attempts": 1}
    with Memhold.open("memory://", **options) as mem:
        alice = mem.scope(user="alice", session="s")
        ids = alice.add(SAID).ids
        told = alice.consolidate()
        assert told.summaries == ()
        said = told.last_error or ""
        assert all(word in said for word in words), said
        assert "Oslo" not in said
        health = alice.status().models[server.url]
        assert health.answers is False, "what gives no answer that can be read does not work"
        assert health.reason
        assert "memhold models test" in health.advice
        assert ("is to lead to a model's API" in health.advice) == ("base URL" in said), health.advice
        assert {hit.id for hit in alice.recall("message", limit=20).hits} >= set(ids)
        if case == "a context smaller than the prompt":
            _said_of_the_context(mem, server)
        server.models, server.reply = ONE, reply
        raw = alice.list(kinds=["raw"]).items
        assert all(one["content"] in " ".join(memory.text for memory in raw) for one in SAID)


def test_an_address_that_does_not_exist_is_no_reason_to_load_a_model_alone(server: Server) -> None:
    server.reply = lambda _: sent({"detail": "Not Found"}, 404)
    with Memhold.open("memory://", worker=False, consolidation=server.url) as mem:
        alice = mem.scope(user="alice", session="s")
        alice.add(SAID)
        alice.consolidate()
        advice = alice.status().models[server.url].advice
    assert advice.startswith(f"see whether {server.url} is the URL of a model's API; if so, load the model there")


async def test_an_embedding_that_stops_in_the_middle_says_so(server: Server) -> None:
    server.reply = lambda _: Answer(body=b'{"data": [{"embedding": [0.1', missing=500)
    model = OpenAIEmbedding(model="m", base_url=server.url, clock=SystemClock())
    with pytest.raises(ModelError, match="stopped in the middle of its answer"):
        await model.embed(["text"], purpose="query")
    await model.close()


def test_of_several_models_the_one_that_is_loaded_is_taken(server: Server) -> None:
    for listed in ({"id": "beta", "state": "loaded"}, {"id": "beta", "status": {"value": "loaded"}}):
        server.asked.clear()
        server.models = sent({"data": [{"id": "alpha", "state": "not-loaded"}, listed]})
        with Memhold.open("memory://", worker=False, consolidation=server.url) as mem:
            alice = mem.scope(user="alice", session="s")
            alice.add(SAID)
            assert alice.consolidate().summaries
        assert {one["model"] for one in server.asked} == {"beta"}


def test_a_file_in_place_of_a_model_says_to_serve_it() -> None:
    with pytest.raises(InvalidSetting, match="is a file: serve it"):
        Memhold.open("memory://", consolidation="./qwen2.5.gguf")


def test_a_folder_that_is_no_embedding_is_said_before_anything_is_made_with_it(tmp_path) -> None:
    (tmp_path / "model").mkdir()
    with Memhold.open("memory://", worker=False, embedding=str(tmp_path / "model")) as mem:
        alice = mem.scope(user="alice")
        alice.remember("a note about tea")
        answer = alice.recall("tea")
        assert answer.degraded == ("meaning",)
        assert answer.hits


def test_a_password_in_the_url_is_told_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept = tmp_path / "m.db"
    caplog.set_level(logging.DEBUG)
    with Server() as server:
        server.models = PAGE
        line = server.url.replace("://", "://joe:hunter2@")
        for url in (line, f"{line}?key=hunter2"):
            with Memhold.open(kept, worker=False, consolidation=url, embedding=f"{url}#e", model_attempts=1) as mem:
                alice = mem.scope(user="alice", session="s")
                alice.add(SAID)
                told = [
                    alice.consolidate(),
                    alice.recall("tea"),
                    alice.status(),
                    alice.end_session(),
                    mem.admin.doctor(),
                ]
                assert "base URL" in str(told)
                assert "hunter2" not in f"{told} {mem!r} {alice!r}"
    assert "HTTP Request" in caplog.text
    assert "hunter2" not in caplog.text
    assert not any(b"hunter2" in one.read_bytes() for one in tmp_path.iterdir())


def test_a_server_that_hangs_is_not_called_absent(tmp_path: Path) -> None:
    """Both deadlines are the same length: that of the connection, and that of the call around it."""
    over = threading.Event()
    with Server() as server:

        def late(_: Asked) -> Answer:
            over.wait(60)
            return reply()

        server.reply = late
        table = tmp_path / "models.toml"
        table.write_text(f'[models.slow]\nmodel = "one"\nbase_url = "{server.url}"\ntimeout = 0.2\n')
        options = {"worker": False, "consolidation": "slow", "models": str(table), "model_attempts": 1}
        with Memhold.open("memory://", **options) as mem:
            alice = mem.scope(user="alice", session="s")
            alice.add(SAID)
            said = alice.consolidate().last_error or ""
            health = alice.status().models["slow"]
        over.set()
    assert "no answer within 0.2 s" in said
    assert "start the server" not in health.advice
    assert "`timeout` of its entry in memhold.toml" in health.advice


async def test_a_connection_that_waits_in_vain_is_late_by_itself() -> None:
    """Without the deadline around the call: either of the two may be first."""
    over = threading.Event()
    with Server() as server:

        def late(_: Asked) -> Answer:
            over.wait(60)
            return reply()

        server.reply = late
        entry = Entry(name="m", protocol="openai-chat", model="one", base_url=server.url, timeout=0.2)
        model = chat_model(entry, keys=lambda _: None)
        with pytest.raises(ModelError) as failed:
            await model.chat(a_request())
        await model.close()
        over.set()
    assert failed.value.code == LATE
    assert failed.value.reason == "no answer within 0.2 s"


def test_an_account_without_quota_is_not_told_to_load_a_model() -> None:
    """OpenAI's code for it is `insufficient_quota`: the provider's own, not ours."""
    with Server() as server:
        error = {"message": "You exceeded your current quota", "code": "insufficient_quota"}
        server.reply = lambda _: sent({"error": error}, 429)
        with Memhold.open("memory://", worker=False, consolidation=server.url) as mem:
            alice = mem.scope(user="alice", session="s")
            alice.add(SAID)
            alice.consolidate()
            assert "pay for the account" in alice.status().models[server.url].advice


async def test_an_embedding_that_fails_is_told_without_its_password() -> None:
    embedding = OpenAIEmbedding(model="e", base_url="http://joe:hunter2@127.0.0.1:9/v1", clock=SystemClock())
    with pytest.raises(ModelError) as failed:
        await embedding.embed(["tea"], purpose="query")
    await embedding.close()
    assert "127.0.0.1:9" in str(failed.value)
    assert "hunter2" not in f"{failed.value} {vars(failed.value)}"
    with pytest.raises(InvalidInput) as refused:
        OpenAIEmbedding(model="e", base_url="ftp://joe:hunter2@box/v1", clock=SystemClock())
    assert "hunter2" not in str(refused.value)
