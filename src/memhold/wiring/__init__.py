"""The one place where parts are chosen and put together; the only reader of settings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from memhold.index.embedding import Embedding
from memhold.messages.limits import Limits
from memhold.ports.processes import this_process
from memhold.ports.stores import Clock, Ids, Redactor, Store
from memhold.upkeep.file_watch import FileWatch
from memhold.verbs.after_answer import AfterAnswer
from memhold.verbs.runtime import Runtime, RuntimeSettings
from memhold.wiring.compaction import Upkeepers, caches_once
from memhold.wiring.health import Healths, look_at_local_servers, warn_of_models
from memhold.wiring.models import (
    HeldModels,
    catalog,
    chain_parts,
    check_embedding,
    embedding_of,
    in_catalog,
    judge_parts,
    key_embedding,
    models_of,
    models_view,
    reranker_of,
    settings_catalog,
    tokenizer,
)
from memhold.wiring.settings import Settings, load_settings, zone_of
from memhold.wiring.stores import data_files, examine_file, no_files, open_kept, open_store, restore, sqlite_path
from memhold.wiring.system import SystemClock, TimeOrderedIds
from memhold.wiring.worker import Chains, mirror_of, when_due, worker_of

if TYPE_CHECKING:
    from memhold.ports.maintenance import Maintenance
    from memhold.ports.models import EmbeddingModel, Reranker
    from memhold.values.answers import Residue
    from memhold.verbs.analysis_pool import AnalysisPool
    from memhold.wiring.chains import ChainParts

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

    `clock` and `ids` may stand among the settings: tests pass their own; a server passes `analysis_processes`, for
    which a program's main module must bear being imported anew; `consolidation` and `compaction` may be a
    model, or several, `embedding` an `EmbeddingModel` and `rerank` a `Reranker`.
    """
    rest = {name: _joined(value) for name, value in given.items()}
    analysis_processes: int = rest.pop("analysis_processes", 0)
    clock: Clock = rest.pop("clock", None) or SystemClock()
    ids: Ids = rest.pop("ids", None) or TimeOrderedIds()
    model = None if isinstance(rest.get("consolidation", ""), str) else rest.pop("consolidation")
    judge = None if isinstance(rest.get("adjudication", ""), str) else rest.pop("adjudication")
    merging = None if isinstance(rest.get("compaction", ""), str) else rest.pop("compaction")
    own = rest.pop("embedding") if not isinstance(rest.get("embedding", ""), str) else None
    reranker = rest.pop("rerank") if not isinstance(rest.get("rerank", ""), str) else None
    settings = load_settings(rest)
    reranker = reranker or reranker_of(settings)
    redactor = _redactor(settings)
    chosen = ((settings.consolidation, model), (settings.adjudication, judge), (settings.compaction, merging))
    named = [name for name, given in chosen if name not in {"", "none"} and given is None]
    embeds = own is None and in_catalog(settings.embedding)
    table = settings_catalog(settings) if named or embeds else None
    if table is not None:
        # A name that is not there is said before the store is opened.
        for name in named:
            table.chain(name)
        if embeds:
            check_embedding(table, settings.embedding)
    opened = await open_kept(location, settings, clock, ids)
    store = opened.store
    known = () if table is None else await store.links.read()
    held = HeldModels(store, settings, clock, table, known)
    parts = chain_parts(model, held, settings, clock)
    judges = chain_parts(judge, held, settings, clock, "adjudication")
    judging = judge_parts(merging, held, settings, clock)
    entries = [entry for chain in (parts, judges, judging) if chain is not None for entry in chain.entries.values()]
    embedding = [check_embedding(table, settings.embedding)] if embeds and table is not None else []
    entries += embedding
    health = Healths(store, entries, held)
    if entries:
        await look_at_local_servers(entries, held)
        found = await health()
        for purpose, chain in (("consolidation", parts), ("adjudication", judges), ("compaction", judging)):
            warn_of_models(() if chain is None else chain.entries, purpose, found)
        warn_of_models([entry.name for entry in embedding], "embedding", found)
    return assemble(
        store,
        Around(
            clock=clock,
            ids=ids,
            settings=settings,
            residue=opened.residue,
            maintenance=opened.maintenance,
            parts=parts,
            judges=judges,
            judge=judging,
            health=health,
            model=own,
            reranker=reranker,
            held=held,
            redactor=redactor,
            analysis_processes=analysis_processes,
            owned=True,
        ),
    )


def _closing(
    embedding: Embedding | None, held: HeldModels | None, reranker: Reranker | None
) -> Callable[[], Awaitable[None]]:
    """Lets go of a question that still runs, then of every connection."""

    async def close() -> None:
        if embedding is not None:
            await embedding.questions.close()
        if reranker is not None:
            await reranker.close()
        if held is not None:
            await held.close()

    return close


def _joined(value: Any) -> Any:
    """A list of names as the one text that a setting is."""
    if isinstance(value, list | tuple) and value and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return value


def _redactor(settings: Settings) -> Redactor | None:
    if settings.redaction == "off":
        return None
    from memhold.journal.secrets import SecretRedactor

    return SecretRedactor("refuse" if settings.redaction == "refuse" else "on")


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What an open Memhold is put together of, around a store; what is left out is as by default, or off."""

    clock: Clock
    ids: Ids = field(default_factory=TimeOrderedIds)
    settings: Settings = field(default_factory=Settings)
    residue: Callable[[str], Residue] | None = None
    parts: ChainParts | None = None
    judges: ChainParts | None = None
    judge: ChainParts | None = None
    model: EmbeddingModel | None = None
    reranker: Reranker | None = None
    maintenance: Maintenance | None = None
    held: HeldModels | None = None
    redactor: Redactor | None = None
    health: Healths | None = None
    analysis_processes: int = 0
    owned: bool = False


def assemble(store: Store, of: Around) -> Runtime:
    """The parts of an open Memhold around a store, on the running loop; its worker runs where the settings say so."""
    clock, ids, settings, parts, held, reranker = of.clock, of.ids, of.settings, of.parts, of.held, of.reranker
    mirror = mirror_of(store, settings, clock)
    embedding = embedding_of(settings.embedding, of.model, held)
    new_caches = caches_once(settings.cache_mb, zone_of(settings.timezone))
    worker, compaction, rollups = worker_of(
        store,
        Upkeepers(settings, clock, ids, f"{this_process()}:{next(_WORKERS)}"),
        Chains(parts, of.judges, of.judge),
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
        reranker=reranker,
        worker=worker,
        after_answer=AfterAnswer(store, ids=ids),
        limits=Limits(),
        residue=of.residue or no_files,
        health=of.health or Healths(store, (), None),
        links=() if parts is None else tuple(parts.entries),
        mirror=mirror,
        close_models=_closing(embedding, held, reranker),
        maintenance=of.maintenance,
        watch=None if of.maintenance is None else FileWatch(of.maintenance.examine_trees),
        tokenizer=partial(tokenizer, models=settings.models),
        redactor=of.redactor,
        analysis_pool=_analysis_pool(of.analysis_processes),
        compaction=compaction,
        rollups=rollups,
        new_caches=new_caches,
        owned=of.owned,
    )
    if settings.worker and not settings.read_only:
        worker.start()
        if runtime.watch is not None:
            runtime.watch.start()
    return runtime


def _analysis_pool(processes: int) -> AnalysisPool | None:
    if not processes:
        return None
    from memhold.verbs.analysis_pool import AnalysisPool

    return AnalysisPool(processes)


def _for_verbs(settings: Settings, *, consolidates: bool) -> RuntimeSettings:
    return RuntimeSettings(
        idempotency_days=settings.idempotency_days,
        drain_seconds=settings.drain_seconds,
        when=when_due(settings) if consolidates else None,
        recall_timeout=settings.recall_timeout,
        context_consolidate_share=settings.context_consolidate_share,
        context_model=settings.context_model,
        zone=zone_of(settings.timezone),
    )
