"""The harness's `Memory` over Memhold, with a model that is a function: what one process wrote, the next is shown."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_harness.memory import (
    InMemoryStore,
    Memory,
    MemoryConflictError,
    MemoryOperation,
    MemoryOperationConflictError,
    MemoryStore,
    MetadataMemoryStore,
    SearchableMemoryStore,
)

from memhold import Memhold
from memhold.integrations.pydantic_ai_harness import MemholdMemoryStore


def shown(messages: list[ModelMessage]) -> str:
    """All that the model is sent."""
    return "\n".join(str(part.content) for message in messages for part in message.parts if hasattr(part, "content"))


def notes(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    """A model that writes down what it is told, once."""
    if any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
        return ModelResponse(parts=[TextPart("Noted.")])
    return ModelResponse(parts=[ToolCallPart("write_memory", {"content": "- The cat is called Mochi."})])


def agent_of(mem: Memhold, model: Any) -> Agent[None, str]:
    return Agent(FunctionModel(model), capabilities=[Memory(store=MemholdMemoryStore(mem.scope(user="alice")))])


def first(folder: Path) -> None:
    with Memhold.open(folder / "memory.db", worker=False) as mem:
        assert agent_of(mem, notes).run_sync("My cat is called Mochi.").output == "Noted."
        print("told", flush=True)
        time.sleep(600)


def second(folder: Path) -> None:
    seen: list[str] = []

    def answers(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        seen.append(shown(messages))
        return ModelResponse(parts=[TextPart("Mochi.")])

    with Memhold.open(folder / "memory.db", worker=False) as mem:
        agent_of(mem, answers).run_sync("What is my cat called?")
        assert "- The cat is called Mochi." in seen[0]

        async def inside_a_running_loop() -> None:
            await agent_of(mem, answers).run("And now?")
            assert "- The cat is called Mochi." in seen[-1]

        asyncio.run(inside_a_running_loop())
        (document,) = mem.scope(user="alice").documents.search("what is the cat called", limit=1).hits
        assert document.document.path == ("main", "MEMORY.md")
        mem.scope(user="alice").documents.delete(("main", "MEMORY.md"))
    closed = agent_of(mem, answers).run_sync("Are you there?")
    assert (closed.output, "Mochi" in seen[-1]) == ("Mochi.", False), "a store that is gone ends no run"
    as_the_harness_own(folder)


def as_the_harness_own(folder: Path) -> None:
    """Each step gives what the harness's store in memory gives."""
    with Memhold.open(folder / "other.db", worker=False) as mem:
        store = MemholdMemoryStore(mem.scope(user="bob"))
        assert isinstance(store, MemoryStore)
        assert isinstance(store, MetadataMemoryStore)
        assert isinstance(store, SearchableMemoryStore)
        assert asyncio.run(steps(store)) == asyncio.run(steps(InMemoryStore()))


async def steps(store: Any) -> list[object]:
    """What a store answers to one series of calls; versions are its own, so that only their order is told."""
    told: list[object] = []
    versions: dict[str | None, int | None] = {None: None}

    async def ask(call: Any) -> Any:
        try:
            found = await call
        except (MemoryConflictError, MemoryOperationConflictError, ValueError) as error:
            told.append("invalid" if isinstance(error, ValueError) else type(error).__name__)
            return None
        for name in ("version", "replayed", "existed", "content", "truncated", "operation_id", "metadata"):
            if hasattr(found, name):
                value = getattr(found, name)
                value = versions.setdefault(value, len(versions)) if name == "version" else value
                told.append((name, value))
        if isinstance(found, list) or found is None:
            told.append(found)
        return found

    one, other = MemoryOperation(id="o1", fingerprint="f1"), MemoryOperation(id="o1", fingerprint="f2")
    await ask(store.read("a/MEMORY.md", max_chars=10))
    await ask(store.get_operation(one))
    put = await ask(store.write("a/MEMORY.md", "one two three", expected_version=None, operation=one))
    await ask(store.write("a/MEMORY.md", "one two three", expected_version=None, operation=one))
    await ask(store.get_operation(one))
    await ask(store.get_operation(other))
    await ask(store.write("a/MEMORY.md", "x", expected_version=None, operation=other))
    await ask(store.write("a/MEMORY.md", "again", expected_version=None))
    await ask(store.write("a/MEMORY.md", "again", expected_version="999"))
    await ask(store.read("a/MEMORY.md", max_chars=7))
    newer = await ask(
        store.write_with_metadata("a/MEMORY.md", "four", expected_version=put.version, metadata={"by": "me"})
    )
    await ask(store.read("a/MEMORY.md", max_chars=99))
    for path in ("a/b/deep.md", "a/paris.md", "ab/other.md"):
        await ask(store.write(path, "about Paris and the hotel", expected_version=None))
    for prefix in ("", "a/", "a", "a/b/", "none/"):
        await ask(store.list_paths(prefix, limit=10))
    await ask(store.list_paths("", limit=2))
    found = await store.search("a/", "hotel", limit=5, max_files=10, max_chars=500, max_file_chars=500)
    told.append((found.matches[0].path, found.matches[0].snippet))
    narrow = await store.search("a/", "hotel", limit=5, max_files=1, max_chars=500, max_file_chars=500)
    told.append((narrow.scanned, narrow.truncated))
    windowed = await store.search("a/", "hotel", limit=1, max_files=10, max_chars=20, max_file_chars=500)
    told.append(windowed.matches[0].snippet[:3])
    await ask(store.read("a/../b", max_chars=10))
    await ask(store.delete("a/MEMORY.md", expected_version=put.version))
    gone = MemoryOperation(id="o2", fingerprint="f3")
    await ask(store.delete("a/MEMORY.md", expected_version=newer.version, operation=gone))
    await ask(store.delete("a/MEMORY.md", expected_version=newer.version, operation=gone))
    await ask(store.delete("a/MEMORY.md", expected_version=None))
    await ask(store.read("a/MEMORY.md", max_chars=10))
    await ask(store.write("a/MEMORY.md", "anew", expected_version=None))
    return told


def writers(folder: Path) -> None:
    """Eight at one path: one creates it, and each that adds a line, trying again, adds it once."""

    async def adds(store: MemholdMemoryStore, number: int) -> None:
        while True:
            current = await store.read("main/MEMORY.md", max_chars=10_000)
            before, version = ("", None) if current is None else (current.content, current.version)
            try:
                await store.write("main/MEMORY.md", f"{before}line {number}\n", expected_version=version)
            except MemoryConflictError:
                continue
            return

    async def all_of_them(store: MemholdMemoryStore) -> None:
        await asyncio.gather(*(adds(store, number) for number in range(8)))

    with Memhold.open(folder / "memory.db", worker=False) as mem:
        scope = mem.scope(user="alice")
        asyncio.run(all_of_them(MemholdMemoryStore(scope)))
        (document,) = scope.documents.list(content=True).items
        assert sorted(document.content.splitlines()) == [f"line {number}" for number in range(8)]


if __name__ == "__main__":
    mode, folder = sys.argv[1:]
    {"first": first, "second": second, "writers": writers}[mode](Path(folder))
