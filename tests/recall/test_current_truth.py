"""Nothing is said to be past without a fact; what is superseded or repeated is left out or folded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.recall.answering import Candidate, as_hit, with_neighbours
from memhold.testing.clock import FakeClock
from memhold.values.records import Message
from memhold.verbs.scope import AsyncScope
from tests.recall.changed_facts import CHANGES, FILLER, SECOND, UNSEEN

START = datetime(2025, 6, 1, tzinfo=UTC)


async def _tell(scope: AsyncScope, earlier: str, later: str) -> None:
    """A dialogue over two days, with small talk around the two statements."""
    for day, (said, talk) in enumerate(((earlier, FILLER[:6]), (later, FILLER[6:]))):
        at = START + timedelta(days=30 * day)
        turns = [{"role": "user", "content": said, "event_time": at}]
        for place, text in enumerate(talk):
            role = "user" if place % 2 else "assistant"
            turns.append({"role": role, "content": text, "event_time": at + timedelta(minutes=place + 1)})
        await scope.add(turns)


@pytest.mark.asyncio
@pytest.mark.parametrize("changes", [CHANGES, SECOND, UNSEEN], ids=["first", "second", "third"])
async def test_messages_do_not_mark_each_other(memhold: AsyncMemhold, changes: Sequence[tuple[str, str, str]]) -> None:
    for place, (earlier, later, question) in enumerate(changes):
        scope = memhold.scope(user=f"u{place}", session="s")
        await _tell(scope, earlier, later)
        await memhold.settle()
        hits = (await scope.recall(question, limit=30)).hits
        assert {earlier, later} <= {hit.text for hit in hits}, "both are there"
        assert {hit.superseded_by for hit in hits} == {None}


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


@pytest.mark.asyncio
async def test_turns_around_several_hits_are_read_once(memhold: AsyncMemhold) -> None:
    held: dict[str, tuple[Message, ...]] = {}
    for session in ("s", "t"):
        scope = memhold.scope(user="alice", session=session)
        await scope.add([{"role": "user", "content": f"line {n}"} for n in range(40)])
        held[session] = await scope.messages()
    read: list[Message] = []

    class Journal:
        def messages(self, session: str, *, after: int, until: int) -> list[Message]:
            found = [one for one in held[session] if after < one.seq <= until]
            read.extend(found)
            return found

    items = [held["s"][n] for n in (39, 0, 7, 20, 8, 1, 13)] + [held["t"][20]]
    hits = [as_hit(Candidate(number=one.number, score=1.0, why=()), one) for one in items]
    shown = with_neighbours(Journal(), hits, items, 3)
    assert [hit.id for hit in shown] == [hit.id for hit in hits]
    for hit, item in zip(shown, items, strict=True):
        turns = held[item.session][max(0, item.seq - 4) : item.seq + 3]
        assert hit.neighbours == tuple(one for one in turns if one.id != item.id)
    assert len({one.id for one in read}) == len(read)
