"""The clock and ids that ship for tests."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

import memhold.testing
from memhold.errors import NaiveTime
from memhold.testing import FakeClock, SeededIds


def test_the_clock_stands_still_until_it_is_moved():
    clock = FakeClock()
    assert clock.now() == clock.now() == datetime(2026, 1, 1, tzinfo=UTC)
    clock.advance(1.5)
    clock.advance(timedelta(microseconds=1))
    assert clock.now() == datetime(2026, 1, 1, 0, 0, 1, 500_001, tzinfo=UTC)
    clock.advance(-1.500001)
    clock.set(datetime(2020, 5, 5, tzinfo=UTC))
    assert clock.now() == datetime(2020, 5, 5, tzinfo=UTC)
    with pytest.raises(NaiveTime):
        clock.set(datetime(2020, 5, 5))  # noqa: DTZ001


async def _sleeper(clock, woken, name, *seconds):
    for span in seconds:
        await clock.sleep(span)
        woken.append((name, (clock.now() - datetime(2026, 1, 1, tzinfo=UTC)).total_seconds()))


async def test_sleepers_wake_in_order_of_their_times():
    clock, woken = FakeClock(), []
    tasks = [asyncio.create_task(_sleeper(clock, woken, name, span)) for name, span in (("c", 3), ("a", 1), ("b", 1))]
    await asyncio.sleep(0)
    assert clock.sleepers == 3
    clock.advance(0.5)
    await asyncio.sleep(0)
    assert woken == []
    clock.advance(5)
    await asyncio.gather(*tasks)
    assert woken == [("a", 5.5), ("b", 5.5), ("c", 5.5)]
    assert clock.sleepers == 0


async def test_elapse_stops_at_each_time():
    clock, woken = FakeClock(), []
    tasks = [
        asyncio.create_task(_sleeper(clock, woken, "every 2", 2, 2, 2)),
        asyncio.create_task(_sleeper(clock, woken, "every 3", 3, 3)),
    ]
    await clock.elapse(5)
    assert woken == [("every 2", 2.0), ("every 3", 3.0), ("every 2", 4.0)]
    assert (clock.now() - datetime(2026, 1, 1, tzinfo=UTC)).total_seconds() == 5
    await clock.elapse(1)
    await asyncio.gather(*tasks)
    assert woken[3:] == [("every 3", 6.0), ("every 2", 6.0)]


async def test_a_cancelled_sleeper_does_not_keep_the_others():
    clock, woken = FakeClock(), []
    tasks = [asyncio.create_task(_sleeper(clock, woken, n, 1)) for n in range(3)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.sleep(0)
    assert clock.sleepers == 2
    await clock.elapse(1)
    assert woken == [(0, 1.0), (2, 1.0)]


async def test_the_clock_can_be_moved_from_another_thread():
    clock, woken = FakeClock(), []
    task = asyncio.create_task(_sleeper(clock, woken, "x", 60))
    await asyncio.sleep(0)
    await asyncio.to_thread(clock.advance, 60)
    await asyncio.wait_for(task, 60)
    assert woken == [("x", 60.0)]


async def test_no_time_is_one_turn():
    clock = FakeClock()
    await asyncio.wait_for(clock.sleep(0), 60)
    await asyncio.wait_for(clock.sleep(-1), 60)


def test_ids_are_the_same_in_every_run_and_sort():
    first, second, other = SeededIds(7), SeededIds(7), SeededIds(8)
    made = [first.new("msg") for _ in range(50)]
    assert made == [second.new("msg") for _ in range(50)]
    assert made == sorted(set(made))
    assert set(made).isdisjoint(other.new("msg") for _ in range(50))
    assert all(one.startswith("msg_") for one in made)
    assert SeededIds(7).new("chg").startswith("chg_")


def test_everything_that_ships_can_be_had_by_name():
    assert memhold.testing.__all__ == sorted(memhold.testing.__all__)
    for name in memhold.testing.__all__:
        assert getattr(memhold.testing, name).__name__ == name
        assert name in dir(memhold.testing)
    with pytest.raises(AttributeError, match="Nothing"):
        _ = memhold.testing.Nothing


def test_importing_the_package_loads_no_test_library():
    code = (
        "import sys, memhold.testing; memhold.testing.FakeClock; "
        "print(sorted({'pytest', 'hypothesis', 'numpy', 'apsw'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
