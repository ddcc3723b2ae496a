"""What a request costs: how much JSON it brings, and the processor time that serving it took."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from time import thread_time
from typing import Any, Final, ParamSpec, TypeVar

from memhold.verbs.analysis_pool import CHARGED

__all__ = ["MOST_VALUES", "Cost", "JsonValues", "MeteredThreads", "metered"]

MOST_VALUES: Final = 100_000
"""Values of one JSON body: reading so many takes a tenth of a second, and nothing else runs meanwhile."""

P = ParamSpec("P")
R = TypeVar("R")


class JsonValues:
    """Counts the values of a JSON text that comes in pieces, without reading it: its commas, braces and brackets.

    Those inside of texts do not count. It takes as long as looking at the bytes once, whatever they are.
    """

    def __init__(self) -> None:
        self.count = 0
        self._inside = False
        self._escape = b""

    def add(self, piece: bytes) -> None:
        """Count one piece more."""
        whole = self._escape + piece
        kept = whole.rstrip(b"\\")
        # An escape that the next piece ends.
        self._escape = b"\\" if (len(whole) - len(kept)) % 2 else b""
        if self._escape:
            whole = whole[:-1]
        parts = whole.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[self._inside :: 2])
        self._inside ^= len(parts) % 2 == 0
        self.count += sum(outside.count(mark) for mark in (b",", b"[", b"{"))


class Cost:
    """The processor time of one request so far, in seconds, over the threads that worked for it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def charge(self, seconds: float) -> None:
        """Add what was spent for it somewhere else."""
        self.seconds += seconds


_COST: ContextVar[Cost | None] = ContextVar("memhold_request_cost", default=None)


class metered(Awaitable[R]):  # noqa: N801 - it reads like the coroutine that it awaits
    """Awaits something and adds the processor time of each of its steps to a cost; other tasks' steps do not count."""

    def __init__(self, work: Awaitable[R], cost: Cost, *, clock: Callable[[], float] = thread_time) -> None:
        self._work = work
        self._cost = cost
        self._clock = clock

    def __await__(self) -> Generator[Any, Any, R]:
        """Run to the end of the work."""
        token, charged = _COST.set(self._cost), CHARGED.set(self._cost.charge)
        steps = self._work.__await__()
        sent: Any = None
        raised: BaseException | None = None
        try:
            while True:
                begun = self._clock()
                try:
                    waiting = steps.send(sent) if raised is None else steps.throw(raised)
                except StopIteration as end:
                    result: R = end.value
                    return result
                finally:
                    self._cost.seconds += self._clock() - begun
                sent, raised = None, None
                try:
                    sent = yield waiting
                except BaseException as error:  # noqa: BLE001 - handed on to the work, which may end it
                    raised = error
        finally:
            _COST.reset(token)
            CHARGED.reset(charged)


class MeteredThreads(ThreadPoolExecutor):
    """Threads whose work counts for the request that asked for it."""

    def submit(self, work: Callable[P, R], /, *args: P.args, **named: P.kwargs) -> Future[R]:
        """Run it on one of the threads."""
        cost = _COST.get()
        if cost is None:
            return super().submit(work, *args, **named)

        def counted() -> R:
            begun = thread_time()
            try:
                return work(*args, **named)
            finally:
                cost.seconds += thread_time() - begun

        return super().submit(counted)
