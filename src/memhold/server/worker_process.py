"""One of the processes of a server: it opens the store for itself and takes connections from the socket of all."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Final, Literal

from memhold.ports.signals import heard
from memhold.server.settings import ServeSettings
from memhold.server.shared_state import Lease, ServerFiles, SharedState
from memhold.values.errors import MemholdError
from memhold.values.records import Scope

if TYPE_CHECKING:
    from memhold.server.serving import Serving, UvicornServer
    from memhold.verbs.runtime import Runtime

__all__ = ["Order", "Ready", "Refused", "Told", "work"]

log = logging.getLogger("memhold.serve")

Order = Literal["retire", "stop"]
"""`retire`: others serve on, so nobody is turned away. `stop`: the server ends."""
_LEASE_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 5.0
_BEAT_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a worker is told at its start.

    Attributes:
        location: the store.
        settings: how it serves.
        opened: settings of the store that were given beside those of its file.
        local: whose requests the token of the start serves.
        files: what it shares with the others.
        place: its number among those that are there.
        local_token: the token that the server made at its start.
        socks: where it takes connections.
        host: what the server goes by there.
    """

    location: str = field(repr=False)
    settings: ServeSettings
    opened: Mapping[str, Any]
    local: Scope
    files: ServerFiles
    place: int
    local_token: str = field(repr=False)
    socks: list[socket.socket]
    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A worker takes connections; `open_to_this_machine`: the token of the start counts, there are no others."""

    open_to_this_machine: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A worker must not serve like this, or cannot."""

    error: MemholdError


def work(told: Told, line: Connection) -> None:
    """Serve until told to end, or until whoever started this is gone; `line` takes `Order`s and says what becomes."""
    # Ctrl-C reaches the whole group; whoever started this process ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a worker that hangs is asked before it is killed: where it stands, in names of functions alone.
    faulthandler.register(signal.SIGUSR2)
    # Read when the library is imported: what this process counts, the others can read.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(told.files.metrics)
    from memhold.faces.mcp.light import load_sdk

    load_sdk()
    from memhold.server.logs import set_up_logs
    from memhold.server.serving import run

    set_up_logs(told.settings.log_format, process=os.getpid())
    try:
        run(_work(told, line))
    except MemholdError as error:
        with contextlib.suppress(OSError):
            line.send(Refused(error=error))
    except Exception:
        log.exception("a worker failed")
        raise SystemExit(1) from None


async def _work(told: Told, line: Connection) -> None:
    from memhold.faces.python.open import AsyncMemhold
    from memhold.server.serving import (
        ANALYSIS_PROCESSES,
        Among,
        UvicornServer,
        around,
        opened_to_serve,
        serving,
        uvicorn_config,
    )
    from memhold.verbs.local_store import LocalStore

    settings = told.settings
    opened = {"worker": False, "analysis_processes": ANALYSIS_PROCESSES, **told.opened}
    runtime = await opened_to_serve(told.location, opened)
    async with AsyncMemhold(LocalStore(runtime)) as memhold:
        among = Among(files=told.files, place=told.place, local_token=told.local_token)
        made = await serving(memhold, settings, local=told.local, among=among, host=told.host, location=told.location)
        _begin_to_beat(made.state)

        def begun() -> None:
            line.send(Ready(open_to_this_machine=made.local_token is not None))

        server = UvicornServer(uvicorn_config(made.app, settings), begun=begun)
        upkeep = _Upkeep(runtime, memhold, told)
        async with around(made), _looking(made, runtime), upkeep.running(), _ordered(line, server, made, upkeep, told):
            await server.serve(told.socks)


def _begin_to_beat(state: SharedState) -> None:
    """Give a sign of life again and again while the loop turns: as it serves, ends, and closes the store."""
    loop = asyncio.get_running_loop()

    def beat() -> None:
        state.beat()
        loop.call_later(_BEAT_SECONDS, beat)

    beat()


class _Upkeep:
    """Does the due work of the store while this process has the lease, as one process of a server does."""

    def __init__(self, runtime: Runtime, memhold: Any, told: Told) -> None:
        self._runtime = runtime
        self._memhold = memhold
        self._told = told
        self._lease = Lease(told.files.lease)
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Wait for the lease and use it, until left or ended."""
        if self._told.settings.upkeep:
            self._task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            await self.end()

    async def end(self) -> None:
        """Let what runs end, and another process go on. Idempotent."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self._runtime.worker.stop(self._runtime.settings.drain_seconds)
            self._lease.give()

    async def _run(self) -> None:
        from memhold.faces.agents.take_in import keep_taking_in

        while not self._lease.take():  # noqa: ASYNC110 - another process has it
            await asyncio.sleep(_LEASE_SECONDS)
        log.info("this process does the due work")
        self._runtime.worker.start()
        await keep_taking_in(self._memhold, self._told.location)


@asynccontextmanager
async def _looking(made: Serving, runtime: Runtime) -> AsyncIterator[None]:
    """Note every few seconds what this process holds: whoever reads the metrics asks only one."""

    async def look() -> None:
        while True:
            made.metrics.look(streams=made.streams.open, cached_bytes=runtime.cached_bytes)
            await asyncio.sleep(_LOOK_SECONDS)

    task = asyncio.create_task(look())
    try:
        yield
    finally:
        task.cancel()


@asynccontextmanager
async def _ordered(
    line: Connection, server: UvicornServer, made: Serving, upkeep: _Upkeep, told: Told
) -> AsyncIterator[None]:
    """Do as told over the line, and stop at SIGTERM or where nobody is at the other end any more."""
    loop = asyncio.get_running_loop()
    tasks: list[asyncio.Task[None]] = []

    def stop() -> None:
        server.force_exit = server.should_exit
        made.streams.end()
        server.should_exit = True

    def read() -> None:
        try:
            order: Order = line.recv()
        except (EOFError, OSError):
            loop.remove_reader(line.fileno())
            order = "stop"
        if order == "stop":
            stop()
        elif not tasks:
            made.streams.end(stopping=False)
            tasks.append(loop.create_task(upkeep.end()))
            tasks.append(loop.create_task(server.retire(told.settings.stop_seconds)))

    loop.add_reader(line.fileno(), read)
    try:
        with heard((signal.SIGTERM,), stop):
            yield
    finally:
        loop.remove_reader(line.fileno())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
