"""A breaker a model: a link whose environment is at fault rests, and is probed slowly, one call at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Literal

from memhold.ports.models import ChatModel, ChatReply, ChatRequest
from memhold.ports.stores import Clock
from memhold.values.errors import ModelError, ModelResting
from memhold.values.rests import Resting

__all__ = ["Breaker", "BreakerState", "Rest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """When a link rests and for how long: after `failures` in a row, or at once when parked; doubled a failed probe.

    Seconds. A provider's own delay is the least where it is longer than `notable`.
    """

    failures: int = 5
    after_failures: float = 30.0
    parked: float = 60.0
    most: float = 600.0
    notable: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerState:
    """What a breaker shows: `until` is None for a link that waits for another key."""

    state: Literal["closed", "open", "half-open"]
    cls: Literal["park", "auth"] | None = None
    until: datetime | None = None
    reason: str = ""


class Breaker:
    """A model that is left alone while it cannot work.

    Closed: calls pass. Open: `ModelResting` at once, without a call. Half-open: one call probes, the others still rest.

    `park` opens it at once, `auth` until `key()` gives another value (without a `key` it is as `park`), failures in
    a row after a few. What only concerns a request (`next`, `shorten`, `poison`, `resample`) shows that the link is
    alive. For one event loop.
    """

    def __init__(
        self, model: ChatModel, *, clock: Clock, rest: Rest | None = None, key: Callable[[], str | None] | None = None
    ) -> None:
        self._model = model
        self._clock = clock
        self._rest = rest or Rest()
        self._key = key
        self._failures = 0
        self._span = 0.0
        self._resting: Resting | None = None
        self._refused_key: bytes | None = None
        self._why = ""
        self._probing = False

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    @property
    def state(self) -> BreakerState:
        """What the breaker does now."""
        if self._refused_key is not None:
            if self._refused_key == self._mark():
                return BreakerState(state="open", cls="auth", reason=self._why)
            return BreakerState(state="half-open", cls="auth", reason=self._why)
        if self._resting is None:
            return BreakerState(state="closed")
        until, now_open = self._resting.until, self._resting.lasts(self._clock.now())
        return BreakerState(state="open" if now_open else "half-open", cls="park", until=until, reason=self._why)

    def close(self) -> None:
        """Forget the past: the next call goes out."""
        self._failures, self._span, self._resting, self._refused_key, self._why = 0, 0.0, None, None, ""

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The wrapped model's answer.

        Raises:
            ModelResting: the link was not asked.
            ModelError: what the model raised.
        """
        probe = self._enter()
        try:
            reply = await self._model.chat(request)
        except ModelError as error:
            self._failed(error)
            raise
        else:
            self.close()
            return reply
        finally:
            if probe:
                self._probing = False

    def _enter(self) -> bool:
        """Whether this call is a probe; raises where the link rests."""
        shown = self.state
        if shown.state == "closed":
            return False
        if shown.state == "open" or self._probing:
            raise self._left_alone(shown)
        self._probing = True
        return True

    def _left_alone(self, shown: BreakerState) -> ModelResting:
        left = None
        if shown.until is not None:
            left = max(0.0, (shown.until - self._clock.now()).total_seconds())
        when = "until its key changes" if shown.cls == "auth" else f"for {left or 0.0:.0f} s"
        return ModelResting(
            f"{self.name}: not asked, it rests {when}: {self._why}",
            model=self.name,
            cls=shown.cls,
            code="resting",
            reason=self._why,
            rule="resting",
            retry_after=left,
        )

    def _failed(self, error: ModelError) -> None:
        match error.cls:
            case "auth" if self._key is None:
                self._open(self._rest.parked, error)  # no key of ours can change: a firewall, or a server's own trouble
            case "auth":
                self._refused_key, self._why = self._mark(), error.reason
            case "park":
                self._open(self._rest.parked, error)
            case "retry":
                self._failures += 1
                asked = error.retry_after or 0.0
                if asked >= self._rest.notable or self._failures >= self._rest.failures or self._resting is not None:
                    self._open(self._rest.after_failures, error)
            case _:
                self.close()

    def _open(self, span: float, error: ModelError) -> None:
        self._refused_key = None
        self._span = min(self._rest.most, self._span * 2 if self._span else span)
        seconds = max(self._span, error.retry_after or 0.0)
        self._resting = Resting(since=self._clock.now(), length=timedelta(seconds=seconds))
        self._why = error.reason

    def _mark(self) -> bytes:
        """A digest of the key, so that the breaker keeps no secret."""
        return blake2b((self._key() or "").encode() if self._key is not None else b"", digest_size=8).digest()
