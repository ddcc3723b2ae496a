"""Which memories go to the judge together: whole groups that cohere, else the closest pairs. Pure.

Two bounds keep merges from snowballing whatever the geometry. A lineage has at most so many leaves: memories that no
merge made. And each two leaves of a merged memory are neighbours, so that a chain or a star of neighbours does not
become one (complete linkage, as in Defays, "An efficient algorithm for a complete link method", 1977).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memhold.values.records import LINEAGE, Memory

__all__ = ["MAX_SOURCES", "Cluster", "chunks", "leaves", "lost", "size", "spans"]

MAX_SOURCES = 12
"""Most leaves of one merged memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Memories that neighbours connect, in order of number.

    `far` is the distance of each two of them, by their places; `linked` are the pairs that may be merged: near enough,
    not declined, within the bounds of a lineage. `declined` are groups of over two that were, as they now are.
    """

    members: tuple[Memory, ...]
    far: Mapping[tuple[int, int], float]
    linked: frozenset[tuple[int, int]]
    declined: frozenset[frozenset[str]] = frozenset()

    @property
    def cohesive(self) -> bool:
        """Whether each two of its members may be merged."""
        count = len(self.members)
        return len(self.linked) == count * (count - 1) // 2

    @property
    def spread(self) -> float:
        """The distance of its farthest two members."""
        return max(self.far.values(), default=0.0)

    def pairs(self) -> list[tuple[float, Memory, Memory]]:
        """The pairs that may be merged, closest first, then oldest."""
        ordered = sorted(self.linked, key=lambda pair: (self.far[pair], pair))
        return [(self.far[one, other], self.members[one], self.members[other]) for one, other in ordered]


def leaves(memory: Memory) -> int:
    """How many memories that no merge made it stands for."""
    held = _lineage(memory).get("leaves")
    return held if isinstance(held, int) and held > 0 else 1


def lost(memory: Memory) -> tuple[str, ...]:
    """The details that its lineage has dropped so far."""
    held = _lineage(memory).get("lost")
    return tuple(one for one in held if isinstance(one, str)) if isinstance(held, list | tuple) else ()


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


def chunks(cluster: Cluster, *, most: int = MAX_SOURCES) -> list[tuple[Memory, ...]]:
    """A cohesive cluster in parts of at most so many leaves: each grown from its closest pair; one left over stays."""
    left = list(range(len(cluster.members)))
    found: list[tuple[Memory, ...]] = []
    while len(left) > 1:
        pair = min(((i, j) for i in left for j in left if i < j), key=lambda at: (cluster.far[at], at))
        part = list(pair)
        weight = sum(leaves(cluster.members[at]) for at in part)
        for at in sorted(set(left) - set(part), key=lambda at: (_reach(cluster, at, part), at)):
            if weight + leaves(cluster.members[at]) <= most:
                part.append(at)
                weight += leaves(cluster.members[at])
        left = [at for at in left if at not in part]
        found.append(tuple(cluster.members[at] for at in sorted(part)))
    return found


def _reach(cluster: Cluster, at: int, part: Sequence[int]) -> float:
    return max(cluster.far[min(at, other), max(at, other)] for other in part)
