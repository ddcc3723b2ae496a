"""What `memhold` says when it is called without a command: what is in the store at hand, and what to do next."""

from __future__ import annotations

import os
import shlex
import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from memhold._version import __version__
from memhold.cli.options import default_db, opened, shortened, store_is_there
from memhold.cli.output import clean, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhold.cli.options import CommonOptions
    from memhold.ports.maintenance import Usage

__all__ = ["overview"]

_FIRST = (
    ("memhold demo", "see what it does, in a minute"),
    ('memhold remember "I like green tea" --user alice', "put something in"),
    ("memhold setup", "choose the model that reads what is said"),
)
_NEXT = (
    ('memhold recall "what do I like?"', "find something"),
    ("memhold ui", "see what is believed, and set it right"),
    ("memhold agent install claude-code", "give a coding agent this memory"),
)
_WITHOUT_PAGE = ("memhold list", "see what is believed")
"""In the place of the page, where what it needs is not installed."""


def overview(common: CommonOptions) -> None:
    """Print which store is at hand, what it holds, and three commands that make sense now.

    Raises:
        MemholdError: what stands there is no store, or cannot be opened.
    """
    from memhold.wiring.postgres import shown

    usage: tuple[Usage, ...] = ()
    users: tuple[str, ...] = ()
    there = store_is_there(common)
    if there:
        with opened(common) as (mem, _):
            usage = mem.admin.usage()
            users = mem.admin.users(namespace=common.namespace, limit=2)
    names = ("users", "sessions", "messages", "memories", "bytes")
    held = {name: sum(getattr(one, name) for one in usage) for name in names}
    named = _named(common.db)
    if held["messages"] or held["memories"]:
        todo = [(call + _whose(common.user, users) + named, why) for call, why in _next()]
    else:
        todo = [(call + named, why) for call, why in _FIRST]

    place = clean(shortened(shown(common.db)))

    def people() -> None:
        click.echo(f"memhold {__version__}, durable memory for AI agents")
        if there:
            click.echo(wrapped(f"{place}: {_counted(held)}"))
        else:
            click.echo(wrapped(f"{place}: there is no store yet; the first thing that is put in makes it"))
        click.echo()
        width = max(len(call) for call, _ in todo)
        beside = width + 4 + max(len(why) for _, why in todo) <= shutil.get_terminal_size().columns
        for call, why in todo:
            click.echo(f"  {call:<{width}}  {why}" if beside else f"  {call}\n    {why}")
        click.echo("\n'memhold --help' lists all commands.")

    answer: dict[str, Any] = {"version": __version__, "store": place, "exists": there, "holds": held}
    common.show({**answer, "next": [call for call, _ in todo]}, people)


def _next() -> list[tuple[str, str]]:
    page = find_spec("fastapi") is not None
    return [one if page or one[0] != "memhold ui" else _WITHOUT_PAGE for one in _NEXT]


def _whose(user: str | None, users: Sequence[str]) -> str:
    """How a command names the user, where it does not take one by itself; the only one by name."""
    if not users or (user is not None and user == os.environ.get("MEMHOLD_USER")):
        return ""
    one = user or (users[0] if len(users) == 1 else None)
    return f" --user {'NAME' if one is None else shlex.quote(one)}"


def _named(location: str) -> str:
    """How a command names the store, where it is not the one that commands take by themselves."""
    by_itself = location in {default_db(), os.environ.get("MEMHOLD_DB")}
    return "" if by_itself or "://" in location else f" --db {shlex.quote(location)}"


def _counted(held: dict[str, int]) -> str:
    if not held["messages"] and not held["memories"]:
        return "nothing is in it yet"
    counts = (("users", "user"), ("messages", "message"), ("memories", "memory"))
    said = ", ".join(f"{held[many]:,} {one if held[many] == 1 else many}" for many, one in counts)
    return f"{said} ({_size(held['bytes'])} of text)"


def _size(count: int) -> str:
    size, unit = float(count), "bytes"
    for larger in ("KB", "MB", "GB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
