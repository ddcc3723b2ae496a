"""The other end of `inside/child.py`: a peer in a process of its own, asked by lines, killed with all its children."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from benchmarks.losses.environments import Environment

__all__ = ["Child", "running"]

_SCRIPT = Path(__file__).parent / "inside" / "child.py"
SECONDS = 180.0
"""How long a peer may take for one answer; then it is said to hang, and is ended."""


class Child:
    """One running peer. What it answers is a mapping; `error` in it is what its caller was told."""

    def __init__(
        self, name: str, environment: Environment, folder: Path, url: str, more: Mapping[str, str] | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._said = (folder.parent / f"{folder.name}.said").open("ab")
        self._process = subprocess.Popen(
            [str(environment.python), str(_SCRIPT), name, str(folder), url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            cwd=folder,
            env=_environment(folder) | environment.variables | dict(more or {}),
            start_new_session=True,
        )
        self._rest = b""
        self.opened = self._read(SECONDS)

    def ask(self, do: str, *, seconds: float = SECONDS, **told: Any) -> dict[str, Any]:
        """The answer to one request."""
        self.send(do, **told)
        return self._read(seconds)

    def send(self, do: str, **told: Any) -> None:
        """A request whose answer is not waited for."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({"do": do, **told}).encode() + b"\n")
            self._process.stdin.flush()

    def _read(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        until = monotonic() + seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, until - monotonic()))
            if not ready:
                self.kill()
                return {"error": f"Hangs: no answer after {seconds:.0f} s"}
            data = os.read(self._process.stdout.fileno(), 65_536)
            if not data:
                return {"error": "Died: the process ended without an answer"}
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def kill(self) -> None:
        """End it and all that it started, at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """Let it close what it has open, then end it."""
        if self._process.poll() is None:
            self.ask("close", seconds=60.0)
        self.kill()
        for stream in (self._process.stdin, self._process.stdout, self._said):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def _environment(folder: Path) -> dict[str, str]:
    """A home of its own, and no way out of this machine: what is not on loopback goes to a closed port."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    shut = "http://127.0.0.1:9"
    gone = {name: shut for plain in ("http_proxy", "https_proxy", "all_proxy") for name in (plain, plain.upper())}
    near = {"no_proxy": "127.0.0.1,localhost", "NO_PROXY": "127.0.0.1,localhost"}
    return kept | gone | near | {"HOME": str(folder), "DO_NOT_TRACK": "1", "PYTHONUNBUFFERED": "1"}


@contextlib.contextmanager
def running(
    name: str, environment: Environment, folder: Path, url: str, more: Mapping[str, str] | None = None
) -> Iterator[Child]:
    """A peer that is closed at the end, however it comes."""
    child = Child(name, environment, folder, url, more)
    try:
        yield child
    finally:
        child.close()
