"""The command that shows the window: what would be sent, and what was left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memhold.cli.frame import Frame, clean, command, opened
from memhold.values.errors import InvalidInput

if TYPE_CHECKING:
    from memhold.context.answer import Context

__all__ = ["context_command"]

_STRATEGIES = ["adaptive", "full_history", "memory_first"]


@command("context", example='memhold context "what did we decide" --user alice --session s1')
@click.argument("message", default="")
@click.option("--system", default="", help="Instructions to put in front.")
@click.option("--messages", "path", type=click.Path(exists=True, dir_okay=False), help="JSON list of messages instead.")
@click.option("--budget", type=int, default=8000, show_default=True, help="Tokens in all.")
@click.option("--reserve", type=int, default=None, help="Tokens kept back for the answer (default: an eighth).")
@click.option("--strategy", type=click.Choice(_STRATEGIES), default="adaptive", show_default=True)
@click.option("--shape", type=click.Choice(["openai", "anthropic"]), default="openai", show_default=True)
@click.option("--query", default=None, help="What memory is asked for (default: the newest message).")
@click.option("--model", default=None, help="The model that is asked: its tokenizer counts where it is installed.")
def context_command(frame: Frame, message: str, system: str, path: str | None, **asked: Any) -> None:
    """Show the messages to send, within a budget.

    They hold the session's window and what memory knows of it.

    MESSAGE is the user's new one; nothing is stored. Exit code 3 where a part could not be asked; the rest
    is printed.
    """
    given: list[Any] = [{"role": "system", "content": system}] if system else []
    given += _read(Path(path)) if path else []
    given += [{"role": "user", "content": message}] if message else []
    with opened(frame) as (_, scope):
        found = scope.context(given, **asked)
    frame.show(found, lambda: _say(found))
    if found.degraded:
        raise click.exceptions.Exit(3)


def _read(path: Path) -> list[Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidInput(f"{path} is no JSON: {error}; write a list of messages") from None
    return found if isinstance(found, list) else [found]


def _say(found: Context) -> None:
    for line in found.as_text().splitlines():
        click.echo(clean(line))
    click.echo()
    room = found.budget - found.reserve
    counted = f"{found.strategy}: about {found.used:,} of {room:,} tokens ({found.tokenizer})"
    click.echo(f"{counted}, {len(found.messages)} messages", err=True)
    for slot in dict.fromkeys(one.slot for one in found.dropped):
        count = sum(one.count for one in found.dropped if one.slot == slot)
        click.echo(f"left out or shortened, {slot}: {count}", err=True)
    for repair in found.repairs:
        click.echo(f"repaired: {repair}", err=True)
    for name in found.degraded:
        click.echo(f"could not be asked: {name}", err=True)
