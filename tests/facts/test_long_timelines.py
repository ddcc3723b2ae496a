"""Stating a fact whose attribute had many values before: the same as over its whole timeline, and as quick as the first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhold import AsyncMemhold
from memhold.facts import state as statements
from memhold.facts.remember import Writer
from memhold.facts.state import Statement, state_fact
from memhold.storage.sql import rows
from memhold.testing import FakeClock, SeededIds
from memhold.values.records import Author, Memory, Scope

T0 = datetime(2025, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
ALICE = Scope(user="alice")
VALUES = (
    "rice",
    "Soup",
    "soup",
    "bread",
    "none",
    "no more rice",
    "no longer soup, now bread",
    "bread, not rice any more",
)

statement = st.builds(
    lambda day, until, **given: Statement(
        subject="user", at=T0 + day * DAY, expires_at=None if until is None else T0 + (day + until) * DAY, **given
    ),
    day=st.integers(0, 12),
    until=st.sampled_from([None, None, None, 1, 5]),
    attribute=st.sampled_from(["favorite food", "allergies"]),
    value=st.sampled_from(VALUES),
    operation=st.sampled_from([None, None, None, "set", "add", "remove"]),
    model=st.sampled_from([None, None, "add", "replace", "end", "correct"]),
    wording=st.sampled_from(["", "", "I no longer eat rice, only soup.", "Actually it is bread.", "I also like soup."]),
    trust=st.sampled_from(["user", "user", "assistant", "tool"]),
    own_words=st.booleans(),
)
told = st.tuples(statement, st.sampled_from(["user", "user", "model"]), st.sampled_from([0, 1, 20]))


async def _stated(history: list[tuple[Statement, Any, int]]) -> list[object]:
    """What a history of statements gives: what came of each, and every revision in the end."""
    clock, seen = FakeClock(), list[object]()
    async with await AsyncMemhold.open("memory://", worker=False, clock=clock, ids=SeededIds(5)) as memhold:
        store, ids = memhold._store._runtime.store, memhold._store._runtime.ids
        for said, origin, days in history:
            clock.advance(days * DAY)
            if days:
                await memhold.settle()
            writer = Writer(ids=ids, secret=store.facts.secret, author=Author(origin=origin, name="m"))
            stated = await store.write(
                ALICE,
                lambda tx, said=said, writer=writer: state_fact(tx, said, writer=writer, change_id=ids.new("chg")),
            )
            seen.append((stated.reason, len(stated.effects), len(stated.suspicions)))
            for memory in (await memhold.scope(user="alice").list(states=None, limit=1000)).items:
                seen.append(await store.read(ALICE, lambda tx, id_=memory.id: tx.revisions(id_)))
                seen.append(await store.read(ALICE, lambda tx, id_=memory.id: tx.evidence([id_])))
    return seen


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=st.lists(told, min_size=1, max_size=10))
def test_a_statement_does_what_it_would_do_over_the_whole_timeline(history: list[tuple[Statement, Any, int]]) -> None:
    found = asyncio.run(_stated(history))
    part: Callable[..., list[Memory]] = statements._timeline
    with mock.patch.object(statements, "_timeline", lambda work, **_: part(work)):
        assert found == asyncio.run(_stated(history))


@pytest.mark.parametrize("late", [False, True], ids=["in order", "late"])
@pytest.mark.asyncio
async def test_the_fortieth_value_reads_no_more_than_the_third(
    lasting: str, monkeypatch: pytest.MonkeyPatch, *, late: bool
) -> None:
    """Memories and evidence; told in the order of time, and each before all that were told."""
    read = 0

    def counted(make: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*given: Any) -> Any:
            nonlocal read
            read += 1
            return make(*given)

        return counting

    monkeypatch.setattr(rows, "to_memory", counted(rows.to_memory))
    monkeypatch.setattr(rows, "to_evidence", counted(rows.to_evidence))
    async with AsyncMemhold.open(lasting, worker=False, embedding="none") as memhold:
        alice = memhold.scope(user="alice")
        counts = []
        for number in range(40):
            read = 0
            at = T0 - number * DAY if late else None
            await alice.remember(attribute="city", value=f"town {number}", event_time=at)
            counts.append(read)
    assert counts[-1] == counts[2], counts


@pytest.mark.asyncio
async def test_a_bare_value_that_names_what_ended_before_ends_nothing_else() -> None:
    async with AsyncMemhold.open("memory://", worker=False) as memhold:
        alice = memhold.scope(user="alice")
        for value in ("nuts", "milk"):
            await alice.remember(attribute="allergy", value=value)
        await alice.remember(attribute="allergy", value="nuts", operation="remove")
        await alice.remember(attribute="allergy", value="eggs, no longer nuts")
        held = [memory.value for memory in (await alice.list(kinds=("fact",))).items]
        assert held == ["milk", "eggs, no longer nuts"]
