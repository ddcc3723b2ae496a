"""`memhold` as a process, forked from one that has imported everything: most of a short command was its imports.

`forked` is the beginning of a command line, to be used as `[sys.executable, "-m", "memhold"]` is. What it starts is a
process of its own with the folder, the environment and the streams that its caller gave it, and ends as that would:
its exit code and its signals are those of the caller's child. Where the process itself is looked at (its number, what it
imports, what the interpreter is told), a test begins one of its own.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

__all__ = ["forked"]

_HERE = Path(__file__).parent


@cache
def forked() -> tuple[str, ...]:
    """The beginning of a command line that runs `memhold`; what it asks is started at the first use, and ends with us."""
    folder = Path(tempfile.mkdtemp(prefix="memhold-forks-"))
    address = folder / "s"
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-P", str(_HERE / "forking.py"), str(address)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=log,
        )  # fmt: skip
    assert server.stdin is not None
    assert server.stdout is not None

    def end() -> None:
        assert server.stdin is not None
        server.stdin.close()
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    with server.stdout:
        assert server.stdout.readline() == b"ready\n", (folder / "log").read_text()
    return (sys.executable, "-I", "-S", str(_HERE / "asking.py"), str(address))
