"""The MCP server on the official SDK: tools, resources and prompts over the verbs, for whoever the connection is."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from memhold._version import __version__
from memhold.faces.mcp.prompts import INSTRUCTIONS, PROMPTS, use_memory
from memhold.faces.mcp.resources import HISTORY, ITEM, PROFILE, RESOURCES, read_resource
from memhold.faces.mcp.tools import TOOLS, Caller, Refused, ToolSpec, input_schema
from memhold.values.errors import MemholdError, NotFound, WrongKind

if TYPE_CHECKING:
    from memhold.values.principal import Principal, Right

__all__ = ["Context", "Whose", "build_server", "client_of"]

logger = logging.getLogger(__name__)

Context = Any
"""The SDK's request context: generic over what it never uses here."""
RESOURCE_NOT_FOUND = -32002
"""What revisions before 2026-07-28 call an unknown resource; from then on it is invalid parameters."""


class Whose:
    """Answers for whom a request is: its principal at once, and the open store when it is needed."""

    def __init__(
        self, principal: Callable[[Context], Principal], caller: Callable[[Context], Awaitable[Caller]]
    ) -> None:
        self.principal = principal
        self.caller = caller


def client_of(ctx: Context) -> str | None:
    """What the client of a request calls itself; None where it does not say, as old ones without sessions do."""
    said = ctx.session.client_params
    return None if said is None else str(said.client_info.name)


def _tool(spec: ToolSpec) -> types.Tool:
    tool = spec.tool
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.use,
        input_schema=input_schema(spec),
        annotations=types.ToolAnnotations(
            read_only_hint=spec.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def build_server(whose: Whose, tools: Mapping[str, ToolSpec] = TOOLS) -> Server[Any]:
    """A server that answers each request for its own principal, with these tools.

    It serves every protocol revision of the SDK: 2026-07-28, and by handshake 2025-11-25 and those before. Tools that
    the principal has no right to are not listed, and refused when they are called.
    """

    @cache
    def listed(name: str) -> types.Tool:
        return _tool(tools[name])

    server: Server[Any] = Server(
        "memhold",
        version=__version__,
        title="Memhold memory",
        description="Durable memory for AI agents.",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda name: listed(name).input_schema if name in tools else None,
        on_list_tools=_list_tools(whose, tools, listed),
        on_call_tool=_call_tool(whose, tools),
        on_list_resources=_list_resources(whose),
        on_list_resource_templates=_list_templates(whose),
        on_read_resource=_read_resource(whose),
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt(whose),
    )
    return server


def _may(principal: Principal, right: Right) -> bool:
    return right in principal.rights


def _list_tools(
    whose: Whose, tools: Mapping[str, ToolSpec], listed: Callable[[str], types.Tool]
) -> Callable[..., Awaitable[types.ListToolsResult]]:
    async def answered(ctx: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        principal = whose.principal(ctx)
        return types.ListToolsResult(
            tools=[listed(name) for name, spec in tools.items() if _may(principal, spec.verb.needs)]
        )

    return answered


def _call_tool(whose: Whose, tools: Mapping[str, ToolSpec]) -> Callable[..., Awaitable[types.CallToolResult]]:
    async def called(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        spec = tools.get(params.name)
        if spec is None:
            known = ", ".join(tools)
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {params.name:.80}; known are {known}")
        from memhold.faces.mcp.calls import run_tool  # late: it loads much of Memhold

        try:
            text = await run_tool(spec, params.arguments or {}, lambda: whose.caller(ctx))
        except Refused as refused:
            return _failed(str(refused))
        except Exception:  # noqa: BLE001 - the edge: a model gets an answer, the log gets the place
            return _failed(_unexpected(spec))
        return types.CallToolResult(content=[types.TextContent(text=text)])

    return called


def _unexpected(spec: ToolSpec) -> str:
    # The type and the place of what went wrong; its message might hold content.
    logger.error("%s failed", spec.name, exc_info=_bare())
    again = "" if spec.read_only else " It may or may not be written: with an idempotency_key you can send it again."
    return f"{spec.name} failed inside the server, which is not your fault.{again} Tell the user to look at the log."


def _bare() -> Any:
    kind, error, trace = sys.exc_info()
    if kind is None or error is None:
        return None
    return Exception, Exception(kind.__name__), trace


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def _need_read(principal: Principal) -> None:
    if not _may(principal, "read"):
        raise MCPError(code=types.INVALID_REQUEST, message="this connection may not read")


def _list_resources(whose: Whose) -> Callable[..., Awaitable[types.ListResourcesResult]]:
    async def listed(ctx: Context, _: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        found = RESOURCES.values() if _may(whose.principal(ctx), "read") else ()
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=spec.uri,
                    name=spec.name,
                    title=spec.title,
                    description=spec.description,
                    mime_type="text/plain",
                )
                for spec in found
            ]
        )

    return listed


def _list_templates(whose: Whose) -> Callable[..., Awaitable[types.ListResourceTemplatesResult]]:
    async def listed(ctx: Context, _: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            uri_template=ITEM,
            name="item",
            title="One memory or message",
            description="A memory or message as a whole, by the id that recall gave.",
            mime_type="text/plain",
        )
        may = _may(whose.principal(ctx), "read")
        return types.ListResourceTemplatesResult(resource_templates=[template] if may else [])

    return listed


def _read_resource(whose: Whose) -> Callable[..., Awaitable[types.ReadResourceResult]]:
    async def read(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        _need_read(whose.principal(ctx))
        uri = str(params.uri)
        try:
            text = await read_resource(await whose.caller(ctx), uri)
        except (NotFound, WrongKind):
            before = ctx.protocol_version < "2026-07-28"
            code = RESOURCE_NOT_FOUND if before else types.INVALID_PARAMS
            raise MCPError(code=code, message="Resource not found", data={"uri": uri}) from None
        except MemholdError as error:
            raise MCPError(
                code=types.INTERNAL_ERROR, message=f"the store could not do it ({type(error).__name__})"
            ) from None
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)]
        )

    return read


async def _list_prompts(_: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=spec.name,
                title=spec.title,
                description=spec.description,
                arguments=[
                    types.PromptArgument(name=name, description=about, required=False)
                    for name, about in spec.arguments.items()
                ],
            )
            for spec in PROMPTS.values()
        ]
    )


def _get_prompt(whose: Whose) -> Callable[..., Awaitable[types.GetPromptResult]]:
    async def got(ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        spec = PROMPTS.get(params.name)
        if spec is None:
            message = f"Unknown prompt: {params.name:.80}; known are {', '.join(PROMPTS)}"
            raise MCPError(code=types.INVALID_PARAMS, message=message)
        given: Mapping[str, str] = params.arguments or {}
        if unknown := given.keys() - spec.arguments.keys():
            raise MCPError(code=types.INVALID_PARAMS, message=f"{spec.name} has no argument {min(unknown):.80}")
        if spec.name == "use_memory":
            text = use_memory(given.get("session"))
        else:
            text = await _what_you_know(whose, ctx)
        said = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=spec.description, messages=[said])

    return got


async def _what_you_know(whose: Whose, ctx: Context) -> str:
    _need_read(whose.principal(ctx))
    try:
        caller = await whose.caller(ctx)
        profile, history = await read_resource(caller, PROFILE), await read_resource(caller, HISTORY)
    except MemholdError as error:
        message = f"the store could not do it ({type(error).__name__})"
        raise MCPError(code=types.INTERNAL_ERROR, message=message) from None
    return f"What do you know about me? Here is what your memory holds.\n\n{profile}\n\n{history}"
