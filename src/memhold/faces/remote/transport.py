"""Calls to a server: what is sent again and when, and what comes back as a value or as the library's own error."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from memhold._version import __version__
from memhold.faces.remote.wire import MAX_BODY, error_of
from memhold.values.errors import (
    ForkedProcess,
    InvalidInput,
    MemholdError,
    NotFound,
    RateLimited,
    ServerUnreachable,
    StoreBusy,
    StoreClosed,
    StoreError,
    TooLarge,
    WrongLoop,
)
from memhold.values.jsonable import body_json

if TYPE_CHECKING:
    import httpx2

__all__ = ["Acting", "Answer", "Call", "Sends", "Transport"]

MAX_RETRIES = 4
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
IDLE_SECONDS = 3.0
"""A connection that was idle so long is not used again: servers let go of it after five, often without a word."""
CONNECT_SECONDS = 5.0
MAX_QUERY = 60_000
"""Bytes of an address of which no server is asked: both ends stop at 64 KiB for all headers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call: where, with what, and whether it may be sent twice.

    `again` is true where a second arrival changes nothing: it reads, or carries an idempotency key. `timeout` is in
    seconds, for all tries together; None for the transport's own.
    """

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, bytes] = field(default_factory=dict)
    again: bool = False
    timeout: float | None = None
    upload: Callable[[], AsyncIterator[bytes]] | None = None

    @property
    def content_there(self) -> bool:
        """Whether it has a body."""
        return self.upload is not None or self.body is not None

    def content(self) -> bytes | AsyncIterator[bytes] | None:
        """The bytes of the body; JSON as `body_json` writes it."""
        if self.upload is not None:
            return self.upload()
        return None if self.body is None else body_json(self.body).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a call gave: parsed JSON, and the headers by lower-case name."""

    data: Any
    headers: Mapping[str, str]


class Sends(Protocol):
    """What makes calls to a server."""

    async def send(self, call: Call) -> Answer:
        """Make a call and give its answer."""
        ...

    def stream(self, call: Call) -> AbstractAsyncContextManager[tuple[Mapping[str, str], AsyncIterator[bytes]]]:
        """Make a call whose answer is read piece by piece."""
        ...


class Acting:
    """A transport whose calls all carry these headers: in whose name they are made, and for which user."""

    def __init__(self, transport: Sends, headers: Mapping[str, str]) -> None:
        self._transport = transport
        self._headers = {name: value.encode() for name, value in headers.items()}

    async def send(self, call: Call) -> Answer:
        """Make a call and give its answer."""
        return await self._transport.send(self._said(call))

    def stream(self, call: Call) -> AbstractAsyncContextManager[tuple[Mapping[str, str], AsyncIterator[bytes]]]:
        """Make a call whose answer is read piece by piece."""
        return self._transport.stream(self._said(call))

    def _said(self, call: Call) -> Call:
        return replace(call, headers={**call.headers, **self._headers})


def _too_large(call: Call, failed: MemholdError) -> TooLarge | None:
    """A server ends a connection that brings more than it takes, and who is still sending does not hear why."""
    content = call.content() if isinstance(failed, ServerUnreachable) and call.upload is None else None
    if not isinstance(content, bytes) or len(content) <= MAX_BODY:
        return None
    said = f"the call has {len(content):,} bytes and the server ended the connection; split it: a server takes"
    return TooLarge(f"{said} {MAX_BODY:,} unless it is set otherwise", size=len(content), limit=MAX_BODY)


def _unsendable(query: Mapping[str, Any]) -> InvalidInput:
    """Which part of an address no encoding holds: half a surrogate pair."""
    name = next(name for name, value in query.items() if not _encodable(str(value)))
    return InvalidInput(f"{name} is {query[name]!r:.40}, of which a part is half a character; pass whole ones")


def _encodable(text: str) -> bool:
    return text.isascii() or not any(0xD800 <= ord(c) <= 0xDFFF for c in text)


def _too_long(query: Mapping[str, Any]) -> TooLarge | None:
    """The longest part of an address, where that is too long for one as a whole; None where it is not."""
    name = max(query, key=lambda name: len(quote(str(query[name]))), default="")
    size = len(quote(str(query.get(name, ""))))
    if size < MAX_QUERY:
        return None
    said = f"{name} takes {size:,} bytes in the address of a call; a server takes about {MAX_QUERY:,}: shorten it"
    return TooLarge(said, size=size, limit=MAX_QUERY)


class Transport:
    """A server at one address, with one token. It belongs to the event loop that made it."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = 60.0,
        client: httpx2.AsyncClient | None = None,
        random: Random | None = None,
        sleep: Callable[[float], Any] = asyncio.sleep,
    ) -> None:
        import ssl

        import httpx2

        self.url = url.rstrip("/")
        self.timeout = timeout
        self._random = random or Random()
        self._sleep = sleep
        self._pid = os.getpid()
        self._loop = asyncio.get_running_loop()
        headers = {"user-agent": f"memhold/{__version__}"}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        limits = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=IDLE_SECONDS)
        # Reading the system's certificates takes 50 ms and more: not where nothing is encrypted.
        verify = True if self.url.lower().startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._client = client or httpx2.AsyncClient(
            limits=limits, trust_env=False, follow_redirects=False, verify=verify
        )
        self._headers = headers
        self._closed = False

    @property
    def forked(self) -> bool:
        """Whether this process is a child of the one that opened it."""
        return os.getpid() != self._pid

    def guard(self) -> None:
        """Refuse another event loop, a forked child, and use after the end.

        Raises:
            WrongLoop, ForkedProcess, StoreClosed: as a local store does.
        """
        if self.forked:
            raise ForkedProcess("this connection was opened before a fork; open it again in the child process")
        if asyncio.get_running_loop() is not self._loop:
            raise WrongLoop("this AsyncMemhold belongs to another event loop; open one in this loop, or use Memhold")
        if self._closed:
            raise StoreClosed("the connection is closed; open it again")

    async def close(self) -> None:
        """Let go of every connection. Idempotent."""
        if not self._closed and not self.forked:
            self._closed = True
            await self._client.aclose()

    async def send(self, call: Call) -> Answer:
        """Make a call and give its answer.

        A call that cannot have arrived is sent again, one that may have only where that changes nothing.

        Raises:
            MemholdError: what the server raised, of the same class.
            ServerUnreachable: no answer came; `sent` says whether the call may have been carried out.
        """
        async with self._answered(call) as response:
            text = await self._read(response)
        return Answer(data=text, headers={name.lower(): value for name, value in response.headers.items()})

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[tuple[Mapping[str, str], AsyncIterator[bytes]]]:
        """Make a call whose answer is read piece by piece: its headers, and the pieces."""
        async with self._answered(call) as response:
            yield response.headers, self._pieces(response)

    async def _pieces(self, response: httpx2.Response) -> AsyncIterator[bytes]:
        import httpx2

        try:
            async for piece in response.aiter_bytes():
                yield piece
        except httpx2.TransportError as error:
            raise self._lost(error, sent=True) from None

    async def _read(self, response: httpx2.Response) -> Any:
        import httpx2

        try:
            return json.loads(await response.aread())
        except httpx2.TransportError as error:
            raise self._lost(error, sent=True) from None
        except ValueError:
            raise StoreError(
                f"{self.url} answered {response.status_code} without JSON; check that it is a Memhold server"
            ) from None

    @asynccontextmanager
    async def _answered(self, call: Call) -> AsyncIterator[httpx2.Response]:
        """A response that is a success, its body unread; else the error, after as many tries as are allowed."""
        self.guard()
        end = monotonic() + (self.timeout if call.timeout is None else call.timeout)
        tried = 0
        while True:
            tried += 1
            response, failed, again = await self._try(call, max(0.001, end - monotonic()))
            if response is not None and failed is None:
                try:
                    yield response
                finally:
                    await response.aclose()
                return
            assert failed is not None  # noqa: S101 - one of the two is there
            pause = self._pause(tried, failed)
            if not again or tried > MAX_RETRIES or pause > end - monotonic():
                raise _too_large(call, failed) or failed
            await self._sleep(pause)

    def _pause(self, tried: int, failed: MemholdError) -> float:
        asked = failed.values.get("retry_after")
        if isinstance(asked, int | float):
            return float(asked)
        return self._random.uniform(0.5, 1.0) * min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (tried - 1))

    async def _try(self, call: Call, seconds: float) -> tuple[httpx2.Response | None, MemholdError | None, bool]:
        """One try: the response, or the error and whether the call may be sent again."""
        import httpx2

        timeout = httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        kind = {"content-type": "application/octet-stream" if call.upload is not None else "application/json"}
        headers: dict[str, Any] = {**self._headers, **(kind if call.content_there else {}), **call.headers}
        query = {name: value for name, value in call.query.items() if value is not None}
        try:
            request = self._client.build_request(
                call.method, f"{self.url}{call.path}", params=query, content=call.content(), headers=headers,
                timeout=timeout,
            )  # fmt: skip
            response = await self._client.send(request, stream=True)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            return None, self._lost(error, sent=False), True
        except UnicodeEncodeError:
            raise _unsendable(query) from None
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            said = f"{self.url!r:.80} is no address of a server: {error}; pass http://host:port"
            raise _too_long(query) or InvalidInput(said) from None
        except httpx2.TransportError as error:
            return None, self._lost(error, sent=True), call.again
        if response.is_success:
            return response, None, False
        failed = await self._failure(response)
        again = isinstance(failed, RateLimited) or (
            call.again and isinstance(failed, ServerUnreachable | StoreBusy | StoreClosed)
        )
        return None, failed, again

    async def _failure(self, response: httpx2.Response) -> MemholdError:
        import httpx2

        status = response.status_code
        try:
            body = json.loads(await response.aread())
        except httpx2.TransportError as error:
            # What the status stands for is not known without it: 404 is an id as well as a route.
            return self._lost(error, sent=True)
        except ValueError:
            body = None
        finally:
            await response.aclose()
        found = error_of(body, status)
        if found is not None:
            return found
        where = f"{self.url} answered {status}"
        if status in {502, 503, 504}:
            return ServerUnreachable(f"{where}: what stands in front of the server could not reach it", sent=True)
        if status == 413:
            return TooLarge(f"{where}: the body is larger than it takes; split it", size=-1, limit=-1)
        if status == 404:
            return NotFound(f"{where}: there is no such route; check the address and the server's release", id="")
        return StoreError(f"{where}; check that it is a Memhold server of this release")

    def _lost(self, error: Exception, *, sent: bool) -> ServerUnreachable:
        kind = type(error).__name__
        said = (
            f"the connection to {self.url} was lost before an answer came ({kind}); the call may have been carried out:"
            " send it again with the same idempotency key"
            if sent
            else f"{self.url} cannot be reached ({kind}); check the address, and that 'memhold serve' runs there"
        )
        return ServerUnreachable(said, sent=sent, cause=kind)
