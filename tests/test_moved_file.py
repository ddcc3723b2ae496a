"""A file that was moved without its log, and a log without its file: it is said, and no acknowledged write is thrown away."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memhold import Memhold
from memhold.errors import StoreError

PLAIN = {"worker": False, "embedding": "none"}
CHILD = """
import os, sys
from memhold import Memhold
mem = Memhold.open(sys.argv[1], worker=False, embedding="none")
mem.scope(user="alice").remember("written at the end")
os.kill(os.getpid(), 9)
"""


def notes(path: Path) -> list[str]:
    with Memhold.open(str(path), **PLAIN) as mem:
        return [memory.text for memory in mem.scope(user="alice").list().items]


def test_a_file_moved_without_its_log_says_where_the_log_is(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with Memhold.open(str(old), **PLAIN) as mem:
        mem.scope(user="alice").remember("written before")
        mem.admin.backup(tmp_path / "backup")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", CHILD, str(old)], env=environment, check=False)
    log = old.with_name("old.db-wal").read_bytes()
    assert log
    old.rename(new)
    with pytest.raises(
        StoreError, match=r"new\.db was moved here without its last writes, which stand in .*old\.db-wal"
    ):
        notes(new)
    with pytest.raises(StoreError, match=r"old\.db-wal holds writes of a file that is not there"):
        notes(old)
    # What is no move of this file is none of this log's business.
    shutil.copy(new, tmp_path / "copy.db")
    assert notes(tmp_path / "copy.db") == ["written before"]
    Memhold.restore(tmp_path / "backup", str(tmp_path / "restored.db"))
    assert notes(tmp_path / "restored.db") == ["written before"]
    assert old.with_name("old.db-wal").read_bytes() == log
    old.with_name("old.db-wal").rename(new.with_name("new.db-wal"))
    assert notes(new) == ["written before", "written at the end"]
    assert notes(new) == ["written before", "written at the end"]
