"""What a memory that was merged stands for: its leaves, and when the first and the last of them happened. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memhold.values.records import LINEAGE, Memory

__all__ = ["MAX_SOURCES", "leaves", "size", "spans"]

MAX_SOURCES = 12
"""Most leaves of one merged memory: notes that no merge made."""


def leaves(memory: Memory) -> int:
    """How many memories that no merge made it stands for."""
    held = _lineage(memory).get("leaves")
    return held if isinstance(held, int) and held > 0 else 1


def spans(memories: Sequence[Memory]) -> tuple[str, str]:
    """When the first and the last of all that they stand for happened, in UTC."""
    found = []
    for memory in memories:
        held = _lineage(memory).get("times")
        told = [one for one in held if isinstance(one, str)] if isinstance(held, list | tuple) else []
        found += [memory.event_time.isoformat(), *told]
    return min(found), max(found)


def _lineage(memory: Memory) -> Mapping[str, Any]:
    held = memory.metadata.get(LINEAGE)
    return held if isinstance(held, Mapping) else {}


def size(memories: Sequence[Memory]) -> int:
    """Characters that a call about these shows of them."""
    return sum(len(memory.text) for memory in memories)
