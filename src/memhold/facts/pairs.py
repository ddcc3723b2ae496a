"""The two memories that each suspicion is about, read many at a time: there may be thousands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from memhold.ports.transaction import ReadTx
from memhold.values.records import Memory, Suspicion

__all__ = ["pairs"]

_AT_ONCE: Final = 100
"""Of how many suspicions the memories are read at once: who takes a few only is not kept for the rest."""


def pairs(tx: ReadTx, suspicions: Iterable[Suspicion]) -> Iterator[tuple[Suspicion, Memory, Memory]]:
    """Each of these suspicions with its memory and the other, in their order; not those of which one is not there."""
    left = iter(suspicions)
    while some := list(islice(left, _AT_ONCE)):
        named = dict.fromkeys(memory_id for one in some for memory_id in (one.memory_id, one.other_id))
        found = {memory.id: memory for memory in tx.find_memories([*named])}
        for one in some:
            memory, other = found.get(one.memory_id), found.get(one.other_id)
            if memory is not None and other is not None:
                yield one, memory, other
