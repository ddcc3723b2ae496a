"""Consolidation as callers see it, on both stores: when, what, during calls, total failure, undo, rules, mirror."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from memhold import AsyncMemhold, Memhold
from memhold.consolidate.requests import make_due
from memhold.consolidate.rules import RulesModel
from memhold.errors import ModelError, UndoConflict
from memhold.messages.fences import fence
from memhold.ports.models import ChatReply, ChatRequest
from memhold.testing import FakeClock
from memhold.testing.scripted import ScriptedChat, sensible_reply
from memhold.text.token_estimate import estimate_tokens
from tests import constants
from tests.consolidation.chains import check_facts_once, check_whole, everything

Opened = Callable[..., Any]
IDLE = timedelta(minutes=31)


def user(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **fields}


def turn(text: str) -> list[dict[str, Any]]:
    return [user(text), {"role": "assistant", "content": "Noted."}]


def down(cls: str = "next") -> ModelError:
    return ModelError("down", model="m", cls=cls, reason="scripted")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest_asyncio.fixture
async def opened(location: str, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Opened]:
    async with contextlib.AsyncExitStack() as stack:

        async def open_one(model: Any, when: dict[str, Any] | None = None, **settings: Any) -> Any:
            constants.when(monkeypatch, **(when or {}))
            given = {"clock": clock, "worker": False, "consolidation": model} | settings
            return await stack.enter_async_context(AsyncMemhold.open(location, **given))

        yield open_one


class Held:
    """A model that answers when it is let go."""

    name = "held"

    def __init__(self) -> None:
        self.called, self.let = asyncio.Event(), asyncio.Event()
        self.asked = 0

    async def chat(self, request):
        self.asked += 1
        self.called.set()
        await self.let.wait()
        return sensible_reply(request, model=self.name)


# ------------------------------------------------------------------------------------------------ when


async def test_a_window_is_due_by_count_by_idleness_and_at_the_end(opened: Opened, clock: FakeClock) -> None:
    model = ScriptedChat(name="m")
    mem = await opened(model, consolidate_messages=6)
    alice = mem.scope(user="alice", session="s1")
    for n in range(2):
        await alice.add(turn(f"I like tea number {n}."))
    await mem.settle()
    assert model.asked == [], "too few, and not idle"
    await alice.add(turn("I live in Oslo."))
    await mem.settle()
    assert len(model.asked) == 1
    assert (await alice.status()).pending == 2, "the turn that goes on waits"
    clock.advance(IDLE)
    await mem.settle()
    assert (await alice.status()).pending == 0
    await alice.add(user("I work at Acme."))
    await alice.end_session()
    assert await mem.settle(timeout=300)
    assert (await alice.status()).pending == 0
    assert len(model.asked) == 3


async def test_what_weighs_a_lot_is_due_at_once(opened: Opened) -> None:
    model = ScriptedChat(name="m")
    mem = await opened(model, when={"tokens": 1000})
    alice = mem.scope(user="alice", session="s1")
    await alice.add(turn("word. " * 2000))
    await alice.add(turn("And another thing."))
    await mem.settle()
    assert len(model.asked) == 1


async def test_sessions_of_scripts_are_never_consolidated(opened: Opened, clock: FakeClock) -> None:
    model = ScriptedChat(name="m")
    mem = await opened(model, consolidate_messages=2)
    script = mem.scope(user="alice", session="script:nightly")
    added = await script.add([user(f"line {n}") for n in range(9)])
    await script.end_session()
    await script.consolidate()
    clock.advance(IDLE)
    await mem.settle()
    assert model.asked == []
    assert [m.id for m in await script.messages()] == list(added.ids)
    assert (await script.recall("line")).hits


async def test_the_prompt_keeps_its_last_turns(opened: Opened) -> None:
    mem = await opened(ScriptedChat(name="m"), when={"keep": 3}, consolidate_messages=6)
    alice = mem.scope(user="alice", session="s1")
    added = []
    for n in range(5):
        added += (await alice.add(turn(f"I like tea number {n}."))).ids
    await mem.settle()
    session = await alice._tx.read(lambda tx: tx.session("s1"))
    assert (session.cursor, session.window_start) == (8, 6), "three messages, extended to the whole turn"
    assert await check_whole(alice, added) == {"summary": 8, "raw": 0, "pending": 2}
    await alice.end_session()
    session = await alice._tx.read(lambda tx: tx.session("s1"))
    assert session.window_start == 10, "a clean session at once"


async def test_sessions_from_before_a_model_was_there_are_found(lasting: str, clock: FakeClock) -> None:
    async with AsyncMemhold.open(lasting, clock=clock, worker=False) as mem:
        old = mem.scope(user="alice", session="old")
        await old.add(turn("I live in Oslo."))
        [raw] = (await old.end_session()).ids
        await mem.scope(user="bob", session="open").add(turn("I like tea."))
        assert (await old.consolidate()).last_error.startswith("no model is configured")
    clock.advance(IDLE)
    async with AsyncMemhold.open(lasting, clock=clock, worker=False, consolidation=ScriptedChat(name="m")) as mem:
        assert await mem.settle(timeout=300)
        assert (await mem.scope(user="alice").get(raw)).state == "merged"
        assert [hit.kind for hit in (await mem.scope(user="bob").summaries()).hits] == ["summary"]


async def test_consolidate_does_one_scopes_work_now_and_leaves_an_open_call(opened: Opened) -> None:
    model = ScriptedChat(name="m")
    mem = await opened(model)
    alice, bob = mem.scope(user="alice", session="s1"), mem.scope(user="bob", session="s1")
    call = {"id": "call_0", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    await alice.add(
        [*turn("I live in Oslo."), user("List it."), {"role": "assistant", "content": None, "tool_calls": [call]}]
    )
    await bob.add(turn("I like tea."))
    await bob.end_session()
    made = await alice.consolidate()
    assert (len(made.summaries), made.waiting, made.last_error) == (1, 1, None)
    assert (await bob.status()).pending == 2
    await alice.add({"role": "tool", "tool_call_id": "call_0", "content": "a.txt"})
    made = await alice.consolidate()
    assert (len(made.summaries), made.waiting) == (1, 0)
    assert "assistant] ls({})" in model.asked[-1].turns[0].text
    assert " tool] a.txt" in model.asked[-1].turns[0].text


# ------------------------------------------------------------------------------------------------ during a call


async def test_a_held_call_keeps_nobody_waiting(opened: Opened) -> None:
    model = Held()
    mem = await opened(model, worker=True, drain_seconds=0.01)
    alice = mem.scope(user="alice", session="s1")
    added = list((await alice.add(turn("I live in Oslo."))).ids)
    await alice.end_session()
    await asyncio.wait_for(model.called.wait(), 60)
    # The call is open; each of these returns before it does.
    added += (await alice.add(user("I work at Acme."))).ids
    assert (await alice.recall("Oslo")).hits[0].text == "I live in Oslo."
    await alice.end_session()
    note = await alice.remember("Likes tea", expires_at=(await alice.messages())[0].recorded_at + timedelta(days=1))
    assert note.memory is not None
    assert model.asked == 1
    assert not model.let.is_set()
    assert await check_whole(alice, added) == {"summary": 0, "raw": 0, "pending": 3}
    model.let.set()
    async with asyncio.timeout(60):
        while (await alice.status()).pending:
            pass
    assert await check_whole(alice, added) == {"summary": 3, "raw": 0, "pending": 0}


async def test_what_arrives_or_ends_during_a_call_is_the_next_window(opened: Opened) -> None:
    model = Held()
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    added = list((await alice.add(turn("I live in Oslo."))).ids)
    await alice.end_session()
    work = asyncio.create_task(mem.settle())
    await model.called.wait()
    added += (await alice.add(user("I work at Acme."))).ids
    await alice.end_session()
    model.let.set()
    assert await work
    assert await check_whole(alice, added) == {"summary": 3, "raw": 0, "pending": 0}
    assert model.asked == 2
    assert [len(m.sources) for m in await everything(alice) if m.kind == "summary"] == [2, 1]


async def test_what_is_forgotten_during_a_call_is_not_learnt(opened: Opened) -> None:
    model = Held()
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    added = list((await alice.add([user("My secret is Zanzibar."), user("I live in Oslo.")])).ids)
    await alice.end_session()
    work = asyncio.create_task(mem.settle())
    await model.called.wait()
    await alice.forget(added[0], wait=0)
    model.let.set()
    assert await work
    assert model.asked == 2, "what was read is gone, so it is asked again"
    assert not any("Zanzibar" in m.text for m in await everything(alice))
    assert await check_whole(alice, added[1:]) == {"summary": 1, "raw": 0, "pending": 0}


async def test_a_fact_that_was_shown_and_forgotten_during_a_call_is_not_learnt_again(opened: Opened) -> None:
    model = Held()
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    told = await alice.remember(attribute="secret", value="Zanzibar")
    await alice.add(user("I live in Oslo."))
    await alice.end_session()
    work = asyncio.create_task(mem.settle())
    await model.called.wait()
    await alice.forget(told.memory.id, wait=0)
    model.let.set()
    assert await work
    assert model.asked == 2


async def test_two_workers_and_a_lost_lease_leave_one_effect(opened: Opened, clock: FakeClock) -> None:
    slow = Held()
    mem = await opened(slow)
    alice = mem.scope(user="alice", session="s1")
    added = list((await alice.add(turn("I live in Oslo."))).ids)
    await alice.end_session()
    runtime = mem._store._runtime
    step, upkeep = runtime.worker.steps["consolidate"], runtime.store.upkeep
    [old] = await upkeep.claim(owner="one", kinds=("consolidate",), limit=1, seconds=60)
    first = asyncio.create_task(step(old))
    await slow.called.wait()
    # The first worker sleeps so long that its lease ends; another takes the work over, and both get their answer.
    clock.advance(61)
    [new] = await upkeep.claim(owner="two", kinds=("consolidate",), limit=1, seconds=60)
    second = asyncio.create_task(step(new))
    while slow.asked < 2:  # noqa: ASYNC110 - one turn of the loop is all it takes
        await asyncio.sleep(0)
    slow.let.set()
    await asyncio.gather(first, second)
    assert await upkeep.finish(new)
    assert not await upkeep.finish(old)
    assert await check_whole(alice, added) == {"summary": 2, "raw": 0, "pending": 0}
    assert len([m for m in await everything(alice) if m.kind == "summary"]) == 1
    await check_facts_once(alice)


async def test_a_lease_is_kept_while_a_call_lasts(opened: Opened, clock: FakeClock) -> None:
    model = Held()
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    await alice.add(turn("I live in Oslo."))
    await alice.end_session()
    work = asyncio.create_task(mem.settle())
    await model.called.wait()
    asleep = clock.sleepers
    for _ in range(8):
        await clock.elapse(15)
        async with asyncio.timeout(60):
            while clock.sleepers < asleep:  # noqa: ASYNC110 - the store's thread renews the lease
                await asyncio.sleep(0)
        assert (
            await mem._store._runtime.store.upkeep.claim(owner="other", kinds=("consolidate",), limit=1, seconds=1)
            == []
        )
    model.let.set()
    assert await work
    assert model.asked == 1


async def test_closing_gives_the_work_back_at_once(lasting: str) -> None:
    model = Held()
    async with AsyncMemhold.open(lasting, consolidation=model, drain_seconds=0.01) as mem:
        alice = mem.scope(user="alice", session="s1")
        await alice.add(turn("I live in Oslo."))
        await alice.end_session()
        await asyncio.wait_for(model.called.wait(), 60)
    async with AsyncMemhold.open(lasting, consolidation=ScriptedChat(name="m"), worker=False) as mem:
        alice = mem.scope(user="alice", session="s1")
        assert (await alice.status()).leased == 0
        assert await mem.settle(timeout=300)
        assert (await alice.status()).pending == 0


# ------------------------------------------------------------------------------------------------ total failure


class Unpicklable(ModelError):
    """As litellm's: a lock inside, and constructor arguments that unpickling does not know."""

    def __init__(self, lock: Any, *, needed: str) -> None:
        super().__init__("down", model="m", cls="next", reason="scripted")
        self.lock, self.needed = lock, needed


class Stubborn:
    """A model that fails with exceptions that cannot be pickled, of Memhold's tree and of others in turn."""

    name = "m"

    def __init__(self) -> None:
        self.asked = 0

    async def chat(self, _):
        self.asked += 1
        raise Unpicklable(threading.RLock(), needed="x")


class Broken:
    """A chain that raises what no chain should."""

    models = ("m",)
    window = None

    def __init__(self) -> None:
        self.asked = 0

    async def ask(self, *_, **__):
        self.asked += 1

        class Provider(Exception):
            def __init__(self, lock, message):
                super().__init__(message)
                self.lock = lock

        raise Provider(threading.RLock(), "secret words")


@pytest.mark.parametrize("chain", [Stubborn, Broken])
async def test_exceptions_that_cannot_be_pickled_stop_nobody(chain: type, clock: FakeClock) -> None:
    model = chain()
    async with AsyncMemhold.open("memory://", clock=clock, worker=False, consolidation=model) as mem:
        alice = mem.scope(user="alice", session="s1")
        await alice.add(turn("I live in Oslo."))
        await alice.end_session()
        for _ in range(1000):
            assert not await mem.settle()
        assert model.asked == 1000
        [due] = await alice._tx.read(lambda tx: tx.due())
        assert due.attempts >= 999
        assert "secret words" not in str(due.last_error)
        assert due.last_error
        assert (await alice.status()).last_error == due.last_error


async def test_raw_windows_are_done_oldest_first_and_marked(opened: Opened) -> None:
    model = ScriptedChat(name="m", otherwise=down("park"))
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    added = []
    for n in range(4):
        added += (await alice.add(turn(f"I like tea number {n}."))).ids
        await alice.end_session()
        assert not await mem.settle()
    assert await check_whole(alice, added) == {"summary": 0, "raw": 8, "pending": 0}
    status = await alice.status()
    assert (status.raw, status.pending) == (4, 0)
    assert [hit.kind for hit in (await alice.recall("tea number 2", kinds=["raw"])).hits][:1] == ["raw"]
    model._otherwise = None
    model.asked.clear()
    assert await mem.settle(timeout=300)
    shown = [request.turns[0].text.partition("The conversation:")[2] for request in model.asked]
    assert [next(n for n in range(4) if f"number {n}" in text) for text in shown] == [0, 1, 2, 3]
    assert await check_whole(alice, added) == {"summary": 8, "raw": 0, "pending": 0}
    for raw in [m for m in await everything(alice) if m.kind == "raw"]:
        assert raw.state == "merged"
        summary = await alice.get(raw.superseded_by)
        [change] = [c for c in await alice.history(raw.id) if c.verb == "consolidate" and c.by.origin == "model"]
        assert {raw.id, summary.id} <= {effect.memory_id for effect in change.effects}
    assert not [hit for hit in (await alice.recall("tea")).hits if hit.kind == "raw"], "not beside its summary"


async def test_raw_windows_are_done_at_a_bounded_rate_in_the_background(clock: FakeClock) -> None:
    model = ScriptedChat(name="m", otherwise=down("park"))
    async with AsyncMemhold.open("memory://", clock=clock, worker=False, consolidation=model) as mem:
        alice = mem.scope(user="alice", session="s1")
        for n in range(3):
            await alice.add(turn(f"I like tea number {n}."))
            await alice.end_session()
            await mem.settle()
        model._otherwise = None
        clock.advance(1000)
        worker, before = mem._store._runtime.worker, len(model.asked)
        for done in range(1, 4):
            for _ in range(3):
                await worker.round()
            assert len(model.asked) == before + done, "one window a second"
            clock.advance(1)


async def test_a_window_that_models_answer_wrongly_blocks_nobody(opened: Opened) -> None:
    def fussy(request):
        if "poem" in request.turns[0].text:
            return sensible_reply(request).__class__(model="m", text="Roses are red")
        return sensible_reply(request, model="m")

    mem = await opened(ScriptedChat(name="m", otherwise=fussy))
    alice = mem.scope(user="alice", session="s1")
    await alice.add(turn("Write me a poem."))
    await alice.end_session()
    await mem.settle()
    await alice.add(turn("I live in Oslo."))
    await alice.end_session()
    assert not await mem.settle()
    kinds = sorted((m.kind, "Oslo" in m.text) for m in await everything(alice) if m.kind in {"raw", "summary"})
    assert kinds == [("raw", False), ("summary", True)]


# ------------------------------------------------------------------------------------------------ real shapes


def real_session(count: int, seed: int) -> list[dict[str, Any]]:
    """Messages of a real kind: tool calls with 30 KB outputs, timestamps, code, Korean, French, Japanese and English."""
    random = Random(seed)
    found: list[dict[str, Any]] = []
    said = [
        "[2026-03-01T09:12:44Z] Please check why the build fails, and keep in mind that I live in Lyon.",
        "제 직업은 간호사예요. 오늘은 야간 근무라서 조금 피곤해요.",
        "Ma couleur préférée est le bleu, mais pour le site on garde le vert.",
        "```python\ndef f(x: int) -> int:\n    return x * 2  # my name is not Bob\n```\nWhat does it do?",
        "I work at Acme. The deploy key is in vault path secret/prod/7f3a.",
        "週末は京都に行きます。ホテルは駅の近くがいいです。",
    ]
    while len(found) < count:
        n = len(found)
        found.append(user(f"{random.choice(said)} (turn {n})"))
        for _ in range(random.randrange(3)):
            call = {
                "id": "call_0",
                "type": "function",
                "function": {"name": "bash", "arguments": '{"cmd": "make -j2"}'},
            }
            found.append({"role": "assistant", "content": None, "tool_calls": [call]})
            output = "".join(f"{k}: error in file_{k}.c\n" for k in range(random.choice((3, 3, 3, 1200))))
            found.append({"role": "tool", "tool_call_id": "call_0", "content": output})
        found.append({"role": "assistant", "content": f"C'est fait. 다 됐어요. Done with turn {n}."})
    return found[:count] if found[count - 1]["role"] != "tool" else found[: count + 1]


@pytest.mark.parametrize(("count", "ended"), [(60, True), (60, False), (240, True)])
async def test_sessions_of_a_real_shape(opened: Opened, clock: FakeClock, count: int, *, ended: bool) -> None:
    model = ScriptedChat(name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    messages = real_session(count, count)
    assert max(len(str(m["content"])) for m in messages) > 20_000
    added: list[str] = []
    for start in range(0, len(messages), 40):
        added += (await alice.add(messages[start : start + 40])).ids
        if not ended:
            await mem.settle()
    if ended:
        await alice.end_session()
    clock.advance(IDLE)
    assert await mem.settle(timeout=300)
    assert await check_whole(alice, added) == {"summary": len(added), "raw": 0, "pending": 0}
    await check_facts_once(alice)
    held = {m.id: m for m in await alice.messages(limit=10_000)}
    for summary in [m for m in await everything(alice) if m.kind == "summary"]:
        first = held[summary.sources[0]]
        assert first.role != "tool", "cut inside a pair"
        assert summary.text.startswith(f"[{first.event_time:%Y-%m-%d}")
    assert "home" in {m.attribute for m in await everything(alice) if m.kind == "fact"}


async def test_a_window_larger_than_a_small_models_context_is_joined_without_loss(opened: Opened) -> None:
    def listing(request):
        found = re.findall(r"tea number \d+", request.turns[0].text.partition("The conversation:")[2])
        call = sensible_reply(request, model="small").tool_calls[0]
        filled = replace(call, arguments={**call.arguments, "history_entry": ", ".join(found) or "Noted."})
        return replace(sensible_reply(request, model="small"), tool_calls=(filled,))

    model = ScriptedChat(name="small", otherwise=listing)
    model.window = 2400
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    texts = [f"I like tea number {n}. " + "word. " * 400 for n in range(12)]
    added = list((await alice.add([m for text in texts for m in turn(text)])).ids)
    await alice.end_session()
    assert await mem.settle(timeout=300)
    assert len(model.asked) > 4
    assert await check_whole(alice, added) == {"summary": 24, "raw": 0, "pending": 0}
    summaries = [m for m in await everything(alice) if m.kind == "summary"]
    assert len(summaries) < len(model.asked), "parts of one window are one entry"
    joined = "\n".join(m.text for m in summaries)
    assert [int(n) for n in re.findall(r"tea number (\d+)", joined)] == list(range(12))
    [change] = [c for c in await alice.history(summaries[0].id) if c.verb == "consolidate"]
    assert change.detail["parts"] > 1


async def test_a_request_that_proves_too_long_is_asked_in_smaller_parts(opened: Opened) -> None:
    def small(request):
        if len(request.turns[0].text) > 6000:
            raise ModelError("too long", model="m", cls="shorten", reason="too long")
        return sensible_reply(request, model="m")

    mem = await opened(ScriptedChat(name="m", otherwise=small))
    alice = mem.scope(user="alice", session="s1")
    added = list((await alice.add([m for n in range(8) for m in turn(f"I like tea {n}. " + "word. " * 300)])).ids)
    await alice.end_session()
    assert await mem.settle(timeout=300)
    assert await check_whole(alice, added) == {"summary": 16, "raw": 0, "pending": 0}


# ------------------------------------------------------------------------------------------------ what is learnt


def saved(*facts: dict[str, Any], notes: tuple[dict[str, Any], ...] = (), **more: Any) -> dict[str, Any]:
    return {"history_entry": "They talked. It was fine.", "facts": list(facts), "notes": list(notes)} | more


def fact(attribute: str, value: str, *sources: str, **more: Any) -> dict[str, Any]:
    base = {"subject": "user", "attribute": attribute, "value": value, "operation": "set", "importance": "mid"}
    return {**base, "sources": list(sources) or ["m1"], **more}


async def test_operations_name_what_they_touch_and_leave_the_rest(opened: Opened) -> None:
    model = ScriptedChat(
        [
            saved(fact("favorite food", "sushi"), fact("blood type", "A", importance="high"), fact("city", "Oslo")),
            saved(fact("best-loved dish", "pizza", target="f1"), fact("town", "x", target="f3", operation="remove")),
        ],
        name="m",
    )
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    await alice.add(user("I love sushi, I live in Oslo, type A"))
    await alice.consolidate()
    await alice.add(user("Pizza now, and I left town"))
    await alice.consolidate()
    shown = model.asked[1].turns[0].text
    assert "[f1] user | favorite food | sushi" in shown
    facts = {(m.attribute, m.value): m for m in await everything(alice) if m.kind == "fact"}
    assert facts["blood type", "A"].state == "active"
    assert facts["blood type", "A"].tier == "long"
    states = {key: m.state for key, m in facts.items()}
    assert list(states.values()).count("superseded") == 2
    assert sum(m.value == "pizza" for m in facts.values()) == 1


@pytest.mark.parametrize(
    ("line", "given", "home", "others"),
    [
        ("I work as a baker.", {"attribute": "job", "value": "baker"}, "Oslo", {("job", "baker")}),
        (
            "My sister Anna lives in Rome.",
            {"subject": "Anna", "attribute": "home city", "value": "Rome"},
            "Oslo",
            {("home city", "Rome")},
        ),
        (
            "My sister Anna moved from Oslo to Rome.",
            {"subject": "Anna", "attribute": "home city", "value": "Rome"},
            "Oslo",
            {("home city", "Rome")},
        ),
        ("I work in Rome.", {"attribute": "work city", "value": "Rome", "operation": "add"}, "Oslo", {("work city", "Rome")}),
        ("I moved to Rome.", {"attribute": "place where I live", "value": "Rome"}, "Rome", set()),
        ("It is Rome for me these days, no longer Oslo.", {"attribute": "whereabouts", "value": "Rome"}, "Rome", set()),
        ("They threw us out.", {"attribute": "home city", "value": "Oslo", "operation": "remove"}, None, set()),
        ("We broke up, the city and me.", {"attribute": "home city", "value": "Oslo", "operation": "remove"}, None, set()),
        ("I left Oslo.", {"attribute": "home city", "value": "Oslo", "operation": "remove"}, None, set()),
    ],
)  # fmt: skip
async def test_a_known_fact_that_a_model_names_is_meant_where_the_user_speaks_of_it_or_of_a_change(
    opened: Opened, clock: FakeClock, line: str, given: dict[str, Any], home: str | None, others: set[tuple[str, str]]
) -> None:
    told = {**fact("home city", "Oslo"), **given, "target": "f1"}
    model = ScriptedChat([saved(fact("home city", "Oslo")), saved(told)], name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    await alice.add(user("I live in Oslo."))
    await alice.consolidate()
    clock.advance(60)
    await alice.add(user(line))
    await alice.consolidate()
    assert "[f1] user | home city | Oslo" in model.asked[1].turns[0].text
    active = {(m.attribute, m.value) for m in await everything(alice) if m.kind == "fact" and m.state == "active"}
    assert active == others | ({("home city", home)} if home else set())


async def test_an_assistants_supposition_does_not_displace_what_the_user_told(opened: Opened, clock: FakeClock) -> None:
    model = ScriptedChat([saved(fact("home", "Paris", "m2")), saved(fact("home", "Rome", "m1"))], name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    told = await alice.remember(attribute="home", value="Oslo")
    clock.advance(60)
    await alice.add([user("Where is that?"), {"role": "assistant", "content": "In Paris, where you live."}])
    await alice.consolidate()
    assert (await alice.get(told.memory.id)).state == "active"
    [doubt] = await alice.suspicions()
    assert (doubt.other.id, doubt.memory.value) == (told.memory.id, "Paris")
    await alice.add(user("I moved to Rome."))
    await alice.consolidate()
    assert (await alice.get(told.memory.id)).state == "superseded", "the user's own later words"


async def test_what_a_model_ascribes_to_the_user_ends_nothing_that_was_told(opened: Opened, clock: FakeClock) -> None:
    ascribed = {**fact("home", "Paris", "m1"), "quote": "In Paris, where you live"}
    model = ScriptedChat([saved(ascribed), saved(fact("home", "Rome", "m1"))], name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    told = await alice.remember(attribute="home", value="Oslo")
    clock.advance(60)
    # The words are the assistant's, the source that the model names is the user's.
    await alice.add([user("Where is that?"), {"role": "assistant", "content": "In Paris, where you live."}])
    await alice.consolidate()
    assert (await alice.get(told.memory.id)).state == "active"
    assert [doubt.memory.value for doubt in await alice.suspicions()] == ["Paris"]
    await alice.add(user("I live in Rome now."))
    await alice.consolidate()
    assert (await alice.get(told.memory.id)).state == "superseded"


async def test_a_person_ends_a_value_without_naming_it(opened: Opened, clock: FakeClock) -> None:
    model = ScriptedChat([saved(fact("employer", "Acme", "m1", operation="remove", target="f1"))], name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    told = await alice.remember(attribute="employer", value="Acme")
    clock.advance(60)
    await alice.add(user("I quit my job yesterday."))
    await alice.consolidate()
    assert (await alice.get(told.memory.id)).state == "superseded"


async def test_of_several_values_only_the_named_one_is_replaced(opened: Opened, clock: FakeClock) -> None:
    model = ScriptedChat(
        [
            saved(*(fact("pet", pet, operation="add") for pet in ("a cat", "a dog"))),
            saved(fact("pet", "a parrot", target="f1")),
            saved(fact("pet", "a snake")),
        ],
        name="m",
    )
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    said = ("I have a cat and a dog.", "The cat is gone, now I keep a parrot.", "There is a snake at home.")
    wanted = [{"a cat", "a dog"}, {"a dog", "a parrot"}, {"a dog", "a parrot", "a snake"}]
    for text, values in zip(said, wanted, strict=True):
        clock.advance(60)
        await alice.add(user(text))
        await alice.consolidate()
        active = {m.value for m in await everything(alice) if m.kind == "fact" and m.state == "active"}
        assert active == values, "what holds several values keeps them, unless one is named"


async def test_what_holds_later_is_a_note_until_then(opened: Opened, clock: FakeClock) -> None:
    later = (clock.now() + timedelta(days=30)).isoformat()
    model = ScriptedChat([saved(fact("home", "Oslo")), saved(fact("home", "Paris", holds_from=later))], name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    await alice.add(user("I live in Oslo."))
    await alice.consolidate()
    clock.advance(60)
    await alice.add(user("Next month I move to Paris."))
    await alice.consolidate()
    held = await everything(alice)
    assert [m.value for m in held if m.kind == "fact" and m.state == "active"] == ["Oslo"]
    [note] = [m for m in held if m.kind == "note"]
    assert "Paris" in note.text
    assert later[:10] in note.text


@pytest.mark.parametrize(
    ("line", "told", "now"),
    [
        ("I live in Paris since last autumn.", {"value": "Paris"}, ["Paris"]),
        ("I left Oslo last autumn.", {"value": "Oslo", "operation": "remove", "target": "f1"}, []),
    ],
)
async def test_what_is_told_to_hold_since_before_ends_what_was_told_since(
    line: str, told: dict[str, Any], now: list[str], opened: Opened, clock: FakeClock
) -> None:
    since = (clock.now() - timedelta(days=90)).isoformat()
    model = ScriptedChat([saved(fact("home", "Oslo")), saved(fact("home", holds_from=since, **told))], name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    await alice.add(user("I live in Oslo."))
    await alice.consolidate()
    clock.advance(60)
    await alice.add(user(line))
    await alice.consolidate()
    assert [m.value for m in await everything(alice) if m.kind == "fact" and m.state == "active"] == now


async def test_what_an_assistant_repeats_of_memory_is_no_evidence(opened: Opened, clock: FakeClock) -> None:
    repeat = saved(fact("home", "Oslo", "m2"), fact("favorite food", "sushi", "m2"), fact("car", "a Volvo", "m2"))
    own_tool = saved(fact("favorite drink", "tea", "m2"))
    model = ScriptedChat([saved(fact("home", "Oslo")), repeat, own_tool], name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    await alice.add(user("I live in Oslo."))
    await alice.consolidate()
    [home] = [m for m in await everything(alice) if m.kind == "fact"]
    clock.advance(60)
    secret = mem._store._runtime.store.facts.secret
    quoted = fence(["mem_1"], ["favorite food: sushi"], secret=secret).text
    answer = "You live in Oslo and like sushi; you drive a Volvo."
    await alice.add([user(f"{quoted}\nWhat do you know?"), {"role": "assistant", "content": answer}])
    await alice.consolidate()
    facts = {m.attribute: m for m in await everything(alice) if m.kind == "fact"}
    assert set(facts) == {"home", "car"}, "what only the assistant says is new; what it repeats is not"
    assert facts["home"].evidence == home.evidence
    call = {"id": "c1", "type": "function", "function": {"name": "recall", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c1", "content": "favorite drink: tea"}
    await alice.add([{"role": "assistant", "content": None, "tool_calls": [call]}, result])
    await alice.consolidate()
    assert "favorite drink" not in {m.attribute for m in await everything(alice)}


async def test_an_entry_of_another_form_is_kept_and_noted(opened: Opened) -> None:
    model = ScriptedChat([saved(history_entry="They live there")], name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    await alice.add(
        user(
            "\uc800\ub294 \uc11c\uc6b8\uc5d0 \uc0b4\uace0 \uac04\ud638\uc0ac\ub85c \uc77c\ud558\uace0 \uc788\uc5b4\uc694. \ub9e4\uc6b0 \ubc14\ube60\uc694."
        )
    )
    made = await alice.consolidate()
    [change] = [c for c in await alice.history(made.summaries[0]) if c.verb == "consolidate"]
    assert change.detail["entry"][0] == "1 sentences"
    assert (await alice.get(made.summaries[0])).text.startswith("[20"), "the time is ours"


async def test_nothing_to_remember_is_said_and_done_once(opened: Opened) -> None:
    model = ScriptedChat([{"nothing_to_remember": "only a greeting"}], name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    first = (await alice.add(user("hi"))).ids
    made = await alice.consolidate()
    assert (made.summaries, made.raw, made.waiting) == ((), (), 0)
    second = (await alice.add([user("My name is Alice."), user("I live in Oslo.")])).ids
    await alice.consolidate()
    await alice.forget(second[0], wait=0)
    assert await mem.settle(timeout=300)
    held = {
        source for m in await everything(alice) if m.kind == "summary" and m.state == "active" for source in m.sources
    }
    assert held == {second[1]}, "the greeting is not dug up again"
    assert first[0] not in held


async def test_recalled_text_is_not_learnt_again(opened: Opened) -> None:
    model = ScriptedChat(name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    secret = mem._store._runtime.store.facts.secret
    quoted = fence(["mem_1"], ["My favorite food is sushi."], secret=secret).text
    [message] = (await alice.add(user(f"{quoted}\nI live in Oslo."))).ids
    await alice.consolidate()
    assert "sushi" not in model.asked[0].turns[0].text
    assert "sushi" in (await alice.get(message)).text, "the journal keeps it"
    assert [m.value for m in await everything(alice) if m.kind == "fact"] == ["Oslo"]


async def test_what_was_forgotten_with_its_sources_kept_is_not_learnt_again(opened: Opened) -> None:
    model = ScriptedChat(
        [saved(fact("home", "Oslo")), saved(fact("home", "Oslo")), saved(fact("home", "Oslo"))], name="m"
    )
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    await alice.add(user("I live in Oslo."))
    await alice.consolidate()
    [home] = [m for m in await everything(alice) if m.kind == "fact"]
    await alice.forget(home.id, sources="keep", wait=0)
    await alice.add(user("Oslo, as I said"))
    await alice.consolidate()
    assert [m for m in await everything(alice) if m.kind == "fact"] == []


# ------------------------------------------------------------------------------------------------ undo, rules, mirror


async def test_undo_restores_and_leaves_the_window_raw_or_due(opened: Opened) -> None:
    model = ScriptedChat([saved(fact("home", "Oslo")), saved(fact("home", "Paris"))], name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    added = list((await alice.add(user("I live in Oslo."))).ids)
    await alice.consolidate()
    added += (await alice.add(user("I moved to Paris."))).ids
    made = await alice.consolidate()
    [change] = [c for c in await alice.history(made.summaries[0]) if c.verb == "consolidate"]
    assert (change.by.name, change.by.version, change.detail["models"]) == ("m", "consolidate/3", ["m"])
    undone = await alice.undo(change.id)
    active = [m.value for m in await everything(alice) if m.kind == "fact" and m.state == "active"]
    assert active == ["Oslo"]
    assert await check_whole(alice, added) == {"summary": 1, "raw": 1, "pending": 0}
    assert await mem.settle(timeout=300)
    assert await check_whole(alice, added) == {"summary": 1, "raw": 1, "pending": 0}, "by the user's wish"
    await alice.undo(undone.change_ids[0])
    assert await check_whole(alice, added) == {"summary": 2, "raw": 0, "pending": 0}
    with pytest.raises(UndoConflict):
        await alice.undo(undone.change_ids[0])
    await alice.undo(change.id, redo=True)
    assert await check_whole(alice, added) == {"summary": 1, "raw": 1, "pending": 0}
    assert await mem.settle(timeout=300)
    assert await check_whole(alice, added) == {"summary": 2, "raw": 0, "pending": 0}


async def test_rules_serve_meanwhile_and_a_model_does_it_again(opened: Opened, clock: FakeClock) -> None:
    model = ScriptedChat(name="m", otherwise=down())
    mem = await opened([model, RulesModel()])
    alice = mem.scope(user="alice", session="s1")
    told = await alice.remember(attribute="home", value="Oslo")
    clock.advance(60)
    added = list((await alice.add([user("I live in Paris."), user("My favorite food is sushi.")])).ids)
    await alice.end_session()
    await mem.settle()
    assert await check_whole(alice, added) == {"summary": 2, "raw": 0, "pending": 0}
    by_rules = [m for m in await everything(alice) if m.origin == "rules" and m.state == "active"]
    assert {m.value for m in by_rules if m.kind == "fact"} == {"Paris", "sushi"}
    model._otherwise = saved(fact("favorite food", "sushi", "m2"))
    assert await mem.settle(timeout=300)
    assert await check_whole(alice, added) == {"summary": 2, "raw": 0, "pending": 0}
    active = {(m.value, m.origin) for m in await everything(alice) if m.kind == "fact" and m.state == "active"}
    assert active == {("Oslo", "user"), ("sushi", "model")}, "what only the rules read is taken back"
    assert (await alice.get(told.memory.id)).state == "active"


async def test_with_rules_alone_nothing_fails_and_a_later_model_does_it_again(
    opened: Opened, location: str, clock: FakeClock
) -> None:
    mem = await opened([RulesModel()])
    alice = mem.scope(user="alice", session="s1")
    added = list((await alice.add([user("My favorite food is sushi.")])).ids)
    await alice.end_session()
    await mem.settle()
    clock.advance(86_400)
    assert await mem.settle(), "nothing is put off"
    status = await alice.status()
    assert (status.last_error, status.parked, dict(status.due)) == (None, 0, {})
    assert [m.origin for m in await everything(alice) if m.kind == "fact"] == ["rules"]
    if location == "memory://":
        return
    await mem.close()
    mem = await opened(ScriptedChat(name="m", otherwise=saved(fact("favorite food", "sushi", "m1"))))
    alice = mem.scope(user="alice", session="s1")
    assert await mem.settle(timeout=300)
    assert await check_whole(alice, added) == {"summary": 1, "raw": 0, "pending": 0}
    assert [(m.value, m.origin) for m in await everything(alice) if m.state == "active" and m.kind == "fact"] == [
        ("sushi", "model")
    ]


async def test_the_mirror_is_rewritten_and_forgotten_text_leaves_it(opened: Opened, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    mem = await opened(ScriptedChat(name="m"), mirror=str(folder))
    alice = mem.scope(user="../alice", session="s1")
    await alice.add(user("I live in Oslo."))
    made = await alice.consolidate()
    files = {path.name: path for path in folder.rglob("*.md")}
    assert set(files) == {"MEMORY.md", "HISTORY.md"}
    assert all(folder in path.resolve().parents for path in files.values())
    assert "Oslo" in files["MEMORY.md"].read_text()
    assert "Oslo" in files["HISTORY.md"].read_text()
    assert files["MEMORY.md"].stat().st_mode & 0o777 == 0o600
    await alice.forget(made.summaries[0], wait=0)
    assert not any("Oslo" in path.read_text() for path in folder.rglob("*") if path.is_file())


def mirrored(folder: Path) -> str:
    return (folder / "default" / "alice" / "MEMORY.md").read_text()


async def test_the_mirror_follows_what_is_told_corrected_undone_and_expires(
    opened: Opened, tmp_path: Path, clock: FakeClock
) -> None:
    folder = tmp_path / "mirror"
    mem = await opened(ScriptedChat(name="m"), mirror=str(folder))
    alice = mem.scope(user="alice")
    await alice.remember(attribute="home", value="Oslo")
    assert await mem.settle(timeout=300)
    assert "Oslo" in mirrored(folder)
    clock.advance(60)
    moved = await alice.remember(attribute="home", value="Paris")
    assert (await alice.status()).due["mirror"] == 1, "behind the acknowledgement"
    assert "As of 20" in mirrored(folder), "until then it says of when it is"
    assert await mem.settle(timeout=300)
    assert "Paris" in mirrored(folder)
    assert "Oslo" not in mirrored(folder)
    await alice.correct(moved.memory.id, "Lyon")
    assert await mem.settle(timeout=300)
    assert "Lyon" in mirrored(folder)
    assert "Paris" not in mirrored(folder)
    await alice.undo((await alice.history(moved.memory.id))[-1].id)
    assert await mem.settle(timeout=300)
    assert "Paris" in mirrored(folder)
    clock.advance(60)
    soon = (await alice.messages() or [None]) and clock.now() + timedelta(hours=1)
    await alice.remember("The door code is 7", expires_at=soon)
    assert await mem.settle(timeout=300)
    assert "door code" in mirrored(folder)
    clock.advance(3700)
    assert await mem.settle(timeout=300)
    assert "door code" not in mirrored(folder)
    await alice.add(turn("Hello."))
    assert "mirror" not in (await alice.status()).due, "a message alone changes no file"


async def test_the_mirror_is_there_when_a_process_without_a_worker_ends(
    tmp_path: Path, lasting: str, clock: FakeClock
) -> None:
    folder, path = tmp_path / "mirror", lasting
    async with AsyncMemhold.open(path, clock=clock, worker=False, mirror=str(folder)) as mem:
        await mem.scope(user="alice").remember(attribute="home", value="Oslo")
    assert "Oslo" in mirrored(folder)
    # Another process has no mirror: what it changes reaches the files when somebody with one looks.
    async with AsyncMemhold.open(path, clock=clock, worker=False) as mem:
        alice = mem.scope(user="alice")
        await alice.forget((await alice.list()).items[0].id, wait=0)
    assert "Oslo" in mirrored(folder)
    async with AsyncMemhold.open(path, clock=clock, worker=False, mirror=str(folder)) as mem:
        assert await mem.settle(timeout=300)
    assert "Oslo" not in mirrored(folder)


async def test_an_older_state_never_takes_the_place_of_a_newer_file(opened: Opened, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    mem = await opened(ScriptedChat(name="m"), mirror=str(folder))
    alice = mem.scope(user="alice")
    told = await alice.remember(attribute="home", value="Oslo")
    runtime = mem._store._runtime
    read, begun, go = runtime.store.read, asyncio.Event(), asyncio.Event()

    async def slow(scope, work):
        found = await read(scope, work)
        if not begun.is_set():
            begun.set()
            await go.wait()
        return found

    runtime.store.read = slow
    first = asyncio.create_task(runtime.mirror(alice.scope))
    await begun.wait()
    # The first writer has read the value and sleeps; the value is forgotten meanwhile.
    forgetting = asyncio.create_task(alice.forget(told.memory.id, wait=0))
    await asyncio.wait({forgetting}, timeout=1.0)  # it waits for its turn; a second without one would do
    go.set()
    await asyncio.gather(first, forgetting)
    assert "Oslo" not in mirrored(folder)


async def test_log_lines_tell_the_story_without_content(opened: Opened, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="memhold")
    first = ScriptedChat(["Zanzibar is nice"], name="first")
    mem = await opened([first, ScriptedChat(name="second")])
    alice = mem.scope(user="alice-name", session="my-session")
    await alice.add(turn("I live in Zanzibar."))
    await alice.consolidate()
    lines = [record.getMessage() for record in caplog.records if record.name == "memhold.consolidation"]
    assert any("consolidating 2 messages" in line for line in lines)
    assert any(
        "first" in line and "answered without the arguments of save_memory" in line and "falling back to second" in line
        for line in lines
    )
    assert any("done by second" in line for line in lines)
    assert not any(word in line for line in lines for word in ("Zanzibar", "alice-name", "my-session"))


def test_the_sync_face_has_the_same_verbs(lasting: str) -> None:
    with Memhold.open(lasting, worker=False, consolidation=ScriptedChat(name="m")) as mem:
        alice = mem.scope(user="alice", session="s1")
        alice.add(turn("I live in Oslo."))
        made = alice.consolidate()
        assert [hit.id for hit in alice.summaries("Oslo").hits] == list(made.summaries)
        since = alice.summaries().hits[0].event_time
        assert alice.summaries(until=since - timedelta(seconds=1)).hits == ()
        [change] = [c for c in alice.history(made.summaries[0]) if c.verb == "consolidate"]
        alice.undo(change.id, redo=True)
        assert alice.summaries(raw=True).hits[0].kind == "raw"


async def test_what_calls_took_is_kept_by_model(opened: Opened) -> None:
    mem = await opened([ScriptedChat(["no"], name="a"), ScriptedChat(name="b")])
    alice = mem.scope(user="alice", session="s1")
    await alice.add(turn("I live in Oslo."))
    await alice.consolidate()
    tallies = {one.model: one for one in await mem._store._runtime.store.usage.read()}
    assert {name: (one.purpose, one.calls, one.answered) for name, one in tallies.items()} == {
        "a": ("consolidation", 1, 0),
        "b": ("consolidation", 1, 1),
    }
    assert tallies["b"].input_tokens > 0


async def test_why_something_waits_is_said(opened: Opened) -> None:
    mem = await opened(ScriptedChat(name="m", otherwise="no call"))
    alice = mem.scope(user="alice", session="s1")
    await alice.add(turn("I live in Oslo."))
    made = await alice.consolidate()
    assert made.last_error == "no model of the chain answered: m: answered without the arguments of save_memory"


class Refusing:
    """A model that takes no request."""

    name = "m"

    async def chat(self, _: ChatRequest) -> ChatReply:
        raise ModelError("no", model="m", cls="poison", status=400, reason="the request is not valid")


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (ScriptedChat(name="m", otherwise="prose"), "no model of the chain answered: m: answered without the"),
        (Refusing(), "set aside, the models cannot take this request: m: the request is not valid"),
    ],
)
async def test_status_says_why_a_window_is_raw_or_set_aside(opened: Opened, model: Any, why: str) -> None:
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    await alice.add(turn("I live in Oslo."))
    done = await alice.consolidate()
    assert (done.last_error or "").startswith(why)
    assert (await alice.status()).last_error == done.last_error


async def test_making_a_session_due_changes_no_prompt_and_repeats_without_effect(opened: Opened) -> None:
    model = ScriptedChat(name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    call = {"id": "call_0", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    await alice.add(
        [*turn("I live in Oslo."), user("List it."), {"role": "assistant", "content": None, "tool_calls": [call]}]
    )
    when, store = mem._store._runtime.settings.when, mem._store._runtime.store
    before = await alice._tx.read(lambda tx: tx.session("s1"))
    for _ in range(2):
        assert await store.write(alice.scope, lambda tx: make_due(tx, tx.session("s1"), when)) == 3
    after = await alice._tx.read(lambda tx: tx.session("s1"))
    assert (after.window_start, after.cursor, after.ended_at) == (before.window_start, before.cursor, before.ended_at)
    assert (await alice.status()).due["consolidate"] == 1
    assert await mem.settle(timeout=300)
    assert (await alice.status()).pending == 1, "the open call waits for its result"


async def test_a_script_that_was_kept_raw_is_not_consolidated_later(lasting: str, clock: FakeClock) -> None:
    model = ScriptedChat(name="m")
    async with AsyncMemhold.open(lasting, clock=clock, worker=False) as mem:
        script = mem.scope(user="alice", session="script:nightly")
        await script.add(turn("I live in Oslo."))
        assert (await script.end_session()).ids
    async with AsyncMemhold.open(lasting, clock=clock, worker=False, consolidation=model) as mem:
        assert await mem.settle(timeout=300)
        await mem.scope(user="alice").consolidate()
        assert model.asked == []
        assert (await mem.scope(user="alice").recall("Oslo", kinds=["raw"])).hits


async def test_known_facts_leave_room_for_the_window(opened: Opened) -> None:
    model = ScriptedChat(name="m")
    mem = await opened(model)
    alice = mem.scope(user="alice", session="s1")
    for number in range(60):
        await alice.remember(attribute=f"rule {number}", value=f"{number} " + "가나다라 " * 60)
    await alice.remember(attribute="home", value="Oslo")
    await alice.add(turn("I moved from Oslo to Paris."))
    await alice.consolidate()
    head = model.asked[0].turns[0].text.partition("The conversation:")[0]
    assert estimate_tokens(head) < 2_000
    assert "home | Oslo" in head, "what is spoken of comes first"
