"""`memhold mcp`: the MCP server on standard input and output.

A client waits for it to list its tools, so what installing needs is in another module.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import click

from memhold.cli.options import CommonOptions, common_options, options_of
from memhold.ports.data_home import absolute_location, leave_folder

__all__ = ["mcp_command"]


class _WithInstall(click.Group):
    """A group whose other command is loaded where it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click gives it
        return ["install"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        if cmd_name != "install":
            return None
        from memhold.cli.mcp_install import mcp_install

        return mcp_install


@click.group("mcp", cls=_WithInstall, invoke_without_command=True, epilog="\b\nExample:\n  memhold mcp --user alice")
@common_options
@click.option("--read-only", is_flag=True, help="Offer the tools that read, and no others.")
@click.option("--documents", is_flag=True, help="Offer the tools of documents too.")
@click.option(
    "--tools",
    type=click.Choice(["core", "full"]),
    default="full",
    help="With 'core', the five tools of a client whose hooks bring in what is said.",
)
@click.option("--consolidation", metavar="NAME", help="The chain or model that consolidates. [default: setting]")
@click.option(
    "--project",
    type=click.Choice(["auto", "off"]),
    default="off",
    help="With 'auto', the memory of the repository that it is started in stands beside the user's own.",
)
@click.option("--plugin", is_flag=True, help="Offer nothing where 'memhold mcp install' has set Claude Code up.")
@click.pass_context
def mcp_command(
    ctx: click.Context,
    /,
    *,
    read_only: bool,
    documents: bool,
    tools: str,
    consolidation: str | None,
    project: str,
    plugin: bool,
    **options: Any,
) -> None:
    """Serve memory to an agent over MCP, on standard input and output.

    An MCP client starts this by itself: 'memhold mcp install' tells it to. Whose memory it is, is fixed by
    --namespace, --user and --agent; background work is done inside. Logs go to standard error.
    """
    common = options_of(ctx, options)
    ctx.obj = common
    if ctx.invoked_subcommand is None:
        settings = {} if consolidation is None else {"consolidation": consolidation}
        rights = frozenset({"read"} if read_only else {"read", "write"})
        if plugin and _is_set_up():
            rights = frozenset()  # one set of tools is enough
        offered = {"documents": documents, "core": tools == "core"}
        _serve(common, rights=rights, offered=offered, project=project == "auto", settings=settings)


def _is_set_up() -> bool:
    from memhold.faces.mcp.install import is_installed, place_of

    return is_installed("claude-code", place_of())


def _serve(
    common: CommonOptions, *, rights: frozenset[str], offered: dict[str, bool], project: bool, settings: dict[str, Any]
) -> None:
    from memhold.faces.agents.project import former_namespace, project_namespace
    from memhold.faces.mcp.stdio import serve_stdio
    from memhold.values.principal import Principal
    from memhold.values.records import Scope

    scope = Scope(
        namespace=common.namespace, user=common.user, agent=common.agent, session=common.session, actor=common.actor
    )
    logging.basicConfig(level=logging.WARNING, format="memhold mcp: %(levelname)s %(name)s: %(message)s")
    namespace = project_namespace(Path.cwd()) if project else None
    former = former_namespace(Path.cwd()) if project else None
    location = common.db
    if project:
        location = absolute_location(location)
        leave_folder()  # the settings of a repository are not the user's
    who = Principal(scope=scope, rights=rights)  # type: ignore[arg-type]
    serving = serve_stdio(location, who, settings, project=namespace, former=former, **offered)
    asyncio.run(serving)
