"""How consolidation breaks in the field, line by line, over real HTTP against the chaos server.

After each: nothing lost, nothing twice, the next message works.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from memhold import AsyncMemhold
from memhold.messages.fences import fence
from memhold.testing import ChaosServer
from memhold.testing.chaos import answer
from tests.consolidation.chains import check_facts_once, check_whole, everything, http_chain
from tests.consolidation.test_steps import real_session

OSLO = [{"role": "user", "content": "I live in Oslo."}, {"role": "assistant", "content": "Noted."}]
ACME = {"role": "user", "content": "I work at Acme."}
TEA = {"role": "user", "content": "My favorite drink is tea."}


class Stage:
    """A store, a chaos server, and one session of one user; `added` is every message that must be found again."""

    def __init__(self, server: ChaosServer, mem: AsyncMemhold) -> None:
        self.server, self.mem = server, mem
        self.alice = mem.scope(user="alice", session="s1")
        self.added: list[str] = []
        self.came = asyncio.Event()
        server.watch(lambda request: self.came.set() if request.fault == "hang" else None)

    async def say(self, *messages: dict[str, Any]) -> list[str]:
        ids = list((await self.alice.add(list(messages))).ids)
        self.added += ids
        return ids

    async def holding(self) -> asyncio.Task[bool]:
        """End the session and let the work on it wait in a call that the server holds open."""
        self.server.script(["hang"])
        await self.alice.end_session()
        work = asyncio.create_task(self.mem.settle())
        await asyncio.wait_for(self.came.wait(), 60)
        return work

    async def whole(self) -> dict[str, int]:
        return await check_whole(self.alice, self.added)


async def messages_during_the_call(stage: Stage) -> None:
    work = await stage.holding()
    await stage.say(ACME)
    stage.server.release()
    assert await work
    await stage.alice.end_session()


async def a_new_session_during_the_call(stage: Stage) -> None:
    work = await stage.holding()
    await stage.say(ACME)
    await stage.alice.end_session()
    await stage.alice.end_session()
    stage.server.release()
    assert await work


async def a_forget_during_the_call(stage: Stage) -> None:
    secret = await stage.say({"role": "user", "content": "My secret word is Zanzibar."})
    work = await stage.holding()
    await stage.alice.forget(secret[0], wait=0)
    stage.added.remove(secret[0])
    stage.server.release()
    assert await work
    assert not any("Zanzibar" in m.text for m in await everything(stage.alice))
    assert "Zanzibar" not in json.dumps(stage.server.requests[-1].body), "asked again, without it"


async def two_workers_on_one_session(stage: Stage) -> None:
    work = await stage.holding()
    location = stage.mem._store._runtime.store.facts.location
    chain = http_chain(stage.server, "first", "second", seconds=20.0)
    async with AsyncMemhold.open(location, worker=False, consolidation=chain) as other:
        # The lease is held: the other worker waits for it, and finds nothing left to do.
        second = asyncio.create_task(other.settle())
        for _ in range(20):
            await asyncio.sleep(0)
        stage.server.release()
        assert await work
        assert await second
    await chain.close()
    assert len(stage.server.requests) == 1


async def a_crash_before_the_answer(stage: Stage) -> None:
    work = await stage.holding()
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    stage.server.release()


async def every_model_fails_and_the_session_goes_on(stage: Stage) -> None:
    stage.server.always("html-502")
    await stage.alice.end_session()
    assert not await stage.mem.settle()
    assert await stage.whole() == {"summary": 0, "raw": 2, "pending": 0}
    assert (await stage.alice.recall("Oslo", kinds=["raw"])).hits
    await stage.say(ACME)
    assert [m.text for m in await stage.alice.messages()][-1] == ACME["content"]
    await stage.alice.end_session()
    assert not await stage.mem.settle()
    stage.server.always(None)


async def nothing_found_and_could_not_ask_differ(stage: Stage) -> None:
    stage.server.always("disconnect")
    failed = await stage.alice.consolidate()
    assert failed.raw
    assert failed.last_error
    stage.server.always(None)
    arguments = json.dumps({"history_entry": "", "facts": [], "notes": [], "nothing_to_remember": "a greeting"})
    call = {"id": "c", "type": "function", "function": {"name": "save_memory", "arguments": arguments}}
    reply = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = {"model": "first", "choices": [{"index": 0, "message": reply, "finish_reason": "tool_calls"}]}
    assert (await stage.alice.consolidate()).raw == ()
    other = stage.mem.scope(user="bob", session="s1")
    await other.add([{"role": "user", "content": "hi"}])
    stage.server.script([answer(200, body)])
    found = await other.consolidate()
    assert (found.summaries, found.raw, found.last_error, found.waiting) == ((), (), None, 0)


async def facts_that_are_not_named_stay(stage: Stage) -> None:
    for number in range(12):
        await stage.alice.remember(attribute=f"rule {number}", value=f"never do {number}")
    for number in range(6):
        await stage.say({"role": "user", "content": f"I like tea number {number}."})
        await stage.alice.consolidate()
    rules = [m for m in await everything(stage.alice) if m.attribute and m.attribute.startswith("rule ")]
    assert [m.state for m in rules] == ["active"] * 12


async def recalled_text_is_not_learnt_again(stage: Stage) -> None:
    secret = stage.mem._store._runtime.store.facts.secret
    quoted = fence(["mem_1"], ["My favorite food is sushi."], secret=secret).text
    await stage.say({"role": "user", "content": f"{quoted}\nThanks."})
    await stage.alice.consolidate()
    assert "sushi" not in json.dumps(stage.server.requests[-1].body)
    assert "sushi" not in {m.value for m in await everything(stage.alice)}


async def a_deadline_is_a_calls_own(stage: Stage) -> None:
    stage.server.always("hang", model="first")
    made = await stage.alice.consolidate()
    assert len(made.summaries) == 1, "the second model has its own time"
    stage.server.always(None, model="first")


async def a_real_session_at_thirty_percent(stage: Stage) -> None:
    stage.server.fail_rate(0.3)
    await stage.say(*real_session(60, 60))
    await stage.alice.end_session()
    for _ in range(10):
        if await stage.mem.settle():
            break
        await stage.whole()
    stage.server.fail_rate(0.0)


LINES: list[Callable[[Stage], Awaitable[None]]] = [
    messages_during_the_call,
    a_new_session_during_the_call,
    a_forget_during_the_call,
    two_workers_on_one_session,
    a_crash_before_the_answer,
    every_model_fails_and_the_session_goes_on,
    nothing_found_and_could_not_ask_differ,
    facts_that_are_not_named_stay,
    recalled_text_is_not_learnt_again,
    a_deadline_is_a_calls_own,
    a_real_session_at_thirty_percent,
]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.__name__)
async def test_nothing_is_lost_nothing_is_twice_and_the_next_message_works(
    lasting: str, line: Callable[[Stage], Awaitable[None]]
) -> None:
    async with ChaosServer() as server:
        seconds = 0.5 if line is a_deadline_is_a_calls_own else 20.0
        chain = http_chain(server, "first", "second", seconds=seconds)
        async with AsyncMemhold.open(lasting, worker=False, consolidation=chain) as mem:
            stage = Stage(server, mem)
            await stage.say(*OSLO)
            await line(stage)
            await stage.whole()
            server.plan.clear()
            server.release()
            await stage.say(TEA)
            assert (await stage.alice.recall("tea")).hits
            await stage.alice.end_session()
            assert await mem.settle(timeout=120)
            last = await stage.whole()
            assert (last["raw"], last["pending"]) == (0, 0)
            await check_facts_once(stage.alice)
            facts = {m.value for m in await everything(stage.alice) if m.kind == "fact" and m.state == "active"}
            assert {"Oslo", "tea"} <= facts or line is a_real_session_at_thirty_percent
            assert (await stage.alice.status()).last_error is None
        await chain.close()


async def test_while_a_call_is_held_open_nobody_waits_for_it(lasting: str) -> None:
    async with ChaosServer() as server:
        server.always("hang")
        came = asyncio.Event()
        server.watch(lambda _: came.set())
        chain = http_chain(server, "first", seconds=60.0)
        async with AsyncMemhold.open(lasting, consolidation=chain, drain_seconds=0.01) as mem:
            alice = mem.scope(user="alice", session="s1")
            added = list((await alice.add(OSLO)).ids)
            await alice.end_session()
            await asyncio.wait_for(came.wait(), 60)
            # Each of these ends before the call does: nobody lets it go in between.
            added += (await alice.add(ACME)).ids
            assert (await alice.recall("Oslo")).hits
            await alice.remember("Likes tea", expires_at=mem._store._runtime.clock.now() + timedelta(days=1))
            assert (await alice.context([ACME], budget=2000)).messages
            await alice.end_session()
            await alice.forget((await alice.add(TEA)).ids[0], wait=0)
            assert (await alice.status()).leased >= 1
            assert len(server.requests) == 1
            assert await check_whole(alice, added) == {"summary": 0, "raw": 0, "pending": 3}
            server.always(None)
            server.release()
        await chain.close()
        chain = http_chain(server, "first", seconds=20.0)
        async with AsyncMemhold.open(lasting, worker=False, consolidation=chain) as mem:
            assert await mem.settle(timeout=120)
            whole = await check_whole(mem.scope(user="alice", session="s1"), added)
            assert whole == {"summary": 3, "raw": 0, "pending": 0}
        await chain.close()
