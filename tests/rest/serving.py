"""A real server on loopback in the test's own loop, and a door that knows a principal for each token."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import uvicorn

from holdfast import AsyncHoldfast
from holdfast.errors import Unauthenticated
from holdfast.interfaces.principal import PRINCIPAL, RIGHTS, Principal
from holdfast.interfaces.problems import problem_of, send_problem
from holdfast.interfaces.rest import rest_app
from holdfast.model import Scope
from holdfast.testing import FakeClock


class Door:
    """Stands where the guard stands: a token is a principal, and no token is nobody."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.known: dict[str, Principal] = {}

    def token(self, scope: Scope, rights: Any = RIGHTS) -> str:
        name = f"t{len(self.known)}"
        self.known[name] = Principal(scope=scope, rights=frozenset(rights), token=name)
        return name

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
            if given not in self.known:
                await send_problem(send, problem_of(Unauthenticated("send a token")))
                return
            scope[PRINCIPAL] = self.known[given]
        await self._app(scope, receive, send)


@asynccontextmanager
async def listening(app: Any) -> AsyncIterator[str]:
    """The application on a free port of loopback."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, lifespan="off", access_log=False, timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
    task = asyncio.create_task(server.serve([sock]))
    while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody
        await asyncio.sleep(0)
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        sock.close()


class RemoteHarness:
    """A `Harness` whose scopes are clients, each with the token of its scope."""

    def __init__(self, holdfast: AsyncHoldfast, clock: FakeClock, door: Door, url: str) -> None:
        self._holdfast = holdfast
        self._clock = clock
        self._door = door
        self._url = url
        self._clients: dict[Scope, Opened] = {}

    def scope(self, *, session: str | None = None, **names: Any) -> Any:
        own = Scope(**names)
        Scope(**names, session=session)
        client = self._clients.setdefault(own, Opened(self._url, self._door.token(own)))
        return Later(client, {**names, "session": session})

    async def advance(self, span: timedelta) -> None:
        self._clock.advance(span)

    async def settle(self) -> None:
        async with AsyncHoldfast.open(self._url, token=self._door.token(Scope())) as admin:
            await admin.settle()

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()


class Opened:
    """A client that opens when it is first used."""

    def __init__(self, url: str, token: str) -> None:
        self._opening = (url, token)
        self._made: asyncio.Task[AsyncHoldfast] | None = None

    async def get(self) -> AsyncHoldfast:
        if self._made is None:
            url, token = self._opening
            self._made = asyncio.ensure_future(_open(url, token))
        return await self._made

    async def close(self) -> None:
        if self._made is not None:
            await (await self._made).close()


async def _open(url: str, token: str) -> AsyncHoldfast:
    return await AsyncHoldfast.open(url, token=token)


class Later:
    """The verbs of a scope of a client that is opened with the first of them."""

    def __init__(self, client: Opened, names: dict[str, Any]) -> None:
        self._client = client
        self._names = names

    def __getattr__(self, verb: str) -> Any:
        async def call(*args: Any, **named: Any) -> Any:
            scope = (await self._client.get()).scope(**self._names)
            return await getattr(scope, verb)(*args, **named)

        return call


@asynccontextmanager
async def remote_harness(location: str = "memory://", **settings: Any) -> AsyncIterator[RemoteHarness]:
    clock = FakeClock()
    async with AsyncHoldfast.open(location, clock=clock, worker=False, **settings) as hf:
        door = Door(rest_app(hf))
        async with listening(door) as url:
            harness = RemoteHarness(hf, clock, door, url)
            try:
                yield harness
            finally:
                await harness.close()
