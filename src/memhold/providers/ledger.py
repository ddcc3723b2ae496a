"""What models cost: calls, tokens, latency, retries, failures by class and money, per day, model and purpose.

Accounting is pure: a call becomes a `Tally`, tallies of one key add up. `Ledger` collects them between two writes;
where they are kept is behind the narrow port `inference.UsageBook`. A tally holds numbers and names of models, never
content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from datetime import date
from types import MappingProxyType

from memhold.ports.models import ChatRequest, Tally, Usage
from memhold.ports.stores import Clock
from memhold.providers.entry import Entry
from memhold.values.errors import Attempt

__all__ = ["Ledger", "merged", "tally_of"]

_NANO = 1_000_000_000


def tally_of(purpose: str, attempt: Attempt, usage: Usage, *, day: date, entry: Entry | None = None) -> Tally:
    """One call as a tally, priced from its catalog entry. A failed call without counted tokens costs nothing."""
    cost = entry.cost(usage.input_tokens, usage.output_tokens) if entry is not None else None
    counted = usage.input_tokens is not None or usage.output_tokens is not None
    answered = attempt.cls is None
    return Tally(
        day=day,
        model=attempt.model,
        purpose=purpose,
        calls=1,
        answered=int(answered),
        retries=int(attempt.number > 1),
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        milliseconds=round(attempt.seconds * 1000),
        nanousd=round((cost or 0.0) * _NANO),
        unpriced=int(cost is None or (answered and not counted)),
        failures={} if attempt.cls is None else {attempt.cls: 1},
    )


_COUNTS = tuple(item.name for item in fields(Tally) if item.type == "int")


def merged(tallies: Iterable[Tally], *, days: bool = True) -> list[Tally]:
    """Tallies added up by day, model and purpose (without `days` by model and purpose, under the first day), sorted."""
    found: dict[tuple[object, ...], Tally] = {}
    for one in tallies:
        key = (one.day if days else None, one.model, one.purpose)
        known = found.get(key)
        found[key] = one if known is None else _sum(known, one)
    return sorted(found.values(), key=lambda one: (one.day, one.model, one.purpose))


def _sum(first: Tally, second: Tally) -> Tally:
    failures = dict(first.failures)
    for cls, count in second.failures.items():
        failures[cls] = failures.get(cls, 0) + count
    counts = {name: getattr(first, name) + getattr(second, name) for name in _COUNTS}
    return replace(first, **counts, failures=MappingProxyType(failures), day=min(first.day, second.day))


class Ledger:
    """Collects what chains observe, until it is written. Pass `observe` to a chain; write what `take` gives.

    A crash loses at most what was not taken yet: figures, never memories.
    """

    def __init__(
        self, entries: Mapping[str, Entry], *, clock: Clock, changed: Callable[[], None] | None = None
    ) -> None:
        self._entries = entries
        self._clock = clock
        self._changed = changed
        self._open: dict[tuple[date, str, str], Tally] = {}

    def observe(self, request: ChatRequest, attempt: Attempt, usage: Usage) -> None:
        """Note one call of a chain."""
        self.note(request.purpose, attempt, usage)

    def note(self, purpose: str, attempt: Attempt, usage: Usage) -> None:
        """Note one call, such as an embedding's."""
        day = self._clock.now().date()
        one = tally_of(purpose, attempt, usage, day=day, entry=self._entries.get(attempt.model))
        key = (day, one.model, purpose)
        known = self._open.get(key)
        self._open[key] = one if known is None else _sum(known, one)
        if self._changed is not None:
            self._changed()

    @property
    def pending(self) -> bool:
        """Whether something was collected since the last `take`."""
        return bool(self._open)

    def take(self) -> list[Tally]:
        """What was collected since the last time, and begin anew."""
        taken, self._open = self._open, {}
        return merged(taken.values())

    def put_back(self, tallies: Iterable[Tally]) -> None:
        """Return what could not be written, so that the next `take` has it again."""
        for one in tallies:
            key = (one.day, one.model, one.purpose)
            self._open[key] = _sum(self._open[key], one) if key in self._open else one
