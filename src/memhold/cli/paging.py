"""Long answers on a terminal go through the pager."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import click

__all__ = ["paged"]


class _Held(io.StringIO):
    """What is written to a terminal, held back: whoever writes is told that it is one."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._terminal.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._terminal.encoding


@contextmanager
def paged() -> Iterator[None]:
    """What is printed in the block goes through the pager, where it is longer than the terminal is high.

    That is `PAGER`, else `less`; `PAGER=cat` prints as it is. Elsewhere than on a terminal nothing is held back. What
    the block says on standard error comes behind it.
    """
    terminal, beside = sys.stdout, sys.stderr
    if not (terminal.isatty() and sys.stdin.isatty()):
        yield
        return
    out, told = _Held(terminal), _Held(beside)
    sys.stdout, sys.stderr = out, told
    try:
        yield
    finally:
        sys.stdout, sys.stderr = terminal, beside
        text = out.getvalue()
        if text.count("\n") >= shutil.get_terminal_size().lines:
            os.environ.setdefault("LESS", "FRX")  # colours; and nothing is cleared that was read
            click.echo_via_pager(text, color=True)
        else:
            terminal.write(text)
            terminal.flush()
        beside.write(told.getvalue())
        beside.flush()
