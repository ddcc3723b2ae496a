"""Profiles: facts that were told one by one, and whether the way people ask about them finds them."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.everyday import Tally
from benchmarks.measure import PATIENT, doing
from benchmarks.worlds import Moment, Question, Ranking, Said, World, baselines
from memhold.errors import UnreadableImport
from memhold.faces.python.open import AsyncMemhold
from memhold.recall.confidence import THRESHOLD
from memhold.verbs.scope import AsyncScope
from memhold.wiring.models import embedding_of

__all__ = ["profiles_quality"]

FIRST, BUDGET = 3, 4000
_TOLD_AT = datetime(2026, 1, 1, tzinfo=UTC)
_ASKED_AFTER = timedelta(days=60)
"""What a user told is asked for months later: facts that expire meanwhile are missed."""


@dataclass(slots=True, kw_only=True)
class Found:
    """What was measured so far, and the language of the profile that is asked."""

    lang: str = ""
    first: dict[str, Tally] = field(default_factory=dict)
    held: Tally = field(default_factory=Tally)
    other: Tally = field(default_factory=Tally)


async def profiles_quality(path: Path, *, embedding: str = "builtin") -> dict[str, Any]:
    """Each profile told to a store of its own, asked sixty days later: in the first three hits, and in a context.

    The plain systems rank the same facts as `attribute: value`.

    Raises:
        UnreadableImport: the file has not this form.
    """
    began = time.perf_counter()
    profiles = await asyncio.to_thread(_read, path)
    found = Found()
    for number, profile in enumerate(profiles, 1):
        doing(f"profile {number} of {len(profiles)}, {profile['lang']}")
        found.lang = profile["lang"]
        await _measured(profile, found, embedding)
    return {
        "benchmark": "profiles",
        "embedding": embedding,
        "profiles": len(profiles),
        "questions": sum(len(one["questions"]) for one in profiles),
        f"in the first {FIRST}": {name: tally.means() for name, tally in found.first.items()},
        f"in context({BUDGET})": found.held.means(),
        "confidence": found.other.means(),
        "seconds": round(time.perf_counter() - began, 1),
    }


def _read(path: Path) -> list[dict[str, Any]]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            one = json.loads(line)
            found.append({"lang": one["lang"], "facts": [*one["facts"]], "questions": [*one["questions"]]})
        except (ValueError, KeyError, TypeError) as error:
            why = f"{path}, line {number}: not a profile: {type(error).__name__}: {error}"
            raise UnreadableImport(why, path=str(path), line=number) from None
    return found


async def _measured(profile: Mapping[str, Any], found: Found, embedding: str) -> None:
    facts, clock = profile["facts"], Moment(_TOLD_AT)
    plain = embedding_of(embedding if embedding != "none" else "builtin", None, None)
    assert plain is not None
    others = await baselines(_as_world(profile), plain)
    with tempfile.TemporaryDirectory(prefix="memhold-bench-") as folder:
        place = f"{folder}/profile.db"
        async with AsyncMemhold.open(place, worker=False, embedding=embedding, clock=clock, **PATIENT) as memhold:
            scope = memhold.scope(user="told", session="told")
            for fact in facts:
                await scope.remember(**fact)
                clock.moment += timedelta(minutes=1)
            await memhold.settle(timeout=600)
            clock.moment += _ASKED_AFTER
            asking = memhold.scope(user="told", session="new")
            for question in profile["questions"]:
                await _asked(asking, question, facts, others, found)


async def _asked(
    scope: AsyncScope,
    question: Mapping[str, Any],
    facts: Sequence[Mapping[str, Any]],
    others: Mapping[str, Ranking],
    found: Found,
) -> None:
    answer = await scope.recall(question["q"], limit=FIRST)
    doubted = float((answer.confidence or 0.0) < THRESHOLD)
    if question["attribute"] is None:
        found.other.add("doubted, never said", doubted)
        return
    found.other.add("doubted, answerable", doubted)
    names = {"memhold": [hit.attribute or "" for hit in answer.hits]}
    asked = _question(question)
    names |= {name: ranks(asked)[:FIRST] for name, ranks in others.items()}
    for name, attributes in names.items():
        tally = found.first.setdefault(name, Tally())
        there = float(question["attribute"] in attributes)
        tally.add("all", there)
        tally.add("English" if found.lang == "en" else "other languages", there)
    wanted = next(one for one in facts if one["attribute"] == question["attribute"])
    context = await scope.context([{"role": "user", "content": question["q"]}], budget=BUDGET)
    found.held.add("memhold", float(wanted["value"] in context.as_text()))


def _question(question: Mapping[str, Any]) -> Question:
    gold = (question["attribute"] or "",)
    return Question(text=question["q"], kind="fact", gold=gold, stale=(), present=gold, enough=True, answer="")


def _as_world(profile: Mapping[str, Any]) -> World:
    said = tuple(
        Said(
            id=one["attribute"],
            session="told",
            role="user",
            text=f"{one['attribute']}: {one['value']}",
            at=_TOLD_AT + timedelta(minutes=place),
        )
        for place, one in enumerate(profile["facts"])
    )
    questions = tuple(_question(one) for one in profile["questions"])
    return World(name="profile", lang=profile["lang"], said=said, questions=questions)
