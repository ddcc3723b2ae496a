"""MCP on standard input and output: one connection, one principal, the store and its worker inside.

The handshake is answered before the store is opened, so that a client never waits for the disk; opening goes on behind
it, and the first request that needs the store waits for that. Where the store cannot be opened, each tool says why,
and the next call tries again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mcp.server.stdio import stdio_server

from memhold.faces.mcp.drain import Incoming, OpenRequests, Outgoing
from memhold.faces.mcp.server import Context, Whose, build_server, client_of
from memhold.faces.mcp.tools import Caller, Refused
from memhold.values.errors import MemholdError

if TYPE_CHECKING:
    from memhold.values.principal import Principal
    from memhold.verbs.store_protocols import AsyncStore

__all__ = ["serve_stdio"]

logger = logging.getLogger(__name__)
_STOPS = (signal.SIGTERM, signal.SIGINT)


class _Opening:
    """The store, opened once, behind the first answer."""

    def __init__(self, location: str, settings: Mapping[str, Any]) -> None:
        self._location = location
        self._settings = settings
        self._task: asyncio.Task[AsyncStore] | None = None

    def begin(self) -> asyncio.Task[AsyncStore]:
        """Open, unless that is done or under way; where it failed, try again."""
        if self._task is None or (self._task.done() and self._task.exception() is not None):
            self._task = asyncio.create_task(self._open())
            self._task.add_done_callback(_said)
        return self._task

    async def _open(self) -> AsyncStore:
        # The imports take longer than the opening; on a thread they keep no answer waiting.
        module = await asyncio.to_thread(_load)
        opened: AsyncStore = await module.AsyncMemhold.open(self._location, **self._settings)
        return opened

    async def store(self) -> AsyncStore:
        """The open store; a caller that is cancelled leaves the opening alone."""
        try:
            return await asyncio.shield(self.begin())
        except (MemholdError, OSError) as error:
            raise Refused(f"The memory at {self._location} cannot be opened: {error}. Tell the user.") from error

    async def close(self) -> None:
        if self._task is not None:
            with suppress(Exception):
                await (await self._task).close()


def _load() -> Any:
    import_module("memhold.faces.mcp.calls")
    return import_module("memhold.faces.python.open")


def _said(task: asyncio.Task[AsyncStore]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("the store cannot be opened: %s", error)


async def serve_stdio(location: str, principal: Principal, settings: Mapping[str, Any]) -> None:
    """Serve until the client closes standard input, or SIGTERM or SIGINT comes; then close the store in order."""
    opening = _Opening(location, settings)

    def whose(_: Context) -> Principal:
        return principal

    async def caller(ctx: Context) -> Caller:
        return Caller(memhold=await opening.store(), principal=principal, client=client_of(ctx))

    async def first_answered(ctx: Context, call_next: Any) -> Any:
        try:
            return await call_next(ctx)
        finally:
            # Behind the answer: the loop writes it before the opening takes its turn.
            asyncio.get_running_loop().call_later(0.01, opening.begin)

    server = build_server(Whose(whose, caller))
    server.middleware.append(first_answered)
    loop = asyncio.get_running_loop()
    ending: list[asyncio.Task[None]] = []

    def stop() -> None:
        for number in _STOPS:
            loop.remove_signal_handler(number)
        ending.append(loop.create_task(_end(opening)))

    for number in _STOPS:
        with suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(number, stop)
    try:
        async with stdio_server() as (incoming, outgoing):
            asked = OpenRequests()
            await server.run(
                Incoming(incoming, asked), Outgoing(outgoing, asked), server.create_initialization_options()
            )
    finally:
        await opening.close()


async def _end(opening: _Opening) -> None:
    """Close the store in order, then leave: a thread still waits for standard input, and cannot be called back."""
    await opening.close()
    sys.stderr.flush()
    os._exit(0)
