"""Chroma as a memory: one collection on disk, the user in the metadata, each message a document."""

from __future__ import annotations

from typing import Any


class _Chroma:
    def __init__(self, folder: str, url: str) -> None:
        import chromadb  # type: ignore[import-not-found, unused-ignore]
        from chromadb.config import Settings  # type: ignore[import-not-found, unused-ignore]
        from chromadb.utils.embedding_functions import (  # type: ignore[import-not-found, unused-ignore]
            OpenAIEmbeddingFunction,
        )

        vectors = OpenAIEmbeddingFunction(api_key="none", api_base=url, model_name="text-embedding-3-small")
        client = chromadb.PersistentClient(path=f"{folder}/chroma", settings=Settings(anonymized_telemetry=False))
        self.held: Any = client.get_or_create_collection("memories", embedding_function=vectors)

    def add(self, user: str, messages: list[dict[str, str]], key: str) -> int:
        texts = [one["content"] for one in messages]
        self.held.add(
            ids=[f"{user}-{key}-{place}" for place in range(len(texts))],
            documents=texts,
            metadatas=[{"user": user, "role": one["role"]} for one in messages],
        )
        return len(texts)

    def _held(self, user: str) -> list[tuple[str, str]]:
        found = self.held.get(where={"user": user})
        return list(zip(found["ids"], found["documents"], strict=True))

    def all(self, user: str) -> list[list[str]]:
        return [["document", text] for _, text in self._held(user)]

    def ask(self, user: str, question: str, limit: int) -> list[dict[str, Any]]:
        found = self.held.query(query_texts=[question], n_results=limit, where={"user": user})
        return [{"text": text, "old": False} for text in found["documents"][0]]

    def forget(self, user: str, word: str) -> int:
        named = [name for name, text in self._held(user) if word in text]
        if named:
            self.held.delete(ids=named)
        return len(named)

    def settle(self, seconds: float) -> bool:
        del seconds
        return True

    def close(self) -> None:
        """Nothing: its client has no end of its own that a script would call."""


def opened(name: str, folder: str, url: str) -> _Chroma:
    """A collection in this folder."""
    del name
    return _Chroma(folder, url)
