"""Memories that count as a user's words and rest on no person's: what an older store took for the user's. A read."""

from __future__ import annotations

from collections.abc import Sequence

from memhold.ports.transaction import ReadTx
from memhold.values.records import Memory

__all__ = ["unstated", "without_unstated"]


def unstated(tx: ReadTx, memories: Sequence[Memory]) -> list[Memory]:
    """Those of these memories that were read in messages, none of which holds a person's words.

    What a person confirmed is theirs. A source that is gone says nothing either way.
    """
    held = [one for one in memories if _of_messages(one) and one.last_confirmed_at is None]
    named = sorted({source for one in held for source in one.sources})
    typed = {message.id: message.typed for message in tx.find_messages(named)}
    found = [(one, [typed[source] for source in one.sources if source in typed]) for one in held]
    return [one for one, by_people in found if by_people and not any(by_people)]


def without_unstated(tx: ReadTx, memories: Sequence[Memory]) -> list[Memory]:
    """The memories without those, while it is still being written down who wrote the messages of an older store."""
    if not tx.unattributed(limit=1):
        return [*memories]
    gone = {one.id for one in unstated(tx, memories)}
    return [one for one in memories if one.id not in gone]


def _of_messages(memory: Memory) -> bool:
    read = memory.origin == "model" and memory.trust == "user"
    return memory.kind == "instruction" or (read and memory.kind in {"fact", "note"})
