"""Moving data into a scope and out of it: files of other systems, and Memhold's own export."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar

from memhold._version import __version__
from memhold.documents.content import Content, redacted_content
from memhold.facts.expiry import told_until
from memhold.facts.redaction import redacted_memory
from memhold.facts.remember import Writer
from memhold.history.changes import seen_change
from memhold.history.imported import Live, import_beside, import_document, import_memory, import_messages, known_before
from memhold.journal.beside import shown_to
from memhold.journal.redaction import redacted_value
from memhold.journal.secrets import known_secrets
from memhold.journal.sessions import seen_sessions
from memhold.messages.ingest import Draft, attribute, parse_messages, told_apart
from memhold.ports.durable_files import make_folder, sync_folder
from memhold.ports.idempotency import keyed_digest
from memhold.ports.maintenance import given_path
from memhold.ports.stores import Priority
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.ports.unfinished import noted
from memhold.text.analysis import Terms, analyse
from memhold.transfer.apart import BOUNDS
from memhold.transfer.export import ExportFile
from memhold.transfer.formats import OF_AGENTS
from memhold.transfer.importing import Progress, Reading, Report, import_file
from memhold.transfer.items import BATCH_MESSAGES, Batch, Beside, Part, Placed, Restored, fingerprint, session_name
from memhold.transfer.markdown import history_markdown, in_no_page, is_own_page, memory_markdown
from memhold.transfer.other_shapes import mcp_records, mem0_entry, that_hold
from memhold.transfer.sqlite_files import SQLITE
from memhold.values.errors import InvalidInput, MemholdError, StoreFull, StoreReadOnly
from memhold.values.jsonable import body_json
from memhold.values.names import BELOW, checked_name
from memhold.values.origins import author_of, lines_origin, no_more_than, said_no_more_than
from memhold.values.records import Author, Change, Memory, Message, Origin, Scope
from memhold.verbs.analysis_pool import CHARGED, prepared
from memhold.verbs.runtime import Runtime
from memhold.verbs.transactions import Transactions

__all__ = [
    "BATCH_MESSAGES",
    "ExportFormat",
    "Exported",
    "Progress",
    "Report",
    "export_to",
    "import_from",
    "replacing",
    "write_pages",
]

T = TypeVar("T")
Item = TypeVar("Item", Message, Memory)
ExportFormat = Literal["jsonl", "markdown", "mem0", "mcp-memory"]
_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What an export wrote: the files, and how many values of each type are in them.

    `damaged` are ids of rows that are damaged on the disk: they are in no file. `left_out` counts, by what it is, what
    the format has no place for.
    """

    files: tuple[str, ...]
    counts: Mapping[str, int]
    damaged: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


class _Arrivals:
    """Where an import puts what it reads: one scope, and those below it; its sessions named with a prefix."""

    def __init__(self, runtime: Runtime, scope: Scope, prefix: str, *, live: bool) -> None:
        self._runtime = runtime
        self._scope = scope
        self._prefix = prefix
        self._live = live
        self._redactor = known_secrets() if live else runtime.redactor

    async def add(self, batch: Batch) -> int:
        runtime = self._runtime
        by = author_of(self._scope.actor)
        drafts, said = await asyncio.to_thread(self._drafts, batch, by)
        secret = runtime.store.facts.secret
        redactor = self._redactor
        if redactor is None and not batch.own and batch.said[0].name in OF_AGENTS:
            redactor = known_secrets()
        ready = await prepared(drafts, redactor, secret=secret, pool=runtime.analysis_pool)
        session = session_name(f"{self._prefix}{batch.session}")
        # As with `add`: what an agent brings is its own, whoever's it was.
        agent = self._scope.agent or session_name(batch.agent or "") or None
        writer = Writer(ids=runtime.ids, secret=secret, author=by, agent=agent, session=session)
        live = Live(when=runtime.settings.when, meaning=runtime.embedding is not None) if self._live else None

        def work(tx: WriteTx) -> int:
            return import_messages(
                tx,
                ready,
                keys=batch.keys,
                own_ids=_own_ids(batch),
                said=said,
                writer=writer,
                live=live,
            )

        return await runtime.store.write(self._place(batch.below), work, priority=Priority.IMPORT)

    def _place(self, below: str | None) -> Scope:
        if below is None:
            return self._scope
        namespace = checked_name(f"{self._scope.namespace}{BELOW}{below}", "the namespace below")
        return replace(self._scope, namespace=namespace)

    def _drafts(self, batch: Batch, by: Author) -> tuple[tuple[Draft, ...], list[Author]]:
        """What the batch holds, who wrote each part of it, and who said it."""
        runtime = self._runtime
        parsed = parse_messages(batch.messages, now=runtime.clock.now(), limits=runtime.limits)
        if self._live and not batch.own:
            heard = ["agent" if one.origin == "agent" else by.origin for one in batch.said]
            drafts = self._told_apart(parsed, heard)
            return drafts, [_in_its_role(by, draft, one) for draft, one in zip(drafts, batch.said, strict=True)]
        told = batch.said if batch.own else [replace(one, origin="import") for one in batch.said]
        said = [no_more_than(one, by) for one in told]
        return self._told_apart(parsed, [one.origin for one in said]), said

    def _told_apart(self, drafts: Sequence[Draft], origins: Sequence[Origin]) -> tuple[Draft, ...]:
        found = [attribute(draft, origin) for draft, origin in zip(drafts, origins, strict=True)]
        return told_apart(found, user=self._scope.user, agent=self._scope.agent)

    async def restore(self, restored: Restored) -> int:
        runtime = self._runtime
        secret, redactor, revisions = runtime.store.facts.secret, runtime.redactor, restored.revisions
        if redactor is not None:
            revisions = tuple(redacted_memory(revision, redactor) for revision in revisions)
        by = author_of(self._scope.actor)
        revisions = tuple(said_no_more_than(revision, by) for revision in revisions)
        key, entry, ident = self._named(restored)
        if entry is not None or self._scope.agent is not None:
            revisions = tuple(replace(revision, id=ident, agent=self._scope.agent) for revision in revisions)

        def work(tx: WriteTx) -> int:
            return import_memory(tx, revisions, key=key, secret=secret, ids=runtime.ids, by=by, entry=entry)

        return await runtime.store.write(self._place(restored.below), work, priority=Priority.IMPORT)

    def _named(self, restored: Restored) -> tuple[str, str | None, str]:
        """The key, the entry and the id of a memory in this scope."""
        key, entry, agent = restored.key, restored.entry, self._scope.agent
        if entry is None:
            return key, None, restored.revisions[-1].id
        if agent is not None:
            # As with `remember`: what an agent brings is its own, and another agent may bring the same.
            key, entry = fingerprint(key, agent), fingerprint(entry, agent)
        # Made with the store's secret: an id outlives what it names, and nobody may try out what that said.
        digest = keyed_digest(self._runtime.store.facts.secret, "id of an imported note", key)
        return key, entry, f"mem_{digest.hex()[:32]}"

    async def place(self, placed: Placed) -> int:
        runtime = self._runtime

        def made_ready() -> tuple[Content, Terms]:
            given = placed.content
            if runtime.redactor is not None:
                given, _ = redacted_content(given, runtime.redactor)
            return given, analyse(given.words)

        content, terms = await asyncio.to_thread(made_ready)
        secret, agent = runtime.store.facts.secret, self._scope.agent
        by = no_more_than(Author(origin="import", name=placed.said), author_of(self._scope.actor))
        writer = Writer(ids=runtime.ids, secret=secret, author=by, agent=agent, session=None)

        def work(tx: WriteTx) -> int:
            key, entry = placed.key, placed.entry
            return import_document(tx, content, key=key, entry=entry, terms=terms, writer=writer)

        return await runtime.store.write(self._scope, work, priority=Priority.IMPORT)

    async def keep(self, beside: Beside) -> None:
        runtime = self._runtime
        secret, ids, metadata = runtime.store.facts.secret, runtime.ids, dict(beside.metadata)
        agent = self._scope.agent
        if runtime.redactor is not None:
            metadata, _ = redacted_value(metadata, runtime.redactor, place="the metadata of the session")
        name = session_name(f"{self._prefix}{beside.session}")

        def work(tx: WriteTx) -> None:
            import_beside(tx, name, metadata, agent=agent, source_id=beside.source_id, secret=secret, ids=ids)

        await runtime.store.write(self._place(beside.below), work, priority=Priority.IMPORT)

    async def known(self, part: Part) -> int:
        keys: Sequence[str]
        ids: Sequence[str | None]
        match part:
            case Batch():
                keys, ids = part.keys, _own_ids(part)
            case Restored():
                key, _, ident = self._named(part)
                keys, ids = [key], [ident]
            case Placed():
                keys, ids = [part.key], [None]
            case Beside():
                return 0
        below = None if isinstance(part, Placed) else part.below
        secret = self._runtime.store.facts.secret
        return await self._runtime.store.read(self._place(below), lambda tx: known_before(tx, keys, ids, secret=secret))


def _own_ids(batch: Batch) -> Sequence[str | None]:
    """The ids that the messages keep here: those of Memhold's own export."""
    return batch.source_ids if batch.own else [None] * len(batch.keys)


def _in_its_role(by: Author, draft: Draft, told: Author) -> Author:
    """Who said a line that whoever brings it heard: who wrote it, and of what no person said, which program."""
    # What the client of an agent put into the conversation is that program's.
    client = draft.written_by == "harness" and told.name in OF_AGENTS
    origin = lines_origin(by.origin, "tool" if client else draft.written_by)
    return Author(origin=origin, name=by.name if origin == "user" else by.name or told.name)


async def import_from(here: Transactions, reading: Reading, *, path: str | Path) -> Report:
    """Bring a file into a scope; see `AsyncScope.import_file`."""
    runtime = here.runtime
    runtime.guard()
    if not 1 <= reading.batch <= runtime.limits.batch_messages:
        raise InvalidInput(f"batch is {reading.batch!r:.40}; it must be 1 to {runtime.limits.batch_messages} messages")
    arrivals = _Arrivals(runtime, here.scope, reading.session_prefix, live=reading.live)
    try:
        return await import_file(
            arrivals,
            given_path(path),
            reading,
            now=runtime.clock.now(),
            limits=runtime.limits,
            bounds=BOUNDS.get(),
            charge=CHARGED.get() or (lambda _: None),
        )
    finally:
        # What came in is there, and the sweep finds a mirror that is behind.
        with suppress(MemholdError):
            await here.write(lambda _: None)


async def export_to(here: Transactions, path: str | Path, format: ExportFormat) -> Exported:
    """Write a scope to a file or a folder; see `AsyncScope.export`."""
    runtime, scope = here.runtime, here.scope
    runtime.guard()
    target = given_path(path)
    store = runtime.store.facts.location
    if str(target.resolve()) in {f"{store}{suffix}" for suffix in ("", "-wal", "-shm", ".forgotten")}:
        raise InvalidInput(f"{target} belongs to the store itself; name another file for the export")
    kept = Path(store) if runtime.store.facts.backend == "sqlite" else None
    # A session is narrower than what stands below: another one of that name is another one.
    below = [] if scope.session is not None else await runtime.store.upkeep.below(scope)
    return await _JOBS[format](runtime, [scope, *below], target, kept)


async def _look(runtime: Runtime, scope: Scope, work: Callable[[ReadTx], T]) -> T:
    if runtime.maintenance is None:
        return await runtime.store.read(scope, work)
    return await runtime.maintenance.survey(scope, work)


async def _write_jsonl(runtime: Runtime, scopes: Sequence[Scope], target: Path, store: Path | None) -> Exported:
    own = scopes[0]
    damaged: list[str] = []
    with ExitStack() as stack:
        out = await asyncio.to_thread(stack.enter_context, replacing(target, store))
        now = await _look(runtime, own, attrgetter("now"))
        file = ExportFile(out, scope=own, exported_at=now, memhold=__version__)
        for scope in scopes:
            if scope is not own:
                file.below(_name_below(scope, own))
            damaged += await _look(runtime, scope, partial(_write_lines, file=file, scope=scope))
        file.end()
        await asyncio.to_thread(stack.pop_all().close)
    return Exported(files=(str(target),), counts=file.counts, damaged=tuple(damaged))


def _name_below(scope: Scope, own: Scope) -> str:
    return scope.namespace.removeprefix(f"{own.namespace}{BELOW}")


def _write_lines(tx: ReadTx, *, file: ExportFile, scope: Scope) -> tuple[str, ...]:
    """Write what a scope holds; the ids of the rows that are damaged."""
    narrowed = scope.agent is not None or scope.session is not None
    seen: set[str] = set()
    changes = (
        change
        for one in _changes(tx)
        if not narrowed or one.id in seen or any(effect.memory_id in seen for effect in one.effects)
        if (change := seen_change(tx, one)) is not None
    )
    file.write(
        sessions=(
            replace(one, metadata=shown_to(one, scope.agent))
            for one in seen_sessions(tx)
            if scope.session in {None, one.name}
        ),
        messages=_noting(_messages(tx, scope), seen, attrgetter("change_id")),
        memories=(tx.revisions(memory.id) for memory in _noting(_memories(tx, scope), seen, attrgetter("id"))),
        changes=changes,
    )
    return tuple(tx.damaged)


async def _write_markdown(runtime: Runtime, scopes: Sequence[Scope], target: Path, store: Path | None) -> Exported:
    pages: dict[str, list[str]] = {"MEMORY.md": [], "HISTORY.md": []}
    damaged: list[str] = []
    left_out: Counter[str] = Counter()
    count = 0
    for scope in scopes:
        held, now, messages, lost = await _look(runtime, scope, partial(_shown, scope=scope))
        below = None if scope is scopes[0] else _name_below(scope, scopes[0])
        pages["MEMORY.md"].append(memory_markdown(held, now=now, below=below))
        pages["HISTORY.md"].append(history_markdown(held, below=below))
        damaged += lost
        missing = in_no_page(held, now=now)
        count += len(held) - missing.total()
        left_out += missing + Counter({"messages": messages})
    texts = {name: "\n".join(parts) for name, parts in pages.items()}
    files = await asyncio.to_thread(write_pages, texts, target, store)
    return Exported(files=files, counts={"memory": count}, damaged=tuple(damaged), left_out=left_out)


def _shown(tx: ReadTx, *, scope: Scope) -> tuple[list[Memory], datetime, int, tuple[str, ...]]:
    held, messages = list(_memories(tx, scope)), sum(1 for _ in _messages(tx, scope))
    return held, tx.now, messages, tuple(tx.damaged)


def write_pages(texts: Mapping[str, str], folder: Path, store: Path | None = None) -> tuple[str, ...]:
    """Write the pages of an export for people into a folder; returns their files.

    Raises:
        InvalidInput: a page that somebody wrote themselves, or into, stands at one of the names; nothing was written.
        StoreReadOnly: the folder cannot be made or read.
    """
    try:
        make_folder(folder, mode=0o700)
        for name in texts:
            there = folder / name
            if there.is_file() and not is_own_page(name, there.read_text(encoding="utf-8", errors="replace")):
                raise InvalidInput(f"{there} is no page that an export wrote; name another folder, or move it away")
    except OSError as error:
        raise StoreReadOnly(f"{folder} is no folder that can be read and written: {error.strerror}") from error
    for name, text in texts.items():
        with replacing(folder / name, store) as out:
            out.write(text.encode("utf-8", "replace"))
    return tuple(str(folder / name) for name in texts)


async def _write_for_others(
    runtime: Runtime,
    scopes: Sequence[Scope],
    target: Path,
    store: Path | None,
    *,
    shape: Callable[[Iterable[Memory], str | None], Iterator[str]],
) -> Exported:
    """Write what holds now, of the scope itself, in the shape of another system; the rest is counted."""
    own = scopes[0]
    left_out: Counter[str] = Counter()
    counts: Counter[str] = Counter()

    def told(tx: ReadTx) -> Iterator[Memory]:
        held = (replace(one, expires_at=told_until(tx, one)) for one in _memories(tx, own))
        for memory in that_hold(held, now=tx.now, left_out=left_out):
            counts["memory"] += 1
            yield memory

    def write(tx: ReadTx) -> tuple[str, ...]:
        for piece in shape(told(tx), own.user):
            out.write(piece.encode())
        left_out["messages"] += sum(1 for _ in _messages(tx, own))
        return tuple(tx.damaged)

    with ExitStack() as stack:
        out = await asyncio.to_thread(stack.enter_context, replacing(target, store))
        damaged = await _look(runtime, own, write)
        for scope in scopes[1:]:
            left_out["memories of namespaces below"] += await _look(runtime, scope, partial(_count, scope=scope))
        await asyncio.to_thread(stack.pop_all().close)
    return Exported(files=(str(target),), counts={"memory": counts["memory"]}, damaged=damaged, left_out=+left_out)


def _count(tx: ReadTx, *, scope: Scope) -> int:
    return sum(1 for _ in _memories(tx, scope))


def _as_mem0(memories: Iterable[Memory], user: str | None) -> Iterator[str]:
    yield '{"results": ['
    for place, memory in enumerate(memories):
        yield f"{',' if place else ''}\n{body_json(mem0_entry(memory, user=user))}"
    yield "\n]}\n"


def _as_mcp(memories: Iterable[Memory], user: str | None) -> Iterator[str]:
    for record in mcp_records(memories, user=user):
        yield f"{body_json(record)}\n"


_JOBS: Mapping[str, Callable[[Runtime, Sequence[Scope], Path, Path | None], Awaitable[Exported]]] = {
    "jsonl": _write_jsonl,
    "markdown": _write_markdown,
    "mem0": partial(_write_for_others, shape=_as_mem0),
    "mcp-memory": partial(_write_for_others, shape=_as_mcp),
}


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
            yield from page
            after = page[-1].seq


def _memories(tx: ReadTx, scope: Scope) -> Iterator[Memory]:
    after = -1
    while page := tx.list_memories(
        Listing(states=None, agent=scope.agent, session=scope.session, after=after, limit=_PAGE)
    ):
        yield from page
        after = page[-1].number


def _is_database(path: Path) -> bool:
    """Whether a SQLite file stands there, or a store whose encryption hides that: it has its ledger beside it."""
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE or Path(f"{path}.forgotten").exists()
    except OSError:
        return False


@contextmanager
def replacing(path: Path, store: Path | None = None) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` in one step, mode 0600, once all of it is durable; else nothing changes.

    Until then it is noted beside the `store`, so that a kill leaves nothing that a forget does not reach.

    Raises:
        InvalidInput: a folder stands there, or a database, of which nothing would be left.
        StoreFull, StoreReadOnly: it cannot be written.
    """
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; name a file in it")
    if _is_database(path):
        raise InvalidInput(f"{path} is a database, which the export would replace; name another file")
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
