"""Two agents of one user, each with a token of its own: whatever is asked over REST or MCP, neither hears of the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest_asyncio

from .test_isolation import sweep
from .whole import Tenant, Whole, fill, whole

COMMON = "harbour talk"
"""A session in which both speak."""


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Whole]:
    async with whole(str(tmp_path / "memory.db")) as made:
        yield made


async def _agent(server: Whole, name: str) -> Tenant:
    return await server.tenant(name, "acme", "zoe", agent=f"canary{name}", rights=["read", "write"])


async def _speak(server: Whole, one: Tenant) -> None:
    """Put the agent's canary into every field, into a session that others share, and beside both."""
    await fill(server, one)
    said = [{"role": "user", "content": f"{one.canary} rows at the harbour"}, {"role": "assistant", "content": "Row."}]
    for session in (COMMON, f"{one.canary}-session"):
        kept = {"metadata": {"title": one.canary}}
        assert (await server.call("POST", "/v1/messages", one.token, {"messages": said}, session=session)).status == 201
        told = await server.call("POST", "/v1/sessions/metadata", one.token, kept, session=session)
        assert told.status in {200, 201}, told.body
    working = {"messages": [{"id": f"{one.canary}-w", "role": "user", "content": one.canary}], "context": one.canary}
    put = await server.call("PUT", f"/v1/working-memory/{one.canary}-working", one.token, working)
    assert put.status in {200, 201}, put.body


def _arguments(tool: Mapping[str, Any], ids: Mapping[str, str], session: str) -> Iterator[dict[str, Any]]:
    """A tool's arguments: what it needs, and each other one that is tried beside it.

    Raises:
        KeyError: it needs an argument that nobody here thought of.
    """
    values: dict[str, list[Any]] = {
        "query": ["harbour", ""], "text": ["harbour"], "session": [session, COMMON], "item_id": [*ids.values()],
        "memory_id": [ids["memory_id"]], "value": ["taken"], "attribute": ["boat"], "prompt": ["harbour"],
        "response": ["harbour"], "role": ["user"], "content": ["harbour"], "include_superseded": [True],
        "as_of": ["2990-01-01T00:00:00Z"], "metadata": [{"m": "mine"}], "cursor": [None],
    }  # fmt: skip
    needed = {name: values[name][0] for name in tool["inputSchema"].get("required", ())}
    yield needed
    for name in tool["inputSchema"]["properties"]:
        yield from ({**needed, name: value} for value in values.get(name, ()))


async def _ask_mcp(server: Whole, token: str, ids: Mapping[str, str], session: str) -> list[tuple[str, str]]:
    """Every tool, resource and prompt that the server lists."""

    async def ask(method: str, **params: Any) -> dict[str, Any]:
        answer = await server.rpc(token, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        heard.append((f"{method} {params}", answer.body.decode()))
        found: dict[str, Any] = answer.json.get("result", {})
        return found

    heard: list[tuple[str, str]] = []
    for tool in (await ask("tools/list"))["tools"]:
        for given in _arguments(tool, ids, session):
            await ask("tools/call", name=tool["name"], arguments=given)
    for resource in (await ask("resources/list"))["resources"]:
        await ask("resources/read", uri=resource["uri"])
    for prompt in (await ask("prompts/list"))["prompts"]:
        wanted = {one["name"]: "harbour" for one in prompt.get("arguments", ())}
        await ask("prompts/get", name=prompt["name"], arguments=wanted)
    return heard


async def _everything(server: Whole, asker: Tenant, other: Tenant) -> list[tuple[str, str]]:
    """All that a token hears when it asks for everything with the ids and sessions of the other, and with its own."""
    heard: list[tuple[str, str]] = []
    for session in (COMMON, f"{other.canary}-session", f"{other.canary}-working"):
        for ids in (other.ids, asker.ids):
            answers = await sweep(server, asker.token, ids, session)
            heard += [(what, f"{answer.headers} {answer.body.decode()}") for what, answer in answers]
            asked = await _ask_mcp(server, asker.token, ids, session)
            heard += [(what, text) for what, text in asked]
    sent = [f"{other.canary}-session", f"{other.canary}-working", *other.ids.values()]
    return [(what, _without(text, sent)) for what, text in heard]


def _without(text: str, sent: list[str]) -> str:
    for one in sent:
        text = text.replace(one, "")
    return text


async def test_an_agents_token_hears_nothing_of_another_agent(server: Whole) -> None:
    one, two = await _agent(server, "planner"), await _agent(server, "writer")
    for agent in (one, two):
        await _speak(server, agent)
    await server.memhold.settle()
    # An owner's token without an agent hears of both: what is looked for is there.
    owner = await server.tenant("owner", "acme", "zoe", rights=["read"])
    owner.ids.update(one.ids)
    own = [text for _, text in await _everything(server, owner, one)]
    assert sum(one.canary in text for text in own) > 50
    heard = await _everything(server, two, one)
    assert sorted({what for what, text in heard if one.canary in text}) == []
    assert sum(two.canary in text for _, text in heard) > 20


async def test_an_agents_token_names_no_other_agent(server: Whole) -> None:
    one, two = await _agent(server, "planner"), await _agent(server, "writer")
    await _speak(server, one)
    for path in ("/v1/recall", "/v1/context"):
        body = {"query": "harbour", "also": [{"agent": "canaryplanner"}]}
        refused = await server.call("POST", path, two.token, body)
        assert refused.status == 403, refused.body
        assert (await server.call("POST", path, one.token, body)).status == 200
