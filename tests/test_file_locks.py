"""SQLite's locks stay, whatever this process does with the file: POSIX drops them when any descriptor is closed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from memhold import Memhold

TAKER = """
import sys, apsw
taker = apsw.Connection(sys.argv[1])
taker.set_busy_timeout(100)
try:
    taker.execute("PRAGMA locking_mode = EXCLUSIVE")
    print("mode", taker.pragma("journal_mode", "delete"))
except (apsw.BusyError, apsw.LockedError):
    print("held")
"""


def taken(path: Path) -> str:
    """What another process gets that wants the file for itself."""
    command = [sys.executable, "-c", TAKER, str(path)]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=30, env=os.environ
    ).stdout.strip()


def test_looking_for_residue_and_opening_twice_keep_the_locks(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memhold.open(str(path), worker=False) as mem:
        alice = mem.scope(user="alice")
        alice.remember("Likes tea")
        assert taken(path) in {"held", "mode wal"}
        assert alice.residue("Likes tea").found
        assert taken(path) in {"held", "mode wal"}
        with Memhold.open(str(path), worker=False) as again:
            again.scope(user="alice").remember("Likes coffee")
        assert taken(path) in {"held", "mode wal"}
        alice.forget(alice.list().items[0].id)
        assert taken(path) in {"held", "mode wal"}
        alice.remember("Likes milk")
        assert sorted(memory.text for memory in alice.list().items) == ["Likes coffee", "Likes milk"]
