"""A context whose caller goes away, and what time and forgetting do to what it shows."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from memhold import AsyncMemhold
from memhold.testing import FakeClock
from tests.test_context_verb import only_late_slots_are_left, turn, wrapped

NEW = [{"role": "user", "content": "which gate?"}]


async def test_a_context_that_is_cancelled_leaves_nothing_running():
    async with wrapped() as (opened, store, clock):
        alice = opened.scope(user="alice", session="s")
        await alice.add(turn(1))
        store.hanging.add("related")
        before = asyncio.all_tasks()
        asked = asyncio.create_task(alice.context(NEW))
        await only_late_slots_are_left({"memories", "messages"}, clock)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        for _ in range(5):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == before


async def test_what_is_pinned_outlives_its_time_in_a_context_as_in_recall():
    clock = FakeClock()
    async with AsyncMemhold.open("memory://", worker=False, clock=clock) as opened:
        alice = opened.scope(user="alice")
        until = clock.now() + timedelta(days=1)
        kept = await alice.remember("parks at gate seven", expires_at=until, pinned=True)
        over = await alice.remember("waits at gate eight", expires_at=until)
        assert {kept.memory.id, over.memory.id} <= set((await alice.context(NEW)).shown)
        clock.advance(2 * 86_400)
        assert [hit.id for hit in (await alice.recall("gate")).hits] == [kept.memory.id]
        assert (await alice.context(NEW)).shown == (kept.memory.id,)


async def test_messages_that_were_forgotten_are_not_said_to_be_left_out():
    async with AsyncMemhold.open("memory://", worker=False) as opened:
        alice = opened.scope(user="alice", session="s")
        roles = ("user", "assistant")
        ids = (await alice.add([{"role": roles[at % 2], "content": f"{at} " + "word " * 40} for at in range(80)])).ids

        async def unread():
            context = await alice.context(NEW, budget=4000, reserve=500, strategy="full_history")
            return [one.count for one in context.dropped if one.id is None]

        assert await unread() == [16]
        for one in ids[:16]:
            await alice.forget(one)
        assert await unread() == []
