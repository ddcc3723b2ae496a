"""Context and consolidation: where the window begins, and what is consolidated before it falls out."""

from __future__ import annotations

import asyncio

import pytest

from memhold import AsyncMemhold
from memhold.testing import FakeClock
from memhold.testing.scripted import ScriptedChat, sensible_reply
from tests import constants


def turns(first, last):
    return [
        one
        for number in range(first, last)
        for one in (
            {"role": "user", "content": f"question {number} of the rain in Lisbon"},
            {"role": "assistant", "content": f"answer {number}"},
        )
    ]


@pytest.fixture(params=["memory", "sqlite"])
async def opened(request, tmp_path, monkeypatch):
    location = "memory://" if request.param == "memory" else str(tmp_path / "x.db")
    held = []

    async def open_one(model, keep=8, **more):
        constants.when(monkeypatch, tokens=10_000_000, keep=keep)
        settings = {
            "clock": FakeClock(),
            "worker": False,
            "consolidation": model,
            "consolidate_messages": 10_000,
            **more,
        }
        held.append(AsyncMemhold.open(location, **settings))
        return await held[-1].__aenter__()

    yield open_one
    for one in held:
        await one.__aexit__(None, None, None)


def said(context):
    """The numbers of the questions that stand in the window itself."""
    users = [one["content"] for one in context.messages if one["role"] == "user"]
    return [int(text.split()[1]) for text in users if text.startswith("question")]


async def test_the_last_turns_stay_in_the_window_when_they_are_consolidated(opened):
    mem = await opened(ScriptedChat([sensible_reply] * 9), keep=4)
    alice = mem.scope(user="alice", session="s")
    await alice.add(turns(0, 10))
    await alice.consolidate()
    context = await alice.context([{"role": "user", "content": "and?"}], strategy="full_history")
    assert said(context) == [8, 9]
    assert any(one.startswith("mem_") for one in context.shown), "its summary is there"
    assert not [one for one in context.dropped if one.slot == "window"]


async def test_an_ended_session_begins_a_clean_window_before_any_model_has_read_it(opened):
    mem = await opened(ScriptedChat([sensible_reply] * 9))
    alice = mem.scope(user="alice", session="s")
    await alice.add(turns(0, 5))
    await alice.end_session()
    assert said(await alice.context([{"role": "user", "content": "and?"}], strategy="full_history")) == []
    await alice.add(turns(5, 6))
    assert said(await alice.context([{"role": "user", "content": "and?"}], strategy="full_history")) == [5]


@pytest.mark.parametrize("strategy", ["full_history", "memory_first", "adaptive"])
async def test_what_will_fall_out_is_consolidated_before_it_falls(opened, strategy):
    mem = await opened(ScriptedChat([sensible_reply] * 99), keep=4, context_consolidate_share=0.5)
    alice = mem.scope(user="alice", session="s")
    new = [{"role": "user", "content": "and?"}]
    await alice.add(turns(0, 3))
    await alice.context(new, budget=1500, strategy=strategy)
    await mem.settle()
    assert (await alice.list(kinds=["summary"])).items == (), "the window is far from full"
    await alice.add(turns(3, 20))
    await alice.context(new, budget=1500, strategy=strategy)
    await mem.settle()
    [summary] = (await alice.list(kinds=["summary"])).items
    assert len(summary.sources) == 36, "all but the last turns"
    later = await alice.context(new, budget=1500, strategy="full_history")
    assert said(later) == [18, 19]
    assert summary.id in later.shown


async def test_it_is_asked_for_once_and_only_where_it_is_set(opened):
    model = ScriptedChat([sensible_reply] * 9)
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s")
    await alice.add(turns(0, 40))
    await alice.context([{"role": "user", "content": "and?"}], budget=1500)
    await mem.settle()
    assert (await alice.list(kinds=["summary"])).items == ()


async def test_sessions_that_are_never_consolidated_stay_so(opened):
    mem = await opened(ScriptedChat([sensible_reply] * 9), context_consolidate_share=0.1)
    script = mem.scope(user="alice", session="script:x")
    await script.add(turns(0, 40))
    await script.context([{"role": "user", "content": "and?"}], budget=1500)
    await mem.settle()
    assert (await script.list(kinds=["summary"])).items == ()


class Waiting:
    """A model that is asked, and answers only when it is let go."""

    name = "waiting"

    def __init__(self):
        self.asked, self.let = asyncio.Event(), asyncio.Event()

    async def chat(self, request):
        self.asked.set()
        await self.let.wait()
        return sensible_reply(request)


async def test_the_worker_is_woken_and_context_waits_for_nobody(opened):
    model = Waiting()
    mem = await opened(model, worker=True, context_consolidate_share=0.5, poll_seconds=10_000.0)
    alice = mem.scope(user="alice", session="s")
    await alice.add(turns(0, 20))
    context = await alice.context([{"role": "user", "content": "and?"}], budget=1500)
    assert context.degraded == ()
    await asyncio.wait_for(model.asked.wait(), 30)
    more = await alice.context([{"role": "user", "content": "more?"}], budget=3000, strategy="full_history")
    assert said(more) == [*range(20)], "nothing fell out yet"
    model.let.set()
