"""Anthropic's memory tool (`memory_20250818`): its files are documents by name."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

from memhold.documents.given_names import name_of, text_of
from memhold.documents.paths import checked_path
from memhold.faces.python.sync import SyncScope
from memhold.integrations.framework import lacking
from memhold.integrations.reach import Reach
from memhold.integrations.turns import json_text
from memhold.values.bounds import MAX_PAGE
from memhold.values.documents import Document
from memhold.values.errors import Conflict, MemholdError, NotFound, RevisionConflict
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.scope import AsyncScope

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types.beta import (
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
except ImportError as missing:
    raise lacking(__name__, "anthropic", "0.80", missing) from missing

__all__ = ["AsyncMemholdMemoryTool", "MemholdMemoryTool"]

Path = tuple[str, ...]

_FOLDER = "/memories"
_MAX_LINES = 999_999
_DEPTH = 2
"""How many levels a view of a folder shows."""
_TRIES = 20
"""How often a change is made again on what another writer put meanwhile."""


class _Files:
    """The commands of the tool on the documents below a root; a folder is there while something stands below it."""

    def __init__(self, scope: SyncScope | AsyncScope, *, root: Sequence[str], erase: bool) -> None:
        self.reach = Reach(scope)
        self._root = checked_path(root, "root", least=1)
        self._erase = erase

    async def view(self, docs: AsyncDocuments, command: BetaMemoryTool20250818ViewCommand) -> str:
        path = self._path(command.path)
        held = await self._read(docs, path)
        if held is not None:
            return _numbered(command.path, json_text(held.content), command.view_range)
        below = await self._below(docs, path)
        if not below and path != self._root:
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        return _folder(command.path, [(one.path[len(path) :], one.size) for one in below])

    async def create(self, docs: AsyncDocuments, command: BetaMemoryTool20250818CreateCommand) -> str:
        path = self._path(command.path)
        exists = ToolError(f"File {command.path} already exists")
        if await self._below(docs, path, limit=1):
            raise exists
        try:
            await docs.put(path, command.file_text, if_rev=0)
        except RevisionConflict:
            raise exists from None
        return f"File created successfully at: {command.path}"

    async def str_replace(self, docs: AsyncDocuments, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        old, new = command.old_str, command.new_str

        def replaced(content: str) -> tuple[str, str]:
            places = _places(content, old)
            if not places:
                raise ToolError(
                    f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}."
                )
            if content.count(old) > 1:
                lines = ", ".join(str(content[:place].count("\n") + 1) for place in places)
                raise ToolError(
                    f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
                    "Please ensure it is unique"
                )
            changed = content.replace(old, new)
            at = content[: places[0]].count("\n")
            lines_now = changed.split("\n")
            shown = "\n".join(
                f"{number:>6}\t{lines_now[number - 1]}"
                for number in range(max(0, at - 2) + 1, min(len(lines_now), at + 3) + 1)
            )
            told = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
            return changed, f"{told}\n{shown}"

        return await self._changed(docs, command.path, replaced)

    async def insert(self, docs: AsyncDocuments, command: BetaMemoryTool20250818InsertCommand) -> str:
        def inserted(content: str) -> tuple[str, str]:
            lines = content.split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {command.insert_line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            return "\n".join(lines).removesuffix("\n") + "\n", f"The file {command.path} has been edited."

        return await self._changed(docs, command.path, inserted)

    async def delete(self, docs: AsyncDocuments, command: BetaMemoryTool20250818DeleteCommand) -> str:
        path = self._path(command.path)
        if path == self._root:
            raise ToolError(f"Cannot delete the {_FOLDER} directory itself")
        try:
            await docs.delete(path, below=True, hard=self._erase)
        except NotFound:
            raise ToolError(f"The path {command.path} does not exist") from None
        return f"Successfully deleted {command.path}"

    async def rename(self, docs: AsyncDocuments, command: BetaMemoryTool20250818RenameCommand) -> str:
        old, new = self._path(command.old_path), self._path(command.new_path)
        if old == self._root:
            raise ToolError(f"Cannot rename the {_FOLDER} directory itself")
        exists = ToolError(f"The destination {command.new_path} already exists")
        if new == self._root or await self._below(docs, new, limit=1) or await self._read(docs, new) is not None:
            raise exists
        try:
            await docs.move(old, new, below=True)
        except NotFound:
            raise ToolError(f"The path {command.old_path} does not exist") from None
        except Conflict:
            raise exists from None
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    async def clear(self, docs: AsyncDocuments) -> str:
        with suppress(NotFound):
            await docs.delete(self._root, below=True, hard=self._erase)
        return "All memory cleared"

    async def _changed(self, docs: AsyncDocuments, path: str, change: Callable[[str], tuple[str, str]]) -> str:
        """Change what stands at a path, and nothing that another writer put there meanwhile."""
        at = self._path(path)
        for _ in range(_TRIES):
            held = await self._read(docs, at)
            if held is None:
                if await self._below(docs, at, limit=1) or at == self._root:
                    raise ToolError(f"The path {path} is not a file.")
                raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
            if not isinstance(held.content, str):
                raise ToolError(f"The file {path} holds JSON that a program put there; it can be viewed, not edited.")
            content, told = change(held.content)
            try:
                await docs.put(
                    at, content, if_rev=held.rev, metadata=held.metadata, expires_at=held.expires_at, index=held.index
                )
            except RevisionConflict:
                continue
            return told
        raise ToolError(f"The file {path} is being changed by others; try again.")

    def _path(self, path: str) -> Path:
        if not path.startswith(_FOLDER):
            raise ToolError(f"Path must start with {_FOLDER}, got: {path}")
        if any(unicodedata.category(one) in {"Cc", "Cs"} for one in path):  # a line end would forge lines of a view
            raise ToolError(f"Path {path!r:.200} holds a character that no name of a file can have")
        within = posixpath.normpath("/" + path[len(_FOLDER) :].lstrip("/"))
        plain = posixpath.normpath(_FOLDER + "/" + path[len(_FOLDER) :].lstrip("/"))
        if plain != _FOLDER and not plain.startswith(_FOLDER + "/"):
            raise ToolError(f"Path {path} would escape {_FOLDER} directory")
        return (*self._root, *(name_of(name) for name in within.split("/") if name))

    async def _read(self, docs: AsyncDocuments, path: Path) -> Document | None:
        try:
            return await docs.read(path)
        except NotFound:
            return None

    async def _below(self, docs: AsyncDocuments, path: Path, *, limit: int | None = None) -> list[Document]:
        """What stands below a path, and not at it."""
        found: list[Document] = []
        cursor: str | None = None
        while True:
            page = await docs.list(path, limit=MAX_PAGE if limit is None else limit + 1, cursor=cursor)
            found += [one for one in page.items if len(one.path) > len(path)]
            cursor = page.cursor
            if cursor is None or (limit is not None and len(found) >= limit):
                return found


class MemholdMemoryTool(BetaAbstractMemoryTool):
    """The memory tool for `client.beta.messages.tool_runner`, over one scope: its files are documents below `root`.

    What a command says that it did is durable. A file keeps what it was before (`documents.read(at_rev=)`, `undo`), and
    of two that change one file at once each changes what the other left. `delete` hides, or with `erase=True` erases.
    """

    def __init__(
        self, scope: SyncScope | AsyncScope, *, root: Sequence[str] = ("memories",), erase: bool = False, **options: Any
    ) -> None:
        super().__init__(**options)
        self._files = _Files(scope, root=root, erase=erase)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """What stands in a file, with line numbers, or below a folder."""
        return self._run(lambda docs: self._files.view(docs, command))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file that is not there."""
        return self._run(lambda docs: self._files.create(docs, command))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that stands in a file once."""
        return self._run(lambda docs: self._files.str_replace(docs, command))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put a text behind a line of a file."""
        return self._run(lambda docs: self._files.insert(docs, command))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file, or a folder with all below it."""
        return self._run(lambda docs: self._files.delete(docs, command))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename a file, or a folder with all below it, at once."""
        return self._run(lambda docs: self._files.rename(docs, command))

    def clear_all_memory(self) -> str:
        """Delete every file."""
        return self._run(self._files.clear)

    def _run(self, work: Callable[[AsyncDocuments], Coroutine[Any, Any, str]]) -> str:
        try:
            return self._files.reach.run(lambda scope: work(scope.documents))
        except MemholdError as error:
            raise _told(error) from error


class AsyncMemholdMemoryTool(BetaAsyncAbstractMemoryTool):
    """`MemholdMemoryTool` for `AsyncAnthropic`."""

    def __init__(
        self, scope: SyncScope | AsyncScope, *, root: Sequence[str] = ("memories",), erase: bool = False, **options: Any
    ) -> None:
        super().__init__(**options)
        self._files = _Files(scope, root=root, erase=erase)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """What stands in a file, with line numbers, or below a folder."""
        return await self._ask(lambda docs: self._files.view(docs, command))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file that is not there."""
        return await self._ask(lambda docs: self._files.create(docs, command))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that stands in a file once."""
        return await self._ask(lambda docs: self._files.str_replace(docs, command))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put a text behind a line of a file."""
        return await self._ask(lambda docs: self._files.insert(docs, command))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file, or a folder with all below it."""
        return await self._ask(lambda docs: self._files.delete(docs, command))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename a file, or a folder with all below it, at once."""
        return await self._ask(lambda docs: self._files.rename(docs, command))

    async def clear_all_memory(self) -> str:
        """Delete every file."""
        return await self._ask(self._files.clear)

    async def _ask(self, work: Callable[[AsyncDocuments], Coroutine[Any, Any, str]]) -> str:
        try:
            return await self._files.reach.ask(lambda scope: work(scope.documents))
        except MemholdError as error:
            raise _told(error) from error


def _told(error: MemholdError) -> ToolError:
    """What Memhold refuses or cannot do, said to the model in a sentence: its turn goes on."""
    return ToolError(f"memory could not do this: {error}")


def _places(content: str, wanted: str) -> list[int]:
    found: list[int] = []
    place = content.find(wanted)
    while place >= 0:
        found.append(place)
        place = content.find(wanted, place + 1)
    return found


def _numbered(path: str, content: str, view_range: Sequence[int] | None) -> str:
    lines = content.split("\n")
    if len(lines) > _MAX_LINES:
        raise ToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first = 1
    if view_range and len(view_range) == 2:
        first = max(1, view_range[0])
        lines = lines[first - 1 : len(lines) if view_range[1] == -1 else view_range[1]]
    shown = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, start=first))
    return f"Here's the content of {path} with line numbers:\n{shown}"


def _folder(path: str, held: Sequence[tuple[Path, int]]) -> str:
    """What stands in a folder, two levels deep, each with its size; a folder's is that of all below it."""
    sizes: dict[str, int] = {}
    for names, size in held:
        told = [text_of(name) for name in names]
        if any(name.startswith(".") for name in told[:_DEPTH]):
            continue
        for depth in range(1, min(len(told), _DEPTH) + 1):
            shown = "/".join(told[:depth]) + ("/" if depth < len(told) else "")
            sizes[shown] = sizes.get(shown, 0) + size
    lines = [f"{_size(sum(size for _, size in held))}\t{path}"]
    lines += [
        f"{_size(size)}\t{path}/{name}" for name, size in sorted(sizes.items(), key=lambda one: one[0].split("/"))
    ]
    header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    return "\n".join([header, *lines])


def _size(count: int) -> str:
    if count == 0:
        return "0B"
    power = min((count.bit_length() - 1) // 10, 3)
    size = count / 1024**power
    return f"{int(size)}{'BKMG'[power]}" if size == int(size) else f"{size:.1f}{'BKMG'[power]}"
