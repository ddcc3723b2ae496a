"""From a ranking to an answer: the page, each hit with its reasons, and the account of the whole."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memhold.facts.outdated import End, Outdated
from memhold.facts.together import told_with, with_linked
from memhold.index.postings_arrays import DecodedIndex
from memhold.index.repeats import Repeats, one_a_message
from memhold.index.words import best_first
from memhold.messages.fences import unquoted
from memhold.ports.transaction import ReadTx
from memhold.recall.confidence import Evidence, confidence, said_of
from memhold.recall.excerpt import EXCERPT_CHARS, Asked, excerpt
from memhold.recall.fusion import WEIGHTS, Signal
from memhold.recall.pages import Place, best_left, unshown
from memhold.recall.signals import Question, Sentences
from memhold.text.analysis import analyse_query
from memhold.values.answers import DAMAGED, Ended, Hit, Query, Reason, Recall
from memhold.values.records import HitKind, Memory, Message

if TYPE_CHECKING:
    from memhold.index.words import WordScores
    from memhold.values.arrays import Floats, Mask, Rows

__all__ = [
    "REPEATS",
    "Candidate",
    "Gaps",
    "Ranking",
    "answered",
    "as_hit",
    "readable",
    "reasons_of",
    "standing",
    "with_neighbours",
]

READ = 2_000
"""Characters of a hit that a reranker reads: about the 512 tokens that small ones take."""

MAX_SHOWN = 4_000
"""Characters of a document that a hit shows; `documents.read` gives it whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A document of the ranking: its score, the reasons, what it repeats and what replaced what it says."""

    number: int
    score: float
    why: tuple[Reason, ...]
    repeated: tuple[str, ...] = ()
    superseded_by: str | None = None
    outdated: tuple[Ended, ...] = ()


def readable(hit: Hit) -> str:
    """What a reranker reads of a hit: its text, or of a long one the sentence that is nearest and its beginning."""
    long = hit.excerpt is not None and len(hit.text) > READ
    return f"{hit.excerpt}\n{hit.text}"[:READ] if long else hit.text[:READ]


def with_neighbours(tx: ReadTx, hits: Sequence[Hit], items: Sequence[Message | Memory], count: int) -> list[Hit]:
    """The hits with up to `count` turns before and after each in its session; a memory has none.

    `items` are their rows. A turn that stands around several is read once.
    """
    if not count:
        return [*hits]
    places: dict[str, list[int]] = {}
    for item in items:
        if isinstance(item, Message):
            places.setdefault(item.session, []).append(item.seq)
    turns: dict[str, list[Message]] = {
        session: [
            one for first, last in _stretches(seqs, count) for one in tx.messages(session, after=first, until=last)
        ]
        for session, seqs in places.items()
    }
    return [
        replace(hit, neighbours=_around(turns[item.session], item, count)) if isinstance(item, Message) else hit
        for hit, item in zip(hits, items, strict=True)
    ]


def _stretches(seqs: Iterable[int], count: int) -> list[tuple[int, int]]:
    """Behind which place and up to which a session must be read for the turns around these, without a place twice."""
    found: list[tuple[int, int]] = []
    for seq in sorted(seqs):
        first, last = max(0, seq - count - 1), seq + count
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def _around(turns: Sequence[Message], item: Message, count: int) -> tuple[Message, ...]:
    begin = bisect_left(turns, item.seq - count, key=lambda one: one.seq)
    end = bisect_right(turns, item.seq + count, key=lambda one: one.seq)
    return tuple(one for one in turns[begin:end] if one.id != item.id and not one.opaque)


def as_hit(candidate: Candidate, item: Message | Memory) -> Hit:
    """The hit of a candidate and its row. A message's text is without what it quotes, which may hold no longer."""
    if isinstance(item, Message):
        return Hit(
            id=item.id,
            kind="message",
            text=unquoted(item),
            score=candidate.score,
            tier=None,
            state="active",
            created_at=item.recorded_at,
            event_time=item.event_time,
            sources=candidate.repeated,
            why=candidate.why,
            role=item.role,
            written_by=item.written_by,
            speaker=item.speaker,
            session=item.session or None,
            agent=item.agent,
            superseded_by=candidate.superseded_by,
            outdated=candidate.outdated,
            metadata=item.metadata,
            origin=item.origin,
            actor=item.actor,
        )
    kind: HitKind = item.kind
    return Hit(
        id=item.id,
        kind=kind,
        text=item.text if item.kind != "document" else item.text[:MAX_SHOWN],
        score=candidate.score,
        tier=item.tier,
        state=item.state,
        created_at=item.created_at,
        event_time=item.event_time,
        sources=(*dict.fromkeys((*item.sources, *candidate.repeated)),),
        why=candidate.why,
        session=item.session,
        agent=item.agent,
        subject=item.subject,
        attribute=item.attribute,
        value=item.value,
        valid_from=item.valid_from,
        valid_to=item.valid_to,
        superseded_by=item.superseded_by or candidate.superseded_by,
        outdated=candidate.outdated,
        pinned=item.pinned,
        topics=item.topics,
        entities=item.entities,
        metadata=item.metadata,
        origin=item.origin,
        actor=item.actor,
        speaker=item.speaker,
        last_confirmed_at=item.last_confirmed_at,
        path=item.path,
        quote=item.quote,
        standing="doubtful" if item.doubtful else "stated",
        doubts=item.doubts,
    )


REPEATS = 100
"""At most so many of the messages that a hit repeats are named, the best first; `total` counts texts, not copies."""


@dataclass(slots=True, kw_only=True)
class Ranking:
    """The scope, ranked: rows in order (at least as far as the page goes), and what their reasons are made of."""

    index: DecodedIndex
    order: Rows
    total: int
    score: Floats
    signals: Sequence[Signal]
    allowed: Mask
    hit: Mask
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    parts: Mapping[str, Floats] = field(default_factory=dict)
    """What a signal without a weight added to each row: a reranker gives places, and the hits each other's scores."""
    words: WordScores | None = None
    repeats: Repeats | None = None
    near: Rows | None = None
    """What no signal found, the nearest first, as far as the first page has room for it."""
    outdated: Mapping[int, Outdated] = field(default_factory=dict)
    ends: Mapping[int, End] = field(default_factory=dict)
    """By document number which of the values that hold no longer is asked for."""
    folded: Mapping[int, int] = field(default_factory=dict)
    """What is no hit of its own, by row the one that it is told with: a memory and the message that it quotes."""
    then: frozenset[int] = frozenset()
    """The numbers of facts that hold no longer and are asked for."""
    evidence: Evidence | None = None
    """What the best hits say of whether the answer is among them; None where nothing is asked."""
    question: Question | None = None
    sentences: Sentences | None = None
    """Which sentence of a hit is the nearest; None where the question has no vector."""
    kept_out: Mapping[str, int] = field(default_factory=dict)
    """How many documents each filter keeps out, where that is to be told; one may be kept out by several."""

    @property
    def filling(self) -> list[int]:
        """The rows that fill the first page up."""
        return [] if self.near is None else self.near.tolist()


@dataclass(slots=True, kw_only=True)
class Gaps:
    """What could not be asked."""

    degraded: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    lag: int = 0
    why: str | None = None
    building: str | None = None
    """The embedding whose vectors are being made beside those that answer."""


def answered(
    tx: ReadTx, query: Query, ranking: Ranking, held: Mapping[int, Memory] | None, gaps: Gaps, place: Place
) -> Recall:
    """The page of a ranking that a query asks for."""
    if query.cursor is not None:
        ranking = _unshown(ranking, place)
    end = query.offset + query.limit
    order = ranking.order[query.offset : end].tolist()
    page = list(_loaded(tx, ranking, [*order, *ranking.filling], held))
    found = _candidates(tx, ranking, page)
    asked = _asked(query.text, ranking.sentences)
    hits = [
        _excerpted(as_hit(one, item), item, asked, ranking.sentences)
        for one, (_, item) in zip(found, page, strict=True)
    ]
    linked = told_with(tx, [item for _, item in page])
    hits = [replace(hit, together=linked.get(hit.id, ())) for hit in hits] if linked else hits
    following = len(place.shown) + end
    more = following < ranking.total
    answer = Recall(
        hits=tuple(with_neighbours(tx, hits, [item for _, item in page], query.neighbours)),
        total=ranking.total,
        next_offset=following if more else None,
        degraded=(*gaps.degraded, *((DAMAGED,) if tx.damaged else ())),
        damaged=tuple(tx.damaged),
        not_configured=gaps.off,
        lag={"meaning": gaps.lag} if gaps.lag else {},
        confidence=_sure(tx, ranking, held, {row: hit for hit, (row, _) in zip(hits, page, strict=True)}),
        snapshot=place.snapshot,
        cursor=place.cursor(query, tx.scope, ranking.index.numbers[ranking.order[:end]].tolist()) if more else None,
    )
    return replace(answer, account=_account(ranking, gaps)) if query.explain else answer


def _asked(question: str, sentences: Sentences | None) -> Asked | None:
    """What a long text is cut around; None where nothing is asked."""
    if not question.strip():
        return None
    return Asked(words=analyse_query(question), nearest=None if sentences is None else sentences.nearest)


def _excerpted(hit: Hit, item: Message | Memory, asked: Asked | None, sentences: Sentences | None) -> Hit:
    text = hit.text if isinstance(item, Message) else item.text
    if asked is not None and len(text) > EXCERPT_CHARS:
        return replace(hit, excerpt=excerpt(text, EXCERPT_CHARS, asked, number=item.number, count=len))
    return hit if sentences is None else replace(hit, excerpt=sentences.excerpt(item.number, hit.text))


def _sure(tx: ReadTx, ranking: Ranking, held: Mapping[int, Memory] | None, shown: Mapping[int, Hit]) -> float | None:
    """How likely the answer is among the best hits of the whole ranking, whichever page of it is `shown`."""
    if ranking.evidence is None or ranking.question is None:
        return None
    rows = ranking.evidence.rows
    unseen = list(_loaded(tx, ranking, [row for row in rows if row not in shown], held))
    others = {row: as_hit(Candidate(number=item.number, score=0.0, why=()), item) for row, item in unseen}
    best = [hit for row in rows if (hit := shown.get(row) or others.get(row)) is not None]
    dated = any(hit.kind == "message" for hit in best)
    return confidence(ranking.evidence, said_of(ranking.question.text, [hit.text for hit in best], dated=dated))


def standing(tx: ReadTx, ranking: Ranking, limit: int, least: float = 0.0) -> list[Message | Memory]:
    """The first page of a ranking, the items alone: messages and the memories that nothing took the place of.

    What is told together with one of them stands right behind it. With `least` only what has that share of the best
    score.
    """
    rows = [*ranking.order[:limit].tolist(), *ranking.filling]
    if least and rows:
        bar = least * ranking.score[rows[0]]
        rows = [row for row in rows if ranking.score[row] >= bar]
    page = _loaded(tx, ranking, rows, None)
    current = [
        item
        for _, item in page
        if isinstance(item, Message) or item.superseded_by is None or item.number in ranking.then
    ]
    return with_linked(tx, current, limit)


def _unshown(ranking: Ranking, place: Place) -> Ranking:
    """The ranking of what was not shown; `total` counts what was too."""
    import numpy as np

    shown = ranking.index.rows_of(place.shown)
    # Another part of a message that was shown is no more of it.
    best, hit = ranking.score.copy(), ranking.hit.copy()
    best[shown], hit[shown] = np.inf, True
    left = one_a_message(ranking.index, best, hit) & ranking.hit
    may = unshown(left, shown, ranking.repeats)
    order = best_left(ranking.order, may, ranking.score, ranking.repeats)
    return replace(ranking, order=order, hit=may, total=len(place.shown) + len(order))


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
    same = {row: _same(ranking, row) for row, _ in page}
    wanted = sorted({one for rows in same.values() for one in rows})
    numbers = dict(zip(wanted, index.numbers[wanted].tolist(), strict=True))
    named = {item.number: item.id for item in tx.find_numbers(list(numbers.values()))}
    ids = {row: named[number] for row, number in numbers.items() if number in named}
    why = reasons_of(ranking, [row for row, _ in page])
    for (row, item), reasons in zip(page, why, strict=True):
        past = ranking.outdated.get(item.number)
        found.append(
            Candidate(
                number=item.number,
                score=float(ranking.score[row]),
                why=reasons,
                repeated=tuple(ids[one] for one in same[row] if one in ids),
                superseded_by=None if past is None else past.by,
                outdated=() if past is None else past.values,
            )
        )
    return found


def _same(ranking: Ranking, row: int) -> list[int]:
    """The hits that say the same as this one, best first, and what is told with it."""
    if ranking.repeats is None:
        return []
    told = [one for one, other in ranking.folded.items() if other == row]
    rows = ranking.repeats.of(row)
    others = rows[ranking.hit[rows] & (rows != row)]
    best: list[int] = best_first(ranking.score, others, REPEATS).tolist()
    return [*best, *told]


def reasons_of(ranking: Ranking, rows: Sequence[int]) -> list[tuple[Reason, ...]]:
    """For each row the signals that speak for it, with its rank among what the filters let through."""
    found: list[list[Reason]] = [[] for _ in rows]
    for signal in ranking.signals:
        mine = signal.score[list(rows)].tolist()
        positive = [score for score in mine if score > 0]
        if not positive:
            continue
        others = signal.score[(signal.score > min(positive)) & ranking.allowed]
        for place, score in enumerate(mine):
            if not score > 0:
                continue
            hit = ranking.words.of_row(rows[place]) if signal.name == "words" and ranking.words is not None else None
            words = () if hit is None else hit.matched or hit.nearby
            rank = 1 + int((others > score).sum())
            own = ranking.parts.get(signal.name)
            part = score * ranking.weights[signal.name] if own is None else float(own[rows[place]])
            found[place].append(Reason(signal=signal.name, rank=rank, score=score, words=words, part=part))
    return [tuple(reasons) for reasons in found]


def _account(ranking: Ranking, gaps: Gaps) -> Mapping[str, Any]:
    """The whole account of a ranking: the question as it was read, each signal's weight and finds, what is missing."""
    question = ranking.question
    return {
        "words": [] if question is None else [word.word for word in question.words if not word.weak],
        "function_words": [] if question is None else [word.word for word in question.words if word.weak],
        "times": [] if question is None else [(one.text, one.start, one.end) for one in question.times],
        "goes_on": question is not None and question.goes_on,
        "documents": len(ranking.index),
        "allowed": int(ranking.allowed.sum()),
        "kept_out": {name: count for name, count in ranking.kept_out.items() if count},
        "signals": {
            signal.name: {
                "weight": ranking.weights[signal.name],
                "found": int((signal.found & ranking.allowed).sum()),
                "scored": int(((signal.score > 0) & ranking.allowed).sum()),
            }
            for signal in ranking.signals
        },
        "missing": gaps.why,
        "building": gaps.building,
    }
