"""Wrappers that are what they wrap: a deadline, a place in the host's queue, a breaker, retries. Each is a `ChatModel`.

In the order in which a link wears them: Retrying(Breaker(Limited(Timed(model)))). The deadline begins when the host
has a place, so waiting for a busy local server takes nothing from the call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Final, TypeVar, cast

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from memhold.ports.models import ChatModel, ChatReply, ChatRequest, Usage
from memhold.ports.stores import Clock, Priority
from memhold.providers.embedding.gate import PriorityGate
from memhold.providers.entry import Entry, server_of
from memhold.providers.failures.classify import Verdict, late
from memhold.providers.failures.delays import bounded_delay
from memhold.providers.failures.errors import model_error, plain_error
from memhold.values.errors import Attempt, ModelError

__all__ = ["Backoff", "DeadlinePassed", "HostGates", "Limited", "Record", "Retrying", "Timed", "attempt_of", "within"]

T = TypeVar("T")
Record = Callable[[Attempt, Usage], None]
"""Called once for each call that was made, answered or failed, with the tokens that it took."""

_UNREADABLE: Final = (RecursionError, ArithmeticError, LookupError, TypeError, AttributeError, ValueError, MemoryError)
"""What reading an answer can raise that no case of ours foresaw; none of it comes from a network."""
_INTERACTIVE: Final = frozenset({"conversation", "test"})


class DeadlinePassed(Exception):
    """The awaited thing took longer than its deadline and was cancelled."""


async def within(clock: Clock, seconds: float, awaited: Awaitable[T]) -> T:
    """The result, if it comes within that many seconds of the clock; else it is cancelled. Cancelling us cancels it.

    Raises:
        DeadlinePassed: it did not.
    """
    work = asyncio.ensure_future(awaited)
    timer = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({work, timer}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        raise DeadlinePassed
    finally:
        pending = [task for task in (work, timer) if not task.done()]
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.gather(*pending, return_exceptions=True)


class Timed:
    """A model with a deadline a call."""

    def __init__(self, model: ChatModel, *, clock: Clock, seconds: float) -> None:
        self._model = model
        self._clock = clock
        self._seconds = seconds

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The wrapped model's answer.

        Raises:
            ModelError: of class `retry` and slow, when the deadline passed; else what the model raised.
        """
        try:
            return await within(self._clock, self._seconds, self._model.chat(request))
        except DeadlinePassed:
            raise model_error(self.name, late(self._seconds)) from None


class HostGates:
    """One gate a host: how many calls it gets at a time. A local server gets one, so chat and embedding take turns."""

    def __init__(self, *, hosted: int = 8, local: int = 1) -> None:
        self._limits = {False: hosted, True: local}
        self._gates: dict[str, PriorityGate] = {}

    def of(self, entry: Entry) -> PriorityGate:
        """The gate of the entry's host, the same for every entry on it."""
        host = server_of(entry.base_url) or entry.protocol
        if host not in self._gates:
            self._gates[host] = PriorityGate(self._limits[entry.served_locally])
        return self._gates[host]


class Limited:
    """A model that waits for a place at its host; interactive purposes go before batch work."""

    def __init__(self, model: ChatModel, *, gate: PriorityGate) -> None:
        self._model = model
        self._gate = gate

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The wrapped model's answer, once the host had a place. Cancelling gives the place back."""
        priority = Priority.INTERACTIVE if request.purpose in _INTERACTIVE else Priority.WORKER
        async with self._gate(priority):
            return await self._model.chat(request)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How often one model is asked and how long it is waited for: 1, 2, 4 … seconds, up to half as much again.

    A provider's Retry-After is the least; longer than `patience`, it is not waited for. A server that unloaded
    the model is asked `unloads` more times, `unload_pause` seconds apart, on any link: the load is on its way.
    """

    attempts: int = 3
    first: float = 1.0
    factor: float = 2.0
    jitter: float = 0.5
    patience: float = 30.0
    unloads: int = 3
    unload_pause: float = 0.5

    def seconds(self, number: int, asked: float | None, dice: Random) -> float:
        """How long to wait after attempt `number` (from 1) before the next."""
        base = max(self.first * self.factor ** (number - 1), asked or 0.0)
        return base * (1.0 + self.jitter * dice.random())


def attempt_of(error: ModelError, *, number: int, seconds: float) -> Attempt:
    """What is kept of a failed call."""
    return Attempt(
        model=error.model,
        cls=error.cls,
        status=error.status,
        code=error.code,
        reason=error.reason,
        said=error.said,
        seconds=seconds,
        number=number,
        refused=error.refused,
        retry_after=error.retry_after,
    )


def _reply(value: object) -> ChatReply:
    """What a model of the caller's own gave back, where it is a reply at all; else a TypeError."""
    if not isinstance(value, ChatReply) or not isinstance(cast("object", value.usage), Usage):
        raise TypeError
    return value


class Retrying:
    """A model that is asked again when its trouble passes: class `retry`, within the attempts.

    With `alone` false there is another model to ask: a time-out is not waited for twice and a failed sample is not
    drawn again. Alone, a sample is drawn once more. Cancelling ends a wait at once.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        clock: Clock,
        dice: Random,
        backoff: Backoff | None = None,
        alone: bool = True,
        record: Record | None = None,
    ) -> None:
        self._model = model
        self._clock = clock
        self._dice = dice
        self._backoff = backoff or Backoff()
        self._alone = alone
        self._record = record

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The first answer.

        Raises:
            ModelError: the last failure; `attempts` holds them all.
        """
        attempts: list[Attempt] = []

        async def once() -> ChatReply:
            begun = self._clock.now()
            number = len(attempts) + 1
            try:
                reply = await self._answer(request)
            except ModelError as error:
                attempts.append(attempt_of(error, number=number, seconds=self._since(begun)))
                if self._record is not None:
                    self._record(attempts[-1], Usage())
                raise
            if self._record is not None:
                answered = Attempt(model=self.name, cls=None, number=number, seconds=self._since(begun))
                self._record(answered, reply.usage)
            return reply

        retrying = AsyncRetrying(
            sleep=self._clock.sleep,
            retry=retry_if_exception(self._again),
            wait=self._wait,
            stop=self._stop,
            reraise=True,
        )
        try:
            return await retrying(once)
        except ModelError as error:
            error.attempts = tuple(attempts)
            raise

    async def _answer(self, request: ChatRequest) -> ChatReply:
        """The edge around a link's answer: whatever goes wrong in it is that link's failure, and the next is asked."""
        try:
            return _reply(await self._model.chat(request))
        except ModelError as error:
            error.retry_after = bounded_delay(error.retry_after)
            raise
        except _UNREADABLE as error:
            verdict = Verdict(cls="next", reason="its answer cannot be read", code="unreadable", rule="edge")
            raise model_error(self.name, verdict, cause=type(error).__name__) from None
        except Exception as error:  # noqa: BLE001 - the edge: SDKs raise classes of their own
            raise plain_error(error, model=self.name, now=self._clock.now()) from None

    def _since(self, begun: datetime) -> float:
        return max(0.0, (self._clock.now() - begun).total_seconds())

    def _again(self, error: BaseException) -> bool:
        if not isinstance(error, ModelError):
            return False
        if error.cls == "resample":
            return self._alone
        if error.rule == "unload":
            return self._backoff.unloads > 0
        return error.cls == "retry" and (self._alone or not error.slow)

    def _wait(self, state: RetryCallState) -> float:
        asked = state.outcome.exception() if state.outcome is not None else None
        if isinstance(asked, ModelError) and asked.rule == "unload":
            return self._backoff.unload_pause
        delay = asked.retry_after if isinstance(asked, ModelError) else None
        return self._backoff.seconds(state.attempt_number, delay, self._dice)

    def _stop(self, state: RetryCallState) -> bool:
        failed = state.outcome.exception() if state.outcome is not None else None
        if isinstance(failed, ModelError) and failed.rule == "unload":
            return state.attempt_number > self._backoff.unloads
        once_more = isinstance(failed, ModelError) and failed.cls == "resample"
        most = min(self._backoff.attempts, 2) if once_more else self._backoff.attempts
        asked = failed.retry_after if isinstance(failed, ModelError) else None
        return state.attempt_number >= most or (asked is not None and asked > self._backoff.patience)
