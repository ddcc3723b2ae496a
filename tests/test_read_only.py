"""A store that is only read: on a mount that cannot be written it can be asked and exported, and nothing is changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from memhold import Memhold
from memhold.errors import InvalidSetting, NotAStore, StoreReadOnly

PLAIN = {"worker": False, "embedding": "none"}
MOUNTED = """
set -e
mount --bind "$1" "$1"
mount -o remount,ro,bind "$1"
exec "$2" -m memhold "$3" "$4" --user ann --db "$1/m.db" --json
"""


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "folder"
    folder.mkdir()
    with Memhold.open(str(folder / "m.db"), **PLAIN) as mem:
        mem.scope(user="ann", session="s").add({"role": "user", "content": "I have a boat."})
        mem.scope(user="ann").remember("likes tea")
    yield folder / "m.db"
    folder.chmod(0o700)


def test_it_is_read_and_exported_and_every_write_is_refused(made: Path, tmp_path: Path) -> None:
    before = made.read_bytes()
    with Memhold.open(str(made), read_only=True) as mem:
        scope = mem.scope(user="ann", session="s")
        assert [hit.text for hit in scope.recall("boat", kinds=["message"]).hits] == ["I have a boat."]
        assert "boat" in scope.context("What do I have?").as_text()
        assert scope.export(tmp_path / "out.jsonl").counts["message"] == 1
        for write in (
            lambda: scope.add({"role": "user", "content": "x"}), lambda: scope.remember("x"), scope.end_session,
            lambda: scope.forget(scope.list().items[0].id), mem.settle,
        ):  # fmt: skip
            with pytest.raises(StoreReadOnly, match=r"opened with read_only; nothing was stored, open it without"):
                write()
    assert made.read_bytes() == before


def test_it_reads_what_another_process_writes_meanwhile(made: Path) -> None:
    with Memhold.open(str(made), **PLAIN) as writer, Memhold.open(str(made), read_only=True) as reader:
        writer.scope(user="ann").remember("likes mate")
        assert {memory.text for memory in reader.scope(user="ann").list().items} == {"likes tea", "likes mate"}


def test_what_cannot_be_read_so_is_said(made: Path, tmp_path: Path) -> None:
    with pytest.raises(NotAStore, match="there is no store at"):
        Memhold.open(str(tmp_path / "none" / "m.db"), read_only=True)
    assert not (tmp_path / "none").exists()
    with pytest.raises(InvalidSetting, match="read_only is for a store in a file"):
        Memhold.open("memory://", read_only=True)
    older = tmp_path / "older.db"
    shutil.copy(made, older)
    with apsw.Connection(str(older)) as connection:
        connection.pragma("user_version", 3)
    connection.close()
    with pytest.raises(StoreReadOnly, match=r"has schema 3 and this Memhold reads \d+; open it once where it can"):
        Memhold.open(str(older), read_only=True)
    foreign = tmp_path / "foreign.db"
    apsw.Connection(str(foreign)).execute("CREATE TABLE theirs (x)")
    with pytest.raises(NotAStore, match="another program's"):
        Memhold.open(str(foreign), read_only=True)


@pytest.mark.skipif(
    subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0
    if shutil.which("unshare")
    else True,
    reason="no mounts can be made here",
)
def test_on_a_mount_that_is_only_read(made: Path, tmp_path: Path) -> None:
    def run(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **settings}
        line = ["unshare", "-m", "sh", "-c", MOUNTED, "sh", str(made.parent), sys.executable, *words]
        return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)

    told = run("recall", "boat")
    assert told.returncode == 1
    assert "read_only=True (MEMHOLD_READ_ONLY=1)" in told.stderr
    assert "I have a boat." in run("recall", "boat", MEMHOLD_READ_ONLY="1").stdout
    assert run("export", str(tmp_path / "out.jsonl"), MEMHOLD_READ_ONLY="1").returncode == 0
    assert "likes tea" in (tmp_path / "out.jsonl").read_text()
    # A log that still holds writes cannot be read there, and is not passed over.
    mem = Memhold.open(str(made), **PLAIN)
    mem.scope(user="ann").remember("in the log")
    copy = tmp_path / "copy"
    copy.mkdir()
    for end in ("", "-wal"):
        shutil.copy(f"{made}{end}", copy / f"m.db{end}")
    mem.close()
    shutil.rmtree(made.parent)
    copy.rename(made.parent)
    refused = run("recall", "tea", MEMHOLD_READ_ONLY="1")
    assert "-wal holds writes that can only be read where something can be written" in refused.stderr
