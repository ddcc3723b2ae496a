"""What a transaction reads and writes of facts: their timelines and keys, what speaks of them, what is suspected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from memhold.values.records import Evidence, FactKey, Memory, Suspicion

__all__ = ["FactReads", "FactWrites"]


class FactReads(Protocol):
    """What a transaction reads of facts."""

    def facts(self, *, subject: str, key: str, agent: str | None, since: datetime | None = None) -> list[Memory]:
        """Every fact of this subject, key and exactly this agent, in whatever state, by `valid_from` and number.

        With `since` those alone that a statement of that time can meet: what is active or expired, and of what was
        superseded then or later as much as began until the next that set the value.
        """
        ...

    def fact_key(self, *, subject: str, attribute: str, agent: str | None) -> FactKey | None:
        """The key of the oldest fact of exactly this agent with exactly this wording, or None; one look-up."""
        ...

    def fact_keys(self, agent: str | None) -> list[FactKey]:
        """Each wording of a subject and attribute that facts of exactly this agent have, oldest first, with its key."""
        ...

    def evidence(self, memory_ids: Sequence[str]) -> list[Evidence]:
        """What speaks of these memories, by memory and then in the order it came; of undone changes nothing."""
        ...

    def suspicions(self) -> list[Suspicion]:
        """Every suspicion whose two memories can be read, settled or not, in the order of recording."""
        ...

    def key_vectors(self, fingerprint: str) -> Mapping[bytes, bytes]:
        """Vectors of keys of one embedding generation, by the keyed hash of the key; derived, so any may be missing."""
        ...


class FactWrites(Protocol):
    """What a transaction writes beside facts; a fact itself is a memory."""

    def add_evidence(self, evidence: Evidence) -> None:
        """Note what speaks of a memory; the same thing again is noted once. It goes when the memory is erased."""
        ...

    def move_use(self, memory_id: str, at: datetime) -> None:
        """Set the time of the one piece of evidence that is of no turn (""): when the memory was last asked for."""
        ...

    def count_evidence(self, memory_id: str, *, evidence: int, expires_at: datetime | None) -> None:
        """Set the count and the end of life of a memory's current revision, in place: its `rev` does not move."""
        ...

    def put_suspicion(self, suspicion: Suspicion) -> None:
        """Insert or replace a suspicion by its id. It goes when one of its memories is erased."""
        ...

    def put_key_vectors(self, fingerprint: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep vectors of keys of a generation; those of other generations go, and all go when a memory is erased."""
        ...
