"""A chain of models: the first that answers well answers for all, and each is asked at most once (the first: thrice).

`Chain` is a `ChatModel`. The task layer uses `ask` with a pure check of the reply: a rejected reply goes to the next
model, never again to the same one with the same prompt.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Final, Generic, TypeVar, assert_never

from memhold.ports.models import Accepted, Advice, ChatModel, ChatReply, ChatRequest, Rejected, TaskFailed, Usage
from memhold.ports.stores import Clock
from memhold.providers.failures.classify import NO_KEY
from memhold.providers.wrappers import Backoff, DeadlinePassed, Retrying, within
from memhold.values.errors import Attempt, FailureClass, ModelError

__all__ = ["Accepted", "Advice", "Chain", "Link", "Observe", "Rejected", "TaskFailed"]

log = logging.getLogger("memhold.models")

T = TypeVar("T")
Observe = Callable[[ChatRequest, Attempt, Usage], None]
"""Called once a call that a chain made; `Attempt.cls` is None for an accepted answer."""

_REFUSALS: Final = 3  # fewer may be one provider being careful
_NOT_ASKED: Final = frozenset({"resting", NO_KEY})  # no request was made, so nothing is counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One model of a chain and the tokens that its window takes; None where that is not known."""

    model: ChatModel
    window: int | None = None


@dataclass(slots=True)
class _Run(Generic[T]):
    """What one walk along the chain has seen so far; it outlives the walk when the deadline cuts it."""

    attempts: list[Attempt] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    asked: bool = False
    too_small: int | None = None
    shortened: bool = False


class Chain:
    """A `ChatModel` that asks its links in order.

    Up to `backoff.attempts` calls to the first link that can be asked, one to each further, each model once however
    often it is listed. `retry`, `resample`, `next`, `park` and `auth` go on to the next link, `poison` ends the chain,
    `shorten` goes on only to a larger window. `deadline` (seconds) holds for the whole chain, waits included; each
    call has its own.
    """

    def __init__(
        self,
        links: Sequence[Link],
        *,
        clock: Clock,
        dice: Random,
        name: str = "chain",
        backoff: Backoff | None = None,
        deadline: float = 600.0,
        observe: Observe | None = None,
    ) -> None:
        self._links = _distinct(links)
        self._clock = clock
        self._dice = dice
        self._name = name
        self._backoff = backoff or Backoff()
        self._deadline = deadline
        self._observe = observe

    @property
    def name(self) -> str:
        """The chain's name."""
        return self._name

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the links, in the order in which they are asked."""
        return tuple(link.model.name for link in self._links)

    @property
    def window(self) -> int | None:
        """The tokens that the first link's window takes; None where that is not known."""
        return self._links[0].window if self._links else None

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The first answer of any link.

        Raises:
            ChainFailed: none gave one.
        """
        outcome = await self.ask(request, _any_reply)
        match outcome:
            case Accepted():
                return outcome.value
            case TaskFailed():
                raise outcome.error(self._name)
            case _:
                assert_never(outcome)

    async def ask(
        self, request: ChatRequest, accept: Callable[[ChatReply], T | Rejected], *, can_shorten: bool = False
    ) -> Accepted[T] | TaskFailed:
        """What `accept` makes of the first reply that it does not reject, or why there is none.

        It is called in a thread, one call at a time.

        With `can_shorten` the caller will ask again with less, so the first `shorten` ends the walk; without it, links
        with a larger or unknown window are asked first. Cancelling cancels the call that is under way.
        """
        run: _Run[T] = _Run()
        try:
            found = await within(self._clock, self._deadline, self._walk(run, request, accept, can_shorten=can_shorten))
        except DeadlinePassed:
            late = Attempt(model=self._name, cls="retry", code="chain_deadline", reason="the chain's time is up")
            return TaskFailed(advice="retry", attempts=(*run.attempts, late))
        return found if found is not None else _failed(run.attempts, shortened=run.shortened)

    async def _walk(
        self, run: _Run[T], request: ChatRequest, accept: Callable[[ChatReply], T | Rejected], *, can_shorten: bool
    ) -> Accepted[T] | None:
        for position, link in enumerate(self._links):
            if run.too_small is not None and link.window is not None and link.window <= run.too_small:
                continue
            more = position + 1 < len(self._links)
            try:
                reply = await self._call(run, request, link, more=more)
            except ModelError as error:
                if not self._goes_on(run, link, error, can_shorten=can_shorten):
                    return None
                continue
            verdict = await asyncio.to_thread(partial(_judged, reply, accept))  # a long one takes a second
            if not isinstance(verdict, Rejected):
                self._note(request, run, run.attempts[-1])
                return Accepted(value=verdict, reply=reply, attempts=tuple(run.attempts))
            self._reject(request, run, verdict)
        return None

    async def _call(self, run: _Run[T], request: ChatRequest, link: Link, *, more: bool) -> ChatReply:
        def record(attempt: Attempt, usage: Usage) -> None:
            run.attempts.append(attempt)
            run.usage = usage
            if attempt.code in _NOT_ASKED:
                return
            run.asked = True
            if attempt.cls is not None:
                self._note(request, run, attempt)

        # A link that follows another gets one call; the first that can be asked is retried.
        backoff = replace(self._backoff, attempts=1) if run.asked else self._backoff
        alone = not more and not run.asked
        retrying = Retrying(link.model, clock=self._clock, dice=self._dice, backoff=backoff, alone=alone, record=record)
        return await retrying.chat(request)

    def _goes_on(self, run: _Run[T], link: Link, error: ModelError, *, can_shorten: bool) -> bool:
        match error.cls:
            case "poison":
                return False
            case "shorten":
                run.shortened = True
                if link.window is not None:
                    run.too_small = max(link.window, run.too_small or 0)
                return not can_shorten
            case "retry" | "resample" | "next" | "park" | "auth":
                return True
            case _:
                assert_never(error.cls)

    def _reject(self, request: ChatRequest, run: _Run[T], verdict: Rejected) -> None:
        cls: FailureClass = "next" if verdict.refused else "resample"
        code = "refused" if verdict.refused else "rejected"
        attempt = replace(run.attempts[-1], cls=cls, code=code, reason=verdict.reason, refused=verdict.refused)
        run.attempts[-1] = attempt
        self._note(request, run, attempt)

    def _note(self, request: ChatRequest, run: _Run[T], attempt: Attempt) -> None:
        if self._observe is not None:
            self._observe(request, attempt, run.usage)


def _judged(reply: ChatReply, accept: Callable[[ChatReply], T | Rejected]) -> T | Rejected:
    """What `accept` says; a reply on which it stumbles is no answer, and the next link is asked."""
    if reply.finish == "refusal":
        return Rejected(reason="the model refused", refused=True)
    try:
        return accept(reply)
    except Exception as error:  # noqa: BLE001 - the edge around a link's answer
        log.warning("%s: its answer cannot be read (%s)", reply.model, type(error).__name__)
        return Rejected(reason=f"its answer cannot be read ({type(error).__name__})")


def _any_reply(reply: ChatReply) -> ChatReply | Rejected:
    return reply


def _distinct(links: Iterable[Link]) -> tuple[Link, ...]:
    """Each model once, where it comes first: a chain that comes back to a model ends there."""
    found: dict[str, Link] = {}
    for link in links:
        found.setdefault(link.model.name, link)
    return tuple(found.values())


def _failed(attempts: Sequence[Attempt], *, shortened: bool) -> TaskFailed:
    """The advice that follows from all attempts: what ends the work first, then what a change of it may cure."""
    classes = [attempt.cls for attempt in attempts]
    delays = [attempt.retry_after for attempt in attempts if attempt.retry_after is not None]
    soonest = min(delays, default=None)
    advice: Advice
    if "poison" in classes:
        advice = "poison"
    elif shortened:
        advice = "shorten"
    elif len({attempt.model for attempt in attempts if attempt.refused}) >= _REFUSALS:
        advice = "refused"
    elif classes and all(cls in {"park", "auth"} for cls in classes):
        advice = "park"
    else:
        advice = "retry"
    return TaskFailed(
        advice=advice, attempts=tuple(attempts), retry_after=soonest if advice in {"park", "retry"} else None
    )
