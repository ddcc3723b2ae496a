"""A power cut while files beside the store are written (exports, backups, mirror, ledger): what was acknowledged is whole.

Of names only those outlive it for sure that were there when their folder was synced last, of contents what was synced;
the rest is there or not, in any combination. SQLite's own files are `test_power_cut.py`'s.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest

from memhold import AsyncMemhold
from memhold.errors import MemholdError
from memhold.storage.sqlite.backup import verify
from tests.proofs.conftest import NOTES

MARK = "zebra4711"
LAST_POINT = 60
"""A run without a cut syncs and renames about this often."""
SETTINGS: dict[str, Any] = {"worker": False, "embedding": "none", "consolidation": None}


class PowerOff(OSError):
    """What every operation meets from the cut on."""


class Disk:
    """The folder of a store on a disk whose power is cut at an operation; what is left is then copied elsewhere."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path, left: Path) -> None:
        self.folder, self.left = folder, left
        self.operations, self.at, self.random = 0, -1, Random(0)
        self.dead = False
        self._held: list[int] = []
        self._names: dict[int, set[tuple[str, int]]] = {}
        self._contents: dict[int, bytes] = {}
        for name in ("fsync", "rename", "replace", "unlink"):
            patch.setattr(os, name, self._counted(name, getattr(os, name)))
        self.sync(folder)

    def close(self) -> None:
        """Let go of every file."""
        for handle in self._held:
            os.close(handle)

    def cut_at(self, at: int, random: Random) -> None:
        """Cut the power at the nth operation from now on."""
        self.at, self.random = self.operations + at, random

    def sync(self, folder: Path) -> None:
        """Take everything in the folder for synced."""
        for path in (folder, *folder.rglob("*")):
            self._kept(path.stat().st_ino, path)

    def _kept(self, inode: int, path: Path) -> None:
        if inode not in self._names and inode not in self._contents:
            self._held.append(os.open(path, os.O_RDONLY))  # so that its number stands for nothing else later
        if path.is_dir():
            self._names[inode] = {(one.name, one.inode()) for one in os.scandir(path)}
        else:
            self._contents[inode] = path.read_bytes()

    def _counted(self, name: str, really: Callable[..., Any]) -> Callable[..., Any]:
        def operation(*args: Any, **named: Any) -> Any:
            if self.dead:
                raise PowerOff("the power is off")
            if self.operations == self.at:
                self._cut()
                raise PowerOff("the power is off")
            self.operations += 1
            done = really(*args, **named)
            if name == "fsync":
                found = os.fstat(args[0])
                self._kept(found.st_ino, Path(f"/proc/self/fd/{args[0]}").readlink())
            return done

        return operation

    def _cut(self) -> None:
        self.dead = True
        self._leave(self.folder, self.left)

    def _leave(self, folder: Path, left: Path) -> None:
        left.mkdir(mode=0o700)
        now = {(one.name, one.inode()) for one in os.scandir(folder)}
        before = self._names.get(folder.stat().st_ino, set())
        names: dict[str, int] = dict(before & now)
        for name in sorted({name for name, _ in before ^ now}):
            there = [dict(before).get(name), dict(now).get(name)]
            chosen = there[1] if _is_sqlites(name) else self.random.choice(there)
            if chosen is not None:
                names[name] = chosen
        for name, inode in names.items():
            path = folder / name
            if path.is_dir() and path.stat().st_ino == inode:
                self._leave(path, left / name)
            elif inode in self._names:
                (left / name).mkdir(mode=0o700)  # a folder that was removed, which nothing has made sure of
            else:
                self._leave_file(path, inode, left / name)

    def _leave_file(self, path: Path, inode: int, left: Path) -> None:
        held = self._contents.get(inode, b"")
        if path.exists() and path.stat().st_ino == inode:
            written = path.read_bytes()
            if _is_sqlites(path.name):
                held = written
            elif written != held:
                held = self.random.choice((held, written, written[: self.random.randrange(len(written) + 1)]))
        left.write_bytes(held)
        left.chmod(0o600)


def _is_sqlites(name: str) -> bool:
    return name.startswith("memory.db") and not name.endswith((".forgotten", ".unfinished"))


def read(path: Path) -> bytes:
    return path.read_bytes()


async def work(mem: AsyncMemhold, folder: Path, done: dict[str, bytes]) -> None:
    """Everything that writes files, each noted with what it left once it is acknowledged."""
    scope = mem.scope(user="alice", session="s")
    [secret] = [memory for memory in (await scope.list()).items if MARK in memory.text]
    steps: dict[str, Callable[[], Awaitable[Any]]] = {
        "old.jsonl": lambda: scope.export(folder / "old.jsonl"),
        "forgotten": lambda: scope.forget(secret.id),
        "settled": lambda: mem.settle(timeout=60),
        "new.jsonl": lambda: scope.export(folder / "new.jsonl"),
        "pages": lambda: scope.export(folder / "pages", format="markdown"),
        "backup": lambda: mem.admin.backup(folder / "backups" / "two"),
        "more": lambda: scope.remember("Likes tea"),
        "mirrored": lambda: mem.settle(timeout=60),
    }
    for name, step in steps.items():
        await step()
        done[name] = b""
        if name.endswith("jsonl"):
            done[name] = read(folder / name)


def whole_export(path: Path) -> bool:
    lines = path.read_text(encoding="utf-8").splitlines()
    return (
        len(lines) > 2 and path.read_bytes().endswith(b"\n") and all(isinstance(json.loads(one), dict) for one in lines)
    )


def files_wrong(left: Path, done: dict[str, bytes], before: bytes) -> list[str]:
    """What is wrong with the files that a cut left."""
    wrong = []
    old = (left / "old.jsonl").read_bytes()
    if old not in {done.get("old.jsonl", old), before} or ("old.jsonl" in done and old != done["old.jsonl"]):
        wrong.append("an export over another is neither")
    new = left / "new.jsonl"
    if ("new.jsonl" in done and not new.exists()) or (new.exists() and not whole_export(new)):
        wrong.append("an export is not whole")
    backup = left / "backups" / "two"
    if "backup" in done or backup.exists():
        verify(backup)
    if "pages" in done and not [*(left / "pages").rglob("*.md")]:
        wrong.append("an export of pages is gone")
    with closing(apsw.Connection(str(left / "memory.db"))) as connection:
        # The process that held them is gone, here as there.
        connection.execute("UPDATE due SET holder = NULL, leased_until = NULL")
    return wrong


async def check(left: Path, done: dict[str, bytes], before: bytes) -> list[str]:
    """What is wrong with what a cut left."""
    wrong = files_wrong(left, done, before)
    async with AsyncMemhold.open(str(left / "memory.db"), mirror=str(left / "mirror"), **SETTINGS) as mem:
        assert await mem.settle(timeout=60)
        wrong += [f"{one.check}: {one.what}" for one in await mem.admin.doctor() if one.severity == "wrong"]
        if "forgotten" in done:
            wrong += [f"{MARK} stands in {name}" for name in (await mem.scope(user="alice").residue(MARK)).found]
    if "forgotten" in done:
        await AsyncMemhold.restore(left / "backups" / "one", str(left / "memory.db"), force=True)
        async with AsyncMemhold.open(str(left / "memory.db"), **SETTINGS) as mem:
            if MARK in str((await mem.scope(user="alice").list(states=None)).items):
                wrong.append("a backup of before brings back what was forgotten")
    return wrong


async def plant(folder: Path) -> Path:
    """A store with a mirror, an export and a backup, at rest."""
    async with AsyncMemhold.open(str(folder / "memory.db"), mirror=str(folder / "mirror"), **SETTINGS) as mem:
        scope = mem.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": f"number {turn} about gardening"} for turn in range(20)])
        await scope.remember(f"The {MARK} is in the shed")
        await mem.settle(timeout=60)
        await scope.export(folder / "old.jsonl")
        await mem.admin.backup(folder / "backups" / "one")
    return folder


async def cut_once(planted: Path, folder: Path, random: Random) -> tuple[str, list[str]]:
    """One run with one cut: what was acknowledged last before it, and what is wrong with what it left."""
    left = folder.with_name(f"{folder.name}-left")
    shutil.copytree(planted, folder)
    done: dict[str, bytes] = {}
    with pytest.MonkeyPatch.context() as patch:
        disk = Disk(patch, folder, left)
        try:
            async with AsyncMemhold.open(str(folder / "memory.db"), mirror=str(folder / "mirror"), **SETTINGS) as mem:
                disk.cut_at(random.randrange(LAST_POINT), random)
                await work(mem, folder, done)
        except Exception:
            if not disk.dead:
                raise
    disk.close()
    last = [*done][-1] if done else "nothing"
    wrong = await check(left, done, read(planted / "old.jsonl")) if disk.dead else []
    shutil.rmtree(folder)
    shutil.rmtree(left, ignore_errors=True)
    return (f"cut after {last}" if disk.dead else "not cut"), wrong


@pytest.mark.proof
async def test_files_survive_a_power_cut(
    request: pytest.FixtureRequest, tmp_path: Path, runs: Callable[[int, int], range]
) -> None:
    planted = await plant(tmp_path / "planted")
    counted: dict[str, int] = {}
    wrong: list[str] = []
    for seed in runs(6, 1000):
        when, found = await cut_once(planted, tmp_path / f"{seed}", Random(f"files {seed}"))
        counted[when] = counted.get(when, 0) + 1
        wrong += [f"{seed}, {when}: {one}" for one in found]
    NOTES[request.node.name] = counted
    assert wrong == []


async def test_the_same_proof_fails_where_no_folder_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can fail: what was acknowledged and renamed into place is gone."""
    planted = await plant(tmp_path / "planted")
    monkeypatch.delattr(os, "O_DIRECTORY")
    wrong: list[str] = []
    for seed in range(8):
        try:
            wrong += (await cut_once(planted, tmp_path / f"{seed}", Random(f"files {seed}")))[1]
        except (MemholdError, OSError) as error:
            wrong.append(str(error))
    assert wrong
