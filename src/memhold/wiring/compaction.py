"""Compaction, by the settings: put together when the first work for it comes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta, tzinfo
from functools import cache
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memhold.compact.compaction_step import Compaction
    from memhold.compact.judging import Judge
    from memhold.compact.rollup.rollup_step import RollUps
    from memhold.facts.changed_notes import Bounds
    from memhold.history.retention_step import Retaining
    from memhold.index.embedding import Embedding
    from memhold.ports.stores import Clock, Ids, Store
    from memhold.recall.recall import Caches
    from memhold.wiring.chains import ChainParts
    from memhold.wiring.settings import Settings

__all__ = ["Upkeepers", "caches_once", "compaction_once", "retaining_by", "rollups_once"]

_MB = 1024 * 1024


def caches_once(cache_mb: int, zone: tzinfo | None) -> Callable[[], Caches]:
    """What gives the caches of an open store, of so many MB: the same ones each time, made at the first."""

    @cache
    def made() -> Caches:
        from memhold.recall.recall import Caches

        return Caches(cache_mb * _MB, zone)

    return made


class Upkeepers(NamedTuple):
    """Whose settings, time and ids upkeep goes by, and under which name it holds its work."""

    settings: Settings
    clock: Clock
    ids: Ids
    owner: str


def compaction_once(
    store: Store,
    parts: ChainParts | None,
    embedding: Embedding | None,
    caches: Callable[[], Caches],
    upkeep: Upkeepers,
) -> Callable[[], Compaction]:
    """What gives the compaction of an open store: the same one each time, made at the first."""

    @cache
    def made() -> Compaction:
        from memhold.compact.apply import Merger
        from memhold.compact.compaction_step import Compaction

        return Compaction(
            store=store,
            judge=_judge(parts),
            embedding=embedding,
            caches=caches(),
            merger=Merger(ids=upkeep.ids, secret=store.facts.secret, mirror=bool(upkeep.settings.mirror)),
            bounds=_bounds(upkeep.settings),
            clock=upkeep.clock,
            random=Random(),
            owner=f"{upkeep.owner}:compact",
        )

    return made


def rollups_once(store: Store, parts: ChainParts | None, upkeep: Upkeepers) -> Callable[[], RollUps] | None:
    """What gives the roll-ups of an open store; None where the settings want none, or there is no model."""
    if not upkeep.settings.rollups or not _judges(parts):
        return None

    @cache
    def made() -> RollUps:
        from memhold.compact.apply import Merger
        from memhold.compact.rollup.rollup_step import RollUps
        from memhold.journal.windows import PART_TOKENS

        judge = _judge(parts)
        assert judge is not None  # noqa: S101 - asked above
        return RollUps(
            store=store,
            judge=judge,
            merger=Merger(ids=upkeep.ids, secret=store.facts.secret, mirror=bool(upkeep.settings.mirror)),
            bounds=_bounds(upkeep.settings),
            most_tokens=PART_TOKENS,
            clock=upkeep.clock,
            random=Random(),
            owner=f"{upkeep.owner}:rollup",
        )

    return made


def retaining_by(store: Store, by: Upkeepers) -> Retaining | None:
    """What hides what the settings do not keep; None where they keep everything."""
    settings = by.settings
    if not (settings.retain_days or settings.retain_unused_days or settings.retain_most):
        return None
    from memhold.history.retention import KEPT_KINDS, Retention
    from memhold.history.retention_step import Retaining

    named = {kind.strip() for kind in settings.retain_kinds.split(",")}
    rules = Retention(
        kinds=tuple(kind for kind in KEPT_KINDS if kind in named),
        older_than=timedelta(days=settings.retain_days) if settings.retain_days else None,
        unused_for=timedelta(days=settings.retain_unused_days) if settings.retain_unused_days else None,
        most=settings.retain_most or None,
    )
    return Retaining(store, rules, ids=by.ids, mirror=bool(settings.mirror))


def _judges(parts: ChainParts | None) -> bool:
    return parts is not None and not set(parts.chain.models) <= parts.rules


def _judge(parts: ChainParts | None) -> Judge | None:
    """The judge that a chain is; none where it has no model but rules."""
    from memhold.compact.judging import Judge

    if parts is None or not _judges(parts):
        return None
    return Judge(chain=parts.chain, rules=parts.rules, second=parts.second, spent=parts.spent)


def _bounds(settings: Settings) -> Bounds:
    from memhold.facts.changed_notes import Bounds

    return Bounds(daily=settings.compact_daily_calls)
