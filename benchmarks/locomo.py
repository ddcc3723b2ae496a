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

from benchmarks.measure import PATIENT, doing
from benchmarks.recall import (
    RANKINGS,
    Asked,
    Half,
    Outcome,
    Quality,
    Rankings,
    asked,
    at_ten,
    half_of,
    peak_mb,
    sureness,
)
from memhold.errors import UnreadableImport
from memhold.faces.python.open import AsyncMemhold
from memhold.transfer.formats import read_batches
from memhold.transfer.items import Batch
from memhold.transfer.source import Source

__all__ = ["CATEGORIES", "STRANGERS", "locomo_quality", "questions_of", "samples_of"]

CATEGORIES: Mapping[int, str] = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
STRANGERS = 60
"""How many questions of another conversation each memory is asked, for the confidence."""


async def locomo_quality(
    path: Path, *, embedding: str = "builtin", half: Half | None = None, rankings: Rankings = RANKINGS
) -> Quality:
    """Import the conversations, one user each, ask every question that has evidence, and measure.

    A question's evidence is the turns it names. With `half` only the conversations of that half are asked (`half_of`);
    without it the notes give R@10 of each. They also say how sure the answers were: of questions that have an answer
    here, of those about what was never said (category 5), and of `STRANGERS` questions of each next conversation.

    Raises:
        UnreadableImport: the file is not LoCoMo, or has no conversation of that half.
    """
    began = time.perf_counter()
    samples = json.loads(await asyncio.to_thread(path.read_text, encoding="utf-8"))
    outcomes: dict[str, list[Outcome]] = {name: [] for name in rankings}
    halves: dict[str, list[Outcome]] = {"first": [], "second": []}
    sure: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory(prefix="memhold-bench-") as folder:
        async with AsyncMemhold.open(f"{folder}/locomo.db", worker=False, embedding=embedding, **PATIENT) as memhold:
            doing("conversations are imported and indexed")
            known = await _imported(memhold, path)
            await memhold.settle(timeout=600)
            asking = {user: _questions(one, known[user]) for one in samples if (user := str(one["sample_id"])) in known}
            users = [user for user in asking if half in (None, half_of(user))]
            if not users:
                raise UnreadableImport(f"{path}: no conversation is in the {half} half", path=str(path), line=None)
            for user, following in zip(users, [*users[1:], users[0]], strict=True):
                told = sure.setdefault(half_of(user), {"answerable": [], "adversarial": [], "strangers": []})
                doing(f"{len(asking[user])} questions of {user}")
                for question in asking[user]:
                    found = await asked(memhold.scope(user=user), question, rankings=rankings)
                    halves[half_of(user)].append(found["fused"])
                    kind = "adversarial" if question.category == "adversarial" else "answerable"
                    told[kind].append(found["fused"].confidence or 0.0)
                    for name, outcome in found.items():
                        outcomes[name].append(outcome)
                for question in _spread(asking[following]) if following != user else ():
                    answer = await memhold.scope(user=user).recall(question.text)
                    told["strangers"].append(answer.confidence or 0.0)
    return Quality(
        name="locomo",
        embedding=embedding,
        outcomes=outcomes,
        messages=sum(len(known[user]) for user in users),
        seconds=time.perf_counter() - began,
        peak_mb=peak_mb(),
        notes={
            **{name: at_ten(found) for name, found in halves.items() if found},
            **{f"confidence, {name}": sureness(told) for name, told in sorted(sure.items())},
        },
    )


def _spread(questions: Sequence[Asked]) -> list[Asked]:
    """Some of the questions that have an answer in their own conversation, from all of it."""
    answerable = [one for one in questions if one.category != "adversarial"]
    return answerable[:: max(1, len(answerable) // STRANGERS)][:STRANGERS]


async def _imported(memhold: AsyncMemhold, path: Path) -> dict[str, set[str]]:
    """Import every conversation under its own user; the source ids that each has."""
    batches, known = await asyncio.to_thread(samples_of, path)
    for user, batch in batches:
        await memhold.scope(user=user, session=batch.session).add(batch.messages)
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
        assert isinstance(batch, Batch)
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
