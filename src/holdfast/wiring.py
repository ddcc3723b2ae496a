"""The one place where parts are chosen and put together; the only reader of settings."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from holdfast.answers import Residue
from holdfast.errors import InvalidInput, InvalidSetting
from holdfast.inference import EmbeddingModel
from holdfast.pipeline.embedding import Embedding
from holdfast.pipeline.ingest import Limits
from holdfast.ports import Clock, Ids, Store
from holdfast.runtime import Runtime, RuntimeSettings
from holdfast.settings import Settings, load_settings
from holdfast.system import SystemClock, TimeOrderedIds
from holdfast.upkeep.steps import steps
from holdfast.upkeep.worker import Worker

__all__ = ["assemble", "build", "data_files", "sqlite_path"]

SQLITE = "sqlite:///"


def sqlite_path(location: str) -> str:
    """The file that a location names: a path, or `sqlite:///path`.

    Raises:
        InvalidInput: the location is empty or of a scheme that is not known.
    """
    path = location.removeprefix(SQLITE)
    if not path or "://" in path or "\0" in path:
        raise InvalidInput(f"cannot open {location!r:.80}; pass a file path, sqlite:///path or memory://")
    return str(Path(path).expanduser().absolute())


def data_files(path: str) -> list[Path]:
    """Every file that a SQLite store keeps: the file and what stands beside it under its name."""
    target = Path(path)
    return sorted(entry for entry in target.parent.glob(f"{target.name}*") if entry.is_file())


def _store(location: str, settings: Settings, clock: Clock, ids: Ids) -> tuple[Store, Callable[[str], Residue]]:
    if location == "memory://":
        from holdfast.storage.inmemory.store import InMemoryStore

        return InMemoryStore(clock, ids), _no_files
    from holdfast.storage.residue import scan
    from holdfast.storage.sqlite.store import SqliteStore

    path = sqlite_path(location)
    store = SqliteStore(path, clock=clock, busy_timeout=settings.busy_timeout, read_timeout=settings.read_timeout)
    return store, lambda text: scan(data_files(path), text)


async def build(location: str, given: Mapping[str, Any]) -> Runtime:
    """Open a store with its settings and its worker, on the running loop.

    `clock` and `ids` may stand among the settings, and an `EmbeddingModel` as `embedding`: tests pass their own.
    """
    rest = dict(given)
    clock: Clock = rest.pop("clock", None) or SystemClock()
    ids: Ids = rest.pop("ids", None) or TimeOrderedIds()
    own = rest.pop("embedding") if not isinstance(rest.get("embedding", ""), str) else None
    settings = load_settings(rest)
    store, residue = _store(location, settings, clock, ids)
    return assemble(store, clock=clock, ids=ids, settings=settings, residue=residue, model=own)


def _embedding(name: str, clock: Clock, own: EmbeddingModel | None) -> Embedding | None:
    """The embedding that a setting names: `none`, `builtin`, a directory, or an entry of the catalog."""
    if own is None and name == "none":
        return None

    async def opened() -> EmbeddingModel:
        if own is not None:
            return own
        if name == "builtin":
            from holdfast.providers.local.builtin import BuiltinEmbedding

            return BuiltinEmbedding()
        if Path(name).expanduser().is_dir():
            return await asyncio.to_thread(_from_directory, Path(name).expanduser())
        return await _from_catalog(name, clock)

    return Embedding(opened)


def _from_directory(path: Path) -> EmbeddingModel:
    from holdfast.providers.embedding.directory import DirectoryEmbedding

    return DirectoryEmbedding(path)


async def _from_catalog(name: str, clock: Clock) -> EmbeddingModel:
    from holdfast.providers.catalog import load_catalog
    from holdfast.providers.embedders import embedding_model
    from holdfast.providers.wrappers import HostGates

    file = Path("holdfast.toml")
    own = file.read_text(encoding="utf-8") if file.is_file() else None
    entry = load_catalog(user=own).models.get(name)
    if entry is None:
        message = f"embedding is {name!r:.80}: pass none, builtin, a model directory, or an entry of the catalog"
        raise InvalidSetting(message, name="embedding")
    return await embedding_model(entry, keys=os.environ.get, clock=clock, gates=HostGates())


def assemble(
    store: Store,
    *,
    clock: Clock,
    ids: Ids | None = None,
    settings: Settings | None = None,
    residue: Callable[[str], Residue] | None = None,
    model: EmbeddingModel | None = None,
) -> Runtime:
    """The parts of an open Holdfast around a store, on the running loop; its worker runs where the settings say so."""
    ids = ids or TimeOrderedIds()
    settings = settings or Settings()
    embedding = _embedding(settings.embedding, clock, model)
    worker = Worker(
        store,
        steps(store, ids, embedding),
        clock=clock,
        owner=f"{socket.gethostname()}:{os.getpid()}",
        random=Random(),
        poll_seconds=settings.poll_seconds,
    )
    if settings.worker:
        worker.start()
    return Runtime(
        store=store,
        clock=clock,
        ids=ids,
        settings=RuntimeSettings(
            idempotency_days=settings.idempotency_days,
            raw_chars=settings.raw_chars,
            recall_timeout=settings.recall_timeout,
        ),
        embedding=embedding,
        worker=worker,
        limits=Limits(message_bytes=settings.max_message_bytes, batch_messages=settings.max_batch_messages),
        residue=residue or _no_files,
    )


def _no_files(text: str) -> Residue:
    raise InvalidInput(f"this store keeps no files of its own to look for {len(text)} characters in")
