"""The command that shows the window: what would be sent, and what was left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memhold.cli.declared_commands import by_hand
from memhold.cli.in_project import beside_own
from memhold.cli.options import CommonOptions, opened
from memhold.cli.output import clean
from memhold.cli.printing import say_missing
from memhold.values.errors import InvalidInput
from memhold.values.repr_parts import one_of

if TYPE_CHECKING:
    from memhold.context.answer import Context

__all__ = ["context_command"]

_TAKES = (
    "budget", "reserve", "strategy", "shape", "query", "tail", "crossover_turn_threshold", "model", "asker",
    "fill", "documents", "also",
)  # fmt: skip


@by_hand("context", takes=_TAKES)
@click.argument("message", default="", metavar="[MESSAGE]", help="The user's new message; nothing is stored.")
@click.option("--system", default="", help="Instructions to put in front.")
@click.option("--messages", "path", type=click.Path(exists=True, dir_okay=False), help="JSON list of messages instead.")
def context_command(
    common: CommonOptions, given: dict[str, Any], *, message: str, system: str, path: str | None
) -> None:
    """Show the messages to send, within a budget.

    They hold the session's window and what memory knows of it. Exit code 3 where a part could not be asked; the rest
    is printed.
    """
    messages: list[Any] = [{"role": "system", "content": system}] if system else []
    messages += _read(Path(path)) if path else []
    messages += [{"role": "user", "content": message}] if message else []
    with opened(common) as (mem, scope):
        asked, read = beside_own(mem, common, scope, given)
        found = asked.context(messages, **read)
    common.show(found, lambda: _say(found))
    if found.degraded:
        raise click.exceptions.Exit(3)


def _read(path: Path) -> list[Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is no JSON: {error}; write a list of messages") from None
    return found if isinstance(found, list) else [found]


def _say(found: Context) -> None:
    for line in found.as_text().splitlines():
        click.echo(clean(line))
    click.echo()
    room = found.budget - found.reserve
    counted = f"{found.strategy}: about {found.used:,} of {room:,} tokens ({found.tokenizer})"
    click.echo(f"{counted}, {one_of(len(found.messages), 'message')}", err=True)
    for slot in dict.fromkeys(one.slot for one in found.dropped):
        count = sum(one.count for one in found.dropped if one.slot == slot)
        click.echo(f"left out or shortened, {slot}: {count}", err=True)
    for part in found.also:
        whose = clean(f"{part.scope.namespace}, user {part.scope.user or 'nobody'}")
        told = f"{len(part.shown)} shown, {sum(one.count for one in part.dropped)} left out"
        click.echo(f"also of {whose}: {told}", err=True)
    for repair in found.repairs:
        click.echo(f"repaired: {repair}", err=True)
    say_missing(found.degraded, found.damaged)
