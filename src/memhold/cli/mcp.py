"""`memhold mcp`: the MCP server on standard input and output, and writing it into a client's settings."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from memhold.cli.options import CommonOptions, command, common_options, options_of
from memhold.faces.mcp.install import CLIENTS, Place, install, is_installed, launcher, place_of, snippet
from memhold.faces.mcp.trial import Trial, try_start
from memhold.ports.data_home import absolute_location, leave_folder

__all__ = ["located", "mcp_command", "no_secret", "seen_line", "tried"]


@click.group("mcp", invoke_without_command=True, epilog="\b\nExample:\n  memhold mcp --user alice")
@common_options
@click.option("--read-only", is_flag=True, help="Offer the tools that read, and no others.")
@click.option("--documents", is_flag=True, help="Offer the tools of documents too.")
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
        if plugin and is_installed("claude-code", place_of()):
            rights = frozenset()  # one set of tools is enough
        _serve(common, rights=rights, documents=documents, project=project == "auto", settings=settings)


def _serve(
    common: CommonOptions, *, rights: frozenset[str], documents: bool, project: bool, settings: dict[str, Any]
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
    serving = serve_stdio(location, who, settings, project=namespace, former=former, documents=documents)
    asyncio.run(serving)


@command("install", example="memhold mcp install claude-code --user alice", resume="Run it again: it writes once.")
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.option("--documents", is_flag=True, help="Offer the tools of documents too.")
@click.option("--print", "printed", is_flag=True, help="Show what has to be in the client's file, and write nothing.")
def mcp_install(common: CommonOptions, *, client: str, documents: bool, printed: bool) -> None:
    """Tell an MCP client to start Memhold.

    Starts the server once as the client will, with the environment that it passes on, and says what came of it; where
    it lists no tools, nothing is written. Then writes one entry into the client's own list of servers, keeps everything
    else in it, and keeps a copy of the file.
    A password for PostgreSQL is not written there: keep it in ~/.pgpass or a service file.
    """
    no_secret(common.db)
    started = [*launcher(), "mcp", *located(common), *(["--project", "auto"] if CLIENTS[client].in_folder else [])]
    started += ["--documents"] if documents else []
    place = place_of()
    if printed:
        text = snippet(client, started)
        common.show({"path": str(CLIENTS[client].path(place)), "snippet": text}, lambda: click.echo(text, nl=False))
        return
    one = CLIENTS[client]
    title = one.title
    seen = tried(client, started, place)
    done = install(client, started, place)
    kept = "" if done.backup is None else f"; what stood there is in {done.backup.name}"
    said = f"{title} starts it from now on: {done.path}{kept}" if done.changed else f"{done.path} has it already"
    plain = {
        "path": str(done.path),
        "changed": done.changed,
        "backup": None if done.backup is None else str(done.backup),
        "tools": list(seen.tools),
        "seconds": round(seen.seconds, 3),
        "status": seen.status,
    }
    lines = [said, *([f"restart {title} to load it"] if done.changed else []), seen_line(title, seen)]
    common.show(plain, lambda: click.echo("\n".join(lines)))


def tried(client: str, command: Sequence[str], place: Place) -> Trial:
    """What came of starting the server once as the client will.

    Raises:
        ClickException: it listed no tools.
    """
    one = CLIENTS[client]
    seen = try_start(command, environment=one.environment(place), folder=place.home, seconds=one.waits)
    if seen.problem is not None:
        raise click.ClickException(f"started as {one.title} starts it, {seen.problem}; nothing was written")
    return seen


def seen_line(title: str, seen: Trial) -> str:
    """What a trial showed, for a person."""
    status = "the memory did not answer" if seen.status is None else f"the memory says: {seen.status}"
    return f"started as {title} starts it, it listed {len(seen.tools)} tools after {seen.seconds:.1f} s; {status}"


def no_secret(db: str, stands_in: str = "the client's file and in the list of processes") -> None:
    """A client's file is read by others, synced and shared, and arguments stand in the list of processes."""
    from memhold.wiring.postgres import is_postgres, shown, tells_secret

    if is_postgres(db) and tells_secret(db):
        raise click.UsageError(
            f"the location of {shown(db)} holds a password, which would stand in {stands_in};"
            " put it into ~/.pgpass or a service file (postgresql:///?service=NAME), not into --db"
        )


def located(common: CommonOptions) -> list[str]:
    """The options that fix whose memory it is; a client starts the server in a folder that nobody chose."""
    found = ["--db", absolute_location(common.db)]
    found += ["--namespace", common.namespace] if common.namespace != "default" else []
    for name in ("user", "agent", "session"):
        value = getattr(common, name)
        found += [] if value is None else [f"--{name}", value]
    found += ["--actor", common.actor] if common.actor != "user" else []
    return found


mcp_command.add_command(mcp_install, "install")
