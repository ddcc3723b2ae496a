"""MCP over streamable HTTP: several clients, each with its own principal, on one server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from memhold.errors import StoreBusy
from memhold.faces.mcp.tools import TOOLS
from memhold.faces.python.open import AsyncMemhold
from tests.interfaces.mcp.conftest import (
    ALICE,
    BOB,
    MODES,
    READER,
    call,
    entries_of,
    ids_in,
    over_http,
    principal,
    refused,
    served,
    text_of,
)

MODERN = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2026-07-28",
}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


def body(method: str, number: int = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": META, **params}}


@pytest.mark.parametrize("mode", MODES)
async def test_a_session_over_http(mode: str, tmp_path: Path) -> None:
    async with (
        AsyncMemhold.open(tmp_path / "memory.db") as memhold,
        served(memhold, ALICE) as url,
        over_http(url, ALICE, mode=mode) as client,
    ):
        assert client.protocol_version == mode
        assert [tool.name for tool in (await client.list_tools()).tools] == list(TOOLS)
        saved = await call(client, "add_memory", prompt="I moved to Lisbon.", response="Nice!")
        assert ids_in(await call(client, "recall", query="Lisbon"))[0] == ids_in(saved)[0]
        assert "limit" in await refused(client, "recall", limit=5000)
        assert {str(one.uri) for one in (await client.list_resources()).resources} == {
            "memhold://profile", "memhold://history",
        }  # fmt: skip
        assert "I moved" in (await client.read_resource(f"memhold://items/{ids_in(saved)[0]}")).contents[0].text


async def test_two_clients_at_once_see_only_their_own(tmp_path: Path) -> None:
    """A canary for each principal in everything that it writes; each answer of the other is searched for it."""
    elsewhere = principal("elsewhere", namespace="other")
    clients = {"heliotrope": ALICE, "obsidian": BOB, "quicksilver": elsewhere}

    async def lives(url: str, canary: str, mode: str) -> str:
        seen: list[Any] = []
        async with over_http(url, clients[canary], mode=mode) as client:
            for turn in range(8):
                session = f"s{turn % 2}"
                results = [
                    await client.call_tool(
                        "add_memory",
                        {"prompt": f"{canary} {turn}", "response": canary, "thought": canary, "session": session,
                         "idempotency_key": f"same-key-{turn}"},
                    ),
                    await client.call_tool("remember", {"attribute": "code word", "value": f"{canary} {turn}"}),
                    await client.call_tool("remember", {"text": f"note {canary}", "topics": [canary, "shared"]}),
                    await client.call_tool("recall", {"query": "heliotrope obsidian quicksilver code word"}),
                    await client.call_tool("recall", {"query": "", "topics": ["shared"], "include_superseded": True}),
                    await client.call_tool("get_context", {"message": "what is the code word?", "session": session}),
                    await client.call_tool("end_session", {"session": session}),
                    await client.call_tool("memory_status", {}),
                    await client.call_tool("forget", {"topics": ["shared"], "dry_run": True}),
                ]  # fmt: skip
                assert not any(one.is_error for one in results), [text_of(one) for one in results]
                seen += [text_of(one) for one in results]
                seen.append((await client.read_resource("memhold://profile")).contents[0].text)
                seen.append((await client.read_resource("memhold://history")).contents[0].text)
        return json.dumps(seen)

    async with (
        AsyncMemhold.open(tmp_path / "memory.db") as memhold,
        served(memhold, *clients.values()) as url,
    ):
        modes = ("2026-07-28", "2025-11-25", "2026-07-28")
        lived = await asyncio.gather(*(lives(url, canary, mode) for canary, mode in zip(clients, modes, strict=True)))
    for canary, seen in zip(clients, lived, strict=True):
        assert f"{canary} 7" in seen
        # The question names all three; what comes back must hold only one.
        others = [other for other in clients if other != canary and other in seen]
        assert others == []


async def test_many_calls_at_once_are_each_answered_for_their_own(tmp_path: Path) -> None:
    async with (
        AsyncMemhold.open(tmp_path / "memory.db") as memhold,
        served(memhold, ALICE, BOB) as url,
        over_http(url, ALICE) as alice,
        over_http(url, BOB, mode="2025-11-25") as bob,
    ):
        writes = [
            call(client, "add_message", text=f"{name} {n}", idempotency_key=f"k{n}")
            for n in range(40)
            for name, client in (("alice", alice), ("bob", bob))
        ]
        done = await asyncio.gather(*writes)
        assert len({ids_in(one)[0] for one in done}) == 80
        assert all(one.startswith("Saved as") for one in done)
        for name, client in (("alice", alice), ("bob", bob)):
            assert (await call(client, "memory_status")).startswith("40 messages")
            found = await call(client, "recall", query=name, limit=50)
            assert {entry.partition(") ")[2].split()[0] for entry in entries_of(found)} == {name}


async def test_a_session_id_gives_nobody_anything(tmp_path: Path) -> None:
    """No session is kept: an id that a client names is neither needed nor of any use."""
    async with (
        AsyncMemhold.open(tmp_path / "memory.db", worker=False) as memhold,
        served(memhold, ALICE, BOB) as url,
        httpx2.AsyncClient() as http,
    ):
        shake = {
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
        }  # fmt: skip
        headers = {**MODERN, "authorization": f"Bearer {ALICE.token}"}
        del headers["mcp-protocol-version"]
        answer = await http.post(url, json=shake, headers=headers)
        assert answer.status_code == 200
        assert "mcp-session-id" not in answer.headers


async def test_a_call_whose_client_went_away_leaves_the_server_well(tmp_path: Path) -> None:
    entered, release = asyncio.Event(), asyncio.Event()

    class Slow:
        fingerprint, dimension = "slow", 3

        async def embed(self, texts: object, *, purpose: str) -> object:
            del texts, purpose
            entered.set()
            await release.wait()
            raise StoreBusy("gone")

    async with (
        AsyncMemhold.open(tmp_path / "m.db", worker=False, embedding=Slow(), recall_timeout=60.0) as memhold,
        served(memhold, ALICE, BOB) as url,
        over_http(url, BOB) as bob,
    ):
        async with over_http(url, ALICE) as alice:
            await call(alice, "add_message", text="boiler")
            hanging = asyncio.create_task(alice.call_tool("recall", {"query": "boiler"}))
            await entered.wait()
            hanging.cancel()
            with pytest.raises(asyncio.CancelledError):
                await hanging
            await call(alice, "add_message", text="valve")
        assert (await call(bob, "memory_status")).startswith("0 messages")
        release.set()


async def test_a_reader_is_refused_over_http_too(tmp_path: Path) -> None:
    async with (
        AsyncMemhold.open(tmp_path / "m.db", worker=False) as memhold,
        served(memhold, READER) as url,
        over_http(url, READER) as client,
    ):
        assert "right to write" in await refused(client, "add_message", text="x")
        assert "remember" not in {tool.name for tool in (await client.list_tools()).tools}


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"this is no JSON", {}, 400),
        (b"[]", {}, 400),
        (b'{"jsonrpc":"2.0","id":1}', {}, 400),
        (b"[" * 100_000, {}, 400),
        (json.dumps(body("tools/call", name="add_message", arguments={"text": "x" * 5_000_000})).encode(), {}, 413),
        (json.dumps(body("tools/list")).encode(), {"mcp-protocol-version": "2031-01-01"}, 400),
        (json.dumps(body("nonesuch/method")).encode(), {"mcp-method": "nonesuch/method"}, 404),
        (json.dumps(body("tools/list")).encode(), {"mcp-method": "tools/call"}, 400),
        (json.dumps(body("tools/list")).encode(), {"accept": "text/html", "mcp-method": "tools/list"}, 406),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_what_is_no_request_is_refused(content: bytes, headers: dict[str, str], status: int) -> None:
    async with (
        AsyncMemhold.open("memory://", worker=False) as memhold,
        served(memhold, ALICE) as url,
        httpx2.AsyncClient() as http,
    ):
        answer = await http.post(url, content=content, headers={**MODERN, **headers})
        assert answer.status_code == status, answer.text
        assert "Traceback" not in answer.text


async def test_half_a_character_in_a_request_is_refused_or_kept_and_never_breaks_the_answer() -> None:
    async with (
        AsyncMemhold.open("memory://", worker=False) as memhold,
        served(memhold, ALICE) as url,
        httpx2.AsyncClient() as http,
    ):
        for tool, arguments in (
            ("add_message", {"text": "boiler \ud800"}),
            ("recall", {"query": "boiler \ud800"}),
            ("recall", {"session": "\ud800"}),
            ("recall", {"\ud800": 1}),
        ):
            content = json.dumps(body("tools/call", name=tool, arguments=arguments)).encode()
            headers = {**MODERN, "mcp-method": "tools/call", "mcp-name": tool}
            answer = await http.post(url, content=content, headers=headers)
            assert answer.status_code in {200, 400}, answer.text
            answer.json()


async def test_blanks_around_a_header_do_not_count() -> None:
    async with AsyncMemhold.open("memory://", worker=False) as memhold, served(memhold, ALICE) as url:
        host, _, port = url.removeprefix("http://").removesuffix("/mcp").partition(":")
        content = json.dumps(body("tools/call", name="memory_status", arguments={})).encode()
        lines = [
            "POST /mcp HTTP/1.1", f"host: {host}:{port}", *(f"{name}: {value}" for name, value in MODERN.items()),
            "mcp-method: tools/call", "mcp-name: \tmemory_status \t ", "connection: close",
            f"content-length: {len(content)}", "", "",
        ]  # fmt: skip
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write("\r\n".join(lines).encode() + content)
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
    assert answer.startswith(b"HTTP/1.1 200"), answer


async def test_a_foreign_host_or_origin_is_refused_where_hosts_are_named() -> None:
    hosts = ["127.0.0.1:*"]
    async with (
        AsyncMemhold.open("memory://", worker=False) as memhold,
        served(memhold, ALICE, allowed_hosts=hosts) as url,
        httpx2.AsyncClient() as http,
    ):
        statuses = [
            (
                await http.post(url, json=body("tools/list"), headers={**MODERN, "mcp-method": "tools/list", **more})
            ).status_code
            for more in ({}, {"host": "evil.example"}, {"origin": "https://evil.example"})
        ]
    assert statuses == [200, 421, 403]
