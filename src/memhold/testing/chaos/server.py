"""The chaos server: model endpoints over real HTTP that answer sensibly, and fail when and how they are told to."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import TracebackType
from typing import Any, Self

import h11

from memhold.ports.stores import Clock
from memhold.testing.chaos.answers import (
    Answering,
    Character,
    Route,
    chat_answer,
    damaged,
    embed_answer,
    listing,
    misbound,
    refusal,
    route,
    unloaded,
)
from memhold.testing.chaos.faults import Answer, Cable, Fault, Spoil
from memhold.testing.chaos.machine import Machine, ask
from memhold.testing.chaos.plan import Plan
from memhold.testing.chaos.proxy import Upstream
from memhold.testing.chaos.wire import Incoming, Outgoing, read_request, reset, send
from memhold.wiring.system import SystemClock

__all__ = ["ChaosServer", "Request"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request that the server was asked: when, where, for which model, with what, and which fault it met."""

    at: datetime
    method: str
    path: str
    model: str
    body: Any
    headers: Mapping[str, str]
    fault: str


@dataclass(slots=True)
class _Life:
    """What exists between start and stop: one loop, its sockets and tasks."""

    loop: asyncio.AbstractEventLoop
    thread: int
    release: asyncio.Event
    server: asyncio.Server | None = None
    connections: set[asyncio.Task[None]] = field(default_factory=set)
    others: set[asyncio.Task[None]] = field(default_factory=set)


class ChaosServer:
    """A model server for tests, on the loopback interface: `async with ChaosServer() as server: ... server.url`.

    Also `with ChaosServer() as server:`, which runs it on a thread of its own. It speaks OpenAI (chat, embeddings,
    responses, models; with and without `/v1`), Anthropic (messages) and Ollama (chat, embed, embeddings, tags, show),
    and enforces the message rules of chat and of messages. Without faults every answer follows from the request alone.
    With `upstream` it stands in front of a real provider: requests go on, and answers come back, unless a fault says
    otherwise.

    `requests` records what was asked, in order. `script`, `always`, `fail_rate`, `say`, `release`, `refuse`, `accept`
    and `change` may be called from any thread.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        seed: int = 0,
        character: Character | None = None,
        machine: Machine | None = None,
        upstream: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._host = host
        self._port = port
        self._plan = Plan(seed)
        self._character = character or Character()
        self._machine = machine or Machine()
        self._upstream = Upstream(upstream) if upstream is not None else None
        self._clock: Clock = clock or SystemClock()
        self._number = 0
        self._seen: dict[str, None] = {}
        self._life: _Life | None = None
        self._thread: threading.Thread | None = None
        self._stopping: asyncio.Event | None = None
        self._watch: Callable[[Request], None] | None = None
        self._answering: Answering | None = None
        self.requests: list[Request] = []

    # ----------------------------------------------------------------------------------------- what callers see

    @property
    def url(self) -> str:
        """The base URL, without a path; OpenAI clients may append `/v1` or not."""
        return f"http://{self._host}:{self._port}"

    @property
    def plan(self) -> Plan:
        """What will go wrong."""
        return self._plan

    def asked(self, *, model: str | None = None, path: str | None = None) -> list[Request]:
        """The requests for a model, or whose path ends like this, in order."""
        return [
            one
            for one in self.requests
            if (model is None or one.model == model) and (path is None or one.path.endswith(path))
        ]

    def script(self, faults: Iterable[Fault | str], *, model: str | None = None, path: str | None = None) -> None:
        """Let the coming requests (of a model, on a path) meet these faults or names, one each, then none."""
        self._plan.script(faults, model, path)

    def always(self, fault: Fault | str | None, *, model: str | None = None, path: str | None = None) -> None:
        """Let each request meet this fault from now on; None ends that."""
        self._plan.always(fault, model, path)

    def fail_rate(self, rate: float, faults: Sequence[Fault | str] | None = None, *, model: str | None = None) -> None:
        """Let each request fail with this probability, seeded by model: the same run fails in the same places."""
        self._plan.fail_rate(rate, faults, model)

    def say(self, answering: Answering | None) -> None:
        """Answer chat requests as this says from now on, called on the server's loop; None ends that.

        Faults still come first. It gets what was asked, whatever the protocol, and must not raise.
        """
        self._answering = answering

    def change(
        self,
        *,
        dimension: int | None = None,
        max_input_tokens: int | None = None,
        refuses: Sequence[str] | None = None,
        rejects: Sequence[str] | None = None,
        machine: Machine | None = None,
    ) -> None:
        """Become another server from the next request on: another dimension, other limits, another machine."""
        self._character = replace(
            self._character,
            dimension=dimension or self._character.dimension,
            max_input_tokens=max_input_tokens or self._character.max_input_tokens,
            refuses=tuple(refuses) if refuses is not None else self._character.refuses,
            rejects=tuple(rejects) if rejects is not None else self._character.rejects,
        )
        self._machine = machine or self._machine

    def watch(self, watcher: Callable[[Request], None] | None) -> None:
        """Call this with each request as it comes, on the server's loop; None ends that."""
        self._watch = watcher

    def release(self) -> None:
        """Let every request that hangs be answered."""
        self._on_loop(self._release)

    def refuse(self) -> None:
        """Stop listening: new connections are refused until `accept`."""
        self._on_loop(self._refuse)

    def accept(self) -> None:
        """Listen again on the same port."""
        self._on_loop(self._accept)

    # ----------------------------------------------------------------------------------------- life

    async def start(self) -> None:
        """Listen; `url` holds the port from here on."""
        loop = asyncio.get_running_loop()
        self._life = _Life(loop=loop, thread=threading.get_ident(), release=asyncio.Event())
        self._accept()

    async def stop(self) -> None:
        """Stop listening and drop every connection. Idempotent."""
        life, self._life = self._life, None
        if life is None:
            return
        if life.server is not None:
            life.server.close()
        pending = [*life.connections, *life.others]
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        if self._upstream is not None:
            await self._upstream.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def __enter__(self) -> Self:
        ready = threading.Event()
        failed: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, args=(ready, failed), name="chaos-server", daemon=True)
        self._thread.start()
        ready.wait()
        if failed:
            raise failed[0]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None and self._life is not None and self._stopping is not None:
            self._life.loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()
            self._thread = None

    def _run(self, ready: threading.Event, failed: list[BaseException]) -> None:
        async def life() -> None:
            self._stopping = asyncio.Event()
            try:
                await self.start()
            except OSError as error:
                failed.append(error)
                return
            finally:
                ready.set()
            await self._stopping.wait()
            await self.stop()

        asyncio.run(life())

    def _on_loop(self, work: Callable[[], None]) -> None:
        """Run on the server's loop and return when it is done, from its own thread or another."""
        life = self._life
        if life is None:
            return
        if threading.get_ident() == life.thread:
            work()
            return
        done = threading.Event()

        def run() -> None:
            try:
                work()
            finally:
                done.set()

        life.loop.call_soon_threadsafe(run)
        done.wait()

    def _release(self) -> None:
        if self._life is not None:
            self._life.release.set()
            self._life.release = asyncio.Event()

    def _refuse(self) -> None:
        if self._life is not None and self._life.server is not None:
            self._life.server.close()
            self._life.server = None

    def _accept(self) -> None:
        """Bind and listen at once, so that clients queue even before the loop serves them."""
        life = self._life
        if life is None or life.server is not None:
            return
        sock = socket.create_server((self._host, self._port), backlog=1024)
        sock.setblocking(False)
        self._port = sock.getsockname()[1]

        async def serve() -> None:
            life.server = await asyncio.start_server(self._connected, sock=sock)

        self._keep(life, serve())

    @staticmethod
    def _keep(life: _Life, work: Any) -> None:
        task: asyncio.Task[None] = life.loop.create_task(work)
        life.others.add(task)
        task.add_done_callback(life.others.discard)

    # ----------------------------------------------------------------------------------------- one connection

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        life = self._life
        task = asyncio.current_task()
        if life is None or task is None:
            writer.close()
            return
        life.connections.add(task)
        # asyncio sets this only where the socket says IPPROTO_TCP, which create_server does not; else 40 ms a request
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await self._converse(life, reader, writer)
        except (ConnectionError, h11.LocalProtocolError, asyncio.CancelledError):
            pass  # the client went away, or the server stops: nobody is left to tell
        finally:
            life.connections.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _converse(self, life: _Life, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER)
        while True:
            incoming = await read_request(reader, connection)
            if incoming is None:
                return
            where = route(incoming.target)
            body = _parsed(incoming.body)
            model = str(body.get("model", "")) if isinstance(body, Mapping) else ""
            fault = self._plan.next(model, where.path, where.kind)
            self._note(incoming, where, model, body, fault)
            if not await self._respond(life, connection, writer, (incoming, where, body, model, fault)):
                return
            if connection.our_state is h11.MUST_CLOSE or connection.their_state is h11.MUST_CLOSE:
                return
            connection.start_next_cycle()

    def _note(self, incoming: Incoming, where: Route, model: str, body: Any, fault: Fault) -> None:
        self._number += 1
        if model and where.kind != "other":
            self._seen.setdefault(model)
        one = Request(
            at=self._clock.now(), method=incoming.method, path=where.path, model=model,
            body=body, headers=incoming.headers, fault=fault.name,
        )  # fmt: skip
        self.requests.append(one)
        if self._watch is not None:
            self._watch(one)

    async def _respond(
        self,
        life: _Life,
        connection: h11.Connection,
        writer: asyncio.StreamWriter,
        request: tuple[Incoming, Route, Any, str, Fault],
    ) -> bool:
        """Answer one request; False when the connection is of no more use."""
        fault = request[-1]
        cable = fault.act if isinstance(fault.act, Cable) else None
        match cable.how if cable else None:
            case "refuse":
                self._refuse()
                self._keep(life, self._back_after(cable.seconds if cable else 0.0))
                reset(writer)
                return False
            case "reset":
                reset(writer)
                return False
            case "disconnect":
                return False
            case "hang":
                await life.release.wait()
            case _:
                pass
        outgoing = await self._answer(request)
        pause = cable.seconds if cable is not None and cable.how == "drip" else None
        drip = (lambda: self._clock.sleep(pause)) if pause is not None else None
        cut = cable is not None and cable.how == "cut"
        await send(writer, connection, outgoing, drip=drip, cut=cut)
        return not cut

    async def _back_after(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._accept()

    async def _answer(self, request: tuple[Incoming, Route, Any, str, Fault]) -> Outgoing:
        incoming, where, body, model, fault = request
        if isinstance(fault.act, Answer):
            return damaged(Outgoing(status=200), fault, where.dialect)
        if self._upstream is not None and not isinstance(fault.act, Spoil):
            return damaged(misbound(await self._upstream.ask(incoming), fault), fault, where.dialect)
        problem = refusal(where, body, model, incoming.headers, self._character)
        if problem is not None:
            return problem
        if where.kind == "other":
            models = self._character.models if self._character.models is not None else tuple(self._seen) or ("chaos",)
            return listing(where, incoming.method, body, models)
        if self._upstream is None:
            self._machine, readiness = ask(self._machine, model, self._clock.now().timestamp())
            if not readiness.ready:
                return unloaded(where, model, evicted=readiness.evicted)
        if where.kind == "chat":
            good = chat_answer(where, body, fault, self._character, self._number, self._answering)
        else:
            good = misbound(embed_answer(where, body, self._character), fault)
        return damaged(good, fault, where.dialect)


def _parsed(body: bytes) -> Any:
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        return body.decode("utf-8", "replace")
