"""Files of the harness's `Memory` as documents: `Memory(store=MemholdMemoryStore(mem.scope(user="alice")))`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from memhold.faces.python.sync import SyncScope
from memhold.integrations.framework import lacking
from memhold.integrations.reach import Reach
from memhold.values.documents import Document
from memhold.values.errors import InvalidInput, NotFound, RevisionConflict
from memhold.verbs.scope import AsyncScope

if TYPE_CHECKING:
    from memhold.verbs.documents import AsyncDocuments

try:
    from pydantic_ai_harness.memory import (
        MemoryConflictError,
        MemoryFile,
        MemoryMutation,
        MemoryOperation,
        MemoryOperationConflictError,
        MemorySearchMatch,
        MemorySearchResult,
    )
except ImportError as error:
    raise lacking("memhold.integrations.pydantic_ai_harness", "pydantic-ai-harness", "0.62", error) from error

__all__ = ["MemholdMemoryStore"]

_RECEIPTS = "$operations"
"""Where receipts stand: no path of the harness begins with such a name."""
RECEIPT_DAYS = 30
"""As long as idempotency keys are kept elsewhere."""
_PAGE = 1_000
_MORE = "..."
_MOST_FOUND = 100


class MemholdMemoryStore:
    """A `MemoryStore` with metadata and search, in one scope: a path `a/b` is the document ("a", "b").

    A write or delete is durable when it returns; of writers that expect one version, one writes and the others get
    `MemoryConflictError`. A version is a document's revision. A deleted file is hidden and can be brought back
    (`undo`); `documents.delete(path, hard=True)` erases it. Whatever the store cannot do raises: the agent's tool says
    so, and the snapshot at the start of a run is left out (`injection_errors`).
    """

    def __init__(self, scope: SyncScope | AsyncScope) -> None:
        self._reach = Reach(scope)

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """The file, cut to so many characters; None where there is none."""
        if max_chars <= 0:
            raise InvalidInput("max_chars must be positive")
        found = await self._reach.ask(lambda scope: _standing(scope.documents, _names(path)))
        if found is None:
            return None
        content = _text(found)
        return MemoryFile(
            content=content[:max_chars],
            version=str(found.rev),
            operation_id=found.metadata.get("operation"),
            truncated=len(content) > max_chars,
            metadata=found.metadata.get("written"),
        )

    async def write(
        self, path: str, content: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Create the file (no version expected) or replace it at that version, without metadata."""
        return await self.write_with_metadata(
            path, content, expected_version=expected_version, metadata=None, operation=operation
        )

    async def write_with_metadata(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        metadata: Mapping[str, str] | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Create the file (no version expected) or replace it at that version, with what the write says of itself."""
        names, rev = _names(path), _revision(path, expected_version)
        told: dict[str, Any] = {"written": dict(metadata)} if metadata else {}
        if operation is not None:
            told |= {"operation": operation.id, "fingerprint": operation.fingerprint, "existed": rev > 0}

        async def written(scope: AsyncScope) -> MemoryMutation:
            if operation is not None and (before := await _done(scope.documents, operation, names)) is not None:
                return before
            try:
                put = await scope.documents.put(names, content, if_rev=rev, metadata=told)
            except RevisionConflict as error:
                raise _changed(path) from error
            version = None if put.document is None else str(put.document.rev)
            return await _kept(
                scope.documents, operation, MemoryMutation(version=version, replayed=False, existed=rev > 0)
            )

        return await self._reach.ask(written)

    async def delete(
        self, path: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Hide the file at that version; where none is expected and none stands, nothing is done."""
        names, rev = _names(path), _revision(path, expected_version)

        async def deleted(scope: AsyncScope) -> MemoryMutation:
            if operation is not None and (before := await _done(scope.documents, operation, names)) is not None:
                return before
            try:
                if rev:
                    await scope.documents.delete(names, if_rev=rev)
                elif await _standing(scope.documents, names) is not None:
                    raise _changed(path)
            except (NotFound, RevisionConflict) as error:
                raise _changed(path) from error
            return await _kept(
                scope.documents, operation, MemoryMutation(version=None, replayed=False, existed=rev > 0)
            )

        return await self._reach.ask(deleted)

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """What the operation did when it was done before, in the last 30 days; None where it was not.

        Raises:
            MemoryOperationConflictError: it was another operation of that id.
        """
        return await self._reach.ask(lambda scope: _done(scope.documents, operation, None))

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """The paths that begin so, sorted."""
        if limit <= 0:
            raise InvalidInput("limit must be positive")
        folder = _names(prefix.rpartition("/")[0]) if "/" in prefix else ()

        async def listed(scope: AsyncScope) -> list[str]:
            paths: list[str] = []
            cursor: str | None = None
            while True:
                page = await scope.documents.list(folder, limit=_PAGE, cursor=cursor)
                paths += ["/".join(one.path) for one in page.items if one.path[0] != _RECEIPTS]
                if (cursor := page.cursor) is None:
                    return paths

        return sorted(path for path in await self._reach.ask(listed) if path.startswith(prefix))[:limit]

    async def search(
        self, prefix: str, query: str, *, limit: int, max_files: int, max_chars: int, max_file_chars: int
    ) -> MemorySearchResult:
        """The files directly below a prefix by words and meaning, the best first, within so many characters."""
        if not query.split() or min(limit, max_files, max_chars, max_file_chars) <= 0:
            return MemorySearchResult(matches=[], scanned=0, truncated=False)
        folder = _names(prefix.removesuffix("/")) if prefix else ()
        found = await self._reach.ask(lambda scope: scope.documents.search(query, prefix=folder, limit=_MOST_FOUND))
        all_files = [hit for hit in found.hits if len(hit.document.path) == len(folder) + 1]
        files = all_files[:max_files]
        matches: list[MemorySearchMatch] = []
        room, cut = max_chars, len(all_files) > max_files or len(found.hits) == _MOST_FOUND
        for hit in files[:limit]:
            path = "/".join(hit.document.path)
            room -= len(path) - len(prefix)
            if room <= 0:
                break
            text = _text(hit.document)
            cut |= len(text) > max_file_chars
            snippet = _around(text[:max_file_chars], query, room)
            room -= len(snippet)
            matches.append(MemorySearchMatch(path=path, snippet=snippet, score=hit.score))
        return MemorySearchResult(matches=matches, scanned=len(files), truncated=cut or len(matches) < len(files))


def _names(path: str) -> tuple[str, ...]:
    return tuple(path.split("/"))


def _revision(path: str, version: str | None) -> int:
    """The revision that must stand there, 0 for none."""
    if version is None:
        return 0
    if not version.isdecimal():
        raise _changed(path)
    return int(version)


def _changed(path: str) -> MemoryConflictError:
    return MemoryConflictError(f"memory path {path!r} changed before it could be written; read it again")


def _text(document: Document) -> str:
    content = document.content
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


async def _standing(documents: AsyncDocuments, names: Sequence[str]) -> Document | None:
    try:
        return await documents.read(names)
    except NotFound:
        return None


async def _done(
    documents: AsyncDocuments, operation: MemoryOperation, names: Sequence[str] | None
) -> MemoryMutation | None:
    """What an operation did: its receipt says, or the file that it wrote, where the process ended in between.

    Which file that is only the operation itself knows; without its `names` all are looked through.
    """
    receipt = await _standing(documents, (_RECEIPTS, operation.id))
    if receipt is not None:
        told, version = receipt.content, receipt.content["version"]
    else:
        found = await _written_by(documents, operation, names)
        if found is None:
            return None
        told, version = found.metadata, str(found.rev)
    if told["fingerprint"] != operation.fingerprint:
        raise MemoryOperationConflictError(f"operation id {operation.id!r} was reused with different arguments")
    return MemoryMutation(version=version, replayed=True, existed=told["existed"])


async def _written_by(
    documents: AsyncDocuments, operation: MemoryOperation, names: Sequence[str] | None
) -> Document | None:
    if names is None:
        page = await documents.list(metadata={"operation": operation.id}, limit=1)
        return page.items[0] if page.items else None
    held = await _standing(documents, names)
    return held if held is not None and held.metadata.get("operation") == operation.id else None


async def _kept(
    documents: AsyncDocuments, operation: MemoryOperation | None, mutation: MemoryMutation
) -> MemoryMutation:
    if operation is not None:
        receipt = {"fingerprint": operation.fingerprint, "version": mutation.version, "existed": mutation.existed}
        until = datetime.now(UTC) + timedelta(days=RECEIPT_DAYS)
        await documents.put((_RECEIPTS, operation.id), receipt, expires_at=until, index=False)
    return mutation


def _around(content: str, query: str, room: int) -> str:
    """So many characters around the first word of the query that stands there; dots where more stands before them."""
    lower = content.lower()
    places = [at for word in query.lower().split() if (at := lower.find(word)) >= 0]
    start = max(0, min(min(places, default=0) - room // 3, len(content) - room))
    more = _MORE if start and room > len(_MORE) else ""
    return more + content[start + len(more) : start + room]
