"""A file that a stranger sent is read in a process of its own, whose time, memory and yield have limits.

It is handed over part by part, and the next part is read when the last one is in the store: others run in between.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from time import process_time
from typing import Any, BinaryIO

from memhold.messages.own_calls import OwnCalls
from memhold.transfer.formats import detect, read_batches
from memhold.transfer.items import Batch, Part
from memhold.transfer.source import Source
from memhold.values.errors import MemholdError, UnreadableImport

__all__ = ["BOUNDS", "Bounds", "apart"]

_MIB = 1024 * 1024
_AN_ITEM = 600
_A_BYTE = 4
"""What a store grows by for an item and a byte of it, index and vectors included: measured, 550 to 1,900 and 3 to 4."""
_LONGEST_FRAME = 32 * _MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What reading one upload may take: processor seconds, bytes of memory, and how many times its size may be stored.

    An upload of any size may bring `least` bytes: a row takes more room than the line that it came from.
    """

    seconds: int = 120
    memory: int = 1024 * _MIB
    growth: int = 10
    least: int = 4 * _MIB

    def most(self, size: int) -> int:
        """How many bytes an upload of this size may grow a store by."""
        return max(self.growth * size, self.least)


BOUNDS: ContextVar[Bounds | None] = ContextVar("memhold_import_bounds", default=None)
"""The limits of imports here; without them a file is one of this machine's user, and is read in this process."""


@asynccontextmanager
async def apart(
    source: Source, format_name: str | None, *, most: int, bounds: Bounds, charge: Callable[[float], None]
) -> AsyncIterator[tuple[str, AsyncIterator[Part]]]:
    """The format of an upload, and its contents in batches of at most `most` messages.

    `source` tells of the reading once the last part was taken; `charge` gets its processor time.

    Raises:
        UnreadableImport: see `read_batches`; or a limit was met (`limit` is how much it is), or the process was ended.
        InvalidSetting: there is no such format.
    """
    # On a thread: until the new process has begun, whoever begins it stands still.
    starting = asyncio.ensure_future(asyncio.to_thread(_begun, pickle.dumps((source, format_name, most, bounds))))
    try:
        process = await asyncio.shield(starting)
        yield await _frame(process, bounds, charge), _parts(process, source, bounds, charge)
    finally:
        starting.add_done_callback(_end)


def _begun(request: bytes) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "memhold.transfer.apart"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    with suppress(OSError):  # one that died at once is told of when it is read from
        process.stdin.write(request)
        process.stdin.flush()
    return process


def _end(started: asyncio.Future[subprocess.Popen[bytes]]) -> None:
    if started.cancelled() or started.exception() is not None:
        return
    process = started.result()
    process.kill()
    # Whoever reads from it meets the end of the pipe; nothing is left of it but its number.
    threading.Thread(target=_reap, args=(process,), daemon=True).start()


def _reap(process: subprocess.Popen[bytes]) -> None:
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


async def _parts(
    process: subprocess.Popen[bytes], source: Source, bounds: Bounds, charge: Callable[[float], None]
) -> AsyncIterator[Part]:
    while not isinstance(part := await _frame(process, bounds, charge), Source):
        yield part
    source.position, source.skipped = part.position, part.skipped
    source.left_out, source.problems = part.left_out, part.problems


async def _frame(process: subprocess.Popen[bytes], bounds: Bounds, charge: Callable[[float], None]) -> Any:
    """What the process says next; an error that it says is raised."""
    found = await asyncio.to_thread(_read, process)
    if isinstance(found, int):
        raise _ended(found, bounds)
    seconds, said = found
    charge(seconds)
    if isinstance(said, MemholdError):
        raise said
    return said


def _read(process: subprocess.Popen[bytes]) -> Any:
    """What our own process wrote next; where it ended before, its exit code."""
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    size = int.from_bytes(process.stdout.read(8), "big")
    data = process.stdout.read(size)
    return pickle.loads(data) if size and len(data) == size else process.wait()  # noqa: S301


def _ended(code: int, bounds: Bounds) -> MemholdError:
    if code == -getattr(signal, "SIGXCPU", 0):  # Windows has none
        return _over("seconds of processor time for reading", bounds.seconds)
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    said = (
        f"the process that read the upload ended ({how}) before it was through; send it again, nothing is taken twice"
    )
    return UnreadableImport(said, path="", line=None)


def _over(what: str, limit: int) -> UnreadableImport:
    said = (
        f"the upload is over the limit of {limit:,} {what}; what stands before that came in, and is not taken twice: "
        "send the rest in smaller files, or import it where the store is"
    )
    return UnreadableImport(said, path="", line=None, limit=limit)


def main() -> None:
    """Read what the request on stdin names, and write it to stdout: the format, the parts, and the source as it is."""
    source, format_name, most, bounds = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the process that began this one
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _limit(bounds)
    out = _Out(sys.stdout.buffer, bounds, source.size)
    try:
        chosen = format_name or detect(source.path)
        out.write(chosen)
        for part in read_batches(source, chosen, most=most):
            out.write_part(part)
        source.own_calls = OwnCalls()
        out.write(source)
    except MemholdError as error:
        out.write(error)
    except MemoryError:
        out.write(_over("bytes of memory for reading", bounds.memory))
    except RecursionError:
        out.write(source.unreadable(None, "it is nested too deeply"))


class _Out:
    """Where the parts go, each with the processor time that it took, as long as the store may grow."""

    def __init__(self, out: BinaryIO, bounds: Bounds, size: int) -> None:
        self._out = out
        self._bounds = bounds
        self._left = self._most = bounds.most(size)
        self._told = 0.0

    def write_part(self, part: Part) -> None:
        """Hand a part over.

        Raises:
            UnreadableImport: the store would grow by too much; nothing of the part was handed over.
        """
        data = pickle.dumps(part)
        items = len(part.messages) if isinstance(part, Batch) else 1
        self._left -= items * _AN_ITEM + len(data) * _A_BYTE
        if self._left < 0:
            times = f"{self._bounds.growth} times its size, and {self._bounds.least:,} at least"
            raise _over(f"bytes by which it may grow the store ({times})", self._most)
        if len(data) > _LONGEST_FRAME:
            raise _over("bytes that are taken in at once", _LONGEST_FRAME)
        self.write(part)

    def write(self, said: Any) -> None:
        """Hand something else over."""
        spent = process_time()
        data = pickle.dumps((spent - self._told, said))
        self._told = spent
        self._out.write(len(data).to_bytes(8, "big") + data)
        self._out.flush()


def _end_with_parent() -> None:
    """Nothing more comes on stdin: it ends when whoever began this process does."""
    sys.stdin.buffer.read()
    os._exit(1)


def _limit(bounds: Bounds) -> None:
    """Windows has no such limits; elsewhere the system ends a process that is over one."""
    with suppress(ImportError, AttributeError, OSError):
        os.nice(5)
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (bounds.seconds, bounds.seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (bounds.memory, bounds.memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
