"""A time as a person gives it: dates, plain words and spans, by the days of a zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from memhold import Memhold
from memhold.errors import InvalidInput, InvalidSetting, NaiveTime
from memhold.fidelity.moments import read_moment
from memhold.testing import FakeClock

NOW = datetime(2026, 11, 29, 2, 30, tzinfo=UTC)
NEW_YORK = ZoneInfo("America/New_York")


@pytest.mark.parametrize(
    ("name", "given", "meant"),
    [
        ("since", "2026-11-01", "2026-11-01T04:00:00+00:00"),
        ("until", "2026-11-01", "2026-11-02T05:00:00+00:00"),
        ("as_of", "2026-11-01", "2026-11-02T04:59:59.999999+00:00"),
        ("since", "yesterday", "2026-11-27T05:00:00+00:00"),
        ("until", "today", "2026-11-29T05:00:00+00:00"),
        ("expires_at", "tomorrow", "2026-11-29T05:00:00+00:00"),
        ("since", "7d", "2026-11-22T02:30:00+00:00"),
        ("since", "90m", "2026-11-29T01:00:00+00:00"),
        ("expires_at", "2w", "2026-12-13T02:30:00+00:00"),
        ("since", "last week", "2026-11-16T05:00:00+00:00"),
        ("since", "2026-11-01T09:00", "2026-11-01T14:00:00+00:00"),
        ("since", "2026-05-01T00:00:00+02:00", "2026-04-30T22:00:00+00:00"),
        ("since", "now", "2026-11-29T02:30:00+00:00"),
    ],
)
def test_a_time_means_what_a_person_in_new_york_means(name: str, given: str, meant: str) -> None:
    assert read_moment(name, given, NOW, NEW_YORK) == datetime.fromisoformat(meant)


@pytest.mark.parametrize(
    "given", ["yesteryear", "2026-13-01", "", "7", "99999d" * 9, "yesterday evening", "2026-02-30"]
)
def test_what_is_no_time_is_refused_with_what_to_pass(given: str) -> None:
    with pytest.raises(InvalidInput, match=r"^since is .*; pass 2026-11-01, 2026-11-01T09:00, .*yesterday, or 7d"):
        read_moment("since", given, NOW, NEW_YORK)


def test_a_moment_that_no_clock_of_utc_shows_is_refused() -> None:
    far = datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))
    early = datetime.min.replace(tzinfo=timezone(timedelta(hours=12)))
    with Memhold.open("memory://", worker=False, embedding="none") as mem:
        scope = mem.scope(user="u")
        for moment in (far, early):
            for name in ("as_of", "known_at", "since", "until"):
                with pytest.raises(InvalidInput, match=f"{name}: .* lies outside the years 1 to 9999"):
                    scope.recall("x", **{name: moment})
        with pytest.raises(NaiveTime, match=r"since: .* has no time zone"):
            scope.recall("x", since=datetime(2026, 1, 1))  # noqa: DTZ001 - it is to be refused


def test_verbs_take_words_and_days_of_the_zone_that_is_set() -> None:
    clock = FakeClock(datetime(2026, 5, 3, 2, 0, tzinfo=UTC))
    for zone, found in (("America/New_York", 1), ("Europe/Paris", 0)):
        with Memhold.open("memory://", worker=False, embedding="none", clock=clock, timezone=zone) as mem:
            scope = mem.scope(user="u", session="s")
            # In New York it is 2 May, 22:00, and this was said at 9 on the same day; in Paris it was yesterday.
            scope.add({"role": "user", "content": "the kettle is broken", "event_time": "2026-05-02T13:00:00Z"})
            assert len(scope.recall("kettle", since="today").hits) == found
            assert len(scope.recall("kettle", until="2026-05-02").hits) == 1
            assert [m.text for m in scope.messages()] == ["the kettle is broken"]


def test_the_days_of_a_question_are_those_of_the_zone() -> None:
    clock = FakeClock(datetime(2026, 5, 3, 2, 0, tzinfo=UTC))
    said = {}
    for zone in ("America/New_York", "Europe/Paris"):
        with Memhold.open("memory://", worker=False, embedding="none", clock=clock, timezone=zone) as mem:
            answer = mem.scope(user="u").recall("what did I say yesterday?", explain=True)
            assert answer.account is not None
            said[zone] = [(start.isoformat(), end.isoformat()) for _, start, end in answer.account["times"]]
    assert said == {
        "America/New_York": [("2026-05-01T04:00:00+00:00", "2026-05-02T04:00:00+00:00")],
        "Europe/Paris": [("2026-05-01T22:00:00+00:00", "2026-05-02T22:00:00+00:00")],
    }


def test_a_zone_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="timezone is 'Mars/Olympus'; name one as Europe/Paris"):
        Memhold.open("memory://", timezone="Mars/Olympus")
