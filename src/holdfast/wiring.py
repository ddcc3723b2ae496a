"""The one place where parts are chosen and put together; the only reader of settings."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from holdfast._version import __version__
from holdfast.answers import Residue
from holdfast.errors import InvalidInput, InvalidSetting
from holdfast.keeping import Finding, Keeper, Lost, Restoration
from holdfast.model import Scope
from holdfast.pipeline.consolidate.apply import Means
from holdfast.pipeline.consolidate.window import When
from holdfast.pipeline.ingest import Limits
from holdfast.ports import Clock, Ids, Store
from holdfast.runtime import Runtime, RuntimeSettings
from holdfast.settings import FILE_NAME, Settings, load_settings
from holdfast.system import SystemClock, TimeOrderedIds
from holdfast.transaction import Listing
from holdfast.upkeep.asked import Asked
from holdfast.upkeep.consolidation import Consolidation
from holdfast.upkeep.steps import SLOW, steps
from holdfast.upkeep.worker import Worker

if TYPE_CHECKING:
    from datetime import date

    from holdfast.chains import ChainParts
    from holdfast.inference import EmbeddingModel, Tally
    from holdfast.providers.catalog import Catalog
    from holdfast.providers.models import Models
    from holdfast.providers.view import ModelsView

__all__ = [
    "assemble",
    "build",
    "catalog",
    "data_files",
    "examine_file",
    "key_embedding",
    "models_of",
    "models_view",
    "restore",
    "sqlite_path",
]

SQLITE = "sqlite:///"
_WORKERS = count()


def sqlite_path(location: str) -> str:
    """The file that a location names: a path, or `sqlite:///path`. Links are followed: one file, one name.

    Raises:
        InvalidInput: the location is empty or of a scheme that is not known.
    """
    path = location.removeprefix(SQLITE)
    if not path or "://" in path or "\0" in path:
        raise InvalidInput(f"cannot open {location!r:.80}; pass a file path, sqlite:///path or memory://")
    return str(Path(path).expanduser().resolve())


def data_files(path: str) -> list[Path]:
    """Every file that a SQLite store keeps content in: the file and what stands beside it under its name.

    Not the shared memory of the log: it holds frame numbers, and reading it would let go of SQLite's locks.
    """
    target = Path(path)
    found = (entry for entry in target.parent.iterdir() if entry.name.startswith(target.name) and entry.is_file())
    return sorted(entry for entry in found if entry.name != f"{target.name}-shm")


def _store(
    location: str, settings: Settings, clock: Clock, ids: Ids
) -> tuple[Store, Callable[[str], Residue], Keeper | None]:
    if location == "memory://":
        from holdfast.storage.inmemory.store import InMemoryStore

        return InMemoryStore(clock, ids), _no_files, None
    from holdfast.storage.residue import scan
    from holdfast.storage.sqlite.keeper import SqliteKeeper
    from holdfast.storage.sqlite.raw import chunks
    from holdfast.storage.sqlite.store import SqliteStore

    path = sqlite_path(location)
    store = SqliteStore(
        path,
        clock=clock,
        busy_timeout=settings.busy_timeout,
        read_timeout=settings.read_timeout,
        close_timeout=settings.close_timeout,
    )
    schema = store.facts.schema
    keeper = SqliteKeeper(path, clock=clock, schema=schema, release=__version__, busy_timeout=settings.busy_timeout)
    return store, lambda text: scan(data_files(path), text, chunks=chunks), keeper


def examine_file(location: str) -> tuple[Finding, ...]:
    """What is wrong with a store's file, without opening it as a store: it may be damaged, or not be there."""
    from holdfast.storage.sqlite.doctor import examine

    return examine(sqlite_path(location), now=SystemClock().now(), busy_timeout=Settings().busy_timeout)


def restore(backup: str | Path, target: str, *, force: bool = False) -> Restoration:
    """Put a backup in the place of a store; see `Holdfast.restore`."""
    from holdfast.pipeline.reforget import forget_again
    from holdfast.storage.sqlite.ledger import ledger_path
    from holdfast.storage.sqlite.restore import restore_backup
    from holdfast.storage.sqlite.store import SqliteStore

    async def forgotten(copy: str, lost: tuple[Lost, ...]) -> int:
        store = SqliteStore(copy, clock=SystemClock())
        try:
            done = 0
            for each in lost:
                work = partial(forget_again, tombstones=each.tombstones, ids=TimeOrderedIds())
                done += await store.write(each.scope, work)
            await store.upkeep.scrub()
            return done
        finally:
            await store.close()
            ledger_path(copy).unlink(missing_ok=True)

    return restore_backup(
        Path(backup).expanduser().absolute(),
        sqlite_path(target),
        force=force,
        forget_again=lambda copy, lost: asyncio.run(forgotten(copy, lost)),
    )


async def build(location: str, given: Mapping[str, Any]) -> Runtime:
    """Open a store with its settings and its worker, on the running loop.

    `clock` and `ids` may stand among the settings: tests pass their own; `consolidation` may be a model, or several.
    """
    rest = dict(given)
    clock: Clock = rest.pop("clock", None) or SystemClock()
    ids: Ids = rest.pop("ids", None) or TimeOrderedIds()
    model = None if isinstance(rest.get("consolidation", ""), str) else rest.pop("consolidation")
    settings = load_settings(rest)
    parts = _chain(model, settings, clock)
    store, residue, keeper = _store(location, settings, clock, ids)
    return assemble(store, clock=clock, ids=ids, settings=settings, residue=residue, keeper=keeper, parts=parts)


def _chain(model: object, settings: Settings, clock: Clock) -> ChainParts | None:
    """The consolidation chain: of an object, else of the name in the settings, else none."""
    if model is None and not settings.consolidation:
        return None
    from holdfast.chains import chain_of

    return chain_of(model or settings.consolidation, clock=clock, models=settings.models)


def assemble(
    store: Store,
    *,
    clock: Clock,
    ids: Ids | None = None,
    settings: Settings | None = None,
    residue: Callable[[str], Residue] | None = None,
    parts: ChainParts | None = None,
    keeper: Keeper | None = None,
) -> Runtime:
    """The parts of an open Holdfast around a store, on the running loop; its worker runs where the settings say so."""
    ids = ids or TimeOrderedIds()
    settings = settings or Settings()
    mirror = _mirror(store, settings, clock) if settings.mirror else None
    consolidation = None if parts is None else _consolidation(store, parts, settings, clock, ids)
    worker = Worker(
        store,
        steps(store, ids, raw_chars=settings.raw_chars, consolidation=consolidation, mirror=mirror),
        clock=clock,
        owner=f"{socket.gethostname()}:{os.getpid()}:{next(_WORKERS)}",
        random=Random(),
        poll_seconds=settings.poll_seconds,
        slow=() if consolidation is None else SLOW,
        fresh=None if parts is None else parts.fresh,
        sweep=None if consolidation is None else consolidation.sweep_all,
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
            drain_seconds=settings.drain_seconds,
            when=None if parts is None else _when(settings),
            mid_tier_days=settings.mid_tier_days,
            crossover_turn_threshold=settings.crossover_turn_threshold,
            context_tail=settings.context_tail,
            context_slot_timeout=settings.context_slot_timeout,
        ),
        worker=worker,
        asked=Asked(store, ids=ids, life=timedelta(days=settings.mid_tier_days)),
        limits=Limits(message_bytes=settings.max_message_bytes, batch_messages=settings.max_batch_messages),
        residue=residue or _no_files,
        health=dict if parts is None else parts.health,
        mirror=mirror,
        close_models=None if parts is None else parts.close,
        keeper=keeper,
    )


def _consolidation(store: Store, parts: ChainParts, settings: Settings, clock: Clock, ids: Ids) -> Consolidation:
    means = Means(
        ids=ids,
        secret=store.facts.secret,
        when=_when(settings),
        life=timedelta(days=settings.mid_tier_days),
        raw_chars=settings.raw_chars,
        mirror=bool(settings.mirror),
    )
    return Consolidation(
        store, parts.chain, means=means, clock=clock, random=Random(), rules=parts.rules, spent=parts.spent
    )


def _when(settings: Settings) -> When:
    return When(
        messages=settings.consolidate_messages,
        tokens=settings.consolidate_tokens,
        idle=timedelta(seconds=settings.consolidate_idle_seconds),
        keep=settings.consolidate_keep_messages,
        part_tokens=settings.consolidate_part_tokens,
        tool_chars=settings.consolidate_tool_chars,
        skip=tuple(pattern.strip() for pattern in settings.consolidate_skip.split(",") if pattern.strip()),
    )


def _mirror(store: Store, settings: Settings, clock: Clock) -> Callable[[Scope], Awaitable[None]]:
    """What writes a scope's two files."""
    from holdfast.transfer.mirror import write_mirror

    folder = Path(settings.mirror).expanduser()

    async def write(scope: Scope) -> None:
        every = Listing(limit=2**62)
        held = await store.read(scope, lambda tx: tx.list_memories(every))
        newest = settings.mirror_summaries
        await asyncio.to_thread(write_mirror, folder, scope, held, now=clock.now(), summaries=newest)

    return write


def _no_files(text: str) -> Residue:
    raise InvalidInput(
        f"this store keeps no files of its own to look for {len(text)} characters in; open a file for that"
    )


def catalog(folder: Path | None = None) -> Catalog:
    """The shipped models with those of `holdfast.toml` laid over them; a key variable that is not set is noted.

    Raises:
        InvalidSetting: an entry cannot be used; the message lists every fault.
    """
    from holdfast.providers.catalog import load_catalog

    path = (folder or Path()) / FILE_NAME
    user = path.read_text(encoding="utf-8") if path.is_file() else None
    return load_catalog(user=user, environment=os.environ)


def models_of(store: Store, settings: Settings, *, clock: Clock, models: Catalog | None = None) -> Models:
    """What calls models for an open store, by its settings; every call is in the store's usage. Its owner closes it."""
    from holdfast.providers.models import Models
    from holdfast.providers.pool import ChainSettings
    from holdfast.providers.wrappers import Backoff

    backoff = Backoff(attempts=settings.model_attempts, first=settings.model_backoff_seconds)
    return Models(
        models or catalog(),
        book=store.usage,
        keys=os.environ.get,
        clock=clock,
        dice=Random(),
        settings=ChainSettings(backoff=backoff, deadline=settings.chain_seconds),
        unload_retry_count=settings.unload_retry_count,
        unload_retry_delay_ms=settings.unload_retry_delay_ms,
    )


def models_view(location: str | None) -> ModelsView:
    """What `holdfast models` asks; its usage is that of the store at a location, where there is one."""
    from holdfast.providers.view import ModelsView

    clock = SystemClock()
    kept = None if location is None else partial(_usage_kept, location)
    return ModelsView(catalog(), keys=os.environ.get, clock=clock, kept=kept)


def _usage_kept(location: str, since: date | None) -> list[Tally]:
    from holdfast.storage.sqlite.store import SqliteStore

    async def read() -> list[Tally]:
        store = SqliteStore(sqlite_path(location), clock=SystemClock())
        try:
            return await store.usage.read(since)
        finally:
            await store.close()

    return asyncio.run(read())


def key_embedding(name: str) -> EmbeddingModel:
    """The embedding of a name: `builtin`, a model directory, or an embedding model of the catalog.

    Raises:
        InvalidSetting: the catalog has no embedding model of that name.
    """
    if name == "builtin":
        from holdfast.providers.local.builtin import BuiltinEmbedding

        return BuiltinEmbedding()
    if Path(name).is_dir():
        from holdfast.providers.embedding.directory import DirectoryEmbedding

        return DirectoryEmbedding(Path(name))
    entry = catalog().models.get(name)
    if entry is None or not entry.embeds:
        message = (
            f"{name!r:.80} is no embedding: pass builtin, a model's directory, or an embedding model of the catalog"
        )
        raise InvalidSetting(message, name=name)
    if entry.protocol == "ollama-embeddings":
        from holdfast.providers.embedding.ollama import OllamaEmbedding

        url = entry.base_url or "http://127.0.0.1:11434"
        return OllamaEmbedding(model=entry.model, base_url=url, headers=entry.headers, timeout=entry.deadline)
    from holdfast.providers.embedding.openai import OpenAIEmbedding

    return OpenAIEmbedding(
        model=entry.model,
        base_url=entry.base_url or "https://api.openai.com/v1",
        clock=SystemClock(),
        api_key=None if entry.api_key_env is None else os.environ.get(entry.api_key_env),
        headers=entry.headers,
        timeout=entry.deadline,
    )
