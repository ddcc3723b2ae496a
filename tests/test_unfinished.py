"""A kill in the middle of a backup, an export or a restore: what it leaves is seen, and gone with a forget or at open."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memhold import Memhold
from memhold.ports.unfinished import left_behind, noted, sweep
from memhold.wiring import examine_file

PLAIN = {"worker": False, "embedding": "none"}
FORGOTTEN = "SECRETZEBRA"
CHILD = """
import os, pathlib, sys
from memhold import Memhold
from memhold.storage.sqlite import backup, restore
from memhold.verbs import files
folder, what = sys.argv[1:]
def die(*_, **__): os.kill(os.getpid(), 9)
if what == "backup":
    backup.verify = die
elif what == "restore":
    restore._check = die
    Memhold.restore(folder + "/earlier", folder + "/memory.db", force=True)
with Memhold.open(folder + "/memory.db", worker=False, embedding="none") as mem:
    if what == "backup":
        mem.admin.backup(folder + "/elsewhere/backup")
    pathlib.Path.replace = die
    mem.scope(user="alice").export(folder + "/elsewhere/export.jsonl")
"""


def killed(folder: Path, what: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", CHILD, str(folder), what], env=environment, check=False)
    assert done.returncode == -9


def holding(folder: Path) -> set[str]:
    """The files that hold the secret."""
    return {
        str(file.relative_to(folder))
        for file in folder.rglob("*")
        if file.is_file() and "earlier" not in str(file) and FORGOTTEN.encode() in file.read_bytes()
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    with Memhold.open(str(tmp_path / "memory.db"), **PLAIN) as mem:
        mem.scope(user="alice").remember(f"note {FORGOTTEN}")
        mem.admin.backup(tmp_path / "earlier")
    return tmp_path


@pytest.mark.parametrize("what", ["backup", "export"])
def test_a_forget_reaches_what_a_kill_left(folder: Path, what: str) -> None:
    with Memhold.open(str(folder / "memory.db"), **PLAIN) as mem:
        scope = mem.scope(user="alice")
        killed(folder, what)
        left = {name for name in holding(folder) if name.startswith("elsewhere")}
        assert left
        assert set(scope.residue(FORGOTTEN).found) >= {Path(name).name for name in left}
        assert [one.where for one in mem.admin.doctor() if one.check == "files"] == [
            str(one) for one in left_behind(folder / "memory.db")
        ]
        [note] = scope.list().items
        assert scope.forget(note.id, wait=10).erased
        assert holding(folder) == set()
        assert scope.residue(FORGOTTEN).found == {}
        assert not [one for one in mem.admin.doctor() if one.check == "files"]


@pytest.mark.parametrize("what", ["backup", "export", "restore"])
def test_opening_the_store_removes_what_a_kill_left(folder: Path, what: str) -> None:
    killed(folder, what)
    assert holding(folder) - {"memory.db"}
    assert [one.check for one in examine_file(str(folder / "memory.db")) if one.severity == "wrong"]
    with Memhold.open(str(folder / "memory.db"), **PLAIN) as mem:
        assert [memory.text for memory in mem.scope(user="alice").list().items] == [f"note {FORGOTTEN}"]
        assert not [one for one in mem.admin.doctor() if one.severity == "wrong"]
        assert holding(folder) <= {"memory.db", "memory.db-wal"}
    assert not (folder / "memory.db.unfinished").exists()


def test_what_is_being_written_is_left_alone(tmp_path: Path) -> None:
    store, part, other = tmp_path / "memory.db", tmp_path / ".x.part-1", tmp_path / "precious"
    for file in (part, other):
        file.write_text("text")
    with noted(store, part):
        assert sweep(store) == left_behind(store) == []
        assert part.exists()
    # A note that names anything else removes nothing.
    folder = tmp_path / "memory.db.unfinished"
    folder.mkdir()
    (folder / "note").write_text(f"{other}\0relative.part-1\0{part}")
    assert sweep(store) == [part]
    assert (other.exists(), part.exists(), folder.exists()) == (True, False, False)


def test_a_mirror_takes_what_a_kill_left_of_it(tmp_path: Path) -> None:
    with Memhold.open(str(tmp_path / "memory.db"), mirror=str(tmp_path / "mirror"), **PLAIN) as mem:
        scope = mem.scope(user="alice")
        told = scope.remember(f"note {FORGOTTEN}")
        mem.settle()
        [page] = (tmp_path / "mirror").rglob("MEMORY.md")
        (page.parent / ".MEMORY.md.k8s7f6").write_text(page.read_text())
        assert set(scope.residue(FORGOTTEN).found) >= {
            "mirror/default/alice/MEMORY.md",
            "mirror/default/alice/.MEMORY.md.k8s7f6",
        }
        scope.forget(told.memory.id, wait=10)
        mem.settle()
        assert scope.residue(FORGOTTEN).found == {}
        assert not [
            file for file in (tmp_path / "mirror").rglob("*") if file.is_file() and FORGOTTEN in file.read_text()
        ]


def test_what_is_being_written_is_never_swept_however_often_somebody_sweeps(tmp_path: Path) -> None:
    """A worker sweeps after each forget, while a backup of another process begins."""
    store, part = tmp_path / "memory.db", tmp_path / ".backup.part-1"
    done = threading.Event()

    def sweeps() -> None:
        while not done.is_set():
            sweep(store)

    sweeper = threading.Thread(target=sweeps)
    sweeper.start()
    try:
        for _ in range(60):
            with noted(store, part):
                part.write_text("a copy")
                sweep(store)
                assert part.exists()
            part.unlink()
    finally:
        done.set()
        sweeper.join()
    assert sweep(store) == []
