"""The end of the input, put off until what was asked before it is answered.

A script that pipes its requests in closes the pipe behind the last one. The SDK ends a connection at that moment and
cuts off what runs.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self

import anyio
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

__all__ = ["Incoming", "OpenRequests", "Outgoing"]

DRAIN_SECONDS = 20.0
"""How long the end of the input is put off at most: over every bound that a tool has."""


class OpenRequests:
    """The ids of requests that came in and are not answered yet."""

    def __init__(self) -> None:
        self._open: set[Any] = set()
        self._none_open = asyncio.Event()
        self._none_open.set()

    def came(self, message: Any) -> None:
        """Take note of what came in: a request, or that one is not waited for any more."""
        if isinstance(message, JSONRPCRequest):
            self._open.add(message.id)
            self._none_open.clear()
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._answered((message.params or {}).get("requestId"))

    def went(self, message: Any) -> None:
        """Take note of what went out."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._answered(message.id)

    def _answered(self, number: Any) -> None:
        self._open.discard(number)
        if not self._open:
            self._none_open.set()

    async def drained(self) -> None:
        """Wait until everything is answered, and no longer than `DRAIN_SECONDS`."""
        with anyio.move_on_after(DRAIN_SECONDS):
            await self._none_open.wait()


class _Wrapped:
    """A stream of the SDK, with what the SDK reads of it."""

    def __init__(self, stream: Any, asked: OpenRequests) -> None:
        self._stream = stream
        self._asked = asked

    @property
    def last_context(self) -> Any:
        """The context that the last message was sent in."""
        return getattr(self._stream, "last_context", None)

    async def aclose(self) -> None:
        """Let go of the stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stream.__aexit__(kind, error, trace)


class Incoming(_Wrapped):
    """What the client sends, whose end comes once everything is answered."""

    async def receive(self) -> Any:
        """The next message."""
        try:
            item = await self._stream.receive()
        except anyio.EndOfStream:
            await self._asked.drained()
            raise
        self._asked.came(getattr(item, "message", None))
        return item

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class Outgoing(_Wrapped):
    """What the client is sent."""

    async def send(self, item: Any) -> None:
        """Send a message."""
        await self._stream.send(item)
        self._asked.went(item.message)
