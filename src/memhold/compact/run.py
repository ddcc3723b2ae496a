"""One run of compaction or of roll-ups: what became of each group, what went wrong, when to look again."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from memhold.compact.groups import size
from memhold.consolidate.apply_guard import ApplyGuard
from memhold.facts.changed_notes import Bounds
from memhold.ports.vector_blocks import Generation
from memhold.upkeep.worker import backoff, park
from memhold.values.answers import Compacted, Merging, Outcome
from memhold.values.errors import MemholdError
from memhold.values.records import Memory, Scope

__all__ = ["MERGED_OUTCOMES", "MOST_FAILURES", "Run", "confined"]

log = logging.getLogger("memhold.compaction")

MOST_FAILURES = 3
"""Groups in a row that could not be judged, or not embedded, after which a run asks no more."""
MERGED_OUTCOMES: tuple[Outcome, ...] = ("copies", "group", "pair", "superseded")


@dataclass(slots=True)
class Run:
    """What one run did so far."""

    scope: Scope
    hold: ApplyGuard
    bounds: Bounds
    unattended: bool = False
    generation: Generation | None = None
    groups: list[Merging] = field(default_factory=list)
    asked: int = 0
    calls: int = 0
    failures: int = 0
    error: MemholdError | None = None
    left: bool = False

    @property
    def exhausted(self) -> bool:
        """Whether it may ask no more: what is left waits for the next run."""
        return self.asked >= self.bounds.calls or self.failures >= MOST_FAILURES

    @property
    def merged(self) -> int:
        """How many memories others stand for now."""
        return sum(_gone(group) for group in self.groups)

    def note(self, outcome: Outcome, members: Sequence[Memory], reason: str, **more: Any) -> None:
        """Keep what became of some memories."""
        ids = tuple(memory.id for memory in members)
        found = Merging(outcome=outcome, sources=ids, reason=reason, characters=size(members))
        self.groups.append(replace(found, **more))

    @property
    def fruitless(self) -> bool:
        """Whether the judge was asked and nothing came of it."""
        return self.asked > 0 and all(one.outcome == "kept_apart" for one in self.groups)

    def report(self) -> Compacted:
        """As an answer."""
        error = None if self.error is None else f"{type(self.error).__name__}: {self.error}"
        return Compacted(groups=tuple(self.groups), merged=self.merged, more=self.left, last_error=error)

    def pause(self, random: Random) -> float:
        """Seconds until the rest of a run that was asked for is worth another look."""
        if self.error is None:
            return 0.0
        parked = getattr(self.error, "advice", None) == "park"
        return park(0, None, random) if parked else backoff(4, random)


def _gone(group: Merging) -> int:
    if group.outcome not in MERGED_OUTCOMES:
        return 0
    return len([source for source in group.sources if source != group.memory])


@contextlib.contextmanager
def confined(run: Run, members: Sequence[Memory] = ()) -> Iterator[None]:
    """An error is that of its group alone; the run goes on, and says so."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the worker's edge: one group's failure is that group's alone
        run.failures += 1
        run.left = True
        run.error = error if isinstance(error, MemholdError) else MemholdError(type(error).__name__)
        log.warning("compaction: %d memories failed with %s", len(members), type(error).__name__)
        run.note("failed", members, type(error).__name__)
