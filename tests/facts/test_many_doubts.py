"""Thousands of doubts: their memories are read many at a time, and no more of them than are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from memhold import AsyncMemhold
from memhold.facts.matching import aliases
from memhold.facts.suspicions import list_suspicions
from memhold.facts.undecided_keys import waiting
from memhold.values.records import Memory, Suspicion

DOUBTS = 130


class Counted:
    """A transaction that notes of how many memories at once it was asked."""

    def __init__(self, tx: Any) -> None:
        self._tx = tx
        self.asked: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def find_memories(self, ids: Sequence[str]) -> list[Memory]:
        self.asked.append(len(ids))
        found: list[Memory] = self._tx.find_memories(ids)
        return found


async def test_the_memories_of_many_doubts_are_read_together() -> None:
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        alice = memhold.scope(user="alice")
        told = [await alice.remember(attribute=f"city {number}", value="Lisbon") for number in range(DOUBTS + 1)]
        pairs = [(told[0], one) for one in told[1:]]
        store = memhold._store._runtime.store

        def doubt(tx: Any) -> None:
            for place, (one, other) in enumerate(pairs):
                tx.put_suspicion(
                    Suspicion(
                        id=f"sus_{place:03}", kind="key", memory_id=one.memory.id, other_id=other.memory.id, rule="",
                        at=tx.now, change_id=one.receipt.change_ids[0], settled="different" if place % 2 else None,
                    )
                )  # fmt: skip

        await store.write(alice.scope, doubt)

        def looked(tx: Any) -> list[tuple[int, list[int]]]:
            asks: list[Callable[[Any], Any]] = [
                list_suspicions,
                lambda tx: list_suspicions(tx, settled=True),
                lambda tx: list_suspicions(tx, limit=3),
                lambda tx: waiting(tx, adjudicates=True),
                lambda tx: aliases(tx, tx.suspicions()),
            ]
            found = []
            for ask in asks:
                counted = Counted(tx)
                found.append((len(ask(counted)), counted.asked))
            return found

        opened, every, few, waits, decided = await store.read(alice.scope, looked)
        half = DOUBTS // 2
        assert [one[0] for one in (opened, every, few, waits, decided)] == [half, DOUBTS, 3, half, half]
        assert opened[1] == waits[1] == decided[1] == [half + 1], "one look at the memories of all"
        assert sum(every[1]) == DOUBTS + 2
        assert len(every[1]) == 2, "and of more than are held at once, in two"
