"""One port: REST, MCP at `/mcp`, metrics and health behind the guard, from this process or as one of several."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import uvicorn
from uvicorn.loops.auto import auto_loop_factory

from memhold.faces.agents.take_in import keep_taking_in, take_in
from memhold.faces.mcp.http import McpApp, mcp_app
from memhold.faces.python.open import AsyncMemhold
from memhold.faces.remote.local_token import kept_local_token
from memhold.faces.remote.wire import MAX_BODY
from memhold.faces.rest.app import RestOptions, rest_app
from memhold.faces.rest.changes import Streams
from memhold.faces.rest.data import Scratch
from memhold.faces.ui.pages import ui_app
from memhold.ports.signals import heard
from memhold.server.browser_shelf import OnDisk
from memhold.server.browsers import Browsers
from memhold.server.connections import patient_protocol
from memhold.server.guard_rules import BodyLimits, Rate
from memhold.server.guard_setup import Door, guarded, oauth_of_file
from memhold.server.listening import BACKLOG, address_of_socket, listening, url_of
from memhold.server.loop_watch import LoopWatch
from memhold.server.metrics import Metrics
from memhold.server.request_cost import MeteredThreads
from memhold.server.routing import Observed, PathRouter
from memhold.server.settings import ServeSettings
from memhold.server.shared_state import ServerFiles, SharedState
from memhold.text import lazily
from memhold.values.errors import InvalidSetting, MemholdError
from memhold.values.records import Scope
from memhold.verbs.local_scope import load_units
from memhold.verbs.local_store import LocalStore
from memhold.verbs.runtime import Runtime
from memhold.verbs.store_protocols import AsyncStore
from memhold.wiring import build
from memhold.wiring.postgres import shown
from memhold.wiring.stores import scheme_of, sqlite_path

__all__ = [
    "ANALYSIS_PROCESSES",
    "Among",
    "Serving",
    "UvicornServer",
    "around",
    "body_limits",
    "kept_token",
    "opened_to_serve",
    "run",
    "serve",
    "serving",
    "uvicorn_config",
]

log = logging.getLogger("memhold.serve")
load_units()  # at the start: at the first request all others would wait for it

App = Callable[
    [
        MutableMapping[str, Any],
        Callable[[], Awaitable[MutableMapping[str, Any]]],
        Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ],
    Awaitable[None],
]
_STOPS = (signal.SIGINT, signal.SIGTERM)
_ACCEPTED = 0.5
"""Seconds until a connection that was accepted when a server retired is among its connections."""
_TOLD = 2 * 1024 * 1024
"""A note of 100,000 characters, each written as an escape of JSON, with its labels."""
_ASKED = 64 * 1024
"""A question of 10,000 characters, each written as an escape of JSON, with its filters."""
_IMPORTED = 1024 * 1024 * 1024
"""The export of a life of chats has some hundred megabytes; it goes to the disk, not to memory."""
ANALYSIS_PROCESSES = 1
"""Processes that analyse long texts (64 KiB and more), so that nobody waits for another's; the store has one writer."""
RATE_BURST, WORK_BURST, FAILED_BURST = 200, 30, 20
"""What one token, or one address, may do at once after a pause: a page that opens, an import, a shared proxy."""
HEADER_SECONDS = 60.0
"""Until the head of a request must be there, and until an idle connection is let go: what proxies wait, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Among:
    """Which process of a server this is: its number among those that are there, and what they share."""

    files: ServerFiles
    place: int
    local_token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A server put together around an open store: the application, and what is told when it stops."""

    app: Observed
    streams: Streams
    mcp: McpApp
    metrics: Metrics
    watch: LoopWatch
    state: SharedState
    local_token: str | None = field(default=None, repr=False)


async def serving(
    memhold: AsyncStore, settings: ServeSettings, *, local: Scope, folder: Path | None = None,
    among: Among | None = None, host: str | None = None, location: str = "memory://",
) -> Serving:  # fmt: skip
    """Put a server together around an open store; enter `mcp.lifespan()` while it serves.

    With `among` it is one process of several. What is written is noted beside the file of `location`.
    `host` is where it listens, unless that is what the settings say.

    Raises:
        InvalidSetting: it must not be served like this.
    """
    seen: AsyncStore = memhold
    if settings.telemetry:
        from memhold.server.telemetry import traced, tracer_of

        seen = traced(memhold, tracer_of())
    files = None if among is None else among.files
    state = SharedState.alone() if among is None else SharedState.of(among.files, among.place)
    streams = Streams(count=state.streams)
    watch = LoopWatch()
    metrics = Metrics(held=lambda: watch.longest, folder=None if files is None else files.metrics)
    mcp = mcp_app(seen, documents=settings.mcp_documents)
    file = Path(sqlite_path(location)) if scheme_of(location) == "sqlite" else None
    rest = rest_app(seen, RestOptions(streams=streams, scratch=Scratch(store=file)))
    if settings.compat:
        from memhold.faces.compat.ams import compat_router

        rest.include_router(compat_router(seen))
    front = PathRouter(
        rest=rest, mcp=mcp, ui=ui_app(seen), admin=lambda: memhold.admin, metrics=metrics,
        streams=streams,
    )  # fmt: skip
    token = secrets.token_urlsafe(32) if among is None else among.local_token
    door = _door(
        settings, local, folder, "" if settings.insecure_loopback else token,
        settings.host if host is None else host,
    )  # fmt: skip
    guard = await guarded(front, memhold, door, now=datetime.now(UTC), spent=metrics.refused, state=state)
    secure = settings.tls or settings.behind_proxy or settings.public_url.startswith("https:")
    shelf = None if files is None else OnDisk(files.browsers, files.secret)
    return Serving(
        app=Observed(Browsers(guard, secure=secure, shelf=shelf), metrics),
        streams=streams,
        mcp=mcp,
        metrics=metrics,
        watch=watch,
        state=state,
        local_token=door.local_token if door.local_token and guard.open_to_this_machine else None,
    )


def _door(settings: ServeSettings, local: Scope, folder: Path | None, local_token: str, host: str) -> Door:
    return Door(
        host=host,
        local=local,
        local_token=local_token,
        tls=settings.tls,
        behind_proxy=settings.behind_proxy,
        allow_hosts=_names(settings.allow_hosts),
        allow_origins=_names(settings.allow_origins),
        public_url=settings.public_url,
        oauth=oauth_of_file(folder or Path()),
        rate=Rate(per_second=settings.rate_per_second, burst=RATE_BURST),
        failures=Rate(per_second=settings.failed_per_second, burst=FAILED_BURST),
        work_rate=Rate(per_second=settings.work_per_second, burst=WORK_BURST),
        bodies=body_limits(),
    )


def body_limits() -> BodyLimits:
    """The largest body by route: what a question, a note, a command or a conversation can be."""
    conversation, told, asked = MAX_BODY, _TOLD, _ASKED
    paths = {
        "/v1/import": _IMPORTED,
        "/v1/messages": conversation,
        "/v1/context": conversation,
        "/v1/recall": conversation,
        "/mcp": conversation,
        "/mcp/": conversation,
        "/v1/memories": told,
        "/v1/memories/": told,
        "/v1/documents": conversation,
        "/ui/memories/": told,
        "/ui/remember": told,
        "/v1/documents/": conversation,
        "/v1/working-memory/": conversation,
        "/v1/long-term-memory/": conversation,
        "/v1/long-term-memory/search": asked,
        "/v1/memory/prompt": conversation,
    }
    return BodyLimits(others=asked, paths=paths, without=asked, files=frozenset({"/v1/import"}))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


class UvicornServer(uvicorn.Server):
    """Stops when it is told to, not by the signals of whoever runs it: the store is closed after it.

    `begun` is called once connections are taken.
    """

    def __init__(self, config: uvicorn.Config, *, begun: Callable[[], None] = lambda: None) -> None:
        super().__init__(config)
        self._begun = begun

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        """Capture none."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Take connections."""
        await super().startup(sockets)
        self._begun()

    async def retire(self, seconds: float) -> None:
        """Leave further connections to others, answer what comes on those that there are, and end.

        An answer ends its connection, and says so; one on which nothing comes is kept for so many seconds, because
        its client may be sending now. So nobody is refused who is served elsewhere by the same address.
        """
        for one in self.servers:
            one.close()
        last = (b"connection", b"close")
        self.config.encoded_headers = [*self.config.encoded_headers, last]
        self.server_state.default_headers = [*self.server_state.default_headers, last]
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        await asyncio.sleep(_ACCEPTED)
        while self.server_state.connections and loop.time() < until:  # noqa: ASYNC110 - as uvicorn waits for them
            await asyncio.sleep(0.1)
        self.should_exit = True


@asynccontextmanager
async def around(made: Serving) -> AsyncIterator[None]:
    """What must stand around a server that takes requests: threads that are metered, the loop watched, MCP ready."""
    asyncio.get_running_loop().set_default_executor(MeteredThreads(thread_name_prefix="memhold"))
    lazily.compile_all()  # no request holds the loop for what it would compile
    made.watch.begin()
    async with made.mcp.lifespan():
        yield
    made.watch.end()
    said = {"longest_seconds": round(made.watch.longest, 3), "over_goal": made.watch.over_goal}
    log.info("the longest hold of the event loop", extra=said)


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a server until it ends, on the fastest event loop that is installed (uvloop, where the system has it)."""
    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
        runner.run(main)


async def opened_to_serve(location: str, opened: Mapping[str, Any]) -> Runtime:
    """The store that a process of a server keeps open; its file is watched, whoever does the due work."""
    runtime = await build(location, opened)
    if runtime.watch is not None:
        runtime.watch.start()
    return runtime


async def serve(
    location: str,
    settings: ServeSettings,
    *,
    opened: Mapping[str, Any],
    local: Scope,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a store from this process until SIGINT or SIGTERM; SIGHUP opens it anew, with the catalog as it then is.

    A stop takes nothing more, lets requests that are running end, ends streams, and closes the store as `close` does:
    what was acknowledged is durable before. `ready` gets the address once requests are taken.

    Raises:
        InvalidSetting: it must not be served like this.
    """
    socks, host = listening(settings)
    try:
        opened = {"worker": settings.upkeep, "analysis_processes": ANALYSIS_PROCESSES, **opened}
        async with AsyncMemhold(LocalStore(await opened_to_serve(location, opened))) as memhold:
            made = await serving(memhold, settings, local=local, host=host, location=location)
            server = UvicornServer(uvicorn_config(made.app, settings))
            reloads = _Reloads(memhold, location, opened, made.app)
            taking_in = asyncio.create_task(keep_taking_in(memhold, location))
            # Outside of what stands around: a task group would make a riddle of what cannot be kept.
            with kept_token(made.local_token, socks):
                async with around(made), _signals(server, made.streams, reloads):
                    url = url_of(socks, tls=settings.tls)
                    log.info("serving", extra={"url": url, "store": shown(location)})
                    # Who reads the address may ask at once: it waits until the server takes it.
                    for sock in socks:
                        sock.listen(BACKLOG)
                    ready(url)
                    await server.serve(socks)
            taking_in.cancel()
            with suppress(OSError):
                await take_in(memhold, location)
            await reloads.ended()
    finally:
        for sock in socks:
            sock.close()
    log.info("stopped")


@contextlib.contextmanager
def kept_token(token: str | None, socks: Sequence[socket.socket]) -> Iterator[None]:
    """Keep the token where this account's clients find it, while the server runs.

    Raises:
        InvalidSetting: it cannot be kept, or nobody would find it.
    """
    if token is None:
        yield
        return
    ports = [found[1] for found in map(address_of_socket, socks) if found is not None]
    if not ports:
        said = "the token that is made at the start is found by a port, and there is none; make one"
        raise InvalidSetting(f"{said} ('memhold token create')", name="insecure_loopback")
    with contextlib.ExitStack() as stack:
        try:
            paths = [stack.enter_context(kept_local_token(port, token)) for port in ports]
        except OSError as error:
            said = f"the token for this machine cannot be written: {error.strerror}; make one ('memhold token create')"
            raise InvalidSetting(said, name="insecure_loopback") from None
        log.info("a token for this account's clients is kept", extra={"path": str(paths[0])})
        yield


def uvicorn_config(app: Any, settings: ServeSettings) -> uvicorn.Config:
    """How uvicorn serves an application: patient with slow clients within bounds, and silent."""
    return uvicorn.Config(
        app,
        http=patient_protocol(HEADER_SECONDS),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=int(HEADER_SECONDS),
        timeout_graceful_shutdown=int(max(1, settings.stop_seconds)),
        ssl_certfile=settings.tls_cert or None,
        ssl_keyfile=settings.tls_key or None,
    )


@asynccontextmanager
async def _signals(server: UvicornServer, streams: Streams, reloads: _Reloads) -> AsyncIterator[None]:
    def stop() -> None:
        if server.should_exit:
            server.force_exit = True
        streams.end()
        server.should_exit = True

    again = (signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()
    with heard(_STOPS, stop), heard(again, reloads.begin):
        yield


class _Reloads:
    """Opens the store anew beside the one that serves, and changes over: a catalog that is wrong changes nothing."""

    def __init__(self, memhold: AsyncMemhold, location: str, opened: Mapping[str, Any], app: Observed) -> None:
        self._memhold = memhold
        self._location = location
        self._opened = opened
        self._app = app
        self._running: asyncio.Task[None] | None = None
        self._again = False

    def begin(self) -> None:
        """Reload now, or once more where one is running."""
        if self._running is not None and not self._running.done():
            self._again = True
            return
        self._running = asyncio.get_running_loop().create_task(self._reload())

    async def ended(self) -> None:
        """Wait for the reload that is running."""
        if self._running is not None:
            await self._running

    async def _reload(self) -> None:
        if self._location == "memory://":
            log.warning("a store in memory cannot be opened anew; nothing was reloaded")
            return
        try:
            fresh = AsyncMemhold(LocalStore(await opened_to_serve(self._location, self._opened)))
        except (MemholdError, OSError) as error:
            # Of a setting the message names the setting: that is what whoever mended it wants to read.
            said = str(error) if isinstance(error, InvalidSetting) else type(error).__name__
            log.error("reloading failed, the former goes on: %s", said)  # noqa: TRY400 - shape only
            return
        former = self._memhold.take_over(fresh)
        log.info("reloaded")
        begun = monotonic()
        await self._app.drained()
        await former.close()
        log.info("the former was closed", extra={"seconds": round(monotonic() - begun, 3)})
        if self._again:
            self._again = False
            await self._reload()
