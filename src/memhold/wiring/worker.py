"""The worker of an open store, by the settings: its steps, and what is put together for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from memhold.upkeep.worker import Worker
from memhold.wiring.compaction import Upkeepers, compaction_once, retaining_by, rollups_once
from memhold.wiring.steps import EMBEDDING, SLOW, Doers, steps

if TYPE_CHECKING:
    from memhold.compact.compaction_step import Compaction
    from memhold.compact.rollup.rollup_step import RollUps
    from memhold.consolidate.consolidation_step import Consolidation
    from memhold.facts.keys_step import Likeness
    from memhold.index.embedding import Embedding
    from memhold.journal.windows import When
    from memhold.ports.stores import Clock, Store
    from memhold.recall.recall import Caches
    from memhold.wiring.chains import ChainParts
    from memhold.wiring.mirror import Mirror
    from memhold.wiring.settings import Settings

__all__ = ["Chains", "mirror_of", "when_due", "worker_of"]


class Chains(NamedTuple):
    """The chains of an open store by purpose; None where none is configured."""

    consolidation: ChainParts | None
    adjudication: ChainParts | None
    compaction: ChainParts | None


def _judging(chains: Chains, telling: ChainParts | None) -> ChainParts | None:
    """Who judges notes: of a chain that only consolidates, none too small for a window in one call (decision 0018)."""
    if chains.compaction is not None or telling is None or telling.judging == "itself":
        return telling
    return telling.judging


def worker_of(
    store: Store,
    by: Upkeepers,
    chains: Chains,
    *,
    mirror: Mirror | None,
    embedding: Embedding | None,
    caches: Callable[[], Caches],
) -> tuple[Worker, Callable[[], Compaction], Callable[[], RollUps] | None]:
    """What does the due work of a store, and the compaction and the roll-ups that it does it with."""
    settings, adjudication = by.settings, chains.adjudication
    consolidation = None if chains.consolidation is None else _consolidation(store, chains.consolidation, by)
    telling = chains.compaction or (None if settings.compaction == "none" else chains.consolidation)
    compaction = compaction_once(store, _judging(chains, telling), embedding, caches, by)
    rollups = rollups_once(store, telling, by)

    def likeness() -> Likeness:
        from memhold.facts.keys_step import Likeness

        return Likeness(
            store,
            ids=by.ids,
            embedding=embedding,
            chain=None if adjudication is None else adjudication.chain,
            spent=None if adjudication is None else adjudication.spent,
            own_threshold=settings.key_threshold,
        )

    retaining = retaining_by(store, by)
    sweeps: list[Callable[[], Awaitable[None]]] = []
    sweeps += [] if consolidation is None else [consolidation.sweep_all]
    sweeps += [] if retaining is None else [retaining.sweep_all]
    sweeps += [] if rollups is None else [lambda: rollups().sweep_all()]
    sweeps += [] if mirror is None else [mirror.sweep_all]
    sweeps += [] if adjudication is None else [lambda: likeness().sweep()]
    worker = Worker(
        store,
        steps(
            store,
            by.ids,
            Doers(
                consolidation=consolidation,
                compaction=compaction,
                mirror=mirror,
                embedding=embedding,
                likeness=likeness,
                retain=None if retaining is None else retaining.step,
                rollups=rollups,
            ),
        ),
        clock=by.clock,
        owner=by.owner,
        random=Random(),
        poll_seconds=settings.poll_seconds,
        slow=SLOW if consolidation is not None else SLOW[:2],
        apart=EMBEDDING,
        fresh=_all([parts.fresh for parts in chains if parts is not None]),
        sweep=_swept(sweeps),
    )
    return worker, compaction, rollups


def _all(each: Sequence[Callable[[], None] | None]) -> Callable[[], None] | None:
    """One function that calls each that is there; None where none is."""
    found = [one for one in each if one is not None]

    def run() -> None:
        for one in found:
            one()

    return run if found else None


def _swept(each: Sequence[Callable[[], Awaitable[None]]]) -> Callable[[], Awaitable[None]] | None:
    """The same for what is awaited; what fails keeps nothing after it from its turn.

    Raises:
        Exception: what the first that failed raised.
    """

    async def run() -> None:
        failed: list[Exception] = []
        for one in each:
            try:
                await one()
            except Exception as error:  # noqa: BLE001 - raised once all had their turn
                failed.append(error)
        if failed:
            raise failed[0]

    return run if each else None


def when_due(settings: Settings) -> When:
    """When windows are due, by the settings."""
    from memhold.journal.windows import When

    return When(
        messages=settings.consolidate_messages,
        idle=timedelta(seconds=settings.consolidate_idle_seconds),
        skip=tuple(pattern.strip() for pattern in settings.consolidate_skip.split(",") if pattern.strip()),
    )


def mirror_of(store: Store, settings: Settings, clock: Clock) -> Mirror | None:
    """What keeps `MEMORY.md` and `HISTORY.md` in the folder that the settings name; None where they name none."""
    if not settings.mirror:
        return None
    from memhold.wiring.mirror import Mirror

    return Mirror(store, Path(settings.mirror).expanduser(), clock=clock)


def _consolidation(store: Store, parts: ChainParts, by: Upkeepers) -> Consolidation:
    from memhold.consolidate.apply_guard import Means
    from memhold.consolidate.consolidation_step import Consolidation

    settings = by.settings
    means = Means(
        ids=by.ids,
        secret=store.facts.secret,
        when=when_due(settings),
        mirror=bool(settings.mirror),
    )
    return Consolidation(
        store, parts.chain, means=means, clock=by.clock, random=Random(), rules=parts.rules, spent=parts.spent
    )
