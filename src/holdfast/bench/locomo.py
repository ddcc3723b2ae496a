"""LoCoMo (Maharana et al. 2024): long conversations of two people, and questions with the turns that answer them."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holdfast.bench.recall import RANKINGS, Asked, Outcome, Quality, asked, peak_mb
from holdfast.open import AsyncHoldfast
from holdfast.pipeline.confidence import THRESHOLD
from holdfast.transfer.formats import read_batches
from holdfast.transfer.items import Batch
from holdfast.transfer.source import Source

__all__ = ["CATEGORIES", "locomo_quality", "questions_of", "samples_of"]

CATEGORIES: Mapping[int, str] = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


async def locomo_quality(path: Path, *, embedding: str = "builtin") -> Quality:
    """Import the conversations, one user each, ask every question that has evidence, and measure.

    A question's evidence is the turns it names; `odd` and `even` in the notes are R@10 over the first, third, ... and
    the second, fourth, ... conversation: weights were chosen on the odd ones.

    Raises:
        UnreadableImport: the file is not LoCoMo.
    """
    began = time.perf_counter()
    samples = json.loads(await asyncio.to_thread(path.read_text, encoding="utf-8"))
    outcomes: dict[str, list[Outcome]] = {name: [] for name in RANKINGS}
    halves: tuple[list[Outcome], list[Outcome]] = ([], [])
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        async with AsyncHoldfast.open(f"{folder}/locomo.db", worker=False, embedding=embedding) as holdfast:
            known = await _imported(holdfast, path)
            await holdfast.settle(timeout=600)
            for place, sample in enumerate(samples):
                user = str(sample["sample_id"])
                for question in _questions(sample, known[user]):
                    found = await asked(holdfast.scope(user=user), question)
                    halves[place % 2].append(found["fused"])
                    for name, outcome in found.items():
                        outcomes[name].append(outcome)
    return Quality(
        name="locomo",
        embedding=embedding,
        outcomes=outcomes,
        messages=sum(map(len, known.values())),
        seconds=time.perf_counter() - began,
        peak_mb=peak_mb(),
        notes={"odd": _at_ten(halves[0]), "even": _at_ten(halves[1]), "confidence": _sureness(outcomes["fused"])},
    )


async def _imported(holdfast: AsyncHoldfast, path: Path) -> dict[str, set[str]]:
    """Import every conversation under its own user; the source ids that each has."""
    batches, known = await asyncio.to_thread(samples_of, path)
    for user, batch in batches:
        await holdfast.scope(user=user, session=batch.session).add(batch.messages)
    return known


def samples_of(path: Path) -> tuple[list[tuple[str, Batch]], dict[str, set[str]]]:
    """The conversations as batches of messages, each with its user, and the source ids of each user.

    Raises:
        UnreadableImport: the file is not LoCoMo.
    """
    source = Source(path=path, zone=UTC, now=datetime.now(UTC), on_error="skip")
    batches: list[tuple[str, Batch]] = []
    known: dict[str, set[str]] = {}
    for batch in read_batches(source, "locomo"):
        assert isinstance(batch, Batch)  # noqa: S101 - only Holdfast's own exports restore memories
        user = batch.session.partition(":")[0]
        batches.append((user, batch))
        known.setdefault(user, set()).update(batch.source_ids)
    return batches, known


def questions_of(path: Path, known: Mapping[str, set[str]]) -> dict[str, list[Asked]]:
    """The questions that have evidence among the messages, by user."""
    samples = json.loads(path.read_text(encoding="utf-8"))
    return {str(one["sample_id"]): _questions(one, known[str(one["sample_id"])]) for one in samples}


def _questions(sample: Mapping[str, Any], known: set[str]) -> list[Asked]:
    found = []
    for entry in sample["qa"]:
        names = (name for part in entry.get("evidence", ()) for name in re.split(r"[;,\s]+", part))
        evidence = frozenset(name for name in names if name in known)
        if evidence:
            category = CATEGORIES.get(entry["category"], str(entry["category"]))
            found.append(Asked(text=entry["question"], evidence=evidence, category=category))
    return found


def _at_ten(found: Sequence[Outcome]) -> float:
    return round(sum(one.recall[2] for one in found) / max(len(found), 1), 4)


def _sureness(found: Sequence[Outcome]) -> dict[str, float]:
    """How often confidence stays under its threshold, for adversarial and for other questions."""
    low: dict[bool, list[bool]] = {True: [], False: []}
    for one in found:
        low[one.category == "adversarial"].append((one.confidence or 0.0) < THRESHOLD)
    return {
        "adversarial_below": round(sum(low[True]) / max(len(low[True]), 1), 4),
        "others_below": round(sum(low[False]) / max(len(low[False]), 1), 4),
    }
