"""Memories that are servers: their processes, started with the memory and ended with it, on ports of loopback."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SECONDS = 170.0


class Servers:
    """The processes of one memory in its folder. Who comes second, while they run, uses those of the first."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self._told = self.folder / "ports.json"
        self.ports: dict[str, int] = {}
        self._running: list[subprocess.Popen[bytes]] = []
        if self._told.exists():
            told = json.loads(self._told.read_text())
            if all(map(listens, told.values())):
                self.ports = told

    @property
    def ours(self) -> bool:
        """Whether they are to be started here."""
        return not self.ports or bool(self._running)

    def start(self, name: str, command: list[str], port: int, **variables: str) -> None:
        """Start one, and wait until it takes connections.

        Raises:
            RuntimeError: it ended, or does not listen after nearly three minutes.
        """
        self._running.append(run(command, self.folder / name, **variables))
        until(lambda: listens(port), self._running[-1], name)
        self.ports[name] = port
        self._told.write_text(json.dumps(self.ports))

    def close(self) -> None:
        """End them as their makers' containers do, the last first."""
        for process in reversed(self._running):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def run(command: list[str], place: Path, **variables: str) -> subprocess.Popen[bytes]:
    """A process that writes into `place`.log, in this one's group."""
    with place.with_suffix(".log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=place.parent, env={**os.environ, **variables})


def until(there: Callable[[], bool], process: subprocess.Popen[bytes], name: str) -> None:
    """Wait for what a process makes true.

    Raises:
        RuntimeError: it ended, or three minutes are nearly over.
    """
    end = time.monotonic() + _SECONDS
    while not there():
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"{name} does not start (exit code {process.poll()})")
        time.sleep(0.1)


def free_port() -> int:
    """A port of loopback that nobody has now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def listens(port: int) -> bool:
    """Whether somebody takes connections there."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
        return True
    return False


class Rest:
    """A client of JSON over HTTP; an answer that is an error raises `Answered` with its status."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """What a call answers.

        Raises:
            Answered: an error of HTTP.
        """
        data = None if body is None else json.dumps(body).encode()
        head = {"content-type": "application/json"}
        request = urllib.request.Request(self.base + path, data=data, method=method, headers=head)  # noqa: S310 - ours
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - as above
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            raise Answered(error.code, error.read().decode("utf-8", "replace")) from None


class Answered(Exception):
    """The server's answer is an error."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"{status} {said[:200]}")
        self.status = status
