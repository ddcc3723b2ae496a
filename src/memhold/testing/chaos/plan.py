"""Which fault meets which request: scripts, standing faults and seeded probability. Safe to change from any thread."""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from memhold.testing.chaos.faults import FAULTS, OK, Fault, Fine, Misbind, Spoil, fault
from memhold.values.errors import InvalidInput

__all__ = ["Plan", "RequestKind", "fits"]

RequestKind = Literal["chat", "embedding", "other"]

_ORDINARY = (
    "reset", "disconnect", "html-502", "rate-limit", "truncated-json", "sse-error", "error-in-200", "prose",
    "wrong-tool",
    "empty-arguments", "arguments-broken", "cut-at-limit", "refusal-text", "empty-reply", "fewer-vectors",
)  # fmt: skip


def fits(one: Fault, kind: RequestKind) -> bool:
    """Whether a fault can happen to a request: spoilt replies need a chat, misbound vectors an embedding."""
    match one.act:
        case Spoil():
            return kind == "chat"
        case Misbind():
            return kind == "embedding"
        case _:
            return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Where:
    model: str | None
    path: str | None

    def covers(self, model: str, path: str, kind: RequestKind) -> bool:
        if self.path is not None:
            return path == self.path and self.model in {None, model}
        return kind != "other" and self.model in {None, model}

    @property
    def narrowness(self) -> int:
        return (self.model is not None) + (self.path is not None)


class Plan:
    """What will go wrong. The narrowest scripts come first, then standing faults, then chance.

    Faults without a path meet chat and embedding requests only, so that asking for the list of models uses none up.
    A fault that cannot happen to a request waits for one that it fits.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._lock = threading.Lock()
        self._queues: dict[_Where, deque[Fault]] = {}
        self._standing: dict[_Where, Fault] = {}
        self._rates: dict[str | None, tuple[float, tuple[Fault, ...]]] = {}
        self._dice: dict[str, random.Random] = {}

    def script(self, faults: Iterable[Fault | str], model: str | None, path: str | None) -> None:
        """Queue faults for the coming requests, one each."""
        found = [_named(one) for one in faults]
        with self._lock:
            self._queues.setdefault(_Where(model=model, path=path), deque()).extend(found)

    def always(self, one: Fault | str | None, model: str | None, path: str | None) -> None:
        """Let every request meet a fault from now on; None ends that."""
        where = _Where(model=model, path=path)
        with self._lock:
            if one is None:
                self._standing.pop(where, None)
            else:
                self._standing[where] = _named(one)

    def fail_rate(self, rate: float, faults: Sequence[Fault | str] | None, model: str | None) -> None:
        """Let each request fail with a probability, by a fault drawn from `faults`."""
        if not 0.0 <= rate <= 1.0:
            raise InvalidInput(f"a fail rate is between 0 and 1, not {rate}")
        chosen = tuple(_named(one) for one in (faults if faults is not None else _ORDINARY))
        if not chosen:
            raise InvalidInput("name at least one fault to fail with")
        with self._lock:
            self._rates[model] = (rate, chosen)

    def clear(self) -> None:
        """Forget every script, standing fault and rate."""
        with self._lock:
            self._queues.clear()
            self._standing.clear()
            self._rates.clear()

    @property
    def waiting(self) -> int:
        """How many scripted faults no request has met yet."""
        with self._lock:
            return sum(len(queue) for queue in self._queues.values())

    def next(self, model: str, path: str, kind: RequestKind) -> Fault:
        """The fault that this request meets; `OK` for none."""
        with self._lock:
            for where in sorted(self._queues, key=lambda one: -one.narrowness):
                queue = self._queues[where]
                if queue and where.covers(model, path, kind) and fits(queue[0], kind):
                    return queue.popleft()
            for where in sorted(self._standing, key=lambda one: -one.narrowness):
                if where.covers(model, path, kind) and fits(self._standing[where], kind):
                    return self._standing[where]
            return self._by_chance(model, kind)

    def _by_chance(self, model: str, kind: RequestKind) -> Fault:
        rate, faults = self._rates.get(model) or self._rates.get(None) or (0.0, ())
        if kind == "other" or rate == 0.0:
            return OK
        dice = self._dice.setdefault(model, random.Random(f"{self._seed}:{model}"))
        failing, choice = dice.random() < rate, dice.random()
        fitting = [one for one in faults if fits(one, kind)]
        return fitting[int(choice * len(fitting))] if failing and fitting else OK


def _named(one: Fault | str) -> Fault:
    if isinstance(one, str):
        return fault(one)
    return FAULTS["ok"] if isinstance(one.act, Fine) else one
