"""The vector of a question in time, or not at all: an embedder that was slow is left alone until it answers again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from memhold.ports.stores import Clock
from memhold.values.errors import MemholdError
from memhold.values.rests import Resting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

__all__ = ["Questions", "TooSlow"]

SLOW: Final = 0.5
"""Seconds from which on a failure is as bad as no answer: whoever asks waited for it."""
REST: Final = timedelta(seconds=30)
"""How long an embedder that failed is not asked at all; then a call in the background tries it."""


class TooSlow(Exception):
    """There is no vector in time; says why in plain words."""


class Questions:
    """Asks for the vectors of questions. For one event loop.

    The first slow answer is waited for to the limit; it goes on in the background, and until one comes back whole, as
    soon as it is needed, every further question is answered at once with `TooSlow`. An answer that came too late shows
    that the embedder is there: the next question has it tried. So it is after a failure: nobody waits for the next.

    Args:
        embed: gives the vector of a question.
        late: is told of an answer that did not come in so many seconds, and again where it came after them.
    """

    def __init__(self, embed: Callable[[str], Awaitable[Matrix]], late: Callable[[float], None] | None = None) -> None:
        self._embed = embed
        self._late = late
        self._resting = False
        self._slow = False
        self._why = ""
        self._rest: Resting | None = None
        self._probe: asyncio.Future[Matrix] | None = None

    async def ask(self, text: str, *, seconds: float, clock: Clock) -> Matrix:
        """The vector of a question.

        Raises:
            TooSlow: it did not come within that many seconds, or the embedder rests.
            MemholdError: the call failed.
        """
        if self._resting:
            self._try_again(text, seconds, clock)
            raise TooSlow(self.resting)
        task = asyncio.ensure_future(self._embed(text))
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            await asyncio.wait({task}, timeout=seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done():
            self._resting, self._slow, self._why = True, True, "did not answer in time"
            self._watch(task, seconds, clock, late=True)
            if self._late is not None:
                self._late(seconds)
            raise TooSlow("the embedding took too long")
        try:
            return task.result()
        except MemholdError:
            self._resting, self._slow, self._why = True, False, "failed"
            # One that fails at once is tried behind the next question: it may be well again.
            self._rest = Resting(since=clock.now(), length=REST) if loop.time() - begun > SLOW else None
            raise

    @property
    def resting(self) -> str:
        """Why the next question would go without a vector, in plain words; empty where the embedder is asked."""
        return f"the embedding {self._why} and is left alone until it answers" if self._resting else ""

    def answers(self) -> None:
        """The embedder was seen to answer: it is asked again, but where it had been slow, which this does not show."""
        if not self._slow:
            self._resting, self._rest = False, None

    async def close(self) -> None:
        """Let go of a call that still runs. Idempotent."""
        probe, self._probe = self._probe, None
        if probe is not None and not probe.done():
            probe.cancel()
            await asyncio.gather(probe, return_exceptions=True)

    def _try_again(self, text: str, seconds: float, clock: Clock) -> None:
        busy = self._probe is not None and not self._probe.done()
        if not busy and not (self._rest is not None and self._rest.lasts(clock.now())):
            self._watch(asyncio.ensure_future(self._embed(text)), seconds, clock)

    def _watch(self, task: asyncio.Future[Matrix], seconds: float, clock: Clock, *, late: bool = False) -> None:
        """See what comes of a call: an answer within so many seconds heals, but where it is `late` already."""
        loop = asyncio.get_running_loop()
        begun = loop.time()

        def ended(done: asyncio.Future[Matrix]) -> None:
            if done.cancelled():
                return
            if done.exception() is not None:
                self._rest = Resting(since=clock.now(), length=REST)
            elif late or loop.time() - begun > seconds:
                self._rest = None if late else Resting(since=clock.now(), length=REST)
                if self._late is not None:
                    self._late(seconds)  # whoever made the call took it for an answer like any other
            else:
                self._slow = False
                self.answers()

        task.add_done_callback(ended)
        self._probe = task
