"""The whole server in this process: guard, REST, compatible routes and MCP, with tenants that each have canaries."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, FastAPI

from memhold import AsyncMemhold
from memhold.faces.compat.ams import compat_router
from memhold.faces.mcp.http import mcp_app
from memhold.faces.rest.app import RestOptions, rest_app
from memhold.faces.rest.changes import Streams
from memhold.faces.ui.pages import ui_app
from memhold.server.browsers import Browsers
from memhold.server.guard_rules import Rate
from memhold.server.guard_setup import Door, guarded
from memhold.server.metrics import Metrics
from memhold.server.routing import Observed, PathRouter
from tests.rest.serving import OWN

from .asgi import HOST, Answer, ask

FAST = Rate(per_second=1e6, burst=1_000_000)


@dataclass
class Tenant:
    """A token's holder, and what nobody else may ever see."""

    name: str
    namespace: str
    user: str | None
    token: str
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def canary(self) -> str:
        return f"canary{self.name}"


@dataclass
class Whole:
    """The server and how to ask it."""

    app: Any
    rest: FastAPI
    memhold: AsyncMemhold
    compat: APIRouter
    front: PathRouter

    async def call(
        self, method: str, path: str, token: str | None = None, body: Any = None, *, host: tuple[str, str] = HOST,
        headers: Mapping[str, str] | None = None, **query: Any,
    ) -> Answer:  # fmt: skip
        raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        given = [("content-type", "application/json"), ("content-length", str(len(raw))), *(headers or {}).items()]
        return await ask(
            self.app, path, method=method, token=token, chunks=[raw], headers=given, query=urlencode(query), host=host
        )

    async def tool(self, name: str, token: str | None, **arguments: Any) -> Answer:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        return await self.rpc(token, body)

    async def rpc(self, token: str | None, body: Mapping[str, Any]) -> Answer:
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
        return await self.call("POST", "/mcp", token, body, headers=headers)

    async def tenant(
        self, name: str, namespace: str, user: str | None, *, rights: Any = OWN, agent: str | None = None
    ) -> Tenant:
        made = await self.memhold.admin.tokens.create(
            namespace=namespace, user=user, agent=agent, rights=rights, label=name
        )
        return Tenant(name, namespace, user, made.secret)

    def routes(self) -> list[tuple[str, str]]:
        """Every route there is, by method and path: whatever is added later is in it."""
        found = [
            (method, getattr(route, "path", "/"))
            for route in (*self.rest.routes, *self.compat.routes)
            for method in sorted(getattr(route, "methods", None) or {"GET"})
        ]
        return [*found, ("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("POST", "/mcp/")]


@asynccontextmanager
async def whole(location: str, *, host: str = "127.0.0.1", shut: bool = True, **opened: Any) -> AsyncIterator[Whole]:
    async with AsyncMemhold.open(location, **{"worker": False, **opened}) as memhold:
        if shut:
            await memhold.admin.tokens.create(label="so that the door is shut")
        streams = Streams()
        rest = rest_app(memhold, RestOptions(streams=streams))
        compat = compat_router(memhold)
        rest.include_router(compat)
        mcp = mcp_app(memhold)
        metrics = Metrics()
        front = PathRouter(
            rest=rest, mcp=mcp, ui=ui_app(memhold), admin=lambda: memhold.admin, metrics=metrics, streams=streams
        )
        door = Door(
            host=host, behind_proxy=host != "127.0.0.1", rate=FAST, failures=FAST, bytes_rate=FAST, work_rate=FAST
        )
        guard = await guarded(front, memhold, door, now=datetime.now(UTC))
        begun, over = asyncio.Event(), asyncio.Event()

        async def run() -> None:
            # In one task from beginning to end: what MCP enters must be left where it was entered.
            async with mcp.lifespan():
                begun.set()
                await over.wait()

        task = asyncio.create_task(run())
        await begun.wait()
        try:
            yield Whole(Observed(Browsers(guard, secure=False), metrics), rest, memhold, compat, front)
        finally:
            over.set()
            await task


async def fill(server: Whole, one: Tenant) -> None:
    """Put the tenant's canary into every field there is, over REST."""
    c = one.canary
    session = f"{c}-session"
    call = server.call
    messages = [
        {"role": "user", "content": f"{c} lives in harbour town", "metadata": {"m": c}, "name": c},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": f"call-{c}", "type": "function", "function": {"name": "look", "arguments": json.dumps({"q": c})}}]},
        {"role": "tool", "tool_call_id": f"call-{c}", "content": f"result {c}"},
    ]  # fmt: skip
    added = await call(
        "POST", "/v1/messages", one.token, {"messages": messages}, session=session, headers={"idempotency-key": c}
    )
    assert added.status == 201, added.body
    one.ids["message_id"], one.ids["change_id"] = added.json["ids"][0], added.json["change_ids"][0]
    note = {"text": f"{c} likes harbours", "topics": [c, "shared"], "entities": [c], "metadata": {"note": c}}
    fact = {"attribute": f"{c} boat", "value": f"{c} sloop", "subject": f"{c} friend"}
    for body in (note, fact):
        told = await call("POST", "/v1/memories", one.token, body, session=session)
        assert told.status == 201, told.body
        one.ids["memory_id"] = told.json["memory"]["id"]
    assert (await call("POST", "/v1/sessions/end", one.token, session=session)).status == 200
    record = {"id": f"{c}-record", "text": f"{c} record", "topics": [c]}
    assert (await call("POST", "/v1/long-term-memory/", one.token, {"memories": [record]})).status == 200
    told = await server.tool("add_memory", one.token, prompt=f"{c} asks", response=f"{c} hears")
    assert told.status == 200, told.body
    assert not told.json["result"].get("isError"), told.body
