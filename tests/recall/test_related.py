"""One ranking for several kinds of hits gives what a recall of each kind gives, without what something replaced."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.ports.transaction import ReadTx
from memhold.recall.recall import Caches, Meaning, recall, related
from memhold.values.answers import Query
from memhold.verbs.scope import AsyncScope
from tests.recall.changed_facts import CHANGES, FILLER

START = datetime(2025, 6, 1, tzinfo=UTC)


async def _told(scope: AsyncScope) -> None:
    said = [text for pair in CHANGES for text in pair[:2]]
    turns = [
        {"role": "user" if at % 3 else "assistant", "content": text, "event_time": START + timedelta(hours=at)}
        for at, text in enumerate([*said, *FILLER, *said[:4]])
    ]
    await scope.add(turns)
    for value in ("Vienna", "Graz"):
        await scope.remember(attribute="sister's city", value=value, topics=["kin"])
    for earlier, _, _ in CHANGES[:8]:
        await scope.remember(f"Noted: {earlier}")


@pytest.mark.asyncio
@pytest.mark.parametrize("agent", [None, "cook"])
async def test_each_kind_is_as_its_own_recall_gives_it(memhold: AsyncMemhold, agent: str | None) -> None:
    scope = memhold.scope(user="alice", session="s", agent=agent)
    await _told(scope)
    await memhold.scope(user="alice", session="s", agent="other").remember("Noted: the dog is another agent's.")
    await memhold.settle()
    replaced = 0
    for question in ("", "!", *(one for _, _, one in CHANGES), "And where does she live? I forgot about my sister."):
        queries = (
            Query(text=question, kinds=("fact", "note", "summary"), limit=7),
            Query(text=question, kinds=("message",), roles=("user", "assistant"), limit=5),
            Query(text=question, states=("active", "superseded"), limit=9),
            Query(text=question, include_superseded=True, topics=("kin",), limit=9),
        )
        meaning = await scope._tx.meaning(question)

        def both(
            tx: ReadTx, queries: tuple[Query, ...] = queries, meaning: Meaning = meaning
        ) -> tuple[list[list[str]], list[list[str]], int]:
            one = related(tx, queries, Caches(), meaning)
            found, missing = one.found, one.degraded
            answers = [recall(tx, query, Caches(), meaning) for query in queries]
            assert missing == answers[0].degraded
            alone = [
                [hit.id for hit in answer.hits if hit.superseded_by is None or hit.kind == "message"]
                for answer in answers
            ]
            left = sum(
                hit.superseded_by is not None and hit.kind != "message" for answer in answers for hit in answer.hits
            )
            return [[item.id for item in items] for items in found], alone, left

        together, alone, left = await scope._tx.read(both)
        assert together == alone
        replaced += left
    assert replaced >= 5, "and what was replaced was there to be left out"
