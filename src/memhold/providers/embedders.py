"""From a catalog entry to the embedding model that it names."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from memhold.ports.models import EmbeddingModel, Usage
from memhold.ports.stores import Clock
from memhold.providers.chat.bare import KeySource
from memhold.providers.chat.text import items
from memhold.providers.chat.wire import Wire
from memhold.providers.embedding.batching import Limits
from memhold.providers.embedding.remote import Purpose, Record
from memhold.providers.entry import Entry, endpoint, key_header, looks_embedding, prefixes_of
from memhold.providers.failures.classify import Verdict
from memhold.providers.failures.errors import model_error
from memhold.providers.wrappers import HostGates
from memhold.values.errors import Attempt, InvalidSetting

__all__ = ["embedding_model"]

# A token of English is about four characters; two leaves room for code and other scripts.
_CHARACTERS_A_TOKEN: Final = 2


async def embedding_model(
    entry: Entry,
    *,
    keys: KeySource,
    clock: Clock,
    gates: HostGates,
    unload_retry_count: int = 3,
    unload_retry_delay_ms: int = 500,
    record: Record | None = None,
) -> EmbeddingModel:
    """The embedding model of an entry. A host's gate is shared with the chat models on it.

    Only `model = "auto"` makes a request here: it asks the server which model it serves. The key is asked for at each
    call. `record` is called once for each request over a network, with the entry's name as the model's.

    Raises:
        InvalidSetting: the entry is no embedding model.
        ModelError: the server of an `auto` could not be asked.
    """
    named = None if record is None else partial(_named, entry.name, record)
    match entry.protocol:
        case "builtin-embeddings":
            from memhold.providers.embedding.builtin.model import builtin_embedding

            return builtin_embedding()
        case "local-embeddings":
            return _directory(entry)
        case "ollama-embeddings":
            return _ollama(entry, Wire(entry, keys=keys, clock=clock), gates, named)
        case "openai-embeddings":
            from memhold.providers.embedding.openai import OpenAIEmbedding

            wire = Wire(entry, keys=keys, clock=clock)
            model = entry.model if entry.model != "auto" else await _served(entry, wire)
            query, document = _prefixes(entry, model)
            return OpenAIEmbedding(
                model=model,
                base_url=entry.base_url or "",
                clock=clock,
                api_key=wire.key,
                headers=entry.headers,
                query_prefix=query,
                document_prefix=document,
                limits=_limits(entry),
                unload_retry_count=unload_retry_count,
                unload_retry_delay_ms=unload_retry_delay_ms,
                timeout=entry.deadline,
                gate=gates.of(entry),
                record=named,
            )
        case _:
            raise InvalidSetting(
                f"{entry.name} speaks {entry.protocol}, which makes no vectors; name an embedding model",
                name=entry.name,
            )


def _ollama(entry: Entry, wire: Wire, gates: HostGates, record: Record | None) -> EmbeddingModel:
    from memhold.providers.embedding.ollama import OllamaEmbedding

    query, document = _prefixes(entry, entry.model)
    return OllamaEmbedding(
        model=entry.model,
        base_url=entry.base_url or "",
        api_key=wire.key,
        headers=entry.headers,
        query_prefix=query,
        document_prefix=document,
        limits=_limits(entry),
        timeout=entry.deadline,
        gate=gates.of(entry),
        record=record,
    )


def _directory(entry: Entry) -> EmbeddingModel:
    from memhold.providers.embedding.directory import DirectoryEmbedding

    return DirectoryEmbedding(entry.model, query_prefix=entry.query_prefix, document_prefix=entry.document_prefix)


def _limits(entry: Entry) -> Limits:
    if entry.max_chars is not None:
        return Limits(max_chars=entry.max_chars)
    return Limits() if entry.context_window is None else Limits(max_chars=entry.context_window * _CHARACTERS_A_TOKEN)


def _prefixes(entry: Entry, model: str) -> tuple[str, str]:
    """What stands before a question and before a text: as the entry says, else as the model's name tells."""
    query, document = prefixes_of(model)
    return (
        query if entry.query_prefix is None else entry.query_prefix,
        document if entry.document_prefix is None else entry.document_prefix,
    )


def _named(name: str, record: Record, purpose: Purpose, attempt: Attempt, usage: Usage) -> None:
    record(purpose, replace(attempt, model=name), usage)


async def _served(entry: Entry, wire: Wire) -> str:
    """The embedding model that a server lists: one that is named like one, else the only one there is."""
    try:
        headers = key_header(entry.base_url, wire.key())
        listed = await wire.get(endpoint(entry.base_url or "", "/models"), headers)
    finally:
        await wire.close()
    offered = [item.get("id") for item in items(listed.get("data"))]
    names: list[str] = [name for name in offered if isinstance(name, str)]
    fit = [name for name in names if looks_embedding(name)] or (names if len(names) == 1 else [])
    if not fit:
        reason = "the server lists no embedding model; load one, or name it behind the URL (…/v1#MODEL)"
        verdict = Verdict(cls="park", reason=reason, code="no_models_loaded", rule="model")
        raise model_error(entry.name, verdict, status=200)
    return fit[0]
