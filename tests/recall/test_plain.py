"""What somebody told is found when it is asked plainly, in other words than it was told."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.recall.confidence import THRESHOLD
from tests.recall import plain_pairs, plain_pairs_unseen

A_SESSION = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Pairs by language, questions that none of them answers, and what was reached, which may not be lost.

    `reached` are the shares of questions whose answer is the first hit, and among the first three; `doubted` the share
    of the others whose confidence is low.
    """

    told: Mapping[str, Sequence[tuple[str, str]]]
    never: Mapping[str, Sequence[str]]
    reached: Mapping[str, tuple[float, float]]
    doubted: float


with Path(__file__).with_name("plain_pairs_nine.jsonl").open(encoding="utf-8") as _lines:
    _ROWS = [json.loads(line) for line in _lines]
NINE = {row["language"]: [one for one in _ROWS if one["language"] == row["language"]] for row in _ROWS}
"""Seventeen statements a language, each with a question for it and one that nothing answers, near the same topic.

Written before the glossaries were learnt, and asked once.
"""
SETS = {
    "the first set": Pairs(
        told=plain_pairs.TOLD,
        never=plain_pairs.NEVER,
        reached={"en": (0.42, 0.65), "others": (0.36, 0.64)},
        doubted=0.75,
    ),
    "the second set": Pairs(
        told=plain_pairs_unseen.TOLD,
        never=plain_pairs_unseen.NEVER,
        reached={"en": (0.35, 0.6), "others": (0.45, 0.7)},
        doubted=0.68,
    ),
    "nine languages": Pairs(
        told={language: [(row["said"], row["asked"]) for row in rows] for language, rows in NINE.items()},
        never={language: [row["never"] for row in rows] for language, rows in NINE.items()},
        reached={"others": (0.52, 0.76)},
        doubted=0.5,
    ),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("pairs", SETS.values(), ids=SETS)
async def test_what_was_told_is_found_in_other_words(
    memhold: AsyncMemhold, pairs: Pairs, capsys: pytest.CaptureFixture[str]
) -> None:
    places: dict[str, list[int]] = {which: [] for which in pairs.reached}
    doubted = []
    for language, told in pairs.told.items():
        for place, (said, _) in enumerate(told):
            await memhold.scope(user=language, session=f"s{place // A_SESSION}").add(
                [{"role": "user", "content": said}, {"role": "assistant", "content": plain_pairs.REPLIES[language]}]
            )
    await memhold.settle()
    for language, told in pairs.told.items():
        scope = memhold.scope(user=language)
        for said, question in told:
            texts = [hit.text for hit in (await scope.recall(question)).hits]
            places["en" if language == "en" else "others"].append(texts.index(said) if said in texts else len(texts))
        sure = [(await scope.recall(question)).confidence for question in pairs.never[language]]
        doubted += [confidence is not None and confidence < THRESHOLD for confidence in sure]
    for which, found in places.items():
        first, three = (sum(place < most for place in found) / len(found) for most in (1, 3))
        with capsys.disabled():
            print(f"\n{which}, {len(found)} plain questions: first {first:.3f}, among three {three:.3f}")
        assert first >= pairs.reached[which][0]
        assert three >= pairs.reached[which][1]
    assert sum(doubted) >= pairs.doubted * len(doubted)
