"""What each signal of recall brings: each left out once, on several kinds of data at once."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from benchmarks.everyday import Tally, tell
from benchmarks.locomo import locomo_quality
from benchmarks.measure import PATIENT, doing
from benchmarks.realmem import realmem_quality
from benchmarks.recall import Asked, Outcome, Rankings, asked
from benchmarks.worlds import Moment, read_worlds
from memhold.faces.python.open import AsyncMemhold
from memhold.recall.fusion import asked_of

__all__ = ["ALL", "signals_quality"]

ALL = "all signals"


def _rankings(embedding: str) -> Rankings:
    """All signals that a question is put to beside this embedding, and all but each of them."""
    every = asked_of(static=embedding == "builtin")
    return {ALL: every} | {f"without {name}": tuple(one for one in every if one != name) for name in every}


AT_TEN = 2
"""Where R@10 stands among an outcome's measures."""


async def signals_quality(
    worlds: Sequence[Path], *, locomo: Path | None = None, realmem: Path | None = None, embedding: str = "builtin"
) -> Mapping[str, Mapping[str, float]]:
    """R@10 by set and ranking: with all signals, and with each of them left out.

    Raises:
        UnreadableImport: a file has not the form of its set.
    """
    found: dict[str, Mapping[str, float]] = {}
    for path in worlds:
        found[path.stem] = await _worlds(path, embedding)
    if locomo is not None:
        quality = await locomo_quality(locomo, embedding=embedding, rankings={"fused": None, **_rankings(embedding)})
        found["locomo"] = _means(quality.outcomes)
    if realmem is not None:
        quality = await realmem_quality(realmem, embedding=embedding, rankings={"fused": None, **_rankings(embedding)})
        found["realmem"] = _means(quality.outcomes)
    return found


def _means(outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, float]:
    tally = Tally()
    for name, ones in outcomes.items():
        for one in ones if name != "fused" else ():
            tally.add(name, one.recall[AT_TEN])
    return tally.means()


async def _worlds(path: Path, embedding: str) -> Mapping[str, float]:
    outcomes: dict[str, list[Outcome]] = {}
    for world in read_worlds(path):
        doing(f"{path.stem}, {world.name}: {len(world.questions)} questions")
        clock = Moment(world.said[-1].at + timedelta(days=1))
        with tempfile.TemporaryDirectory(prefix="memhold-bench-") as folder:
            place = f"{folder}/world.db"
            async with AsyncMemhold.open(place, worker=False, embedding=embedding, clock=clock, **PATIENT) as memhold:
                await tell(lambda name, held=memhold: held.scope(user="u", session=name), world.said)  # type: ignore[misc]
                await memhold.settle(timeout=600)
                for question in world.questions:
                    if question.gold:
                        one = Asked(text=question.text, evidence=frozenset(question.gold), category=question.kind)
                        for name, outcome in (
                            await asked(memhold.scope(user="u"), one, rankings=_rankings(embedding))
                        ).items():
                            outcomes.setdefault(name, []).append(outcome)
    return _means(outcomes)
