"""What MCP's conformance suite wants to find on a server under its own names, beside the tools of Memhold.

The suite (`@modelcontextprotocol/conformance`) calls tools, resources and prompts that answer with each kind of
content, fail, report progress, or have a schema with every word of its dialect. Give `with_fixtures` to
`mcp_app(build=…)`: what is tried then is the server that serves Memhold's own, with its framing, headers and streams.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import mcp_types as types
from mcp.server.lowlevel.server import Server

from memhold.faces.mcp.server import Context, Whose, build_server
from memhold.faces.mcp.tools import ToolSpec

__all__ = ["with_fixtures"]

_STEP_SECONDS: Final = 0.05
_FOR: Final = "For the conformance suite."
_NOTHING: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _text_of(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


_PNG: Final = _text_of(
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00"))
    + _chunk(b"IEND", b"")
)
"""One red point."""
_WAV: Final = _text_of(
    b"RIFF" + struct.pack("<I", 38) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    + b"data" + struct.pack("<I", 2) + b"\x80\x80"
)  # fmt: skip
"""Two samples of silence."""


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


_IMAGE: Final = {"type": "image", "data": _PNG, "mimeType": "image/png"}


def _embedded(uri: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}}


_ANSWERS: Final[Mapping[str, list[dict[str, Any]]]] = {
    "test_simple_text": [_text("This is a simple text response for testing.")],
    "test_image_content": [_IMAGE],
    "test_audio_content": [{"type": "audio", "data": _WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": [
        _embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        _text("Multiple content types test:"),
        _IMAGE,
        _embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "test_error_handling": [_text("This tool intentionally returns an error for testing")],
    "test_tool_with_progress": [_text("Done, with progress where it was asked for.")],
    "test_logging_tool": [_text("Done, and nothing was logged.")],
    "test_custom_header": [_text("Done.")],
    "json_schema_2020_12_tool": [_text("Done.")],
}
_SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "test_custom_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    },
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
}
_RESOURCES: Final[Mapping[str, Mapping[str, Any]]] = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": _PNG},
}
_TEMPLATE: Final = "test://template/{id}/data"
_PROMPTS: Final[Mapping[str, tuple[str, ...]]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}


def with_fixtures(whose: Whose, tools: Mapping[str, ToolSpec]) -> Server[Any]:
    """The server with these tools, and beside them what the suite asks for."""
    server = build_server(whose, tools)
    _lists(server)
    _calls(server)
    own_schema = server.get_tool_input_schema
    assert own_schema is not None
    server.get_tool_input_schema = lambda name: _schema(name) if name in _ANSWERS else own_schema(name)
    return server


def _schema(name: str) -> dict[str, Any]:
    return dict(_SCHEMAS.get(name, _NOTHING))


def _lists(server: Server[Any]) -> None:
    """What is listed, behind what Memhold lists."""
    tools = [{"name": name, "description": _FOR, "inputSchema": _schema(name)} for name in _ANSWERS]
    resources = [
        {"uri": uri, "name": uri, "description": _FOR, "mimeType": one["mimeType"]} for uri, one in _RESOURCES.items()
    ]
    prompts = [
        {
            "name": name,
            "description": _FOR,
            "arguments": [{"name": one, "description": _FOR, "required": True} for one in arguments],
        }
        for name, arguments in _PROMPTS.items()
    ]
    templates = [{"uriTemplate": _TEMPLATE, "name": "template", "description": _FOR, "mimeType": "application/json"}]
    for method, field, more in (
        ("tools/list", "tools", tools),
        ("resources/list", "resources", resources),
        ("resources/templates/list", "resourceTemplates", templates),
        ("prompts/list", "prompts", prompts),
    ):
        _extended(server, method, field, more)


def _extended(server: Server[Any], method: str, field: str, more: list[dict[str, Any]]) -> None:
    entry = server.get_request_handler(method)
    assert entry is not None

    async def listed(ctx: Context, params: Any) -> Any:
        own: Any = await entry.handler(ctx, params)
        said = own.model_dump(by_alias=True, mode="json", exclude_none=True)
        return type(own).model_validate({**said, field: [*said[field], *more]}, by_name=False)

    server.add_request_handler(method, entry.params_type, listed)


def _calls(server: Server[Any]) -> None:
    """What is called, read and got; what is no fixture is Memhold's."""
    _before(server, "tools/call", lambda params: params.name in _ANSWERS, _called)
    _before(server, "resources/read", lambda params: _is_fixture(str(params.uri)), _read)
    _before(server, "prompts/get", lambda params: params.name in _PROMPTS, _got)


def _is_fixture(uri: str) -> bool:
    return uri in _RESOURCES or re.fullmatch(r"test://template/[^/]+/data", uri) is not None


def _before(
    server: Server[Any], method: str, ours: Callable[[Any], bool], answer: Callable[[Context, Any], Any]
) -> None:
    entry = server.get_request_handler(method)
    assert entry is not None

    async def answered(ctx: Context, params: Any) -> Any:
        return await (answer(ctx, params) if ours(params) else entry.handler(ctx, params))

    server.add_request_handler(method, entry.params_type, answered)


async def _called(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    if params.name == "test_tool_with_progress":
        for progress in (0, 50, 100):
            await ctx.session.report_progress(progress, 100)
            await asyncio.sleep(_STEP_SECONDS)
    said = {"content": _ANSWERS[params.name], "isError": params.name == "test_error_handling"}
    return types.CallToolResult.model_validate(said, by_name=False)


async def _read(_: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    if uri in _RESOURCES:
        found: dict[str, Any] = {"uri": uri, **_RESOURCES[uri]}
    else:
        number = uri.removeprefix("test://template/").removesuffix("/data")
        said = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
        found = {"uri": uri, "mimeType": "application/json", "text": json.dumps(said)}
    return types.ReadResourceResult.model_validate({"contents": [found]}, by_name=False)


async def _got(_: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    given = params.arguments or {}
    messages: Mapping[str, Callable[[], list[dict[str, Any]]]] = {
        "test_simple_prompt": lambda: [_text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": lambda: [
            _text(f"Prompt with arguments: arg1='{given.get('arg1', '')}', arg2='{given.get('arg2', '')}'")
        ],
        "test_prompt_with_embedded_resource": lambda: [
            _embedded(given.get("resourceUri", ""), "text/plain", "Embedded resource content for testing."),
            _text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": lambda: [_IMAGE, _text("Please analyze the image above.")],
    }
    said = [{"role": "user", "content": content} for content in messages[params.name]()]
    return types.GetPromptResult.model_validate({"messages": said}, by_name=False)
