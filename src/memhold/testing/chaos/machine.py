"""What is loaded on the chaos server's machine: unloading when idle, warm-up, one GPU. Pure: time is an argument."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

__all__ = ["Machine", "Readiness", "ask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Loading rules and state. Times are seconds of the server's clock; `ready_at` and `used_at` are by model.

    With `idle_unload` None nothing is ever unloaded for idleness; with `one_gpu` a model that loads evicts the others.
    A model that was never asked for is loaded, unless `starts_cold`.
    """

    idle_unload: float | None = None
    warm_up: float = 0.0
    one_gpu: bool = False
    starts_cold: bool = False
    ready_at: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    used_at: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Whether a model answers now; `wait`: the seconds its load still takes; `evicted`: it was just found unloaded."""

    ready: bool
    wait: float = 0.0
    evicted: bool = False


def ask(machine: Machine, model: str, now: float) -> tuple[Machine, Readiness]:
    """The machine after a request for a model, and whether that request is answered.

    A request that finds its model unloaded starts the load and is not answered itself, as just-in-time loading behaves.
    """
    ready_at = machine.ready_at.get(model)
    if ready_at is None and not machine.starts_cold and not (machine.one_gpu and machine.ready_at):
        return _used(machine, model, ready_at=now, now=now), Readiness(ready=True)
    if ready_at is not None and ready_at > now:
        return machine, Readiness(ready=False, wait=ready_at - now)
    idle = now - max(machine.used_at.get(model, now), ready_at or 0.0)
    gone = machine.idle_unload is not None and idle >= machine.idle_unload
    if ready_at is not None and not gone:
        return _used(machine, model, ready_at=ready_at, now=now), Readiness(ready=True)
    loading = _used(machine, model, ready_at=now + machine.warm_up, now=now)
    return loading, Readiness(ready=False, wait=machine.warm_up, evicted=True)


def _used(machine: Machine, model: str, *, ready_at: float, now: float) -> Machine:
    kept = {} if machine.one_gpu else dict(machine.ready_at)
    return replace(machine, ready_at={**kept, model: ready_at}, used_at={**machine.used_at, model: now})
