"""Embeddings from anything that speaks OpenAI's API: OpenAI, LM Studio, vLLM, llama.cpp, gateways."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit

import httpx2

from memhold.ports.stores import Clock
from memhold.providers.embedding.batching import Limits, Misfit
from memhold.providers.embedding.gate import PriorityGate
from memhold.providers.embedding.remote import Dialect, Record, RemoteEmbedding, UnloadRetry
from memhold.providers.entry import endpoint, key_header, shown
from memhold.values.errors import InvalidInput

__all__ = ["OpenAIEmbedding", "embeddings_url"]


def embeddings_url(base_url: str) -> str:
    """The embeddings endpoint of a base URL, which may be written in any way that `entry.endpoint` reads.

    Raises:
        InvalidInput: not an http or https URL.
    """
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise InvalidInput(f"{shown(base_url)!r} is not a base URL; write it like http://127.0.0.1:1234/v1")
    return endpoint(base_url, "/embeddings")


class OpenAIEmbedding(RemoteEmbedding):
    """An embedding model behind an OpenAI-compatible API.

    A request that finds its model unloaded (LM Studio, just-in-time loading) is sent again `unload_retry_count` times,
    `unload_retry_delay_ms` apart; then the first error is raised, with its status and `body` verbatim, its rule
    "unload" and the attempts on it: a transport above must not retry it again. Any other 400 is one request.
    `unloads` counts these events by (model, host). `api_key` may be a function, which is asked at each call.

    Raises:
        InvalidInput: a base URL, a limit or a retry setting that cannot be used.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str,
        clock: Clock,
        api_key: str | Callable[[], str | None] | None = None,
        headers: Mapping[str, str] | None = None,
        dimensions: int | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
        limits: Limits | None = None,
        unload_retry_count: int = 3,
        unload_retry_delay_ms: int = 500,
        timeout: float = 30.0,
        dimension: int | None = None,
        gate: PriorityGate | None = None,
        client: httpx2.AsyncClient | None = None,
        unloads: Counter[tuple[str, str]] | None = None,
        debug_content: bool | None = None,
        record: Record | None = None,
    ) -> None:
        limits = limits or Limits()
        options: dict[str, Any] = {"model": model, "encoding_format": "float"}
        if dimensions is not None:
            options["dimensions"] = dimensions

        def sent() -> Mapping[str, str]:
            return {**key_header(base_url, api_key() if callable(api_key) else api_key), **(headers or {})}

        def payload(texts: Sequence[str]) -> Mapping[str, Any]:
            return {**options, "input": list(texts)}

        super().__init__(
            name=model,
            fingerprint=fingerprint_of("openai", model, dimensions, query_prefix, document_prefix, limits),
            dialect=Dialect(url=embeddings_url(base_url), headers=sent, payload=payload, items=_items, tokens=_tokens),
            limits=limits,
            unload=UnloadRetry(clock=clock, count=unload_retry_count, delay_ms=unload_retry_delay_ms),
            timeout=timeout,
            dimension=dimension,
            prefixes={"query": query_prefix, "document": document_prefix},
            gate=gate,
            client=client,
            unloads=Counter() if unloads is None else unloads,
            debug_content=debug_content,
            record=record,
        )


def fingerprint_of(kind: str, model: str, dimensions: int | None, query: str, document: str, limits: Limits) -> str:
    """A generation's name: the model in clear, and a digest of every setting that changes a vector."""
    settings = repr((dimensions, query, document, limits.max_chars, limits.overlong)).encode()
    return f"{kind}:{model}:{blake2b(settings, digest_size=4).hexdigest()}"


def _items(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    data = body.get("data")
    if not isinstance(data, list) or not all(isinstance(item, Mapping) for item in data):
        raise Misfit("the answer holds no list of vectors")
    return [{**item, "embedding": _decoded(item.get("embedding"))} for item in data]


def _tokens(body: Mapping[str, Any]) -> object:
    usage = body.get("usage")
    return usage.get("prompt_tokens") if isinstance(usage, dict) else None


def _decoded(vector: Any) -> Any:
    """Base64 of little-endian float32, which some servers send whatever they are asked for, as numbers."""
    if not isinstance(vector, str):
        return vector
    import numpy as np

    try:
        return np.frombuffer(base64.b64decode(vector, validate=True), dtype="<f4").tolist()
    except (binascii.Error, ValueError) as error:
        raise Misfit("a vector is text and no base64") from error
