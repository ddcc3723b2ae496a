"""Times at the edge of what a calendar holds, and a machine whose clock says a year before 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from memhold.errors import InvalidInput
from memhold.facts.remember import MemoryInput
from memhold.wiring import system

FAR_EAST, FAR_WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))


@pytest.mark.parametrize("name", ["event_time", "expires_at"])
def test_a_time_outside_the_years_in_utc_is_refused_in_words(name: str) -> None:
    for moment in (datetime.min.replace(tzinfo=FAR_EAST), datetime.max.replace(tzinfo=FAR_WEST)):
        with pytest.raises(InvalidInput, match="outside the years 1 to 9999"):
            MemoryInput(text="a note", **{name: moment})
    for moment in (datetime.min.replace(tzinfo=FAR_WEST), datetime.max.replace(tzinfo=FAR_EAST)):
        assert getattr(MemoryInput(text="a note", **{name: moment}), name) == moment.astimezone(UTC)


def test_ids_are_made_whatever_the_clock_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def panics() -> None:
        raise BaseException("what Rust raises before 1970")  # noqa: TRY002 - it is no Exception

    monkeypatch.setattr(system.time, "time", lambda: -1.0)
    monkeypatch.setattr(system.uuid_utils, "uuid7", panics)
    made = {system.TimeOrderedIds().new("msg") for _ in range(100)}
    assert {len(one) for one in made} == {36}
    assert len(made) == 100
