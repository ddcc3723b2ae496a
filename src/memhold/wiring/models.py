"""The models of an open store: the catalog, the consolidation chain, the embedding, what `memhold models` asks."""

from __future__ import annotations

import asyncio
import os
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeVar

from memhold.index.embedding import Embedding
from memhold.ports.stores import Clock, Store
from memhold.providers.embedding.official import OFFICIAL
from memhold.values.errors import InvalidSetting
from memhold.wiring.places import models_folder
from memhold.wiring.settings import FILE_NAME, Settings, load_settings
from memhold.wiring.system import SystemClock

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import date

    from memhold.ports.models import EmbeddingModel, LinkNote, Reranker, Tally
    from memhold.providers.catalog import Catalog
    from memhold.providers.entry import Entry
    from memhold.providers.naming import Kind
    from memhold.providers.open_models import Models
    from memhold.providers.pool import ChainSettings
    from memhold.providers.view import ModelsView
    from memhold.wiring.chains import ChainParts

T = TypeVar("T")

__all__ = [
    "HeldModels",
    "catalog",
    "chain_parts",
    "check_embedding",
    "embedding_of",
    "in_catalog",
    "judge_parts",
    "key_embedding",
    "models_of",
    "models_view",
    "reranker_of",
    "settings_catalog",
    "tokenizer",
]


def chain_parts(
    model: object, held: HeldModels, settings: Settings, clock: Clock, purpose: str = "consolidation"
) -> ChainParts | None:
    """The chain of a purpose (`consolidation`, `adjudication`): of an object, else of the name in its setting."""
    name: str = getattr(settings, purpose)
    if model is None and name in {"", "none"}:
        return None
    from memhold.wiring.chains import chain_of, chain_of_objects

    if model is not None:
        return chain_of_objects(model, clock=clock, settings=_patience(settings), purpose=purpose)
    return chain_of(name, held.models)


def judge_parts(model: object, held: HeldModels, settings: Settings, clock: Clock) -> ChainParts | None:
    """The chain that judges near-duplicates, where another than that of the consolidation is named; else none."""
    if model is None and settings.compaction in {"", "none"}:
        return None
    from memhold.wiring.chains import chain_of, chain_of_objects

    if model is not None:
        return chain_of_objects(model, clock=clock, settings=_patience(settings))
    return chain_of(settings.compaction, held.models)


def _patience(settings: Settings) -> ChainSettings:
    from memhold.providers.pool import ChainSettings
    from memhold.providers.wrappers import Backoff

    backoff = Backoff(
        attempts=settings.model_attempts,
        unloads=settings.unload_retry_count,
        unload_pause=settings.unload_retry_delay_ms / 1000,
    )
    return ChainSettings(backoff=backoff, deadline=settings.chain_seconds)


def tokenizer(model: str | None, *, models: str = "") -> tuple[str, Callable[[str], int]] | None:
    """How the family of a model counts tokens; of None that of the user's own conversation chain, if it is one."""
    from memhold.providers.vocabularies import family_of, tokenizer_of

    names = _conversation(models) if model is None else (model,)
    return tokenizer_of(names[0]) if len({family_of(name) for name in names}) == 1 else None


@cache
def _conversation(models: str) -> tuple[str, ...]:
    """The models of the conversation chain of a user's own file, in order; none where there is no such file."""
    if not models and not Path(FILE_NAME).is_file():
        return ()
    try:
        return tuple(entry.model for entry in catalog(models).chain("conversation"))
    except InvalidSetting:  # whoever needs the chain is told; a context is counted by the estimate
        return ()


class HeldModels:
    """The models of one store, made when the first of them is needed: one catalog, one set of gates, one ledger."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        table: Catalog | None = None,
        known: Sequence[LinkNote] = (),
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._table = table
        self._known = known
        self._models: Models | None = None

    @property
    def models(self) -> Models:
        """What calls models for the store."""
        if self._models is None:
            self._models = models_of(
                self._store, self._settings, clock=self._clock, models=self._table, known=self._known
            )
        return self._models

    async def close(self) -> None:
        """Let go of every connection, if any was made."""
        if self._models is not None:
            await self._models.close()


def embedding_of(name: str, own: EmbeddingModel | None, held: HeldModels | None) -> Embedding | None:
    """The embedding that a setting names: `none`, `builtin`, a published one, a directory, an entry of the catalog.

    Without the `held` models of a store its calls are written nowhere.
    """
    if own is None and name == "none":
        return None

    async def opened() -> EmbeddingModel:
        if own is not None:
            return own
        if held is not None and in_catalog(name):
            return await held.models.embedding(check_embedding(held.models.catalog, name).name)
        return await _of_no_store(name)

    def late(seconds: float) -> None:
        if held is not None and own is None and in_catalog(name):
            held.models.links.late(check_embedding(held.models.catalog, name), seconds)

    return Embedding(opened, late)


def _folder(name: str) -> Path | None:
    """The directory of that name, where there is one and the name is no URL."""
    folder = Path(name).expanduser()
    return folder if "://" not in name and folder.is_dir() else None


def _official(name: str) -> EmbeddingModel:
    """A published embedding; its files are fetched where they are not there yet."""
    from memhold.providers.embedding.directory import DirectoryEmbedding
    from memhold.providers.embedding.fetching import fetched

    model = OFFICIAL[name]
    folder = fetched(model, models_folder() / name)
    return DirectoryEmbedding(folder, query_prefix=model.query_prefix, document_prefix=model.document_prefix)


def in_catalog(name: str) -> bool:
    """Whether an embedding of that name is to be in the catalog; else it is ours, or a directory, there or not."""
    if name in {"none", "builtin", *OFFICIAL}:
        return False
    from memhold.providers.naming import is_line

    return is_line(name) or (os.sep not in name and not Path(name).expanduser().is_dir())


def check_embedding(table: Catalog, name: str) -> Entry:
    """The embedding model of that name.

    Raises:
        InvalidSetting: the catalog has none; it says what may be passed instead.
    """
    from memhold.providers.naming import chain_of_kind, pieces

    if len(pieces(name)) > 1:
        from memhold.providers.entry import shown

        raise InvalidSetting(
            f"embedding names several ({shown(name):.80}); the vectors of a store are of one model: name one",
            name="embedding",
        )
    try:
        first = chain_of_kind(table, name, "embedding")[0]
    except InvalidSetting:
        raise _unknown(name) from None
    if not first.embeds:
        raise _unknown(name)
    return first


def _unknown(name: str) -> InvalidSetting:
    from memhold.providers.entry import shown

    message = f"embedding is {shown(name)!r:.80}; pass none, builtin, {', '.join(OFFICIAL)}, a model directory, "
    message += (
        "openai:MODEL, ollama:MODEL, lmstudio:MODEL, http://host:port/v1#MODEL, or an embedding model of the catalog"
    )
    return InvalidSetting(message, name="embedding")


_NAMING: Mapping[str, Kind] = {
    "consolidation": "chat",
    "adjudication": "chat",
    "compaction": "chat",
    "embedding": "embedding",
}
"""The settings that name models, and of which kind."""


def settings_catalog(settings: Settings) -> Catalog:
    """The catalog with the models that settings name in one line."""
    from memhold.providers.naming import with_lines

    named = [(getattr(settings, name), kind) for name, kind in _NAMING.items()]
    return with_lines(catalog(settings.models), named, os.environ)


def catalog(models: str = "") -> Catalog:
    """The shipped models with those of a file laid over them (`memhold.toml` here, where none is named).

    A key variable that is not set is noted.

    Raises:
        InvalidSetting: the file is not there or cannot be read, or an entry cannot be used; the message lists every
        fault.
    """
    from memhold.providers.catalog import load_catalog

    path = Path(models).expanduser() if models else Path(FILE_NAME)
    try:
        user = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if models:
            raise InvalidSetting(f"{path} is not there; name a file with [models.NAME] tables", name="models") from None
        user = None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"{path} cannot be read ({error}); check it", name="models") from error
    return load_catalog(user=user, environment=os.environ)


def models_of(
    store: Store,
    settings: Settings,
    *,
    clock: Clock,
    models: Catalog | None = None,
    known: Sequence[LinkNote] = (),
) -> Models:
    """What calls models for an open store, by its settings; every call is in the store's usage. Its owner closes it."""
    from memhold.consolidate.rules import RulesModel
    from memhold.providers.open_models import Models

    return Models(
        models or settings_catalog(settings),
        book=store.usage,
        link_book=store.links,
        known=known,
        keys=os.environ.get,
        clock=clock,
        dice=Random(),
        settings=_patience(settings),
        unload_retry_count=settings.unload_retry_count,
        unload_retry_delay_ms=settings.unload_retry_delay_ms,
        own={"rules": lambda entry: RulesModel(entry.name)},
    )


def models_view(location: str | None) -> ModelsView:
    """What `memhold models` asks; its usage is that of the store at a location, where there is one."""
    from memhold.providers.view import ModelsView

    clock = SystemClock()
    settings = load_settings({})
    return ModelsView(
        settings_catalog(settings),
        keys=os.environ.get,
        clock=clock,
        kept=None if location is None else partial(_usage_kept, location),
        learned=None if location is None else partial(_links_learned, location),
        named={name: getattr(settings, name) for name in _NAMING},
    )


def _usage_kept(location: str, since: date | None) -> list[Tally]:
    return _with_store(location, lambda store: store.usage.read(since))


def _links_learned(location: str, notes: Sequence[LinkNote]) -> None:
    _with_store(location, lambda store: store.links.put(notes))


def _with_store(location: str, work: Callable[[Store], Awaitable[T]]) -> T:
    from memhold.storage.sqlite.store import SqliteStore
    from memhold.wiring.postgres import is_postgres, open_postgres

    async def done() -> T:
        store: Store
        if is_postgres(location):
            store, _ = await open_postgres(location, Settings(worker=False), SystemClock())
        else:
            store = SqliteStore(location, clock=SystemClock())
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(done())


def reranker_of(settings: Settings) -> Reranker | None:
    """The reranker that the settings name; None where they name none.

    Raises:
        InvalidSetting: it is no URL of a server.
    """
    if not settings.rerank:
        return None
    from memhold.providers.rerank import HttpReranker

    variable = settings.rerank_key_env
    return HttpReranker(settings.rerank, key=lambda: os.environ.get(variable) or None if variable else None)


def key_embedding(name: str) -> EmbeddingModel:
    """The embedding of a name, as the setting `embedding` takes it; where no event loop runs.

    Raises:
        InvalidSetting: none has that name.
        ModelError: the server that was to name its model could not be asked.
    """
    return asyncio.run(_of_no_store(name))


async def _of_no_store(name: str) -> EmbeddingModel:
    """An embedding outside of a store: its calls are written nowhere."""
    if name == "builtin":
        from memhold.providers.embedding.builtin.model import builtin_embedding

        return builtin_embedding()
    if name in OFFICIAL:
        return await asyncio.to_thread(_official, name)
    folder = await asyncio.to_thread(_folder, name)
    if folder is not None:
        from memhold.providers.embedding.directory import DirectoryEmbedding

        return await asyncio.to_thread(DirectoryEmbedding, folder)
    from memhold.providers.embedders import embedding_model
    from memhold.providers.naming import with_lines
    from memhold.providers.wrappers import HostGates

    table = with_lines(catalog(), [(name, "embedding")], os.environ) if in_catalog(name) else catalog()
    entry = check_embedding(table, name)
    return await embedding_model(entry, keys=os.environ.get, clock=SystemClock(), gates=HostGates())
