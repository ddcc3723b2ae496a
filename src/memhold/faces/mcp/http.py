"""MCP over streamable HTTP, as an application to stand at `/mcp` behind the guard."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from memhold.faces.mcp.server import Context, Whose, build_server, client_of
from memhold.faces.mcp.tools import DOCUMENT_TOOLS, TOOLS, Caller, ToolSpec
from memhold.faces.problems import Problem, send_problem
from memhold.values.principal import Principal, principal_of

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

    from memhold.verbs.store_protocols import AsyncStore

__all__ = ["McpApp", "mcp_app"]

AsgiScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Build = Callable[[Whose, Mapping[str, ToolSpec]], "Server[Any]"]

_BLANKS = b" \t"
_WANTS_PROGRESS = b'"progressToken"'
MAX_BODY = 4 * 1024 * 1024
"""Largest request, in bytes: a text of 1 MiB whose every character is written as an escape."""


class McpApp:
    """The ASGI application. Run it inside `lifespan()`; each request must have passed the guard.

    A call ends where its client goes; a client that asks for progress (`progressToken`) hears of a long one.

    It keeps nothing between requests: a request is answered for the principal it came with, on whichever process it
    arrives, and no session id can be taken over. It serves revision 2026-07-28 and, without sessions, those before.
    """

    def __init__(
        self,
        memhold: AsyncStore,
        *,
        security: TransportSecuritySettings | None,
        max_body: int,
        documents: bool,
        build: Build = build_server,
    ) -> None:
        async def caller(ctx: Context) -> Caller:
            return Caller(memhold=memhold, principal=_principal(ctx), client=client_of(ctx))

        tools = {**TOOLS, **(DOCUMENT_TOOLS if documents else {})}
        self._most = max_body
        self._answering, self._telling = (
            StreamableHTTPSessionManager(
                # Each of its own: a server is entered with its manager.
                app=build(Whose(_principal, caller), tools),
                stateless=True,
                json_response=not streams,
                security_settings=security,
                max_request_body_size=max_body,
            )
            for streams in (False, True)
        )

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """What must be entered while requests are served; once only. Leaving it ends what still runs."""
        async with self._answering.run(), self._telling.run():
            yield

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request, whatever its path.

        Only a POST: nothing is kept between requests, so a stream of a GET would say nothing and hold a place for ever,
        and there is no session to delete. The protocol lets a server answer 405 to both.
        """
        if scope["method"] != "POST":
            title = "Method Not Allowed"
            problem = Problem(type="about:blank", title=title, status=405, detail="MCP is spoken by POST here")
            await send_problem(send, problem, {"allow": "POST"})
            return
        taken = _Taken(receive)
        body = await taken.read(self._most)
        # A client that wants progress gets a stream, which can carry it; every other one a plain answer.
        wants = body is not None and _WANTS_PROGRESS in body and _takes_a_stream(scope)
        manager = self._telling if wants else self._answering
        async with taken.while_there():
            await manager.handle_request(_trimmed(scope), taken.receive, send)


class _Taken:
    """A request whose body was read ahead, to be read again; and whether its client is still there."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ahead: deque[MutableMapping[str, Any]] = deque()
        self._whole = False
        self._gone = asyncio.Event()

    async def read(self, most: int) -> bytes | None:
        """The body; None where it is over `most` bytes, or its client went before it had come."""
        pieces, size = [], 0
        while not self._whole and size <= most:
            message = await self._receive()
            self._ahead.append(message)
            if message["type"] == "http.disconnect":
                self._gone.set()
                return None
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            self._whole = not message.get("more_body", False)
        return b"".join(pieces) if size <= most else None

    async def receive(self) -> MutableMapping[str, Any]:
        """What a server's `receive` gives, from the beginning."""
        if self._ahead:
            return self._ahead.popleft()
        if not self._whole:
            return await self._receive()
        await self._gone.wait()
        return {"type": "http.disconnect"}

    @asynccontextmanager
    async def while_there(self) -> AsyncIterator[None]:
        """End what is done inside as soon as the client has gone: nobody waits for it any more."""
        if not self._whole:
            yield
            return
        with anyio.CancelScope() as serving:
            looking = asyncio.ensure_future(self._look(serving))
            try:
                yield
            finally:
                looking.cancel()

    async def _look(self, serving: anyio.CancelScope) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone.set()
        serving.cancel()


def _takes_a_stream(scope: AsgiScope) -> bool:
    return any(b"text/event-stream" in value for name, value in scope["headers"] if name == b"accept")


def _trimmed(scope: AsgiScope) -> AsgiScope:
    """The request with the blanks around header values taken off, as RFC 9110, 5.5, wants; servers may leave them."""
    headers = scope["headers"]
    if all(value == value.strip(_BLANKS) for _, value in headers):
        return scope
    return {**scope, "headers": [(name, value.strip(_BLANKS)) for name, value in headers]}


def _principal(ctx: Context) -> Principal:
    return principal_of(ctx.request.scope)


def mcp_app(
    memhold: AsyncStore,
    *,
    allowed_hosts: Sequence[str] | None = None,
    allowed_origins: Sequence[str] = (),
    max_body: int = MAX_BODY,
    documents: bool = False,
    build: Build = build_server,
) -> McpApp:
    """MCP for an open store, to be put at `/mcp` (and `/mcp/`) behind a guard that sets the principal.

    Enter `app.lifespan()` in the lifespan of the application around it. Host and Origin are the guard's to check; with
    `allowed_hosts` they are checked here as well ("127.0.0.1:*" is any port). With `documents` the tools of documents
    are offered too. `build` makes the server of the SDK, where it is to offer more than these.
    """
    security = None
    if allowed_hosts is not None:
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=list(allowed_hosts),
            allowed_origins=list(allowed_origins),
        )
    return McpApp(memhold, security=security, max_body=max_body, documents=documents, build=build)
