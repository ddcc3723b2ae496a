"""A scope's writes, and the verbs that move files in and out of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from memhold.ports.transaction import WriteTx
from memhold.verbs.scope_compact import ScopeCompact

if TYPE_CHECKING:
    from memhold.verbs.files import Exported, ExportFormat, Progress, Report

__all__ = ["ScopeFiles"]

T = TypeVar("T")


class ScopeFiles(ScopeCompact):
    """What a scope takes from files and writes to them."""

    async def _write(self, work: Callable[[WriteTx], T], *, memories: bool = True) -> T:
        self._runtime.guard()
        if self._runtime.after_answer.writes:
            await self._runtime.after_answer.written()
        return await self._runtime.store.write(self._scope, self._runtime.mirroring(work) if memories else work)

    async def import_file(
        self,
        path: str | Path,
        *,
        format: str | None = None,
        zone: tzinfo = UTC,
        session_prefix: str = "",
        on_error: Literal["stop", "skip"] = "stop",
        batch: int = 128,
        progress: Callable[[Progress], None] | None = None,
    ) -> Report:
        """Bring a file of messages into this scope, in bounded memory; `format` is found out where it is not named.

        Every message has a key that is kept for ever: a second import adds nothing, an interrupted one resumes where it
        was, and what was forgotten stays so. `zone` is the zone of times that name none, `batch` the most messages of
        one transaction. Writes of others go first.

        Raises:
            UnreadableImport: the file cannot be read from some line on; what stands before it was imported. With
                `on_error="skip"` such entries are counted and left out.
            InvalidSetting: there is no such format.
        """
        from memhold.verbs.files import import_from

        try:
            return await import_from(
                self._runtime,
                self._scope,
                path,
                format_name=format,
                zone=zone,
                session_prefix=session_prefix,
                on_error=on_error,
                batch=batch,
                progress=progress,
            )
        finally:
            await self._write(lambda _: None)

    async def export(self, path: str | Path, *, format: ExportFormat = "jsonl") -> Exported:
        """Write what this scope holds at one moment, beside readers and writers.

        "jsonl" is one file with journal, memories with all revisions, and changes, which `import_file` reads back;
        "markdown" is a folder with `MEMORY.md` and `HISTORY.md` for people. Files have mode 0600 and appear whole.

        Raises:
            InvalidInput: the store itself stands there.
            StoreFull, StoreReadOnly: it cannot be written; what stood there is as it was.
        """
        from memhold.verbs.files import export_to

        return await export_to(self._runtime, self._scope, path, format_name=format)
