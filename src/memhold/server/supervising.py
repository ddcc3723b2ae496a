"""A server of several processes: it holds the socket, starts the workers, and changes them without a gap.

Of uvicorn only the server of one process is used. Its own supervisor starts a worker that dies again at once, without
end, replaces the others by ones that close connections on which a client may be sending, and knows no application that
belongs to an open store.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import secrets
import signal
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final

from prometheus_client.multiprocess import mark_process_dead

from memhold.ports.signals import heard
from memhold.server.count_files import CountFiles
from memhold.server.listening import BACKLOG, listening, url_of
from memhold.server.serving import kept_token
from memhold.server.settings import ServeSettings
from memhold.server.shared_state import MOST_PROCESSES, ServerFiles, SharedState
from memhold.server.worker_plan import LOOKS, Restarts, Silence, WorkerState, next_steps
from memhold.server.worker_process import Order, Ready, Refused, Told, work
from memhold.values.errors import InvalidSetting, MemholdError
from memhold.values.records import Scope
from memhold.wiring.postgres import shown

__all__ = ["serve_with_workers"]

log = logging.getLogger("memhold.serve")

HANG_SECONDS = 60.0
"""Without a turn of its event loop after which one of several workers is killed: longer than any turn takes."""
_CLOSING_SECONDS: Final = 60.0
"""Seconds that a worker has beyond those for its requests: its store is closed, its models let go of."""


@dataclass(slots=True)
class _Worker:
    """A worker that was started, and where it is heard."""

    state: WorkerState
    process: SpawnProcess
    line: Connection
    begun: float
    silence: Silence = field(default_factory=Silence)
    asked: bool = False

    def tell(self, order: Order) -> None:
        """Tell it to end; one that is gone is seen to be so anyway."""
        with suppress(OSError):
            self.line.send(order)


async def serve_with_workers(
    location: str,
    load: Callable[[], ServeSettings],
    *,
    opened: Mapping[str, Any],
    local: Scope,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a store from `workers` processes until SIGINT or SIGTERM.

    They take connections from one socket, share limits, budgets and sign-ins, and one of them at a time does due work.
    One that dies, or hangs and is killed for it, is started again. SIGHUP loads the settings anew and changes the
    workers one by one: a new one serves before one of the former is told to end, which answers what it has begun;
    settings with which none can serve change nothing. The address stays. `ready` gets it once requests are taken.

    Raises:
        InvalidSetting: it must not be served like this.
        MemholdError: the first worker could not open the store, or died before it served.
    """
    settings = load()
    if location == "memory://":
        raise InvalidSetting("a store in memory is one process's: serve it with one worker", name="workers")
    if not hasattr(signal, "SIGHUP"):
        raise InvalidSetting("several workers need a POSIX system; serve with one worker here", name="workers")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="memhold-")))
        files = ServerFiles(folder=folder)
        files.prepare()
        socks, host = listening(settings)
        for sock in socks:
            stack.callback(sock.close)
        told = Told(
            location=location, settings=settings, opened=opened, local=local, files=files, place=0,
            local_token=secrets.token_urlsafe(32), socks=socks, host=host,
        )  # fmt: skip
        supervisor = _Supervisor(told, load)
        async with supervisor.signals():
            await supervisor.run(partial(_open, stack, told, ready))
    log.info("stopped")


def _open(stack: ExitStack, told: Told, ready: Callable[[str], None], first: Ready) -> None:
    """The first worker serves: keep the token where clients find it, and tell the address."""
    url = url_of(told.socks, tls=told.settings.tls)
    said = {"url": url, "store": shown(told.location), "workers": told.settings.workers}
    log.info("serving", extra=said)
    stack.enter_context(kept_token(told.local_token if first.open_to_this_machine else None, told.socks))
    ready(url)


class _Supervisor:
    """The workers of a server, brought towards what is wanted whenever something happens."""

    def __init__(self, told: Told, load: Callable[[], ServeSettings]) -> None:
        self._told = told
        self._load = load
        self._shared = SharedState.of(told.files, MOST_PROCESSES - 1)
        self._counts = CountFiles(told.files.metrics)
        self._workers: dict[int, _Worker] = {}
        self._generation = 1
        self._made = 1
        self._proven = False
        self._former: tuple[int, ServeSettings] | None = None
        self._restarts = Restarts()
        self._not_before = 0.0
        self._changed = asyncio.Event()
        self._stopping = False
        self._failed: MemholdError | None = None
        self._open: Callable[[Ready], None] | None = None

    async def run(self, opened: Callable[[Ready], None]) -> None:
        """Start workers and keep them going until told to stop; `opened` is called when the first one serves."""
        self._open = opened
        for sock in self._told.socks:
            sock.listen(BACKLOG)
        watch = asyncio.create_task(self._watch())
        try:
            while not self._stopping and self._failed is None:
                self._changed.clear()
                wait = self._step()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), wait)
        finally:
            await self._end()
            watch.cancel()
        if self._failed is not None:
            raise self._failed

    def _step(self) -> float | None:
        """Do what is next; the seconds after which to look again, where something waits."""
        steps = next_steps(
            (one.state for one in self._workers.values()),
            generation=self._generation,
            count=self._told.settings.workers,
        )
        for place in steps.end:
            one = self._workers[place]
            one.tell("retire" if one.state.state == "ready" else "stop")
            one.state = replace(one.state, state="ending")
        wait = self._not_before - monotonic()
        free = next((place for place in range(MOST_PROCESSES - 1) if place not in self._workers), None)
        if not steps.start or free is None:
            return None
        if wait > 0:
            return wait
        self._start(free)
        return None

    def _start(self, place: int) -> None:
        context = multiprocessing.get_context("spawn")
        line, other = context.Pipe()
        process = context.Process(target=work, args=(replace(self._told, place=place), other), name="memhold-worker")
        process.start()
        other.close()
        state = WorkerState(place=place, generation=self._generation, state="starting")
        self._workers[place] = _Worker(state, process, line, monotonic())
        loop = asyncio.get_running_loop()
        loop.add_reader(line.fileno(), self._heard, place)
        loop.add_reader(process.sentinel, self._ended, place)

    def _heard(self, place: int) -> None:
        one = self._workers[place]
        try:
            said = one.line.recv()
        except (EOFError, OSError):
            asyncio.get_running_loop().remove_reader(one.line.fileno())
            return
        if isinstance(said, Refused):
            self._refused(one, said.error)
        elif one.state.state == "starting":
            self._serves(one, said)
        self._changed.set()

    def _serves(self, one: _Worker, said: Ready) -> None:
        one.state = replace(one.state, state="ready")
        log.info("a worker serves", extra={"pid": one.process.pid})
        if self._open is not None:
            opened, self._open = self._open, None
            try:
                opened(said)
            except MemholdError as error:
                self._failed = error
                return
        elif not self._proven:
            log.info("reloaded")
        self._proven, self._former = True, None

    def _refused(self, one: _Worker, error: MemholdError) -> None:
        """A worker cannot serve: at first that is the end, after a reload what was before goes on."""
        proven = self._proven
        one.state = replace(one.state, state="ending")
        if self._open is not None:
            self._failed = error
        elif one.state.generation == self._generation:
            self._go_back(_said(error))
        if proven:
            self._put_off(one)

    def _go_back(self, said: str) -> None:
        if self._proven or self._former is None:
            log.error("a worker could not serve: %s", said)
            return
        self._generation, settings = self._former
        self._told = replace(self._told, settings=settings)
        self._proven, self._former = True, None
        log.error("reloading failed, the former go on: %s", said)

    def _ended(self, place: int) -> None:
        one = self._workers.pop(place)
        loop = asyncio.get_running_loop()
        loop.remove_reader(one.process.sentinel)
        loop.remove_reader(one.line.fileno())
        # What it said last may be there unread.
        with suppress(EOFError, OSError):
            while one.line.poll():
                if isinstance(said := one.line.recv(), Refused):
                    self._refused(one, said.error)
        one.process.join()
        code, pid = one.process.exitcode, one.process.pid
        one.line.close()
        one.process.close()
        mark_process_dead(pid, str(self._told.files.metrics))  # type: ignore[no-untyped-call]
        self._fold_counts()
        self._shared.gone(place)
        if one.state.state == "ending" or self._stopping:
            log.info("a worker has ended", extra={"pid": pid})
        else:
            self._died(one, pid, code)
        self._changed.set()

    def _fold_counts(self) -> None:
        try:
            self._counts.fold([other.process.pid for other in self._workers.values()])
        except Exception as error:  # noqa: BLE001 - counts are the least of it: another worker takes the place of this one
            log.warning("counts of workers that have ended could not be added: %s", type(error).__name__)

    def _died(self, one: _Worker, pid: int | None, code: int | None) -> None:
        """Nobody told it to end: another takes its place, after a while where they keep dying."""
        log.warning("a worker died", extra={"pid": pid, "exit_code": code})
        if self._open is not None and self._failed is None:
            self._failed = MemholdError(f"the first worker died before it served (exit code {code}); see its log")
        elif one.state.generation == self._generation and not self._proven:
            self._go_back(f"the new worker died (exit code {code})")
        else:
            self._put_off(one)

    def _put_off(self, one: _Worker) -> None:
        self._not_before = monotonic() + self._restarts.ended(monotonic() - one.begun)

    async def _watch(self) -> None:
        """Kill workers whose loop turns no more, whatever they are at: nobody whom they have accepted is answered."""
        while True:
            await asyncio.sleep(HANG_SECONDS / LOOKS)
            found = [(one, one.silence.looked(self._shared.beats(place))) for place, one in self._workers.items()]
            self._hang([one for one, hangs in found if hangs])

    def _hang(self, workers: Iterable[_Worker]) -> None:
        """Have each say where it hangs, which one that is frozen does not, and kill it at the next look."""
        asked: list[int] = []
        for one in workers:
            pid = one.process.pid
            if one.asked or pid is None:
                one.process.kill()
                continue
            one.asked = True
            asked.append(pid)
            log.error("a worker hangs and is killed", extra={"pid": pid})
        for pid in asked:  # all are named by then: a line that is logged while one says it would stand within its own
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGUSR2)

    def reload(self) -> None:
        """Change the workers for ones with the settings as they now are."""
        try:
            settings = self._load()
        except (MemholdError, OSError) as error:
            log.error("reloading failed, the former go on: %s", _said(error))  # noqa: TRY400 - shape only
            return
        if self._former is None:
            self._former = (self._generation, self._told.settings)
        self._made += 1
        self._generation = self._made
        self._proven = False
        self._not_before = 0.0
        self._told = replace(self._told, settings=settings)
        self._changed.set()

    @asynccontextmanager
    async def signals(self) -> AsyncIterator[None]:
        """SIGHUP reloads, SIGINT and SIGTERM stop, the second of them without patience."""
        with heard((signal.SIGHUP,), self.reload), heard((signal.SIGINT, signal.SIGTERM), self._stop):
            yield

    def _stop(self) -> None:
        if self._stopping:
            for one in self._workers.values():
                one.tell("stop")
        self._stopping = True
        self._changed.set()

    async def _end(self) -> None:
        """Take nothing more, and wait until every worker has ended; one that does not is killed."""
        self._stopping = True
        for sock in self._told.socks:
            sock.close()
        for one in self._workers.values():
            one.tell("stop")
            one.state = replace(one.state, state="ending")
        seconds = self._told.settings.stop_seconds + _CLOSING_SECONDS
        try:
            async with asyncio.timeout(seconds):
                await self._all_gone()
        except TimeoutError:
            log.warning("%s workers did not end within %s seconds", len(self._workers), seconds)
            for one in self._workers.values():
                one.process.kill()
            await self._all_gone()

    async def _all_gone(self) -> None:
        while self._workers:
            self._changed.clear()
            await self._changed.wait()


def _said(error: MemholdError | OSError) -> str:
    """Of a setting the message names the setting: that is what whoever mended it wants to read."""
    return str(error) if isinstance(error, InvalidSetting) else type(error).__name__
