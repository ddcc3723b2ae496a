"""Worlds: a person's sessions with questions and the messages that answer them, and what plain systems make of them.

A file is a JSON list of worlds: `name`, `lang`, `sessions` (`id`, `messages` with `id`, `role`, `content`, `time`) and
`questions` (`q`, `kind`, `gold`, and where they apply `stale`, `any`, `answer`). `gold` are the messages that hold the
present answer; with `any` one of them is enough. `stale` hold a value that no longer holds.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memhold.errors import UnreadableImport
from memhold.index.embedding import Embedding
from memhold.ports.vector_records import floats_of, read_records
from memhold.text.analysis import analyse, analyse_query
from memhold.values.jsonable import parse_time

__all__ = ["Moment", "Question", "Ranking", "Said", "World", "baselines", "fitting", "read_worlds", "shows"]

_K1, _B = 1.2, 0.75
"""BM25's usual constants (Robertson and Zaragoza 2009; Lucene's defaults)."""


class Moment:
    """A clock that stands at a moment until it is moved, and waits as long as one asks: a deadline is a deadline."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """The moment, aware UTC."""
        return self.moment

    async def sleep(self, seconds: float) -> None:
        """Wait; the moment stays."""
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message of a world."""

    id: str
    session: str
    role: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, the messages that answer it, those that did once, and those with the present value.

    `answer` is the answer in words.
    """

    text: str
    kind: str
    gold: tuple[str, ...]
    stale: tuple[str, ...]
    present: tuple[str, ...]
    enough: bool
    answer: str

    def share(self, found: Iterable[str]) -> float:
        """The share of the gold that was found; 1 for any where one is enough."""
        held = len({*self.gold} & {*found})
        return float(held > 0) if self.enough else held / len(self.gold)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A person's messages in order of time, and what is asked of them."""

    name: str
    lang: str
    said: tuple[Said, ...]
    questions: tuple[Question, ...]


def read_worlds(path: Path) -> list[World]:
    """The worlds of a file.

    Raises:
        UnreadableImport: the file has not this form.
    """
    try:
        return [_world(one) for one in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, KeyError, TypeError) as error:
        why = f"{path}: not a file of worlds: {type(error).__name__}: {error}"
        raise UnreadableImport(why, path=str(path), line=None) from None


def _world(one: Mapping[str, object]) -> World:
    said = [
        Said(id=m["id"], session=session["id"], role=m["role"], text=m["content"], at=parse_time(m["time"]))
        for session in one["sessions"]  # type: ignore[attr-defined]
        for m in session["messages"]
    ]
    questions = [
        Question(
            text=q["q"],
            kind=q["kind"],
            gold=tuple(q["gold"]),
            stale=tuple(q.get("stale") or q.get("old") or ()),
            present=tuple(q.get("new") or q["gold"]),
            enough=bool(q.get("any")),
            answer=q.get("answer", ""),
        )
        for q in one["questions"]  # type: ignore[attr-defined]
    ]
    ordered = sorted(said, key=lambda message: message.at)
    return World(name=str(one["name"]), lang=str(one["lang"]), said=tuple(ordered), questions=tuple(questions))


def shows(context: str, question: Question, said: Mapping[str, Said]) -> float:
    """The share of a question's gold that stands in a text: whole, or the sentence of it that has most of the answer.

    Of several such sentences the first counts. A message that shares no word with the answer must stand there whole.
    """
    flat = " ".join(context.split())
    return question.share(one for one in question.gold if _stands(flat, said[one].text, question.answer))


def _stands(flat: str, text: str, answer: str) -> bool:
    if " ".join(text.split()) in flat:
        return True
    wanted = {term for word in analyse_query(answer) if not word.weak for term in word.terms}
    parts = _clauses(text)
    shared = [len(wanted & analyse(part).counts.keys()) for part in parts]
    return bool(shared) and max(shared) > 0 and " ".join(parts[shared.index(max(shared))].split()) in flat


def _clauses(text: str) -> list[str]:
    """Sentences, cut as a reader would: this measure is not to follow the code that it judges."""
    for mark in ".!?。！？\n":  # noqa: RUF001 - the full-width marks of Chinese and Japanese
        text = text.replace(f"{mark} ", f"{mark}\x00") if mark in ".!?" else text.replace(mark, f"{mark}\x00")
    return [part.strip() for part in text.split("\x00") if part.strip()]


Ranker = Callable[[str], list[str]]
Ranking = Callable[[Question], list[str]]


async def baselines(world: World, embedding: Embedding) -> Mapping[str, Ranking]:
    """What plain systems rank a world's messages by: `bm25`, `dense` (one vector a message) and `newest`."""
    words = _bm25(world.said)
    dense = await _dense(world, embedding)
    newest = [one.id for one in reversed(world.said)]
    return {
        "bm25": lambda question: words(question.text),
        "dense": lambda question: dense[question.text],
        "newest": lambda _: newest,
    }


def _bm25(said: Sequence[Said]) -> Ranker:
    read = [analyse(one.text) for one in said]
    spread = Counter(term for one in read for term in one.counts)
    mean = sum(one.length for one in read) / max(1, len(read))

    def score(place: int, terms: Sequence[str]) -> float:
        one, total = read[place], 0.0
        for term in terms:
            count = one.counts.get(term, 0)
            if count:
                rare = math.log(1 + (len(said) - spread[term] + 0.5) / (spread[term] + 0.5))
                total += rare * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * one.length / mean))
        return total

    def ranked(text: str) -> list[str]:
        terms = sorted({term for word in analyse_query(text) for term in word.terms})
        scores = [score(place, terms) for place in range(len(said))]
        return [said[place].id for place in sorted(range(len(said)), key=lambda place: (-scores[place], -place))]

    return ranked


async def _dense(world: World, embedding: Embedding) -> Mapping[str, list[str]]:
    import numpy as np

    dimension = await embedding.dimension()
    rows = [
        floats_of(read_records(one, dimension))[0] if one is not None else np.zeros(dimension, dtype="<f4")
        for one in await embedding.documents([one.text for one in world.said])
    ]
    matrix, found = np.stack(rows), {}
    for question in world.questions:
        order = np.argsort(-(matrix @ await embedding.query(question.text)), kind="stable")
        found[question.text] = [world.said[place].id for place in order.tolist()]
    return found


def fitting(ranked: Iterable[str], said: Mapping[str, Said], budget: int, count: Callable[[str], int]) -> list[str]:
    """The ids of a ranking, in its order, whose texts a budget of tokens holds; what does not fit is passed over."""
    kept: list[str] = []
    for name in ranked:
        cost = count(said[name].text)
        if cost <= budget:
            kept.append(name)
            budget -= cost
    return kept
