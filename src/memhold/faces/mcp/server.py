"""The MCP server on the official SDK, as HTTP needs it: the methods, for whoever the request is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from memhold.faces.mcp.listing import listing_of
from memhold.faces.mcp.methods import INSTRUCTIONS, SERVER, Asked, MethodError, Methods
from memhold.faces.mcp.tools import TOOLS, Caller, ToolSpec

if TYPE_CHECKING:
    from memhold.values.principal import Principal

__all__ = ["Context", "Whose", "build_server", "client_of"]

Context = Any
"""The SDK's request context: generic over what it never uses here."""
R = TypeVar("R", bound=BaseModel)


class Whose:
    """Answers for whom a request is: its principal at once, and the open store when it is needed."""

    def __init__(
        self, principal: Callable[[Context], Principal], caller: Callable[[Context], Awaitable[Caller]]
    ) -> None:
        self.principal = principal
        self.caller = caller

    def asked(self, ctx: Context) -> Asked:
        """What the methods need to know of a request."""
        wanted = bool(ctx.meta) and ctx.meta.get("progress_token") is not None

        async def tell(progress: float, message: str) -> None:
            await ctx.session.report_progress(progress, message=message)

        return Asked(
            principal=self.principal(ctx),
            caller=lambda: self.caller(ctx),
            revision=str(ctx.protocol_version),
            tell=tell if wanted else None,
        )


def client_of(ctx: Context) -> str | None:
    """What the client of a request calls itself; None where it does not say, as old ones without sessions do."""
    said = ctx.session.client_params
    return None if said is None else str(said.client_info.name)


async def _typed(kind: type[R], answer: Awaitable[dict[str, Any]]) -> R:
    """An answer of the methods as the SDK wants it.

    Raises:
        MCPError: the method gave an error of the protocol.
    """
    try:
        return kind.model_validate(await answer, by_name=False)
    except MethodError as error:
        raise MCPError(code=error.code, message=error.message, data=error.data) from None


def build_server(whose: Whose, tools: Mapping[str, ToolSpec] = TOOLS) -> Server[Any]:
    """A server that answers each request for its own principal, with these tools.

    It serves every protocol revision of the SDK: 2026-07-28, and by handshake 2025-11-25 and those before.
    """
    listing = listing_of(tools)
    methods = Methods(listing, lambda: tools)

    async def list_tools(ctx: Context, _: object) -> types.ListToolsResult:
        return await _typed(types.ListToolsResult, methods.list_tools(whose.asked(ctx)))

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        answer = methods.call_tool(whose.asked(ctx), params.name, params.arguments or {})
        return await _typed(types.CallToolResult, answer)

    async def list_resources(ctx: Context, _: object) -> types.ListResourcesResult:
        return await _typed(types.ListResourcesResult, methods.list_resources(whose.asked(ctx)))

    async def list_templates(ctx: Context, _: object) -> types.ListResourceTemplatesResult:
        return await _typed(types.ListResourceTemplatesResult, methods.list_resource_templates(whose.asked(ctx)))

    async def read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await _typed(types.ReadResourceResult, methods.read_resource(whose.asked(ctx), str(params.uri)))

    async def list_prompts(ctx: Context, _: object) -> types.ListPromptsResult:
        return await _typed(types.ListPromptsResult, methods.list_prompts(whose.asked(ctx)))

    async def get_prompt(ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        answer = methods.get_prompt(whose.asked(ctx), params.name, params.arguments or {})
        return await _typed(types.GetPromptResult, answer)

    server: Server[Any] = Server(
        SERVER["name"],
        version=SERVER["version"],
        title=SERVER["title"],
        description=SERVER["description"],
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
    # No argument: mcp 2.1 has none of that name, and looks a schema up in the listing.
    server.get_tool_input_schema = lambda name: listing[name]["tool"]["inputSchema"] if name in listing else None
    return server
