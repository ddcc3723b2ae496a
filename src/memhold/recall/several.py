"""One answer of several scopes: each was ranked alone, and what it found is taken by rank."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memhold.values.answers import Hit, Query, Recall
from memhold.values.bounds import MAX_HITS
from memhold.values.errors import InvalidInput
from memhold.values.records import Scope

__all__ = ["alone", "fused", "in_turn"]

_OF_ONE = ("cursor", "snapshot", "expect", "explain")


def alone(query: Query) -> Query:
    """What each scope is asked, so that the page can be cut from all of their answers.

    Raises:
        InvalidInput: the query asks for what only one scope can tell, or for a page that lies too deep.
    """
    if named := [name for name in _OF_ONE if getattr(query, name)]:
        raise InvalidInput(f"{named[0]} is of one scope; pass it without also")
    if query.offset + query.limit > MAX_HITS:
        deep = query.offset + query.limit
        raise InvalidInput(
            f"offset and limit reach hit {deep}; with also they reach {MAX_HITS} at most: narrow the question"
        )
    return replace(query, also=(), offset=0, limit=query.offset + query.limit)


def fused(query: Query, answers: Sequence[tuple[Scope, Recall]]) -> Recall:
    """The page of the query, each hit with its scope; `answers` are of `alone(query)`, the reader's own first.

    Scores of two scopes do not compare (each has its own frequencies of words), so the best of each come in turn, what
    a signal found before what only fills the page. The newest are in the order of their writing. What two of them hold
    (one user's memory, as two agents see it) is there once, and is counted in both.
    """
    lists = [[replace(hit, scope=replace(scope, actor="user")) for hit in answer.hits] for scope, answer in answers]
    if query.text.strip():
        totals = [answer.total for _, answer in answers]
        ordered = in_turn(lists, totals)
    else:
        ordered = [*heapq.merge(*lists, key=lambda hit: hit.created_at, reverse=True)]
    once: dict[str, Hit] = {}
    for hit in ordered:
        once.setdefault(hit.id, hit)
    end = query.offset + query.limit
    told = [answer for _, answer in answers]
    total = sum(answer.total for answer in told)
    confidences = [answer.confidence for answer in told if answer.confidence is not None]
    return Recall(
        hits=tuple(once.values())[query.offset : end],
        total=total,
        next_offset=end if end < min(total, MAX_HITS) else None,
        degraded=_each(answer.degraded for answer in told),
        damaged=_each(answer.damaged for answer in told),
        not_configured=_each(answer.not_configured for answer in told),
        lag={name: sum(one.lag.get(name, 0) for one in told) for name in _each(answer.lag for answer in told)},
        confidence=max(confidences, default=None),
    )


def in_turn(lists: Sequence[Sequence[Hit]], totals: Sequence[int]) -> list[Hit]:
    """The best of each list in turn; of each so many were found by a signal (`totals`), the others only fill."""
    places = [
        ((rank >= totals[whose], rank, whose), hit) for whose, hits in enumerate(lists) for rank, hit in enumerate(hits)
    ]
    return [hit for _, hit in sorted(places, key=lambda one: one[0])]


def _each(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for names in lists for name in names))
