"""What was acknowledged is there after a power cut: the folder of every file that was made or renamed is synced."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from memhold import Memhold
from memhold.faces.mcp.install import Place, install
from memhold.ports.durable_files import make_folder


class Disk:
    """What a power cut leaves of the names in folders: those that were there when a folder was synced last."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._kept: dict[tuple[int, int], dict[str, int]] = {}
        really = os.fsync

        def fsync(handle: int) -> None:
            really(handle)
            found = os.fstat(handle)
            if stat.S_ISDIR(found.st_mode):
                with os.scandir(handle) as entries:
                    self._kept[found.st_dev, found.st_ino] = {entry.name: entry.inode() for entry in entries}

        monkeypatch.setattr(os, "fsync", fsync)

    def keeps(self, path: Path, upto: Path) -> bool:
        """Whether the file is there, under this name, after a power cut now; `upto` was there all along."""
        folder = path.parent.stat()
        names = self._kept.get((folder.st_dev, folder.st_ino), {})
        return names.get(path.name) == path.stat().st_ino and (path.parent == upto or self.keeps(path.parent, upto))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def filled(folder: Path, **settings: object) -> Memhold:
    mem = Memhold.open(folder / "memory.db", worker=False, embedding="none", **settings)
    mem.scope(user="a", session="s").add([{"role": "user", "content": "The key is under the mat."}])
    return mem


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]


EXPORTS: dict[str, Callable[[Memhold, Path], None]] = {
    "an export": lambda mem, to: mem.scope(user="a").export(to / "deep" / "er" / "all", format="markdown"),
    "an export over another": lambda mem, to: [mem.scope(user="a").export(to / "all.jsonl") for _ in range(2)],
    "a backup": lambda mem, to: mem.admin.backup(to / "deep" / "er" / "backup"),
}


@pytest.mark.parametrize("made", EXPORTS)
def test_what_a_verb_writes_outlives_a_power_cut(made: str, tmp_path: Path, disk: Disk) -> None:
    target = tmp_path / "target"
    target.mkdir()
    with filled(tmp_path) as mem:
        EXPORTS[made](mem, target)
    assert len(files(target)) > 0
    assert [path for path in files(target) if not disk.keeps(path, target)] == []


def test_a_store_its_ledger_and_a_restored_one(tmp_path: Path, disk: Disk) -> None:
    home = tmp_path / "new" / "home"
    with filled(home) as mem:
        assert disk.keeps(home / "memory.db", tmp_path)
        mem.admin.backup(tmp_path / "backup")
        mem.scope(user="a").forget(everything=True)
        assert disk.keeps(home / "memory.db.forgotten", tmp_path)
    Memhold.restore(tmp_path / "backup", str(home / "memory.db"), force=True)
    assert disk.keeps(home / "memory.db", tmp_path)


def test_a_mirror(tmp_path: Path, disk: Disk) -> None:
    mirror = tmp_path / "mirror"
    with filled(tmp_path, mirror=str(mirror)) as mem:
        mem.scope(user="a").remember("Prefers window seats")
        mem.settle()
    written = files(mirror)
    assert {path.name for path in written} >= {"MEMORY.md"}
    assert [path for path in written if not disk.keeps(path, tmp_path)] == []


def test_the_file_of_a_client(tmp_path: Path, disk: Disk) -> None:
    install("cursor", ["memhold", "mcp"], Place(home=tmp_path, system="linux", environment={}))
    written = list(tmp_path.rglob("*.json"))
    assert written
    assert [path for path in written if not disk.keeps(path, tmp_path)] == []


def test_folders_are_made_for_good(tmp_path: Path, disk: Disk) -> None:
    make_folder(tmp_path / "a" / "b" / "c", mode=0o700)
    assert disk.keeps(tmp_path / "a" / "b" / "c", tmp_path)
    make_folder(tmp_path / "a" / "b" / "c")
    assert (tmp_path / "a" / "b" / "c").stat().st_mode & 0o777 == 0o700
