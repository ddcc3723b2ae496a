"""The command line: `memhold`. The commands of verbs follow from their declarations, the others stand in `OTHERS`.

What a command needs is loaded when it is used, so help and completion stay quick.

Exit codes: 0 fine, 1 failed, 2 usage, 3 a degraded answer (which is printed), 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from memhold._version import __version__
from memhold.cli.options import common_options, options_of, resume_hint
from memhold.cli.output import failed, say_error
from memhold.values.hints import meant
from memhold.verbs.declaration import Verb, verbs_of
from memhold.verbs.scope import FACTS, MEMORY, MOVING, STORE, AsyncScope

__all__ = ["BY_HAND", "OTHERS", "VERBS", "cli", "main", "sections"]

BY_HAND: Mapping[str, str] = {
    "add": "add",
    "forget": "forget",
    "context": "context",
    "suspicions": "suspicions",
    "status": "store_care",
    "residue": "store_care",
    "consolidate": "tidying",
    "compact": "tidying",
    "retain": "tidying",
    "import": "import_export",
    "export": "import_export",
}
"""Commands of verbs whose declaration calls them irregular, and the module that has each; all others follow from it."""

OTHERS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    MEMORY: {"documents": ("document_commands", "Read, put and find documents by name: text and JSON at a path.")},
    FACTS: {"keys": ("keys", "Explain when two keys are one concept.")},
    MOVING: {
        "backup": ("store_care", "Copy the store while others write."),
        "migrate": ("store_care", "Copy a whole store to another place."),
        "restore": ("store_care", "Put a backup in the store's place."),
    },
    STORE: {
        "usage": ("store_care", "Show what each namespace holds."),
        "users": ("store_care", "List the users of the namespace."),
        "doctor": ("store_care", "Look for damage, and say what to do."),
        "settle": ("due_work", "Do due work now."),
        "worker": ("due_work", "Do due work until stopped."),
        "reindex": ("store_care", "Build derived indexes anew."),
        "token": ("access_tokens", "Make, list and revoke tokens for a server."),
    },
    "Serving": {
        "ui": ("ui", "Open the page on which memory is seen and set right."),
        "serve": ("serve", "Serve the store over HTTP."),
        "mcp": ("mcp", "Serve memory to an agent over MCP, on standard input and output."),
        "agent": ("agent", "Give a coding agent memory: its tools and its hooks."),
        "hook": ("hook", "Note an agent's session, tell it what is known: for its hooks."),
        "project": ("project", "Show which project's memory a folder belongs to."),
    },
    "Models": {
        "models": ("models", "List the models of the catalog."),
        "chaos": ("chaos", "Serve models that fail like real ones."),
    },
    "Getting started": {
        "setup": ("setup", "Choose the model that consolidates, and see it work."),
        "demo": ("demo", "See what it does, in a minute."),
        "completion": ("completion", "Print the shell's completion script."),
    },
}
"""Commands that are no verb of a scope, by section: the module that has each, and its line in the help."""

VERBS: Mapping[str, Verb] = {
    verb.command.name: verb for verb in verbs_of(AsyncScope).values() if verb.command is not None
}
"""The verbs that have a command, by its name."""

_PLACES = {**BY_HAND} | {name: module for section in OTHERS.values() for name, (module, _) in section.items()}


def sections() -> Mapping[str, Mapping[str, str]]:
    """The line of every command, by section, in the order of the help."""
    found: dict[str, dict[str, str]] = {section: {} for section in OTHERS}
    for name, verb in VERBS.items():
        assert verb.command is not None  # noqa: S101 - those that have one
        found.setdefault(verb.command.section, {})[name] = verb.command.line
    for section, commands in OTHERS.items():
        found.setdefault(section, {}).update({name: line for name, (_, line) in commands.items()})
    return found


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
        return [name for commands in sections().values() for name in commands]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = meant(args[0], self.list_commands(ctx))
            if not near:
                raise
            named = " or ".join(repr(name) for name in near)
            raise click.UsageError(f"{error.message} Did you mean {named}?", ctx) from None

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        if (module := _PLACES.get(cmd_name)) is not None:
            found: click.Command = getattr(import_module(f"memhold.cli.{module}"), _attribute(cmd_name))
            return found
        if (verb := VERBS.get(cmd_name)) is None or verb.command is None:
            return None
        from memhold.cli.declared_commands import command_of

        return command_of(verb, verb.command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        for section, commands in sections().items():
            with formatter.section(section):
                formatter.write_dl([*commands.items()])


def _attribute(command: str) -> str:
    return f"{command.replace('-', '_')}_command"


@click.group(
    cls=_Sections,
    invoke_without_command=True,
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
    ctx.obj = options_of(ctx, options)
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False
    if ctx.invoked_subcommand is None:
        from memhold.cli.overview import overview

        overview(ctx.obj)


def _open_streams() -> None:
    """Where a stream was closed before we began, nobody reads it; a file of ours must not take its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - to our end


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _open_streams()
    as_json = "--json" in given
    try:
        code = cli.main(given, prog_name="memhold", standalone_mode=False)
    except click.exceptions.Exit as stopped:
        return stopped.exit_code
    except click.ClickException as error:
        usage = isinstance(error, click.UsageError)
        if as_json:
            message = error.format_message()
            say_error({"type": "Usage" if usage else "Failed", "message": message}, message, as_json=True)
        else:
            error.show()
        return 2 if usage else 1
    except (click.Abort, KeyboardInterrupt):
        message = f"stopped; nothing is half-done. {resume_hint()}"
        say_error({"type": "Stopped", "message": message}, message, as_json=as_json)
        return 130
    except Exception as error:
        if "--debug" in given:
            raise
        record, line, status = failed(error)
        say_error(record, line, as_json=as_json)
        return status
    return code if isinstance(code, int) else 0
