"""Every write takes an idempotency key: sent twice it is one write (RULES, "Writing")."""

from __future__ import annotations

import pytest

from memhold import AsyncMemhold
from memhold.errors import IdempotencyConflict


async def test_a_pin_and_an_ended_session_are_one_write_however_often_they_are_sent() -> None:
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as mem:
        alice = mem.scope(user="alice", session="s1")
        note = (await alice.remember("Prefers window seats")).memory
        assert note is not None
        first = await alice.pin(note.id, idempotency_key="p")
        again = await alice.pin(note.id, idempotency_key="p")
        assert (first.receipt.replayed, again.receipt.replayed) == (False, True)
        assert first.receipt.change_ids == again.receipt.change_ids
        await alice.unpin(note.id, idempotency_key="u")
        assert (await alice.unpin(note.id, idempotency_key="u")).receipt.replayed
        with pytest.raises(IdempotencyConflict):
            await alice.pin("mem_other", idempotency_key="p")

        await alice.add({"role": "user", "content": "the first window"})
        ended = await alice.end_session(idempotency_key="e")
        await alice.add({"role": "user", "content": "the next window"})
        replay = await alice.end_session(idempotency_key="e")
        assert replay.replayed
        assert replay.ids == ended.ids
        assert [memory.text.count("window") for memory in (await alice.list(kinds=["raw"])).items] == [1]
