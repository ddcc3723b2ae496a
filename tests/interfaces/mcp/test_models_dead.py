"""Saving needs no model: dead or hanging, `add_message` and `add_memory` answer; a line is never embedded."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memhold.testing.chaos import ChaosServer
from tests.interfaces.mcp.conftest import call, entries_of, over_stdio

CATALOG = """
[models.chaos-chat]
protocol = "openai-chat"
model = "chaos"
base_url = "{url}/v1"
fallback = ""
timeout = 3600

[models.chaos-embed]
protocol = "openai-embeddings"
model = "chaos-embed"
base_url = "{url}/v1"
timeout = 3600
"""
TURNS = 25
MODEL_WORK = {
    "MEMHOLD_CONSOLIDATION": "chaos-chat",
    "MEMHOLD_EMBEDDING": "chaos-embed",
    "MEMHOLD_MODELS": "models.toml",
}
CANARY = "heliotrope"


def prepared(folder: Path, server: ChaosServer) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    (folder / "models.toml").write_text(CATALOG.format(url=server.url))
    return {**MODEL_WORK, "MEMHOLD_CONSOLIDATE_MESSAGES": "10"}


def embedded(server: ChaosServer) -> list[str]:
    """Every text that an embedding was asked for."""
    found: list[str] = []
    for one in server.requests:
        if one.path.endswith("/embeddings"):
            given = one.body["input"]
            found += [given] if isinstance(given, str) else given
    return found


@pytest.mark.parametrize("trouble", ["dead", "hang"])
async def test_saving_waits_for_no_model(trouble: str, tmp_path: Path) -> None:
    """A call to a model would hang for an hour: it is not awaited, nor is the next try of a dead one."""
    asked = asyncio.Event()
    async with ChaosServer() as ill:
        ill.watch(lambda _: asked.set())
        if trouble == "dead":
            ill.refuse()
        else:
            ill.always("hang")
        settings = prepared(tmp_path, ill)
        async with over_stdio(tmp_path, "--db", "memory.db", **settings) as client, asyncio.timeout(120):
            await call(client, "add_memory", prompt="warm", response="up")
            if trouble == "hang":
                await asked.wait()
            for turn in range(TURNS):
                await call(client, "add_message", text=f"line {turn}", session="s")
                prompt = f"My favorite color is number {turn}."
                await call(client, "add_memory", prompt=prompt, response="Noted.", session="s")
            assert "Work that is due" in await call(client, "memory_status")


@pytest.mark.parametrize("end", ["add_message alone", "beside turns"])
async def test_no_embedding_is_ever_asked_for_an_added_message(end: str, tmp_path: Path) -> None:
    """Not when it comes, not when its session is closed and kept raw, not when all is indexed anew."""
    last = asyncio.Event()
    async with ChaosServer() as server:
        server.watch(lambda one: last.set() if "obsidian" in str(one.body) else None)
        settings = {**prepared(tmp_path, server), "MEMHOLD_CONSOLIDATION": ""}
        async with over_stdio(tmp_path, "--db", "memory.db", **settings) as client:
            for turn in range(5):
                await call(client, "add_message", text=f"{CANARY} line {turn}", session="s")
                if end == "beside turns":
                    await call(client, "add_memory", prompt=f"amaranth {turn}", response="noted", session="s")
            await call(client, "end_session", session="s")
            await call(client, "add_message", text=f"{CANARY} behind the end", session="s")
            await call(client, "remember", text="obsidian is the last thing said")
            await asyncio.wait_for(last.wait(), 120)
            found = await call(client, "recall", query=CANARY)
            assert len(entries_of(found)) >= 6
        asked = [text for text in embedded(server) if text != CANARY]  # the question itself may be
    assert any("obsidian" in text for text in asked)
    assert [text for text in asked if CANARY in text] == []
    assert any("amaranth" in text for text in asked) == (end == "beside turns")
