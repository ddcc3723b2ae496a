"""The newer of two statements stands first, and what is no longer so is marked, folded or left out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.testing.clock import FakeClock
from memhold.verbs.scope import AsyncScope
from tests.recall.changed_facts import CHANGES, FILLER, SECOND, UNSEEN

START = datetime(2025, 6, 1, tzinfo=UTC)
BAR = 0.95


async def _tell(scope: AsyncScope, earlier: str, later: str) -> None:
    """A dialogue over two days, with small talk around the two statements."""
    for day, (said, talk) in enumerate(((earlier, FILLER[:6]), (later, FILLER[6:]))):
        at = START + timedelta(days=30 * day)
        turns = [{"role": "user", "content": said, "event_time": at}]
        for place, text in enumerate(talk):
            role = "user" if place % 2 else "assistant"
            turns.append({"role": role, "content": text, "event_time": at + timedelta(minutes=place + 1)})
        await scope.add(turns)


async def _stale(memhold: AsyncMemhold, changes: Sequence[tuple[str, str, str]], embedding: str) -> list[str]:
    """The questions whose earlier statement stands before the later one, or where the later one is missing."""
    failed = []
    for place, (earlier, later, question) in enumerate(changes):
        scope = memhold.scope(user=f"u{place}", session="s")
        await _tell(scope, earlier, later)
        await memhold.settle()
        hits = [hit.text for hit in (await scope.recall(question, limit=30)).hits]
        if later not in hits or (earlier in hits and hits.index(earlier) < hits.index(later)):
            failed.append(question)
    rate = 1 - len(failed) / len(changes)
    print(f"\nstaleness, {embedding}: the later statement first in {rate:.1%} of {len(changes)}; not in {failed}")
    return failed


@pytest.mark.asyncio
@pytest.mark.parametrize("changes", [CHANGES, SECOND, UNSEEN], ids=["set on", "mended by", "unseen"])
async def test_the_newer_statement_ranks_above_the_older(
    memhold: AsyncMemhold, changes: Sequence[tuple[str, str, str]]
) -> None:
    failed = await _stale(memhold, changes, "builtin")
    assert len(failed) <= (1 - BAR) * len(changes), failed


@pytest.mark.asyncio
async def test_the_older_statement_names_what_came_later(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    await _tell(scope, *CHANGES[0][:2])
    await memhold.settle()
    hits = {hit.text: hit for hit in (await scope.recall(CHANGES[0][2])).hits}
    assert hits[CHANGES[0][0]].superseded_by == hits[CHANGES[0][1]].id
    assert hits[CHANGES[0][1]].superseded_by is None


@pytest.mark.asyncio
async def test_superseded_facts_are_absent_unless_asked(memhold: AsyncMemhold, clock: FakeClock) -> None:
    scope = memhold.scope(user="alice")
    await scope.remember(attribute="favorite food", value="sushi")
    clock.advance(60)
    await scope.remember(attribute="favorite food", value="ramen")
    await memhold.settle()
    assert [hit.value for hit in (await scope.recall("favorite food")).hits] == ["ramen"]
    every = await scope.recall("favorite food", include_superseded=True)
    assert {hit.value: hit.state for hit in every.hits} == {"ramen": "active", "sushi": "superseded"}


@pytest.mark.asyncio
async def test_repetitions_are_one_hit_with_their_sources(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    receipt = await scope.add(
        [{"role": "user", "content": text} for text in ("I like tea.", "I LIKE tea!", "Tea is hot.")]
    )
    answer = await scope.recall("who likes tea")
    assert answer.total == 2
    [folded] = [hit for hit in answer.hits if hit.sources]
    assert {folded.id, *folded.sources} == set(receipt.ids[:2])
    assistant = await scope.add([{"role": "assistant", "content": "I like tea."}])
    again = await scope.recall("who likes tea")
    assert assistant.ids[0] in {hit.id for hit in again.hits}, "another role is another statement"


@pytest.mark.asyncio
async def test_neighbours_are_the_turns_around(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    await scope.add([{"role": "user", "content": text} for text in ("one", "two", "needle", "four", "five")])
    [hit, *_] = (await scope.recall("needle", neighbours=1)).hits
    assert [message.text for message in hit.neighbours] == ["two", "four"]
    assert (await scope.recall("needle")).hits[0].neighbours == ()
