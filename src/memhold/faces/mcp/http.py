"""MCP over streamable HTTP, as an application to stand at `/mcp` behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from memhold.faces.mcp.server import Context, Whose, build_server, client_of
from memhold.faces.mcp.tools import DOCUMENT_TOOLS, TOOLS, Caller
from memhold.faces.problems import Problem, send_problem
from memhold.values.principal import Principal, principal_of

if TYPE_CHECKING:
    from memhold.verbs.store_protocols import AsyncStore

__all__ = ["McpApp", "mcp_app"]

AsgiScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_BLANKS = b" \t"
MAX_BODY = 4 * 1024 * 1024
"""Largest request, in bytes: a text of 1 MiB whose every character is written as an escape."""


class McpApp:
    """The ASGI application. Run it inside `lifespan()`; each request must have passed the guard.

    It keeps nothing between requests: a request is answered for the principal it came with, on whichever process it
    arrives, and no session id can be taken over. It serves revision 2026-07-28 and, without sessions, those before.
    """

    def __init__(
        self, memhold: AsyncStore, *, security: TransportSecuritySettings | None, max_body: int, documents: bool
    ) -> None:
        async def caller(ctx: Context) -> Caller:
            return Caller(memhold=memhold, principal=_principal(ctx), client=client_of(ctx))

        self._manager = StreamableHTTPSessionManager(
            app=build_server(Whose(_principal, caller), {**TOOLS, **(DOCUMENT_TOOLS if documents else {})}),
            stateless=True,
            json_response=True,
            security_settings=security,
            max_request_body_size=max_body,
        )

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """What must be entered while requests are served; once only. Leaving it ends what still runs."""
        async with self._manager.run():
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
        await self._manager.handle_request(_trimmed(scope), receive, send)


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
) -> McpApp:
    """MCP for an open store, to be put at `/mcp` (and `/mcp/`) behind a guard that sets the principal.

    Enter `app.lifespan()` in the lifespan of the application around it. Host and Origin are the guard's to check; with
    `allowed_hosts` they are checked here as well ("127.0.0.1:*" is any port). With `documents` the tools of documents
    are offered too.
    """
    security = None
    if allowed_hosts is not None:
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=list(allowed_hosts),
            allowed_origins=list(allowed_origins),
        )
    return McpApp(memhold, security=security, max_body=max_body, documents=documents)
