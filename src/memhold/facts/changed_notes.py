"""The notes that changed since an upkeep last looked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from memhold.ports.transaction import ReadTx
from memhold.values.records import Change, Memory

__all__ = ["ALIKE", "COPIES", "FRUITLESS", "KIND", "MOST_CHANGED", "Bounds", "Changed", "changed_since"]

ALIKE, COPIES = "compact", "copies"
"""The names under which a scope keeps how far its changes were compacted: with the judge, and by exact copies."""


MOST_CHANGED = 140
"""Changed notes that one run looks at, for twenty calls; the next one goes on behind them."""
FRUITLESS = "compact_fruitless"
"""The name under which a scope keeps how many runs in a row asked the judge and changed nothing."""


KIND = "note"
"""Facts have timelines of their own, RAW windows wait for a model, and a summary is the history of its window."""


_BRINGING_BACK = frozenset({"undo", "forget", "hide", "settle", "restore"})
"""Verbs of changes that may make a memory active again. Its text never changes, and nothing else of it matters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """The active notes that changes after a point touched, and how far that was read; `cut` where more is behind.

    `since` is when the first of them was made. `moving` says that a run of compaction made some: they are looked at
    without waiting, so that a run leads to the next until nothing is left.
    """

    memories: tuple[Memory, ...]
    until: int
    cut: bool = False
    since: datetime | None = None
    moving: bool = False

    def due(self, bounds: Bounds, now: datetime, *, fruitless: int = 0) -> datetime | None:
        """When a run is due for them; None when there is nothing to look at.

        After runs that brought nothing more has to come, or the wait is longer: each time twice, up to eight times as
        many notes and sixteen times as long.
        """
        if not self.memories or self.since is None:
            return None
        most = bounds.memories * 2 ** min(fruitless, 3)
        ready = self.cut or self.moving or len(self.memories) >= most
        return now if ready else max(now, self.since + bounds.wait * 2 ** min(fruitless, 4))


def changed_since(tx: ReadTx, name: str) -> Changed:
    """What changed behind the point up to which the upkeep of that name has read."""
    after = tx.progress(name)
    found: dict[str, Change] = {}
    until, cut = after, False
    while not cut and (page := tx.changes(after=until)):
        for change in page:
            if len(found) >= MOST_CHANGED:
                cut = True
                break
            until = change.seq
            for effect in change.effects:
                if effect.rev_before == 0 or (change.verb in _BRINGING_BACK and effect.rev_after != effect.rev_before):
                    found.setdefault(effect.memory_id, change)
    notes = [memory for memory in tx.find_memories(list(found)) if memory.kind == KIND and memory.state == "active"]
    made = [found[memory.id] for memory in notes]
    return Changed(
        memories=tuple(notes),
        until=until,
        cut=cut,
        since=min((change.at for change in made), default=None),
        moving=any(change.verb == "compact" for change in made),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """When compaction runs, and what it may take together.

    Attributes:
        memories: how many new or changed notes make a run due at once.
        wait: how long after the first of them it is due in any case.
        max_chars: most characters that one call shows, summed over the sources' texts.
        distance: cosine distance beyond which two memories are not compared, in the current generation.
        word_distance: the same by words: 1 less the share of a memory's words, by their weight, that the other has.
        calls: most calls to the judge in one run; then other scopes have their turn.
        daily: most calls to the judge that a store asks by itself in a day (UTC).
    """

    memories: int = 20
    wait: timedelta = timedelta(minutes=30)
    max_chars: int = 5_500
    distance: float = 0.95
    word_distance: float = 0.99
    calls: int = 20
    daily: int = 100
