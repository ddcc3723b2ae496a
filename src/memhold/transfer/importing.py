"""The import itself: batches go from a file to a store that knows which messages it has had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Protocol

from memhold.messages.limits import Limits
from memhold.transfer.formats import detect, read_batches
from memhold.transfer.items import BATCH_MESSAGES, Batch, Restored
from memhold.transfer.source import OnError, Problem, Source

__all__ = ["Progress", "Report", "Target", "import_file"]


class Target(Protocol):
    """What an import needs of a store, in one scope.

    Keys are kept for ever, and separately from the idempotency keys of other verbs.
    """

    async def add(self, batch: Batch) -> int:
        """Append the messages whose key is new, in order, and keep their keys: one transaction.

        Returns how many were new. Since keys go with single messages, a file that has grown adds its new ones only,
        wherever the batches of the run before ended.
        """
        ...

    async def restore(self, restored: Restored) -> int:
        """Write a memory with its revisions and keep its key, unless the key is known: one transaction.

        Returns 1 when it was written, else 0.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an import is: bytes of the file read of `size`, and messages and memories dealt with."""

    position: int
    size: int
    done: int
    added: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an import did.

    `read` counts the messages and memories of the file, `added` those that were new; `skipped` counts what could not be
    read (the first hundred in `problems`), `ignored` what is well formed and was left out on purpose.
    """

    format: str
    read: int
    added: int
    skipped: int
    ignored: int
    sessions: int
    problems: tuple[Problem, ...]


async def import_file(
    target: Target,
    path: Path,
    *,
    now: datetime,
    format_name: str | None = None,
    zone: tzinfo = UTC,
    on_error: OnError = "stop",
    limits: Limits | None = None,
    batch: int = BATCH_MESSAGES,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Import a file, batch after batch, in bounded memory.

    A second import of the same file adds nothing, an interrupted one goes on where it was, and a file that has grown
    adds what is new: the keys of the messages see to it. `zone` is the zone of times that name none. The file is read
    on the calling thread, a batch at a time.

    Raises:
        UnreadableImport: the file cannot be read, from some place on; what stands before it was imported.
        InvalidSetting: there is no such format.
    """
    chosen = format_name or detect(path)
    source = Source(path=path, zone=zone, now=now, on_error=on_error, limits=limits or Limits())
    read = added = 0
    sessions: set[str] = set()
    for part in read_batches(source, chosen, most=batch):
        match part:
            case Batch():
                added += await target.add(part)
                read += len(part.messages)
                sessions.add(part.session)
            case Restored():
                added += await target.restore(part)
                read += 1
        if progress is not None:
            progress(Progress(position=part.position, size=source.size, done=read, added=added))
    return Report(
        format=chosen,
        read=read,
        added=added,
        skipped=source.skipped,
        ignored=source.ignored,
        sessions=len(sessions),
        problems=tuple(source.problems),
    )
