"""A power cut while a store's file is first made: what is left is made whole or anew, and is never refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import pytest

from memhold import Memhold
from memhold.errors import NotAStore
from memhold.storage.sqlite.connection import create_or_migrate
from memhold.testing.disk import FaultyDisk, Operation


def cut_while_made(path: Path, at: int, random: Random) -> bool:
    """Make a file, with the power cut at an operation of the disk; False where it was made before that."""

    def on(_: Operation, count: int) -> None:
        if count == at:
            disk.cut_power(random)
            raise apsw.IOError("the power is off")

    disk = FaultyDisk(on=on)
    path.touch(mode=0o600)
    try:
        create_or_migrate(str(path), busy_timeout=1, now=1, vfs=disk.name)
    except Exception:  # noqa: BLE001 - whatever it was, the power is off
        return True
    return False


@pytest.mark.proof
def test_a_file_that_was_being_made_opens(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    seen: set[bytes] = set()
    for turn in runs(1, 8):
        at = 0
        while cut_while_made(path := tmp_path / f"{turn}-{at}.db", at, Random(f"{turn} {at}")):
            left = path.read_bytes()
            seen.add(left[:16])
            create_or_migrate(str(path), busy_timeout=1, now=1)
            if turn or at == 40:
                with Memhold.open(str(path), worker=False, embedding="none") as mem:
                    mem.scope(user="alice").remember("the first note")
                    assert [one.what for one in mem.admin.doctor() if one.severity == "wrong"] == []
            at += 1 if turn else 5
    assert {bytes(16), b""} <= seen, "some cuts keep the first page from the disk"


def test_a_strangers_file_is_not_recovered(tmp_path: Path) -> None:
    path = tmp_path / "diary.db"
    path.write_bytes(b"dear diary" * 500)
    for end, beside in (("-journal", b"of no SQLite"), ("-wal", b"of no SQLite")):
        path.with_name(path.name + end).write_bytes(beside * 600)
        with pytest.raises(NotAStore, match="left untouched"):
            Memhold.open(str(path), worker=False)
        assert path.read_bytes() == b"dear diary" * 500
        assert path.with_name(path.name + end).read_bytes() == beside * 600
