"""Anthropic's tests of its memory tool in a folder, with `MemholdMemoryTool` in its place."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent / "runner"))

import anyio
from anthropic.lib.tools import _beta_builtin_memory_tool as theirs
from running import run  # type: ignore[import-not-found]

from memhold import Memhold
from memhold.integrations.anthropic import AsyncMemholdMemoryTool, MemholdMemoryTool

ABOUT_FOLDERS = {
    r"symlink": "symbolic links, of which documents have none",
    r"world_writable|umask|mode": "file modes, of which documents have none",
}
STORES: dict[str, Memhold] = {}


class Folder:
    """A folder on the disk, whose files the tests write and read: they are put before a command, and written after."""

    def __init__(self, base: str) -> None:
        mem = STORES.setdefault(base, Memhold.open("memory://", worker=False))
        self.scope = mem.scope(user="alice")
        self.root = Path(base) / "memories"
        self.root.mkdir(parents=True, exist_ok=True)
        self._files: set[Path] = set()

    def bring(self) -> None:
        """Put the files that somebody wrote."""
        fresh = {one for one in self.root.rglob("*") if one.is_file() and not one.is_symlink()} - self._files
        for file in fresh:
            self.scope.documents.put(("memories", *file.relative_to(self.root).parts), file.read_bytes().decode())
        self._files |= fresh

    def take(self) -> None:
        """Write the files that were put."""
        held = {one.path[1:]: one.content for one in self.scope.documents.list(content=True).items}
        for file in self._files & {self.root.joinpath(*path) for path in held}:
            file.write_bytes(held[file.relative_to(self.root).parts].encode())


class Local(MemholdMemoryTool):
    """The tool as the tests make it."""

    def __init__(self, base_path: str) -> None:
        self.base_path, self.folder = base_path, Folder(base_path)
        self.memory_root = self.folder.root
        super().__init__(self.folder.scope)

    def _run(self, work: Any) -> str:
        self.folder.bring()
        done = super()._run(work)
        self.folder.take()
        return done


class AsyncLocal(AsyncMemholdMemoryTool):
    """The tool for async code as the tests make it."""

    def __init__(self, base_path: str) -> None:
        self.base_path, self.folder = base_path, Folder(base_path)
        self.memory_root = anyio.Path(self.folder.root)
        super().__init__(self.folder.scope)

    async def _ask(self, work: Any) -> str:
        self.folder.bring()
        done = await super()._ask(work)
        self.folder.take()
        return done


def snapshot(base: str) -> dict[str, str]:
    """What stands in the folder, as the tests compare it."""
    held = STORES[base].scope(user="alice").documents.list(content=True, limit=1000)
    return {"/".join(one.path): one.content for one in held.items}


def made_ready(module: Any) -> None:
    """Let a module of tests look at our documents."""
    module.get_directory_snapshot = snapshot


if __name__ == "__main__":
    theirs.BetaLocalFilesystemMemoryTool = Local
    theirs.BetaAsyncLocalFilesystemMemoryTool = AsyncLocal
    files = ["tests/lib/tools/memory_tools/test_filesystem.py"]
    passed = run(Path(sys.argv[1]), files, about_others=ABOUT_FOLDERS, made_ready=made_ready)
    sys.exit(0 if passed else 1)
