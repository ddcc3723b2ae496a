"""The mirror's files: whose they are, and what a forget says while they cannot be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from memhold import AsyncMemhold
from memhold.testing import FakeClock, SeededIds
from memhold.transfer.mirror import mirror_folder
from memhold.values.records import Scope

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize("letter", ["a", "가", "/", "."])
async def test_two_users_never_share_a_folder(letter: str, tmp_path: Path) -> None:
    names = [letter * 255 + end for end in "xy"] + [letter * length for length in (1, 22, 23, 67, 200, 201, 256)]
    folders = {mirror_folder(tmp_path, Scope(namespace="n", user=name)) for name in names}
    assert len(folders) == len(names)
    for folder in folders:
        folder.mkdir(parents=True)
        assert folder.parent == tmp_path / "n"


@pytest.mark.parametrize("hard", [True, False])
async def test_a_forget_says_that_the_files_wait(tmp_path: Path, *, hard: bool) -> None:
    place, clock = tmp_path / "pages", FakeClock()
    async with AsyncMemhold.open(
        "memory://", worker=False, clock=clock, ids=SeededIds(3), mirror=str(place)
    ) as memhold:
        alice = memhold.scope(user="alice")
        told = await alice.remember("The code is 4711.", pinned=True)
        assert await memhold.settle()
        [page] = place.rglob("MEMORY.md")
        assert "4711" in page.read_text("utf-8")
        place.rename(tmp_path / "away")
        place.write_text("in the way")
        report = await alice.forget(told.memory.id, hard=hard)
        assert (report.erased, report.waiting_for) == (False, "mirror")
        assert not (await alice.list()).items
        assert (await alice.status()).due
        place.unlink()
        (tmp_path / "away").rename(place)
        clock.advance(60)
        assert await memhold.settle()
        assert "4711" not in page.read_text("utf-8")
