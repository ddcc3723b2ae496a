"""Scripted models and a way to let a fake clock run, for the tests of the providers."""

from __future__ import annotations

import asyncio
from random import Random

from memhold.errors import ModelError
from memhold.ports.models import ChatReply, ChatRequest, ChatTurn, Tool, Usage
from memhold.providers.chain import Chain, Link
from memhold.testing.clock import FakeClock

TOOL = Tool(
    name="save_memory",
    description="Save what was learnt.",
    parameters={"type": "object", "properties": {"history_entry": {"type": "string"}}, "required": ["history_entry"]},
)


def a_request(purpose="consolidation", tool=TOOL):
    turns = (ChatTurn(role="user", text="My favorite food is sushi."),)
    return ChatRequest(system="Save what you learn.", turns=turns, purpose=purpose, tool=tool)


def failure(cls, **values):
    return ModelError(f"scripted {cls}", model="?", cls=cls, **values)


class Scripted:
    """A model that does what its script says: an error, a reply, or seconds to take; at its end, the last again."""

    def __init__(self, name, *script, clock=None):
        self._name = name
        self._script = list(script) or ["fine"]
        self._clock = clock
        self.calls = []

    @property
    def name(self):
        return self._name

    async def chat(self, request):
        step = self._script[min(len(self.calls), len(self._script) - 1)]
        self.calls.append(request)
        if isinstance(step, (int, float)):
            await self._clock.sleep(step)
            step = "late"
        if isinstance(step, ModelError):
            error = ModelError(str(step), **{**step.values, "model": self._name})
            raise error
        if isinstance(step, ChatReply):
            return step
        return ChatReply(model=self._name, text=step, usage=Usage(input_tokens=100, output_tokens=10))


async def run(clock: FakeClock, awaitable, *, most=100_000):
    """The result; time passes whenever nothing else can happen."""
    task = asyncio.ensure_future(awaitable)
    for _ in range(most):
        for _ in range(30):
            if task.done():
                return task.result()
            await asyncio.sleep(0)
        await clock.elapse(0.25)
    task.cancel()
    raise AssertionError("it never ended")


def a_chain(clock, *models, windows=None, **options):
    links = [Link(model=model, window=(windows or {}).get(model.name)) for model in models]
    return Chain(links, clock=clock, dice=Random(1), **options)
