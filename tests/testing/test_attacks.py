"""The attacks see a server that holds nothing: each says "not held" of one that lets everything through."""

from __future__ import annotations

import json
import re
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from memhold.testing.attacks import ATTACKS, NotHeld, Target, loopback
from memhold.testing.attacks.attack import Attack
from memhold.testing.attacks.issuer import Issuer
from memhold.testing.attacks.target import MIB

ROOT = Path(__file__).parents[2]
OF_THEIR_OWN = {one.name for one in vars(loopback).values() if isinstance(one, Attack)}
"""These start a server of the installed package themselves."""


class Careless(BaseHTTPRequestHandler):
    """Takes every request from everybody, fetches what it is pointed to, and answers with all that anybody ever sent."""

    said: list[str]

    def _answer(self) -> None:
        self._take_in()
        if "websocket" in self.headers.get("upgrade", ""):
            self.send_response(101)
            self.end_headers()
            return
        body = self._page() if self.path.startswith("/ui") else json.dumps(self._everything()).encode()
        self.send_response(201 if self.path == "/v1/tokens" else 200)
        self.send_header("set-cookie", "memhold_ui=1")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else body)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def _take_in(self) -> None:
        length = self.headers.get("content-length", "")
        if not length.isdecimal():
            return
        text = self.rfile.read(int(length)).decode("utf-8", "replace")[:600]
        self.said.append(text)
        for port in set(re.findall(r"http://127\.0\.0\.1:(\d+)/image", text)):
            socket.create_connection(("127.0.0.1", int(port)), timeout=5).close()

    def _page(self) -> bytes:
        text = escape(self._text())
        return f'<a href="{text}">{text}</a><input name="form_token" value="{"0" * 64}">'.encode()

    def _text(self) -> str:
        return "\n".join(self.said[-30:])

    def _everything(self) -> dict[str, Any]:
        text = self._text()
        memory = {"id": "mem_1", "text": text, "kind": "fact", "trust": "user", "state": "active", "rev": 2, "why": []}
        words = {
            "content": [{"type": "text", "text": f"mem_1 {text}"}],
            "contents": [{"text": text}],
            "instructions": text,
        }
        listed = {"tools": [{"name": "forget"}], "messages": [{"role": "user", "content": {"text": text}}]}
        return {
            "token": {"id": "1", "actor": "user"}, "secret": "mh_1_a", "access_token": "mhp_1_a", "memory": memory,
            "receipt": {"change_ids": ["chg_1"], "ids": ["mem_1"], "replayed": True}, "ids": ["mem_1"],
            "items": [memory, memory], "hits": [memory], "text": text, "state": "active", "last_confirmed_at": "now",
            "messages": [{"role": "system", "content": text}], "system": text, "result": words | listed,
            "paths": {f"/v1/{number}": {"post": {}} for number in range(40)}, "namespace": "other",
        }  # fmt: skip

    def log_message(self, *_: object) -> None:
        pass


class Fragile(socketserver.StreamRequestHandler):
    """Fails at everything but making tokens, and tells where."""

    def handle(self) -> None:
        head = b"".join(takewhile(lambda line: line != b"\r\n", self.rfile))  # also ends with what the client sends
        made = head.startswith(b"POST /v1/tokens ")
        body = b'{"token": {"id": "1"}, "secret": "mh_1_a"}' if made else b"Traceback (most recent call last):"
        status = b"201 Created" if made else b"500 Internal Server Error"
        self.wfile.write(
            b"HTTP/1.1 %s\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s" % (status, len(body), body)
        )


class Threads(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 512


@contextmanager
def attacked(server: socketserver.TCPServer, **more: Any) -> Iterator[Target]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    issuer = Issuer()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        yield Target(url, "mh_1_a", other="mh_2_b", issuer=issuer, redacts=True, flood=MIB, patience=0.1, **more)
    finally:
        issuer.close()
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def careless() -> Iterator[Target]:
    handler = type("Handler", (Careless,), {"said": []})
    with attacked(ThreadingHTTPServer(("127.0.0.1", 0), handler), log=lambda: "\n".join(handler.said)) as target:
        yield target


@pytest.fixture(scope="module")
def fragile() -> Iterator[Target]:
    with attacked(Threads(("127.0.0.1", 0), Fragile)) as target:
        yield target


FAILURES = {
    "an-issuer-that-hangs", "broken-characters", "errors-that-tell", "heads-that-trickle", "heads-too-large",
    "numbers-that-are-none", "requests-that-are-none", "texts-that-are-code", "texts-that-are-hard-to-analyse",
}  # fmt: skip
"""These look for a server that fails: one that takes everything holds."""


@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in OF_THEIR_OWN | FAILURES])
def test_a_server_that_lets_everything_through_does_not_hold(name: str, careless: Target) -> None:
    with pytest.raises(NotHeld):
        ATTACKS[name].carry_out(careless)


@pytest.mark.parametrize("name", sorted(FAILURES))
def test_a_server_that_fails_does_not_hold(name: str, fragile: Target) -> None:
    with pytest.raises(NotHeld):
        ATTACKS[name].carry_out(fragile)
