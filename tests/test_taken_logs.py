"""The log of an open store, or the log's index, is taken away: it is noticed before anything more is acknowledged."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memhold import Memhold
from memhold.errors import StoreError

PLAIN = {"worker": False, "embedding": "none"}
ANOTHER = """
import sys
from memhold import Memhold
with Memhold.open(sys.argv[1], worker=False, embedding="none") as mem:
    mem.scope(user="u").remember("from another process")
"""
EMPTIES = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("SELECT count(*) FROM sqlite_schema").get
print(connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE))
"""


def child(code: str, path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", code, str(path)], env=environment, capture_output=True, text=True, check=False
    )


def beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def notes(path: Path) -> set[str]:
    with Memhold.open(str(path), **PLAIN) as mem:
        assert not [one for one in mem.admin.doctor() if one.severity == "wrong"]
        return {memory.text for memory in mem.scope(user="u").list(limit=100).items}


def removed(file: Path) -> None:
    file.unlink()


def replaced(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.touch()


def cut(file: Path) -> None:
    os.truncate(file, 0)


@pytest.mark.parametrize("take", [removed, replaced])
def test_what_was_acknowledged_into_a_log_that_is_gone_is_saved_at_once(
    tmp_path: Path, take: Callable[[Path], None]
) -> None:
    path = tmp_path / "m.db"
    mem = Memhold.open(str(path), **PLAIN)
    told = {f"told {number}" for number in range(20)}
    for text in told:
        mem.scope(user="u").remember(text)
    take(beside(path, "-wal"))
    advice = r"m\.db-wal was removed or replaced while the store was open; nothing was stored, close the store and open"
    with pytest.raises(StoreError, match=advice):
        mem.scope(user="u").remember("never")
    with pytest.raises(StoreError, match=advice):
        mem.scope(user="u").recall("told")
    done = child(ANOTHER, path)
    assert done.returncode == 0, done.stderr
    with pytest.raises(StoreError, match=advice):
        mem.scope(user="u").remember("never")
    mem.close()
    assert notes(path) == {*told, "from another process"}


def test_a_log_that_is_gone_is_saved_when_the_store_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memhold.open(str(path), **PLAIN) as mem:
        mem.scope(user="u").remember("told")
        beside(path, "-wal").unlink()
    assert notes(path) == {"told"}


def test_a_log_that_is_gone_is_not_written_over_what_another_process_wrote(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    mem = Memhold.open(str(path), **PLAIN)
    mem.scope(user="u").remember("told")
    child(EMPTIES, path)
    beside(path, "-wal").unlink()
    done = child(ANOTHER, path)
    assert done.returncode == 0, done.stderr
    with pytest.raises(StoreError, match="close the store"):
        mem.scope(user="u").remember("never")
    mem.close()
    assert notes(path) == {"told", "from another process"}


@pytest.mark.parametrize("take", [removed, replaced, cut])
def test_an_index_that_is_taken_away_costs_nothing_that_was_acknowledged(
    tmp_path: Path, take: Callable[[Path], None]
) -> None:
    path = tmp_path / "m.db"
    mem = Memhold.open(str(path), **PLAIN)
    mem.scope(user="u").remember("told")
    take(beside(path, "-shm"))
    for call in (lambda: mem.scope(user="u").remember("never"), lambda: mem.scope(user="u").recall("told")):
        with pytest.raises(StoreError, match=r"m\.db-shm was removed, replaced or cut short .* close every program"):
            call()
    mem.close()
    assert notes(path) == {"told"}


def test_a_log_that_is_cut_short_is_noticed_and_what_came_to_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memhold.open(str(path), **PLAIN) as mem:
        mem.scope(user="u").remember("in the file")
    mem = Memhold.open(str(path), **PLAIN)
    mem.scope(user="u").remember("in the log")
    os.truncate(beside(path, "-wal"), 100)
    with pytest.raises(StoreError, match=r"m\.db-wal was cut short .* what was written last may be lost"):
        mem.scope(user="u").remember("never")
    mem.close()
    assert notes(path) == {"in the file"}


def test_who_opens_a_file_whose_log_was_taken_is_told_what_helps(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memhold.open(str(path), **PLAIN) as mem:
        mem.scope(user="u").remember("told")
        beside(path, "-wal").unlink()
        done = child(ANOTHER, path)
        assert "close every program that has it open, then open it again" in done.stderr
    assert notes(path) == {"told"}


def test_a_log_that_another_process_emptied_in_order_is_no_loss(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memhold.open(str(path), **PLAIN) as mem:
        for number in range(3):
            mem.scope(user="u").remember(f"told {number}")
            assert child(EMPTIES, path).stdout.strip() == "(0, 0)"
            assert beside(path, "-wal").stat().st_size == 0
        child(ANOTHER, path)
        mem.scope(user="u").remember("told at the end")
        mem.scope(user="u").forget(mem.scope(user="u").list().items[0].id)  # its scrub empties the log too
        mem.scope(user="u").remember("told behind a scrub")
    assert len(notes(path)) == 5
