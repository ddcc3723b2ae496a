"""Connections that say nothing: let go of after a while, so that whoever opens ten thousand keeps none for long."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["MOST_HEAD", "patient_protocol"]

MOST_HEAD = 64 * 1024
"""Bytes of a request's head after which no more of it is waited for; nobody has shown a token by then."""
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def patient_protocol(seconds: float) -> type[HttpToolsProtocol]:
    """The protocol of uvicorn with an end to its patience: the head of a request must be there within so many seconds.

    uvicorn itself only ends connections that are idle after an answer; one that never sends a request, or sends its
    head byte by byte, it would keep for ever. And it would keep an endless head in memory: it ends at `MOST_HEAD`.
    """

    class Patient(HttpToolsProtocol):
        _ending: asyncio.TimerHandle | None = None
        _head = 0

        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            # Its lines hold what was asked for; ours hold the route.
            self.access_log = False

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._done_waiting()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            awaited = self._ending is not None
            super().data_received(data)
            self._head = self._head + len(data) if awaited and self._ending is not None else 0
            if self._head > MOST_HEAD and not self.transport.is_closing():
                self.transport.write(_TOO_LARGE)
                self.transport.close()

        def on_message_begin(self) -> None:
            self._wait()
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._done_waiting()
            super().on_headers_complete()

        def _wait(self) -> None:
            self._done_waiting()
            self._ending = self.loop.call_later(seconds, self.transport.abort)

        def _done_waiting(self) -> None:
            if self._ending is not None:
                self._ending.cancel()
                self._ending = None

    return Patient
