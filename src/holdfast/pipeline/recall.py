"""Recall: candidates from each arm, filtered, ranked, explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.answers import Hit, Query, Reason, Recall
from holdfast.errors import InvalidInput, TooLarge
from holdfast.model import STATES, TIERS, HitKind, Memory, Message, micros
from holdfast.pipeline.analysis import analyse_query
from holdfast.pipeline.documents import KIND_OF, ROLE_OF
from holdfast.pipeline.index_cache import IndexCache
from holdfast.pipeline.sight import has_labels
from holdfast.pipeline.words import WordScores, score_words
from holdfast.transaction import ReadTx
from holdfast.unpacked import DecodedIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MAX_LIMIT", "MAX_QUERY", "checked", "recall"]

MAX_LIMIT = 1000
MAX_QUERY = 10_000
"""Longest question, in characters: more is a text to add, not to ask."""


def checked(query: Query) -> Query:
    """The query, if it can be asked.

    Raises:
        InvalidInput: limit, offset, kinds, states or times are out of range.
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
    known: tuple[tuple[str, Sequence[str] | None, Sequence[str]], ...] = (
        ("kinds", query.kinds, tuple(KIND_OF)),
        ("states", query.states, STATES),
        ("tiers", query.tiers, TIERS),
        ("roles", query.roles, tuple(ROLE_OF)),
    )
    for name, asked, allowed in known:
        unknown = set(asked or ()) - set(allowed)
        if unknown:
            raise InvalidInput(f"unknown {name} {sorted(map(str, unknown))}; known are {', '.join(allowed)}")
    for moment in (query.since, query.until, query.as_of, query.known_at):
        if moment is not None:
            micros(moment)
    return query


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    number: int
    score: float
    why: tuple[Reason, ...]


def recall(tx: ReadTx, query: Query, indexes: IndexCache) -> Recall:
    """Answer a query from one snapshot.

    With words: what holds one of them in itself or in the turns around it, by score. Without any (an empty question):
    everything that passes the filters, newest first. `total` counts all of it, also beyond this page.
    """
    index = indexes.index(tx)
    held = _held(tx, query)
    allowed = _allowed(tx, index, query, held)
    candidates: Sequence[_Candidate] | _Ranked
    words = analyse_query(query.text)
    candidates = _Ranked(score_words(words, index, allowed=allowed)) if words else _recent(index, allowed)
    needs_rows = bool(query.topics or query.entities or query.metadata or query.states or query.tiers)
    if needs_rows or held is not None or query.include_superseded:
        chosen = list(_passing(tx, candidates, query, held))
        total, page = len(chosen), chosen[query.offset : query.offset + query.limit]
    else:
        total = len(candidates)
        page = list(_loaded(tx, candidates[query.offset : query.offset + query.limit], held))
    following = query.offset + query.limit
    return Recall(
        hits=tuple(_hit(candidate, item) for candidate, item in page),
        total=total,
        next_offset=following if following < total else None,
        not_configured=("meaning",),
    )


def _held(tx: ReadTx, query: Query) -> Mapping[int, Memory] | None:
    """The memories that held at the asked time, by number; None when the present is asked."""
    if query.as_of is None and query.known_at is None:
        return None
    as_of = query.as_of or query.known_at
    assert as_of is not None  # noqa: S101 - one of the two is given
    return {memory.number: memory for memory in tx.held(as_of=as_of, known_at=query.known_at)}


def _allowed(tx: ReadTx, index: DecodedIndex, query: Query, held: Mapping[int, Memory] | None) -> NDArray[np.bool_]:
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
    if query.kinds is not None:
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


class _Ranked:
    """The ranking of the words arm, turned into candidates a page at a time."""

    def __init__(self, scores: WordScores) -> None:
        self._scores = scores

    def __len__(self) -> int:
        return len(self._scores)

    def __getitem__(self, page: slice) -> list[_Candidate]:
        start, stop, _ = page.indices(len(self))
        found = []
        for place, hit in enumerate(self._scores.hits(start, stop - start), start=start + 1):
            reason = Reason(arm="words", rank=place, score=hit.score, words=hit.matched or hit.nearby)
            found.append(_Candidate(number=hit.number, score=hit.score, why=(reason,)))
        return found


def _recent(index: DecodedIndex, allowed: NDArray[np.bool_]) -> list[_Candidate]:
    import numpy as np

    rows = np.flatnonzero(allowed)
    order = np.lexsort((-rows, -index.columns["event_time"][rows]))
    found = []
    for place, number in enumerate(index.numbers[rows[order]].tolist(), start=1):
        found.append(
            _Candidate(number=number, score=1 / place, why=(Reason(arm="recency", rank=place, score=1 / place),))
        )
    return found


def _loaded(
    tx: ReadTx, candidates: Sequence[_Candidate], held: Mapping[int, Memory] | None
) -> Iterator[tuple[_Candidate, Message | Memory]]:
    found = {item.number: item for item in tx.find_numbers([candidate.number for candidate in candidates])}
    for candidate in candidates:
        item = (held or {}).get(candidate.number) or found.get(candidate.number)
        if item is not None:
            yield candidate, item


def _passing(
    tx: ReadTx, candidates: Sequence[_Candidate] | _Ranked, query: Query, held: Mapping[int, Memory] | None
) -> Iterator[tuple[_Candidate, Message | Memory]]:
    """Candidates whose rows pass the filters that the index does not know."""
    for candidate, item in _loaded(tx, candidates[: len(candidates)], held):
        if all(item.metadata.get(name) == value for name, value in query.metadata.items()) and _passes(item, query):
            yield candidate, item


def _passes(item: Message | Memory, query: Query) -> bool:
    if isinstance(item, Message):
        known = query.known_at is None or item.recorded_at <= query.known_at
        return known and not query.topics and not query.entities
    if not (has_labels(query.topics, item.topics) and has_labels(query.entities, item.entities)):
        return False
    if query.states is not None:
        return item.state in query.states and (query.tiers is None or item.tier in query.tiers)
    if query.tiers is not None and item.tier not in query.tiers:
        return False
    return item.state != "retracted"


def _hit(candidate: _Candidate, item: Message | Memory) -> Hit:
    if isinstance(item, Message):
        return Hit(
            id=item.id,
            kind="message",
            text=item.text,
            score=candidate.score,
            tier=None,
            state="active",
            created_at=item.recorded_at,
            event_time=item.event_time,
            sources=(),
            why=candidate.why,
            role=item.role,
            session=item.session or None,
            agent=item.agent,
            metadata=item.metadata,
        )
    kind: HitKind = item.kind
    return Hit(
        id=item.id,
        kind=kind,
        text=item.text,
        score=candidate.score,
        tier=item.tier,
        state=item.state,
        created_at=item.created_at,
        event_time=item.event_time,
        sources=item.sources,
        why=candidate.why,
        session=item.session,
        agent=item.agent,
        subject=item.subject,
        attribute=item.attribute,
        value=item.value,
        valid_from=item.valid_from,
        valid_to=item.valid_to,
        superseded_by=item.superseded_by,
        pinned=item.pinned,
        topics=item.topics,
        entities=item.entities,
        metadata=item.metadata,
    )
