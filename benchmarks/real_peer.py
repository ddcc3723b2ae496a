"""A peer in an environment of its own: `PYTHON benchmarks/real_peer.py mem0|langmem URL < windows.json`.

Imports the peer alone. It is told window after window with its own prompts; then it says what it remembers of each user
and what it finds for each question, as one JSON document. A window on which it fails counts as nothing remembered.
"""

# This file runs where Memhold is not installed: nothing of it is imported here.
from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import uuid
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

MOST_TOKENS = 1_000
"""Of a reply, for each peer: a small model that goes in circles would fill its window."""


class _Peer(Protocol):
    def add(self, user: str, messages: list[dict[str, str]]) -> int: ...
    def all(self, user: str) -> list[str]: ...
    def found(self, user: str, question: str) -> list[str]: ...


class _Mem0:
    def __init__(self, url: str, dimension: int) -> None:
        folder = Path(tempfile.mkdtemp())
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder))
        model = {"model": "model", "openai_base_url": url, "api_key": "none"}
        vectors = {"path": str(folder / "vectors"), "embedding_model_dims": dimension, "on_disk": False}
        config = {
            "llm": {"provider": "openai", "config": {**model, "temperature": 0.0, "max_tokens": MOST_TOKENS}},
            "embedder": {"provider": "openai", "config": {**model, "embedding_dims": dimension}},
            "vector_store": {"provider": "qdrant", "config": vectors},
            "history_db_path": str(folder / "history.db"),
        }
        self.memory: Any = import_module("mem0").Memory.from_config(config)

    def add(self, user: str, messages: list[dict[str, str]]) -> int:
        return len(self.memory.add(messages, user_id=user).get("results", []))

    def all(self, user: str) -> list[str]:
        return [one["memory"] for one in self.memory.get_all(filters={"user_id": user}, top_k=1000)["results"]]

    def found(self, user: str, question: str) -> list[str]:
        return [one["memory"] for one in self.memory.search(question, filters={"user_id": user}, top_k=100)["results"]]


class _LangMem:
    def __init__(self, url: str, _: int) -> None:
        chat = import_module("langchain_openai").ChatOpenAI
        model = chat(
            model="model",
            base_url=url,
            api_key="none",
            temperature=0.0,
            max_tokens=MOST_TOKENS,
            timeout=3000,
            max_retries=0,
        )
        manager = import_module("langmem").create_memory_manager
        self.manager = manager(model, enable_inserts=True, enable_updates=True, enable_deletes=True)
        self.held: dict[str, list[Any]] = {}

    def add(self, user: str, messages: list[dict[str, str]]) -> int:
        before = {one.id for one in self.held.get(user, [])}
        self.held[user] = self.manager.invoke({"messages": messages, "existing": self.held.get(user, [])})
        return len({one.id for one in self.held[user]} - before)

    def all(self, user: str) -> list[str]:
        return [getattr(one.content, "content", None) or str(one.content) for one in self.held.get(user, [])]

    def found(self, user: str, _: str) -> list[str]:
        return self.all(user)  # it leaves search to a store; what it keeps of so few windows fits


def _main() -> None:
    name, url = sys.argv[1:3]
    drawn = random.Random(0)  # ids stand in what LangMem asks, and only the same request is replayed later
    uuid.uuid4 = lambda: uuid.UUID(int=drawn.getrandbits(128), version=4)
    given = json.load(sys.stdin)
    peer: _Peer = (_Mem0 if name == "mem0" else _LangMem)(url, given["dimension"])
    taken = []
    for window in given["windows"]:
        try:
            taken.append(peer.add(window["user"], window["messages"]))
        except Exception as error:  # noqa: BLE001 - whatever a peer raises is its answer
            taken.append(0)
            print(f"{name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr, flush=True)
        print(f"{name}: {len(taken)} of {len(given['windows'])} windows", file=sys.stderr, flush=True)
    users = list(dict.fromkeys(window["user"] for window in given["windows"]))
    found = [peer.found(one["user"], one["text"]) for one in given["questions"]]
    memories = {user: peer.all(user) for user in users}
    print(json.dumps({"taken": taken, "memories": memories, "found": found}))


_main()
