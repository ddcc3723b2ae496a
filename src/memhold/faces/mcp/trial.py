"""Starting the server once, as a client will, and saying what came of it."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from memhold.faces.mcp.connection import HANDSHAKES

__all__ = ["Trial", "try_start"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a start showed.

    Attributes:
        tools: the names of the tools that it listed; empty where it did not get that far.
        seconds: how long it took until they were listed.
        status: what the tool `memory_status` said, or why it could not; None where there was no answer.
        problem: why no tools came; None where they did.
    """

    tools: tuple[str, ...] = ()
    seconds: float = 0.0
    status: str | None = None
    problem: str | None = None


def _line(number: int | None, method: str, **params: Any) -> bytes:
    numbered = {} if number is None else {"id": number}
    return json.dumps({"jsonrpc": "2.0", **numbered, "method": method, "params": params}).encode() + b"\n"


def try_start(command: Sequence[str], *, environment: Mapping[str, str], folder: Path, seconds: float) -> Trial:
    """Start the command in a folder, shake hands, list the tools and ask for the memory's state; then end it.

    Whatever happens, the process is gone afterwards. `seconds` bounds all of it.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(  # noqa: S603 - what is started is what would be installed
            [*command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=dict(environment), cwd=folder,
        )  # fmt: skip
    except OSError as error:
        return Trial(problem=f"{command[0]} cannot be started ({os.strerror(error.errno or 0)})")
    ended = threading.Timer(seconds, process.kill)
    ended.start()
    try:
        with process:
            return _asked(process, began, seconds)
    finally:
        ended.cancel()
        process.kill()


def _asked(process: subprocess.Popen[bytes], began: float, seconds: float) -> Trial:
    assert process.stdin is not None  # noqa: S101 - they are pipes
    assert process.stdout is not None  # noqa: S101
    assert process.stderr is not None  # noqa: S101
    said: list[bytes] = []
    listening = threading.Thread(target=_kept, args=(process.stderr, said), daemon=True)
    listening.start()
    about = {"name": "memhold-install", "version": "1"}
    hello = _line(1, "initialize", protocolVersion=HANDSHAKES[-1], capabilities={}, clientInfo=about)
    try:
        process.stdin.write(hello + _line(None, "notifications/initialized") + _line(2, "tools/list"))
        process.stdin.flush()
        listed = _answer(process.stdout, 2)
        if listed is None:
            process.wait()
            listening.join(1)
            return Trial(problem=_why(process.returncode, said, seconds, time.monotonic() - began))
        took = time.monotonic() - began
        tools = tuple(str(one["name"]) for one in listed["tools"])
        process.stdin.write(_line(3, "tools/call", name="memory_status", arguments={}))
        process.stdin.flush()
        status = _answer(process.stdout, 3)
        process.stdin.close()
        process.wait()
    except (BrokenPipeError, KeyError, TypeError):
        process.kill()
        return Trial(problem="it answers, but not as the protocol wants")
    return Trial(tools=tools, seconds=took, status=None if status is None else status["content"][0]["text"])


def _answer(lines: IO[bytes], number: int) -> Any:
    """The result that answers a request; None where the output ends before it came, or an error came."""
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict) and found.get("id") == number:
            return found.get("result")
    return None


def _kept(stream: IO[bytes], said: list[bytes]) -> None:
    for line in stream:
        said.append(line)
        del said[:-20]


def _why(code: int, said: Sequence[bytes], seconds: float, took: float) -> str:
    last = next((line.decode("utf-8", "replace").strip() for line in reversed(said) if line.strip()), "")
    if took >= seconds:
        return f"it listed no tools within {seconds:g} s"
    return f"it ended with exit code {code}" + (f": {last[:300]}" if last else "")
