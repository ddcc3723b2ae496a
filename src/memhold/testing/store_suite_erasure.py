"""Store suite: what is erased is gone from every method and leaves a tombstone; what is hidden can come back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memhold.ports.stores import Ids, Store
from memhold.ports.transaction import WriteTx
from memhold.testing.clock import FakeClock
from memhold.testing.store_suite_rows import ALICE, OTHERS, add_change, add_note, everything, later, need_session, say
from memhold.values.errors import RevisionConflict, StoreError
from memhold.values.records import Change, Memory, MemoryQuote, Message

__all__ = ["ErasureCases"]

_CANARY = "xylophone-canary"
_DIGEST = b"\x07" * 32


@pytest.mark.asyncio
class ErasureCases:
    """Erasing leaves a tombstone and nothing else."""

    async def test_erased_rows_are_gone_from_every_method(self, store: Store, ids: Ids, clock: FakeClock) -> None:
        message, memory, other = await store.write(ALICE, lambda tx: _planted(tx, ids))
        clock.advance(5)
        second = replace(memory, rev=2, topics=(_CANARY, "again"), recorded_at=later(5))
        await store.write(ALICE, lambda tx: tx.put_memory(second))
        clock.advance(5)

        def erase(tx: WriteTx) -> str:
            change = add_change(tx, ids, verb="forget")
            tx.erase_messages([message.id], change.id)
            tx.erase_memories([memory.id], change.id, digests={memory.id: _DIGEST})
            tx.drop_sources([message.id, memory.id])
            return change.id

        change_id = await store.write(ALICE, erase)
        named = (message.id, memory.id, other.id, change_id)
        seen = await store.read(ALICE, lambda tx: everything(tx, ids=named, digests=(_DIGEST,)))
        assert _CANARY not in repr(seen)
        assert await store.read(ALICE, lambda tx: tx.revisions(memory.id)) == []
        stones = await store.read(ALICE, lambda tx: (tx.tombstone(message.id), tx.tombstone(memory.id)))
        assert [(stone.id, stone.at, stone.change_id, stone.digest) for stone in stones if stone] == [
            (message.id, later(10), change_id, None),
            (memory.id, later(10), change_id, _DIGEST),
        ]
        assert await store.read(ALICE, lambda tx: tx.tombstone(other.id)) is None
        [kept] = await store.read(ALICE, lambda tx: tx.find_memories([other.id]))
        assert kept == replace(other, sources=("msg_stays",)), "no new revision, the other source stays"
        assert await store.read(ALICE, lambda tx: tx.derived([message.id, memory.id])) == []

    @pytest.mark.parametrize("others", [0, 40])
    async def test_a_memory_that_stays_has_no_words_of_an_erased_line(
        self, store: Store, ids: Ids, others: int
    ) -> None:
        gone, stays = await store.write(ALICE, lambda tx: [*say(tx, ids, "gone"), *say(tx, ids, "stays")])
        quotes = tuple(MemoryQuote(message_id=line.id, text=f"{_CANARY} {line.text}") for line in (gone, stays))
        note = await store.write(ALICE, lambda tx: add_note(tx, ids, "a note"))
        await store.write(ALICE, lambda tx: tx.put_memory(replace(note, rev=2, quotes=quotes)))
        await store.write(ALICE, lambda tx: tx.put_memory(replace(note, rev=3, quotes=quotes)))
        await store.write(ALICE, lambda tx: tx.drop_sources([gone.id, *(f"msg_other{n}" for n in range(others))]))
        first, *later_ones = await store.read(ALICE, lambda tx: tx.revisions(note.id))
        assert first.quotes == ()
        assert [one.quotes for one in later_ones] == [quotes[1:]] * 2, "in no revision of it"
        await store.write(ALICE, lambda tx: tx.drop_sources([stays.id]))
        every = await store.read(ALICE, lambda tx: tx.revisions(note.id))
        assert [one.quotes for one in every] == [()] * 3

    async def test_changes_keep_ids_and_reasons_and_lose_their_detail(self, store: Store, ids: Ids) -> None:
        message, memory, other = await store.write(ALICE, lambda tx: _planted(tx, ids))
        before = await store.read(ALICE, lambda tx: tx.changes())
        assert [bool(change.detail) for change in before] == [True, True, True]
        await store.write(ALICE, lambda tx: tx.erase_messages([message.id], "chg_x"))
        after = await store.read(ALICE, lambda tx: tx.changes())
        assert after == [before[0], replace(before[1], detail={}), before[2]]
        await store.write(ALICE, lambda tx: tx.erase_memories([memory.id], "chg_x", digests={}))
        after = await store.read(ALICE, lambda tx: tx.changes())
        assert after == [replace(before[0], detail={}), replace(before[1], detail={}), before[2]]
        assert other.id == before[2].effects[0].memory_id

    async def test_blocked_content_is_the_one_whose_digest_was_left(self, store: Store, ids: Ids) -> None:
        one, two = [await store.write(ALICE, lambda tx: add_note(tx, ids, "text", digest=_DIGEST)) for _ in range(2)]
        assert not await store.read(ALICE, lambda tx: tx.blocked(_DIGEST))
        await store.write(ALICE, lambda tx: tx.erase_memories([one.id], "chg_x", digests={}))
        assert not await store.read(ALICE, lambda tx: tx.blocked(_DIGEST))
        await store.write(ALICE, lambda tx: tx.erase_memories([two.id], "chg_x", digests={two.id: _DIGEST}))
        assert await store.read(ALICE, lambda tx: tx.blocked(_DIGEST))
        assert not await store.read(ALICE, lambda tx: tx.blocked(b"\x08" * 32))

    async def test_a_stale_revision_does_not_bring_back_what_was_erased(self, store: Store, ids: Ids) -> None:
        note = await store.write(ALICE, lambda tx: add_note(tx, ids, _CANARY))
        await store.write(ALICE, lambda tx: tx.erase_memories([note.id], "chg_x", digests={}))
        with pytest.raises(RevisionConflict):
            await store.write(ALICE, lambda tx: tx.put_memory(replace(note, rev=2)))
        assert await store.read(ALICE, lambda tx: tx.find_memories([note.id])) == []

    async def test_numbers_and_places_of_erased_rows_are_not_used_again(self, store: Store, ids: Ids) -> None:
        messages = await store.write(ALICE, lambda tx: say(tx, ids, "a", "b"))
        await store.write(ALICE, lambda tx: tx.erase_messages([m.id for m in messages], "chg_x"))
        [new] = await store.write(ALICE, lambda tx: say(tx, ids, "c"))
        assert new.number == messages[-1].number + 1
        assert new.seq == messages[-1].seq + 1

    async def test_erasing_what_is_not_there_leaves_nothing(self, store: Store, ids: Ids) -> None:
        def erase(tx: WriteTx) -> None:
            tx.erase_messages(["msg_none"], "chg_x")
            tx.erase_memories(["mem_none"], "chg_x", digests={"mem_none": _DIGEST})
            tx.drop_sources(["msg_none"])

        note = await store.write(OTHERS[0], lambda tx: add_note(tx, ids, "stays"))
        await store.write(ALICE, erase)
        await store.write(ALICE, lambda tx: tx.erase_memories([note.id], "chg_x", digests={note.id: _DIGEST}))
        asked = ("msg_none", "mem_none", note.id)
        assert await store.read(ALICE, lambda tx: everything(tx, ids=asked, digests=(_DIGEST,))) == []
        assert await store.read(OTHERS[0], lambda tx: tx.find_memories([note.id])) == [note]

    async def test_erasing_twice_keeps_the_first_tombstone(self, store: Store, ids: Ids, clock: FakeClock) -> None:
        note = await store.write(ALICE, lambda tx: add_note(tx, ids, "text"))
        await store.write(ALICE, lambda tx: tx.erase_memories([note.id], "chg_1", digests={note.id: _DIGEST}))
        first = await store.read(ALICE, lambda tx: tx.tombstone(note.id))
        clock.advance(5)
        await store.write(ALICE, lambda tx: tx.erase_memories([note.id], "chg_2", digests={}))
        assert await store.read(ALICE, lambda tx: tx.tombstone(note.id)) == first
        assert first is not None

    async def test_hidden_rows_are_in_no_read_until_they_are_revealed(
        self, store: Store, ids: Ids, clock: FakeClock
    ) -> None:
        message, memory, other = await store.write(ALICE, lambda tx: _planted(tx, ids))
        [last] = await store.write(ALICE, lambda tx: say(tx, ids, "stays"))
        named = (message.id, memory.id)
        shown = await store.read(ALICE, lambda tx: everything(tx, ids=named, digests=(_DIGEST,)))
        clock.advance(5)
        await store.write(ALICE, lambda tx: tx.hide([*named, "mem_none"], "chg_1"))
        seen = await store.read(ALICE, lambda tx: everything(tx, ids=named, digests=(_DIGEST,)))
        assert _CANARY not in repr([row for row in seen if not isinstance(row, Change)])
        assert await store.read(ALICE, lambda tx: tx.find_numbers([message.number, memory.number])) == []
        assert await store.read(ALICE, lambda tx: tx.held(as_of=later(2), known_at=later(2))) == [other]
        assert await store.read(ALICE, lambda tx: tx.messages("s1", limit=1, newest=True)) == [last]
        assert await store.read(ALICE, lambda tx: tx.messages("s1", limit=1)) == [last]
        await store.write(ALICE, lambda tx: tx.hide([memory.id, other.id], "chg_2"))
        by = await store.read(ALICE, lambda tx: [tx.hidden(by=one) for one in ("chg_1", "chg_2", "chg_3")])
        assert [[item.id for item in found] for found in by] == [[message.id, memory.id], [other.id], []]
        assert len(await store.read(ALICE, lambda tx: tx.hidden())) == 3
        await store.write(ALICE, lambda tx: tx.reveal("chg_2"))
        assert await store.read(ALICE, lambda tx: tx.find_memories([memory.id, other.id])) == [other]
        await store.write(ALICE, lambda tx: tx.reveal("chg_1"))
        assert await store.read(ALICE, lambda tx: everything(tx, ids=named, digests=(_DIGEST,))) == shown

    async def test_a_revision_of_what_is_hidden_stays_hidden(self, store: Store, ids: Ids) -> None:
        note = await store.write(ALICE, lambda tx: add_note(tx, ids, _CANARY))
        await store.write(ALICE, lambda tx: tx.hide([note.id], "chg_1"))
        second = replace(note, rev=2, evidence=1)
        try:
            await store.write(ALICE, lambda tx: tx.put_memory(second))
        except RevisionConflict:
            second = note
        assert await store.read(ALICE, lambda tx: everything(tx, ids=(note.id,))) == []
        await store.write(ALICE, lambda tx: tx.reveal("chg_1"))
        assert await store.read(ALICE, lambda tx: tx.find_memories([note.id])) == [second]

    async def test_hidden_rows_can_be_erased(self, store: Store, ids: Ids) -> None:
        message, memory, _ = await store.write(ALICE, lambda tx: _planted(tx, ids))
        named = (message.id, memory.id)

        def forget(tx: WriteTx) -> None:
            tx.hide(named, "chg_1")
            tx.erase_messages(named[:1], "chg_2")
            tx.erase_memories(named[1:], "chg_2", digests={})
            tx.reveal("chg_1")

        await store.write(ALICE, forget)
        assert await store.read(ALICE, lambda tx: (tx.find_messages(named), tx.find_memories(named))) == ([], [])
        stones = await store.read(ALICE, lambda tx: [tx.tombstone(one) for one in named])
        assert [stone and stone.id for stone in stones] == [*named]

    async def test_a_session_is_erased_once_it_is_empty(self, store: Store, ids: Ids) -> None:
        messages = await store.write(ALICE, lambda tx: say(tx, ids, "a", "b"))
        session = await store.read(ALICE, lambda tx: tx.session("s1"))
        assert session is not None
        await store.write(ALICE, lambda tx: tx.hide([message.id for message in messages], "chg_1"))
        with pytest.raises(StoreError):
            await store.write(ALICE, lambda tx: tx.erase_session("s1"))
        assert await store.read(ALICE, lambda tx: tx.session("s1")) == session
        await store.write(ALICE, lambda tx: tx.erase_messages([message.id for message in messages], "chg_2"))
        await store.write(ALICE, lambda tx: tx.erase_session("s1"))
        await store.write(ALICE, lambda tx: tx.erase_session("never there"))
        assert await store.read(ALICE, lambda tx: (tx.sessions(), tx.session("s1"))) == ([], None)
        again = await store.write(ALICE, lambda tx: need_session(tx, ids))
        assert again.number > session.number


def _planted(tx: WriteTx, ids: Ids) -> tuple[Message, Memory, Memory]:
    body = {"role": "user", "content": _CANARY}
    [message] = say(tx, ids, _CANARY, body=body, metadata={"k": _CANARY})
    memory = add_note(
        tx, ids, _CANARY, sources=("msg_x",), digest=_DIGEST, entities=(_CANARY,), metadata={"m": _CANARY}
    )
    other = add_note(tx, ids, "innocent", sources=(memory.id, "msg_stays", message.id))
    add_change(tx, ids, memory, detail={"reply": _CANARY})
    add_change(tx, ids, sources=(message.id,), detail={"reply": _CANARY})
    add_change(tx, ids, other, detail={"reply": "innocent"})
    return message, memory, other
