"""Requests to an ASGI application, in this process, byte for byte as the test wants them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

HOST = ("host", "127.0.0.1:8377")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def ask(
    app: Any,
    path: str = "/v1/status",
    *,
    method: str = "GET",
    headers: Iterable[tuple[str, str]] = (),
    chunks: Iterable[bytes] = (b"",),
    token: str | None = None,
    host: tuple[str, str] | None = HOST,
    client: tuple[str, int] | None = ("127.0.0.1", 50000),
    hangs: bool = False,
    query: str = "",
) -> Answer:
    """One request; `hangs` leaves its body unfinished for ever."""
    every = [*([host] if host else []), *headers, *([("authorization", f"Bearer {token}")] if token else [])]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "http_version": "1.1",
        "scheme": "http",
        "server": ("127.0.0.1", 8377),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in every],
        "client": client,
    }
    pending = list(chunks)

    async def receive() -> dict[str, Any]:
        if pending:
            chunk = pending.pop(0)
            return {"type": "http.request", "body": chunk, "more_body": bool(pending) or hangs}
        if hangs:
            await asyncio.Event().wait()
        await answered.wait()  # a client that waits for its answer; one that goes ends a call
        return {"type": "http.disconnect"}

    sent: list[dict[str, Any]] = []
    answered = asyncio.Event()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            answered.set()

    await app(scope, receive, send)
    starts = [message for message in sent if message["type"] == "http.response.start"]
    assert len(starts) == 1, sent
    names = [name for name, _ in starts[0]["headers"]]
    assert len(names) == len(set(names)), names
    body = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
    return Answer(starts[0]["status"], {k.decode(): v.decode() for k, v in starts[0]["headers"]}, body)


async def echo(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """An application that reads the body and tells whom it served."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError("the client has gone: my secret words")
        size += len(message["body"])
        more = message["more_body"]
    principal = scope.get("memhold.principal")
    told = {"size": size, "request": scope.get("memhold.request_id")}
    if principal is not None:
        told |= {"user": principal.scope.user, "rights": sorted(principal.rights), "token": principal.token}
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(told).encode()})
