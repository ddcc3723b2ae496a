"""`memhold agent`: give a coding agent memory, take it away again, and see what it has."""

from __future__ import annotations

import click

from memhold.cli.mcp import located, no_secret, seen_line, tried
from memhold.cli.options import CommonOptions, command
from memhold.faces.agents.set_up import AGENTS, SetUp, set_up, state_of, take_out
from memhold.faces.mcp.install import CLIENTS, launcher, place_of

__all__ = ["agent_command"]


@click.group("agent", epilog="\b\nExample:\n  memhold agent install claude-code --user alice")
def agent_command() -> None:
    """Give a coding agent memory: its tools and its hooks."""


_WHICH = click.argument("client", type=click.Choice(AGENTS))


@command("install", example="memhold agent install claude-code --user alice", resume="Run it again: it writes once.")
@_WHICH
def agent_install(common: CommonOptions, *, client: str) -> None:
    """Give a coding agent memory.

    Writes what 'memhold mcp install' writes, and for Claude Code and Codex hooks that take in what is said and tell
    what memory holds, with no tool called.
    Starts the server once first, and says what came of it; where it lists no tools, nothing is written.
    """
    no_secret(common.db)
    place = place_of()
    server = [*launcher(), "mcp", *located(common), "--project", "auto"]
    trial = tried(client, server, place)
    done = set_up(client, server, located(common), place)
    lines = [*_lines(done), f"restart {CLIENTS[client].title} to load it", seen_line(CLIENTS[client].title, trial)]
    common.show(done, lambda: click.echo("\n".join(lines)))


@command("uninstall", example="memhold agent uninstall claude-code", resume="Run it again: it takes out what is left.")
@_WHICH
def agent_uninstall(common: CommonOptions, *, client: str) -> None:
    """Take our part out of a coding agent's files.

    What else stands in them stays. The memory stays too: 'memhold forget' is for that.
    """
    done = take_out(client, place_of())
    common.show(done, lambda: click.echo("\n".join(_lines(done))))


@command("status", example="memhold agent status")
def agent_status(common: CommonOptions) -> None:
    """Show which coding agents have memory."""
    found = [state_of(agent, place_of()) for agent in AGENTS]
    common.show(found, lambda: click.echo("\n".join(line for one in found for line in _lines(one))))


def _lines(one: SetUp) -> list[str]:
    tools = "tools" if one.tools else "no tools"
    hooks = f"hooks at {', '.join(one.hooks)}" if one.hooks else "no hooks"
    said = [f"{CLIENTS[one.agent].title}: {tools}, {hooks} ({', '.join(one.files)})"]
    return [*said, f"  {one.note}"] if one.note else said


agent_command.add_command(agent_install, "install")
agent_command.add_command(agent_uninstall, "uninstall")
agent_command.add_command(agent_status, "status")
