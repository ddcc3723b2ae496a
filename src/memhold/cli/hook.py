"""`memhold hook`: the same as `python -m memhold.faces.agents.hook`, which starts faster."""

from __future__ import annotations

import click

from memhold.cli.options import CommonOptions, command
from memhold.faces.agents.hook import EVENTS, main

__all__ = ["hook_command"]


class _NeverFails(click.Command):
    """A command whose line may be wrong: with exit code 2 a client would hold its user's prompt back."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            click.echo(f"memhold hook: nothing was done ({error.format_message()})", err=True)
            raise click.exceptions.Exit(0) from None


@command("hook", example="memhold hook Stop --user alice < event.json", cls=_NeverFails)
@click.argument("event", metavar=f"{{{'|'.join(EVENTS)}}}")
def hook_command(common: CommonOptions, *, event: str) -> None:
    """Note an agent's session, tell it what is known: for its hooks.

    Reads on standard input what the client says of the event, and writes a note beside the store that names the
    transcript; no store is opened. A Memhold that runs for the hooks takes in what is new in the transcript, each line
    once, to the memory of the project that the session works in; any other process that opens the store does too.
    SessionStart starts it where none runs, and prints what holds for the project and the person, UserPromptSubmit what
    is relevant to the prompt: both wait 300 ms for it, and print nothing where it says nothing. Other events are let
    pass. It never fails its client: the exit code is 0, also where its line is wrong or nobody reads what it prints.
    """
    said = {name: value for name in ("db", "namespace", "user", "agent") if (value := getattr(common, name))}
    main([event, *(f"--{name}={value}" for name, value in said.items())])
