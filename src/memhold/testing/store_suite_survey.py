"""Store suite: what upkeep of derived data may see: every document, hidden ones too, and which ids were ever there."""

from __future__ import annotations

from dataclasses import replace

from memhold.ports.stores import Store
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.testing.ids import SeededIds
from memhold.testing.store_suite_rows import ALICE, BOB, add_note, say

__all__ = ["SurveyCases"]


class SurveyCases:
    """Every document by number, and ids that are or were known."""

    async def test_documents_are_the_current_ones_by_number_with_what_is_hidden(
        self, store: Store, ids: SeededIds
    ) -> None:
        def fill(tx: WriteTx) -> tuple[str, str, str]:
            (first,) = say(tx, ids, "one")
            note = add_note(tx, ids, "two")
            (third,) = say(tx, ids, "three")
            tx.put_memory(replace(note, rev=2, pinned=True, recorded_at=tx.now))
            tx.hide([third.id], ids.new("chg"))
            return first.id, note.id, third.id

        first, note, third = await store.write(ALICE, fill)
        found = await store.read(ALICE, lambda tx: tx.documents())
        assert [(item.id, hidden) for item, hidden in found] == [(first, False), (note, False), (third, True)]
        assert getattr(found[1][0], "rev", None) == 2
        assert await store.read(ALICE, lambda tx: tx.documents(after=0, limit=1)) == found[1:2]
        assert await store.read(BOB, lambda tx: tx.documents()) == []

    async def test_progress_is_the_scopes_own(self, store: Store) -> None:
        def note(tx: WriteTx) -> None:
            tx.put_progress("alike", 7)
            tx.put_progress("copies", 3)
            tx.put_progress("alike", 9)

        def read(tx: ReadTx) -> list[int]:
            return [tx.progress(name) for name in ("alike", "copies", "never")]

        await store.write(ALICE, note)
        assert await store.read(ALICE, read) == [9, 3, 0]
        assert await store.read(BOB, read) == [0, 0, 0]

    async def test_known_are_ids_that_are_or_were_here(self, store: Store, ids: SeededIds) -> None:
        def fill(tx: WriteTx) -> tuple[str, str, str]:
            gone, hidden = say(tx, ids, "gone", "hidden")
            note = add_note(tx, ids, "note")
            tx.hide([hidden.id], ids.new("chg"))
            tx.erase_messages([gone.id], ids.new("chg"))
            return gone.id, hidden.id, note.id

        asked = [*await store.write(ALICE, fill), "msg_never"]

        def known(tx: ReadTx) -> frozenset[str]:
            return tx.known(asked)

        assert await store.read(ALICE, known) == set(asked[:3])
        assert await store.read(BOB, known) == set()
