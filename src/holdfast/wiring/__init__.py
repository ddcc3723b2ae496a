"""The one place where parts are chosen and put together; the only reader of settings."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast._version import __version__
from holdfast.errors import InvalidInput
from holdfast.pipeline.limits import Limits
from holdfast.ports import Clock, Ids, Redactor, Store
from holdfast.runtime import Runtime, RuntimeSettings
from holdfast.settings import Settings, load_settings
from holdfast.system import SystemClock, TimeOrderedIds
from holdfast.upkeep.asked import Asked
from holdfast.wiring.compaction import Upkeepers, caches_once
from holdfast.wiring.models import (
    HeldModels,
    catalog,
    chain_parts,
    embedding_of,
    judge_parts,
    key_embedding,
    models_of,
    models_view,
    tokenizer,
)
from holdfast.wiring.upkeep import Chains, mirror_of, when_due, worker_of

if TYPE_CHECKING:
    from holdfast.answers import Residue
    from holdfast.chains import ChainParts
    from holdfast.inference import EmbeddingModel
    from holdfast.keeping import Finding, Keeper, Lost, Restoration
    from holdfast.providers.catalog import Catalog

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
    from holdfast.storage.sqlite.keeper import SqliteKeeper
    from holdfast.storage.sqlite.store import SqliteStore

    path = sqlite_path(location)
    store = SqliteStore(
        path,
        clock=clock,
        busy_timeout=settings.busy_timeout,
        read_timeout=settings.read_timeout,
        close_timeout=settings.close_timeout,
        key=settings.key,
    )
    schema = store.facts.schema
    keeper = SqliteKeeper(
        path,
        clock=clock,
        schema=schema,
        release=__version__,
        busy_timeout=settings.busy_timeout,
        key=settings.key,
    )
    return store, partial(_residue, path), keeper


def _residue(path: str, text: str) -> Residue:
    """Where a text's bytes still are in the files of a SQLite store."""
    from holdfast.storage.residue import scan
    from holdfast.storage.sqlite.raw import chunks

    return scan(data_files(path), text, chunks=chunks)


def examine_file(location: str) -> tuple[Finding, ...]:
    """What is wrong with a store's file, without opening it as a store: it may be damaged, or not be there."""
    from holdfast.storage.sqlite.doctor import examine

    settings = load_settings({})
    now = SystemClock().now()
    return examine(sqlite_path(location), now=now, busy_timeout=settings.busy_timeout, key=settings.key)


def restore(backup: str | Path, target: str, *, force: bool = False, key: str | None = None) -> Restoration:
    """Put a backup in the place of a store; see `Holdfast.restore`."""
    secret = load_settings({}).key if key is None else key
    from holdfast.pipeline.reforget import forget_again
    from holdfast.storage.sqlite.ledger import ledger_path
    from holdfast.storage.sqlite.restore import restore_backup
    from holdfast.storage.sqlite.store import SqliteStore

    async def forgotten(copy: str, lost: tuple[Lost, ...]) -> int:
        store = SqliteStore(copy, clock=SystemClock(), key=secret)
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
        key=secret,
    )


async def build(location: str, given: Mapping[str, Any]) -> Runtime:
    """Open a store with its settings and its worker, on the running loop.

    `clock` and `ids` may stand among the settings: tests pass their own; `consolidation` and `compaction` may be a
    model, or several, and `embedding` an `EmbeddingModel`.
    """
    rest = dict(given)
    clock: Clock = rest.pop("clock", None) or SystemClock()
    ids: Ids = rest.pop("ids", None) or TimeOrderedIds()
    model = None if isinstance(rest.get("consolidation", ""), str) else rest.pop("consolidation")
    judge = None if isinstance(rest.get("adjudication", ""), str) else rest.pop("adjudication")
    merging = None if isinstance(rest.get("compaction", ""), str) else rest.pop("compaction")
    own = rest.pop("embedding") if not isinstance(rest.get("embedding", ""), str) else None
    settings = load_settings(rest)
    redactor = _redactor(settings)
    chosen = ((settings.consolidation, model), (settings.adjudication, judge), (settings.compaction, merging))
    named = [name for name, given in chosen if name not in {"", "none"} and given is None]
    table = catalog(settings.models) if named else None
    for name in named:
        # A name that is not there is said before the store is opened.
        _catalogued(table, name)
    store, residue, keeper = _store(location, settings, clock, ids)
    held = HeldModels(store, settings, clock, table)
    parts = chain_parts(model, held, settings, clock)
    judges = chain_parts(judge, held, settings, clock, "adjudication")
    return assemble(
        store,
        clock=clock,
        ids=ids,
        settings=settings,
        residue=residue,
        keeper=keeper,
        parts=parts,
        judges=judges,
        judge=judge_parts(merging, held, settings, clock),
        model=own,
        held=held,
        redactor=redactor,
    )


def _catalogued(table: Catalog | None, name: str) -> None:
    """Say that the catalog has no such chain or model, where it has none."""
    if table is not None:
        table.chain(name)


def _redactor(settings: Settings) -> Redactor | None:
    if settings.redaction == "off":
        return None
    from holdfast.redaction import SecretRedactor

    return SecretRedactor("refuse" if settings.redaction == "refuse" else "on")


def assemble(
    store: Store,
    *,
    clock: Clock,
    ids: Ids | None = None,
    settings: Settings | None = None,
    residue: Callable[[str], Residue] | None = None,
    parts: ChainParts | None = None,
    judges: ChainParts | None = None,
    judge: ChainParts | None = None,
    model: EmbeddingModel | None = None,
    keeper: Keeper | None = None,
    held: HeldModels | None = None,
    redactor: Redactor | None = None,
) -> Runtime:
    """The parts of an open Holdfast around a store, on the running loop; its worker runs where the settings say so."""
    ids, settings = ids or TimeOrderedIds(), settings or Settings()
    mirror = mirror_of(store, settings, clock)
    embedding = embedding_of(settings.embedding, model, held)
    new_caches = caches_once()
    worker, compaction = worker_of(
        store,
        Upkeepers(settings, clock, ids, f"{socket.gethostname()}:{os.getpid()}:{next(_WORKERS)}"),
        Chains(parts, judges, judge),
        mirror=mirror,
        embedding=embedding,
        caches=new_caches,
    )
    runtime = Runtime(
        store=store,
        clock=clock,
        ids=ids,
        settings=_for_verbs(settings, consolidates=parts is not None),
        embedding=embedding,
        worker=worker,
        asked=Asked(store, ids=ids, life=timedelta(days=settings.mid_tier_days)),
        limits=Limits(message_bytes=settings.max_message_bytes, batch_messages=settings.max_batch_messages),
        residue=residue or _no_files,
        health=dict if parts is None else parts.health,
        mirror=mirror,
        close_models=None if held is None else held.close,
        keeper=keeper,
        tokenizer=tokenizer,
        redactor=redactor,
        compaction=compaction,
        new_caches=new_caches,
    )
    if settings.worker:
        worker.start()
    return runtime


def _for_verbs(settings: Settings, *, consolidates: bool) -> RuntimeSettings:
    return RuntimeSettings(
        idempotency_days=settings.idempotency_days,
        raw_chars=settings.raw_chars,
        drain_seconds=settings.drain_seconds,
        when=when_due(settings) if consolidates else None,
        recall_timeout=settings.recall_timeout,
        mid_tier_days=settings.mid_tier_days,
        crossover_turn_threshold=settings.crossover_turn_threshold,
        context_tail=settings.context_tail,
        context_slot_timeout=settings.context_slot_timeout,
        context_consolidate_share=settings.context_consolidate_share,
        context_model=settings.context_model,
    )


def _no_files(text: str) -> Residue:
    raise InvalidInput(
        f"this store keeps no files of its own to look for {len(text)} characters in; open a file for that"
    )
