"""The import itself: batches go from a file to a store that knows which messages it has had."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Protocol

from memhold.messages.limits import Limits
from memhold.transfer.apart import Bounds, apart
from memhold.transfer.folders import files_of
from memhold.transfer.formats import detect, format_of, read_batches
from memhold.transfer.items import BATCH_MESSAGES, Batch, Beside, Part, Placed, Restored
from memhold.transfer.source import KEPT_PROBLEMS, OnError, Problem, Source
from memhold.values.errors import UnreadableImport

__all__ = ["Progress", "Reading", "Report", "Target", "import_file"]


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

    async def place(self, placed: Placed) -> int:
        """Put a document at its path and keep its key, unless the key is known: one transaction.

        Returns 1 when it was put, else 0.
        """
        ...

    async def keep(self, beside: Beside) -> None:
        """Keep what stood beside a session, unless its key is known or something stands there: one transaction."""
        ...

    async def known(self, part: Part) -> int:
        """How many messages, memories and documents of a part came before: there, hidden or forgotten."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an import is: bytes read of `size`, which is all files', and messages and memories dealt with."""

    position: int
    size: int
    done: int
    added: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an import did.

    `format` names the formats of all files, where it was a folder. `read` counts the messages, memories and documents
    (`memories` of them are memories, `documents` documents), `added` those that were new, `replaced` the memories that
    stand in the file several times, with one id and different words: the last holds, the others are its past.
    `skipped` counts what could not be read (the first hundred in `problems`), `left_out`, by what it is, what is well
    formed and has no place here. After a `dry_run` nothing was written, and `added` is 0; `known` counts what came
    before, as it is there, or is hidden, or was forgotten: an import would pass it over.
    """

    format: str
    read: int
    added: int
    skipped: int
    left_out: Mapping[str, int]
    sessions: int
    memories: int
    problems: tuple[Problem, ...]
    dry_run: bool = False
    documents: int = 0
    replaced: int = 0
    known: int = 0


@dataclass(slots=True)
class _Tally:
    """What was read so far."""

    read: int = 0
    added: int = 0
    memories: int = 0
    documents: int = 0
    replaced: int = 0
    known: int = 0
    skipped: int = 0
    sessions: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    formats: dict[str, None] = field(default_factory=dict)
    _latest: dict[int, int] = field(default_factory=dict)

    def count(self, part: Part) -> None:
        """Count what is in a part."""
        match part:
            case Batch():
                self.read += len(part.messages)
                self.sessions.add(part.session)
            case Restored():
                self.read, self.memories = self.read + 1, self.memories + 1
                self._see(part.entry, part.key)
            case Placed():
                self.read, self.documents = self.read + 1, self.documents + 1

    def _see(self, entry: str | None, key: str) -> None:
        """Count an entry that stood in the file before, with other words. Of each 16 digits are kept."""
        if entry is None:
            return
        name, says = int(entry[:16], 16), int(key[:16], 16)
        self.replaced += self._latest.setdefault(name, says) != says
        self._latest[name] = says

    def take_over(self, source: Source, name: str) -> None:
        """Count what could not be read of a file and what was left out; of a folder a problem says in which file."""
        self.skipped += source.skipped
        self.left_out.update(source.left_out)
        for one in source.problems:
            self.name(replace(one, why=f"{name}: {one.why}") if name else one)

    def name(self, problem: Problem) -> None:
        """Keep a problem, while few are kept."""
        if len(self.problems) < KEPT_PROBLEMS:
            self.problems.append(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a file is read: its format (None: found out), the zone of times that name none, and what an error does.

    A `batch` is so many messages. A `dry_run` reads all of it and writes nothing. `live` lines count as said by their
    roles, and `session_prefix` stands before the names of the sessions.
    """

    format: str | None = None
    zone: tzinfo = UTC
    session_prefix: str = ""
    on_error: OnError = "stop"
    live: bool = False
    batch: int = BATCH_MESSAGES
    dry_run: bool = False
    progress: Callable[[Progress], None] | None = None


async def import_file(
    target: Target,
    path: Path,
    reading: Reading,
    *,
    now: datetime,
    limits: Limits | None = None,
    bounds: Bounds | None = None,
    charge: Callable[[float], None] = lambda _: None,
) -> Report:
    """Import a file, or each file of a folder, batch after batch, in bounded memory.

    A second import of the same file adds nothing, an interrupted one goes on where it was, and a file that has grown
    adds what is new: the keys of the messages see to it. The file is read a batch at a time, on a thread; with
    `bounds` in a process of its own, whose processor time `charge` gets. Of a folder, files in no known format are
    counted as left out.

    Raises:
        UnreadableImport: a file cannot be read, from some place on; what stands before it was imported.
        InvalidSetting: there is no such format.
    """
    tally = _Tally()
    files = _files(path)
    taking = _Taking(target, tally, reading, size=sum(file.size for file in files))
    for file in files:
        source = Source(
            path=file.path, zone=reading.zone, now=now, on_error=reading.on_error, limits=limits or Limits()
        )
        most, named = reading.batch, reading.format
        if bounds is not None:
            async with apart(source, named, most=most, bounds=bounds, charge=charge) as (chosen, parts):
                await taking.take(source, file, chosen, parts)
        elif (known := named or await asyncio.to_thread(_format_of, file, tally)) is not None:
            await taking.take(source, file, known, _on_threads(read_batches(source, known, most=most)))
    if not tally.formats:
        raise UnreadableImport(f"{path}: no file in it can be imported", path=str(path), line=None)
    return _report(tally, dry_run=reading.dry_run)


async def _on_threads(parts: Iterator[Part]) -> AsyncIterator[Part]:
    """The parts, each read on a thread, so that the event loop does other things meanwhile."""
    while (part := await asyncio.to_thread(next, parts, None)) is not None:
        yield part


class _Taking:
    """Takes the parts of one file after the other into the target, and counts them."""

    def __init__(self, target: Target, tally: _Tally, reading: Reading, *, size: int) -> None:
        self._target = target
        self._tally = tally
        self._dry_run = reading.dry_run
        self._progress = reading.progress
        self._size = size
        self._before = 0

    async def take(self, source: Source, file: _File, chosen: str, parts: AsyncIterator[Part]) -> None:
        """Take what is in one file."""
        tally = self._tally
        tally.formats[chosen] = None
        async for part in parts:
            if self._dry_run:
                tally.known += await self._target.known(part)
            else:
                tally.added += await _write(self._target, part)
            tally.count(part)
            if self._progress is not None:
                whole = self._size if file.name else source.size  # one that is being written may have grown
                at = self._before + part.position
                self._progress(Progress(position=at, size=whole, done=tally.read, added=tally.added))
        tally.take_over(source, file.name)
        self._before += file.size


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """One file of an import; of a folder its `name` is where it stands in that, else empty."""

    path: Path
    name: str
    size: int


def _files(path: Path) -> list[_File]:
    if not path.is_dir():
        return [_File(path=path, name="", size=0)]
    return [_File(path=one, name=str(one.relative_to(path)), size=one.stat().st_size) for one in files_of(path)]


def _format_of(file: _File, tally: _Tally) -> str | None:
    """The format of a file; None for one of a folder that is in none, or is not to be imported (which is told)."""
    if not file.name:
        return detect(file.path)
    try:
        found = format_of(file.path)
    except UnreadableImport as error:
        tally.skipped += 1
        tally.name(Problem(line=None, why=str(error)))
        return None
    if found is None:
        tally.left_out["files in no known format"] += 1
    return found


async def _write(target: Target, part: Part) -> int:
    match part:
        case Batch():
            return await target.add(part)
        case Restored():
            return await target.restore(part)
        case Placed():
            return await target.place(part)
        case Beside():
            await target.keep(part)
            return 0


def _report(tally: _Tally, *, dry_run: bool) -> Report:
    return Report(
        format=", ".join(tally.formats),
        read=tally.read,
        added=tally.added,
        skipped=tally.skipped,
        left_out=dict(tally.left_out),
        sessions=len(tally.sessions),
        memories=tally.memories,
        problems=tuple(tally.problems),
        dry_run=dry_run,
        documents=tally.documents,
        replaced=tally.replaced,
        known=tally.known,
    )
