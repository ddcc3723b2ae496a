"""Notes that add to each other: compaction links them, and whoever is told one is told the others with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memhold.journal.visibility import sees
from memhold.ports.transaction import ReadTx
from memhold.values.records import TOGETHER, Memory, Message

__all__ = ["named_by", "told_with", "with_linked"]


def told_with(tx: ReadTx, items: Iterable[Message | Memory]) -> Mapping[str, tuple[Memory, ...]]:
    """By id the current memories that are told together with some of these, oldest first."""
    named = {item.id: _named(item) for item in items if isinstance(item, Memory)}
    wanted = sorted({one for ids in named.values() for one in ids})
    there = {one.id: one for one in tx.find_memories(wanted) if one.state == "active" and sees(tx.scope, one)}
    found = {id_: [there[one] for one in ids if one in there] for id_, ids in named.items()}
    return {id_: tuple(sorted(ones, key=lambda one: one.number)) for id_, ones in found.items() if ones}


def with_linked(tx: ReadTx, items: Sequence[Message | Memory], limit: int) -> list[Message | Memory]:
    """The items with what is told together with each right behind it; at most so many."""
    linked = told_with(tx, items)
    if not linked:
        return list(items)
    every: dict[str, Message | Memory] = {}
    for item in items:
        every |= {one.id: one for one in (item, *linked.get(item.id, ())) if one.id not in every}
    return list(every.values())[:limit]


def named_by(items: Iterable[Memory]) -> frozenset[str]:
    """The ids of what is told together with some of these."""
    return frozenset(one for item in items for one in _named(item))


def _named(memory: Memory) -> list[str]:
    named = memory.metadata.get(TOGETHER)
    return [one for one in named if isinstance(one, str)] if isinstance(named, list | tuple) else []
