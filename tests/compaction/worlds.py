"""Stores with chosen vectors and scripted judges: the worlds in which compaction is tried."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from memhold.errors import ModelError
from memhold.facts.revisions import memory_digest
from memhold.index.documents import index_memories
from memhold.index.embedding import BACKGROUND
from memhold.ports.models import ChatReply, ChatRequest, Tool, ToolCall
from memhold.values.records import Author, Change, Effect, Memory
from memhold.wiring.system import TimeOrderedIds

IDS = TimeOrderedIds()
_LINE = re.compile(r"^\[s(\d+)\] \(([^)]*)\) (.*(?:\n  (?!topics:|entities:).*)*)", re.MULTILINE)


def shown(request: ChatRequest) -> list[str]:
    """The texts of the memories that a request shows."""
    return [match[3].replace("\n  ", "\n") for match in _LINE.finditer(request.turns[0].text)]


def call(arguments: Any, *, name: str = "merge_memories", model: str = "judge", text: str = "") -> ChatReply:
    made = ToolCall(id="call_0", name=name, arguments=arguments)
    return ChatReply(model=model, text=text, tool_calls=(made,), finish="tool")


def merged(text: str, **more: Any) -> dict[str, Any]:
    return {"decision": "merge", "reason": "the same", "text": text, "dropped": [], **more}


def group(relation: str, *ids: int, **more: Any) -> dict[str, Any]:
    """A group of a partition, by the places of its memories from 1."""
    return {"relation": relation, "ids": [f"s{place}" for place in ids], **more}


def partition(*groups: dict[str, Any], apart: Sequence[int] = ()) -> dict[str, Any]:
    return {"groups": [*groups, *([group("apart", *apart)] if apart else [])]}


APART = {"decision": "keep_apart", "reason": "different things", "text": "", "dropped": []}


def united(texts: Sequence[str]) -> str:
    """The words of all texts, each once, in their order."""
    return " ".join(dict.fromkeys(word for text in texts for word in text.split()))


class Judge:
    """A chat model that decides by a function of the texts it is shown; it merges all words unless told otherwise."""

    def __init__(self, decide: Callable[[list[str]], Any] | None = None, name: str = "judge") -> None:
        self._decide = decide or (lambda texts: merged(united(texts)))
        self.name = name
        self.asked: list[list[str]] = []
        self.tools: list[Tool] = []

    async def chat(self, request: ChatRequest) -> ChatReply:
        assert request.tool is not None
        self.tools.append(request.tool)
        texts = shown(request)
        self.asked.append(texts)
        made = self._decide(texts)
        if isinstance(made, BaseException):
            raise made
        if isinstance(made, ChatReply):
            return made
        return call(made, name=request.tool.name, model=self.name)


class Vectors:
    """An embedding that gives each text the vector that was chosen for it; a text of several has their mean direction."""

    fingerprint = "chosen:1"

    def __init__(self, chosen: dict[str, Sequence[float]], dimension: int = 8) -> None:
        self.dimension = dimension
        self.chosen = {text: unit(vector, dimension) for text, vector in chosen.items()}
        self.asked: list[str] = []
        self.error: BaseException | None = None
        self.longest: int | None = None

    async def embed(self, texts: Sequence[str], *, purpose: str) -> np.ndarray:  # noqa: ARG002
        if tuple(texts) == BACKGROUND:
            # Their mean is nothing: the chosen vectors stay as they are.
            rows = [[(-1.0) ** at, *([0.0] * (self.dimension - 1))] for at in range(len(texts))]
            return np.asarray(rows, dtype=np.float32)
        self.asked += texts
        if self.error is not None:
            raise self.error
        if self.longest is not None and any(len(text) > self.longest for text in texts):
            raise ModelError("too long", model="chosen", cls="shorten", reason="too long")
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> np.ndarray:
        if text in self.chosen:
            return self.chosen[text]
        words = set(text.split())
        parts = [vector for known, vector in self.chosen.items() if set(known.split()) <= words]
        if not parts:
            return unit([0.0] * (self.dimension - 1) + [1.0], self.dimension)
        return unit(np.sum(parts, axis=0), self.dimension)


def unit(vector: Sequence[float], dimension: int) -> np.ndarray:
    full = np.zeros(dimension, dtype=np.float64)
    full[: len(vector)] = vector
    return (full / np.linalg.norm(full)).astype(np.float32)


def around(degrees: float) -> list[float]:
    """A direction in a plane."""
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]


def near(axis: int, dimension: int, wobble: float, random: np.random.Generator) -> np.ndarray:
    """A direction near an axis; `wobble` is the tangent of the angle."""
    side = random.normal(size=dimension)
    side[axis] = 0.0
    side *= wobble / np.linalg.norm(side)
    side[axis] = 1.0
    return side


async def copies(scope, text: str, count: int, **fields: Any) -> list[str]:
    """Memories of one content, as imports and older versions may have left them."""
    secret = scope._tx.runtime.store.facts.secret

    def work(tx) -> list[str]:
        first = tx.take_numbers(count)
        made = []
        for place in range(count):
            memory = Memory(
                id=IDS.new("mem"), number=first + place, kind="note", text=text, agent=scope.scope.agent,
                event_time=tx.now, valid_from=tx.now, created_at=tx.now, recorded_at=tx.now,
            )  # fmt: skip
            memory = replace(memory, **fields)
            tx.put_memory(memory, digest=memory_digest(secret, memory))
            made.append(memory)
        index_memories(tx, made)
        effects = tuple(Effect(memory_id=memory.id, rev_before=0, rev_after=1) for memory in made)
        tx.add_change(
            Change(
                id=IDS.new("chg"),
                seq=0,
                verb="import",
                reason="t",
                by=Author(origin="import"),
                at=tx.now,
                effects=effects,
            )
        )
        return [memory.id for memory in made]

    return await scope._tx.runtime.store.write(scope.scope, work)


async def living(scope) -> list[Memory]:
    return list((await scope.list(limit=1000)).items)


async def whole(scope) -> None:
    """Every note is there itself, or something stands for it: nothing is lost, and nothing is there twice."""
    every = {memory.id: memory for memory in (await scope.list(states=None, limit=1000)).items}
    for memory in every.values():
        if memory.state in {"merged", "superseded"}:
            end = memory
            while end.state in {"merged", "superseded"}:
                assert end.superseded_by in every, f"{end.id} is hidden and nothing stands for it"
                end = every[end.superseded_by]
            assert end.state == "active", f"what stands for {memory.id} is {end.state}"
        for source in memory.sources:
            if source.startswith("mem_") and memory.state == "active":
                assert every[source].state == "merged", f"{source} and what was made of it are both there"


async def until_stable(scope, most: int = 60) -> list[int]:
    """Run after run until nothing is merged: how many memories were there after each; checks that it falls."""
    counts = [len(await living(scope))]
    for _ in range(most):
        done = await scope.compact()
        await whole(scope)
        counts.append(len(await living(scope)))
        assert counts[-1] <= counts[-2]
        if not done.merged:
            assert not done.more, done
            return counts
        assert counts[-1] < counts[-2], "a run that merges makes fewer"
    raise AssertionError(f"not stable after {most} runs: {counts}")


def plain(value: Any) -> str:
    return json.dumps(value, default=str)
