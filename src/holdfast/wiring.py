"""The one place where parts are chosen and put together; the only reader of settings."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from holdfast.answers import Residue
from holdfast.errors import InvalidInput
from holdfast.model import Scope
from holdfast.pipeline.consolidate.apply import Means
from holdfast.pipeline.consolidate.window import When
from holdfast.pipeline.ingest import Limits
from holdfast.ports import Clock, Ids, Store
from holdfast.runtime import Runtime, RuntimeSettings
from holdfast.settings import Settings, load_settings
from holdfast.system import SystemClock, TimeOrderedIds
from holdfast.transaction import Listing
from holdfast.upkeep.consolidation import Consolidation
from holdfast.upkeep.steps import SLOW, steps
from holdfast.upkeep.worker import Worker

if TYPE_CHECKING:
    from holdfast.chains import ChainParts

__all__ = ["assemble", "build", "data_files", "sqlite_path"]

SQLITE = "sqlite:///"
_WORKERS = count()


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
    store = SqliteStore(
        path,
        clock=clock,
        busy_timeout=settings.busy_timeout,
        read_timeout=settings.read_timeout,
        close_timeout=settings.close_timeout,
    )
    return store, lambda text: scan(data_files(path), text)


async def build(location: str, given: Mapping[str, Any]) -> Runtime:
    """Open a store with its settings and its worker, on the running loop.

    `clock` and `ids` may stand among the settings: tests pass their own; `consolidation` may be a model, or a list of them.
    """
    rest = dict(given)
    clock: Clock = rest.pop("clock", None) or SystemClock()
    ids: Ids = rest.pop("ids", None) or TimeOrderedIds()
    model = None if isinstance(rest.get("consolidation", ""), str) else rest.pop("consolidation")
    settings = load_settings(rest)
    parts = _chain(model, settings, clock)
    store, residue = _store(location, settings, clock, ids)
    return assemble(store, clock=clock, ids=ids, settings=settings, residue=residue, parts=parts)


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
) -> Runtime:
    """The parts of an open Holdfast around a store, on the running loop; its worker runs where the settings say so."""
    ids = ids or TimeOrderedIds()
    settings = settings or Settings()
    mirror = _mirror(store, settings, clock) if settings.mirror else None
    consolidation = None
    if parts is not None:
        means = Means(ids=ids, secret=store.facts.secret, when=_when(settings), mirror=mirror is not None)
        consolidation = Consolidation(store, parts.chain, means=means, clock=clock, random=Random(), rules=parts.rules)
    worker = Worker(
        store,
        steps(store, ids, consolidation=consolidation, mirror=mirror),
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
        ),
        worker=worker,
        limits=Limits(message_bytes=settings.max_message_bytes, batch_messages=settings.max_batch_messages),
        residue=residue or _no_files,
        health=dict if parts is None else parts.health,
        mirror=mirror,
        close_models=None if parts is None else parts.close,
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
