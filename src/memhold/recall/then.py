"""Values of a fact that hold no longer, where they are asked for: those of a time, or all of them in their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from memhold.facts.outdated import End, Outdated
from memhold.index.postings_arrays import DecodedIndex
from memhold.text.times import TimeRange

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Floats = NDArray[np.float32]

__all__ = ["Then", "asked_then"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Then:
    """Past values that are asked for. With `series` how one thing changed is asked, else what held at a time."""

    ends: Mapping[int, End] = field(default_factory=dict)
    series: bool = False

    def rows(self, index: DecodedIndex) -> Mask:
        """Their rows."""
        import numpy as np

        found = np.zeros(len(index), dtype=np.bool_)
        found[index.rows_of(sorted(self.ends))] = True
        return found

    def of_the_best(self, index: DecodedIndex, score: Floats) -> Then:
        """Of a series that of one thing, the one that answers best; what held at a time as it is."""
        if not self.series or not self.ends:
            return self
        best = max(self.ends.values(), key=lambda end: score[index.rows_of([end.old, end.new])].max(initial=0))
        same = {old: end for old, end in self.ends.items() if end is best or end.new == best.new != -1}
        return Then(ends=same, series=True)

    def lift(self, index: DecodedIndex, score: Floats, found: Mask) -> None:
        """Put the values of one thing side by side, the newest first: a series behind today's, others before it."""
        import numpy as np

        for new, ends in groupby(sorted(self.ends.values(), key=_newest_first), key=lambda end: end.new):
            now, old = index.rows_of([new]), index.rows_of([end.old for end in ends])
            rows = np.append(now, old) if self.series else np.append(old, now)
            if found[rows].any():
                best = score[rows].max()
                for row in rows[::-1].tolist():
                    score[row], found[row] = best, True
                    best = np.nextafter(best, np.float32(np.inf))


def _newest_first(end: End) -> tuple[int, float]:
    return end.new, -end.until.timestamp() if end.until is not None else 0.0


def asked_then(times: Sequence[TimeRange], past: Iterable[Outdated], *, history: bool) -> Then:
    """The past values that a question asks for by the times that it names, or by asking how something changed."""
    ended = [(end, end.since, end.until) for one in past for end in one.ends]
    held = {end.old: (end, since, until) for end, since, until in ended if since is not None and until is not None}
    if history:
        begin = min((one.start for one in times), default=None)
        return Then(ends={old: end for old, (end, _, until) in held.items() if not begin or begin < until}, series=True)
    then = {old: one for old, one in held.items() if any(one[1] < time.end and time.start < one[2] for time in times)}
    last = {end.new: until for end, _, until in sorted(then.values(), key=lambda one: one[2])}
    # Where today's value began within that time it is as good an answer.
    return Then(ends={old: end for old, (end, *_) in then.items() if any(one.end <= last[end.new] for one in times)})
