"""A real server on loopback in the test's own loop: guard, REST and MCP, with a token of its own for each scope."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2

from memhold import AsyncMemhold
from memhold.server.listening import bound
from memhold.server.serving import Serving, UvicornServer, serving, uvicorn_config
from memhold.server.settings import ServeSettings
from memhold.testing import FakeClock
from memhold.values.records import Scope

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients of plain HTTP: each would read the system's certificates for itself, which takes longer than most answers."""

OWN: tuple[Any, ...] = ("read", "write", "admin")
"""What the token of one scope may do at most; `act` makes it a service's."""

FAST = {"rate_per_second": 1e6, "failed_per_second": 1e6, "work_per_second": 1e6}


@dataclass(frozen=True)
class Live:
    """A server that runs, the store behind it, and the store's clock."""

    url: str
    memhold: AsyncMemhold
    clock: FakeClock
    made: Serving
    loop: asyncio.AbstractEventLoop
    clients: list[AsyncMemhold] = field(default_factory=list)

    async def token(self, rights: Sequence[Any] = OWN, **names: Any) -> str:
        made = asyncio.run_coroutine_threadsafe(self._token(rights, names), self.loop)
        return await asyncio.wrap_future(made)  # a test may run on a loop of its own

    async def _token(self, rights: Sequence[Any], names: dict[str, Any]) -> str:
        return (await self.memhold.admin.tokens.create(rights=rights, **names)).secret

    def client(self, token: str | None = None, **options: Any) -> httpx2.AsyncClient:
        """Plain HTTP, as somebody's own client would speak it."""
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return httpx2.AsyncClient(base_url=self.url, headers=headers, trust_env=False, verify=NO_TLS, **options)

    async def opened(self, rights: Sequence[Any] = OWN, **names: Any) -> AsyncMemhold:
        made = await AsyncMemhold.open(self.url, token=await self.token(rights, **names))
        self.clients.append(made)
        return made


@asynccontextmanager
async def live(
    location: str = "memory://",
    *,
    settings: dict[str, Any] | None = None,
    local: Scope = Scope(user="local"),  # noqa: B008 - a value, and never changed
    **opened: Any,
) -> AsyncIterator[Live]:
    """A server on a free port of loopback; every request needs a token, except on `settings={"tokens": False}`."""
    clock = FakeClock()
    given = {**FAST, **(settings or {})}
    tokens = given.pop("tokens", True)
    given.setdefault("insecure_loopback", not tokens)
    given.setdefault("port", 0)
    chosen = ServeSettings(**given)
    async with AsyncMemhold.open(location, clock=clock, **{"worker": False, **opened}) as memhold:
        if tokens:
            await memhold.admin.tokens.create(label="so that the door is shut")
        made = await serving(memhold, chosen, local=local, folder=Path("/nonexistent"), location=location)
        sock = bound(chosen)
        server = UvicornServer(uvicorn_config(made.app, chosen))

        async def run() -> None:
            # In one task from beginning to end: what MCP enters must be left where it was entered.
            async with made.mcp.lifespan():
                await server.serve([sock])

        task = asyncio.create_task(run())
        while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody
            await asyncio.sleep(0)
        try:
            running = Live(
                f"http://127.0.0.1:{sock.getsockname()[1]}", memhold, clock, made, asyncio.get_running_loop()
            )
            yield running
        finally:
            for client in running.clients:
                await client.close()
            made.streams.end()
            server.should_exit = True
            await task
            sock.close()


class RemoteHarness:
    """A `Harness` whose scopes are clients, each with the token of its scope.

    With `apart` its namespaces are its own, so that one server serves the harnesses of many tests, each empty.
    """

    def __init__(self, server: Live, apart: str = "") -> None:
        self._server = server
        self._apart = apart
        self._clients: dict[Scope, asyncio.Task[AsyncMemhold]] = {}

    def scope(self, *, session: str | None = None, **names: Any) -> Any:
        Scope(**names, session=session)
        names["namespace"] = f"{self._apart}{names.get('namespace', 'default')}"
        own = Scope(**names)
        if own not in self._clients:
            self._clients[own] = asyncio.ensure_future(self._server.opened(**names))
        return Later(self._clients[own], {**names, "session": session})

    async def advance(self, span: timedelta) -> None:
        self._server.clock.advance(span)

    async def settle(self) -> None:
        for namespace in {"default", *(own.namespace.removeprefix(self._apart) for own in self._clients)}:
            admin = await self.scope(namespace=namespace, user="the one who settles").opened()
            await admin.settle()


class Later:
    """The verbs of a scope of a client that is being opened."""

    def __init__(self, client: asyncio.Task[AsyncMemhold], names: dict[str, Any], part: str | None = None) -> None:
        self._client = client
        self._names = names
        self._part = part

    @property
    def documents(self) -> Later:
        """The verbs of documents of the same scope."""
        return Later(self._client, self._names, "documents")

    async def opened(self) -> AsyncMemhold:
        return await self._client

    def __getattr__(self, verb: str) -> Any:
        async def call(*args: Any, **named: Any) -> Any:
            scope = (await self._client).scope(**self._names)
            return await getattr(scope if self._part is None else getattr(scope, self._part), verb)(*args, **named)

        return call


@asynccontextmanager
async def remote_harness(location: str = "memory://", **opened: Any) -> AsyncIterator[RemoteHarness]:
    async with live(location, **opened) as server:
        harness = RemoteHarness(server)
        yield harness
