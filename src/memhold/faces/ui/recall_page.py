"""The recall playground: a question, what each signal gave, what was kept out and why, beside another way to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from starlette.responses import Response

from memhold.faces.ui.rows import Row, row_of
from memhold.faces.ui.timeline_page import moment_of
from memhold.faces.ui.visit import Visit
from memhold.recall.fusion import SIGNALS
from memhold.values.answers import Expected, Hit, Query, Reason, Recall
from memhold.values.errors import InvalidInput
from memhold.values.records import HitKind
from memhold.verbs.scope import AsyncScope

__all__ = ["Found", "Part", "filtered_told", "found_of", "kept_out_told", "parts_of", "recall_page", "recall_part"]

_KINDS: Final[Mapping[str, tuple[str, tuple[HitKind, ...] | None]]] = {
    "": ("Everything", None),
    "fact": ("Facts", ("fact",)),
    "note": ("Notes", ("note",)),
    "message": ("Messages", ("message",)),
    "summary": ("What happened", ("summary", "raw", "rollup")),
}
_BESIDE: Final[Mapping[str, str]] = {
    "": "nothing",
    "words": "by words alone",
    "meaning": "by meaning alone",
    "key": "by what it is about alone",
    "recency": "by recency alone",
    "no words": "without words",
    "no meaning": "without meaning, as with no embedding",
    "no key": "without what it is about",
    "no rerank": "as the signals put it, without a reranker",
    "past": "with replaced values",
    "then": "what held at another time",
    "known": "what was known at another time",
}
_WITHOUT: Final[Mapping[str, tuple[str, ...]]] = {
    "no words": ("words",),
    "no meaning": ("meaning", "sentence", "surroundings"),
    "no key": ("key",),
    "no rerank": ("rerank",),
}
"""Which signals are left out; what is of the embedding goes together."""
_MOST: Final = 50
_KEEPS_OUT: Final[Mapping[str, str]] = {
    "state": "past, hidden or merged",
    "moment": "of another moment",
    "kind": "of another kind, or there only where asked for",
    "role": "of another role",
    "memories": "messages, which have no state and no tier",
    "nothing": "everything: a filter lets nothing through",
    "session": "of another conversation",
    "agent": "another agent's",
    "since": "too early",
    "until": "too late",
}
"""What each filter of an account keeps out, in words."""
_OUT: Final[Mapping[str, str]] = {
    "limit": "It stands behind the page: ask for more hits.",
    "repeats": "Another one says the same and stands for it.",
    "signals": "No signal finds it: its words and its meaning are far from the question.",
    "superseded": "Something took its place.",
    "snapshot": "It came after the moment that is asked.",
    "hidden": "It was hidden by a forget, which can be undone.",
    "forgotten": "It was forgotten for good.",
    "unknown": "This memory has no such thing.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one signal adds to a score, as a bar: `width` of 100 is the highest score of the answer."""

    signal: str
    part: float
    rank: int
    width: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A hit with its bars, and whether a signal found it or it only fills the page."""

    row: Row
    score: float
    parts: tuple[Part, ...]
    outdated: tuple[Any, ...]
    filled: bool


async def recall_page(visit: Visit) -> Response:
    """The whole page, before a question."""
    kinds = [(name, told) for name, (told, _) in _KINDS.items()]
    return visit.part("recall.html", here="/ui/recall", kinds=kinds, besides=list(_BESIDE.items()))


async def recall_part(visit: Visit) -> Response:
    """The answer, and beside it another one where that was asked for."""
    scope, question = visit.scope(), visit.said("q").strip()
    asked = _query(visit, question)
    expect = await _expected_id(scope, visit)
    columns = [("As it is asked", await scope.recall(replace(asked, expect=expect)))]
    beside = visit.said("beside")
    if beside not in _BESIDE:
        raise InvalidInput("choose what to put beside it from the list")
    if beside:
        other = _other(asked, beside, moment_of(visit, "then"), columns[0][1])
        columns.append((_BESIDE[beside].capitalize(), await scope.recall(replace(other, expect=expect))))
    wanted = await _wanted(scope, expect, columns[0][1].expected)
    shown = [(title, answer, found_of(answer), _expected(answer), filtered_told(answer)) for title, answer in columns]
    return visit.part("recall_answer.html", columns=shown, wanted=wanted, missed=bool(visit.said("expect").strip()))


async def _wanted(scope: AsyncScope, expect: str | None, expected: Expected | None) -> Row | None:
    if expect is None or expected is None or expected.kept_out in {"unknown", "forgotten"}:
        return None
    return row_of(await scope.get(expect))


def _query(visit: Visit, question: str) -> Query:
    kind = visit.said("kind")
    if kind not in _KINDS:
        raise InvalidInput("there is no such kind; choose one of the list")
    limit = max(1, min(visit.number("limit", 10), _MOST))
    at = moment_of(visit, "as_of")
    return Query(
        text=question, limit=limit, kinds=_KINDS[kind][1], as_of=at, browse=True, explain=True,
        include_superseded=visit.said("past") == "on",
    )  # fmt: skip


def _other(asked: Query, beside: str, then: datetime | None, answer: Recall) -> Query:
    match beside:
        case without if without in _WITHOUT:
            # Where signals are named, a reranker is not asked.
            left_out = _WITHOUT[without]
            named = (answer.account or {}).get("signals", {})
            kept = tuple(one for one in named if one in SIGNALS and one not in left_out)
            return replace(asked, signals=kept or ("recency",))
        case "words" | "meaning" | "key" | "recency":
            return replace(asked, signals=(beside,))
        case "past":
            return replace(asked, include_superseded=True)
        case _:
            if then is None:
                raise InvalidInput("say at which other time")
            return replace(asked, as_of=then) if beside == "then" else replace(asked, known_at=then)


async def _expected_id(scope: AsyncScope, visit: Visit) -> str | None:
    """What the person misses: by its id, or the thing whose words are nearest to what was typed."""
    text = visit.said("expect").strip()
    if not text or text.startswith(("mem_", "msg_")):
        return text or None
    near = await scope.recall(text, limit=1, browse=True, include_superseded=True)
    return near.hits[0].id if near.hits and near.total else None


def parts_of(why: tuple[Reason, ...], most: float) -> tuple[Part, ...]:
    """The reasons of a hit as bars, the largest first; pure."""
    ordered = sorted(why, key=lambda reason: -reason.part)
    return tuple(
        Part(
            signal=reason.signal, part=reason.part, rank=reason.rank,
            width=round(max(0.0, min(reason.part / most, 1.0)) * 100, 1) if most > 0 else 0.0, words=reason.words,
        )
        for reason in ordered
    )  # fmt: skip


def found_of(answer: Recall) -> list[Found]:
    """The hits of an answer with their bars, on one scale."""
    most = max((reason.part for hit in answer.hits for reason in hit.why), default=0.0)
    return [_found(hit, most, filled=place >= answer.total) for place, hit in enumerate(answer.hits)]


def _found(hit: Hit, most: float, *, filled: bool) -> Found:
    parts = parts_of(hit.why, most)
    return Found(row=row_of(hit), score=hit.score, parts=parts, outdated=hit.outdated, filled=filled)


def filtered_told(answer: Recall) -> list[tuple[int, str]]:
    """How many things each filter keeps out, and of what kind those are; the most first."""
    kept_out = (answer.account or {}).get("kept_out", {})
    told = ((int(count), _KEEPS_OUT.get(name, name)) for name, count in kept_out.items())
    return sorted(told, key=lambda one: -one[0])


def kept_out_told(kept_out: str) -> str:
    """Why something is not among the hits, as a sentence."""
    if kept_out in _OUT:
        return _OUT[kept_out]
    name, _, value = kept_out.partition(": ")
    return f"A filter keeps it out: {value}." if name == "filter" else f"It is {value}, and these are not asked for."


def _expected(answer: Recall) -> Mapping[str, Any] | None:
    expected = answer.expected
    if expected is None:
        return None
    every = (*expected.why, *(reason for hit in answer.hits for reason in hit.why))
    most = max((reason.part for reason in every), default=0.0)
    return {
        "there": expected.kept_out is None,
        "told": "" if expected.kept_out is None else kept_out_told(expected.kept_out),
        "rank": expected.rank,
        "by": expected.by,
        "parts": parts_of(expected.why, most),
        "silent": expected.silent,
    }
