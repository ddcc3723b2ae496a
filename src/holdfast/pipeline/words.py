"""The words arm of recall: which documents of a scope answer a question, by BM25 over three sizes of text.

A message seldom repeats what its neighbours have said, so it is scored by its own text, by its window (the turns
around it, the nearer the more) and by its session. Only the message itself is indexed; windows and sessions are summed
from the same entries. What a message borrows from them counts by how much it says itself: "Wow, great!" beside an
answer is no answer. A memory stands alone: its own text counts for all three. Every statistic is the scope's own and
filters change none, so a document has the same score whatever else is in the file and whatever is filtered out.

Sources: BM25 with k1 and b as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond"
(2009), section 3.4; document frequencies with Lucene's `log(1 + ...)`, which is never negative; the triangular kernel
is that of de Kretser and Moffat, "Effective Document Presentation with a Locality-Based Similarity Heuristic" (1999).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from holdfast.packed import DocumentKind, term_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from holdfast.pipeline.analysis import QueryWord
    from holdfast.unpacked import DecodedIndex

    Floats: TypeAlias = NDArray[np.float32]
    Integers: TypeAlias = NDArray[np.int64]
    Mask: TypeAlias = NDArray[np.bool_]

__all__ = ["SCORING", "Scoring", "WordHit", "WordScores", "score_words", "smoothed"]


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
_SEQ = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class WordHit:
    """A document that matched, with the parts of its score (already weighted; they add up to `score`).

    Attributes:
        number: the document number.
        score: never negative.
        own: from its own text.
        window: from its window.
        session: from its session.
        matched: words of the question that stand in the document.
        nearby: words that stand only in its window.
    """

    number: int
    score: float
    own: float
    window: float
    session: float
    matched: tuple[str, ...]
    nearby: tuple[str, ...]


class WordScores:
    """The scores of all documents that matched and were allowed, best first.

    Order: score, then the higher document number: of two that match equally well, the later is likelier to hold.

    Attributes:
        rows: rows of the decoded index, best first.
        numbers: document numbers, in the same order.
        score: in the same order; `own`, `window` and `session` are its weighted parts.
    """

    __slots__ = ("_nearby", "_present", "_weights", "_words", "numbers", "own", "rows", "score", "session", "window")

    def __init__(
        self,
        *,
        rows: Integers,
        numbers: Integers,
        score: Floats,
        parts: tuple[Floats, Floats, Floats],
        words: Sequence[str],
        weights: Sequence[float],
        present: Mask,
        nearby: Mask,
    ) -> None:
        self.rows = rows
        self.numbers = numbers
        self.own, self.window, self.session = parts
        self.score = score
        self._words = words
        self._present = present
        self._nearby = nearby
        self._weights = weights

    def dense(self, size: int) -> Floats:
        """The scores by row, 0 for what did not match."""
        import numpy as np

        scores = np.zeros(size, dtype=np.float32)
        scores[self.rows] = self.score
        return scores

    def of_row(self, row: int) -> WordHit | None:
        """The parts of one row's score; None where it did not match."""
        import numpy as np

        at = np.flatnonzero(self.rows == row)
        return self._hit(int(at[0])) if len(at) else None

    def said(self, row: int, aside: Mask) -> frozenset[int]:
        """Which words of the question, but function words and those set aside, stand in a row itself (their places)."""
        chosen = (place for place, weight in enumerate(self._weights) if weight == 1 and not aside[place])
        return frozenset(place for place in chosen if self._present[place, row])

    def strong(self, aside: Mask) -> int:
        """How many words of the question are neither function words nor set aside."""
        return sum(weight == 1 and not aside[place] for place, weight in enumerate(self._weights))

    def coverage(self, row: int) -> float:
        """The share of the question's words that stand in a row or in its window; function words count less."""
        total = sum(self._weights)
        if not total:
            return 0.0
        here = self._nearby[:, row]
        return float(sum(weight for weight, there in zip(self._weights, here, strict=True) if there) / total)

    def __len__(self) -> int:
        return len(self.rows)

    def hits(self, offset: int = 0, limit: int | None = None) -> list[WordHit]:
        """Give a page of the ranking as values."""
        end = len(self) if limit is None else min(len(self), offset + limit)
        return [self._hit(at) for at in range(offset, end)]

    def _hit(self, at: int) -> WordHit:
        row = self.rows[at]
        present, nearby = self._present[:, row], self._nearby[:, row]
        return WordHit(
            number=int(self.numbers[at]),
            score=float(self.score[at]),
            own=float(self.own[at]),
            window=float(self.window[at]),
            session=float(self.session[at]),
            matched=tuple(word for word, here in zip(self._words, present, strict=True) if here),
            nearby=tuple(w for w, here, near in zip(self._words, present, nearby, strict=True) if near and not here),
        )


def score_words(
    query: Sequence[QueryWord],
    index: DecodedIndex,
    *,
    allowed: Mask | None = None,
    limit_to: DocumentKind | None = None,
    scoring: Scoring = SCORING,
) -> WordScores:
    """Score every document of a scope against a question.

    A document is a hit when a word of the question stands in it or in its window; function words make a hit only
    where the question has no other word. `allowed` (one boolean a row) and `limit_to` remove hits and change no score.

    Raises:
        CorruptIndex: an entry of the index is damaged.
    """
    import numpy as np

    counts = _counts(query, index)
    turns = _turns(index, scoring)
    lengths = index.columns["length"].astype(np.float32)
    living = index.living
    text = _Bm25(lengths, int(np.count_nonzero(living)), scoring)
    near = _Bm25(turns.window(lengths[turns.pick]), turns.size, scoring)
    around = _Bm25(turns.whole(lengths[turns.pick]), turns.count, scoring)
    nearby = counts > 0
    present = nearby.copy()
    for place, (word, count) in enumerate(zip(query, counts, strict=True)):
        weight = scoring.weak if word.weak else 1.0
        said = count[turns.pick]
        window = turns.window(said)
        text.add(count, weight)
        near.add(window, weight)
        around.add(turns.whole(said), weight)
        nearby[place, turns.pick] = window > 0
    brief = lengths[turns.pick]
    borrowed = brief / np.maximum(brief + np.float32(scoring.brief), np.float32(1.0))
    own = text.score * np.float32(scoring.own + scoring.window + scoring.session)
    own[turns.pick] = text.score[turns.pick] * np.float32(scoring.own)
    window_part, session_part = np.zeros_like(own), np.zeros_like(own)
    window_part[turns.pick] = near.score * borrowed * np.float32(scoring.window)
    session_part[turns.pick] = around.score[turns.session] * borrowed * np.float32(scoring.session)
    score = own + window_part + session_part
    strong = [place for place, word in enumerate(query) if not word.weak]
    hit = nearby[strong].any(axis=0) if strong else nearby.any(axis=0)
    if allowed is not None:
        hit &= allowed
    if limit_to is not None:
        hit &= index.columns["kind"] == limit_to
    rows = np.flatnonzero(hit)
    # The bits of floats that are not negative sort as the floats do; with the row below them each key is unique.
    order = score[rows].view(np.int32).astype(np.int64) << 32 | rows
    rows = np.sort(order)[::-1] & _SEQ
    return WordScores(
        rows=rows,
        numbers=index.numbers[rows],
        score=score[rows],
        parts=(own[rows], window_part[rows], session_part[rows]),
        words=[word.word for word in query],
        weights=[scoring.weak if word.weak else 1.0 for word in query],
        present=present,
        nearby=nearby,
    )


def smoothed(values: Floats, index: DecodedIndex, scoring: Scoring = SCORING) -> Floats:
    """The mean of each message's window, neighbours weighted by their distance; a memory keeps its own value."""
    turns = _turns(index, scoring)
    near = values.copy()
    if turns.size:
        near[turns.pick] = turns.window(values[turns.pick]) / turns.reach
    return near


def _turns(index: DecodedIndex, scoring: Scoring) -> _Turns:
    key = ("turns", scoring)
    turns: _Turns | None = index.memo.get(key)
    if turns is None:
        turns = index.memo[key] = _Turns(index, scoring)
    return turns


class _Bm25:
    """The sum over words for many texts at once; word by word, so that equal texts get equal scores to the last bit."""

    def __init__(self, lengths: Floats, total: int, scoring: Scoring) -> None:
        import numpy as np

        average = float(lengths.sum(dtype=np.float64)) / max(total, 1)
        ratio = lengths * np.float32(scoring.b / max(average, 1.0))
        self._norm: Floats = (ratio + np.float32(1 - scoring.b)) * np.float32(scoring.k1)
        self._gain = scoring.k1 + 1
        self._total = total
        self.score: Floats = np.zeros_like(lengths)

    def add(self, counts: Floats, weight: float) -> None:
        import numpy as np

        frequency = int(np.count_nonzero(counts))
        if frequency:
            idf = math.log1p((self._total - frequency + 0.5) / (frequency + 0.5)) * weight
            part = counts / (counts + self._norm)
            part *= np.float32(idf * self._gain)
            self.score += part


class _Turns:
    """Messages in order of session and seq, so that windows are shifts and sessions are ranges."""

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
        self._starts = np.flatnonzero(fresh)
        self.session: Integers = np.cumsum(fresh) - 1
        self.count = len(self._starts)
        self._kernel = list(self._weights(at, scoring))
        self.reach: Floats = self.window(np.ones(self.size, dtype=np.float32))

    @staticmethod
    def _weights(at: Integers, scoring: Scoring) -> Iterator[tuple[slice, slice, Floats]]:
        """Give shifts: which turns take from which, and how much of each, by distance in `seq`."""
        import numpy as np

        for shift in range(1, min(max(scoring.before, scoring.after), len(at) - 1) + 1):
            earlier, later = slice(None, -shift), slice(shift, None)
            distance = (at[later] & _SEQ) - (at[earlier] & _SEQ)
            same = at[later] >> 32 == at[earlier] >> 32
            for reach, to, source in ((scoring.before, later, earlier), (scoring.after, earlier, later)):
                if shift <= reach:
                    weight = np.maximum(0.0, 1.0 - distance / (reach + 1)) * same
                    yield to, source, weight.astype(np.float32)

    def window(self, values: Floats) -> Floats:
        """Sum values over each turn's window, neighbours weighted by their distance."""
        near = values.copy()
        if values.any():
            for to, source, weight in self._kernel:
                near[to] += values[source] * weight
        return near

    def whole(self, values: Floats) -> Floats:
        """Sum values over each session."""
        import numpy as np

        if not self.count:
            return values[:0]
        sums: Floats = np.add.reduceat(values, self._starts)
        return sums


def _counts(query: Sequence[QueryWord], index: DecodedIndex) -> Floats:
    """Count each word of the question (its alternatives together) in each row; shape (words, rows)."""
    import numpy as np

    keyed: dict[int, list[int]] = {}
    for place, word in enumerate(query):
        for key in {term_key(term) for term in word.terms}:
            keyed.setdefault(key, []).append(place)
    keys = np.array(sorted(keyed), dtype=np.uint64)
    found = index.find(keys)
    counts = np.zeros(len(query) * len(index), dtype=np.float32)
    # One term can stand for several words of a question, so there is a round for each such word; mostly one.
    for turn in range(max(map(len, keyed.values()), default=0)):
        starts = np.array([places[turn] if turn < len(places) else -1 for _, places in sorted(keyed.items())])
        cell = starts[found.key] * len(index) + found.row
        chosen = cell >= 0 if turn else slice(None)
        counts += np.bincount(cell[chosen], found.frequency[chosen], len(counts)).astype(np.float32)
    return counts.reshape(len(query), len(index))
