"""Recall: every signal ranks the scope, one fusion orders it, filters narrow it, and each hit says why it is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, TypeVar, cast

from memhold.facts.asked import asked_concepts, attribute_terms
from memhold.facts.outdated import Outdated, TruthCache, replaced
from memhold.index.documents import KIND_OF, ROLES_OF
from memhold.index.kept_scopes import MOST_BYTES, IndexCache, KeptScopes
from memhold.index.nearest import NearCache
from memhold.index.postings_arrays import DecodedIndex
from memhold.index.vector_cache import DecodedVectors, VectorCache
from memhold.index.words import best_first, score_words
from memhold.journal.visibility import checked_id
from memhold.messages.fences import unquoted
from memhold.ports.postings import term_key
from memhold.ports.transaction import ReadTx
from memhold.recall.answering import Gaps, Ranking, answered, standing
from memhold.recall.conversation import carried
from memhold.recall.expected import expected
from memhold.recall.filters import allowed_rows, filters_of, held_then, passing_rows
from memhold.recall.fusion import SIGNALS, asked_of, fuse, weights_of
from memhold.recall.meaning import Meaning, nearness
from memhold.recall.newer import change_signal
from memhold.recall.pages import Place, place_of, read_snapshot
from memhold.recall.people import People
from memhold.recall.ranking import (
    Standing,
    View,
    asked_ends,
    evidence_of,
    newest_first,
    ordered,
    reranked,
    with_followers,
    with_nearest,
)
from memhold.recall.signals import (
    NEARER,
    Question,
    Sentences,
    advice_signal,
    by_words,
    key_signal,
    meaning_signals,
    order_signal,
    recency_signal,
    reply_signal,
    role_signal,
    speaker_signal,
    time_signal,
    understood,
    words_signal,
)
from memhold.recall.told import Then, Told, asked_then, told_of
from memhold.text.person import person_of
from memhold.values.answers import Query, Recall
from memhold.values.bounds import MAX_HITS, MAX_NEIGHBOURS
from memhold.values.errors import InvalidInput, TooLarge
from memhold.values.names import folded
from memhold.values.records import STATES, TIERS, Memory, Message, micros

if TYPE_CHECKING:
    from memhold.values.arrays import Floats, Mask, Rows

__all__ = [
    "MAX_QUERY",
    "RERANKED",
    "Caches",
    "Meaning",
    "Related",
    "checked",
    "recall",
    "recall_among",
    "related",
    "said_in",
]

T = TypeVar("T")

MAX_QUERY = 10_000
"""Longest question, in characters: more is a text to add, not to ask."""
RERANKED = 30
"""How many of the best a reranker reads."""
LATE = "out of time"
BEST_TOLD, FACTS = 32, 16
"""How many of the best facts and notes are read; of those that hold no longer, and of the facts with a word for what is
asked, the rarest first."""
OF_OTHERS = 100
"""How many of the best that other people said are read for whether they say it of themselves."""
EXACT_BY_WORDS = 1000
"""How many of the best by words get an exact cosine in a scope that is too large for all of them."""


class Caches:
    """What recall keeps between questions, all of it in so many bytes; an answer is the same without.

    The days of a question are those of `zone`; None is this machine's.
    """

    def __init__(self, max_bytes: int = MOST_BYTES, zone: tzinfo | None = UTC) -> None:
        self.zone = zone
        self._scopes = KeptScopes(max_bytes)
        self.indexes = IndexCache(self._scopes)
        self.vectors = VectorCache(self._scopes)
        self.near = NearCache(self._scopes)
        self.truth = TruthCache(self._scopes)

    @property
    def nbytes(self) -> int:
        """Bytes that it holds, by estimate."""
        return self._scopes.nbytes

    def outdated(self, tx: ReadTx) -> Mapping[int, Outdated]:
        """What of the scope says something that is no longer so, by document number."""
        return self.truth.outdated(tx)


@dataclass(slots=True, kw_only=True)
class Rest:
    """The signals that are asked while there is time; what there was none for is added to the gaps."""

    gaps: Gaps
    in_time: Callable[[], bool]

    def ask(self, signal: str, work: Callable[[], T], *, there: bool) -> T | None:
        """What a signal says; None where there is nothing to ask it (`there`), or no time."""
        if not there:
            return None
        if self.in_time():
            return work()
        self.gaps.degraded += (signal,)
        self.gaps.why = self.gaps.why or LATE
        return None


def checked(query: Query) -> Query:
    """The query, if it can be asked.

    Raises:
        InvalidInput: limit, offset, neighbours, kinds, states, times or the snapshot are out of range, or there is a
            cursor beside an offset or a snapshot.
        TooLarge: the question is longer than 10,000 characters.
        NaiveTime: a time has no zone.
    """
    if not isinstance(query.text, str):
        raise InvalidInput(f"the question is a {type(query.text).__name__}; pass text")
    if len(query.text) > MAX_QUERY:
        message = f"the question has {len(query.text)} characters; at most {MAX_QUERY} can be asked"
        raise TooLarge(message, size=len(query.text), limit=MAX_QUERY)
    _typed(query)
    if not 1 <= query.limit <= MAX_HITS:
        raise InvalidInput(f"limit is {query.limit}; it must be 1 to {MAX_HITS}")
    if query.offset < 0:
        raise InvalidInput(f"offset is {query.offset}; it must not be negative")
    if not 0 <= query.neighbours <= MAX_NEIGHBOURS:
        raise InvalidInput(f"neighbours is {query.neighbours}; it must be 0 to {MAX_NEIGHBOURS}")
    known: tuple[tuple[str, Sequence[str] | None, Sequence[str]], ...] = (
        ("kinds", query.kinds, tuple(KIND_OF)),
        ("states", query.states, STATES),
        ("tiers", query.tiers, TIERS),
        ("roles", query.roles, tuple(ROLES_OF)),
        ("signals", query.signals, SIGNALS),
    )
    for name, asked, allowed in known:
        unknown = set(asked or ()) - set(allowed)
        if unknown:
            raise InvalidInput(f"unknown {name} {sorted(map(str, unknown))}; known are {', '.join(allowed)}")
    read_snapshot(query.snapshot)
    if query.cursor is not None and (query.offset or query.snapshot is not None):
        raise InvalidInput("a cursor says where the page begins; pass it without offset and snapshot")
    return query


def _typed(query: Query) -> None:
    """Callers are not all type-checked: whole numbers, times and texts are what they should be."""
    numbers: tuple[object, ...] = (query.limit, query.offset, query.neighbours)
    if not all(isinstance(number, int) for number in numbers):
        given = f"limit is {query.limit!r:.40}, offset {query.offset!r:.40} and neighbours {query.neighbours!r:.40}"
        raise InvalidInput(f"{given}; pass whole numbers")
    texts: tuple[object, ...] = (query.snapshot, query.cursor)
    if not all(text is None or isinstance(text, str) for text in texts):
        raise InvalidInput("a snapshot or a cursor is no text; pass the one that the last page gave")
    if query.expect is not None:
        checked_id(query.expect)
    for what, name in (("speaker", query.speaker), ("asker", query.asker)):
        if name is not None and (not isinstance(cast("object", name), str) or not name.strip()):
            raise InvalidInput(f"{what} is {name!r:.40}; pass a person's name, or leave it out")


def recall(
    tx: ReadTx,
    query: Query,
    caches: Caches,
    meaning: Meaning | None = None,
    in_time: Callable[[], bool] = lambda: True,
    secret: bytes = b"",
    scores: Mapping[str, float] | None = None,
) -> Recall:
    """Answer a query from one snapshot.

    With a question: what a signal finds, by the fused score. Without one: everything that passes the filters, newest
    first. `total` counts all of it, also beyond this page. A signal that cannot answer is named, the others answer; so
    are the signals that were still to be asked when `in_time` says that the time is over. Words always answer. Cursors
    are sealed with the store's `secret`. `scores` are a reranker's, by id: the best `RERANKED` are put in their order.

    Raises:
        InvalidInput: the cursor is not one of this question in this scope.
        CorruptIndex: the words index is damaged, and its digests agree with it.
    """
    place = place_of(tx, query, secret)
    view = _view(tx, query, place, caches, meaning, in_time)
    held = held_then(tx, query)
    ranking = _ranking(tx, view, query, caches, held, RERANKED if scores else 0)
    if scores:
        ranking = reranked(ranking, _by_row(tx, ranking, scores))
    ranking = replace(ranking, evidence=evidence_of(view, ranking))
    answer = answered(tx, query, ranking, held, view.gaps, place)
    return answer if query.expect is None else replace(answer, expected=expected(tx, query, ranking))


def recall_among(
    tx: ReadTx,
    query: Query,
    caches: Caches,
    meaning: Meaning,
    in_time: Callable[[], bool],
    numbers: Sequence[int] | None,
) -> Recall:
    """The same from these document numbers alone (None: from all), and no place to go on from."""
    place = place_of(tx, query, b"")
    view = _view(tx, query, place, caches, meaning, in_time)
    ranking = _ranking(tx, view, query, caches, None, among=numbers)
    return answered(tx, query, replace(ranking, evidence=evidence_of(view, ranking)), None, view.gaps, place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """What several queries of one text found, the signals that were missing, and which sentences are the nearest.

    `outdated` tells by document number what of the scope says a value that holds no longer, `then` which of these past
    values are asked for. `sentences` is None where that would have to be read from the store.
    """

    found: Sequence[Sequence[Message | Memory]]
    degraded: tuple[str, ...]
    outdated: Mapping[int, Outdated] = field(default_factory=dict)
    then: frozenset[int] = frozenset()
    sentences: Sentences | None = None


def related(
    tx: ReadTx,
    queries: Sequence[Query],
    caches: Caches,
    meaning: Meaning | None = None,
    in_time: Callable[[], bool] = lambda: True,
    *,
    documents: Sequence[int] | None = None,
    least: float = 0.0,
) -> Related:
    """For several queries of one text what each first page holds, and the signals missing.

    The same items in the same order as `recall` gives for each, but for memories that were replaced, from one ranking:
    only filters and limits may differ. Of documents only these numbers are looked at (None: all); with `least` only
    what has that share of the best score of its query.

    Raises:
        CorruptIndex: the words index is damaged, and its digests agree with it.
    """
    view = _view(tx, queries[0], place_of(tx, queries[0], b""), caches, meaning, in_time)
    found: list[list[Message | Memory]] = []
    for query in queries:
        among = documents if query.kinds == ("document",) else None
        found.append(standing(tx, _ranking(tx, view, query, caches, None, among=among), query.limit, least))
    sentences = None if view.near is None else view.near.sentences
    lasting = sentences is not None and isinstance(sentences.vectors, DecodedVectors)
    return Related(
        found=found,
        degraded=view.gaps.degraded,
        outdated=caches.outdated(tx),
        then=frozenset(view.told.then.ends),
        sentences=sentences if lasting else None,
    )


def said_in(tx: ReadTx, caches: Caches) -> int:
    """How many messages the scope has that may be shown."""
    index = caches.indexes.index(tx)
    return int((index.active & (index.columns["kind"] == KIND_OF["message"])).sum())


def _view(
    tx: ReadTx, query: Query, place: Place, caches: Caches, meaning: Meaning | None, in_time: Callable[[], bool]
) -> View:
    import numpy as np

    index = caches.indexes.index(tx).upto(place.ceiling)
    question = understood(query.text, place.now, carried(query.text, query.conversation), caches.zone)
    people = People(index=index, user=tx.scope.user)
    asker = query.asker if question.person.first and query.asker is not None and people.several else None
    mine = None if asker is None else people.own(asker)
    speaker, aside = speaker_signal(question, index, mine)
    # Where the question names somebody, it is theirs that is asked for.
    others = None if asker is None or aside.any() else people.others(asker)
    # Words that name a speaker count like function words beside others: the speaker signal says who spoke, and whoever
    # is spoken to is named as often.
    scores = score_words(question.words, index, faint=aside)
    # Where cosines are estimated, those of the best by words are exact all the same.
    also = lambda: best_first(scores.score, np.flatnonzero(scores.hit), EXACT_BY_WORDS)  # noqa: E731 - of this call
    meaning = meaning or Meaning(off=True)
    if not meaning.off and not in_time():
        meaning = Meaning(failed=LATE)
    found, gaps = nearness(tx, index, caches.vectors, caches.near, meaning, also)
    if index.damage is not None:
        gaps.degraded, gaps.why = ("words", *gaps.degraded), gaps.why or str(index.damage)
    view = View(index=index, question=question, gaps=gaps, scores=scores, mine=mine, others=others)
    if not question.words:
        return view
    near = meaning_signals(found, index) if found is not None else []
    named = asked_of(static=meaning.static) if query.signals is None else query.signals
    # Where no vector says what is meant, words are all there is, however little they say. Of several sentences most
    # tell something else than what is asked, so no text says half of them.
    means = found is not None and "meaning" in named and bool(found.held.any())
    said = by_words(scores) if means and not question.goes_on else 1.0
    words = words_signal(scores, said)
    about = np.maximum(words.score, near[0].score) if near else words.score
    rest = Rest(gaps=gaps, in_time=in_time)
    past = {} if query.states or query.as_of or query.known_at else caches.outdated(tx)
    told = rest.ask("key", lambda: _told(tx, index, question, about, past), there=_has_memories(index)) or Told()
    facts = told.facts if asker is None or mine is None else _as_asked(told.facts, asker, mine, others)
    timed = bool(question.times)
    signals = [
        words,
        *near,
        speaker,
        key_signal(question, facts, index, others),
        rest.ask("time", lambda: time_signal(question, index), there=timed),
        role_signal(question, index, told),
        advice_signal(question, index),
        order_signal(question, index, about),
        change_signal(question, index, about, said),
        reply_signal(index),
        recency_signal(question, index, micros(place.now)),
    ]
    asked = [signal for signal in signals if signal is not None and signal.name in named] or [words]
    weights = weights_of(static=meaning.static, goes_on=question.goes_on)
    fused = fuse(asked, weights=weights)
    nearer = next((signal.score >= NEARER for signal in asked if signal.name == "meaning"), None)
    told = replace(told, then=told.then.of_the_best(index, fused.score))
    view = replace(view, speaker=speaker, near=found, signals=asked, weights=weights)
    return replace(view, told=told, fused=fused, nearer=nearer)


def _by_row(tx: ReadTx, ranking: Ranking, scores: Mapping[str, float]) -> dict[int, float]:
    best = ranking.order[:RERANKED].tolist()
    numbers = ranking.index.numbers[best].tolist()
    ids = {item.number: item.id for item in tx.find_numbers(numbers)}
    named = ((row, ids.get(number)) for row, number in zip(best, numbers, strict=True))
    return {row: scores[name] for row, name in named if name is not None and name in scores}


def _ranking(
    tx: ReadTx,
    view: View,
    query: Query,
    caches: Caches,
    held: Mapping[int, Memory] | None,
    reach: int = 0,
    among: Sequence[int] | None = None,
) -> Ranking:
    """The scope, ranked, as far as the page goes and at least as far as `reach`."""
    index = view.index
    past = _past(tx, query, caches) if held is None else {}
    then = view.told.then if held is None and not query.states else Then()
    filters = dict(filters_of(tx, index, query, held))
    filters["state"] = filters["state"] | (then.rows(index) & index.living)
    kept_out = {name: int((~mask).sum()) for name, mask in filters.items()} if query.explain else {}
    allowed = allowed_rows(index, filters)
    if among is not None:
        named = index.rows_of(sorted(among))
        kept = allowed[named]
        allowed[:] = False
        allowed[named] = kept
    if view.fused is None:
        listed = newest_first(index, passing_rows(tx, index, query, held, allowed), past)
        return replace(listed, kept_out=kept_out)
    ends = asked_ends(index, past, view.fused.score)
    # Only words, meaning, key and time find; one that is asked alone, or some that only rank, find what they score.
    found = view.fused.found
    if query.signals is not None and (len(view.signals) == 1 or not found.any()):
        found = found | (view.fused.score > 0)
    passing = passing_rows(tx, index, query, held, found & allowed)
    nearer = view.nearer if view.nearer is not None and passing.any() else False
    fused = with_followers(replace(view.fused, found=found | nearer), index, ends, replace(view.told, then=then))
    passing |= passing_rows(tx, index, query, held, fused.found & ~found & allowed)
    found = fused.found
    allowed &= passing | ~found
    most = None if query.cursor is not None else max(query.offset + query.limit, reach)
    behind = _of_themselves(tx, view, fused.score, found)
    ends = {number: end for number, end in ends.items() if end.old not in then.ends}
    now = held is None and not query.states
    standing_by = Standing(past=past, now=now, behind=behind, ends=ends)
    ranking = ordered(view, fused, allowed, found, standing_by, most)
    ranking = replace(ranking, kept_out=kept_out, then=frozenset(then.ends))
    if query.cursor is not None or query.offset or len(ranking.order) >= query.limit:
        return ranking
    return with_nearest(ranking, query.limit, lambda rows: passing_rows(tx, index, query, held, rows))


def _as_asked(
    facts: Sequence[tuple[int, Memory]], asker: str, mine: Mask, others: Mask | None
) -> list[tuple[int, Memory]]:
    """The facts for a question of whoever asks about themselves: those about them by name are theirs, whoever told."""
    about = [row for row, fact in facts if folded(fact.subject or "") == folded(asker)]
    mine[about] = True
    if others is not None:
        others[about] = False
    return [(row, replace(fact, subject="user") if row in about else fact) for row, fact in facts]


def _of_themselves(tx: ReadTx, view: View, score: Floats, found: Mask) -> Mask | None:
    """What other people than whoever asks about themselves say of themselves, as far as it may be the answer."""
    import numpy as np

    if view.others is None:
        return None
    rows = np.flatnonzero(view.others & found)
    best = rows[np.argsort(-score[rows], kind="stable")[:OF_OTHERS]]
    numbers = [
        item.number
        for item in tx.find_numbers(view.index.numbers[best].tolist())
        if isinstance(item, Memory) or person_of(unquoted(item).removeprefix(f"{item.speaker}: ")).first
    ]
    behind = np.zeros(len(view.index), dtype=np.bool_)
    behind[view.index.rows_of(sorted(numbers))] = True
    return behind


def _past(tx: ReadTx, query: Query, caches: Caches) -> Mapping[int, Outdated]:
    """What rests on values that no longer hold, and where past values are asked for, those too."""
    if query.states:
        return {}
    past = caches.outdated(tx)
    return {**replaced(tx), **past} if query.include_superseded else past


def _memory_rows(index: DecodedIndex) -> Rows:
    import numpy as np

    rows: Rows | None = index.memo.get("told")
    if rows is None:
        kinds = index.columns["kind"]
        rows = np.flatnonzero((kinds == KIND_OF["fact"]) | (kinds == KIND_OF["note"]))
        index.memo["told"] = rows
    return rows


def _has_memories(index: DecodedIndex) -> bool:
    return len(_memory_rows(index)) > 0


def _told(tx: ReadTx, index: DecodedIndex, question: Question, about: Floats, past: Mapping[int, Outdated]) -> Told:
    """The facts and notes that the other signals put first, and the facts that have a word for what is asked."""
    import numpy as np

    times, rows = () if question.goes_on else question.times, _memory_rows(index)
    then = asked_then(times, past.values(), history=question.history)
    rows, holds = rows[np.argsort(-about[rows], kind="stable")], index.active | then.rows(index)
    best = np.union1d(rows[holds[rows]][:BEST_TOLD], rows[~holds[rows]][:FACTS])
    terms = sorted({term_key(term) for term in attribute_terms(asked_concepts(question.text))})
    told = index.find(np.array(terms, dtype=np.uint64))
    common = np.bincount(told.key, minlength=len(terms))[told.key]
    rarest = told.row[np.lexsort((-told.row, common))]
    facts = rarest[np.isin(rarest, rows) & (index.columns["kind"][rarest] == KIND_OF["fact"])]
    kind = None if question.goes_on else question.text
    return replace(told_of(tx, index, np.union1d(best, facts[:FACTS]).tolist(), kind), then=then)
