"""What stands at the port: which application a path belongs to, health and metrics, and one line of log a request."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from time import monotonic
from typing import Any, Final

from memhold.faces.rest.changes import Streams
from memhold.faces.ui.browser import HOME
from memhold.ports.maintenance import Readiness
from memhold.ports.models import Tally
from memhold.server.metrics import CONTENT_TYPE, Metrics
from memhold.values.errors import MemholdError
from memhold.values.jsonable import to_jsonable
from memhold.values.principal import NEIGHBOUR, PRINCIPAL
from memhold.verbs.store_protocols import AsyncAdmin

__all__ = ["Observed", "PathRouter"]

log = logging.getLogger("memhold.requests")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_OWN: Final = frozenset({"/mcp", "/healthz", "/readyz", "/metrics", "/openapi.json"})
DRAIN_SECONDS = 60.0
READY_SECONDS = 1.0


class PathRouter:
    """Sends each request to what serves its path; stands behind the guard."""

    def __init__(
        self,
        *,
        rest: App,
        mcp: App,
        ui: App,
        admin: Callable[[], AsyncAdmin],
        metrics: Metrics,
        streams: Streams,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._rest = rest
        self._mcp = mcp
        self._ui = ui
        self._admin = admin
        self._metrics = metrics
        self._streams = streams
        self._clock = clock
        self._looking = asyncio.Lock()
        self._found: tuple[float, Readiness] | None = None

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request."""
        # Letter for letter, as the guard reads it: another spelling is another path, and nothing stands there.
        match scope["path"]:
            case "/mcp" | "/mcp/":
                await self._mcp(scope, receive, send)
            case "/healthz" if scope["method"] in {"GET", "HEAD"}:
                await _answer(scope, send, 200, b'{"status":"alive"}')
            case "/readyz" if scope["method"] in {"GET", "HEAD"}:
                await self._readyz(scope, send)
            case "/metrics" if scope["method"] in {"GET", "HEAD"}:
                usage = await self._usage()
                text = self._metrics.text(await self._readiness(), streams=self._streams.open, usage=usage)
                await _answer(scope, send, 200, text, CONTENT_TYPE)
            case path if path == HOME or path.startswith(f"{HOME}/"):
                await self._ui(scope, receive, send)
            case _:
                await self._rest(scope, receive, send)

    async def _readiness(self) -> Readiness:
        """As it was at most a second ago: looking writes, and anybody may ask as often as they like."""
        async with self._looking:
            if self._found is None or self._clock() - self._found[0] >= READY_SECONDS:
                self._found = (self._clock(), await self._admin().ready())
            return self._found[1]

    async def _usage(self) -> Sequence[Tally]:
        try:
            return await self._admin().model_usage()
        except MemholdError:
            return ()  # that the store does not answer is told by another metric

    async def _readyz(self, scope: MutableMapping[str, Any], send: Send) -> None:
        """Anybody may ask: whether the store takes writes, whether its file is damaged, and how many models work.

        A damaged file is ready all the same: nobody is helped by no answers in the place of some.

        Which do not, where they are and what to do is told on this machine only.
        """
        found = await self._readiness()
        down = [one for one in found.models.values() if one.answers is False]
        models: dict[str, Any] = {"answer": len(found.models) - len(down), "of": len(found.models)}
        if down:
            models["waiting"] = found.waiting
        if down and scope.get(NEIGHBOUR):
            models["failing"] = [{"model": one.model, "told": one.told} for one in down]
        stopping = self._streams.stopping
        good = found.writes and not stopping
        status = "ready" if good else "not ready"
        said = {"status": status, "error": found.error, "degraded": found.degraded, "models": models}
        body = json.dumps(to_jsonable(said)).encode()
        await _answer(scope, send, 200 if good else 503, body)


async def _answer(
    scope: MutableMapping[str, Any], send: Send, status: int, body: bytes, kind: str = "application/json"
) -> None:
    headers = [
        (b"content-type", kind.encode("latin-1")),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


class Observed:
    """Counts and logs every request, also those that the guard refuses; the outermost of all."""

    def __init__(self, app: App, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._running: set[asyncio.Event] = set()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        told = _Answered(send)
        ended = asyncio.Event()
        begun = monotonic()
        self._running.add(ended)
        self._metrics.begun()
        try:
            await self._app(scope, receive, told.send)
        finally:
            self._running.discard(ended)
            ended.set()
            seconds = monotonic() - begun
            method, route = scope["method"], _route(scope)
            self._metrics.ended(method=method, route=route, status=told.status, seconds=seconds)
            principal = scope.get(PRINCIPAL)
            log.info(
                "request",
                extra={
                    "method": method,
                    "route": route,
                    "status": told.status,
                    "ms": round(seconds * 1000, 1),
                    "request_id": told.request_id,
                    "token": None if principal is None else principal.token,
                },
            )

    async def drained(self) -> None:
        """Wait until the requests that are running now have ended, at most a minute: streams go on for longer."""
        waiting = [asyncio.ensure_future(event.wait()) for event in self._running]
        if waiting:
            _, left = await asyncio.wait(waiting, timeout=DRAIN_SECONDS)
            for task in left:
                task.cancel()


class _Answered:
    """What an answer said of itself on its way out."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 499
        self.request_id: str | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = int(message["status"])  # the MCP SDK hands an HTTPStatus over, which prints by its name
            found = [value for name, value in message.get("headers", ()) if name.lower() == b"x-request-id"]
            self.request_id = found[0].decode("latin-1") if found else None
        await self._send(message)


def _route(scope: MutableMapping[str, Any]) -> str:
    """The template of the route: what was asked for stays out of labels and logs."""
    path: str = scope["path"].rstrip("/")
    if path in _OWN:
        return path
    found = getattr(scope.get("route"), "path", None)
    return found if isinstance(found, str) else "unknown"
