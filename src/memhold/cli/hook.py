"""`memhold hook`: the same as `python -m memhold.faces.agents.hook`, which starts faster."""

from __future__ import annotations

import json
import sys

import click

from memhold.cli.options import CommonOptions, command
from memhold.faces.agents.hook import EVENTS, handled

__all__ = ["hook_command"]


@command("hook", example="memhold hook Stop --user alice < event.json")
@click.argument("event", type=click.Choice(EVENTS))
def hook_command(common: CommonOptions, *, event: str) -> None:
    """Note an agent's session, tell it what is known: for its hooks.

    Reads on standard input what the client says of the event, and writes a note beside the store that names the
    transcript; no store is opened. A Memhold that runs for the hooks takes in what is new in the transcript, each line
    once, to the memory of the project that the session works in; any other process that opens the store does too.
    SessionStart starts it where none runs, and prints what holds for the project and the person, UserPromptSubmit what
    is relevant to the prompt: both wait 300 ms for it, and print nothing where it says nothing. It never fails its
    client: the exit code is 0.
    """
    options = {name: value for name in ("db", "namespace", "user", "agent") if (value := getattr(common, name))}
    try:
        told = json.loads(sys.stdin.read() or "{}")
        if isinstance(told, dict) and (said := handled(event, told, options)) is not None:
            click.echo(json.dumps(said))
    except Exception as error:  # noqa: BLE001 - the client must go on, whatever it is
        click.echo(f"memhold hook: nothing was done ({type(error).__name__})", err=True)
