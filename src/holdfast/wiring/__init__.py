"""The one place where parts are chosen and put together; the only reader of settings."""

from __future__ import annotations

import os
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from holdfast.pipeline.limits import Limits
from holdfast.ports import Clock, Ids, Store
from holdfast.runtime import Runtime, RuntimeSettings
from holdfast.settings import Settings, load_settings
from holdfast.system import SystemClock, TimeOrderedIds
from holdfast.upkeep.asked import Asked
from holdfast.upkeep.steps import EMBEDDING, SLOW, steps
from holdfast.upkeep.worker import Worker
from holdfast.wiring.models import (
    HeldModels,
    catalog,
    chain_parts,
    embedding_of,
    key_embedding,
    models_of,
    models_view,
    tokenizer,
)
from holdfast.wiring.stores import data_files, examine_file, no_files, open_kept, open_store, restore, sqlite_path

if TYPE_CHECKING:
    from holdfast.answers import Residue
    from holdfast.chains import ChainParts
    from holdfast.inference import EmbeddingModel
    from holdfast.keeping import Keeper
    from holdfast.pipeline.consolidate.window import When
    from holdfast.pipeline.embedding import Embedding
    from holdfast.providers.catalog import Catalog
    from holdfast.upkeep.consolidation import Consolidation
    from holdfast.upkeep.likeness import Likeness
    from holdfast.wiring.mirror import Mirror

__all__ = [
    "assemble",
    "build",
    "catalog",
    "data_files",
    "examine_file",
    "key_embedding",
    "models_of",
    "models_view",
    "open_store",
    "restore",
    "sqlite_path",
]

_WORKERS = count()


async def build(location: str, given: Mapping[str, Any]) -> Runtime:
    """Open a store with its settings and its worker, on the running loop.

    `clock` and `ids` may stand among the settings: tests pass their own; `consolidation` may be a model, or several,
    and `embedding` an `EmbeddingModel`.
    """
    rest = dict(given)
    clock: Clock = rest.pop("clock", None) or SystemClock()
    ids: Ids = rest.pop("ids", None) or TimeOrderedIds()
    model = None if isinstance(rest.get("consolidation", ""), str) else rest.pop("consolidation")
    judge = None if isinstance(rest.get("adjudication", ""), str) else rest.pop("adjudication")
    own = rest.pop("embedding") if not isinstance(rest.get("embedding", ""), str) else None
    settings = load_settings(rest)
    named = [
        name
        for name, given in ((settings.consolidation, model), (settings.adjudication, judge))
        if name and given is None
    ]
    table = catalog(settings.models) if named else None
    for name in named:
        # A name that is not there is said before the store is opened.
        _catalogued(table, name)
    store, residue, keeper = await open_kept(location, settings, clock, ids)
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
        model=own,
        held=held,
    )


def _catalogued(table: Catalog | None, name: str) -> None:
    """Say that the catalog has no such chain or model, where it has none."""
    if table is not None:
        table.chain(name)


def assemble(
    store: Store,
    *,
    clock: Clock,
    ids: Ids | None = None,
    settings: Settings | None = None,
    residue: Callable[[str], Residue] | None = None,
    parts: ChainParts | None = None,
    judges: ChainParts | None = None,
    model: EmbeddingModel | None = None,
    keeper: Keeper | None = None,
    held: HeldModels | None = None,
) -> Runtime:
    """The parts of an open Holdfast around a store, on the running loop; its worker runs where the settings say so."""
    ids = ids or TimeOrderedIds()
    settings = settings or Settings()
    mirror = _mirror(store, settings, clock)
    embedding = embedding_of(settings.embedding, model, held)
    worker = _worker(
        store, settings, ids=ids, clock=clock, parts=parts, judges=judges, mirror=mirror, embedding=embedding
    )
    if settings.worker:
        worker.start()
    return Runtime(
        store=store,
        clock=clock,
        ids=ids,
        settings=_for_verbs(settings, consolidates=parts is not None),
        embedding=embedding,
        worker=worker,
        asked=Asked(store, ids=ids, life=timedelta(days=settings.mid_tier_days)),
        limits=Limits(message_bytes=settings.max_message_bytes, batch_messages=settings.max_batch_messages),
        residue=residue or no_files,
        health=dict if parts is None else parts.health,
        mirror=mirror,
        close_models=None if held is None else held.close,
        keeper=keeper,
        tokenizer=tokenizer,
    )


def _worker(
    store: Store,
    settings: Settings,
    *,
    ids: Ids,
    clock: Clock,
    parts: ChainParts | None,
    judges: ChainParts | None,
    mirror: Mirror | None,
    embedding: Embedding | None,
) -> Worker:
    """What does the due work of a store."""
    consolidation = None
    if parts is not None:
        consolidation = _consolidation(store, parts, settings, clock=clock, ids=ids, mirrored=mirror is not None)

    def likeness() -> Likeness:
        from holdfast.upkeep.likeness import Likeness

        return Likeness(
            store,
            ids=ids,
            embedding=embedding,
            chain=None if judges is None else judges.chain,
            spent=None if judges is None else judges.spent,
            own_threshold=settings.key_threshold,
        )

    return Worker(
        store,
        steps(
            store,
            ids,
            raw_chars=settings.raw_chars,
            consolidation=consolidation,
            mirror=mirror,
            embedding=embedding,
            likeness=likeness,
        ),
        clock=clock,
        owner=f"{socket.gethostname()}:{os.getpid()}:{next(_WORKERS)}",
        random=Random(),
        poll_seconds=settings.poll_seconds,
        slow=() if consolidation is None else SLOW,
        apart=EMBEDDING,
        fresh=_all([one.fresh for one in (parts, judges) if one is not None]),
        sweep=_swept(
            [
                *([] if consolidation is None else [consolidation.sweep_all]),
                *([] if mirror is None else [mirror.sweep_all]),
                *([] if judges is None else [lambda: likeness().sweep()]),
            ]
        ),
    )


def _all(each: Sequence[Callable[[], None] | None]) -> Callable[[], None] | None:
    """One function that calls each that is there; None where none is."""
    found = [one for one in each if one is not None]

    def run() -> None:
        for one in found:
            one()

    return run if found else None


def _swept(each: Sequence[Callable[[], Awaitable[None]]]) -> Callable[[], Awaitable[None]] | None:
    """The same for what is awaited."""

    async def run() -> None:
        for one in each:
            await one()

    return run if each else None


def _for_verbs(settings: Settings, *, consolidates: bool) -> RuntimeSettings:
    return RuntimeSettings(
        idempotency_days=settings.idempotency_days,
        raw_chars=settings.raw_chars,
        drain_seconds=settings.drain_seconds,
        when=_when(settings) if consolidates else None,
        recall_timeout=settings.recall_timeout,
        mid_tier_days=settings.mid_tier_days,
        crossover_turn_threshold=settings.crossover_turn_threshold,
        context_tail=settings.context_tail,
        context_slot_timeout=settings.context_slot_timeout,
        context_consolidate_share=settings.context_consolidate_share,
        context_model=settings.context_model,
    )


def _when(settings: Settings) -> When:
    from holdfast.pipeline.consolidate.window import When

    return When(
        messages=settings.consolidate_messages,
        tokens=settings.consolidate_tokens,
        idle=timedelta(seconds=settings.consolidate_idle_seconds),
        keep=settings.consolidate_keep_messages,
        part_tokens=settings.consolidate_part_tokens,
        tool_chars=settings.consolidate_tool_chars,
        skip=tuple(pattern.strip() for pattern in settings.consolidate_skip.split(",") if pattern.strip()),
    )


def _mirror(store: Store, settings: Settings, clock: Clock) -> Mirror | None:
    if not settings.mirror:
        return None
    from holdfast.wiring.mirror import Mirror

    return Mirror(store, Path(settings.mirror).expanduser(), clock=clock, summaries=settings.mirror_summaries)


def _consolidation(
    store: Store, parts: ChainParts, settings: Settings, *, clock: Clock, ids: Ids, mirrored: bool
) -> Consolidation:
    from holdfast.pipeline.consolidate.hold import Means
    from holdfast.upkeep.consolidation import Consolidation

    means = Means(
        ids=ids,
        secret=store.facts.secret,
        when=_when(settings),
        life=timedelta(days=settings.mid_tier_days),
        raw_chars=settings.raw_chars,
        mirror=mirrored,
    )
    return Consolidation(
        store, parts.chain, means=means, clock=clock, random=Random(), rules=parts.rules, spent=parts.spent
    )
