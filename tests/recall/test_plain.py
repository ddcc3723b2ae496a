"""What somebody told is found when it is asked plainly, in other words than it was told."""

from __future__ import annotations

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.recall.confidence import THRESHOLD
from tests.recall.plain_pairs import NEVER, REPLIES, TOLD

A_SESSION = 4
REACHED = {"en": (0.2, 0.45), "others": (0.3, 0.53)}
"""Shares of questions whose answer is the first hit, and among the first three: what was reached may not be lost."""


@pytest.mark.asyncio
async def test_what_was_told_is_found_in_other_words(memhold: AsyncMemhold, capsys: pytest.CaptureFixture[str]) -> None:
    places: dict[str, list[int]] = {"en": [], "others": []}
    doubted = []
    for language, pairs in TOLD.items():
        for place, (said, _) in enumerate(pairs):
            await memhold.scope(user=language, session=f"s{place // A_SESSION}").add(
                [{"role": "user", "content": said}, {"role": "assistant", "content": REPLIES[language]}]
            )
    await memhold.settle()
    for language, pairs in TOLD.items():
        scope = memhold.scope(user=language)
        for said, question in pairs:
            texts = [hit.text for hit in (await scope.recall(question)).hits]
            places["en" if language == "en" else "others"].append(texts.index(said) if said in texts else len(texts))
        sure = [(await scope.recall(question)).confidence for question in NEVER[language]]
        doubted += [confidence is not None and confidence < THRESHOLD for confidence in sure]
    for which, found in places.items():
        first, three = (sum(place < most for place in found) / len(found) for most in (1, 3))
        with capsys.disabled():
            print(f"\n{which}, {len(found)} plain questions: first {first:.3f}, among three {three:.3f}")
        assert first >= REACHED[which][0]
        assert three >= REACHED[which][1]
    assert sum(doubted) >= 0.75 * len(doubted)
