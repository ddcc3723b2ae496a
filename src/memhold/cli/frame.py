"""What every command shares: the options, opening the store, printing for people and for programs, and errors."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memhold.values.errors import InvalidInput, InvalidMessage, MemholdError, NotAStore, TooLarge, UnreadableImport

if TYPE_CHECKING:
    from memhold.faces.python.open import Memhold
    from memhold.faces.python.sync import SyncScope

__all__ = [
    "Frame",
    "clean",
    "command",
    "common_options",
    "default_db",
    "failed_line",
    "frame_of",
    "moment",
    "need_store",
    "opened",
    "progress",
    "resume_hint",
    "table",
]

F = TypeVar("F", bound=Callable[..., Any])

LINE_SECONDS = 5.0
"""Between two lines that tell how far long work is, where there is no terminal to draw a bar on."""

_RESUME = "Run the same command again."
_IN_DATA = (InvalidMessage, TooLarge, UnreadableImport)


@dataclass(slots=True, kw_only=True)
class Frame:
    """The options that every command takes, and what to say when it is stopped."""

    db: str
    namespace: str
    user: str | None
    agent: str | None
    session: str | None
    as_json: bool
    debug: bool
    resume: str = _RESUME

    def show(self, value: Any, people: Callable[[], None]) -> None:
        """Print an answer: one JSON object for programs, or what `people` prints."""
        if self.as_json:
            from memhold.values.jsonable import to_jsonable

            click.echo(json.dumps(to_jsonable(value), ensure_ascii=False))
        else:
            people()


def default_db() -> str:
    """The store of this user: in `$XDG_DATA_HOME/memhold`, `~/.local/share/memhold`, or macOS's own folder."""
    if sys.platform == "darwin":
        base = Path("~/Library/Application Support")
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share")
    return str(base.expanduser() / "memhold" / "memory.db")


def common_options(run: F) -> F:
    """The options of the group and of every command; one that is given later wins."""
    options = (
        click.option("--db", envvar="MEMHOLD_DB", metavar="PATH", help=f"The store. [default: {_short(default_db())}]"),
        click.option("--namespace", envvar="MEMHOLD_NAMESPACE", help="The isolation boundary. [default: default]"),
        click.option("--user", envvar="MEMHOLD_USER", help="Whose memory; absent means of no user."),
        click.option("--agent", envvar="MEMHOLD_AGENT", help="Which agent's; absent reads all of the user's."),
        click.option("--session", help="Where writes go; narrows what is read."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object; errors as JSON on stderr."),
        click.option("--debug", is_flag=True, help="Show the traceback of an error."),
    )
    for option in reversed(options):
        run = option(run)
    return run


def _short(path: str) -> str:
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path


def frame_of(ctx: click.Context, options: Mapping[str, Any]) -> Frame:
    """The frame from the options of the group, or of a command inside it."""
    base = ctx.find_object(Frame)
    if base is None:
        base = Frame(
            db=default_db(), namespace="default", user=None, agent=None, session=None, as_json=False, debug=False
        )
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    # What stands in the environment was taken by the group; a command's own option must come from its line.
    if ctx.parent is not None:
        line = click.core.ParameterSource.COMMANDLINE
        given = {name: value for name, value in given.items() if ctx.get_parameter_source(name) is line}
    return replace(base, **given)


_FRAME_OPTIONS = ("db", "namespace", "user", "agent", "session", "as_json", "debug")


def command(name: str, *, example: str, resume: str = _RESUME) -> Callable[[Callable[..., Any]], click.Command]:
    """A subcommand whose function gets the frame first; `example` ends its help, `resume` is said after Ctrl-C."""

    def decorated(run: Callable[..., Any]) -> click.Command:
        @click.pass_context
        def framed(ctx: click.Context, /, **options: Any) -> Any:
            frame = frame_of(ctx, {key: options.pop(key) for key in _FRAME_OPTIONS})
            frame.resume = resume
            ctx.obj = frame
            _STATE.resume = resume
            return run(frame, **options)

        framed.__doc__ = run.__doc__
        own = list(reversed(getattr(run, "__click_params__", [])))
        epilog = f"\b\nExample:\n  {example}"
        made: click.Command = click.command(name, epilog=epilog, params=own)(common_options(framed))
        return made

    return decorated


@contextmanager
def opened(
    frame: Frame, *, create: bool = False, worker: bool = False, **settings: Any
) -> Iterator[tuple[Memhold, SyncScope]]:
    """The store and the frame's scope; by itself without background work. Only a command that writes makes a new store.

    Raises:
        NotAStore: there is no store at that place.
    """
    from memhold.faces.python.open import Memhold

    if not create:
        need_store(frame)
    with Memhold.open(frame.db, worker=worker, **settings) as mem:
        yield mem, mem.scope(namespace=frame.namespace, user=frame.user, agent=frame.agent, session=frame.session)


def need_store(frame: Frame) -> None:
    """Refuse to look where nothing is: an empty answer would say "nothing known".

    Raises:
        NotAStore: there is no file at that place.
    """
    from memhold.wiring.postgres import is_postgres, postgres_is_there, shown

    if is_postgres(frame.db):
        if not postgres_is_there(frame.db):
            raise NotAStore(f"there is no store at {shown(frame.db)}; add something first", path=shown(frame.db))
        return
    if (
        "://" not in frame.db.removeprefix("sqlite:///")
        and not Path(frame.db.removeprefix("sqlite:///")).expanduser().exists()
    ):
        raise NotAStore(f"there is no store at {frame.db}; name it with --db, or add something first", path=frame.db)


def moment(text: str | None) -> datetime | None:
    """A time of the command line: ISO-8601 with a zone.

    Raises:
        InvalidInput, NaiveTime: it is not.
    """
    from memhold.values.jsonable import parse_time

    return None if text is None else parse_time(text)


def clean(text: str, limit: int | None = None) -> str:
    """Text on one line, without what a terminal would obey; cut at `limit` characters with a mark."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if limit is None or len(flat) <= limit else f"{flat[: limit - 1]}…"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, wide: int) -> None:
    """Rows for people: a table on a terminal, lines with tabs elsewhere.

    Column `wide` takes what room is left; on a terminal the columns after it stand below its text.
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

    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns[: wide + 1]):
        drawn.add_column(column, overflow="fold", no_wrap=place != wide, ratio=1 if place == wide else None)
    for row in rows:
        below = " · ".join(cell for cell in row[wide + 1 :] if cell)
        text = Text(row[wide]) + Text(f"\n{below}" if below else "", style="dim")
        drawn.add_row(*(Text(cell) for cell in row[:wide]), text)
    Console().print(drawn)


@contextmanager
def progress(frame: Frame, label: str) -> Iterator[Callable[[int, int], None]]:
    """A function to tell how much is done of how much: a bar on a terminal, a line now and then elsewhere."""
    if frame.as_json:
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

    def told(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() >= last + LINE_SECONDS:
            last = time.monotonic()
            click.echo(f"{label}: {done / total:.0%}" if total else f"{label}: {done:,}", err=True)

    return told


def failed_line(error: Exception, *, as_json: bool) -> tuple[str, int]:
    """What to print of an error, and the exit code: 2 where the command line is wrong, else 1."""
    usage = isinstance(error, InvalidInput) and not isinstance(error, _IN_DATA)
    if isinstance(error, MemholdError):
        message, values = str(error), error.values
    elif isinstance(error, OSError):
        message, values = f"{error.filename or 'the system'}: {error.strerror or error}", {}
    else:
        message, values = f"{type(error).__name__}: {error} (--debug shows where; please report it)", {}
    if as_json:
        record = {**values, "type": type(error).__name__, "message": message}
        return json.dumps({"error": record}, default=str, ensure_ascii=False), 2 if usage else 1
    return f"memhold: {clean(message)}", 2 if usage else 1


class _State:
    """What the last command said about going on after Ctrl-C: its context is gone when that is caught."""

    resume = _RESUME


_STATE = _State()


def resume_hint() -> str:
    """How to go on after the command at hand was stopped."""
    return _STATE.resume
