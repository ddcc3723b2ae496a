"""MCP on standard input and output: one connection, one principal, the store and its worker inside.

A client that starts us waits for the handshake and the list of tools, some of them for a second and no longer. Both
are answered before anything of the store is imported or opened; that goes on once the client has had time to start, and
the first request that needs the store begins it or waits for it. Where the store cannot be opened, each tool says why,
and the next call tries again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Literal

from memhold.faces.mcp.connection import Connection, is_request
from memhold.faces.mcp.listing import kept_listing
from memhold.faces.mcp.methods import INTERNAL_ERROR, Methods
from memhold.faces.mcp.prompts import CORE_INSTRUCTIONS, IN_PROJECT, INSTRUCTIONS
from memhold.faces.python.background_open import BackgroundStore
from memhold.ports.data_home import is_served
from memhold.values.errors import MemholdError

if TYPE_CHECKING:
    from memhold.faces.mcp.tools import Caller, ToolSpec
    from memhold.values.principal import Principal
    from memhold.verbs.store_protocols import AsyncStore

__all__ = ["serve_stdio"]

logger = logging.getLogger(__name__)
_STOPS = (signal.SIGTERM, signal.SIGINT)
DRAIN_SECONDS = 20.0
"""How long the end of the input is put off while requests are open: over every bound that a tool has."""
OPEN_REQUESTS = 64
"""How many requests may be open; the line behind them waits to be read."""
OPENED_AFTER = 5.0
"""How long after the first answer the store is opened, in seconds, though no tool was called. A client starts in that
time and asks its model, which is slower: opening takes half a second of processor time from whoever starts beside it,
and a session that is over by then needs no store."""
_RUNNING_SECONDS = 0.25
"""How long a consolidation that runs is let end where the input ended: the client waits for the end of this process,
two seconds and then with signals, and a model takes longer. Its work is given back for whoever opens the store next."""
_TAKEN_IN_EVERY = 5.0
"""How often the notes of hooks are looked at, in seconds; the module that takes in is loaded once there are any."""


async def _needed(opening: BackgroundStore) -> AsyncStore:
    """The open store, for a tool.

    Raises:
        Refused: it cannot be opened; the message tells why.
    """
    try:
        return await opening.store()
    except (MemholdError, OSError) as error:
        from memhold.faces.mcp.tools import Refused

        raise Refused(f"The memory at {opening.location} cannot be opened: {error}. Tell the user.") from error


async def _keep_taking_in(opening: BackgroundStore) -> None:
    """Bring in what hooks took note of, again and again: a turn is in the journal soon after it has ended."""
    while True:
        await asyncio.sleep(_TAKEN_IN_EVERY)
        await opening.take_in()


async def _holds(store: AsyncStore, former: str, principal: Principal) -> bool:
    from memhold.faces.agents.former import former_memory

    return await former_memory(store, former, principal.scope.user)


def _specs() -> Mapping[str, ToolSpec]:
    from memhold.faces.mcp.tools import DOCUMENT_TOOLS, TOOLS

    return {**TOOLS, **DOCUMENT_TOOLS}


def _methods(project: str | None, *, documents: bool, core: bool) -> Methods:
    listing, said = kept_listing(documents=documents, core=core), CORE_INSTRUCTIONS if core else INSTRUCTIONS
    if project is None:
        return Methods(listing, _specs, instructions=said)
    from memhold.faces.mcp.where import with_where

    return Methods(with_where(listing), _specs, instructions=said + IN_PROJECT)


class _Wire:
    """Standard input and output as lines of JSON, kept from everything else that this process reads and prints."""

    def __init__(self) -> None:
        self._in = _taken(0, os.open(os.devnull, os.O_RDONLY), "rb")
        # A stray print goes where the logs go.
        self._out = _taken(1, os.dup(2), "wb")
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="memhold-stdin")

    async def line(self) -> bytes:
        """The next line; empty at the end of the input."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, self._in.readline)

    def say(self, message: Mapping[str, Any]) -> None:
        """Write one line. Where nobody reads any more, it is let fall: the end of the input comes next."""
        with suppress(BrokenPipeError):
            self._out.write(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            self._out.flush()


def _taken(number: int, instead: int, mode: Literal["rb", "wb"]) -> IO[bytes]:
    """A standard stream under a number of its own; under its old number stands another one."""
    mine = os.dup(number)
    os.dup2(instead, number)
    os.close(instead)
    return os.fdopen(mine, mode)


class _Serving:
    """The requests of one connection: answered as they come, each by itself, until the input ends."""

    def __init__(self, connection: Connection, wire: _Wire, opening: BackgroundStore, *, opens: bool) -> None:
        self._opens = opens
        self._connection = connection
        self._wire = wire
        self._opening = opening
        self._open: dict[str | int, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(OPEN_REQUESTS)

    async def run(self) -> None:
        """Answer until the input ends and what was asked before that is answered."""
        while line := await self._wire.line():
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if is_request(message):
                await self._places.acquire()
                task = asyncio.create_task(self._answer(message))
                self._open[message["id"]] = task
                task.add_done_callback(partial(self._closed, message["id"]))
            elif isinstance(message, dict) and message.get("method") == "notifications/cancelled":
                self._cancel(message.get("params"))
        if self._open:
            await asyncio.wait([*self._open.values()], timeout=DRAIN_SECONDS)

    async def _answer(self, message: Mapping[str, Any]) -> None:
        try:
            if message["method"] == "tools/call" and message.get("params", {}).get("name") == "forget":
                await self._opening.take_in()  # what waits to be taken in is to be forgotten too
            answer = await self._connection.answer(message)
        except Exception as error:  # noqa: BLE001 - the edge: every request is answered
            logger.error("%.80s failed (%s)", message["method"], type(error).__name__)  # noqa: TRY400 - it may tell content
            failed = {"code": INTERNAL_ERROR, "message": "Internal server error"}
            answer = {"jsonrpc": "2.0", "id": message["id"], "error": failed}
        self._wire.say(answer)
        if self._opens:
            self._opens = False
            asyncio.get_running_loop().call_later(OPENED_AFTER, self._opening.begin)

    def _closed(self, number: str | int, done: asyncio.Task[None]) -> None:
        self._places.release()
        if self._open.get(number) is done:
            del self._open[number]

    def _cancel(self, params: object) -> None:
        """Nobody waits for the answer any more; a write that has begun may still be done."""
        number = params.get("requestId") if isinstance(params, dict) else None
        if isinstance(number, str | int) and (task := self._open.get(number)) is not None:
            task.cancel()


async def serve_stdio(
    location: str,
    principal: Principal,
    settings: Mapping[str, Any],
    *,
    project: str | None = None,
    former: str | None = None,
    documents: bool = False,
    core: bool = False,
) -> None:
    """Serve until the client closes standard input, or SIGTERM or SIGINT comes; then close the store in order.

    No model is waited for at the end, whatever the setting `drain_seconds` says. `project` is the namespace of the
    project's memory, which is served beside the principal's own; `former` the one that it had before its repository had
    a remote, which is read too. With `documents` the tools of documents are offered too, with `core` those
    of a client whose hooks bring in what is said, and no others.
    """
    if not is_served(location):  # a server asks its models itself
        settings = {**settings, "drain_seconds": _RUNNING_SECONDS}
    opening = BackgroundStore(location, settings, ahead=("memhold.faces.mcp.calls",))
    known: dict[str, bool] = {}

    async def caller(client: str | None) -> Caller:
        store = await _needed(opening)
        from memhold.faces.mcp.tools import Caller

        if former is not None and former not in known:
            known[former] = await _holds(store, former, principal)
        read_too = former if former is not None and known[former] else None
        return Caller(memhold=store, principal=principal, client=client, project=project, former=read_too)

    loop = asyncio.get_running_loop()
    ending: list[asyncio.Task[None]] = []

    def stop() -> None:
        for number in _STOPS:
            loop.remove_signal_handler(number)
        ending.append(loop.create_task(_end(opening)))

    for number in _STOPS:
        with suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(number, stop)
    taking_in = loop.create_task(_keep_taking_in(opening)) if "write" in principal.rights else None
    wire = _Wire()
    try:
        await _Serving(
            Connection(_methods(project, documents=documents, core=core), principal, caller, wire.say),
            wire,
            opening,
            opens=bool(principal.rights),
        ).run()
    finally:
        if taking_in is not None:
            taking_in.cancel()
        if not await opening.close():
            # The client waits for the end of this process, and nothing was written: no thread is waited for.
            _leave()


async def _end(opening: BackgroundStore) -> None:
    """Close the store in order, then leave: a thread still waits for standard input, and cannot be called back."""
    await opening.close()
    _leave()


def _leave() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
