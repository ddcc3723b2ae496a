"""From a ranking to an answer: the page, each hit with its reasons, and the account of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from holdfast.answers import Query, Reason, Recall
from holdfast.model import Memory, Message
from holdfast.pipeline.arms import Question
from holdfast.pipeline.fusion import WEIGHTS, Arm
from holdfast.pipeline.hits import Candidate, as_hit, passes, with_neighbours
from holdfast.pipeline.truth import Outdated, repeats
from holdfast.transaction import ReadTx
from holdfast.unpacked import DecodedIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.pipeline.words import WordScores

    Mask = NDArray[np.bool_]
    Floats = NDArray[np.float32]
    Rows = NDArray[np.int64]

__all__ = ["Gaps", "Ranking", "answered"]


@dataclass(slots=True, kw_only=True)
class Ranking:
    """The scope, ranked: rows in order, and what their reasons are made of."""

    index: DecodedIndex
    order: Rows
    score: Floats
    arms: Sequence[Arm]
    allowed: Mask
    words: WordScores | None = None
    everything: Rows | None = None
    later: Mapping[int, int] = field(default_factory=dict)
    outdated: Mapping[int, Outdated] = field(default_factory=dict)
    confidence: float | None = None
    question: Question | None = None


@dataclass(slots=True, kw_only=True)
class Gaps:
    """What could not be asked."""

    degraded: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    lag: int = 0
    why: str | None = None


def answered(
    tx: ReadTx, query: Query, ranking: Ranking, held: Mapping[int, Memory] | None, gaps: Gaps, snapshot: str
) -> Recall:
    """The page of a ranking that a query asks for."""
    needs_rows = bool(query.topics or query.entities or query.metadata or query.states or query.tiers)
    order = ranking.order.tolist()
    if needs_rows or held is not None or query.include_superseded:
        passing = [(row, item) for row, item in _loaded(tx, ranking, order, held) if passes(item, query)]
        total, page = len(passing), passing[query.offset : query.offset + query.limit]
    else:
        total = len(order)
        page = list(_loaded(tx, ranking, order[query.offset : query.offset + query.limit], held))
    following = query.offset + query.limit
    found = _candidates(tx, ranking, page)
    hits = [
        with_neighbours(tx, as_hit(one, item), item, query.neighbours)
        for one, (_, item) in zip(found, page, strict=True)
    ]
    answer = Recall(
        hits=tuple(hits),
        total=total,
        next_offset=following if following < total else None,
        degraded=gaps.degraded,
        not_configured=gaps.off,
        lag={"meaning": gaps.lag} if gaps.lag else {},
        confidence=ranking.confidence,
        snapshot=snapshot,
    )
    return replace(answer, account=_account(ranking, gaps)) if query.explain else answer


def _loaded(
    tx: ReadTx, ranking: Ranking, rows: Sequence[int], held: Mapping[int, Memory] | None
) -> Iterator[tuple[int, Message | Memory]]:
    numbers = [int(ranking.index.numbers[row]) for row in rows]
    found = {item.number: item for item in tx.find_numbers(numbers)}
    for row, number in zip(rows, numbers, strict=True):
        item = (held or {}).get(number) or found.get(number)
        if item is not None:
            yield row, item


def _candidates(tx: ReadTx, ranking: Ranking, page: Sequence[tuple[int, Message | Memory]]) -> list[Candidate]:
    index, found = ranking.index, []
    for row, item in page:
        same = [] if ranking.everything is None else repeats(row, ranking.everything, index)
        later = ranking.later.get(row)
        past = ranking.outdated.get(item.number)
        folded = tx.find_numbers([int(index.numbers[one]) for one in same])
        by = None if later is None else tx.find_numbers([int(index.numbers[later])])
        found.append(
            Candidate(
                number=item.number,
                score=float(ranking.score[row]),
                why=_reasons(ranking, row),
                repeated=tuple(one.id for one in folded),
                superseded_by=past.by if past is not None else by[0].id if by else None,
            )
        )
    return found


def _reasons(ranking: Ranking, row: int) -> tuple[Reason, ...]:
    """The arms that speak for a row, with its rank among what the filters let through."""
    found = []
    for arm in ranking.arms:
        mine = arm.score[row]
        if not mine > 0:
            continue
        rank = 1 + int(((arm.score > mine) & ranking.allowed).sum())
        hit = ranking.words.of_row(row) if arm.name == "words" and ranking.words is not None else None
        words = () if hit is None else hit.matched or hit.nearby
        part = float(mine) * WEIGHTS[arm.name]
        found.append(Reason(arm=arm.name, rank=rank, score=float(mine), words=words, part=part))
    return tuple(found)


def _account(ranking: Ranking, gaps: Gaps) -> Mapping[str, Any]:
    """The whole account of a ranking: the question as it was read, each arm's weight and finds, what is missing."""
    question = ranking.question
    return {
        "words": [] if question is None else [word.word for word in question.words if not word.weak],
        "function_words": [] if question is None else [word.word for word in question.words if word.weak],
        "times": [] if question is None else [(one.text, one.start, one.end) for one in question.times],
        "anchors": [] if question is None else [one.clause for one in question.anchors],
        "goes_on": question is not None and question.goes_on,
        "documents": len(ranking.index),
        "allowed": int(ranking.allowed.sum()),
        "arms": {
            arm.name: {
                "weight": WEIGHTS[arm.name],
                "found": int((arm.found & ranking.allowed).sum()),
                "scored": int(((arm.score > 0) & ranking.allowed).sum()),
            }
            for arm in ranking.arms
        },
        "missing": gaps.why,
    }
