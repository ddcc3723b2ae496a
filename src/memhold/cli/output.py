"""What commands print: text that a terminal may be given, tables, how far long work is, and errors."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import click

from memhold.values.errors import InvalidInput, InvalidMessage, MemholdError, TooLarge, UnreadableImport

__all__ = [
    "JSON_HELP",
    "clean",
    "failed",
    "progress",
    "say_error",
    "say_object",
    "say_text",
    "table",
    "wrapped",
]

LINE_SECONDS = 5.0
"""Between two lines that tell how far long work is, where there is no terminal to draw a bar on."""

JSON_HELP = "Print one JSON object; errors as JSON on stderr."

_ID = 36  # mem_ and 32 digits
_IN_DATA = (InvalidMessage, TooLarge, UnreadableImport)


def clean(text: str, limit: int | None = None) -> str:
    """Text on one line, without what a terminal would obey; cut at `limit` characters with a mark."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if limit is None or len(flat) <= limit else f"{flat[: limit - 1]}…"


def say_text(text: str) -> None:
    """Print a text as it is: into a file or a pipe byte for byte, on a terminal without what that would obey."""
    if sys.stdout.isatty():
        click.echo("".join(c if c.isprintable() or c in "\t\n" else " " for c in text))
    else:
        click.echo(text.encode("utf-8", "replace"), nl=False)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, wide: int) -> None:
    """Rows for people: a table on a terminal, lines with tabs elsewhere.

    Column `wide` takes what room is left; on a terminal the columns after it stand below its text. Where there is too
    little room for that, each row is a paragraph: no word and no id is cut by a narrow column.
    """
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(row))
        return
    if not rows:
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if _room(columns, rows, wide, console.width) < _least(columns, rows, wide):
        _say_paragraphs(columns, rows, wide)
        return
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns[: wide + 1]):
        drawn.add_column(column, overflow="fold", no_wrap=place != wide, ratio=1 if place == wide else None)
    for row in rows:
        below = " · ".join(cell for cell in (_named(columns, row, wide) if not wide else row[wide + 1 :]) if cell)
        text = Text(row[wide]) + Text(f"\n{below}" if below else "", style="dim")
        drawn.add_row(*(Text(cell) for cell in row[:wide]), text)
    console.print(drawn)


def _named(columns: Sequence[str], row: Sequence[str], wide: int) -> list[str]:
    """The cells behind the column `wide`, each with the name of its column."""
    cells = zip(columns[wide + 1 :], row[wide + 1 :], strict=True)
    return [
        f"{name} {cell}" if cell and not cell.startswith(("mem_", "msg_", "chg_")) else cell for name, cell in cells
    ]


def _room(columns: Sequence[str], rows: Sequence[Sequence[str]], wide: int, width: int) -> int:
    """How many characters are left for the column `wide`, beside the others and two spaces between each."""
    return width - sum(2 + max(len(name), *(len(row[at]) for row in rows)) for at, name in enumerate(columns[:wide]))


def _least(columns: Sequence[str], rows: Sequence[Sequence[str]], wide: int) -> int:
    """How much room that column needs: for an id below it, or for its longest word."""
    if len(columns) > wide + 1:
        return _ID
    return max(len(word) for row in (columns, *rows) for word in (row[wide].split() or [""]))


def _say_paragraphs(columns: Sequence[str], rows: Sequence[Sequence[str]], wide: int) -> None:
    width = shutil.get_terminal_size().columns
    for row in rows:
        named = columns if all(cell.isdigit() for cell in row[1:wide]) else [""] * len(columns)
        head = " · ".join(f"{name} {cell}".strip() for name, cell in zip(named[:wide], row[:wide], strict=True) if cell)
        if head:
            click.secho(wrapped(head, width), bold=True)
        below = row[wide + 1 :] if wide else _named(columns, row, wide)
        for text, dim in ((row[wide], False), *((cell, True) for cell in below)):
            told = f"{named[wide]} {text}".strip() if not dim else text
            for line in told.splitlines():
                click.secho(wrapped(line, width, indent="  "), dim=dim)


def wrapped(text: str, width: int | None = None, *, indent: str = "") -> str:
    """A text broken between words so that it fits the terminal; a word that is longer stays whole.

    Elsewhere than on a terminal it stays on its line.
    """
    if width is None and not sys.stdout.isatty():
        return f"{indent}{text}"
    room = width or shutil.get_terminal_size().columns
    return textwrap.fill(
        text, room, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


class _Asked(Protocol):
    """How a command was asked to answer."""

    as_json: bool


@contextmanager
def progress(common: _Asked, label: str) -> Iterator[Callable[[int, int], None]]:
    """A function to tell how much is done of how much: a bar on a terminal, a line now and then elsewhere."""
    if common.as_json:
        yield lambda _done, _total: None
        return
    if not sys.stderr.isatty():
        yield _lines(label)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(label: str) -> Callable[[int, int], None]:
    """Says how far it is every `LINE_SECONDS`; work that is done before that says nothing."""
    last = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() >= last + LINE_SECONDS:
            last = time.monotonic()
            click.echo(f"{label}: {done / total:.0%}" if total else f"{label}: {done:,}", err=True)

    return show


def say_object(value: Mapping[str, Any], *, err: bool = False) -> None:
    """Print a JSON object on a line of its own: the answer of a command, or on standard error why it failed."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, default=str)  # half a pair of surrogates, which a message may hold
    click.echo(text, err=err)


def say_error(error: Mapping[str, Any], line: str, *, as_json: bool) -> None:
    """Say on standard error why a command failed: a line for people, or the object."""
    if as_json:
        say_object({"error": error}, err=True)
    else:
        click.echo(line, err=True)


def failed(error: Exception) -> tuple[dict[str, Any], str, int]:
    """What to tell of an error, to programs and to people, and the exit code: 2 where the line is wrong, else 1."""
    usage = isinstance(error, InvalidInput) and not isinstance(error, _IN_DATA)
    if isinstance(error, MemholdError):
        message, values = str(error), error.values
    elif isinstance(error, OSError):
        message, values = f"{error.filename or 'the system'}: {error.strerror or error}", {}
    elif isinstance(error, UnicodeDecodeError):
        message, values = f"what was read is no text in {error.encoding}: {error.reason} at byte {error.start}", {}
    else:
        message, values = f"{type(error).__name__}: {error} (--debug shows where; please report it)", {}
    record = {**values, "type": type(error).__name__, "message": message}
    return record, f"memhold: {clean(message)}", 2 if usage else 1
