"""What a connection may cost before its request is trusted: bytes that are counted, and time that ends.

Whoever opens ten thousand connections, sends an endless head, an endless tail or a body that nobody wants keeps neither
memory nor the connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from memhold.server.guard_rules import WHOLE

__all__ = ["MOST_HEAD", "MOST_HEADS", "MOST_TAIL", "patient_protocol"]

MOST_HEAD: Final = 64 * 1024
"""Bytes of a request's head after which no more of it is waited for; nobody has shown a token by then."""
MOST_HEADS: Final = 16 * 1024 * 1024
"""Bytes of unfinished heads that a server keeps over all its connections."""
MOST_LINES: Final = 256
"""Header lines of one request: each costs more memory than its bytes."""
MOST_TAIL: Final = 64 * 1024
"""Bytes that a chunked body may cost beyond its content: sizes, extensions, trailers. As many as it has are free."""
LINGER_SECONDS: Final = 2.0
LINGER_BYTES: Final = 32 * 1024 * 1024
"""How much of an unwanted body is thrown away so that its sender can read the refusal (RFC 9112, section 9.6)."""
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class _TooManyLines(Exception):
    """A head has more lines than any client sends."""


class _Heads:
    """The bytes of unfinished heads, over all connections of a server."""

    def __init__(self) -> None:
        self.held = 0


class _Lingering:
    """A transport that closes in two steps while a body is still arriving, so that the answer is not lost with it."""

    def __init__(self, transport: Any, unread: Callable[[], bool], loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._unread = unread
        self._loop = loop
        self._end: asyncio.TimerHandle | None = None
        self._left = LINGER_BYTES

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    @property
    def lingers(self) -> bool:
        return self._end is not None

    def is_closing(self) -> bool:
        return self.lingers or self._transport.is_closing()

    def close(self) -> None:
        if self.is_closing():
            return
        if not self._unread() or not self._transport.can_write_eof():
            self._transport.close()
            return
        self._end = self._loop.call_later(LINGER_SECONDS, self._transport.abort)
        self._transport.write_eof()
        self._transport.resume_reading()

    def thrown_away(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            self._transport.abort()

    def lost(self) -> None:
        if self._end is not None:
            self._end.cancel()


class _Patient(HttpToolsProtocol):
    """A connection whose bytes are counted; see `patient_protocol`."""

    patience = 60.0
    heads: _Heads
    _ending: asyncio.TimerHandle | None = None
    _head = 0
    _lines = 0
    _extra = 0
    _in_body = False

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        # Its lines hold what was asked for; ours hold the route.
        self.access_log = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.transport = self._lingering = _Lingering(transport, self._is_unread, self.loop)  # type: ignore[assignment]
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._done_waiting()
        self._hold(0)
        self._lingering.lost()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._lingering.lingers:
            self._lingering.thrown_away(len(data))
            return
        awaited = self._ending is not None
        self._extra += len(data) if self._in_body else 0
        super().data_received(data)
        self._hold(self._head + len(data) if awaited and self._ending is not None else 0)
        over = self._head > MOST_HEAD or self.heads.held > MOST_HEADS
        if (over or self._extra > MOST_TAIL) and not self.transport.is_closing():
            self._give_up()

    def on_message_begin(self) -> None:
        self._wait()
        self._lines, self._extra, self._in_body = 0, 0, False
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # a trailer: nobody asked for it, and it must not become a header behind the guard's back
        self._lines += 1
        if self._lines > MOST_LINES:
            raise _TooManyLines  # the parser ends and calls `send_400_response`
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._done_waiting()
        self._in_body = True
        super().on_headers_complete()
        cycle = self.cycle
        cast("dict[str, Any]", self.scope)[WHOLE] = lambda: not cycle.more_body

    def on_body(self, body: bytes) -> None:
        # Its own bytes were counted when they came; as many again may be spent on chunks.
        self._extra -= 2 * len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._extra, self._in_body = 0, False
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if self._lines > MOST_LINES:
            self._give_up()
        else:
            super().send_400_response(msg)

    def on_response_complete(self) -> None:
        if self._is_unread():
            self.transport.close()
        super().on_response_complete()

    def _is_unread(self) -> bool:
        """Whether the newest request was answered before all of it had come."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and cycle.response_complete and cycle.more_body

    def _give_up(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(_TOO_LARGE)
        if cycle is not None:
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.close()

    def _hold(self, size: int) -> None:
        self.heads.held += size - self._head
        self._head = size

    def _wait(self) -> None:
        self._done_waiting()
        self._ending = self.loop.call_later(self.patience, self.transport.abort)

    def _done_waiting(self) -> None:
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None


def patient_protocol(seconds: float) -> type[HttpToolsProtocol]:
    """The protocol of uvicorn with an end to its patience: the head of a request must be there within so many seconds.

    uvicorn itself only ends connections that are idle after an answer; one that never sends a request, or sends its
    head byte by byte, it would keep for ever. It keeps endless heads and trailers in memory, and goes on to read what
    is behind a refusal: here each byte of a request is counted, trailers are dropped, and a connection whose answer was
    sent before its body had come ends.
    """
    return type("Patient", (_Patient,), {"patience": seconds, "heads": _Heads()})
