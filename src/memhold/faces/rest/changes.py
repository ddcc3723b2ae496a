"""The audit trail as a stream: changes as they come."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Annotated, Any

from fastapi import Header, Query, Request, Response
from starlette.responses import StreamingResponse

from memhold.faces.rest.frame import Routes, scope_for
from memhold.values.bounds import MAX_NUMBER
from memhold.values.errors import InvalidInput, RateLimited
from memhold.values.jsonable import body_json, to_jsonable
from memhold.values.principal import principal_of, still_stands
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncStore

__all__ = ["OpenCount", "Streams", "changes_routes"]

_PAGE = 100
_RETRY_MS = 2000
_SHARES = 10
_LEAST_EACH = 10


class OpenCount:
    """How many streams are open, in this process and in all of its server; here it is the only one."""

    _mine = 0

    @property
    def mine(self) -> int:
        """Those of this process."""
        return self._mine

    @property
    def total(self) -> int:
        """Those of every process."""
        return self._mine

    def add(self, more: int) -> None:
        """So many more are open in this process, or fewer."""
        self._mine += more


class Streams:
    """The open streams of changes of one server: how many there may be, and when they end.

    Of one budget (a token, or a user for whom a service acts) a tenth of them may be open in a process, and ten in any
    case, so that nobody takes the others' place.

    A stream looks for new changes every `poll_seconds`, and says something at least every `beat_seconds`, so that a
    connection whose other end is gone is noticed.
    """

    def __init__(
        self, *, most: int = 1000, poll_seconds: float = 1.0, beat_seconds: float = 15.0, count: OpenCount | None = None
    ) -> None:
        self.count = OpenCount() if count is None else count
        self.most = most
        self.of_each: Counter[str] = Counter()
        self.poll_seconds = poll_seconds
        self.beat_seconds = beat_seconds
        self.stopping = False
        self._ended = asyncio.Event()

    @property
    def open(self) -> int:
        """How many are open in this process."""
        return self.count.mine

    @property
    def ended(self) -> bool:
        """Whether they are to end, and no further one lasts."""
        return self._ended.is_set()

    def end(self, *, stopping: bool = True) -> None:
        """End every stream: its client comes back with `Last-Event-ID`, to whoever serves then.

        With `stopping` the server itself is about to stop; without, another process of it serves on.
        """
        self.stopping = stopping
        self._ended.set()

    async def pause(self) -> None:
        """Wait until it is time to look again, or the server stops."""
        try:
            async with asyncio.timeout(self.poll_seconds):
                await self._ended.wait()
        except TimeoutError:
            return


def changes_routes(routes: Routes, memhold: AsyncStore, streams: Streams) -> None:
    """The route that tells changes as they come."""
    _stream(routes, memhold, streams)


_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events `change`: `id` is the seq, `data` the change as JSON.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


def _stream(routes: Routes, memhold: AsyncStore, streams: Streams) -> None:
    @routes.get(
        "/changes/stream", answer=None, responses=_EVENTS, operation_id="follow_changes", summary="Changes as they come"
    )
    async def stream(
        request: Request,
        after: Annotated[
            int | None, Query(ge=0, le=MAX_NUMBER, description="Begin behind this `seq`; 0 for all.")
        ] = None,
        last_event_id: Annotated[str | None, Header(description="Where the stream broke off.")] = None,
    ) -> Response:
        """Server-sent events, one for each change, from now on or from where the last stream broke off: none twice.

        It ends when the server stops, and when the token is revoked or runs out.
        """
        scope = scope_for(memhold, request, "read")
        begin = _begin(last_event_id, after)
        cursor = await _newest(scope) if begin is None else begin
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        going = _events(scope, cursor, streams, partial(still_stands, request.scope))
        return _Stream(
            streams, principal_of(request.scope).budget, going, media_type="text/event-stream", headers=headers
        )


class _Stream(StreamingResponse):
    """A stream that is counted from when it is answered until it has ended, however it ends."""

    def __init__(self, streams: Streams, budget: str, content: AsyncIterator[bytes], **options: Any) -> None:
        if streams.count.total >= streams.most:
            raise RateLimited(f"{streams.most} streams are open; try again", retry_after=10.0)
        if streams.of_each[budget] >= max(_LEAST_EACH, streams.most // _SHARES):
            said = f"{streams.of_each[budget]} streams of this token are open; end one of them"
            raise RateLimited(said, retry_after=10.0)
        super().__init__(content, **options)
        self._streams = streams
        self._budget = budget
        self._counted(1)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._counted(-1)

    def _counted(self, more: int) -> None:
        self._streams.count.add(more)
        self._streams.of_each[self._budget] += more
        if not self._streams.of_each[self._budget]:
            del self._streams.of_each[self._budget]


def _begin(last_event_id: str | None, after: int | None) -> int | None:
    if last_event_id is None:
        return after
    if not (last_event_id.isascii() and last_event_id.isdecimal() and len(last_event_id) < 16):
        raise InvalidInput("Last-Event-ID is no seq of a change; send the id of the last event as it came")
    return int(last_event_id)


async def _newest(scope: AsyncScope) -> int:
    """The `seq` up to which changes are there now."""
    cursor = 0
    while True:
        page = await scope.changes(after=cursor, limit=1000)
        cursor = page.cursor
        if not page.more:
            return cursor


async def _events(
    scope: AsyncScope, cursor: int, streams: Streams, stands: Callable[[], Awaitable[bool]]
) -> AsyncIterator[bytes]:
    # An id without data is no event, and the place where a client goes on whose stream breaks before the first one.
    yield f"retry: {_RETRY_MS}\nid: {cursor}\n\n".encode()
    silent = 0.0
    while not streams.ended and await stands():
        page = await scope.changes(after=cursor, limit=_PAGE)
        for change in page.items:
            yield f"id: {change.seq}\nevent: change\ndata: {body_json(to_jsonable(change))}\n\n".encode()
        silent = 0.0 if page.items else silent + streams.poll_seconds
        cursor = page.cursor
        if silent >= streams.beat_seconds:
            yield b": still here\n\n"
            silent = 0.0
        if not page.more:
            await streams.pause()
