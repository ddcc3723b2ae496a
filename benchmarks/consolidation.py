"""Consolidation under failure: one layer, the other, both; and what it costs. Every call goes over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any, Final, cast

from benchmarks.measure import Row, doing
from memhold.consolidate.contract import Draft
from memhold.errors import Attempt
from memhold.faces.python.open import AsyncMemhold
from memhold.ports.models import Accepted, ChatModel, ChatReply, ChatRequest, Rejected, TaskFailed, Usage
from memhold.providers.catalog import load_catalog
from memhold.providers.chain import Chain, Link
from memhold.providers.chat import chat_model
from memhold.providers.entry import Entry
from memhold.providers.wrappers import Backoff
from memhold.testing import FakeClock
from memhold.testing.chaos import ChaosServer
from memhold.wiring.system import SystemClock

if TYPE_CHECKING:
    from memhold.verbs.local_store import LocalStore

__all__ = ["run"]

RATES: Final = (0.05, 0.15, 0.30)
FAULTS: Final = (
    *("reset", "html-502", "rate-limit", "truncated-json", "error-in-200"),
    *("prose", "wrong-tool", "empty-arguments", "null-arguments", "cut-at-limit", "refusal-text", "empty-reply"),
    "error-text",
)
"""Five ways in which the transport fails, eight in which a reply under status 200 is no success."""
SETUPS: Final = ("one model, one try", "retry only", "transport fallback only", "both layers")
MESSAGES: Final = 20


@dataclass(slots=True)
class Counted:
    """What a chain was asked, and by whom it was answered."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def observe(self, _: ChatRequest, attempt: Attempt, usage: Usage) -> None:
        """Count one call."""
        if attempt.code in {"resting", "no_key"}:
            return
        self.calls += 1
        self.input_tokens += usage.input_tokens or 0
        self.output_tokens += usage.output_tokens or 0


class TransportOnly:
    """A chain without the task layer: the first reply under status 200 counts as the answer, good or not."""

    def __init__(self, inner: Chain) -> None:
        self._inner = inner

    @property
    def models(self) -> Sequence[str]:
        """The links."""
        return self._inner.models

    @property
    def window(self) -> int | None:
        """The first link's window."""
        return self._inner.window

    async def ask(
        self, request: ChatRequest, accept: Any, *, can_shorten: bool = False
    ) -> Accepted[Draft] | TaskFailed:
        """The first reply, checked only afterwards: rejected, nobody else is asked."""
        first = await self._inner.ask(request, _anything, can_shorten=can_shorten)
        if isinstance(first, TaskFailed):
            return first
        verdict = accept(first.value)
        if not isinstance(verdict, Rejected):
            return Accepted(value=verdict, reply=first.reply, attempts=first.attempts)
        last = replace(first.attempts[-1], cls="resample", code="rejected", reason=verdict.reason)
        return TaskFailed(advice="retry", attempts=(*first.attempts[:-1], last))


def _anything(reply: ChatReply) -> ChatReply:
    return reply


def _chain(setup: str, models: Sequence[ChatModel], counted: Counted) -> Any:
    retries = {"one model, one try": 1, "retry only": 3, "transport fallback only": 1, "both layers": 3}[setup]
    used = models[:1] if setup in {"one model, one try", "retry only"} else models
    backoff = Backoff(attempts=retries, first=0.001, jitter=0.0, patience=0.01)
    links = [Link(model=model) for model in used]
    chain = Chain(links, clock=SystemClock(), dice=Random(0), backoff=backoff, observe=counted.observe)
    return chain if setup == "both layers" else TransportOnly(chain)


def conversation(window: int, random: Random) -> list[dict[str, Any]]:
    """One window of twenty messages with a tool call."""
    call = {"id": "call_0", "type": "function", "function": {"name": "search", "arguments": '{"q": "flights"}'}}
    found: list[dict[str, Any]] = [
        {"role": "user", "content": f"Window {window}. I live in {random.choice(('Oslo', 'Lyon', 'Busan'))}."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_0", "content": "A flight at nine. " * random.randrange(5, 60)},
        {"role": "assistant", "content": "There is a flight at nine."},
    ]
    while len(found) < MESSAGES:
        found.append(
            {"role": "user", "content": f"My budget is {random.randrange(100, 900)} euros. What else is there?"}
        )
        found.append({"role": "assistant", "content": "Two hotels near the station have rooms. " * 3})
    return found


async def _setup(setup: str, rate: float, windows: int, seed: int) -> tuple[int, Counted]:
    """How many windows were not consolidated at once by this set-up, and what it asked."""
    counted = Counted()
    async with ChaosServer(seed=seed) as server:
        for name in ("a", "b", "c"):
            server.fail_rate(rate, FAULTS, model=name)
        entries = [
            Entry(name=name, protocol="openai-chat", model=name, base_url=server.url) for name in ("a", "b", "c")
        ]
        models = [chat_model(entry, keys=lambda _: None, clock=SystemClock()) for entry in entries]
        chain = _chain(setup, models, counted)
        lost = 0
        # Time stands still for the store: a window that failed is not done again, as it is in no other system.
        clock = FakeClock()
        async with AsyncMemhold.open("memory://", clock=clock, worker=False, consolidation=chain) as memhold:
            random = Random(seed)
            for window in range(windows):
                scope = memhold.scope(user=f"u{window}", session="s")
                await scope.add(conversation(window, random))
                await scope.end_session()
            store = cast("LocalStore", memhold._store)  # noqa: SLF001 - one round at a time is what is measured
            worker = store._runtime.worker  # noqa: SLF001 - as above
            while (await worker.round()).done:
                pass
            for window in range(windows):
                lost += (await memhold.scope(user=f"u{window}").status()).raw > 0
        await asyncio.gather(*(model.close() for model in models if hasattr(model, "close")))
    return lost, counted


async def layers(windows: int) -> list[Row]:
    """Windows that a set-up could not consolidate (a system without RAW loses them), calls and tokens, at each rate."""
    rows = []
    for rate in RATES:
        for setup in SETUPS:
            lost, counted = await _setup(setup, rate, windows, seed=7)
            bar = 0.02 if setup == "both layers" and rate <= 0.15 else None
            rows.append(
                Row(
                    name=f"{rate:.0%} a call fails: {setup}",
                    value=f"{lost} of {windows} windows not consolidated",
                    against=f"{counted.calls} calls, {counted.input_tokens + counted.output_tokens:,} tokens",
                    ratio=lost / windows,
                    bar=bar,
                )
            )
    return rows


async def _one_by_one(windows: int) -> Counted:
    """What a design asks that consolidates after each message, with the same prompt and the same messages."""
    counted = Counted()
    async with ChaosServer(seed=3) as server:
        entry = Entry(name="a", protocol="openai-chat", model="a", base_url=server.url)
        model = chat_model(entry, keys=lambda _: None, clock=SystemClock())
        chain = _chain(SETUPS[0], [model], counted)
        async with AsyncMemhold.open("memory://", worker=False, consolidation=chain) as memhold:
            random = Random(3)
            for window in range(windows):
                scope = memhold.scope(user=f"u{window}", session="s")
                for message in conversation(window, random):
                    await scope.add(message)
                    await scope.consolidate()
        await model.close()
    return counted


async def cost(windows: int) -> list[Row]:
    """Calls and prompt tokens per 1,000 messages, beside a design that asks after each message; money, seconds."""
    _, counted = await _setup("both layers", 0.0, windows, seed=3)
    naive = await _one_by_one(max(1, windows // 5))
    per_thousand, naive_per_thousand = 1000 / (windows * MESSAGES), 1000 / (max(1, windows // 5) * MESSAGES)
    calls, tokens = counted.calls * per_thousand, counted.input_tokens * per_thousand
    naive_calls, naive_tokens = naive.calls * naive_per_thousand, naive.input_tokens * naive_per_thousand
    rows = [
        Row(
            name="calls per 1,000 messages",
            value=f"{calls:.0f}",
            against=f"after each message: {naive_calls:.0f}",
            ratio=calls / naive_calls,
            bar=0.1,
        ),
        Row(
            name="prompt tokens per 1,000 messages",
            value=f"{tokens:,.0f}",
            against=f"after each message: {naive_tokens:,.0f}",
            ratio=tokens / naive_tokens,
            bar=0.5,
        ),
    ]
    catalog = load_catalog()
    into, out = 3 * counted.input_tokens / windows, 3 * counted.output_tokens / windows
    for chain in ("consolidation", "conversation"):
        entry = catalog.chain(chain)[0]
        money = entry.cost(round(into), round(out))
        seconds = f"{out / entry.speed:.1f} s" if entry.speed else "speed not known"
        shown = "price not known" if money is None else f"{money * 100:.3f} cents"
        rows.append(Row(name=f"a 60-message window, {chain} model {entry.name}", value=f"{shown}, {seconds}"))
    return rows


async def shares(windows: int) -> list[Row]:
    """Which link of the chain gave the answer when 15 % of the calls to each fail."""
    async with ChaosServer(seed=5) as server:
        names = ("a", "b", "c")
        for name in names:
            server.fail_rate(0.15, FAULTS, model=name)
        entries = [Entry(name=name, protocol="openai-chat", model=name, base_url=server.url) for name in names]
        models = [chat_model(entry, keys=lambda _: None, clock=SystemClock()) for entry in entries]
        found: dict[str, int] = {}
        async with AsyncMemhold.open(
            "memory://", worker=False, consolidation=_chain(SETUPS[3], models, Counted())
        ) as mem:
            for window in range(windows):
                scope = mem.scope(user=f"u{window}", session="s")
                await scope.add(conversation(window, Random(window)))
                made = await scope.consolidate()
                who = "none at once" if not made.summaries else await _author(scope, made.summaries[0])
                found[who] = found.get(who, 0) + 1
        await asyncio.gather(*(model.close() for model in models if hasattr(model, "close")))
    value = ", ".join(f"{name} {count / windows:.0%}" for name, count in sorted(found.items()))
    return [Row(name="answered by each link at 15 %", value=value)]


async def _author(scope: Any, memory_id: str) -> str:
    changes = [change for change in await scope.history(memory_id) if change.verb == "consolidate"]
    return str(changes[0].by.name)


def run(*, quick: bool = False) -> list[Row]:
    """Every row of the table; `quick` makes it small enough for a test."""
    windows = 8 if quick else 200
    doing("models that fail, one try and both layers")
    rows = asyncio.run(layers(windows))
    doing("what it costs")
    rows += asyncio.run(cost(4 if quick else 20))
    doing("what becomes of each window")
    rows += asyncio.run(shares(windows))
    return rows
