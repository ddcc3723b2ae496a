"""A server of one's own to attack: `memhold serve` in a process, with an issuer whose keys are ours."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from memhold.testing.attacks.issuer import Issuer
from memhold.testing.attacks.target import Target

__all__ = ["Server", "command", "own_target", "run", "started"]

_SECONDS = 90


class Server:
    """A process that serves: its address, its id, and what it has logged so far."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self._lines: list[str] = []
        self._child = child
        assert child.stdout is not None
        said = child.stdout.readline()
        threading.Thread(target=self._listen, daemon=True).start()
        if not said:
            raise RuntimeError(f"the server did not start: {self._ended()}")
        self.url = str(json.loads(said)["url"])
        self.pid = child.pid

    def _listen(self) -> None:
        assert self._child.stderr is not None
        self._lines.extend(self._child.stderr)

    def _ended(self) -> str:
        self._child.wait(_SECONDS)
        return self.log()[-500:]

    def log(self) -> str:
        """All that it has logged."""
        return "".join(list(self._lines))


def command(*words: str | Path) -> list[str]:
    """A command of the installed package, as a process runs it."""
    return [sys.executable, "-m", "memhold", *map(str, words)]


def _environment(folder: Path) -> dict[str, str]:
    """The environment without what configures Memhold: a server as it comes, but for redaction, its state in the folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMHOLD_")}
    return {**kept, "XDG_STATE_HOME": str(folder / "state"), "PYTHONUNBUFFERED": "1", "MEMHOLD_REDACTION": "on"}


@contextmanager
def started(folder: Path, *options: str) -> Iterator[Server]:
    """`memhold serve` on a store in the folder, ended at the end."""
    child = subprocess.Popen(  # noqa: S603 - our own program
        command("serve", "--json", "--log-format", "json", "--db", folder / "memory.db", *options),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=_environment(folder),
    )  # fmt: skip
    try:
        yield Server(child)
    finally:
        child.terminate()
        try:
            child.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def run(folder: Path, words: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    """Run a command of the package to its end."""
    return subprocess.run(  # noqa: S603 - our own program
        command(*words),
        capture_output=True,
        text=True,
        cwd=folder,
        env=_environment(folder),
        timeout=_SECONDS,
        check=False,
    )


def _token(folder: Path, namespace: str) -> str:
    made = run(folder, ["token", "create", "--db", folder / "memory.db", "--namespace", namespace,
                        "--can", "read,write,admin,act", "--json"])  # fmt: skip
    if made.returncode:
        raise RuntimeError(f"no token could be made: {made.stderr[-300:]}")
    return str(json.loads(made.stdout)["secret"])


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@contextmanager
def own_target(folder: Path) -> Iterator[Target]:
    """A server of one's own with everything on: two namespaces, an issuer, documents over MCP, the compatible routes."""
    issuer, port = Issuer(), _free_port()
    issuer.audience = f"http://127.0.0.1:{port}"
    table = f'[oauth]\nissuer = "{issuer.url}"\njwks_url = "{issuer.url}/jwks.json"\n'
    (folder / "memhold.toml").write_text(table, encoding="utf-8")
    token, other = _token(folder, "default"), _token(folder, "another")
    options = (
        "--port",
        str(port),
        "--public-url",
        issuer.audience,
        "--mcp-documents",
        "--compat",
        "agent-memory-server",
    )
    try:
        with started(folder, *options) as server:
            yield Target(server.url, token, other=other, pid=server.pid, issuer=issuer, log=server.log, redacts=True)
    finally:
        issuer.close()
