"""A process that has imported everything and forks `memhold` for each who asks, until its standard input ends.

It has no thread, no store and no lock, so what is forked begins as a process of its own does. The kernel does with its
files and its death what it does with anybody's; whoever asked is told how it ended, and where who asked is gone, killed
for instance, it is killed as well.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import struct
import sys
import threading
import traceback
from typing import Any, NoReturn

NEVER = ("memhold.integrations", "memhold.testing")
"""No command needs them."""
SERVERS = ("uvicorn.loops.auto", "uvicorn.lifespan.off", "uvicorn.lifespan.on", "uvicorn.protocols.http.auto")
"""What uvicorn finds out as it starts."""
ERRORS = {"stdin": sys.stdin.errors, "stdout": sys.stdout.errors, "stderr": sys.stderr.errors}
"""What the interpreter makes of bytes that are no text, by the locale that the tests run in."""


def warm() -> None:
    """Import what commands and servers import, and read what a first question reads."""
    import memhold
    from memhold.faces.mcp.light import load_sdk
    from memhold.facts.keys.lexicon import LANGUAGES, lexicon

    for found in pkgutil.walk_packages(memhold.__path__, "memhold."):
        if not found.name.startswith(NEVER) and not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    load_sdk()
    for name in SERVERS:
        importlib.import_module(name)
    for language in LANGUAGES:
        lexicon(language)
    gc.collect()
    gc.freeze()


def be(asked: dict[str, Any], streams: dict[int, int]) -> NoReturn:
    """Be the process that was asked for."""
    code = 1
    try:
        for number in range(3):
            os.close(number)
        for number, given in streams.items():
            os.dup2(given, number)
        os.closerange(3, 1 << 16)
        for each in (signal.SIGCHLD, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(each, signal.SIG_IGN if each == signal.SIGPIPE else signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.umask(asked["mask"])
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
            stream = None
            if number in streams:
                stream = open(number, mode, encoding="utf-8", errors=ERRORS[name], closefd=False)  # noqa: SIM115
                if mode == "w":
                    stream.reconfigure(line_buffering=name == "stderr" or stream.isatty())
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        sys.argv = ["memhold", *asked["arguments"]]
        runpy.run_module("memhold", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:  # noqa: BLE001 - whatever it is, the child must not go on as who forks
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(code)


def _begun(line: socket.socket) -> int:
    """Fork what is asked for on a line; the number of its process."""
    head, given, _, _ = socket.recv_fds(line, 5, 3)
    size, said = struct.unpack("!IB", head)
    streams = dict(zip([number for number in range(3) if said & 1 << number], given, strict=True))
    body = b""
    while len(body) < size:
        body += line.recv(size - len(body))
    child = os.fork()
    if not child:
        signal.set_wakeup_fd(-1)
        be(json.loads(body), streams)
    for number in given:
        os.close(number)
    return child


def main(address: str) -> None:
    """Fork for each who asks until our standard input ends."""
    warm()
    children: dict[int, socket.socket] = {}
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    with socket.socket(socket.AF_UNIX) as listening, selectors.DefaultSelector() as selector:
        listening.bind(address)
        listening.listen(64)
        print("ready", flush=True)
        for one in (0, woken, listening):
            selector.register(one, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj == 0:
                    for child in children:
                        os.kill(child, signal.SIGKILL)
                    return
                if key.fileobj is listening:
                    line, _ = listening.accept()
                    child = _begun(line)
                    children[child] = line
                    selector.register(line, selectors.EVENT_READ, child)
                elif key.fileobj == woken:
                    os.read(woken, 4096)
                    for child, line in list(children.items()):
                        ended, status = os.waitpid(child, os.WNOHANG)
                        if ended:
                            selector.unregister(line)
                            with line, contextlib.suppress(OSError):
                                line.send(struct.pack("!i", os.waitstatus_to_exitcode(status)))
                            del children[child]
                elif key.data in children:
                    with contextlib.suppress(OSError):
                        for number in children[key.data].recv(64) or [signal.SIGKILL]:
                            os.kill(key.data, number)


if __name__ == "__main__":
    main(sys.argv[1])
