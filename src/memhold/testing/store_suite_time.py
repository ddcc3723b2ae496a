"""Store suite: both time axes against a brute-force model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhold.ports.stores import Clock, Store
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.testing.clock import FakeClock
from memhold.testing.ids import SeededIds
from memhold.testing.store_suite_rows import ALICE, OpenStore, add_change, add_fact, later, say
from memhold.values.records import Memory, Message, State

__all__ = ["TimeCases", "exhaustive"]

exhaustive: Final = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.differing_executors,
        HealthCheck.too_slow,
    ],
)
"""Each example opens a store of its own; one test runs under every subclass."""

_STATES: Final[tuple[State, ...]] = ("active", "superseded", "retracted", "merged", "expired")


@dataclass(frozen=True)
class _Step:
    """Move the clock, then write the next revision of one of a few facts."""

    wait: int
    which: int
    valid_from: int
    lasts: int | None
    state: State


_STEPS = st.lists(
    st.builds(
        _Step,
        wait=st.integers(0, 3),
        which=st.integers(0, 3),
        valid_from=st.integers(-3, 12),
        lasts=st.none() | st.integers(0, 6),
        state=st.sampled_from(_STATES),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.asyncio
class TimeCases:
    """`held` answers for every pair of times as a scan over all revisions does."""

    @exhaustive
    @given(steps=_STEPS)
    async def test_held_is_what_a_scan_of_all_revisions_gives(self, open_store: OpenStore, steps: list[_Step]) -> None:
        clock = FakeClock()
        store = await open_store(clock, SeededIds())
        model: list[Memory] = []
        now = 0
        for step in steps:
            now += step.wait
            clock.set(later(now))
            written = await store.write(ALICE, lambda tx, s=step, m=tuple(model): _put(tx, s, m))  # type: ignore[misc]
            model = [
                replace(old, unrecorded_at=written.recorded_at)
                if old.id == written.id and old.unrecorded_at is None
                else old
                for old in model
            ]
            model.append(written)
        written_at = {int((one.recorded_at - later(0)).total_seconds()) for one in model}
        times = [None, *(later(at) for at in sorted({*written_at, *(at - 1 for at in written_at), now + 1}))]
        pairs = [(later(as_of), known_at) for as_of in range(-4, 20) for known_at in times]

        def scan(tx: ReadTx) -> list[list[Memory]]:
            return [tx.held(as_of=as_of, known_at=known_at) for as_of, known_at in pairs]

        found = await store.read(ALICE, scan)
        for pair, answer in zip(pairs, found, strict=True):
            assert answer == _held(model, *pair), pair
        await store.close()

    async def test_what_was_known_follows_the_order_of_changes_across_a_clock_that_jumps(
        self, store: Store, clock: Clock
    ) -> None:
        assert isinstance(clock, FakeClock)
        ids = SeededIds(4)

        def told(tx: WriteTx, value: str) -> None:
            add_change(tx, ids, add_fact(tx, ids, "town", value, valid_from=later(0)), at=tx.now)

        for at, value in ((0, "Lisbon"), (10**9, "Oslo"), (20, "Faro"), (40, "Porto")):
            clock.set(later(at))
            await store.write(ALICE, lambda tx, v=value: told(tx, v))  # type: ignore[misc]

        def known(tx: ReadTx, at: int) -> list[str | None]:
            return [memory.value for memory in tx.held(as_of=later(50), known_at=later(at))]

        seen = [await store.read(ALICE, lambda tx, a=at: known(tx, a)) for at in (0, 19, 20, 40, 10**9)]  # type: ignore[misc]
        assert seen[:2] == [["Lisbon"], ["Lisbon"]]
        assert seen[2] == ["Lisbon", "Oslo", "Faro"], "Oslo was told before Faro, whatever the clock said"
        assert seen[3] == seen[4] == ["Lisbon", "Oslo", "Faro", "Porto"]

    async def test_what_a_clock_ahead_dated_is_dated_as_of_now(self, store: Store, clock: Clock) -> None:
        assert isinstance(clock, FakeClock)
        ids = SeededIds(3)
        before = await store.write(ALICE, lambda tx: add_fact(tx, ids, "town", "Lisbon"))
        clock.set(later(10**9))

        def ahead(tx: WriteTx) -> list[Message]:
            tx.put_memory(replace(before, rev=2, state="superseded", valid_to=tx.now, recorded_at=tx.now))
            add_fact(tx, ids, "town", "Oslo")
            return say(tx, ids, "of another time")

        [said] = await store.write(ALICE, ahead)
        clock.set(later(5))
        now = clock.now()
        assert await store.write(ALICE, lambda tx: tx.redate()) == 4, "two revisions, the one before them, a message"
        assert await store.write(ALICE, lambda tx: (tx.redate(), tx.now)) == (0, now)
        [first, second] = await store.read(ALICE, lambda tx: tx.revisions(before.id))
        assert (first.recorded_at, first.unrecorded_at, first.valid_to) == (before.recorded_at, now, None)
        assert (second.recorded_at, second.valid_to, second.unrecorded_at) == (now, now, None)
        held = await store.read(ALICE, lambda tx: tx.held(as_of=now, known_at=None))
        assert [(memory.value, memory.recorded_at) for memory in held] == [("Oslo", now)]
        [kept] = await store.read(ALICE, lambda tx: tx.find_messages([said.id]))
        assert (kept.recorded_at, kept.text) == (now, said.text)
        assert await store.read(ALICE, lambda tx: tx.damaged) == {}

    async def test_the_edges_of_both_axes(self, store: Store, clock: Clock) -> None:
        assert isinstance(clock, FakeClock)
        ids = SeededIds(3)
        clock.set(later(10))
        old = await store.write(ALICE, lambda tx: add_fact(tx, ids, "food", "sushi", valid_from=later(0)))
        clock.set(later(20))

        def supersede(tx: WriteTx) -> Memory:
            ended = replace(old, rev=2, valid_to=later(15), state="superseded", recorded_at=tx.now)
            tx.put_memory(ended)
            return add_fact(tx, ids, "food", "pizza", valid_from=later(15))

        new = await store.write(ALICE, supersede)

        async def values(as_of: float, known_at: float | None) -> list[str | None]:
            known = None if known_at is None else later(known_at)
            return [m.value for m in await store.read(ALICE, lambda tx: tx.held(as_of=later(as_of), known_at=known))]

        assert await values(14.999999, None) == ["sushi"]
        assert await values(15, None) == ["pizza"]
        assert await values(0, None) == ["sushi"]
        assert await values(-0.000001, None) == []
        assert await values(15, 19.999999) == ["sushi"]
        assert await values(15, 20) == ["pizza"]
        assert await values(5, 10) == ["sushi"]
        assert await values(5, 9.999999) == []
        clock.set(later(30))
        await store.write(ALICE, lambda tx: tx.put_memory(replace(new, rev=2, state="retracted", recorded_at=tx.now)))
        assert await values(25, None) == []
        assert await values(25, 29) == ["pizza"], "what was known then"


def _put(tx: WriteTx, step: _Step, model: tuple[Memory, ...]) -> Memory:
    fields: dict[str, Any] = {
        "valid_from": later(step.valid_from),
        "valid_to": None if step.lasts is None else later(step.valid_from + step.lasts),
        "state": step.state,
        "recorded_at": tx.now,
    }
    name = f"mem_{step.which}"
    current = next((memory for memory in reversed(model) if memory.id == name), None)
    if current is None:
        return add_fact(tx, SeededIds(), "food", f"value {step.which}", id=name, **fields)
    following = replace(current, rev=current.rev + 1, **fields)
    tx.put_memory(following)
    return following


def _held(model: list[Memory], as_of: datetime, known_at: datetime | None) -> list[Memory]:
    found = []
    for revision in model:
        if known_at is None:
            known = revision.unrecorded_at is None
        else:
            known = revision.recorded_at <= known_at
            known = known and (revision.unrecorded_at is None or revision.unrecorded_at > known_at)
        holds = revision.valid_from <= as_of and (revision.valid_to is None or revision.valid_to > as_of)
        if known and holds and revision.state not in {"retracted", "merged"}:
            found.append(revision)
    return sorted(found, key=lambda memory: memory.number)
