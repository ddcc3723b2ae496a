"""LangGraph's SqliteStore with its vector index, alone (`langgraph`) and under LangMem's store manager (`langmem`)."""

from __future__ import annotations

import uuid
from typing import Any


class _LangGraph:
    def __init__(self, folder: str, url: str) -> None:
        from langchain_openai import OpenAIEmbeddings  # type: ignore[import-not-found, unused-ignore]
        from langgraph.store.sqlite import SqliteStore  # type: ignore[import-not-found, unused-ignore]

        embed = OpenAIEmbeddings(
            model="text-embedding-3-small", base_url=url, api_key="none", check_embedding_ctx_length=False
        )
        self._open = SqliteStore.from_conn_string(f"{folder}/store.db", index={"dims": 1536, "embed": embed})
        self.store: Any = self._open.__enter__()
        self.store.setup()

    def add(self, user: str, messages: list[dict[str, str]], key: str) -> int:
        for place, one in enumerate(messages):
            self.store.put(("memories", user), f"{key}-{place}", {"role": one["role"], "text": one["content"]})
        return len(messages)

    def _held(self, user: str) -> list[Any]:
        found: list[Any] = self.store.search(("memories", user), limit=5000)
        return found

    def all(self, user: str) -> list[list[str]]:
        return [["item", _text(one.value)] for one in self._held(user)]

    def ask(self, user: str, question: str, limit: int) -> list[dict[str, Any]]:
        found = self.store.search(("memories", user), query=question, limit=limit)
        return [{"text": _text(one.value), "old": False} for one in found]

    def forget(self, user: str, word: str) -> int:
        named = [one for one in self._held(user) if word in _text(one.value)]
        for one in named:
            self.store.delete(one.namespace, one.key)
        return len(named)

    def settle(self, seconds: float) -> bool:
        del seconds
        return True

    def close(self) -> None:
        self._open.__exit__(None, None, None)


class _LangMem(_LangGraph):
    def __init__(self, folder: str, url: str) -> None:
        super().__init__(folder, url)
        from langchain_openai import ChatOpenAI
        from langmem import create_memory_store_manager  # type: ignore[import-not-found, unused-ignore]

        model = ChatOpenAI(model="chat", base_url=url, api_key="none")
        self.manager: Any = create_memory_store_manager(
            model, namespace=("memories", "{langgraph_user_id}"), store=self.store
        )

    def add(self, user: str, messages: list[dict[str, str]], key: str) -> int:
        del key  # it takes none
        config = {"configurable": {"langgraph_user_id": user, "thread_id": str(uuid.uuid4())}}
        return len(self.manager.invoke({"messages": messages}, config=config))


def _text(value: dict[str, Any]) -> str:
    content = value.get("content")
    inner = content.get("content") if isinstance(content, dict) else content
    return str(value.get("text") or inner or value)


def opened(name: str, folder: str, url: str) -> _LangGraph:
    """A store in this folder."""
    return (_LangMem if name == "langmem" else _LangGraph)(folder, url)
