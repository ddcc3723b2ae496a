"""Files to a server and from it, piece by piece."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, get_args

from memhold.faces.remote.transport import Call, Sends
from memhold.faces.remote.wire import DAMAGED_ROWS, LEFT_OUT, UPLOAD, zone_name
from memhold.ports.maintenance import given_path
from memhold.transfer.source import Source
from memhold.transfer.sqlite_files import is_sqlite
from memhold.values.errors import InvalidInput, UnreadableImport
from memhold.values.jsonable import from_jsonable
from memhold.verbs.files import Exported, ExportFormat, Progress, Report, replacing, write_pages

__all__ = ["download", "upload"]

_PIECE = 256 * 1024
_SECONDS = 3600.0


async def upload(
    transport: Sends,
    path: str | Path,
    query: Mapping[str, Any],
    *,
    zone: tzinfo,
    progress: Callable[[Progress], None] | None,
) -> Report:
    """Send a file to be imported; its messages have keys, so that sending it again adds nothing.

    Raises:
        UnreadableImport: the file cannot be read, here or there.
    """
    file = given_path(path)
    source = Source(path=file, zone=zone, now=datetime.now(UTC))
    await asyncio.to_thread(_check_sendable, source)
    try:
        size = await asyncio.to_thread(lambda: source.size)
    except OSError as error:
        raise UnreadableImport(f"{file}: {error.strerror}", path=str(file), line=None) from None

    async def pieces() -> AsyncIterator[bytes]:
        sent = 0
        with await asyncio.to_thread(source.open_bytes) as held:
            while piece := await asyncio.to_thread(held.read, _PIECE):
                yield piece
                sent += len(piece)
                if progress is not None:
                    progress(Progress(position=sent, size=size, done=0, added=0))

    asked = {**query, "zone": zone_name(zone)}
    call = Call(method="POST", path="/v1/import", query=asked, upload=pieces, again=True, timeout=_SECONDS)
    try:
        return from_jsonable(Report, (await transport.send(call)).data)
    except UnreadableImport as error:
        said = str(error).replace(UPLOAD, str(file))
        raise UnreadableImport(said, **{**error.values, "path": str(file)}) from None


def _check_sendable(source: Source) -> None:
    """Refuse what one body cannot carry: a folder, and a SQLite file of which a part still stands beside it."""
    if source.path.is_dir():
        raise source.unreadable(None, "it is a folder; a server takes one file at a time: import its files one by one")
    wal = source.path.with_name(f"{source.path.name}-wal")
    if wal.is_file() and wal.stat().st_size and is_sqlite(source):
        raise source.unreadable(None, f"a part of it still stands in {wal.name}; end the program that has it open")


async def download(
    transport: Sends, path: str | Path, session: Mapping[str, Any], *, format_name: ExportFormat
) -> Exported:
    """Fetch an export and write it here: files of mode 0600 that appear whole.

    Raises:
        InvalidInput: there is no such format.
        StoreFull, StoreReadOnly: it cannot be written; what stood there is as it was.
    """
    if format_name not in get_args(ExportFormat):
        raise InvalidInput(f"format is {format_name!r:.40}; it must be one of {', '.join(get_args(ExportFormat))}")
    target = given_path(path)
    call = Call(method="GET", path="/v1/export", query={**session, "format": format_name}, again=True, timeout=_SECONDS)
    if format_name == "markdown":
        pages = (await transport.send(call)).data
        # Only the two names that an export has: what a server says is no path to follow.
        known = {name: pages["files"][name] for name in ("MEMORY.md", "HISTORY.md") if name in pages["files"]}
        files = await asyncio.to_thread(write_pages, known, target)
        damaged = tuple(pages.get("damaged", ()))
        return Exported(files=files, counts=pages["counts"], damaged=damaged, left_out=pages.get("left_out", {}))
    async with transport.stream(call) as (headers, pieces):
        with ExitStack() as stack:
            out = await asyncio.to_thread(stack.enter_context, replacing(target))
            async for piece in pieces:
                await asyncio.to_thread(out.write, piece)
        told = {name: json.loads(headers.get(name, "{}")) for name in ("memhold-counts", LEFT_OUT)}
        return Exported(
            files=(str(target),),
            counts=told["memhold-counts"],
            damaged=tuple(json.loads(headers.get(DAMAGED_ROWS, "[]"))),
            left_out=told[LEFT_OUT],
        )
