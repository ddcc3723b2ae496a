"""mem0: its own defaults (OpenAI's client, Qdrant on disk); only the paths and the model's address are set.

`mem0+plain` is `infer=False`: each message is kept as it is.
"""

from __future__ import annotations

import os
from typing import Any


class _Mem0:
    def __init__(self, name: str, folder: str, url: str) -> None:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=f"{folder}/home", OPENAI_BASE_URL=url, OPENAI_API_KEY="none")
        from mem0 import Memory  # type: ignore[import-not-found, unused-ignore]

        self.infer = "+plain" not in name
        vectors = {"provider": "qdrant", "config": {"path": f"{folder}/qdrant"}}
        self.memory: Any = Memory.from_config({"vector_store": vectors, "history_db_path": f"{folder}/history.db"})

    def add(self, user: str, messages: list[dict[str, str]], key: str) -> int:
        del key  # it takes none
        return len(self.memory.add(messages, user_id=user, infer=self.infer)["results"])

    def _held(self, user: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.memory.get_all(filters={"user_id": user}, top_k=5000)["results"]
        return found

    def all(self, user: str) -> list[list[str]]:
        return [["memory", one["memory"]] for one in self._held(user)]

    def ask(self, user: str, question: str, limit: int) -> list[dict[str, Any]]:
        found = self.memory.search(question, filters={"user_id": user}, top_k=limit)["results"]
        return [{"text": one["memory"], "old": False} for one in found]

    def forget(self, user: str, word: str) -> int:
        named = [one["id"] for one in self._held(user) if word in one["memory"]]
        for one in named:
            self.memory.delete(one)
        return len(named)

    def settle(self, seconds: float) -> bool:
        del seconds
        return True  # it works before it answers

    def close(self) -> None:
        self.memory.vector_store.client.close()
        self.memory.close()


def opened(name: str, folder: str, url: str) -> _Mem0:
    """A memory in this folder."""
    return _Mem0(name, folder, url)
