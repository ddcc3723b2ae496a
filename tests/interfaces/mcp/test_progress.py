"""Calls that take long: the client hears that they go on, where it asked to, and they end where it goes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from memhold.errors import StoreBusy
from memhold.faces.mcp import progress
from memhold.faces.mcp.connection import Connection
from memhold.faces.mcp.listing import kept_listing
from memhold.faces.mcp.methods import Methods
from memhold.faces.mcp.tools import TOOLS, Caller
from memhold.faces.python.open import AsyncMemhold
from tests.interfaces.mcp.conftest import ALICE, MODES, call, over_http, served, text_of

pytestmark = pytest.mark.asyncio
ACCEPT = "application/json, text/event-stream"


class Slow:
    """An embedding that answers once it is let go; it knows when it was asked, and when nobody waits any more."""

    fingerprint, dimension = "slow", 3

    def __init__(self) -> None:
        self.entered, self.release, self.ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def embed(self, texts: object, *, purpose: str) -> object:
        del texts, purpose
        self.entered.set()
        try:
            await self.release.wait()
        finally:
            self.ended.set()
        raise StoreBusy("gone")


@asynccontextmanager
async def slow() -> AsyncIterator[tuple[Slow, AsyncMemhold]]:
    made = Slow()
    async with AsyncMemhold.open("memory://", worker=False, embedding=made, recall_timeout=60.0) as memhold:
        yield made, memhold


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "TELL_EVERY", 0.01)


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_that_asks_hears_that_a_call_goes_on(mode: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []
    async with slow() as (made, memhold), served(memhold, ALICE) as url, over_http(url, ALICE, mode=mode) as client:
        await call(client, "add_message", text="boiler")

        async def hear(done: float, total: float | None, message: str | None) -> None:
            heard.append((done, total, message))
            if len(heard) == 3:
                made.release.set()

        answer = await client.call_tool("recall", {"query": "boiler"}, progress_callback=hear)
        assert "boiler" in text_of(answer)
    told = [done for done, _, _ in heard]
    assert told == sorted(set(told)), "it grows with each"
    assert {total for _, total, _ in heard} == {None}
    assert "recall goes on, for 0.01 seconds so far" in {message for _, _, message in heard}


@pytest.mark.parametrize("mode", MODES)
async def test_who_does_not_ask_gets_one_plain_answer(mode: str) -> None:
    async with slow() as (made, memhold), served(memhold, ALICE) as url, httpx2.AsyncClient(timeout=30) as http:
        asking = asyncio.create_task(http.post(url, json=body(mode), headers=headers(mode)))
        await made.entered.wait()
        made.release.set()
        answer = await asking
        assert answer.headers["content-type"] == "application/json"
        # A client that takes no stream gets none, whatever it asks for.
        plain = {**headers(mode), "accept": "application/json"}
        answer = await http.post(url, json=body(mode, progressToken="p"), headers=plain)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")


def body(mode: str, **meta: Any) -> dict[str, Any]:
    if mode == "2026-07-28":
        meta |= {"io.modelcontextprotocol/protocolVersion": mode, "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": "recall", "arguments": {"query": "boiler"}, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def headers(mode: str) -> dict[str, str]:
    modern = {"mcp-method": "tools/call", "mcp-name": "recall"} if mode == "2026-07-28" else {}
    return {"accept": ACCEPT, "mcp-protocol-version": mode, **modern}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("mode", MODES)
async def test_a_call_ends_where_its_client_goes(mode: str, *, streamed: bool) -> None:
    meta = {"progressToken": 7} if streamed else {}
    async with slow() as (made, memhold), served(memhold, ALICE) as url:
        await memhold.scope(namespace="acme", user="alice").add([{"role": "user", "content": "boiler"}])
        async with httpx2.AsyncClient(timeout=30) as http:
            asking = asyncio.create_task(http.post(url, json=body(mode, **meta), headers=headers(mode)))
            await made.entered.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        async with asyncio.timeout(60):
            await made.ended.wait()
        made.release.set()


@pytest.mark.parametrize("mode", MODES)
async def test_over_standard_output_too(mode: str) -> None:
    said: list[dict[str, Any]] = []
    async with slow() as (made, memhold):

        def say(line: Any) -> None:
            said.append(json.loads(json.dumps(line)))
            made.release.set()

        async def caller(client: str | None) -> Caller:
            return Caller(memhold=memhold, principal=ALICE, client=client)

        await memhold.scope(namespace="acme", user="alice").add([{"role": "user", "content": "boiler"}])
        connection = Connection(Methods(kept_listing(), lambda: TOOLS), ALICE, caller, say)
        if mode != "2026-07-28":
            shake = {"protocolVersion": mode, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
            await connection.answer({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": shake})
        answer = await connection.answer(body(mode, progressToken="p"))
        assert "boiler" in str(answer["result"])
        assert said
        assert [one["params"]["progressToken"] for one in said] == ["p"] * len(said)
        assert {one["method"] for one in said} == {"notifications/progress"}
        told = len(said)
        await connection.answer(body(mode))
        assert len(said) == told, "who does not ask hears nothing"
