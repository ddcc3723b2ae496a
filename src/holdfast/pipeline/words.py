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

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from holdfast.packed import DocumentKind, term_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from holdfast.pipeline.analysis import QueryWord
    from holdfast.unpacked import DecodedIndex

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]
    Mask: TypeAlias = NDArray[np.bool_]

__all__ = ["SCORING", "Scoring", "WordHit", "WordScores", "score_words"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """The constants of the score; few, and none is sharp: halving or doubling one moves recall at 10 by about .01.

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

    own: float = 0.5
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

    __slots__ = ("_nearby", "_present", "_words", "numbers", "own", "rows", "score", "session", "window")

    def __init__(
        self,
        *,
        rows: Integers,
        numbers: Integers,
        parts: tuple[Floats, Floats, Floats],
        words: Sequence[str],
        present: Mask,
        nearby: Mask,
    ) -> None:
        self.rows = rows
        self.numbers = numbers
        self.own, self.window, self.session = parts
        self.score: Floats = self.own + self.window + self.session
        self._words = words
        self._present = present
        self._nearby = nearby

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
    scoring: Scoring = SCORING,
) -> WordScores:
    """Score every document of a scope against a question.

    A document is a hit when a word of the question stands in it or in its window; function words make a hit only
    where the question has no other word. `allowed` (one boolean a row) removes hits and changes no score.

    Raises:
        CorruptIndex: an entry of the index is damaged.
    """
    import numpy as np

    counts = _counts(query, index)
    weights = [scoring.weak if word.weak else 1.0 for word in query]
    living = index.living
    lengths = index.columns["length"].astype(np.float64)
    turns = _Turns(index)
    text = _bm25(counts, lengths, int(living.sum()), weights, scoring)
    near_counts, near_lengths = turns.windows(counts, lengths, scoring)
    near = _bm25(near_counts, near_lengths, len(turns.rows), weights, scoring)
    all_counts, all_lengths = turns.sessions(counts, lengths)
    around = _bm25(all_counts, all_lengths, turns.count, weights, scoring)
    said = lengths[turns.rows] / (lengths[turns.rows] + scoring.brief)
    own = text * (scoring.own + scoring.window + scoring.session)
    own[turns.rows] = text[turns.rows] * scoring.own
    window = np.zeros(len(index))
    window[turns.rows] = near * said * scoring.window
    session = np.zeros(len(index))
    session[turns.rows] = around[turns.session] * said * scoring.session
    present = counts > 0
    nearby = present.copy()
    nearby[:, turns.rows] = near_counts > 0
    strong = np.array([not word.weak for word in query], dtype=np.bool_)
    telling = nearby[strong] if strong.any() else nearby
    hit = telling.any(axis=0) & living
    if allowed is not None:
        hit &= allowed
    rows = np.flatnonzero(hit)
    order = np.lexsort((-rows, -(own + window + session)[rows]))
    rows = rows[order]
    return WordScores(
        rows=rows,
        numbers=index.numbers[rows],
        parts=(own[rows], window[rows], session[rows]),
        words=[word.word for word in query],
        present=present,
        nearby=nearby,
    )


def _bm25(counts: Floats, lengths: Floats, total: int, weights: Sequence[float], scoring: Scoring) -> Floats:
    """Score each column of `counts` (words, texts), of which `total` are living texts."""
    import numpy as np

    average = lengths.sum() / max(total, 1)
    norm = scoring.k1 * (1 - scoring.b + scoring.b * lengths / max(average, 1.0))
    score = np.zeros(len(lengths))
    # Word by word, not as a matrix product: BLAS may round equal columns differently, and ties must stay ties.
    for row, weight in zip(counts, weights, strict=True):
        frequency = np.count_nonzero(row)
        idf = np.log1p((total - frequency + 0.5) / (frequency + 0.5)) * weight
        score += idf * (scoring.k1 + 1) * row / (row + norm)
    return score


class _Turns:
    """Messages in order of session and seq, so that windows and sessions are ranges."""

    def __init__(self, index: DecodedIndex) -> None:
        import numpy as np

        columns = index.columns
        rows = np.flatnonzero((columns["kind"] == DocumentKind.MESSAGE) & index.living)
        at = columns["session"][rows].astype(np.int64) << 32 | columns["seq"][rows]
        if len(at) and bool((np.diff(at) < 0).any()):
            order = np.argsort(at, kind="stable")
            rows, at = rows[order], at[order]
        self.rows: Integers = rows
        self.at: Integers = at
        ids = at >> 32
        fresh = np.append(True, ids[1:] != ids[:-1]) if len(at) else np.zeros(0, dtype=np.bool_)
        self.starts = np.flatnonzero(fresh)
        self.session: Integers = np.cumsum(fresh) - 1
        self.count = len(self.starts)

    def windows(self, counts: Floats, lengths: Floats, scoring: Scoring) -> tuple[Floats, Floats]:
        """Give counts and lengths of each turn's window, neighbours weighted by their distance in `seq`."""
        import numpy as np

        here, size = counts[:, self.rows], lengths[self.rows]
        near, length = here.copy(), size.copy()
        seq = self.at & _SEQ
        for shift in range(1, max(scoring.before, scoring.after) + 1):
            if shift >= len(seq):
                break
            same = self.session[shift:] == self.session[:-shift]
            distance = seq[shift:] - seq[:-shift]
            for reach, to, source in (
                (scoring.before, slice(shift, None), slice(None, -shift)),
                (scoring.after, slice(None, -shift), slice(shift, None)),
            ):
                weight = np.where(same, np.maximum(0.0, 1.0 - distance / (reach + 1)), 0.0)
                near[:, to] += weight * here[:, source]
                length[to] += weight * size[source]
        return near, length

    def sessions(self, counts: Floats, lengths: Floats) -> tuple[Floats, Floats]:
        """Give counts and lengths of each session."""
        import numpy as np

        if not self.count:
            return np.zeros((len(counts), 0)), np.zeros(0)
        whole: Floats = np.add.reduceat(counts[:, self.rows], self.starts, axis=1)
        length: Floats = np.add.reduceat(lengths[self.rows], self.starts)
        return whole, length


def _counts(query: Sequence[QueryWord], index: DecodedIndex) -> Floats:
    """Count each word of the question (its alternatives together) in each row; shape (words, rows)."""
    import numpy as np

    pairs = sorted({(term_key(term), place) for place, word in enumerate(query) for term in word.terms})
    keys = np.unique(np.array([key for key, _ in pairs], dtype=np.uint64))
    found = index.find(keys)
    counts = np.zeros((len(query), len(index)))
    for key, place in pairs:
        hits = found.key == int(np.searchsorted(keys, np.uint64(key)))
        counts[place, found.row[hits]] += found.frequency[hits]
    return counts
