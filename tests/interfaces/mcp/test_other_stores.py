"""The tools over stores that are not local: one that a server keeps, one whose verbs are spans, and both at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memhold.faces.mcp.server import Whose, build_server
from memhold.faces.mcp.tools import TOOLS, Caller
from memhold.faces.python.open import AsyncMemhold
from memhold.messages.fences import ERASED
from memhold.server.telemetry import traced
from memhold.values.principal import Principal
from memhold.values.records import Scope
from memhold.verbs.store_protocols import AsyncStore
from tests.interfaces.mcp.conftest import (
    MODES,
    call,
    entries_of,
    ids_in,
    over_http,
    over_stdio,
    refused,
)
from tests.rest.serving import live

ALICE = Scope(user="alice")
Connected = Callable[[Path], AbstractAsyncContextManager[Client]]


def speaking(memhold: AsyncStore) -> Client:
    principal = Principal(scope=ALICE, rights=frozenset({"read", "write"}))

    async def caller(_: object) -> Caller:
        return Caller(memhold=memhold, principal=principal)

    return Client(build_server(Whose(lambda _: principal, caller)), mode=MODES["2026-07-28"])


@asynccontextmanager
async def in_process_over_a_server(_: Path) -> AsyncIterator[Client]:
    async with live() as server, speaking(await server.opened(["read", "write"], user="alice")) as client:
        yield client


@asynccontextmanager
async def in_process_with_telemetry(_: Path) -> AsyncIterator[Client]:
    async with (
        AsyncMemhold.open("memory://", worker=False) as memhold,
        speaking(traced(memhold, trace.get_tracer("test"))) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio_over_a_server(folder: Path) -> AsyncIterator[Client]:
    async with live() as server:
        token = await server.token(["read", "write"], user="alice")
        async with over_stdio(folder, "--db", server.url, "--user", "alice", MEMHOLD_TOKEN=token) as client:
            yield client


@asynccontextmanager
async def over_http_with_telemetry(_: Path) -> AsyncIterator[Client]:
    """As `memhold serve --telemetry` puts it together."""
    async with live(settings={"telemetry": True}) as server:
        bearer = Principal(scope=Scope(), rights=frozenset(), token=await server.token(["read", "write"], user="alice"))
        async with over_http(f"{server.url}/mcp", bearer) as client:
            yield client


@asynccontextmanager
async def over_a_server_with_telemetry(_: Path) -> AsyncIterator[Client]:
    async with (
        live(settings={"telemetry": True}) as server,
        speaking(await server.opened(["read", "write"], user="alice")) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter


@pytest.mark.parametrize(
    "connected",
    [
        in_process_over_a_server,
        in_process_with_telemetry,
        over_stdio_over_a_server,
        over_http_with_telemetry,
        over_a_server_with_telemetry,
    ],
    ids=lambda connected: connected.__name__,
)
async def test_every_tool_and_resource_answers(connected: Connected, tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS.keys()
        (first,) = ids_in(await call(client, "remember", attribute="favorite food", value="sushi", topics=["food"]))
        said = await call(client, "correct", memory_id=first, value="ramen", rev=1, idempotency_key="k")
        (fixed,) = ids_in(said)
        turn = ids_in(await call(client, "add_memory", prompt="I moved to Lisbon.", response="Nice!", session="s"))
        await call(client, "add_message", text="The boiler hums.", event_time="2026-01-01T00:00:00Z", session="s")

        found = await call(client, "recall", query="favorite food", kinds=["fact"], since="2020-01-01T00:00:00Z")
        (shown,) = entries_of(found)
        assert shown.startswith(f"{fixed} (fact, ")
        assert "ramen" in shown
        assert "I moved to Lisbon." in await call(client, "get_context", message="Where do I live?", session="s")
        assert len(entries_of(await call(client, "memory_history", item_id=fixed))) >= 2
        assert (await call(client, "memory_status")).startswith("3 messages in 1 session; 2 facts")
        assert (await call(client, "end_session", session="s")).startswith("Ended")
        for uri in ("memhold://profile", "memhold://history", f"memhold://items/{turn[0]}"):
            text = (await client.read_resource(uri)).contents[0].text
            assert entries_of(text), uri

        # What was shown is known again by the store that keeps it, and forgetting reaches it there.
        (quoting,) = ids_in(await call(client, "add_message", text=found, session="later"))
        assert (await call(client, "forget", item_id=fixed)).startswith("Forgot")
        kept = (await client.read_resource(f"memhold://items/{quoting}")).contents[0].text
        assert "ramen" not in kept
        assert ERASED not in kept  # it is a quotation, and no word of the message's own
        assert "Nothing matches." in await call(client, "recall", query="ramen", kinds=["fact"])
        assert "no time that is understood" in await refused(client, "recall", since="yesteryear")
        assert "known are: query" in await refused(client, "recall", text="ramen")


async def test_verbs_of_tools_are_spans_under_telemetry(spans: InMemorySpanExporter, tmp_path: Path) -> None:
    async with in_process_with_telemetry(tmp_path) as client:
        await call(client, "remember", text="Likes tea")
        await call(client, "recall", query="tea")
    verbs = [one.attributes["memhold.verb"] for one in spans.get_finished_spans() if one.attributes]
    assert verbs == ["remember", "recall"]
