"""What a user's model can be instead of one: each says in a sentence what to do, and the window waits whole."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from memhold import Memhold
from memhold.errors import InvalidSetting

SAID = [{"role": "user", "content": f"I live in Oslo, and this is message {n} of mine."} for n in range(4)]
Answer = tuple[int, str, bytes, bool]
"""Status, type, body, and whether the connection breaks off after it."""


def plain(status: int, value: object) -> Answer:
    return status, "application/json", json.dumps(value).encode(), False


def reply() -> Answer:
    held = {"history_entry": "I live in Oslo.", "facts": [], "notes": []}
    message = {"role": "assistant", "content": json.dumps(held)}
    return plain(200, {"choices": [{"message": message, "finish_reason": "stop"}]})


class Server:
    """Answers GET and POST as it is told, on loopback."""

    def __init__(self) -> None:
        self.get: Callable[[], Answer] = lambda: plain(200, {"data": [{"id": "one"}]})
        self.post: Callable[[dict[str, object]], Answer] = lambda _: reply()
        self.asked: list[dict[str, object]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer(*outer.get())

            def do_POST(self) -> None:
                outer.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.answer(*outer.post(outer.asked[-1]))

            def answer(self, status: int, kind: str, body: bytes, breaks: bool) -> None:  # noqa: FBT001 - as it is told
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body) + (500 if breaks else 0)))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = True

            def log_message(self, *_: object) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.http.serve_forever)
    thread.start()
    yield made
    made.http.shutdown()
    thread.join()
    made.http.server_close()


PAGE = (200, "text/html", b"<!doctype html><html><title>Welcome</title><body>It works!</body></html>", False)
THREE = plain(200, {"data": [{"id": "alpha"}, {"id": "beta"}, {"id": "gamma"}]})
SMALL = {
    "error": {
        "code": 400,
        "message": "request (5023 tokens) exceeds the available context size (512 tokens), try increasing it",
        "type": "exceed_context_size_error",
    }
}
CASES: dict[str, tuple[Callable[[], Answer] | None, Callable[[dict[str, object]], Answer] | None, tuple[str, ...]]] = {
    "a page at the list of models": (lambda: PAGE, None, ("web page", "check the base URL")),
    "a page in place of an answer": (None, lambda _: PAGE, ("web page", "check the base URL")),
    "no model loaded": (lambda: plain(200, {"data": []}), None, ("no chat model loaded", "load one")),
    "no model loaded, said late": (
        None,
        lambda _: plain(400, {"error": "No models loaded. Please load a model in the developer page."}),
        ("not loaded", "no models loaded"),
    ),
    "three models and none loaded": (lambda: THREE, None, ("lists 3 chat models", "name one", "alpha, beta, gamma")),
    "a context smaller than the prompt": (
        None,
        lambda _: plain(400, SMALL),
        ("larger context", "exceeds the available context size"),
    ),
    "it stops in the middle": (
        None,
        lambda _: (200, "text/event-stream", b'data: {"choices":[{"delta":{"content":"{"}}]}\n\n', True),
        ("stopped in the middle",),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_window_waits_whole_and_a_sentence_says_what_to_do(server: Server, case: str) -> None:
    get, post, words = CASES[case]
    server.get, server.post = get or server.get, post or server.post
    options = {"worker": False, "consolidation": server.url, "model_backoff_seconds": 0.001, "model_attempts": 1}
    with Memhold.open("memory://", **options) as mem:
        alice = mem.scope(user="alice", session="s")
        ids = alice.add(SAID).ids
        told = alice.consolidate()
        assert told.summaries == ()
        said = told.last_error or ""
        assert all(word in said for word in words), said
        assert "Oslo" not in said
        assert {hit.id for hit in alice.recall("message", limit=20).hits} >= set(ids)
        server.get, server.post = (lambda: plain(200, {"data": [{"id": "one"}]})), lambda _: reply()
        raw = alice.list(kinds=["raw"]).items
        assert all(one["content"] in " ".join(memory.text for memory in raw) for one in SAID)


def test_of_several_models_the_one_that_is_loaded_is_taken(server: Server) -> None:
    for listed in ({"id": "beta", "state": "loaded"}, {"id": "beta", "status": {"value": "loaded"}}):
        server.asked.clear()
        server.get = lambda listed=listed: plain(200, {"data": [{"id": "alpha", "state": "not-loaded"}, listed]})
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
