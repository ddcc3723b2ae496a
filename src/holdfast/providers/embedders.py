"""From a catalog entry to the embedding model that it names."""

from __future__ import annotations

from typing import Final

from holdfast.errors import InvalidSetting
from holdfast.inference import EmbeddingModel
from holdfast.ports import Clock
from holdfast.providers.chat.making import KeySource
from holdfast.providers.chat.wire import Wire
from holdfast.providers.classify import Verdict
from holdfast.providers.embedding.batching import Limits
from holdfast.providers.entry import Entry, endpoint, looks_embedding
from holdfast.providers.failures import model_error
from holdfast.providers.wrappers import HostGates

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
) -> EmbeddingModel:
    """The embedding model of an entry. A host's gate is shared with the chat models on it.

    Only `model = "auto"` makes a request here: it asks the server which model it serves.

    Raises:
        InvalidSetting: the entry is no embedding model.
        ModelError: its key's variable is not set (class `auth`), or the server of an `auto` could not be asked.
    """
    limits = Limits() if entry.context_window is None else Limits(max_chars=entry.context_window * _CHARACTERS_A_TOKEN)
    match entry.protocol:
        case "builtin-embeddings":
            from holdfast.providers.local.builtin import BuiltinEmbedding

            return BuiltinEmbedding()
        case "local-embeddings":
            from holdfast.providers.embedding.directory import DirectoryEmbedding

            return DirectoryEmbedding(entry.model)
        case "ollama-embeddings":
            from holdfast.providers.embedding.ollama import OllamaEmbedding

            ollama_key = Wire(entry, keys=keys, clock=clock).key()
            return OllamaEmbedding(
                model=entry.model,
                base_url=entry.base_url or "",
                headers={**({"authorization": f"Bearer {ollama_key}"} if ollama_key else {}), **entry.headers},
                limits=limits,
                timeout=entry.deadline,
                gate=gates.of(entry),
            )
        case "openai-embeddings":
            from holdfast.providers.embedding.openai import OpenAIEmbedding

            wire = Wire(entry, keys=keys, clock=clock)
            key = wire.key()
            model = entry.model if entry.model != "auto" else await _served(entry, wire, key)
            return OpenAIEmbedding(
                model=model,
                base_url=entry.base_url or "",
                clock=clock,
                api_key=key,
                headers=entry.headers,
                limits=limits,
                unload_retry_count=unload_retry_count,
                unload_retry_delay_ms=unload_retry_delay_ms,
                timeout=entry.deadline,
                gate=gates.of(entry),
            )
        case _:
            raise InvalidSetting(
                f"{entry.name} speaks {entry.protocol}, which makes no vectors; name an embedding model",
                name=entry.name,
            )


async def _served(entry: Entry, wire: Wire, key: str | None) -> str:
    """The embedding model that a server lists: one that is named like one, else the only one there is."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        listed = await wire.get(endpoint(entry.base_url or "", "/models"), headers)
    finally:
        await wire.close()
    items = [item.get("id") for item in listed.get("data") or [] if isinstance(item, dict)]
    names: list[str] = [name for name in items if isinstance(name, str)]
    fit = [name for name in names if looks_embedding(name)] or (names if len(names) == 1 else [])
    if not fit:
        reason = "the server lists no embedding model; load one, or name it in the catalog"
        verdict = Verdict(cls="park", reason=reason, code="no_models_loaded", rule="model")
        raise model_error(entry.name, verdict, status=200)
    return fit[0]
