"""Embedding answers of the chaos server: inputs read, vectors made, and the ways in which they fail to fit. Pure."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from memhold.testing.chaos.faults import MisbindHow
from memhold.testing.chaos.replies import tokens
from memhold.testing.chaos.vectors import hash_vector

__all__ = ["EmbedAsked", "embed_asked_of", "embed_body", "misbind"]

EmbedProtocol = Literal["openai", "ollama", "ollama-old"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedAsked:
    """An embedding request; `problem` says why its inputs cannot be embedded, as the provider words it."""

    protocol: EmbedProtocol
    model: str
    texts: tuple[str, ...]
    problem: str | None = None
    truncate: bool = False
    dimensions: int | None = None
    encoded: bool = False


def embed_asked_of(protocol: EmbedProtocol, body: Mapping[str, Any]) -> EmbedAsked:
    """The embedding request in a body."""
    given = body.get("prompt") if protocol == "ollama-old" else body.get("input")
    texts, problem = _inputs(protocol, given)
    wanted = body.get("dimensions")
    return EmbedAsked(
        protocol=protocol,
        model=str(body.get("model", "")),
        texts=texts,
        problem=problem,
        truncate=protocol != "openai" and bool(body.get("truncate", True)),
        dimensions=wanted if isinstance(wanted, int) and wanted > 0 else None,
        encoded=body.get("encoding_format") == "base64",
    )


def _inputs(protocol: EmbedProtocol, given: Any) -> tuple[tuple[str, ...], str | None]:
    values: Sequence[Any] = given if isinstance(given, list) else [given]
    if protocol == "openai":
        bad = "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference."
        if values and all(isinstance(one, int) for one in values):
            values = [" ".join(map(str, values))]
        values = [" ".join(map(str, one)) if isinstance(one, list) and one else one for one in values]
        if not values or not all(isinstance(one, str) and one for one in values):
            return (), bad
    elif not all(isinstance(one, str) for one in values):
        return (), "invalid input type"
    return tuple(values), None


def embed_body(asked: EmbedAsked, dimension: int, limit: int | None) -> dict[str, Any]:
    """The answer: one vector a text, in order. Texts over `limit` tokens are cut."""
    length = min(asked.dimensions or dimension, dimension)
    kept = [text if limit is None else text[: 4 * limit] for text in asked.texts]
    vectors = [hash_vector(text, length) for text in kept]
    count = sum(tokens(text) for text in kept)
    match asked.protocol:
        case "openai":
            data = [
                {"object": "embedding", "index": index, "embedding": _encoded(vector) if asked.encoded else vector}
                for index, vector in enumerate(vectors)
            ]
            usage = {"prompt_tokens": count, "total_tokens": count}
            return {"object": "list", "data": data, "model": asked.model, "usage": usage}
        case "ollama":
            return {"model": asked.model, "embeddings": vectors, "total_duration": 1, "prompt_eval_count": count}
        case "ollama-old":
            return {"embedding": vectors[0] if vectors else []}
        case _:
            assert_never(asked.protocol)


def _encoded(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def misbind(body: Mapping[str, Any], how: MisbindHow) -> dict[str, Any]:
    """The same answer with vectors that do not fit: OpenAI's or Ollama's shape, made here or by a real provider."""
    if isinstance(body.get("data"), list):
        return {**body, "data": _misbound([dict(one) for one in body["data"]], how)}
    if isinstance(body.get("embeddings"), list):
        items = [{"index": index, "embedding": vector} for index, vector in enumerate(body["embeddings"])]
        return {**body, "embeddings": [one["embedding"] for one in _misbound(items, how)]}
    items = _misbound([{"index": 0, "embedding": body.get("embedding")}], how)
    return {**body, "embedding": items[0]["embedding"] if items else None}


def _misbound(items: list[dict[str, Any]], how: MisbindHow) -> list[dict[str, Any]]:
    match how:
        case "fewer":
            return items[:-1]
        case "empty":
            return []
        case "shuffled":
            return items[::-1]
        case "duplicate-index":
            return [{**one, "index": 0} for one in items]
        case "no-index":
            return [{key: value for key, value in one.items() if key != "index"} for one in items]
        case "null-vector":
            return [*items[:-1], {**items[-1], "embedding": None}] if items else items
        case "nan-vector":
            return [*items[:-1], {**items[-1], "embedding": _changed(items[-1], float("nan"))}] if items else items
        case "zero-vector":
            return [*items[:-1], {**items[-1], "embedding": _changed(items[-1], None)}] if items else items
        case "other-dimension":
            return [{**one, "embedding": [*_numbers(one), 0.0]} for one in items]
        case _:
            assert_never(how)


def _numbers(item: Mapping[str, Any]) -> list[float]:
    value = item.get("embedding")
    if isinstance(value, str):
        raw = base64.b64decode(value)
        return list(struct.unpack(f"<{len(raw) // 4}f", raw))
    return list(value or ())


def _changed(item: Mapping[str, Any], first: float | None) -> list[float]:
    """The vector with another first number, or all zeros."""
    numbers = _numbers(item)
    return [0.0] * len(numbers) if first is None else [first, *numbers[1:]]
