"""`doctor --repair clock`: a store that a clock ahead has dated is as if the clock had been right."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memhold import AsyncMemhold, Memhold
from memhold.cli.main import main
from memhold.errors import InvalidInput
from memhold.testing import FakeClock

PLAIN = {"worker": False, "embedding": "none"}


@pytest.mark.parametrize("ahead", [timedelta(hours=2), timedelta(days=400)], ids=["two hours", "a year"])
@pytest.mark.parametrize("where", ["file", "database"])
async def test_what_a_clock_ahead_dated_is_dated_anew(
    tmp_path: Path, request: pytest.FixtureRequest, where: str, ahead: timedelta
) -> None:
    location = str(tmp_path / "memory.db") if where == "file" else request.getfixturevalue("database")
    clock = FakeClock()
    right = clock.now() + timedelta(minutes=10)
    async with AsyncMemhold.open(location, clock=clock, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        await scope.remember(attribute="town", value="Lisbon")
        clock.advance(ahead.total_seconds())
        told = await scope.remember(attribute="town", value="Oslo")
        await scope.add([{"role": "user", "content": "gardening in the rain"}])
    clock = FakeClock(right)
    async with AsyncMemhold.open(location, clock=clock, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        wrong = [finding for finding in await mem.admin.doctor() if finding.check == "clock"]
        assert {finding.severity for finding in wrong} == {"wrong"}
        assert all("--repair clock" in finding.advice for finding in wrong)
        [mended] = [one for one in await mem.admin.doctor(repair="clock") if one.check == "clock"]
        assert (mended.severity, "dated as of now" in mended.what) == ("note", True)
        found = await mem.admin.doctor(repair="clock")
        assert not [one for one in found if one.check in {"clock", "rows", "words", "due"}], "again changes nothing"
        clock.advance(60)
        kept = await scope.get(told.memory.id)
        assert (kept.recorded_at, kept.valid_from) == (right, right)
        # As of now the newer value holds, as of before the older one, and what comes next is dated by the clock.
        for asked, value in ((clock.now(), "Oslo"), (right - timedelta(minutes=5), "Lisbon")):
            hits = (await scope.recall("town", as_of=asked, kinds=["fact"])).hits
            assert [hit.value for hit in hits] == [value]
        newest = await scope.remember(attribute="town", value="Faro")
        assert newest.memory.recorded_at == clock.now()
        assert [message.recorded_at for message in await scope.messages()] == [right]
        assert [hit.value for hit in (await scope.recall("town", kinds=["fact"])).hits] == ["Faro"]


def test_the_command_repairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "memory.db"
    ahead = FakeClock()
    ahead.advance(300 * 365 * 86_400)
    with Memhold.open(str(path), clock=ahead, **PLAIN) as mem:
        mem.scope(user="alice").remember("of another century")
    assert main(["doctor", "--db", str(path)]) == 1
    assert main(["doctor", "--db", str(path), "--repair", "clock"]) == 0
    assert "dated as of now" in capsys.readouterr().out
    assert main(["doctor", "--db", str(path)]) == 0


def test_nothing_else_can_be_repaired(tmp_path: Path) -> None:
    with Memhold.open(str(tmp_path / "memory.db"), **PLAIN) as mem, pytest.raises(InvalidInput, match="repair is"):
        mem.admin.doctor(repair="teeth")
