"""A server on loopback between others' clients and a model: it keeps each reply under its request and replays it later.

So peers with prompts of their own are measured on the same model, an interrupted run goes on, and a later one needs no
model. Vectors come from the built-in embedding, so that all who are compared have the same.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np

from memhold.providers.chat.forms import RepeatWatch
from memhold.providers.embedding.builtin.model import BuiltinEmbedding
from memhold.text.token_estimate import estimate_tokens

__all__ = ["Relay"]


_SECONDS = 3_000.0


def _processor(pid: int | None) -> float:
    """The processor seconds that a process has used, as Linux tells them (proc(5)); 0 without a process."""
    if pid is None:
        return 0.0
    used = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class _Streamed:
    """A streamed answer as one."""

    text: str = ""
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    finish: str = "stop"
    usage: dict[str, Any] | None = None

    def take(self, event: Mapping[str, Any]) -> str:
        """Add what came, and return what of it is of the model's words."""
        self.usage = event.get("usage") or self.usage
        said = ""
        for choice in event.get("choices") or ():
            self.finish = choice.get("finish_reason") or self.finish
            delta = choice.get("delta") or {}
            self.text += delta.get("content") or ""
            said += delta.get("content") or ""
            for call in delta.get("tool_calls") or ():
                function = call.get("function") or {}
                held = self.calls.setdefault(call.get("index", 0), {"name": "", "arguments": ""})
                held["name"] = held["name"] or function.get("name") or ""
                held["arguments"] += function.get("arguments") or ""
                said += function.get("arguments") or ""
        return said

    def reply(self) -> dict[str, Any]:
        """The answer in OpenAI's shape."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        if self.calls:
            message["tool_calls"] = [
                {"id": f"call_{place}", "type": "function", "function": function}
                for place, function in sorted(self.calls.items())
            ]
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        head = {"id": "reply", "object": "chat.completion", "created": 0, "model": "model"}
        return head | {"choices": [choice], "usage": self.usage}


def _collected(lines: Iterable[bytes], asked: str) -> dict[str, Any]:
    """A streamed answer, cut where it goes in circles: what follows is the same again, and takes minutes here.

    Memhold cuts its own there, so the others are spared it too. A cut reply has no count of the server's: its tokens
    are the pieces that came, and those of the request the estimate.
    """
    streamed, watch, pieces = _Streamed(), RepeatWatch(), 0
    for line in lines:
        if not line.startswith(b"data: {"):
            continue
        said = streamed.take(json.loads(line[6:]))
        pieces += bool(said)
        if watch.circles(said):
            streamed.finish = "length"
            streamed.usage = {"prompt_tokens": estimate_tokens(asked), "completion_tokens": pieces}
            break
    return streamed.reply()


@dataclass(slots=True)
class Relay:
    """Use as a context manager; `url` is for clients. With no `upstream` only what was recorded is answered."""

    upstream: str | None
    keep: Path
    seconds: list[float] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    """Processor seconds of the model's server for each reply; empty without `pid`."""
    failed: int = 0
    given_up: int = 0
    """Replies that nobody waited for any more; none of the lists holds them."""
    dimension: int | None = None
    """Fill vectors up with zeros to this length, for clients that assume one; no cosine changes."""
    pid: int | None = None
    """The model's server, where it is a process of this machine whose processor time is wanted (Linux)."""
    _one: threading.Lock = field(default_factory=threading.Lock)
    _server: ThreadingHTTPServer | None = None
    _embedding: BuiltinEmbedding = field(default_factory=BuiltinEmbedding)

    @property
    def url(self) -> str:
        """The base URL in OpenAI's shape."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        relay = self

        class Answering(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(200, {"object": "list", "data": [{"id": "model", "object": "model"}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if self.path.endswith("/embeddings"):
                    self._send(200, relay.embedded(body))
                    return
                status, reply = relay.answered(body)
                if not self._send(status, reply) and status == 200:  # who gave up asks again, and finds it kept
                    relay.given_up += 1
                    for counted in (relay.seconds, relay.read, relay.written, relay.processor):
                        del counted[-1:]

            def _send(self, status: int, body: Any) -> bool:
                """Whether somebody still took it."""
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                try:
                    self.end_headers()
                    self.wfile.write(data)
                except ConnectionError:
                    return False
                return True

            def log_message(self, *_: object) -> None:
                """Nothing: what is asked quotes the data."""

        self.keep.mkdir(parents=True, exist_ok=True)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def answered(self, body: dict[str, Any]) -> tuple[int, Any]:
        """The recorded reply to a request, else the model's, which is kept unless it is an error."""
        shown = json.dumps({name: body[name] for name in sorted(body) if name != "model"}, sort_keys=True)
        path = self.keep / f"{blake2b(shown.encode(), digest_size=12).hexdigest()}.json"
        with self._one:  # one at a time, so that what a reply took is its own
            if not path.exists():
                begun, used = perf_counter(), _processor(self.pid)
                status, reply = self._asked(body)
                if status != 200:
                    self.failed += 1
                    return status, reply
                took = {"seconds": perf_counter() - begun, "processor": _processor(self.pid) - used}
                path.write_text(json.dumps({"reply": reply} | took), encoding="utf-8")
            held = json.loads(path.read_text(encoding="utf-8"))
            if self.pid is not None:
                self.processor.append(held.get("processor", 0.0))
        usage = held["reply"].get("usage") or {}
        self.seconds.append(held["seconds"])
        self.read.append(usage.get("prompt_tokens") or 0)
        self.written.append(usage.get("completion_tokens") or 0)
        return 200, held["reply"]

    def _asked(self, body: dict[str, Any]) -> tuple[int, Any]:
        if self.upstream is None:
            return 503, {"error": {"message": "nothing was recorded for this request, and no model is named"}}
        request = urllib.request.Request(  # noqa: S310 - the model's own URL, as the caller wrote it
            f"{self.upstream.rstrip('/')}/chat/completions",
            data=json.dumps(body | {"stream": True, "stream_options": {"include_usage": True}}).encode(),
            headers={"content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - as above
                if "event-stream" not in answer.headers.get("content-type", ""):
                    return 200, json.loads(answer.read())
                return 200, _collected(answer, json.dumps(body.get("messages")))
        except urllib.error.HTTPError as error:
            return error.code, {"error": {"message": error.read().decode("utf-8", "replace")[:500]}}

    def embedded(self, body: dict[str, Any]) -> Any:
        """Vectors of the built-in embedding, as numbers or in base64 as the client wants them."""
        given = body["input"] if isinstance(body["input"], list) else [body["input"]]
        rows = asyncio.run(self._embedding.embed([str(one) for one in given], purpose="document"))
        rows = np.pad(rows, ((0, 0), (0, max(0, (self.dimension or 0) - rows.shape[1]))))
        packed = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": place,
                "embedding": base64.b64encode(row.astype("<f4").tobytes()).decode() if packed else row.tolist(),
            }
            for place, row in enumerate(rows)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return {"object": "list", "model": "builtin", "data": data, "usage": usage}
