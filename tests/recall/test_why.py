"""The reasons of a hit add up to its score, also where something beside the signals moved it, which is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.values.answers import Hit

Told = Sequence[Sequence[str]]

MOVED: Told = (["I live in Leeds."], ["We moved to Hull, and I live in a house there."], ["My sister plays chess."])
"""The second replaces the first; each list is a session."""
CHANGED: Told = (
    ["I live in Leeds, and I live in a house near the river that I live with."],
    ["We moved again, and I live in a house with a garden."],
    ["My sister plays chess."],
)
PLANTS: Told = (
    ["The roses are plants of my garden.", "The mint is one of the plants in my garden.", "A plant died."],
    ["My garden has plants as the tulip."],
    ["The car is red."],
)


async def _asked(memhold: AsyncMemhold, told: Told, question: str) -> tuple[Sequence[Hit], Mapping[str, object]]:
    for place, texts in enumerate(told):
        await memhold.scope(user="ann", session=f"s{place}").add([{"role": "user", "content": one} for one in texts])
    answer = await memhold.scope(user="ann").recall(question, explain=True)
    assert answer.account is not None
    return answer.hits, answer.account["signals"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("told", "question", "moved"),
    [
        (MOVED, "Where do I live?", set()),
        (CHANGED, "Where do I live?", {"newer"}),
        (PLANTS, "Which car is red and what died in my garden", set()),
        (MOVED, "Where did I live before?", set()),
        (MOVED, "", set()),
    ],
)
async def test_the_parts_of_every_hit_are_its_score(
    memhold: AsyncMemhold, told: Told, question: str, moved: set[str]
) -> None:
    hits, account = await _asked(memhold, told, question)
    for hit in hits:
        assert sum(reason.part for reason in hit.why) == pytest.approx(hit.score, abs=1e-5), hit.text
        assert all(0 < reason.score <= 1 and reason.rank >= 1 for reason in hit.why)
    named = {reason.signal for hit in hits for reason in hit.why} & {"newer", "follows", "outdated"}
    assert named == moved, [(hit.text, hit.score, hit.why) for hit in hits]
    assert named <= account.keys(), "and the whole account has them"


@pytest.mark.asyncio
async def test_a_value_that_was_replaced_says_that_it_stands_behind(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="ann", session="s")
    await scope.add([{"role": "user", "content": "My favorite food is sushi, sushi is the favorite food of mine."}])
    receipt = (await scope.remember(attribute="favorite food", value="sushi")).receipt
    await scope.remember(attribute="favorite food", value="ramen")
    answer = await scope.recall("is my favorite food sushi?", include_superseded=True, expect=receipt.ids[0])
    for hit in answer.hits:
        assert sum(reason.part for reason in hit.why) == pytest.approx(hit.score, abs=1e-5), hit.text
    [old] = [hit for hit in answer.hits if hit.id == receipt.ids[0]]
    assert [reason.part < 0 for reason in old.why if reason.signal == "outdated"] == [True]
    assert answer.expected is not None
    assert {"newer", "follows"}.isdisjoint(answer.expected.silent), "they were not asked"
