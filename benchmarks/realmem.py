"""RealMem (RealMemBench): a persona's project dialogues; each query names the earlier sessions that answer it."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.measure import PATIENT, doing
from benchmarks.recall import (
    RANKINGS,
    Asked,
    Half,
    MovableClock,
    Outcome,
    Quality,
    Rankings,
    asked,
    at_ten,
    half_of,
    peak_mb,
)
from memhold.errors import UnreadableImport
from memhold.faces.python.open import AsyncMemhold
from memhold.recall.conversation import TURNS
from memhold.transfer.formats import read_batches
from memhold.transfer.items import Batch
from memhold.transfer.source import Source
from memhold.verbs.scope import AsyncScope

__all__ = ["queries_of", "realmem_quality"]

ALONE = "without its conversation"
_FUSED: Rankings = {"fused": None}
_BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
_END = datetime(2200, 1, 1, tzinfo=UTC)


async def realmem_quality(
    folder: Path,
    *,
    embedding: str = "builtin",
    half: Half | None = None,
    rankings: Rankings = RANKINGS,
    conversation: bool = False,
) -> Quality:
    """Replay every persona's sessions in order, asking each query before its own session is added, in its own time.

    So a query searches the earlier sessions only, as it would have when it was asked. A session's rank is that of its
    best hit. With `half` only the personas of that half are asked; without it the notes give R@10 of each. With
    `conversation` only queries with turns before them are asked, with these and alone.

    Raises:
        UnreadableImport: the folder holds no such file, or none of that half.
    """
    began = time.perf_counter()
    every = await asyncio.to_thread(lambda: sorted(folder.glob("*.json")))
    files = [path for path in every if half in (None, half_of(path.stem))]
    if not files:
        which = "" if half is None else f" of the {half} half"
        raise UnreadableImport(f"{folder}: there is no RealMem file{which} (*.json)", path=str(folder), line=None)
    rankings = {"fused": None, ALONE: None} if conversation else rankings
    outcomes: dict[str, list[Outcome]] = {name: [] for name in rankings}
    halves: dict[str, list[Outcome]] = {}
    messages = 0
    for number, path in enumerate(files, 1):
        doing(f"{path.stem}, {number} of {len(files)}")
        with tempfile.TemporaryDirectory(prefix="memhold-bench-") as place:
            clock = MovableClock(_BEGINNING)
            async with AsyncMemhold.open(
                f"{place}/realmem.db", worker=False, embedding=embedding, clock=clock, **PATIENT
            ) as memhold:
                async for found in _replayed(memhold, path, clock, rankings, conversation=conversation):
                    halves.setdefault(half_of(path.stem), []).append(found["fused"])
                    for name, outcome in found.items():
                        outcomes[name].append(outcome)
                status = await memhold.scope(user=path.stem).status()
                messages += status.messages
    return Quality(
        name="realmem",
        embedding=embedding,
        outcomes=outcomes,
        messages=messages,
        seconds=time.perf_counter() - began,
        peak_mb=peak_mb(),
        notes={name: at_ten(found) for name, found in sorted(halves.items())},
    )


async def _replayed(
    memhold: AsyncMemhold, path: Path, clock: MovableClock, rankings: Rankings, *, conversation: bool
) -> Any:
    """Each query's outcome, in order of time."""
    waiting = dict(queries_of(json.loads(await asyncio.to_thread(path.read_text, encoding="utf-8"))))
    source = Source(path=path, zone=UTC, now=_END, on_error="skip")
    earlier: set[str] = set()
    reader: AsyncScope = memhold.scope(user=path.stem)
    for batch in read_batches(source, "realmem"):
        assert isinstance(batch, Batch)
        clock.set(batch.messages[0]["event_time"])
        ident = str(batch.source_ids[0]).partition(":")[0]
        for text, gold, before in waiting.pop(ident, ()):
            evidence = frozenset(f"realmem:{name}" for name in gold if name in earlier)
            one = Asked(text=text, evidence=evidence)
            if not evidence:
                continue
            if not conversation:
                yield await asked(reader, one, by_session=True, rankings=rankings)
            elif before:
                within = replace(one, conversation=before)
                found = [await asked(reader, each, by_session=True, rankings=_FUSED) for each in (within, one)]
                yield {name: each["fused"] for name, each in zip(rankings, found, strict=True)}
        scope = memhold.scope(user=path.stem, session=batch.session)
        await scope.add(batch.messages)
        await memhold.settle(timeout=600)
        earlier.add(ident)


def queries_of(data: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, list[str], tuple[str, ...]]]]]:
    """The queries of each session, the sessions that answer them (those that the next turn names), the turns before."""
    for session in data["dialogues"]:
        turns = session["dialogue_turns"]
        found = []
        for place, (turn, answer) in enumerate(pairwise(turns)):
            if turn.get("is_query"):
                named = answer.get("memory_session_uuids") or ()
                gold = [one["session_uuid"] if isinstance(one, dict) else str(one) for one in named]
                before = tuple(f"{one['speaker'].lower()}: {one['content']}" for one in turns[:place][-TURNS:])
                found.append((str(turn["content"]), gold, before))
        if found:
            yield session["session_uuid"], found
