"""Compaction's parts, by the settings."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.pipeline.compact.groups import Bounds
from holdfast.settings import Settings
from holdfast.upkeep.judging import Judge

if TYPE_CHECKING:
    from holdfast.chains import ChainParts

__all__ = ["bounds_of", "judge_of"]


def judge_of(parts: ChainParts | None) -> Judge | None:
    """The judge that a chain is; none where it has no model but rules."""
    if parts is None or set(parts.chain.models) <= parts.rules:
        return None
    return Judge(chain=parts.chain, rules=parts.rules, spent=parts.spent)


def bounds_of(settings: Settings) -> Bounds:
    """When compaction runs, and what it may take together."""
    return Bounds(
        memories=settings.compact_memories,
        wait=timedelta(minutes=settings.compact_minutes),
        max_chars=settings.max_merge_input_chars,
        distance=settings.compact_distance,
        word_distance=settings.compact_word_distance,
        calls=settings.compact_calls,
    )
