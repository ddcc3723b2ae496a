"""Routes that move a scope's data in and out, and those that look after the store."""

from __future__ import annotations

import asyncio
import errno
import json
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from weakref import WeakValueDictionary

from fastapi import Body, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from memhold.faces.bodies import KnownOnly
from memhold.faces.remote.wire import DAMAGED_ROWS, LEFT_OUT, UPLOAD, zone_of
from memhold.faces.rest.frame import Routes, caller, example, json_response, keeper, scope_for
from memhold.faces.rest.items import LONGEST_WAIT
from memhold.ports.maintenance import Finding, Readiness, Rebuilt, Usage
from memhold.ports.models import Tally
from memhold.ports.unfinished import noted
from memhold.transfer.apart import BOUNDS, Bounds
from memhold.values.answers import Residue
from memhold.values.bounds import MAX_DAYS, MAX_USERS
from memhold.values.errors import StoreFull, StoreReadOnly, UnreadableImport
from memhold.values.names import is_within
from memhold.values.principal import principal_of
from memhold.values.records import MAX_NAME
from memhold.verbs.files import BATCH_MESSAGES, ExportFormat, Report
from memhold.verbs.store_protocols import AsyncStore

__all__ = ["Scratch", "data_routes"]

_COUNTS = "memhold-counts"
_MOST_NAMED = 200


class Pages(BaseModel):
    """An export for people: each file's name and text, and how many memories they show.

    `left_out` counts what stands in neither, by what it is; `damaged` are ids of rows that are damaged on the disk.
    """

    files: dict[str, str]
    counts: dict[str, int]
    left_out: dict[str, int]
    damaged: list[str]


class SettleBody(KnownOnly):
    """How long to work on what is due, in seconds."""

    model_config = ConfigDict(strict=True, json_schema_extra={"additionalProperties": False})

    timeout: float = Field(default=30.0, ge=0, le=600)


class ResidueBody(KnownOnly):
    """What to look for in the store's files."""

    model_config = ConfigDict(strict=True, json_schema_extra={"additionalProperties": False})

    text: str = Field(description="4 characters or more.")


class Settled(BaseModel):
    """Whether nothing is due any more."""

    settled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """Where uploads and exports stand while they are read, and the file of the store beside which they are noted.

    What a killed server leaves of one holds what may be forgotten since: so a forget, and the next opening, reach it.
    """

    folder: Path | None = None
    store: Path | None = None


def data_routes(routes: Routes, memhold: AsyncStore, scratch: Scratch) -> None:
    """The routes `/v1/import`, `/v1/export` and those under `/v1/admin`."""
    _import(routes, memhold, scratch)
    _export(routes, memhold, scratch)
    _admin(routes.tagged("admin"), memhold)
    _of_every_namespace(routes.tagged("admin"), memhold)


@asynccontextmanager
async def _folder(scratch: Scratch) -> AsyncIterator[Path]:
    """A folder for this request alone (mode 0700), gone at its end.

    Raises:
        StoreFull, StoreReadOnly: it cannot be made or written.
    """
    with ExitStack() as stack:
        try:
            yield await asyncio.to_thread(stack.enter_context, _made(scratch))
        except OSError as error:
            kind = StoreFull if error.errno in {errno.ENOSPC, errno.EDQUOT} else StoreReadOnly
            raise kind(f"the server has nowhere to put a file while it is read: {error.strerror}") from error
        finally:
            await asyncio.to_thread(stack.close)


@contextmanager
def _made(scratch: Scratch) -> Iterator[Path]:
    folder = Path(scratch.folder or tempfile.gettempdir()) / f"memhold.part-{secrets.token_hex(8)}"
    with noted(scratch.store, folder):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


_UPLOAD = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class _Turns:
    """Uploads are read with limits, one of each token's at a time and two in all: the others wait."""

    def __init__(self) -> None:
        self._all = asyncio.Semaphore(2)
        self._own: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def one(self, budget: str) -> AsyncIterator[None]:
        own = self._own.setdefault(budget, asyncio.Lock())
        async with own, self._all:
            limited = BOUNDS.set(Bounds())
            try:
                yield
            finally:
                BOUNDS.reset(limited)


def _import(routes: Routes, memhold: AsyncStore, scratch: Scratch) -> None:
    turns = _Turns()

    @routes.post("/import", operation_id="import_file", answer=Report, openapi_extra=_UPLOAD, summary="Import a file")
    async def import_file(
        request: Request,
        format: Annotated[str | None, Query(description="Found out where it is not named.")] = None,
        zone: Annotated[str, Query(description="The zone of times that name none, such as Europe/Lisbon.")] = "UTC",
        session_prefix: str = "",
        on_error: Literal["stop", "skip"] = "stop",
        live: Annotated[  # noqa: FBT002 - of a query
            bool, Query(description="Each line counts as said by its role, and not as imported.")
        ] = False,
        batch: Annotated[int, Query(ge=1, le=10_000)] = BATCH_MESSAGES,
        dry_run: Annotated[  # noqa: FBT002 - of a query
            bool, Query(description="Only tell what is in the file; nothing is written.")
        ] = False,
    ) -> Response:
        """Bring a file of messages or memories into the scope: its bytes are the body. Twice adds nothing."""
        scope = scope_for(memhold, request, "write")
        where = zone_of(zone)
        async with _folder(scratch) as folder:
            file = folder / "upload"
            with await asyncio.to_thread(file.open, "xb") as out:
                async for piece in request.stream():
                    await asyncio.to_thread(out.write, piece)
            try:
                async with turns.one(principal_of(request.scope).budget):
                    report = await scope.import_file(
                        file,
                        format=format,
                        zone=where,
                        session_prefix=session_prefix,
                        on_error=on_error,
                        live=live,
                        batch=batch,
                        dry_run=dry_run,
                    )
            except UnreadableImport as error:
                # Where it stood here is nobody's business there.
                said = str(error).replace(str(file), UPLOAD)
                raise UnreadableImport(said, **{**error.values, "path": UPLOAD}) from None
        return await json_response(report)


_EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file, and counts by type in `Memhold-Counts`; for `markdown` the texts. Ids of rows that"
        " are damaged on the disk, and in no file, stand in `Memhold-Damaged`, the first 200 of them.",
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
    }
}


def _export(routes: Routes, memhold: AsyncStore, scratch: Scratch) -> None:
    @routes.get("/export", operation_id="export", answer=Pages, responses=_EXPORTED, summary="Export the scope")
    async def export(request: Request, format: ExportFormat = "jsonl", session: str | None = None) -> Response:
        """What the scope holds at one moment: `jsonl` can be imported again, `markdown` is for people.

        `mem0` and `mcp-memory` are what holds now in the shapes of those; `Memhold-Left-Out` counts the rest.
        """
        scope = scope_for(memhold, request, "read", session)
        async with AsyncExitStack() as stack:
            folder = await stack.enter_async_context(_folder(scratch))
            target = folder / "export"
            done = await scope.export(target, format=format)
            if format == "markdown":
                texts = await asyncio.to_thread(_texts, done.files)
                return await json_response(
                    Pages(
                        files=texts,
                        counts=dict(done.counts),
                        left_out=dict(done.left_out),
                        damaged=list(done.damaged),
                    ).model_dump()
                )
            told = {_COUNTS: json.dumps(dict(done.counts)), LEFT_OUT: json.dumps(dict(done.left_out))}
            if done.damaged:
                told[DAMAGED_ROWS] = json.dumps(done.damaged[:_MOST_NAMED])
            headers = {**told, "cache-control": "no-store"}
            media = "application/json" if format == "mem0" else "application/x-ndjson"
            ending = BackgroundTask(stack.pop_all().aclose)
            return FileResponse(target, headers=headers, media_type=media, background=ending)
        raise AssertionError  # the stack swallows nothing


def _texts(files: Sequence[str]) -> dict[str, str]:
    return {Path(file).name: Path(file).read_text(encoding="utf-8") for file in files}


def _admin(routes: Routes, memhold: AsyncStore) -> None:
    @routes.post("/admin/settle", operation_id="settle", answer=Settled, summary="Do due work now")
    async def settle(
        request: Request,
        body: Annotated[SettleBody | None, Body(openapi_examples=example(a_minute={"timeout": 60.0}))] = None,
    ) -> Response:
        """Do the namespace's due work until none is due, or time runs out: after 45 seconds at the latest."""
        own = caller(request, "admin").scope.namespace
        timeout = min((body or SettleBody()).timeout, LONGEST_WAIT)
        return await json_response({"settled": await memhold.settle(timeout, namespace=own)})

    @routes.get("/admin/usage", operation_id="usage", answer=list[Usage], summary="What the namespace holds")
    async def usage(
        request: Request,
        days: Annotated[int | None, Query(ge=1, le=MAX_DAYS, description="How it grew on so many days too.")] = None,
    ) -> Response:
        """Counts and bytes of the caller's namespace, and of those below it."""
        own = caller(request, "admin").scope.namespace
        return await json_response(
            [one for one in await memhold.admin.usage(days=days) if is_within(one.namespace, own)]
        )

    @routes.get("/admin/users", operation_id="users", answer=list[str], summary="The users of the namespace")
    async def users(
        request: Request,
        after: Annotated[str | None, Query(min_length=1, max_length=MAX_NAME, description="Begin behind this.")] = None,
        limit: Annotated[int, Query(ge=1, le=MAX_USERS)] = 1000,
    ) -> Response:
        """Whose memory the caller's namespace holds, or one below it, by name; the last is the next page's `after`."""
        own = caller(request, "admin").scope.namespace
        return await json_response(await memhold.admin.users(namespace=own, after=after, limit=limit))

    @routes.get("/admin/doctor", operation_id="doctor", answer=list[Finding], summary="Look for damage")
    async def doctor(request: Request) -> Response:
        """What is wrong or worth a note: with the store's files, and in the caller's namespace and those below it."""
        own = caller(request, "admin").scope.namespace
        found = await memhold.admin.doctor()
        return await json_response([one for one in found if not one.where or is_within(one.namespace or "", own)])

    @routes.get("/admin/ready", operation_id="ready", answer=Readiness, summary="Whether the store takes writes")
    async def ready(request: Request) -> Response:
        """Make a small write and take it back; how much work is due, and how the models are."""
        caller(request, "admin")
        return await json_response(await memhold.admin.ready())

    @routes.post("/admin/reindex", operation_id="reindex", answer=Rebuilt, summary="Build the words index anew")
    async def reindex(request: Request) -> Response:
        """Build the words index of the caller's namespace anew, and make due what its state implies."""
        own = caller(request, "admin").scope.namespace
        return await json_response(await memhold.admin.reindex(namespace=own))


def _of_every_namespace(routes: Routes, memhold: AsyncStore) -> None:
    @routes.get(
        "/admin/models/usage", operation_id="model_usage", answer=list[Tally], summary="What models were used for"
    )
    async def model_usage(
        request: Request,
        days: Annotated[int | None, Query(ge=1, le=MAX_DAYS, description="Of the last so many days.")] = None,
    ) -> Response:
        """Calls, tokens and money by day, model and purpose, of the whole store: told to whoever runs it alone."""
        keeper(request, "memhold models usage")
        return await json_response(await memhold.admin.model_usage(days=days))

    @routes.post("/admin/residue", operation_id="residue", answer=Residue, summary="Look for a text in the files")
    async def residue(
        request: Request, body: Annotated[ResidueBody, Body(openapi_examples=example(one={"text": "Lisbon"}))]
    ) -> Response:
        """Where a text's bytes still stand in the files, which are every namespace's: told to whoever runs it alone."""
        own = keeper(request, "memhold residue").scope
        scope = memhold.scope(namespace=own.namespace, user=own.user, agent=own.agent)
        return await json_response(await scope.residue(body.text))
