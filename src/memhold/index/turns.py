"""Messages as turns of their sessions: their windows, the lengths that BM25 counts, and the constants of the score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from memhold.ports.postings import DocumentKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from memhold.index.postings_arrays import DecodedIndex

    Floats: TypeAlias = NDArray[np.float32]
    Integers: TypeAlias = NDArray[np.int64]

__all__ = ["SCORING", "Scoring", "Turns", "turns_of"]

_LOW = 0xFFFFFFFF
_FEW = 24
"""A word that stands in one of this many turns or in fewer is spread over its windows turn by turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """The constants of the score; few, and none is sharp.

    Chosen on one half of the conversations of a public benchmark and confirmed on the other half and on a second
    benchmark (docs/decisions/0003-words-score.md).

    Attributes:
        own: weight of a message's own text.
        window: weight of the turns around it, itself included.
        session: weight of its session.
        before: how many turns before the message count; the weight falls linearly to zero behind the last.
        after: how many turns after it count, likewise.
        k1: how fast repetitions of a word stop counting.
        b: how much long texts are discounted, 0 to 1.
        weak: what a function word counts beside another word.
        brief: the length, in words, at which a message borrows half of its window's and session's score.
    """

    own: float = 0.35
    window: float = 1.0
    session: float = 0.5
    before: int = 4
    after: int = 3
    k1: float = 1.2
    b: float = 0.75
    weak: float = 0.2
    brief: float = 4.0


SCORING = Scoring()


def turns_of(index: DecodedIndex, scoring: Scoring) -> Turns:
    """The turns of an index; made once for each scoring."""
    key = ("turns", scoring)
    turns: Turns | None = index.memo.get(key)
    if turns is None:
        turns = index.memo[key] = Turns(index, scoring)
    return turns


class _Bm25:
    """Texts of one size and how their length counts; words are added one by one, so that equal texts score equally."""

    def __init__(self, lengths: Floats, total: int, scoring: Scoring) -> None:
        import numpy as np

        average = float(lengths.sum(dtype=np.float64)) / max(total, 1)
        ratio = lengths * np.float32(scoring.b / max(average, 1.0))
        self.norm: Floats = (ratio + np.float32(1 - scoring.b)) * np.float32(scoring.k1)
        self._gain = scoring.k1 + 1
        self._total = total

    def add(self, score: Floats, rows: Integers, counts: Floats, weight: float) -> None:
        """Add a word to the scores of the texts that have it: `rows`, each once, and how often it stands there."""
        import numpy as np

        if len(rows):
            idf = math.log1p((self._total - len(rows) + 0.5) / (len(rows) + 0.5)) * weight
            part = counts / (counts + self.norm[rows])
            part *= np.float32(idf * self._gain)
            score[rows] += part


class Turns:
    """Messages in order of session and seq, so that windows are shifts and sessions are ranges.

    Each of its writers has a turn of a message, one behind the other.
    """

    def __init__(self, index: DecodedIndex, scoring: Scoring) -> None:
        import numpy as np

        columns = index.columns
        rows = np.flatnonzero((columns["kind"] == DocumentKind.MESSAGE) & index.living)
        at = columns["session"][rows].astype(np.int64) << 32 | columns["seq"][rows]
        ordered = not bool((at[1:] < at[:-1]).any())
        if not ordered:
            order = np.argsort(at, kind="stable")
            rows, at = rows[order], at[order]
        self.size = len(rows)
        # A view where a view will do: most scopes hold messages in order.
        self.pick: Integers | slice = slice(None) if ordered and self.size == len(index) else rows
        fresh = np.ones(self.size, dtype=np.bool_)
        np.not_equal(at[1:] >> 32, at[:-1] >> 32, out=fresh[1:])
        # What several wrote of one message are turns of their own, as in the shape where each is a message.
        at[1:] += np.cumsum(at[1:] == at[:-1])
        self._starts = np.flatnonzero(fresh)
        self.session: Integers = np.cumsum(fresh) - 1
        self.count = len(self._starts)
        self._adjacent = at[1:] - at[:-1] == 1
        self._kernel = list(self._weights(at, scoring))
        self.reach: Floats = self.window(np.ones(self.size, dtype=np.float32))
        lengths = columns["length"].astype(np.float32)
        said = lengths[self.pick]
        self.texts = _Bm25(lengths, int(np.count_nonzero(index.living)), scoring)
        self.windows = _Bm25(self.window(said), self.size, scoring)
        self.sessions = _Bm25(self._whole(said), self.count, scoring)
        self.borrowed: Floats = said / np.maximum(said + np.float32(scoring.brief), np.float32(1.0))
        self._place = self._places(len(index))

    def _places(self, rows: int) -> Integers | None:
        """Which turn each row is, -1 for none; None where they are the same."""
        import numpy as np

        if isinstance(self.pick, slice):
            return None
        place = np.full(rows, -1, dtype=np.int64)
        place[self.pick] = np.arange(self.size)
        return place

    def among(self, rows: Integers, values: Floats) -> tuple[Integers, Floats]:
        """Those of some rows that are turns, as turns, with their values."""
        if self._place is None:
            return rows, values
        at = self._place[rows]
        return at[at >= 0], values[at >= 0]

    @staticmethod
    def _weights(at: Integers, scoring: Scoring) -> Iterator[tuple[slice, slice, Floats]]:
        """Give shifts: which turns take from which, and how much of each, by distance."""
        import numpy as np

        for shift in range(1, min(max(scoring.before, scoring.after), len(at) - 1) + 1):
            earlier, later = slice(None, -shift), slice(shift, None)
            distance = (at[later] & _LOW) - (at[earlier] & _LOW)
            same = at[later] >> 32 == at[earlier] >> 32
            for reach, to, source in ((scoring.before, later, earlier), (scoring.after, earlier, later)):
                if shift <= reach:
                    weight = np.maximum(0.0, 1.0 - distance / (reach + 1)) * same
                    yield to, source, weight.astype(np.float32)

    def before(self, values: Floats) -> Floats:
        """The value of the turn just before each turn; 0 where a session begins or a turn between them was removed."""
        import numpy as np

        return np.append(np.zeros(1, dtype=np.float32), values[:-1] * self._adjacent)[: self.size]

    def window(self, values: Floats) -> Floats:
        """Sum values over each turn's window, neighbours weighted by their distance."""
        near = values.copy()
        for to, source, weight in self._kernel:
            near[to] += values[source] * weight
        return near

    def window_of(self, at: Integers, values: Floats) -> Floats:
        """The same for values of a few turns, each given once, the others being 0; to the last bit."""
        import numpy as np

        near = np.zeros(self.size, dtype=np.float32)
        near[at] = values
        if len(at) * _FEW > self.size:
            return self.window(near)
        for to, source, weight in self._kernel:
            shift = (to.start or 0) - (source.start or 0)
            inside = slice(None) if not len(at) else (at + shift >= 0) & (at + shift < self.size)
            come, give = (at + shift)[inside], at[inside]
            near[come] += values[inside] * weight[np.minimum(come, give)]
        return near

    def _whole(self, values: Floats) -> Floats:
        """Sum values over each session."""
        import numpy as np

        if not self.count:
            return values[:0]
        sums: Floats = np.add.reduceat(values, self._starts)
        return sums
