"""MCP clients of the official SDK over each transport, and a server on loopback behind a guard of two lines."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from memhold.faces.mcp.http import mcp_app
from memhold.values.principal import PRINCIPAL, Principal, Right
from memhold.values.records import Scope
from memhold.verbs.store_protocols import AsyncStore
from tests.command_line import forked

MODES = {"2026-07-28": "auto", "2025-11-25": "legacy"}
"""The newest revision and the one before, by what the client calls them."""
READ_WRITE: tuple[Right, ...] = ("read", "write")


def principal(name: str, *rights: Right, namespace: str = "acme", user: str | None = "alice") -> Principal:
    """A caller whose token is called as it is."""
    scope = Scope(namespace=namespace, user=user)
    return Principal(scope=scope, rights=frozenset(rights or READ_WRITE), token=name)


ALICE = principal("alice")
BOB = principal("bob", user="bob")
READER = principal("reader", "read")
WRITER = principal("writer", "write")


def environment(folder: Path, **more: str) -> dict[str, str]:
    """What a client gives to the server that it starts: this source tree, and nothing set from outside."""
    return {"PYTHONPATH": os.environ.get("PYTHONPATH", "src"), "HOME": str(folder), **more}


def started(folder: Path, *options: str, alone: bool = False, **more: str) -> StdioServerParameters:
    """How a client begins a server; `alone`: an interpreter that has imported nothing yet, as a user's."""
    command, *arguments = (sys.executable, "-m", "memhold") if alone else forked()
    return StdioServerParameters(
        command=command,
        args=[*arguments, "mcp", *options],
        env=environment(folder, **more),
        cwd=folder,
    )


@asynccontextmanager
async def over_stdio(
    folder: Path, *options: str, mode: str = "2026-07-28", alone: bool = False, **more: str
) -> AsyncIterator[Client]:
    with (folder / "stderr.txt").open("a") as log:
        begun = stdio_client(started(folder, *options, alone=alone, **more), errlog=log)
        async with Client(begun, mode=MODES[mode]) as client:
            yield client


@asynccontextmanager
async def served(memhold: AsyncStore, *principals: Principal, **options: Any) -> AsyncIterator[str]:
    """The URL of an MCP server on loopback; a bearer token is the name of a principal's token."""
    known = {principal.token: principal for principal in principals}
    app = mcp_app(memhold, **options)

    async def guard(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        token = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
        await app({**scope, PRINCIPAL: known[token or principals[0].token]}, receive, send)

    # A machine that is busy must not let a connection fall idle: the client would meet its end in the middle.
    quiet = {"lifespan": "off", "log_level": "error", "ws": "none", "timeout_graceful_shutdown": 1}
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(guard, timeout_keep_alive=120, **quiet)
        server = uvicorn.Server(config)
        async with app.lifespan():
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            while not server.started:  # noqa: ASYNC110 - it has no event to wait for
                await asyncio.sleep(0)
            try:
                yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
            finally:
                server.should_exit = True
                await serving


@asynccontextmanager
async def over_http(url: str, principal: Principal, *, mode: str = "2026-07-28") -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {principal.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=MODES[mode]) as client,
    ):
        yield client


def text_of(result: Any) -> str:
    (content,) = result.content
    found: str = content.text
    return found


async def call(client: Client, name: str, **arguments: Any) -> str:
    """What a tool says that must not fail: one text, and no data beside it."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, text_of(result)
    assert result.structured_content is None
    return text_of(result)


async def refused(client: Client, name: str, **arguments: Any) -> str:
    """What a tool says that must fail."""
    result = await client.call_tool(name, arguments)
    assert result.is_error, text_of(result)
    assert result.structured_content is None
    return text_of(result)


def ids_in(text: str) -> list[str]:
    """The ids that a model reads in an answer, each once."""
    return list(dict.fromkeys(re.findall(r"\b(?:mem|msg)_[0-9a-f]+", text)))


def entries_of(text: str) -> list[str]:
    """The entries of the fence in an answer; none where nothing was found."""
    lines = text.splitlines()
    opening = [n for n, line in enumerate(lines) if line.startswith("<memhold-recall ")]
    return [line for n in opening for line in lines[n + 2 : -1] if not line.startswith("    ")]


def request(number: int, method: str, **params: Any) -> bytes:
    """One line of the wire."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


HANDSHAKE = request(
    1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "test", "version": "1"}
)
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
