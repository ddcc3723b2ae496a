"""`memhold completion`: the script that has a shell complete commands and options."""

from __future__ import annotations

import click

from memhold.cli.options import CommonOptions, command

__all__ = ["completion_command"]


@command("completion", example='eval "$(memhold completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(common: CommonOptions, shell: str) -> None:
    """Print the shell's completion script.

    Put it where your shell reads its start-up files, or evaluate it.
    """
    from click.shell_completion import get_completion_class

    from memhold.cli.main import cli

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"there is no completion for {shell}")
    script = found(cli, {}, "memhold", "_MEMHOLD_COMPLETE").source()
    common.show({"shell": shell, "script": script}, lambda: click.echo(script))
