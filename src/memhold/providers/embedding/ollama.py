"""Embeddings from Ollama's own API, which says so when a text is too long instead of cutting it silently."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx2

from memhold.providers.embedding.batching import Limits, Misfit
from memhold.providers.embedding.gate import PriorityGate
from memhold.providers.embedding.openai import fingerprint_of
from memhold.providers.embedding.remote import Dialect, Record, RemoteEmbedding
from memhold.providers.entry import endpoint, key_header, shown
from memhold.values.errors import InvalidInput

__all__ = ["OllamaEmbedding", "embed_url"]


def embed_url(base_url: str) -> str:
    """Ollama's `/api/embed` of a base URL, whatever of `/v1`, `/api` or the endpoint itself it ends with.

    Raises:
        InvalidInput: not an http or https URL.
    """
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise InvalidInput(f"{shown(base_url)!r} is not a base URL; write it like http://127.0.0.1:11434")
    return endpoint(base_url, "/api/embed", version="")


class OllamaEmbedding(RemoteEmbedding):
    """An embedding model on Ollama, asked with `truncate: false` (https://docs.ollama.com/api/embed).

    `keep_alive` is passed on as it is: how long the model stays loaded. The default time-out is a local server's.

    Raises:
        InvalidInput: a base URL or a limit that cannot be used.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str = "http://127.0.0.1:11434",
        api_key: str | Callable[[], str | None] | None = None,
        headers: Mapping[str, str] | None = None,
        dimensions: int | None = None,
        keep_alive: str | int | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
        limits: Limits | None = None,
        timeout: float = 180.0,
        dimension: int | None = None,
        gate: PriorityGate | None = None,
        client: httpx2.AsyncClient | None = None,
        debug_content: bool | None = None,
        record: Record | None = None,
    ) -> None:
        limits = limits or Limits()
        options: dict[str, Any] = {"model": model, "truncate": False}
        if dimensions is not None:
            options["dimensions"] = dimensions
        if keep_alive is not None:
            options["keep_alive"] = keep_alive

        def sent() -> Mapping[str, str]:
            return {**key_header(base_url, api_key() if callable(api_key) else api_key), **(headers or {})}

        def payload(texts: Sequence[str]) -> Mapping[str, Any]:
            return {**options, "input": list(texts)}

        super().__init__(
            name=model,
            fingerprint=fingerprint_of("ollama", model, dimensions, query_prefix, document_prefix, limits),
            dialect=Dialect(
                url=embed_url(base_url),
                headers=sent,
                payload=payload,
                items=_items,
                tokens=lambda body: body.get("prompt_eval_count"),
            ),
            limits=limits,
            timeout=timeout,
            dimension=dimension,
            prefixes={"query": query_prefix, "document": document_prefix},
            gate=gate,
            client=client,
            debug_content=debug_content,
            record=record,
        )


def _items(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    vectors = body.get("embeddings")
    if not isinstance(vectors, list):
        raise Misfit("the answer holds no list of vectors")
    return [{"embedding": vector} for vector in vectors]
