"""Recall: every arm ranks the scope, one fusion orders it, filters narrow it, and each hit says why it is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from holdfast.answers import Query, Recall
from holdfast.errors import InvalidInput, TooLarge
from holdfast.model import STATES, TIERS, Memory, from_micros, micros
from holdfast.pipeline.answering import Gaps, Ranking, answered, whole_order
from holdfast.pipeline.arms import (
    Question,
    key_arm,
    meaning_arms,
    recency_arm,
    speaker_arm,
    time_arm,
    understood,
    words_arm,
)
from holdfast.pipeline.confidence import confidence
from holdfast.pipeline.documents import KIND_OF, ROLE_OF
from holdfast.pipeline.fusion import ARMS, Arm, fuse
from holdfast.pipeline.hits import MAX_NEIGHBOURS
from holdfast.pipeline.index_cache import IndexCache
from holdfast.pipeline.sight import checked_session
from holdfast.pipeline.truth import DEPTH, Outdated, TruthCache, leading, newer_first, repeats_of
from holdfast.pipeline.vector_cache import DecodedVectors, VectorCache
from holdfast.pipeline.words import WordScores, best_first
from holdfast.transaction import ReadTx
from holdfast.unpacked import DecodedIndex
from holdfast.vectors import CorruptVectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Floats = NDArray[np.float32]
    Rows = NDArray[np.int64]

__all__ = ["MAX_LIMIT", "MAX_QUERY", "Caches", "Meaning", "checked", "recall"]

T = TypeVar("T")

MAX_LIMIT = 1000
MAX_QUERY = 10_000
"""Longest question, in characters: more is a text to add, not to ask."""
LAG = timedelta(seconds=60)
"""A meaning index that is behind by more is said to be degraded."""
LATE = "out of time"
FACTS = 32
"""How many of the best facts the key arm looks at."""
EXACT_BY_WORDS = 1000
"""How many of the best by words get an exact cosine in a scope that is too large for all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caches:
    """What recall keeps between questions; an answer is the same without."""

    indexes: IndexCache = field(default_factory=IndexCache)
    vectors: VectorCache = field(default_factory=VectorCache)
    truth: TruthCache = field(default_factory=TruthCache)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """The question as the embedder sees it, or why it does not: `off` (none is configured) or `failed`."""

    vector: Floats | None = None
    fingerprint: str | None = None
    off: bool = False
    failed: str | None = None


@dataclass(slots=True, kw_only=True)
class Rest:
    """The arms that are asked while there is time; what there was none for is added to the gaps."""

    gaps: Gaps
    in_time: Callable[[], bool]

    def ask(self, arm: str, work: Callable[[], T], *, there: bool) -> T | None:
        """What an arm says; None where there is nothing to ask it (`there`), or no time."""
        if not there:
            return None
        if self.in_time():
            return work()
        self.gaps.degraded += (arm,)
        self.gaps.why = self.gaps.why or LATE
        return None


def checked(query: Query) -> Query:
    """The query, if it can be asked.

    Raises:
        InvalidInput: limit, offset, neighbours, kinds, states, times or the snapshot are out of range.
        TooLarge: the question is longer than 10,000 characters.
        NaiveTime: a time has no zone.
    """
    if not isinstance(query.text, str):
        raise InvalidInput(f"the question is a {type(query.text).__name__}; pass text")
    if len(query.text) > MAX_QUERY:
        message = f"the question has {len(query.text)} characters; at most {MAX_QUERY} can be asked"
        raise TooLarge(message, size=len(query.text), limit=MAX_QUERY)
    numbers: tuple[object, ...] = (query.limit, query.offset)  # callers are not all type-checked
    if not all(isinstance(number, int) for number in numbers):
        raise InvalidInput(f"limit is {query.limit!r:.40} and offset {query.offset!r:.40}; pass whole numbers")
    if not 1 <= query.limit <= MAX_LIMIT:
        raise InvalidInput(f"limit is {query.limit}; it must be 1 to {MAX_LIMIT}")
    if query.offset < 0:
        raise InvalidInput(f"offset is {query.offset}; it must not be negative")
    if not 0 <= query.neighbours <= MAX_NEIGHBOURS:
        raise InvalidInput(f"neighbours is {query.neighbours}; it must be 0 to {MAX_NEIGHBOURS}")
    known: tuple[tuple[str, Sequence[str] | None, Sequence[str]], ...] = (
        ("kinds", query.kinds, tuple(KIND_OF)),
        ("states", query.states, STATES),
        ("tiers", query.tiers, TIERS),
        ("roles", query.roles, tuple(ROLE_OF)),
        ("arms", query.arms, ARMS),
    )
    for name, asked, allowed in known:
        unknown = set(asked or ()) - set(allowed)
        if unknown:
            raise InvalidInput(f"unknown {name} {sorted(map(str, unknown))}; known are {', '.join(allowed)}")
    checked_session(query.session)
    for moment in (query.since, query.until, query.as_of, query.known_at):
        if moment is not None:
            micros(moment)
    _snapshot(query.snapshot)
    return query


def _snapshot(text: str | None) -> tuple[int, datetime] | None:
    if text is None:
        return None
    number, _, moment = text.partition(".")
    if not (number[:1] == "n" and number[1:].isdecimal() and moment[:1] == "t" and moment[1:].isdecimal()):
        raise InvalidInput(f"{text!r:.40} is not a snapshot of a recall; pass the one that the first page gave")
    return int(number[1:]), from_micros(int(moment[1:]))


def recall(
    tx: ReadTx,
    query: Query,
    caches: Caches,
    meaning: Meaning | None = None,
    in_time: Callable[[], bool] = lambda: True,
) -> Recall:
    """Answer a query from one snapshot.

    With a question: what an arm finds, by the fused score. Without one: everything that passes the filters, newest
    first. `total` counts all of it, also beyond this page. An arm that cannot answer is named, the others answer; so
    are the arms that were still to be asked when `in_time` says that the time is over. Words always answer.

    Raises:
        CorruptIndex: the words index is damaged.
    """
    import numpy as np

    ceiling, now = _snapshot(query.snapshot) or (tx.document_count(), tx.now)
    index = caches.indexes.index(tx).upto(ceiling)
    held = _held(tx, query)
    now_only = held is None and not query.include_superseded and not query.states
    past = {} if held is not None else caches.truth.outdated(tx)
    allowed = _allowed(tx, index, query, held)
    if now_only:
        hidden = index.rows_of(sorted(number for number, one in past.items() if one.alone))
        allowed[hidden] = False
    question = understood(query.text, now)
    words, scores = words_arm(question, index)
    # Where cosines are estimated, those of the best by words are exact all the same.
    also = lambda: best_first(scores.score, np.flatnonzero(scores.hit), EXACT_BY_WORDS)  # noqa: E731 - of this call
    meaning = meaning or Meaning(off=True)
    if not meaning.off and not in_time():
        meaning = Meaning(failed=LATE)
    cosines, vectors, gaps = _nearness(tx, index, caches, meaning, also)
    if question.words:
        whole = None if whole_order(query) else query.offset + query.limit
        past = past if now_only else {}
        by, rest = (words, scores), Rest(gaps=gaps, in_time=in_time)
        ranking = _ranked(tx, index, question, by, allowed, cosines, vectors, past, now, query.arms, whole, rest)
    else:
        ranking = _recent(index, allowed, past if now_only else {})
    return answered(tx, query, ranking, held, gaps, f"n{ceiling}.t{micros(now)}")


def _nearness(
    tx: ReadTx, index: DecodedIndex, caches: Caches, meaning: Meaning, also: Callable[[], Rows]
) -> tuple[tuple[Floats, Mask] | None, DecodedVectors | None, Gaps]:
    """Cosines by row, and whether each row has a vector; what is missing."""
    if meaning.off:
        return None, None, Gaps(off=("meaning",))
    generations = tx.generations()
    current = next((one for one in generations if one.state == "current"), None)
    building = next((one.fingerprint for one in generations if one.state == "building"), None)
    if meaning.failed is not None:
        return None, None, Gaps(degraded=("meaning",), why=meaning.failed)
    if current is not None and current.fingerprint != meaning.fingerprint:
        return None, None, Gaps(degraded=("meaning",), why="another embedding", building=building)
    if current is None:
        lag = int(index.active.sum())
        return None, None, Gaps(lag=lag, degraded=_behind(tx, index, index.active))
    try:
        vectors = caches.vectors.vectors(tx, current)
    except CorruptVectors as error:
        return None, None, Gaps(degraded=("meaning",), why=str(error))
    if meaning.vector is None:
        return None, vectors, Gaps(building=building)
    cosines, held, seen = vectors.cosines(meaning.vector, index.numbers, also=also)
    missing = index.active & ~seen
    gaps = Gaps(lag=int(missing.sum()), degraded=_behind(tx, index, missing), building=building)
    held &= index.living
    return (cosines, held), vectors, gaps


def _behind(tx: ReadTx, index: DecodedIndex, missing: Mask) -> tuple[str, ...]:
    """`meaning` where the oldest document without a vector has waited for over a minute."""
    import numpy as np

    first = np.flatnonzero(missing)[:1]
    oldest = tx.find_numbers(index.numbers[first].tolist())
    return ("meaning",) if oldest and tx.now - oldest[0].recorded_at > LAG else ()


def _held(tx: ReadTx, query: Query) -> Mapping[int, Memory] | None:
    """The memories that held at the asked time, by number; None when the present is asked."""
    if query.as_of is None and query.known_at is None:
        return None
    as_of = query.as_of or query.known_at
    assert as_of is not None  # noqa: S101 - one of the two is given
    return {memory.number: memory for memory in tx.held(as_of=as_of, known_at=query.known_at)}


def _allowed(tx: ReadTx, index: DecodedIndex, query: Query, held: Mapping[int, Memory] | None) -> Mask:
    """Which documents the filters let through, as far as their records tell."""
    import numpy as np

    columns = index.columns
    allowed = (
        index.living.copy() if held is not None or query.include_superseded or query.states else index.active.copy()
    )
    messages = columns["kind"] == KIND_OF["message"]
    if held is not None:
        known = np.zeros(len(index), dtype=np.bool_)
        known[index.rows_of(sorted(held))] = True
        until = query.as_of or query.known_at
        assert until is not None  # noqa: S101 - `held` is only made for a time
        allowed &= np.where(messages, columns["event_time"] <= micros(until), known)
    if query.kinds is None:
        # What a roll-up tells its parts tell better: it is there where it is asked for.
        allowed &= columns["kind"] != KIND_OF["rollup"]
    else:
        allowed &= np.isin(columns["kind"], [KIND_OF[kind] for kind in query.kinds])
    if query.roles is not None:
        allowed &= messages & np.isin(columns["role"], [ROLE_OF[role] for role in query.roles if role in ROLE_OF])
    if query.states or query.tiers:
        allowed &= ~messages
    if () in (query.kinds, query.roles, query.states, query.tiers):
        allowed[:] = False
    if query.session is not None:
        session = tx.session(query.session)
        allowed &= columns["session"] == (session.number if session else -1)
    if tx.scope.agent is not None:
        allowed &= np.isin(columns["agent"], [0, tx.agents().get(tx.scope.agent, 0)])
    if query.since is not None:
        allowed &= columns["event_time"] >= micros(query.since)
    if query.until is not None:
        allowed &= columns["event_time"] < micros(query.until)
    return allowed


def _ranked(
    tx: ReadTx,
    index: DecodedIndex,
    question: Question,
    by_words: tuple[Arm, WordScores],
    allowed: Mask,
    cosines: tuple[Floats, Mask] | None,
    vectors: DecodedVectors | None,
    past: Mapping[int, Outdated],
    now: datetime,
    only: tuple[str, ...] | None,
    most: int | None,
    rest: Rest,
) -> Ranking:
    words, scores = by_words
    speaker, aside = speaker_arm(question, index)
    near = meaning_arms(*cosines, index) if cosines is not None else []
    facts = rest.ask("key", lambda: _facts(tx, index, words, near), there=_has_facts(index)) or []
    named = bool(question.times or question.anchors)
    given = (speaker, key_arm(question, facts, index), rest.ask("time", lambda: time_arm(question, index), there=named))
    arms = [words, *near, *given, recency_arm(question, index, micros(now))]
    asked = [arm for arm in arms if arm is not None and (only is None or arm.name in only)] or [words]
    fused = fuse(asked)
    hit = (fused.found if only is None else fused.found | (fused.score > 0)) & allowed
    score = fused.score
    _demote(index, score, hit, past)
    repeats = repeats_of(index)
    order = leading(score, hit, repeats, None if most is None else max(most, DEPTH))
    order, later = newer_first(order, score, index, scores, vectors, aside)
    best = [int(row) for row in order[:5]]
    sure = confidence(
        coverage=max((scores.coverage(row) for row in best), default=0.0),
        # The best hit may be too fresh to have a vector: then its words are believed.
        cosine=None if cosines is None or not cosines[1][best[:1]].all() else float(cosines[0][best].max(initial=0)),
    )
    return Ranking(
        index=index,
        order=order,
        score=score,
        arms=asked,
        allowed=allowed,
        words=scores,
        total=repeats.count(hit),
        hit=hit,
        repeats=repeats,
        later=later,
        outdated=past,
        confidence=sure if best else 0.0,
        question=question,
    )


def _fact_rows(index: DecodedIndex) -> Rows:
    import numpy as np

    rows: Rows | None = index.memo.get("facts")
    if rows is None:
        rows = index.memo["facts"] = np.flatnonzero(index.columns["kind"] == KIND_OF["fact"])
    return rows


def _has_facts(index: DecodedIndex) -> bool:
    return len(_fact_rows(index)) > 0


def _facts(tx: ReadTx, index: DecodedIndex, words: Arm, near: Sequence[Arm]) -> list[tuple[int, Memory]]:
    """The facts that the other arms put first, loaded: (row, fact)."""
    import numpy as np

    rows = _fact_rows(index)
    promise = sum((arm.score[rows] for arm in near), words.score[rows])
    best = rows[np.argsort(-promise, kind="stable")[:FACTS]]
    found = {item.number: item for item in tx.find_numbers(index.numbers[best].tolist())}
    items = ((int(row), found.get(int(index.numbers[row]))) for row in best)
    return [(row, item) for row, item in items if isinstance(item, Memory)]


def _demote(index: DecodedIndex, score: Floats, hit: Mask, past: Mapping[int, Outdated]) -> None:
    """A message that rests on a superseded value, among other things, ranks after what replaced it."""
    import numpy as np

    for one in past.values():
        rows = index.rows_of([one.number, one.by_number])
        if len(rows) == 2 and hit[rows].all():
            old, new = index.rows_of([one.number])[0], index.rows_of([one.by_number])[0]
            score[old] = min(score[old], np.nextafter(score[new], np.float32(-1)))


def _recent(index: DecodedIndex, allowed: Mask, past: Mapping[int, Outdated]) -> Ranking:
    import numpy as np

    rows = np.flatnonzero(allowed)
    order = rows[np.lexsort((-rows, -index.columns["event_time"][rows]))]
    score = np.zeros(len(index), dtype=np.float32)
    score[order] = (1 / np.arange(1, len(order) + 1)).astype(np.float32)
    return Ranking(
        index=index,
        order=order,
        total=len(order),
        score=score,
        arms=[Arm(name="recency", score=score, found=allowed)],
        allowed=allowed,
        outdated=past,
    )
