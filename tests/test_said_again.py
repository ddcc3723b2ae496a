"""A value that was said again later is not displaced by a late word about the time between.

RULES, "Ids, order, time": evidence is ordered by event time; a late, older fact enters the history as superseded.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memhold import AsyncMemhold

DAY = timedelta(days=1)
T0 = datetime(2025, 1, 1, tzinfo=UTC)


async def test_what_was_said_again_outlasts_a_late_word() -> None:
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        alice = mem.scope(user="alice")

        async def city(as_of: datetime | None = None) -> list[str | None]:
            return [hit.value for hit in (await alice.recall("city", kinds=["fact"], as_of=as_of)).hits]

        await alice.remember(attribute="city", value="Porto", event_time=T0)
        await alice.remember(attribute="city", value="Porto", event_time=T0 + 20 * DAY)
        await alice.remember(attribute="city", value="Lisbon", event_time=T0 + 10 * DAY)
        assert await city() == ["Porto"]
        assert await city(T0 + 15 * DAY) == ["Lisbon"]
        assert await city(T0 + 5 * DAY) == ["Porto"]
        assert await city(T0 + 25 * DAY) == ["Porto"]
