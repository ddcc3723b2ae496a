"""Verb suite: both axes of time. `as_of` asks when it held, `known_at` when Memhold knew it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memhold.testing.verb_suite_base import Harness, Verbs, facts, found, texts, user

__all__ = ["TimelineCases"]

DAY = timedelta(days=1)
T0 = datetime(2025, 1, 1, tzinfo=UTC)


async def _city(scope: Verbs, **asked: object) -> list[str]:
    answer = await scope.recall("city", kinds=["fact"], **asked)
    return sorted(text.removeprefix("city: ") for text in texts(answer))


@pytest.mark.asyncio
class TimelineCases:
    """Late facts, values that return, and what each moment gives back."""

    async def test_each_moment_has_its_value(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        for day, city in ((0, "Porto"), (10, "Lisbon"), (20, "Faro")):
            await alice.remember(attribute="city", value=city, event_time=T0 + day * DAY)
        assert await _city(alice) == ["Faro"]
        held = {-1: [], 0: ["Porto"], 9: ["Porto"], 10: ["Lisbon"], 19: ["Lisbon"], 20: ["Faro"]}
        for day, cities in held.items():
            assert await _city(alice, as_of=T0 + day * DAY) == cities, day

    async def test_a_dropped_fact_brings_back_what_held_before_it_and_nothing_that_had_ended(
        self, harness: Harness
    ) -> None:
        alice = harness.scope(user="alice")
        gone = await alice.remember(attribute="city", value="Lisbon", event_time=T0 + 30 * DAY)
        await alice.remember(attribute="city", value="Porto", event_time=T0)
        await alice.forget(gone.memory.id)
        assert await _city(alice) == []
        between = await alice.remember(attribute="city", value="Faro", event_time=T0 + 10 * DAY)
        assert await _city(alice) == ["Faro"]
        await alice.drop(between.memory.id)
        assert await _city(alice) == []
        assert await _city(alice, as_of=T0 + 20 * DAY) == ["Porto"]
        # What was dropped was never so, and ended nothing.
        bob = harness.scope(user="bob")
        wrong = await bob.remember(attribute="city", value="Lisbon", event_time=T0 + 30 * DAY)
        await bob.remember(attribute="city", value="Porto", event_time=T0)
        late = await bob.remember(attribute="city", value="Faro", event_time=T0 + 10 * DAY)
        await bob.drop(wrong.memory.id)
        assert await _city(bob) == ["Faro"]
        await bob.drop(late.memory.id)
        assert await _city(bob) == ["Porto"]

    async def test_a_late_fact_takes_its_place_in_the_past(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        await alice.remember(attribute="city", value="Porto", event_time=T0)
        newest = await alice.remember(attribute="city", value="Faro", event_time=T0 + 20 * DAY)
        late = await alice.remember(attribute="city", value="Lisbon", event_time=T0 + 10 * DAY)
        assert (late.memory.state, late.memory.superseded_by) == ("superseded", newest.memory.id)
        assert (late.memory.valid_from, late.memory.valid_to) == (T0 + 10 * DAY, T0 + 20 * DAY)
        assert await _city(alice) == ["Faro"]
        assert await _city(alice, as_of=T0 + 15 * DAY) == ["Lisbon"]
        assert await _city(alice, as_of=T0 + 5 * DAY) == ["Porto"]
        first = await alice.remember(attribute="city", value="Braga", event_time=T0 - DAY)
        assert first.memory.valid_to == T0
        assert await _city(alice) == ["Faro"]

    async def test_a_value_that_returns_is_a_new_version(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        ids = []
        for city in ("Porto", "Lisbon", "porto"):
            ids.append((await alice.remember(attribute="city", value=city)).memory.id)
            await harness.advance(DAY)
        assert len(set(ids)) == 3
        assert await facts(alice) == ["porto"]
        story = await alice.history(ids[0])
        assert [change.verb for change in story] == ["remember"] * 3
        assert [change.effects[-1].after.value for change in story] == ["Porto", "Lisbon", "porto"]
        assert await alice.history(ids[2]) == story

    async def test_two_words_about_one_moment_the_later_told_holds(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        await alice.remember(attribute="city", value="Porto", event_time=T0)
        await alice.remember(attribute="city", value="Lisbon", event_time=T0)
        assert await _city(alice) == ["Lisbon"]
        assert await _city(alice, as_of=T0) == ["Lisbon"]

    async def test_a_removal_ends_a_value_from_its_time(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        await alice.remember(attribute="city", value="Porto", event_time=T0)
        await alice.remember(attribute="city", value="Lisbon", operation="add", event_time=T0 + 5 * DAY)
        await alice.remember(attribute="city", value="Porto", operation="remove", event_time=T0 + 10 * DAY)
        assert await _city(alice) == ["Lisbon"]
        assert await _city(alice, as_of=T0 + 7 * DAY) == ["Lisbon", "Porto"]
        assert await _city(alice, as_of=T0 + 10 * DAY) == ["Lisbon"]

    async def test_known_at_gives_what_was_known_then(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        moments = [(await alice.remember("start")).memory.recorded_at]
        for city, about in (("Porto", T0), ("Faro", T0 + 20 * DAY), ("Lisbon", T0 + 10 * DAY)):
            await harness.advance(DAY)
            told = await alice.remember(attribute="city", value=city, event_time=about)
            moments.append(told.memory.recorded_at)
        middle = T0 + 15 * DAY
        known = [await _city(alice, as_of=middle, known_at=moment) for moment in moments]
        assert known == [[], ["Porto"], ["Porto"], ["Lisbon"]]
        assert await _city(alice, known_at=moments[1]) == ["Porto"]
        assert await _city(alice, known_at=moments[2]) == ["Faro"]

    async def test_messages_obey_both_axes(self, harness: Harness) -> None:
        alice = harness.scope(user="alice")
        before = (await alice.remember("start")).memory.recorded_at
        await harness.advance(DAY)
        await alice.add(user("city of old", event_time=T0))
        [message] = await alice.messages()
        assert found(await alice.recall("city", as_of=T0)) == ["city of old"]
        assert found(await alice.recall("city", as_of=T0 - DAY)) == []
        assert found(await alice.recall("city", known_at=before)) == []
        assert found(await alice.recall("city", as_of=T0, known_at=before)) == []
        assert found(await alice.recall("city", known_at=message.recorded_at)) == ["city of old"]

    @pytest.mark.parametrize("ahead", [timedelta(hours=2), 3 * DAY, 75 * 365 * DAY, -2 * DAY, -30 * 365 * DAY])
    async def test_a_clock_that_jumps_never_reorders(self, harness: Harness, ahead: timedelta) -> None:
        alice = harness.scope(user="alice", session="s1")
        real = (await alice.remember("a note of the right time")).memory.recorded_at
        await harness.advance(ahead)
        await alice.add(user("first"))
        first = await alice.remember(attribute="city", value="Porto")
        await harness.advance(-ahead)
        await alice.add(user("second"))
        second = await alice.remember(attribute="city", value="Lisbon")
        assert [message.text for message in await alice.messages()] == ["first", "second"]
        assert await _city(alice) == ["Lisbon"]
        changes = [change.seq for change in await alice.history(second.memory.id)]
        assert changes == sorted(changes)
        assert first.memory.id != second.memory.id
        dated = second.memory.recorded_at
        assert dated == (real + ahead if timedelta() < ahead <= DAY else real), "the clock dates what is told now"
        assert await _city(alice, as_of=dated) == ["Lisbon"], "what is told now holds now"

    async def test_a_clock_set_back_a_little_never_dates_backwards(self, harness: Harness) -> None:
        alice = harness.scope(user="alice", session="s1")
        first = await alice.remember(attribute="city", value="Porto")
        await harness.advance(-DAY / 2)
        second = await alice.remember(attribute="city", value="Lisbon")
        assert first.memory.recorded_at <= second.memory.recorded_at
        assert await _city(alice) == ["Lisbon"]

    @pytest.mark.parametrize("ahead", [timedelta(hours=2), 75 * 365 * DAY])
    async def test_work_waits_for_no_clock_that_was_ahead(self, harness: Harness, ahead: timedelta) -> None:
        alice = harness.scope(user="alice", session="s1")
        await harness.advance(ahead)
        await alice.add(user("a message of the future"))
        await harness.settle()
        await harness.advance(-ahead)
        await alice.add(user("a message about rivers"))
        await harness.settle()
        assert (await alice.status()).due == {}
        assert (await alice.recall("rivers")).lag == {}
