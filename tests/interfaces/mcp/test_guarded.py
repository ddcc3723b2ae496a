"""MCP behind the real guard: real tokens, the official client, the server as `memhold serve` puts it together."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from memhold.faces.mcp.tools import TOOLS
from memhold.values.principal import Principal
from memhold.values.records import Scope
from tests.interfaces.mcp.conftest import MODES, call, ids_in, over_http, refused
from tests.rest.serving import live


def bearing(token: str) -> Principal:
    """What `over_http` sends the token of; whose it is, the server finds out by itself."""
    return Principal(scope=Scope(), rights=frozenset(), token=token)


async def test_two_clients_with_two_tokens_at_once() -> None:
    """The same session, the same keys, the same ids tried: each has its own memory, and never a word of the other's."""
    async with live() as server:
        url = f"{server.url}/mcp"
        tokens = {"heliotrope": await server.token(user="alice"), "obsidian": await server.token(user="bob")}
        ids: dict[str, asyncio.Future[str]] = {name: asyncio.get_running_loop().create_future() for name in tokens}

        async def lives(own: str, other: str, mode: str) -> str:
            seen: list[Any] = []
            async with over_http(url, bearing(tokens[own]), mode=mode) as client:
                assert client.protocol_version == mode
                told = await call(client, "remember", attribute="code word", value=own)
                ids[own].set_result(ids_in(told)[0])
                for turn in range(6):
                    seen.append(
                        await call(
                            client, "add_memory", prompt=f"{own} {turn}", response=own, session="s",
                            idempotency_key=f"k{turn}",
                        )
                    )  # fmt: skip
                    assert seen[-1].startswith("Saved as")
                    seen.append(await call(client, "recall", query="heliotrope obsidian code word", limit=50))
                    seen.append(await call(client, "get_context", message="what is the code word?", session="s"))
                for tool in ("memory_history", "forget"):
                    assert "no" in await refused(client, tool, item_id=await ids[other])
                assert (await call(client, "memory_status")).startswith("12 messages")
                seen.append((await client.read_resource("memhold://profile")).contents[0].text)
            text = json.dumps(seen)
            # The question names both, and stands in no answer.
            assert own in text
            assert other not in text
            return text

        async with asyncio.timeout(60):
            await asyncio.gather(*(lives(*one) for one in zip(tokens, reversed(tokens), MODES, strict=True)))
        for user, own in (("alice", "heliotrope"), ("bob", "obsidian")):
            (fact,) = (await server.memhold.scope(user=user).list(("fact",))).items
            assert fact.value == own


@pytest.mark.parametrize("mode", MODES)
async def test_a_token_that_is_revoked_in_the_middle_is_refused_at_the_next_call(mode: str) -> None:
    async with live() as server:
        made = await server.memhold.admin.tokens.create(user="alice")
        async with over_http(f"{server.url}/mcp", bearing(made.secret), mode=mode) as client, asyncio.timeout(30):
            await call(client, "add_message", text="before")
            await server.memhold.admin.tokens.revoke(made.token.id)
            with pytest.raises(Exception, match=r"(?i)401|unauthori|status|error"):
                await client.call_tool("add_message", {"text": "after"})
        assert (await server.memhold.scope(user="alice").status()).messages == 1


async def test_a_token_that_may_only_read_is_offered_no_tool_that_writes() -> None:
    async with live() as server:
        token = await server.token(["read"], user="alice")
        async with over_http(f"{server.url}/mcp", bearing(token)) as client:
            offered = {tool.name for tool in (await client.list_tools()).tools}
            assert offered == {spec.name for spec in TOOLS.values() if spec.read_only}
            for spec in TOOLS.values():
                if not spec.read_only:
                    result = await client.call_tool(spec.name, {})
                    assert result.is_error, spec.name
        async with httpx2.AsyncClient() as http:
            answer = await http.post(f"{server.url}/mcp", json={}, headers={"authorization": "Bearer mh_wrong"})
            assert (answer.status_code, answer.headers["www-authenticate"][:6]) == (401, "Bearer")
