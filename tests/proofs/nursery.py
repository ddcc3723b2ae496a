"""A process that has imported everything and forks a child for each run: most of a short run was its imports.

Run by dying.py: `python nursery.py CHILD`. Each line of its standard input is one run, in JSON: what the child is called
with, and the files that take what it prints. It answers with how the child ended. A child that is forked has no store
open, and dies as any process does.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import tempfile
import traceback
from typing import NoReturn

from memhold import Memhold

LONGEST = 120
"""Seconds after which a child is ended."""


def warm() -> None:
    """Read what the first write of a process reads."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Memhold.open(f"{folder}/memory.db", worker=False, consolidation=None) as mem,
    ):
        scope = mem.scope(user="alice", session="s")
        scope.add([{"role": "user", "content": "word about tea"}])
        scope.remember("a note about tea")
        scope.remember(attribute="favorite number", value="seven")
        scope.end_session()


def run(child: str, arguments: list[str], out: str, err: str) -> NoReturn:
    """Be the child."""
    code = 1
    try:
        signal.alarm(LONGEST)
        for number, path, flags in (
            (0, os.devnull, os.O_RDONLY),
            (1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
            (2, err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        ):
            os.dup2(os.open(path, flags, 0o600), number)
        sys.argv = [child, *arguments]
        runpy.run_path(child, run_name="__main__")
        code = 0
    except BaseException:  # noqa: BLE001 - whatever it is, the child must not go on as the nursery
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main(child: str) -> None:
    """Fork a child for each line until there are no more."""
    runpy.run_path(child, run_name="imported")
    warm()
    for line in sys.stdin:
        asked = json.loads(line)
        number = os.fork()
        if not number:
            run(child, asked["arguments"], asked["out"], asked["err"])
        _, status = os.waitpid(number, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
