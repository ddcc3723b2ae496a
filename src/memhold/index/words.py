"""The words signal of recall: which documents of a scope answer a question, by BM25 over three sizes of text.

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

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from memhold.index.turns import SCORING, Scoring, turns_of
from memhold.ports.postings import DocumentKind, term_key
from memhold.text.analysis import unspaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memhold.index.postings_arrays import DecodedIndex
    from memhold.text.analysis import QueryWord

    Floats: TypeAlias = NDArray[np.float32]
    Integers: TypeAlias = NDArray[np.int64]
    Mask: TypeAlias = NDArray[np.bool_]

__all__ = ["WordHit", "WordScores", "best_first", "score_words", "smoothed"]

_LOW = 0xFFFFFFFF


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


@dataclass(slots=True, kw_only=True, eq=False)
class WordScores:
    """The scores of all documents by row; those that matched and were allowed can be read best first.

    Order: score, then the higher document number: of two that match equally well, the later is likelier to hold. It is
    made when it is first asked for: recall orders only what it fuses.

    Attributes:
        hit: by row, whether the document matched and was allowed.
        score: by row, 0 where it is no hit.
        own, window, session: the weighted parts of the score, by row, also where it is no hit.
    """

    hit: Mask
    own: Floats
    window: Floats
    session: Floats
    numbers: Integers
    words: Sequence[str]
    weights: Sequence[float]
    rarity: Floats
    present: Mask
    nearby: Mask
    score: Floats = field(init=False)
    _rows: Integers | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.score = self.own + self.window
        self.score += self.session
        self.score *= self.hit

    @property
    def rows(self) -> Integers:
        """Rows of the decoded index that matched, best first."""
        import numpy as np

        if self._rows is None:
            self._rows = best_first(self.score, np.flatnonzero(self.hit))
        return self._rows

    def of_row(self, row: int) -> WordHit | None:
        """The parts of one row's score; None where it did not match."""
        return self._hit(row) if self.hit[row] else None

    def said(self, row: int, aside: Mask) -> frozenset[int]:
        """Which words of the question, but function words and those set aside, stand in a row itself (their places)."""
        chosen = (place for place, weight in enumerate(self.weights) if weight == 1 and not aside[place])
        return frozenset(place for place in chosen if self.present[place, row])

    def grams(self) -> frozenset[int]:
        """Which words of the question are grams of a script without spaces (their places)."""
        return frozenset(place for place, word in enumerate(self.words) if unspaced(word))

    @property
    def asks(self) -> bool:
        """Whether the question has a word that is no function word and not set aside."""
        return any(weight == 1 for weight in self.weights)

    def best(self, count: int) -> list[int]:
        """The rows that matched best, at most so many."""
        import numpy as np

        rows: list[int] = best_first(self.score, np.flatnonzero(self.hit), count).tolist()
        return rows

    def share(self, rows: Sequence[int]) -> float:
        """The greatest share of the question's words that one of the rows says itself, each by how rare it is.

        Function words and those that are set aside count nothing; 0 where the question has no other.
        """
        import numpy as np

        rarity = np.where(np.array(self.weights) == 1, self.rarity, 0)
        whole = float(rarity.sum())
        return float((rarity @ self.present[:, rows]).max()) / whole if whole and len(rows) else 0.0

    def __len__(self) -> int:
        return int(self.hit.sum())

    def hits(self, offset: int = 0, limit: int | None = None) -> list[WordHit]:
        """Give a page of the ranking as values."""
        return [self._hit(int(row)) for row in self.rows[offset : None if limit is None else offset + limit]]

    def _hit(self, row: int) -> WordHit:
        present, nearby = self.present[:, row], self.nearby[:, row]
        return WordHit(
            number=int(self.numbers[row]),
            score=float(self.score[row]),
            own=float(self.own[row]),
            window=float(self.window[row]),
            session=float(self.session[row]),
            matched=tuple(word for word, here in zip(self.words, present, strict=True) if here),
            nearby=tuple(w for w, here, near in zip(self.words, present, nearby, strict=True) if near and not here),
        )


def score_words(
    query: Sequence[QueryWord],
    index: DecodedIndex,
    *,
    allowed: Mask | None = None,
    limit_to: DocumentKind | None = None,
    faint: Mask | None = None,
    scoring: Scoring = SCORING,
) -> WordScores:
    """Score every document of a scope against a question.

    A document is a hit when a word of the question stands in it or in its window; function words make a hit only
    where the question has no other word. `allowed` (one boolean a row) and `limit_to` remove hits and change no score.
    Words marked in `faint` make hits but count like function words, unless there is no other.

    Raises:
        CorruptIndex: an entry of the index is damaged.
    """
    import numpy as np

    weights = _weights(query, faint, scoring)
    turns = turns_of(index, scoring)
    text, near, around = (np.zeros_like(size.norm) for size in (turns.texts, turns.windows, turns.sessions))
    present = np.zeros((len(query), len(index)), dtype=np.bool_)
    nearby = np.zeros((len(query), len(index)), dtype=np.bool_)
    held = np.zeros(len(query))
    for place, (rows, counts) in enumerate(_counted(query, index)):
        weight = weights[place]
        held[place] = len(rows)
        present[place, rows] = nearby[place, rows] = True
        turns.texts.add(text, rows, counts, weight)
        at, said = turns.among(rows, counts)
        window = turns.window_of(at, said)
        reached = np.flatnonzero(window)
        turns.windows.add(near, reached, window[reached], weight)
        if isinstance(turns.pick, slice):
            nearby[place, reached] = True
        else:
            nearby[place, turns.pick[reached]] = True
        whole = np.bincount(turns.session[at], said, turns.count).astype(np.float32)
        spoken = np.flatnonzero(whole)
        turns.sessions.add(around, spoken, whole[spoken], weight)
    own = text * np.float32(scoring.own + scoring.window + scoring.session)
    own[turns.pick] = text[turns.pick] * np.float32(scoring.own)
    window_part, session_part = np.zeros_like(own), np.zeros_like(own)
    window_part[turns.pick] = near * turns.borrowed * np.float32(scoring.window)
    session_part[turns.pick] = around[turns.session] * turns.borrowed * np.float32(scoring.session)
    strong = [place for place, word in enumerate(query) if not word.weak]
    hit: Mask = np.logical_or.reduce(nearby[strong] if strong else nearby, axis=0)
    if allowed is not None:
        hit &= allowed
    if limit_to is not None:
        hit &= index.columns["kind"] == limit_to
    return WordScores(
        numbers=index.numbers,
        hit=hit,
        own=own,
        window=window_part,
        session=session_part,
        words=[word.word for word in query],
        weights=weights,
        rarity=np.log1p((len(index) - held + 0.5) / (held + 0.5)).astype(np.float32),
        present=present,
        nearby=nearby,
    )


def _weights(query: Sequence[QueryWord], faint: Mask | None, scoring: Scoring) -> list[float]:
    """What each word of the question counts."""
    low = [word.weak or (faint is not None and bool(faint[place])) for place, word in enumerate(query)]
    if all(low):
        low = [word.weak for word in query]
    return [scoring.weak if one else 1.0 for one in low]


def best_first(score: Floats, rows: Integers, most: int | None = None) -> Integers:
    """Rows by score (not negative), then the later row first; with `most` only that many of the best.

    The same as the first `most` of the whole order: what is below the score of the last of them is not sorted.
    """
    import numpy as np

    scores = np.maximum(score[rows], np.float32(0))
    if most is not None and most < len(rows) // 2:
        least = np.partition(scores, len(rows) - most)[len(rows) - most]
        kept = np.flatnonzero(scores >= least)
        rows, scores = rows[kept], scores[kept]
    # The bits of floats that are not negative sort as the floats do; with the row below them each key is unique.
    keys = scores.view(np.int32).astype(np.int64) << 32 | rows
    keys.sort()
    ordered: Integers = keys[::-1][:most] & _LOW
    return ordered


def smoothed(values: Floats, index: DecodedIndex, scoring: Scoring = SCORING) -> Floats:
    """The mean of each message's window, neighbours weighted by their distance; a memory keeps its own value."""
    turns = turns_of(index, scoring)
    near = values.copy()
    if turns.size:
        near[turns.pick] = turns.window(values[turns.pick]) / turns.reach
    return near


def _counted(query: Sequence[QueryWord], index: DecodedIndex) -> list[tuple[Integers, Floats]]:
    """Each word of the question (its alternatives together): the rows that have it, each once, and how often."""
    import numpy as np

    asked = [sorted({term_key(term) for term in word.terms}) for word in query]
    keys = sorted({key for word in asked for key in word})
    found = index.find(np.array(keys, dtype=np.uint64))
    ends = np.searchsorted(found.key, np.arange(len(keys) + 1))
    span = {key: slice(ends[at], ends[at + 1]) for at, key in enumerate(keys)}
    counted = []
    for word in asked:
        there = [span[key] for key in word if span[key].start < span[key].stop]
        if len(there) < 2:
            one = there[0] if there else slice(0)
            counted.append((found.row[one], found.frequency[one].astype(np.float32)))
            continue
        every = np.zeros(len(index), dtype=np.float32)
        for one in there:
            every[found.row[one]] += found.frequency[one]
        rows = np.flatnonzero(every)
        counted.append((rows, every[rows]))
    return counted
