"""Everyday questions: what recall finds and what `context` holds, each beside BM25, dense vectors and newest-first."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.measure import PATIENT, doing, percentile
from benchmarks.real import holds
from benchmarks.recall import sureness
from benchmarks.replayed import Replayed, read_replies
from benchmarks.worlds import Moment, Question, Ranking, Said, World, baselines, fitting, read_worlds, shows
from memhold.faces.python.open import AsyncMemhold
from memhold.providers.vocabularies import tokenizer_of
from memhold.recall.confidence import THRESHOLD
from memhold.text.token_estimate import estimate_tokens
from memhold.values.answers import Query, Recall
from memhold.verbs.scope import AsyncScope
from memhold.wiring.models import embedding_of

__all__ = ["BUDGETS", "Tally", "everyday_quality", "tell"]

BUDGETS = (1000, 2000, 4000)
"""Budgets of `context` that are tried, with the reserve that nobody named."""
AT = (1, 5, 10)
_DEPTH = 10
_LONG = "all in one"
_ASSUMED = "gpt-4o"
"""The model whose vocabulary counts for the plain systems, where it is installed: they are not to lose by our
estimate."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """Values by name, whose means are told."""

    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        """One more value."""
        self.values.setdefault(name, []).append(value)

    def means(self) -> dict[str, float]:
        """The mean of each, by name."""
        return {name: round(sum(found) / len(found), 4) for name, found in sorted(self.values.items())}


@dataclass(slots=True, kw_only=True)
class Found:
    """What was measured so far."""

    recall: dict[str, Tally] = field(default_factory=dict)
    context: dict[str, Tally] = field(default_factory=dict)
    other: Tally = field(default_factory=Tally)
    sure: dict[str, list[float]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


async def everyday_quality(
    path: Path,
    *,
    embedding: str = "builtin",
    contexts: bool = True,
    model: str | None = None,
    replies: Sequence[Path] = (),
) -> dict[str, Any]:
    """Recall by kind and language, stale values before true ones, marks, confidence, and what a context holds.

    `contexts` False leaves the contexts out. `model` is the one that `context` counts tokens for. With `replies` the
    sessions are consolidated, by what a model answered about them once; worlds without one are left out. "answered":
    all of the gold, or a line, also of a memory, that holds the answer.

    Raises:
        UnreadableImport: the file has no worlds.
    """
    found, worlds = Found(), await asyncio.to_thread(read_worlds, path)
    kept = await asyncio.to_thread(read_replies, replies)
    worlds = [world for world in worlds if not kept or world.name in kept]
    began = time.perf_counter()
    plain = embedding_of(embedding if embedding != "none" else "builtin", None, None)
    assert plain is not None
    with tempfile.TemporaryDirectory(prefix="memhold-bench-") as folder:
        for world in worlds:
            doing(f"{world.name}: {len(world.said)} messages, {len(world.questions)} questions")
            others = await baselines(world, plain)
            reader = Replayed(world, kept[world.name]) if kept else None
            await _measured(
                Path(folder), world, others, found, reader, embedding=embedding, contexts=contexts, model=model
            )
    return {
        "benchmark": "everyday",
        "embedding": embedding,
        "worlds": len(worlds),
        "questions": sum(len(world.questions) for world in worlds),
        "recall": {name: tally.means() for name, tally in found.recall.items()},
        "context": {name: tally.means() for name, tally in found.context.items()},
        "other": found.other.means(),
        "confidence": sureness(found.sure, answerable="found"),
        "recall_ms": {
            "p50": round(percentile(found.seconds, 0.5) * 1e3, 2),
            "processor_p50": round(percentile(found.processor, 0.5) * 1e3, 2),
        },
        "seconds": round(time.perf_counter() - began, 1),
    }


async def _measured(
    folder: Path,
    world: World,
    others: Mapping[str, Ranking],
    found: Found,
    reader: Replayed | None,
    *,
    embedding: str,
    contexts: bool,
    model: str | None,
) -> None:
    clock = Moment(world.said[-1].at + timedelta(days=1))
    place = str(folder / f"{world.name}.db")
    reads: dict[str, Any] = {} if reader is None else {"consolidation": reader, "compaction": "none"}
    async with AsyncMemhold.open(place, worker=False, embedding=embedding, clock=clock, **PATIENT, **reads) as memhold:
        await tell(lambda name: memhold.scope(user="apart", session=name), world.said)
        for name in dict.fromkeys(one.session for one in world.said) if reader is not None else ():
            await memhold.scope(user="apart", session=name).consolidate()
        if contexts:
            await tell(lambda _: memhold.scope(user="long", session=_LONG), world.said)
        await memhold.settle(timeout=600)
        said = {one.id: one for one in world.said}
        for question in world.questions:
            await _asked(memhold.scope(user="apart"), question, world.lang, others, found)
            if contexts and question.gold and question.answer:
                apart = memhold.scope(user="apart", session="new")
                await _contexts(apart, "new session", question, said, others, found, model)
                long = memhold.scope(user="long", session=_LONG)
                await _contexts(long, "one long session", question, said, others, found, model)


async def tell(scope_of: Callable[[str], AsyncScope], said: Sequence[Said]) -> None:
    """Add a world's messages, each session to the scope that is given for its name."""
    for name, messages in groupby(said, key=lambda one: one.session):
        bodies = [
            {"role": one.role, "content": one.text, "event_time": one.at, "metadata": {"source_id": one.id}}
            for one in messages
        ]
        for start in range(0, len(bodies), 1000):
            await scope_of(name).add(bodies[start : start + 1000])


async def _asked(
    scope: AsyncScope,
    question: Question,
    lang: str,
    others: Mapping[str, Ranking],
    found: Found,
) -> None:
    began = time.perf_counter(), time.process_time()
    answer = await scope.recall(Query(text=question.text, limit=_DEPTH, kinds=("message",)))
    found.seconds.append(time.perf_counter() - began[0])
    found.processor.append(time.process_time() - began[1])
    sure = answer.confidence or 0.0
    if not question.gold:
        found.other.add("doubted, never said", float(sure < THRESHOLD))
        found.sure.setdefault("never_said", []).append(sure)
        return
    found.other.add("doubted, answerable", float(sure < THRESHOLD))
    ranked = await _names(scope, answer)
    there = question.share(one for group in ranked for one in _group(group)) > 0
    found.sure.setdefault("found" if there else "missed", []).append(sure)
    rankings = {"memhold": ranked} | {name: ranks(question)[:_DEPTH] for name, ranks in others.items()}
    for name, places in rankings.items():
        tally = found.recall.setdefault(name, Tally())
        for k in AT:
            value = question.share(one for group in places[:k] for one in _group(group))
            tally.add(f"R@{k}", value)
            tally.add(f"R@{k} {question.kind}", value)
            tally.add(f"R@{k} [{lang}]", value)
        if question.stale:
            tally.add(f"stale first, {question.kind}", float(_stale_first(places, question)))
    for hit in answer.hits:
        found.other.add("hits called superseded", float(hit.superseded_by is not None))
        if hit.superseded_by is not None:
            found.other.add("gold among those", float(hit.metadata.get("source_id") in question.gold))


def _group(place: Any) -> Sequence[str]:
    return (place,) if isinstance(place, str) else place


def _stale_first(places: Sequence[Any], question: Question) -> bool:
    """Whether a stale message stands above the first true one."""
    for place in places:
        names = {*_group(place)}
        if names & {*question.present}:
            return False
        if names & {*question.stale}:
            return True
    return False


async def _names(scope: AsyncScope, answer: Recall) -> list[tuple[str, ...]]:
    """Source ids of each hit, with those of the messages that were folded into it."""
    groups = []
    for hit in answer.hits:
        folded = [await scope.get(other) for other in hit.sources]
        groups.append((str(hit.metadata["source_id"]), *(str(one.metadata.get("source_id")) for one in folded)))
    return groups


async def _contexts(
    scope: AsyncScope,
    where: str,
    question: Question,
    said: Mapping[str, Said],
    others: Mapping[str, Ranking],
    found: Found,
    model: str | None,
) -> None:
    exact = tokenizer_of(_ASSUMED)
    count = estimate_tokens if exact is None else exact[1]
    for budget in BUDGETS:
        context = await scope.context([{"role": "user", "content": question.text}], budget=budget, model=model)
        text = context.as_text()
        ours = found.context.setdefault(f"memhold, {where}", Tally())
        held = shows(text, question, said)
        ours.add(str(budget), held)
        ours.add(f"{budget} {question.kind}", held)
        told = held == 1.0 or any(holds(line, question.answer) for line in text.splitlines())
        ours.add(f"{budget} answered", float(told))
        ours.add(f"{budget} used of what is available", context.used / (context.budget - context.reserve))
        ours.add(f"{budget} tokens by {'the estimate' if exact is None else exact[0]}", count(text))
        for name, ranks in others.items():
            plain = "\n".join(said[name].text for name in fitting(ranks(question), said, budget, count))
            found.context.setdefault(f"{name}, until full", Tally()).add(str(budget), shows(plain, question, said))
