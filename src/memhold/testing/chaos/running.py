"""The chaos server as a command: what `memhold chaos` runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from memhold.testing.chaos.answers import Character
from memhold.testing.chaos.faults import fault
from memhold.testing.chaos.machine import Machine
from memhold.testing.chaos.server import ChaosServer

__all__ = ["serve_chaos"]


async def serve_chaos(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    seed: int = 0,
    fail_rate: float = 0.0,
    faults: Sequence[str] = (),
    proxy: str | None = None,
    dimension: int | None = None,
    idle_unload: float | None = None,
    warm_up: float = 0.0,
    one_gpu: bool = False,
    say: Callable[[str], None] = print,
    stop: asyncio.Event | None = None,
) -> None:
    """Serve until cancelled, or until `stop` is set; `say` is told the URL, then one line a request.

    With faults and no rate every request meets the first fault, or, where several are named, they come in turn, once
    each. With a rate each request fails with that probability by one of the faults (a common mix where none is named).

    Raises:
        InvalidInput: a fault that is not known, or a rate outside 0 to 1.
        OSError: the port cannot be bound.
    """
    character = Character() if dimension is None else Character(dimension=dimension)
    machine = Machine(idle_unload=idle_unload, warm_up=warm_up, one_gpu=one_gpu)
    chosen = [fault(name) for name in faults]
    server = ChaosServer(host=host, port=port, seed=seed, character=character, machine=machine, upstream=proxy)
    if fail_rate > 0.0:
        server.fail_rate(fail_rate, chosen or None)
    elif len(chosen) == 1:
        server.always(chosen[0])
    else:
        server.script(chosen)
    server.watch(lambda one: say(f"{one.method} {one.path} {one.model or '-'} {one.fault}"))
    async with server:
        say(server.url)
        await (stop or asyncio.Event()).wait()
