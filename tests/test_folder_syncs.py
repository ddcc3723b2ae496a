"""What was acknowledged is there after a power cut: the folder of every file that was made or renamed is synced."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from memhold import Memhold
from memhold.cli.main import cli
from memhold.faces.mcp.install import Place, install
from memhold.ports.durable_files import make_folder
from memhold.providers.embedding.fetching import fetched
from memhold.providers.embedding.official import OFFICIAL, PinnedFile
from memhold.testing.chaos import ChaosServer


class Disk:
    """What a power cut leaves: the names that were in a folder, and the bytes in a file, when it was synced last."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._kept: dict[tuple[int, int], dict[str, int]] = {}
        self._bytes: dict[tuple[int, int], bytes] = {}
        really = os.fsync

        def fsync(handle: int) -> None:
            really(handle)
            found = os.fstat(handle)
            if stat.S_ISDIR(found.st_mode):
                with os.scandir(handle) as entries:
                    self._kept[found.st_dev, found.st_ino] = {entry.name: entry.inode() for entry in entries}
            else:
                self._bytes[found.st_dev, found.st_ino] = Path(f"/proc/self/fd/{handle}").read_bytes()

        monkeypatch.setattr(os, "fsync", fsync)

    def keeps_bytes(self, path: Path, upto: Path) -> bool:
        """Whether the file is there after a power cut now, with all that stands in it."""
        found = path.stat()
        return self.keeps(path, upto) and self._bytes.get((found.st_dev, found.st_ino)) == path.read_bytes()

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


def test_the_copy_of_what_stood_in_it(tmp_path: Path, disk: Disk) -> None:
    place = Place(home=tmp_path, system="linux", environment={})
    install("cursor", ["memhold", "mcp"], place)
    [path] = tmp_path.rglob("*.json")
    path.write_text('{"mcpServers": {"mine": {"command": "mine"}}}')
    install("cursor", ["memhold", "mcp"], place)
    written = [one for one in path.parent.iterdir() if one.is_file()]
    assert len(written) == 2
    assert [one for one in written if not disk.keeps_bytes(one, tmp_path)] == []


def test_the_settings_that_setup_writes(tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MEMHOLD_CONSOLIDATION"):
        monkeypatch.delenv(name, raising=False)
    settings, link = tmp_path / "memhold.toml", tmp_path / "link.toml"
    settings.write_text('mirror = "notes"\n')
    settings.chmod(0o640)
    link.symlink_to(settings)
    with ChaosServer() as server:
        asked = ["setup", "--consolidation", f"{server.url}#chat-a", "--yes", "--file", str(link), "--json"]
        done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    assert settings.read_text().startswith('mirror = "notes"\nconsolidation = ')
    assert disk.keeps_bytes(settings, tmp_path)
    assert (link.is_symlink(), settings.stat().st_mode & 0o777) == (True, 0o640)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link.toml", "memhold.toml"]


def test_the_recipe_of_a_fetched_model(tmp_path: Path, disk: Disk) -> None:
    content = b"the model"
    home, folder = tmp_path / "home", tmp_path / "models" / "one"
    home.mkdir()
    (home / "weights.bin").write_bytes(content)
    pinned = PinnedFile(name="weights.bin", size=len(content), sha256=sha256(content).hexdigest())
    model = replace(next(iter(OFFICIAL.values())), files=(pinned,))
    fetched(model, folder, source=str(home))
    written = files(folder)
    assert len(written) > 1
    assert [one for one in written if not disk.keeps_bytes(one, tmp_path)] == []


def test_folders_are_made_for_good(tmp_path: Path, disk: Disk) -> None:
    make_folder(tmp_path / "a" / "b" / "c", mode=0o700)
    assert disk.keeps(tmp_path / "a" / "b" / "c", tmp_path)
    make_folder(tmp_path / "a" / "b" / "c")
    assert (tmp_path / "a" / "b" / "c").stat().st_mode & 0o777 == 0o700
