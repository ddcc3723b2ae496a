"""HTTP/1.1 by hand over asyncio streams, because a server that fails needs every byte: resets, drips, half bodies."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import h11

__all__ = ["Incoming", "Outgoing", "read_request", "reset", "send"]

_READ = 65_536
_HOP = frozenset(
    {"connection", "content-length", "transfer-encoding", "keep-alive", "proxy-connection", "te", "upgrade"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One request: method, target, headers by lower-case name, body."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One answer. A stream's `parts` are sent one by one; a whole body is sent with its length."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    parts: Sequence[bytes] = ()
    stream: bool = False

    @property
    def body(self) -> bytes:
        """All parts together."""
        return b"".join(self.parts)


async def read_request(reader: asyncio.StreamReader, connection: h11.Connection) -> Incoming | None:
    """The next request of a connection; None when the client is done, or speaks something else."""
    request: h11.Request | None = None
    body = bytearray()
    try:
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(_READ))
            elif isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage) and request is not None:
                headers = {name.decode().lower(): value.decode("latin-1") for name, value in request.headers}
                target = request.target.decode("latin-1")
                return Incoming(method=request.method.decode(), target=target, headers=headers, body=bytes(body))
            else:
                return None
    except (h11.RemoteProtocolError, ConnectionError):
        return None


async def send(
    writer: asyncio.StreamWriter,
    connection: h11.Connection,
    outgoing: Outgoing,
    *,
    drip: Callable[[], Awaitable[object]] | None = None,
    cut: bool = False,
) -> None:
    """Write an answer. With `drip` eight bytes at a time go out, `drip` awaited in between; with `cut` only half."""
    headers = [(name, value) for name, value in outgoing.headers.items() if name.lower() not in _HOP]
    if outgoing.stream:
        headers.append(("transfer-encoding", "chunked"))
    else:
        headers.append(("content-length", str(len(outgoing.body))))
    response = h11.Response(status_code=outgoing.status, headers=headers)
    writer.write(connection.send(response) or b"")
    await writer.drain()
    parts: Sequence[bytes] = outgoing.parts
    if drip is not None:
        parts = [outgoing.body[i : i + 8] for i in range(0, len(outgoing.body), 8)]
    if cut:
        parts = [outgoing.body[: len(outgoing.body) // 2]]
    for part in parts:
        if drip is not None:
            await drip()
        writer.write(connection.send(h11.Data(data=part)) or b"")
        await writer.drain()
    if not cut:
        writer.write(connection.send(h11.EndOfMessage()) or b"")
        await writer.drain()


def reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection with a TCP reset, so that the client sees "connection reset by peer"."""
    sock = writer.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
