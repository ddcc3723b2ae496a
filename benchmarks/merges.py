"""Notes that say the same, replace, contradict or add: what the judge sees, a verdict settles, which texts are taken.

The data is JSON lines: `lang`, `notes` (text, time), `relation` (same, newer_replaces, contradiction, adds_detail,
different), `good_merges` (texts), `bad_merges` (text, why; `loses` where a number, day, time, name, identifier or path
of a note is lost). No model is asked: the judge is scripted with the right verdict, and with wrong ones.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.measure import doing
from memhold.compact.contract import Group, Partition, Relation
from memhold.compact.verdict_steps import Folded, Linked, Merged, Step, Superseded, Suspected, settled
from memhold.faces.python.open import AsyncMemhold
from memhold.facts.changed_notes import Bounds
from memhold.ports.models import ChatReply, ChatRequest, ToolCall
from memhold.testing.clock import FakeClock
from memhold.values.records import Memory

__all__ = ["merges_quality"]

_RIGHT: Mapping[str, Relation | None] = {
    "same": "same",
    "newer_replaces": "replaces",
    "contradiction": "contradicts",
    "adds_detail": "adds",
    "different": None,
}
_WRONG: Mapping[str, tuple[Relation, ...]] = {
    "newer_replaces": ("same",),
    "contradiction": ("same", "replaces"),
    "adds_detail": ("same", "replaces"),
    "different": ("same", "replaces"),
}
"""Verdicts that would hide what still holds. What only keeps too much, or raises a doubt, loses nothing."""
_SHOWN = re.compile(r"^\[s\d+\] \([^)]*\) (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Some notes, how they relate, and texts that would stand for them well or badly."""

    lang: str
    relation: str
    memories: tuple[Memory, ...]
    good: tuple[str, ...]
    bad: tuple[str, ...]
    lossy: frozenset[str]


class _Apart:
    """A judge that keeps everything apart, and notes what it was shown together."""

    name = "judge"

    def __init__(self) -> None:
        self.shown: list[frozenset[str]] = []

    async def chat(self, request: ChatRequest) -> ChatReply:
        texts = _SHOWN.findall(request.turns[0].text)
        self.shown.append(frozenset(texts))
        ids = [f"s{place + 1}" for place in range(len(texts))]
        arguments = {"groups": [{"relation": "apart", "ids": ids}]}
        call = ToolCall(id="call_0", name="merge_memories", arguments=arguments)
        return ChatReply(model=self.name, text="", tool_calls=(call,), finish="tool")

    def together(self, cluster: Cluster) -> bool:
        """Whether the newest note was shown beside each of the others."""
        *others, newest = (memory.text for memory in cluster.memories)
        return all(any({one, newest} <= shown for shown in self.shown) for one in others)


async def merges_quality(data: Path, *, embedding: str = "builtin") -> dict[str, Any]:
    """Shares by relation and language; `looked_at` where a scope holds one cluster, and where it holds all of them."""
    clusters = list(_read(data))
    doing(f"{len(clusters)} clusters: what reaches the judge")
    alone = [await _looked_at([one], embedding) for one in clusters]
    every = await _looked_at(clusters, embedding)
    doing("the same, as the notes come")
    coming = await _looked_at(clusters, embedding, each=Bounds().memories)
    looked, among, as_come = _Shares(), _Shares(), _Shares()
    for place, one in enumerate(clusters):
        looked.add(one.relation, yes=alone[place][0])
        among.add(one.relation, yes=every[place])
        as_come.add(one.relation, yes=coming[place])
    doing("what a right verdict settles, and what a wrong one does not")
    right, folded, wrong, wrong_by = _Shares(), _Shares(), _Shares(), _Shares()
    good, bad, good_by, bad_by = _Shares(), _Shares(), _Shares(), _Shares()
    ruled, lossy = _Shares(), _Shares()
    refusals: Counter[str] = Counter()
    for one in clusters:
        right.add(one.relation, yes=_settles(one))
        if one.relation == "same":
            folded.add("one note", yes=any(isinstance(step, Folded) for step in _steps(one, "same")))
        for verdict, harm in _wrong(one):
            wrong.add("all", yes=not harm)
            wrong_by.add(f"{one.relation} as {verdict}", yes=not harm)
        for text in one.good:
            reason = _refusal(one, text)
            good.add("all", yes=reason is None)
            good_by.add(one.lang, yes=reason is None)
            refusals.update([reason] if reason is not None else [])
        for text in one.bad:
            refuses = all(_refusal(one, text, verdict) is not None for verdict in _verdicts(one))
            bad.add("all", yes=refuses)
            bad_by.add(one.lang, yes=refuses)
            ruled.add("all", yes=_RIGHT[one.relation] not in {"same", "replaces", "adds"} or refuses)
            if text in one.lossy:
                lossy.add("all", yes=not refuses)
    return {
        "clusters": len(clusters),
        "looked_at": looked.plain(),
        "looked_at_among_all": among.plain(),
        "looked_at_as_they_come": as_come.plain(),
        "settled": right.plain(),
        "same_without_a_text_becomes_one": folded.plain(),
        "wrong_verdicts_refused": {**wrong.plain(), **wrong_by.plain()},
        "good_accepted": {**good.plain(), **good_by.plain()},
        "lossy_accepted": lossy.plain(),
        "bad_refused": {**ruled.plain()},
        "bad_refused_also_under_wrong_verdicts": {**bad.plain(), **bad_by.plain()},
        "why_good_ones_are_refused": dict(refusals.most_common()),
    }


class _Shares:
    """Shares of what was counted, by name."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])

    def add(self, name: str, *, yes: bool) -> None:
        self._counts[name][0] += yes
        self._counts[name][1] += 1

    def plain(self) -> dict[str, float]:
        return {name: round(yes / of, 3) for name, (yes, of) in self._counts.items()}


def _read(data: Path) -> Iterator[Cluster]:
    number = 0
    for line in data.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        found = json.loads(line)
        memories = []
        for one in sorted(found["notes"], key=lambda note: str(note["time"])):
            at = datetime.fromisoformat(one["time"]).astimezone(UTC)
            memories.append(
                Memory(
                    id=f"mem_{number}",
                    number=number,
                    kind="note",
                    text=one["text"],
                    event_time=at,
                    valid_from=at,
                    created_at=at,
                    recorded_at=at,
                )
            )  # fmt: skip
            number += 1
        yield Cluster(
            lang=found["lang"],
            relation=found["relation"],
            memories=tuple(memories),
            good=tuple(found["good_merges"]),
            bad=tuple(one["text"] for one in found["bad_merges"]),
            lossy=frozenset(one["text"] for one in found["bad_merges"] if one.get("loses")),
        )


async def _looked_at(clusters: Sequence[Cluster], embedding: str, *, each: int | None = None) -> list[bool]:
    """For each cluster whether the judge saw its notes together: all are told in their order, then compacted.

    With `each` they are compacted after every so many too, as the worker does.
    """
    judge = _Apart()
    notes = sorted((memory for one in clusters for memory in one.memories), key=lambda memory: memory.event_time)
    clock = FakeClock(notes[-1].event_time + timedelta(days=1))
    async with AsyncMemhold.open(
        "memory://",
        worker=False,
        clock=clock,
        compaction=judge,
        embedding=embedding,
        compact_daily_calls=100_000,
    ) as mem:
        scope = mem.scope(user="bench")
        for number, memory in enumerate(notes, 1):
            await scope.remember(memory.text, event_time=memory.event_time)
            while each and number % each == 0 and (await scope.compact()).more:
                pass
        while (await scope.compact()).more:
            pass
    return [judge.together(one) for one in clusters]


# ------------------------------------------------------------------------------------------------ verdicts


def _group(one: Cluster, relation: Relation, *, current: int | None = None, text: str = "") -> Group:
    places = tuple(range(len(one.memories)))
    return Group(relation=relation, places=places, current=current, text=text)


def _steps(one: Cluster, relation: Relation | None, *, current: int | None = None) -> tuple[Step, ...]:
    groups = () if relation is None else (_group(one, relation, current=current),)
    return settled(one.memories, Partition(groups=groups)).steps


def _settles(one: Cluster) -> bool:
    """Whether the right verdict, without a text, ends as it should."""
    steps = _steps(one, _RIGHT[one.relation])
    match one.relation:
        case "same":
            return bool(steps) and all(isinstance(step, Folded | Linked) for step in steps)
        case "newer_replaces":
            return (
                len(steps) == 1 and isinstance(steps[0], Superseded) and len(steps[0].places) == len(one.memories) - 1
            )
        case "contradiction":
            return len(steps) == 1 and isinstance(steps[0], Suspected)
        case "adds_detail":
            return len(steps) == 1 and isinstance(steps[0], Linked)
        case _:
            return not steps


def _wrong(one: Cluster) -> Iterator[tuple[str, bool]]:
    """Each wrong verdict that would hide something, and whether it does."""
    for relation in _WRONG.get(one.relation, ()):
        yield relation, any(isinstance(step, Folded | Superseded | Merged) for step in _steps(one, relation))
    if one.relation != "same":
        steps = _steps(one, "replaces", current=0)
        yield "replaced by the oldest", any(isinstance(step, Superseded) for step in steps)


def _verdicts(one: Cluster) -> tuple[Relation, ...]:
    """Under which verdicts a bad text must not pass: the right one; where that takes no text, each that does."""
    right = _RIGHT[one.relation]
    return (right,) if right in {"same", "replaces", "adds"} else ("same", "replaces")


def _refusal(one: Cluster, text: str, relation: Relation | None = None) -> str | None:
    relation = relation or _RIGHT[one.relation]
    assert relation is not None
    found = settled(one.memories, Partition(groups=(_group(one, relation, text=text),)))
    if any(isinstance(step, Merged) for step in found.steps):
        return None
    reason = found.refused.get(0, "the verdict")
    return "a detail is lost" if reason.startswith("it loses ") else reason
