"""A plain HTTP server on loopback that answers as a test tells it: what is no model, no hub, no list of models."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is sent; with `missing`, the connection closes that many bytes before what the header promised."""

    status: int = 200
    type: str = "application/json"
    body: bytes = b""
    missing: int = 0


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request: its path, and its body as JSON, None for GET."""

    path: str
    body: Any


def sent(value: object, status: int = 200) -> Answer:
    """A value as JSON."""
    return Answer(status=status, body=json.dumps(value).encode())


class ScriptedServer:
    """Serves while it is entered, a thread a request; `url` has no slash at its end."""

    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send(answer(Asked(path=self.path, body=None)))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                self.send(answer(Asked(path=self.path, body=body)))

            def send(self, answered: Answer) -> None:
                self.send_response(answered.status)
                self.send_header("content-type", answered.type)
                self.send_header("content-length", str(len(answered.body) + answered.missing))
                self.end_headers()
                self.wfile.write(answered.body)
                self.close_connection = True

            def log_message(self, *_: object) -> None: ...

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
