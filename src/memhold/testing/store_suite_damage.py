"""Store suite: rows that do not agree with their digests any more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from memhold.ports.stores import Ids, Store
from memhold.ports.transaction import Listing, ReadTx
from memhold.testing.store_suite_rows import ALICE, add_change, add_note, say

__all__ = ["DamageCases", "Spoil"]

Spoil: TypeAlias = Callable[[Store, str], Awaitable[bool]]
"""Change what the row of that id says (a text, of a change its reason) behind the store's back; False where nothing can
reach it there."""


@pytest.mark.asyncio
class DamageCases:
    """What is damaged is left out and named, wherever it is read; what cannot be reached is never damaged."""

    @pytest.fixture
    def spoil(self) -> Spoil:
        """Override it where the store keeps its rows outside of the process."""

        async def nothing(store: Store, item: str) -> bool:
            del store, item
            return False

        return nothing

    async def test_a_damaged_row_is_left_out_and_named_by_every_read(
        self, store: Store, ids: Ids, spoil: Spoil
    ) -> None:
        said = await store.write(ALICE, lambda tx: say(tx, ids, "one", "two", "three", "four"))
        notes = await store.write(ALICE, lambda tx: [add_note(tx, ids, text) for text in ("first", "second", "third")])
        spoilt = await spoil(store, said[1].id) and await spoil(store, notes[1].id)
        messages = [one for one in said if not spoilt or one.id != said[1].id]
        memories = [one for one in notes if not spoilt or one.id != notes[1].id]
        numbers = [*(one.number for one in said), *(one.number for one in notes)]
        listing = Listing(limit=2)
        numbered = {said[1].number, notes[1].number}
        reads: list[tuple[Callable[[ReadTx], object], object, int]] = [
            (lambda tx: tx.messages("s1"), messages, 0),
            (lambda tx: tx.messages("s1", limit=2), messages[:2], 0),
            (lambda tx: tx.messages("s1", limit=3, newest=True), messages[-3:], 0),
            (lambda tx: tx.find_messages([one.id for one in said]), messages, 0),
            (lambda tx: tx.find_memories([one.id for one in notes]), memories, 1),
            (lambda tx: tx.find_numbers(numbers), [*messages, *memories], 0),
            (lambda tx: tx.list_memories(listing), memories[:2], 1),
            (lambda tx: [one for one, _ in tx.documents()], [*messages, *memories], 0),
            (lambda tx: tx.revisions(notes[1].id), [] if spoilt else [notes[1]], 1),
        ]
        for place, (work, wanted, kind) in enumerate(reads):
            found, damaged = await store.read(ALICE, lambda tx, w=work: (w(tx), dict(tx.damaged)))  # type: ignore[misc]
            assert found == wanted, place
            assert ((notes if kind else said)[1].id in damaged) == spoilt, place
            assert all(number in numbered for number in damaged.values())

    async def test_pages_of_documents_leave_out_damaged_rows_alone(self, store: Store, ids: Ids, spoil: Spoil) -> None:
        said = await store.write(ALICE, lambda tx: say(tx, ids, "one", "two"))
        one = await store.write(ALICE, lambda tx: add_note(tx, ids, "first"))
        later = await store.write(ALICE, lambda tx: say(tx, ids, "three"))
        other = await store.write(ALICE, lambda tx: add_note(tx, ids, "second"))
        spoilt = [await spoil(store, message.id) for message in said]
        wanted = [one, *later, other] if all(spoilt) else [*said, one, *later, other]

        def paged(tx: ReadTx, limit: int) -> list[object]:
            found: list[object] = []
            after = -1
            while page := tx.documents(after=after, limit=limit):
                found += [item for item, _ in page]
                after = page[-1][0].number
            return found

        for limit in (1, 2, 3, 10):
            assert await store.read(ALICE, lambda tx, most=limit: paged(tx, most)) == wanted  # type: ignore[misc]

    async def test_a_damaged_row_can_be_erased_by_its_id(self, store: Store, ids: Ids, spoil: Spoil) -> None:
        [one] = await store.write(ALICE, lambda tx: say(tx, ids, "one"))
        note = await store.write(ALICE, lambda tx: add_note(tx, ids, "a note"))
        await spoil(store, one.id)
        await spoil(store, note.id)
        await store.write(ALICE, lambda tx: tx.erase_messages([one.id], "chg_x"))
        await store.write(ALICE, lambda tx: tx.erase_memories([note.id], "chg_x", digests={}))

        def left(tx: ReadTx) -> object:
            return tx.documents(), dict(tx.damaged), tx.tombstone(one.id) is None, tx.tombstone(note.id) is None

        assert await store.read(ALICE, left) == ([], {}, False, False)

    async def test_a_damaged_change_is_left_out_and_named_until_it_is_let_stand(
        self, store: Store, ids: Ids, spoil: Spoil
    ) -> None:
        said = await store.write(ALICE, lambda tx: [add_change(tx, ids, verb=verb) for verb in ("add", "pin", "unpin")])
        note = await store.write(ALICE, lambda tx: add_note(tx, ids, "a note"))
        other = await store.write(ALICE, lambda tx: add_change(tx, ids, verb="forget"))
        await store.write(ALICE, lambda tx: tx.erase_memories([note.id], other.id, digests={}))
        spoilt = await spoil(store, said[1].id) and await spoil(store, other.id)
        whole = [one.id for one in said if not spoilt or one.id != said[1].id] + [other.id] * (not spoilt)

        def look(tx: ReadTx) -> object:
            found = [one.id for one in tx.changes()], [one.id for one in tx.changes(limit=2)]
            return *found, tx.find_change(said[1].id) is None, {*tx.damaged}

        wanted = (whole, whole[:2], spoilt, {said[1].id, other.id} if spoilt else set())
        assert await store.read(ALICE, look) == wanted
        assert await store.write(ALICE, lambda tx: tx.let_stand()) == (2 if spoilt else 0)
        stands = await store.read(ALICE, lambda tx: (tx.changes(), dict(tx.damaged)))
        assert [(one.id, one.seq, one.at) for one in stands[0]] == [(one.id, one.seq, one.at) for one in [*said, other]]
        verbs = ["add", "damaged" if spoilt else "pin", "unpin", "forget"]
        assert ([one.verb for one in stands[0]], stands[1]) == (verbs, {})
        assert stands[0][-1].sources == ((note.id,) if spoilt else ())
        assert await store.write(ALICE, lambda tx: tx.let_stand()) == 0
