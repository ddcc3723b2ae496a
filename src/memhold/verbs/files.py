"""Moving data into a scope and out of it: files of other systems, and Memhold's own export."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar, get_args

from memhold._version import __version__
from memhold.facts.redaction import redacted_memory
from memhold.facts.remember import Writer
from memhold.history.imported import Live, import_memory, import_messages
from memhold.journal.secrets import known_secrets
from memhold.messages.ingest import Draft, parse_messages
from memhold.ports.durable_files import make_folder, sync_folder
from memhold.ports.maintenance import given_path
from memhold.ports.stores import Priority
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.ports.unfinished import noted
from memhold.transfer.export import write_export
from memhold.transfer.importing import Progress, Report, import_file
from memhold.transfer.items import BATCH_MESSAGES, Batch, Restored, session_name
from memhold.transfer.markdown import history_markdown, memory_markdown
from memhold.transfer.source import OnError
from memhold.values.errors import InvalidInput, StoreFull, StoreReadOnly
from memhold.values.origins import author_of, lines_origin, no_more_than, said_no_more_than
from memhold.values.records import Author, Change, Memory, Message, Scope
from memhold.verbs.analysis_pool import prepared
from memhold.verbs.runtime import Runtime

__all__ = ["BATCH_MESSAGES", "ExportFormat", "Exported", "Progress", "Report", "export_to", "import_from", "replacing"]

Item = TypeVar("Item", Message, Memory)
ExportFormat = Literal["jsonl", "markdown"]
_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What an export wrote: the files, and how many values of each type are in them.

    `damaged` are ids of rows that are damaged on the disk: they are in no file.
    """

    files: tuple[str, ...]
    counts: Mapping[str, int]
    damaged: tuple[str, ...] = ()


class _Arrivals:
    """Where an import puts what it reads: one scope, its sessions named with a prefix."""

    def __init__(self, runtime: Runtime, scope: Scope, prefix: str, *, live: bool) -> None:
        self._runtime = runtime
        self._scope = scope
        self._prefix = prefix
        self._live = live
        self._redactor = known_secrets() if live else runtime.redactor

    async def add(self, batch: Batch) -> int:
        runtime = self._runtime
        drafts = await asyncio.to_thread(self._drafts, batch)
        secret = runtime.store.facts.secret
        ready = await prepared(drafts, self._redactor, secret=secret, pool=runtime.analysis_pool)
        by = author_of(self._scope.actor)
        said = [no_more_than(one, by) for one in batch.said]
        if self._live and not batch.own:
            said = [_in_its_role(by, draft, one.name) for draft, one in zip(ready.drafts, batch.said, strict=True)]
        session = session_name(f"{self._prefix}{batch.session}")
        agent = session_name(batch.agent or "") or self._scope.agent
        writer = Writer(ids=runtime.ids, secret=secret, author=by, agent=agent, session=session)
        live = Live(when=runtime.settings.when, meaning=runtime.embedding is not None) if self._live else None

        def work(tx: WriteTx) -> int:
            return import_messages(
                tx,
                ready,
                keys=batch.keys,
                own_ids=batch.source_ids if batch.own else [None] * len(batch.keys),
                said=said,
                writer=writer,
                live=live,
            )

        return await runtime.store.write(self._scope, work, priority=Priority.IMPORT)

    def _drafts(self, batch: Batch) -> tuple[Draft, ...]:
        runtime = self._runtime
        return parse_messages(batch.messages, now=runtime.clock.now(), limits=runtime.limits)

    async def restore(self, restored: Restored) -> int:
        runtime = self._runtime
        secret, redactor, revisions = runtime.store.facts.secret, runtime.redactor, restored.revisions
        if redactor is not None:
            revisions = tuple(redacted_memory(revision, redactor) for revision in revisions)
        by = author_of(self._scope.actor)
        revisions = tuple(said_no_more_than(revision, by) for revision in revisions)

        def work(tx: WriteTx) -> int:
            return import_memory(tx, revisions, key=restored.key, secret=secret, ids=runtime.ids)

        return await runtime.store.write(self._scope, work, priority=Priority.IMPORT)


def _in_its_role(by: Author, draft: Draft, program: str | None) -> Author:
    """Who said a line that whoever brings it heard: its role tells, and of what no person said which program did."""
    origin = lines_origin(by, draft.role, result=draft.result)
    return Author(origin=origin, name=by.name if origin == "user" else by.name or program)


async def import_from(
    runtime: Runtime,
    scope: Scope,
    path: str | Path,
    *,
    format_name: str | None = None,
    zone: tzinfo = UTC,
    session_prefix: str = "",
    on_error: OnError = "stop",
    live: bool = False,
    batch: int = BATCH_MESSAGES,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Bring a file into a scope; see `AsyncScope.import_file`."""
    runtime.guard()
    if type(batch) is not int or not 1 <= batch <= runtime.limits.batch_messages:
        raise InvalidInput(f"batch is {batch!r:.40}; it must be 1 to {runtime.limits.batch_messages} messages")
    if on_error not in get_args(OnError):
        raise InvalidInput(f"on_error is {on_error!r:.40}; it must be 'stop' or 'skip'")
    if not isinstance(zone, tzinfo):
        raise InvalidInput(f"zone is {zone!r:.40}; pass a tzinfo, for example zoneinfo.ZoneInfo('Europe/Paris')")
    return await import_file(
        _Arrivals(runtime, scope, session_prefix, live=live),
        given_path(path),
        now=runtime.clock.now(),
        format_name=format_name,
        zone=zone,
        on_error=on_error,
        limits=runtime.limits,
        batch=batch,
        progress=progress,
    )


async def export_to(runtime: Runtime, scope: Scope, path: str | Path, *, format_name: ExportFormat) -> Exported:
    """Write a scope to a file or a folder; see `AsyncScope.export`."""
    runtime.guard()
    target = given_path(path)
    store = runtime.store.facts.location
    if str(target.resolve()) in {f"{store}{suffix}" for suffix in ("", "-wal", "-shm", ".forgotten")}:
        raise InvalidInput(f"{target} belongs to the store itself; name another file for the export")
    if format_name not in {"jsonl", "markdown"}:
        raise InvalidInput(f"format is {format_name!r:.40}; it must be 'jsonl' or 'markdown'")
    kept = Path(store) if runtime.store.facts.backend == "sqlite" else None
    work: Callable[[ReadTx], Exported] = partial(_JOBS[format_name], scope=scope, target=target, store=kept)
    if runtime.maintenance is None:
        return await runtime.store.read(scope, work)
    return await runtime.maintenance.survey(scope, work)


def _write_jsonl(tx: ReadTx, *, scope: Scope, target: Path, store: Path | None) -> Exported:
    narrowed = scope.agent is not None or scope.session is not None
    seen: set[str] = set()
    changes = (
        change
        for change in _changes(tx)
        if not narrowed or change.id in seen or any(effect.memory_id in seen for effect in change.effects)
    )
    with replacing(target, store) as out:
        counts = write_export(
            out,
            scope=scope,
            exported_at=tx.now,
            memhold=__version__,
            sessions=(s for s in tx.sessions() if scope.session in {None, s.name}),
            messages=_noting(_messages(tx, scope), seen, attrgetter("change_id")),
            memories=(tx.revisions(memory.id) for memory in _noting(_memories(tx, scope), seen, attrgetter("id"))),
            changes=changes,
        )
    return Exported(files=(str(target),), counts=counts, damaged=tuple(tx.damaged))


def _write_markdown(tx: ReadTx, *, scope: Scope, target: Path, store: Path | None) -> Exported:
    held = list(_memories(tx, scope))
    pages = {
        "MEMORY.md": memory_markdown(held, now=tx.now),
        "HISTORY.md": history_markdown(held),
    }
    try:
        make_folder(target, mode=0o700)
    except OSError as error:
        raise StoreReadOnly(f"{target} is no folder that can be written: {error.strerror}") from error
    for name, text in pages.items():
        with replacing(target / name, store) as out:
            out.write(text.encode("utf-8", "replace"))
    files = tuple(str(target / name) for name in pages)
    return Exported(files=files, counts={"memory": len(held)}, damaged=tuple(tx.damaged))


_JOBS = {"jsonl": _write_jsonl, "markdown": _write_markdown}


def _noting(items: Iterator[Item], seen: set[str], mark: Callable[[Item], str]) -> Iterator[Item]:
    """The items as they come, with the ids noted by which their changes are recognised."""
    for item in items:
        seen.add(mark(item))
        yield item


def _changes(tx: ReadTx) -> Iterator[Change]:
    after = 0
    while page := tx.changes(after=after, limit=_PAGE):
        yield from page
        after = page[-1].seq


def _messages(tx: ReadTx, scope: Scope) -> Iterator[Message]:
    for session in tx.sessions():
        if scope.session not in {None, session.name}:
            continue
        name = session.name
        after = 0
        while page := tx.messages(name, after=after, limit=_PAGE):
            yield from (message for message in page if scope.agent is None or message.agent in {scope.agent, None})
            after = page[-1].seq


def _memories(tx: ReadTx, scope: Scope) -> Iterator[Memory]:
    after = -1
    while page := tx.list_memories(
        Listing(states=None, agent=scope.agent, session=scope.session, after=after, limit=_PAGE)
    ):
        yield from page
        after = page[-1].number


@contextmanager
def replacing(path: Path, store: Path | None = None) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` in one step, mode 0600, once all of it is durable; else nothing changes.

    Until then it is noted beside the `store`, so that a kill leaves nothing that a forget does not reach.

    Raises:
        StoreFull, StoreReadOnly: it cannot be written.
    """
    part = path.with_name(f".{path.name}.part-{secrets.token_hex(4)}")
    try:
        with noted(store, part):
            try:
                with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as out:
                    yield out
                    out.flush()
                    os.fsync(out.fileno())
                part.replace(path)
                sync_folder(path.parent)
            finally:
                with suppress(OSError):
                    part.unlink(missing_ok=True)
    except OSError as error:
        kind = StoreFull if error.errno in {errno.ENOSPC, errno.EDQUOT} else StoreReadOnly
        raise kind(f"{path} cannot be written: {error.strerror}") from error
