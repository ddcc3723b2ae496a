"""Timing side by side: what is compared takes turns in one run, so that a noisy machine is noisy for both."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memhold.verbs import context_slots

__all__ = ["PATIENT", "Row", "doing", "log", "percentile", "side_by_side"]

log = logging.getLogger("benchmarks")
"""What a benchmark that takes minutes is doing; the command line shows it."""

PATIENT = {"read_timeout": 600.0, "recall_timeout": 600.0}
"""Settings of a store whose answers are judged: on a busy machine one that is late would be one by words alone."""
context_slots.SLOT_SECONDS = 600.0  # a slot of a context that is late would be left out


def doing(what: str) -> None:
    """Say what is measured now, so that whoever waits sees that it goes on."""
    log.info("%s", what)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a table: what was measured, against what, the ratio, and the bar that it must not pass.

    `ratio` is compared with `bar`: at most where `at_most`, else at least. A row without a bar only tells.
    """

    name: str
    value: str
    against: str = ""
    ratio: float | None = None
    bar: float | None = None
    at_most: bool = True

    @property
    def holds(self) -> bool | None:
        """Whether the bar holds; None where there is none."""
        if self.ratio is None or self.bar is None:
            return None
        return self.ratio <= self.bar if self.at_most else self.ratio >= self.bar


def percentile(times: Sequence[float], share: float) -> float:
    """The nearest-rank percentile of some times; `share` from 0 to 1."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def side_by_side(
    one: Callable[[], object], other: Callable[[], object], rounds: int
) -> tuple[list[float], list[float]]:
    """Seconds of each call of both, taken in turns, in alternating order."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds):
        for which in (0, 1) if turn % 2 else (1, 0):
            began = time.perf_counter()
            (one, other)[which]()
            times[which].append(time.perf_counter() - began)
    return times
