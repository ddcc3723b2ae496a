"""The command line: `memhold`. Subcommands are loaded when they are used, so help and completion stay quick.

Exit codes: 0 fine, 1 failed, 2 usage, 3 a degraded answer (which is printed), 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from memhold._version import __version__
from memhold.cli.frame import common_options, failed_line, frame_of, resume_hint

__all__ = ["COMMANDS", "cli", "main"]

COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Memory": {
        "add": ("write", "Append messages to a session's journal."),
        "remember": ("write", "Remember a note or a fact."),
        "recall": ("read", "Find messages and current memories."),
        "correct": ("write", "Replace what was never true."),
        "forget": ("forget", "Forget for good, or hide."),
        "history": ("read", "Show every change that touched an item."),
        "undo": ("write", "Undo a change, as a new change."),
        "pin": ("write", "Keep a memory long-term."),
        "unpin": ("write", "Take a pin away."),
        "get": ("read", "Show one message or memory."),
        "list": ("read", "List memories, oldest first."),
        "messages": ("read", "Show a session's messages."),
        "end-session": ("write", "Close a session; its window is kept, searchable."),
        "context": ("context", "Show the messages to send, within a budget."),
        "compact": ("work", "Merge notes that say the same, now."),
        "retain": ("work", "List what is past your rules, or hide it."),
        "consolidate": ("work", "Read what waits with a model, now."),
        "summaries": ("work", "Show what happened, window by window, or by day, week or month."),
    },
    "Facts": {
        "keys": ("keys", "Explain when two keys are one concept."),
        "suspicions": ("keys", "List and settle what only you can know."),
    },
    "Moving data": {
        "import": ("move", "Bring a file of conversations in."),
        "export": ("move", "Write a scope to a file or to Markdown."),
        "backup": ("keep", "Copy the store while others write."),
        "migrate": ("keep", "Copy a whole store to another place."),
        "restore": ("keep", "Put a backup in the store's place."),
    },
    "Looking after the store": {
        "status": ("read", "Show what a scope holds and what is due."),
        "usage": ("keep", "Show what each namespace holds."),
        "doctor": ("keep", "Look for damage, and say what to do."),
        "settle": ("work", "Do due work now."),
        "worker": ("work", "Do due work until stopped."),
        "reindex": ("keep", "Build derived indexes anew."),
        "token": ("access_tokens", "Make, list and revoke tokens for a server."),
        "residue": ("forget", "Look for a text's bytes in the store's files."),
    },
    "Serving": {
        "serve": ("serve", "Serve the store over HTTP."),
        "mcp": ("mcp", "Serve memory to an agent over MCP, on standard input and output."),
    },
    "Models": {
        "models": ("wired", "List the models of the catalog."),
        "chaos": ("wired", "Serve models that fail like real ones."),
    },
    "Getting started": {
        "demo": ("demo", "See what it does, in a minute."),
        "completion": ("keep", "Print the shell's completion script."),
    },
}
"""Every subcommand by section: the module that has it, and its line in the help (a test compares the two)."""

_PLACES = {name: module for section in COMMANDS.values() for name, (module, _) in section.items()}


@contextlib.contextmanager
def _readers_may_leave() -> Iterator[None]:
    """Who reads our output may have seen enough; left to it, click ends the process as one that failed."""
    try:
        yield
    except BrokenPipeError:
        sys.stdout = None  # Python would complain once more when it flushes at exit
        raise click.exceptions.Exit(0) from None


class _Sections(click.Group):
    """A group whose help needs none of its commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _readers_may_leave():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with _readers_may_leave():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click gives it
        return list(_PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        module = _PLACES.get(cmd_name)
        if module is None:
            return None
        found: click.Command = getattr(import_module(f"memhold.cli.{module}"), _attribute(cmd_name))
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        for section, commands in COMMANDS.items():
            with formatter.section(section):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()])


def _attribute(command: str) -> str:
    return f"{command.replace('-', '_')}_command"


@click.group(
    cls=_Sections,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
    epilog="Every command on a store takes the options above, before or after its name."
    " 'memhold COMMAND --help' has an example.",
)
@click.version_option(__version__, prog_name="memhold")
@common_options
@click.pass_context
def cli(ctx: click.Context, /, **options: Any) -> None:
    """Durable memory for AI agents.

    What was acknowledged is never lost, never silently stale, never somebody else's.
    """
    ctx.obj = frame_of(ctx, options)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = cli.main(given, prog_name="memhold", standalone_mode=False)
    except click.exceptions.Exit as stopped:
        return stopped.exit_code
    except click.ClickException as error:
        if "--json" in given:
            text = json.dumps({"error": {"type": "Usage", "message": error.format_message()}})
            click.echo(text, err=True)
        else:
            error.show()
        return 2 if isinstance(error, click.UsageError) else 1
    except (click.Abort, KeyboardInterrupt):
        return _stopped(as_json="--json" in given)
    except Exception as error:
        if "--debug" in given:
            raise
        line, status = failed_line(error, as_json="--json" in given)
        click.echo(line, err=True)
        return status
    return code if isinstance(code, int) else 0


def _stopped(*, as_json: bool) -> int:
    message = f"stopped; nothing is half-done. {resume_hint()}"
    if as_json:
        message = json.dumps({"error": {"type": "Stopped", "message": message}})
    click.echo(message, err=True)
    return 130
